"""Adapters trained on a tiny random Granite: served by what was written, and gone on with where they were killed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from typer.testing import CliRunner

import intrinsics_core as ic
from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.protocol.requests import Generated, Outcome, Request
from tests.transformers.training.conftest import QUICK
from tests.transformers.training.make import SAYS, TAUGHT
from tests.transformers.training.rows import rows


def losses(done: Any) -> list[float]:
    return [seen["loss"] for seen in done.log if "loss" in seen]


def said(models: Path, folder: Path, profile: str) -> str:
    """The greedy reply to the first row's request, free of its constraint: what the weights say by themselves."""
    from intrinsics_core.local.transformers import TransformersRuntime

    class Free(TransformersRuntime):
        replies: list[Outcome]

        def handle(self, requests: Sequence[Request]) -> list[Outcome]:
            self.replies = super().handle([replace(r, constraint=None, max_tokens=40) for r in requests])
            return self.replies

    asked = TAUGHT[0]
    with Free(str(models / "base"), {"answerability": str(folder)}) as runtime:
        ic.run(ic.answerability(asked["messages"], asked["documents"], on_error="open"), runtime, profile=profile)
        (reply,) = runtime.replies
    assert isinstance(reply, Generated)
    return reply.text


@pytest.mark.parametrize("alora", [False, True], ids=["lora", "alora"])
def test_an_adapter_is_trained_loaded_and_says_what_it_was_taught(
    trained: Callable[..., Any], models: Path, alora: bool
) -> None:
    done = trained("answerability", TAUGHT, alora=alora, epochs=16 if alora else 8)
    seen = losses(done)
    assert seen[-1] < seen[0] / 4, seen
    assert said(models, done.folder, done.profile) == SAYS
    assert said(models, models / "answerability", done.profile) != SAYS
    config = json.loads((done.folder / "adapter_config.json").read_text("utf-8"))
    assert bool(config.get("alora_invocation_tokens")) == alora
    assert (done.folder / "io.yaml").is_file()
    assert "io.yaml:FOLDER" in (done.folder / "README.md").read_text("utf-8")


def test_a_profile_whose_prompts_are_text_needs_no_file(trained: Callable[..., Any], models: Path) -> None:
    done = trained("answerability", TAUGHT, profile="granite-3.3", date="May 5, 2031", longest=1024)
    assert done.profile == "granite-3.3" and not (done.folder / "io.yaml").exists()
    assert said(models, done.folder, "granite-3.3").startswith("unanswerable")


def test_held_rows_stop_it_and_the_best_weights_are_kept(trained: Callable[..., Any]) -> None:
    done = trained("answerability", rows("answerability", 10), held=0.2, patience=1, learning_rate=0.3, epochs=8)
    assert done.counts == {"trained": 8, "held": 2}
    seen = [each["eval_loss"] for each in done.log if "eval_loss" in each]
    assert done.best == min(seen) and len(seen) < 8
    assert seen[-1] > done.best  # it stopped because of this


@pytest.mark.parametrize("alora", [False, True], ids=["lora", "alora"])
def test_the_loss_is_that_of_trl(
    trained: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, alora: bool
) -> None:
    """An aLoRA's, too, of which we compute what is before its invocation without gradients."""
    from trl import SFTTrainer

    from intrinsics_core.training import fitting

    settings = {"dtype": "float32", "epochs": 2, "held": 0.2, "accumulate": 2, "alora": alora}
    cut = Mock(side_effect=fitting.behind_prefix)
    monkeypatch.setattr(fitting, "behind_prefix", cut)
    ours = trained("hallucination-detection", **settings)
    assert cut.called is alora
    monkeypatch.setattr(fitting, "_trainer_for", lambda *_: SFTTrainer)
    theirs = trained("hallucination-detection", **settings, out=tmp_path / "theirs")
    assert losses(ours) == pytest.approx(losses(theirs), rel=1e-5) and ours.best == pytest.approx(theirs.best, rel=1e-5)


