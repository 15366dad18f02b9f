"""vLLM in this process, on the tiny Granite. Runs in vLLM's own environment:

.ci/work/venv-vllm/bin/python -m pytest tests/vllm/inprocess
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from intrinsics_core import as_runtime
from intrinsics_core.protocol.errors import (
    ContextTooLong,
    InvalidInput,
    RuntimeUnavailable,
    UnknownAdapter,
    UnsupportedIntrinsic,
)
from intrinsics_core.protocol.requests import Choice, Embed, Generate, Generated, JsonSchema, Regex
from intrinsics_core.protocol.task import Document, Message
from tests.transformers.asked import ASSISTANT, CERTAINTY, LORA, asked, context, reference, text_of

MISSING = [name for name in ("vllm", "torch", "peft") if find_spec(name) is None]
needs_vllm = pytest.mark.skipif(bool(MISSING), reason=f"needs {', '.join(MISSING)}: pip install 'rag-intrinsics[vllm]'")
PROMPT = context(5) + ASSISTANT
# One process, no compilation: ready in seconds instead of minutes, in a third of the memory.
SETTINGS = {
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0", "VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1", "HF_HUB_OFFLINE": "1", "TORCHDYNAMO_DISABLE": "1",
}  # fmt: skip
ENGINE = {"enforce_eager": True, "block_size": 32, "distributed_executor_backend": "uni"}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.tiny_granite import build

    return build(tmp_path_factory.mktemp("granite"))


@pytest.fixture(scope="module")
def runtime(models: Path) -> Iterator[Any]:
    from intrinsics_core.local.vllm import VllmRuntime

    os.environ.update(SETTINGS)  # before vLLM is imported: it reads them then
    adapters = {
        "answerability": str(models / "answerability"),
        "citations": str(models / "citations"),
        "uncertainty": str(models / "uncertainty-alora"),
        "query-rewrite": str(models / "no-such-folder"),
    }
    with VllmRuntime(str(models / "base"), adapters, dtype="float32", engine=ENGINE) as runtime:
        yield runtime


@needs_vllm
@pytest.mark.parametrize("adapter", [None, *LORA])
def test_greedy_replies_are_those_of_transformers(models: Path, runtime: Any, adapter: str | None) -> None:
    (reply,) = runtime.handle([asked(adapter, PROMPT)])
    assert reply.text == text_of(models, reference(models, adapter, PROMPT))


@needs_vllm
def test_mixed_batch_equals_single_runs(runtime: Any) -> None:
    requests = [asked(name, prompt) for name in (None, *LORA) for prompt in (PROMPT, "Hi" + ASSISTANT)]
    together = runtime.handle(requests)
    assert [r.text for r in together] == [runtime.handle([request])[0].text for request in requests]
    assert len({r.text for r in together}) == len(requests)


@needs_vllm
def test_constraints(runtime: Any) -> None:
    schema = {"type": "object", "properties": {"a": {"enum": ["yes", "no"]}, "n": {"type": "array", "items": {
        "enum": [1, 2]}, "maxItems": 2}}, "required": ["a", "n"], "additionalProperties": False}  # fmt: skip
    choice, regex, json_, free = runtime.handle(
        [
            asked("answerability", PROMPT, constraint=Choice(tuple("0123456789")), logprobs=True),
            asked("citations", PROMPT, constraint=Regex(r"[a-c]{3}\d")),
            asked(None, PROMPT, constraint=JsonSchema(schema), max_tokens=60),
            asked(None, PROMPT),
        ]
    )
    assert choice.text in "0123456789" and len(choice.text) == 1
    assert sum(math.exp(value) for _, value in choice.logprobs[0].top) == pytest.approx(1, abs=1e-4)
    assert len(regex.text) == 4 and regex.text[3].isdigit()
    assert json_.text == json.dumps(json.loads(json_.text))
    assert free.text == runtime.handle([asked(None, PROMPT)])[0].text


@needs_vllm
def test_one_bad_request_never_fails_the_others(runtime: Any) -> None:
    good = asked("answerability", PROMPT)
    replies = runtime.handle(
        [
            good,
            asked(None, context(400) + ASSISTANT),
            asked(None, PROMPT, max_tokens=5000),
            asked("no-such-adapter", PROMPT),
            asked("query-rewrite", PROMPT),
            asked("uncertainty", PROMPT + CERTAINTY),
            asked(None, PROMPT, constraint=JsonSchema({"type": "array", "uniqueItems": True})),
            asked(None, PROMPT, constraint=Regex("(?=a)b")),
            Embed("x", ("text",)),
            good,
        ]
    )
    assert [type(reply) for reply in replies] == [
        Generated, ContextTooLong, ContextTooLong, UnknownAdapter, RuntimeUnavailable, RuntimeUnavailable,
        InvalidInput, InvalidInput, UnsupportedIntrinsic, Generated,
    ]  # fmt: skip
    assert "answerability, citations" in str(replies[3]) and "aLoRA" in str(replies[5])
    assert replies[0].text == replies[-1].text


@needs_vllm
def test_messages_stop_texts_seeds_and_usage(runtime: Any) -> None:
    chat = Generate("x", messages=(Message("user", "Who?"),), documents=(Document("Ada.", "a7"),), max_tokens=8)
    raw = (
        "<|start_of_role|>system<|end_of_role|>Knowledge Cutoff Date: April 2024. You are Granite, developed by IBM."
        '<|end_of_text|>\n<|start_of_role|>document {"document_id": "a7"}<|end_of_role|>Ada.<|end_of_text|>\n'
        "<|start_of_role|>user<|end_of_role|>Who?<|end_of_text|>\n" + ASSISTANT
    )
    by_template, by_hand = runtime.handle([chat, asked(None, raw, max_tokens=8)])
    assert by_template.text == by_hand.text
    assert by_template.usage.prompt_tokens == by_hand.usage.prompt_tokens > 50
    assert by_template.usage.completion_tokens == 8 and by_template.usage.seconds > 0
    whole = runtime.handle([asked(None, PROMPT)])[0].text
    (cut,) = runtime.handle([asked(None, PROMPT, stop=(whole[9:13],))])
    assert cut.text == whole[: whole.find(whole[9:13])] and cut.finish_reason == "stop"
    hot = [asked(None, PROMPT, temperature=1.5, seed=seed) for seed in (1, 2)]
    assert [r.text for r in runtime.handle(hot)] == [r.text for r in runtime.handle(hot)]


def test_config() -> None:
    """Needs no vLLM: nothing is started before the first request."""
    runtime = as_runtime({"kind": "vllm", "model": "somewhere", "adapters": {"answerability": "there"}})
    assert "somewhere" in repr(runtime)
    with pytest.raises(InvalidInput, match="unknown keys"):
        as_runtime({"kind": "vllm", "model": "x", "trust_remote_code": True})
    with pytest.raises(InvalidInput, match="may not set"):
        as_runtime({"kind": "vllm", "model": "x", "engine": {"trust_remote_code": True}})


@pytest.mark.skipif(find_spec("vllm") is not None, reason="vLLM is installed here")
def test_without_vllm_the_extra_is_named() -> None:
    with pytest.raises(RuntimeUnavailable, match=r"rag-intrinsics\[vllm\]"):
        as_runtime({"kind": "vllm", "model": "x"}).handle([asked(None, "x")])
