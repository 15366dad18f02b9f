"""After anything that goes wrong inside, the model is as if nothing had happened; and no file runs code."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from intrinsics_core.protocol.errors import RuntimeUnavailable
from intrinsics_core.protocol.requests import Generated
from tests.transformers.asked import ASSISTANT, CERTAINTY, asked, context, mixed

PROMPT = context(5) + ASSISTANT


def texts(runtime: Any) -> list[str]:
    return [reply.text for reply in runtime.handle(mixed())]


def hooks(runtime: Any) -> int:
    """Forward hooks on the model: it has none of its own."""
    modules = list(runtime._engine._adapters.base.modules())
    return sum(len(m._forward_pre_hooks) + len(m._forward_pre_hooks_with_kwargs) for m in modules)


class Tripwire:
    """Makes a layer of the model raise at its n-th pass from now, as a kernel or an allocator would."""

    def __init__(self, runtime: Any, error: BaseException, at: int) -> None:
        self._layer = runtime._engine._adapters.base.model.layers[1].mlp
        self._error, self._left = error, at

    def __enter__(self) -> None:
        self._hook = self._layer.register_forward_hook(self)

    def __exit__(self, *_: object) -> None:
        self._hook.remove()

    def __call__(self, *_: object) -> None:
        self._left -= 1
        if self._left == 0:
            raise self._error


@pytest.mark.parametrize("at", [1, 2, 7, 30])
def test_an_exception_in_a_pass_costs_no_request_and_no_later_call(made: Any, at: int) -> None:
    with made() as fresh:
        expected = texts(fresh)
    with made() as runtime:
        runtime.handle([asked(None, PROMPT), asked("answerability", PROMPT)])
        with Tripwire(runtime, RuntimeError("out of memory"), at):
            during = runtime.handle(mixed())
        assert hooks(runtime) == 0
        # A batch that broke is asked again in parts; what broke with a single request in it is that one's error.
        told = [reply for reply in during if not isinstance(reply, Generated)]
        assert all(isinstance(reply, RuntimeUnavailable) and "out of memory" in str(reply) for reply in told)
        assert all(a.text == b for a, b in zip(during, expected, strict=True) if isinstance(a, Generated))
        assert texts(runtime) == expected


def test_a_model_that_always_fails_gives_each_request_its_error(made: Any) -> None:
    with made() as fresh:
        expected = texts(fresh)
    with made() as runtime:
        runtime.handle([asked("answerability", PROMPT)])
        wires = [Tripwire(runtime, RuntimeError("broken"), at) for at in range(1, 200)]
        for wire in wires:
            wire.__enter__()
        replies = runtime.handle(mixed())
        for wire in wires:
            wire.__exit__()
        assert all(isinstance(reply, RuntimeUnavailable) for reply in replies)
        assert hooks(runtime) == 0 and texts(runtime) == expected


def test_ctrl_c_leaves_the_model_clean(made: Any) -> None:
    with made() as fresh:
        expected = texts(fresh)
    with made() as runtime:
        runtime.handle([asked("answerability", PROMPT)])
        with Tripwire(runtime, KeyboardInterrupt(), 3), pytest.raises(KeyboardInterrupt):
            runtime.handle([asked("answerability", PROMPT), asked("citations", PROMPT)])
        assert hooks(runtime) == 0 and texts(runtime) == expected


def test_without_the_cleaning_later_calls_would_go_wrong(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The trap is real: this test fails on the day PEFT cleans up after itself, and the cleaning can go."""
    from contextlib import nullcontext

    from intrinsics_core.local import peft_adapters

    with made() as runtime:
        runtime.handle([asked("answerability", PROMPT)])
        monkeypatch.setattr(peft_adapters, "_hooks_kept", lambda model: nullcontext())
        with Tripwire(runtime, RuntimeError("out of memory"), 2):
            runtime.handle([asked("answerability", PROMPT)])
        assert hooks(runtime) > 0