def test_rows_of_any_length_have_the_loss_of_one_pass_over_all_tokens() -> None:
    """With a window that is shorter than what is before the invocation, and a row that begins with it."""
    import torch
    from transformers import MistralConfig, MistralForCausalLM, set_seed

    from intrinsics_core.local.peft_adapters import LoadedAdapter
    from intrinsics_core.training import fitting
    from intrinsics_core.training.regime import Regime

    set_seed(7)
    begun, rows_ = (3, 4), [[*range(10, 10 + size), 3, 4, 5, 6] for size in (0, 1, 30, 17)]
    config = MistralConfig(vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=2, sliding_window=8,
                           num_attention_heads=4, num_key_value_heads=2)  # fmt: skip
    model = fitting._with_adapter(MistralForCausalLM(config), fitting.Base(""), Regime(rank=4, dropout=0), begun)
    weights = [one for one in model.parameters() if one.requires_grad]
    for one in weights:
        torch.nn.init.normal_(one, std=0.5)

    def told(trainer: Any, batch: list[list[int]]) -> tuple[float, Any]:
        ids = torch.tensor([[*row, *[0] * (34 - len(row))] for row in batch])
        seen = torch.tensor([[i < len(row) for i in range(34)] for row in batch]).long()
        replies = (ids == 5) | (ids == 6)
        loss = trainer.compute_loss(None, model, {"input_ids": ids, "attention_mask": seen,
                                                  "labels": ids.where(replies, torch.tensor(-100))})  # fmt: skip
        return loss.item(), torch.cat([one.flatten() for one in torch.autograd.grad(loss, weights)])

    for batch in (rows_, rows_[:1]):
        (loss, slopes), (ours, our_slopes) = (
            told(fitting._trainer_for(model.device, one), batch) for one in (None, LoadedAdapter("", begun))
        )
        assert ours == pytest.approx(loss, rel=1e-5) and slopes.abs().max() > 0
        torch.testing.assert_close(our_slopes, slopes, rtol=1e-4, atol=1e-6)


def test_only_what_is_read_in_parts_as_in_one_is_cut() -> None:
    from transformers import AutoModelForCausalLM, GPT2Config, MistralConfig, Phi3Config, Qwen3NextConfig, XLNetConfig

    from intrinsics_core.training.prefix import can_cut

    small: dict[str, Any] = {"vocab_size": 9, "hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 2,
                             "num_attention_heads": 2, "num_key_value_heads": 1, "pad_token_id": 0}  # fmt: skip
    long = {"rope_type": "longrope", "rope_theta": 1e4, "short_factor": [1.0, 1.0], "long_factor": [2.0, 2.0],
            "original_max_position_embeddings": 4}  # fmt: skip
    states = Qwen3NextConfig(**small, head_dim=4, num_experts=2, layer_types=["linear_attention", "full_attention"])
    told = [can_cut(AutoModelForCausalLM.from_config(config)) for config in (
        MistralConfig(**small), GPT2Config(vocab_size=9, n_embd=8, n_layer=1, n_head=2), Phi3Config(**small),
        Phi3Config(**small, rope_parameters=long), states,
        XLNetConfig(vocab_size=9, d_model=8, n_layer=1, n_head=2, d_inner=8),
    )]  # fmt: skip
    assert told == [True, True, True, False, False, False]


KILLED = """
import json, os, signal, sys
import torch
from transformers import TrainerCallback
from intrinsics_core.training import train

torch.set_num_threads(1)

class Kill(TrainerCallback):
    def on_step_end(self, args, state, control, **_):
        if state.global_step == 5:  # in the third epoch: the second's checkpoint is whole
            os.kill(os.getpid(), signal.SIGKILL)

train("answerability", callbacks=[Kill()], **json.loads(sys.argv[1]))
"""