def test_an_error_in_one_rows_choice_ends_that_row_alone(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from intrinsics_core.local.decoding import Generation

    with made() as runtime:
        expected = texts(runtime)
        take = Generation.take

        def tripping(row: Any, token: int, *rest: Any) -> None:
            if row.request.adapter == "citations" and len(row.tokens) == 3:
                raise RuntimeError("this row is cursed")
            take(row, token, *rest)

        with monkeypatch.context() as patch:
            patch.setattr(Generation, "take", tripping)
            replies = runtime.handle(mixed())
        for reply, text, request in zip(replies, expected, mixed(), strict=True):
            if request.adapter == "citations":
                assert "cursed" in str(reply) and reply.intrinsic == "citations"
            else:
                assert reply.text == text
        assert texts(runtime) == expected


def test_pickled_weights_are_refused(models: Path, made: Any, tmp_path: Path) -> None:
    import torch
    from safetensors.torch import load_file

    shutil.copytree(models / "base", tmp_path / "base")
    torch.save(load_file(models / "base/model.safetensors"), tmp_path / "base/pytorch_model.bin")
    (tmp_path / "base/model.safetensors").unlink()
    with pytest.raises(RuntimeUnavailable, match="safetensors"):
        made(model=str(tmp_path / "base")).handle([asked(None, PROMPT)])

    shutil.copytree(models / "answerability", tmp_path / "adapter")
    torch.save(load_file(models / "answerability/adapter_model.safetensors"), tmp_path / "adapter/adapter_model.bin")
    (tmp_path / "adapter/adapter_model.safetensors").unlink()
    with made(adapters={"answerability": str(tmp_path / "adapter")}) as runtime:
        (refused,) = runtime.handle([asked("answerability", PROMPT)])
    assert isinstance(refused, RuntimeUnavailable) and "safetensors" in str(refused)


def test_code_of_a_repository_is_not_run(models: Path, made: Any, tmp_path: Path) -> None:
    shutil.copytree(models / "base", tmp_path / "base")
    config = json.loads((tmp_path / "base/config.json").read_text())
    config |= {"auto_map": {"AutoConfig": "evil.Config", "AutoModelForCausalLM": "evil.Model"}, "model_type": "evil"}
    (tmp_path / "base/config.json").write_text(json.dumps(config))
    (tmp_path / "base/evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    with pytest.raises(RuntimeUnavailable):
        made(model=str(tmp_path / "base")).handle([asked(None, PROMPT)])
    assert not (tmp_path / "ran").exists()


def _changed(models: Path, folder: Path, **config: Any) -> str:
    shutil.copytree(models / "answerability", folder)
    path = folder / "adapter_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | config))
    return str(folder)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"use_dora": True}, "use_dora"),
        ({"bias": "all"}, "bias"),
        ({"peft_type": "PROMPT_TUNING"}, "peft_type"),
        ({"task_type": "SEQ_CLS"}, "task_type"),
        ({"r": 4}, "does not fit"),
        ({"target_modules": ["q_proj"]}, "does not fit"),
        ({"target_modules": ["q_proj", "k_proj", "v_proj", "o_proj", "up_proj"]}, "does not fit"),
        ({"target_modules": ["nothing_of_that_name"]}, "does not fit"),
    ],
    ids=str,
)
@pytest.mark.parametrize("first", [True, False])
def test_an_adapter_that_does_not_fit_leaves_nothing_behind(
    models: Path, made: Any, tmp_path: Path, change: dict[str, Any], said: str, first: bool
) -> None:
    places = {
        "wrong": _changed(models, tmp_path / "wrong", **change),
        "answerability": str(models / "answerability"),
        "uncertainty": str(models / "uncertainty-alora"),
    }
    requests = [asked(None, PROMPT), asked("answerability", PROMPT), asked("uncertainty", PROMPT + CERTAINTY)]
    with made() as usual:
        expected = [reply.text for reply in usual.handle(requests)]
    with made(adapters=places) as runtime:
        if not first:
            runtime.handle(requests)
        for _ in range(2):
            (refused,) = runtime.handle([asked("wrong", PROMPT)])
            assert isinstance(refused, RuntimeUnavailable) and said in str(refused), refused
        assert [reply.text for reply in runtime.handle(requests)] == expected


def test_missing_packages_name_the_extra(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    for name, asks in (("transformers", asked(None, PROMPT)), ("peft", asked("answerability", PROMPT))):
        with monkeypatch.context() as patch, made() as runtime:
            if name == "peft":
                runtime.handle([asked(None, PROMPT)])
            patch.setitem(sys.modules, name, None)  # as if it were not installed
            try:
                (reply,) = runtime.handle([asks])
            except RuntimeUnavailable as error:
                reply = error
        assert isinstance(reply, RuntimeUnavailable) and "rag-intrinsics[transformers]" in str(reply), reply