@pytest.mark.parametrize("held", [0, 0.1], ids=["a checkpoint each tenth", "a checkpoint each epoch"])
def test_killed_and_resumed_it_ends_as_if_unbroken(
    trained: Callable[..., Any], models: Path, tmp_path: Path, write: Callable[..., Path], held: float
) -> None:
    from safetensors.torch import load_file

    settings = QUICK | {"epochs": 4, "dropout": 0.1, "held": held}  # drawn numbers must be gone on with, too
    arguments = {"base": str(models / "base"), "data": str(write(rows("answerability"))), "date": "May 5, 2031",
                 "out": str(tmp_path / "broken")} | settings  # fmt: skip
    killed = subprocess.run([sys.executable, "-c", KILLED, json.dumps(arguments)], capture_output=True, text=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert not (tmp_path / "broken/adapter_model.safetensors").exists()
    with pytest.raises(InvalidInput, match="a training run was started"):
        trained("answerability", **settings, out=tmp_path / "broken")
    with pytest.raises(InvalidInput, match="it was started with regime"):
        trained("answerability", **settings | {"rank": 4}, out=tmp_path / "broken", resume=True)
    resumed = trained("answerability", **settings, out=tmp_path / "broken", resume=True)  # its date is that of the note
    whole = trained("answerability", **settings, out=tmp_path / "whole", date="May 5, 2031")
    assert resumed.steps == whole.steps == 8
    one, other = (load_file(done.folder / "adapter_model.safetensors") for done in (resumed, whole))
    assert one.keys() == other.keys()
    assert max(float((one[name] - other[name]).abs().max()) for name in one) < 1e-6
    weights = (resumed.folder / "adapter_model.safetensors").stat().st_mtime_ns
    assert (
        trained("answerability", **settings, out=tmp_path / "broken", resume=True) == resumed
    )  # nothing is left to do
    assert (resumed.folder / "adapter_model.safetensors").stat().st_mtime_ns == weights
    assert losses(resumed)[-2:] == pytest.approx(losses(whole)[-2:], abs=1e-5)


def test_the_command(models: Path, tmp_path: Path, write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    from intrinsics_core.cli import train as command
    from intrinsics_core.cli.commands import app

    shown: list[Any] = []

    @contextmanager
    def bar(*total_done_name: Any) -> Iterator[Any]:
        shown.append(total_done_name)
        yield lambda: shown.append("a step")

    monkeypatch.setattr(command, "progress", bar)
    arguments = ["train", "citations", "--base", str(models / "base"), "--data", str(write(rows("citations", 2))),
                 "--out", str(tmp_path / "out"), "--epochs", "1", "--held", "0", "--alora",
                 "--target", "q_proj"]  # fmt: skip
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert f"2 rows trained on, 0 held out, 1 steps, 1 epochs; ask it with --profile io.yaml:{tmp_path / 'out'}" in (
        done.stdout
    )
    assert shown == [(1, 0, "steps"), "a step"]
    again = CliRunner().invoke(app, arguments)
    assert again.exit_code == 2 and "a training run was started" in again.output
    import intrinsics_core.training as training

    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(training, "train", interrupted)
        stopped = CliRunner().invoke(app, arguments)
    assert stopped.exit_code == 130 and "--resume goes on" in stopped.output
    other = CliRunner().invoke(app, [*arguments[:-1], "nowhere_proj", "--out", str(tmp_path / "other")])
    assert other.exit_code == 2 and "the model has no layers named 'nowhere_proj'" in other.output


@pytest.mark.parametrize("dtype", ["auto", "float32"])
def test_products_are_of_the_fastest_type_unless_float32_is_asked_for(tmp_path: Path, dtype: str) -> None:
    import torch

    from intrinsics_core.training.fitting import Base, _arguments
    from intrinsics_core.training.regime import Regime
    from intrinsics_core.training.working_type import working_type

    fastest = working_type(torch.device("cpu"))
    made = _arguments(Regime(), tmp_path, Base("base", device="cpu", dtype=dtype), rows=8, held=False)
    assert made.bf16 == (dtype == "auto" and fastest is torch.bfloat16)
