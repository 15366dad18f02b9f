"""The two engines say the same: greedy, unconstrained replies of vLLM's server and of the transformers runtime on the
same weights, token for token, for every prompt that the Granite profiles send and every adapter they name.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from intrinsics_core import IntrinsicsError, run
from intrinsics_core.local.transformers import TransformersRuntime
from intrinsics_core.protocol.requests import Generate, Generated, TokenLogprob
from tests.vllm.test_vllm import CALLS, CASES

FOLDER = os.environ.get("RAG_INTRINSICS_VLLM_MODEL")
MISSING = [name for name in ("torch", "transformers", "peft", "llguidance") if find_spec(name) is None]
TOKENS = 32
TIE = 1e-3  # two engines add in different orders: alternatives this close (in log-probability) may change places

pytestmark = [
    pytest.mark.skipif(bool(MISSING), reason=f"needs {', '.join(MISSING)}: pip install 'rag-intrinsics[transformers]'"),
    pytest.mark.skipif(not FOLDER, reason="RAG_INTRINSICS_VLLM_MODEL is unset; .ci/vllm.sh sets it"),
]


@pytest.fixture(scope="module")
def local() -> Iterator[TransformersRuntime]:
    folder = Path(FOLDER or "")
    adapters = {path.name.removesuffix("_lora"): str(path) for path in folder.glob("*_lora")}
    with TransformersRuntime(str(folder / "base"), adapters, dtype="float32") as runtime:
        yield runtime


@pytest.fixture(scope="module")
def requests() -> list[Generate]:
    """What the profiles ask, freed of constraints; each once."""
    seen: dict[tuple[object, ...], Generate] = {}

    class Spy(TransformersRuntime):
        def handle(self, wave):
            for request in wave:
                free = replace(request, constraint=None, max_tokens=TOKENS, logprobs=True, temperature=0.0, stop=())
                seen.setdefault((free.prompt, free.messages, free.adapter), free)
            return [Generated("unheard") for _ in wave]

    spy = Spy("no model is loaded")
    for family, intrinsic in CASES:
        with suppress(IntrinsicsError):  # nothing was said that could be understood; what was asked is what counts
            run(CALLS[intrinsic], spy, profile=family)
    return list(seen.values())


def test_every_adapter_is_among_the_requests(requests: list[Generate]) -> None:
    assert {request.adapter for request in requests} >= {
        None, "query-rewrite", "context-relevance", "answerability", "uncertainty", "hallucination-detection",
        "citations",
    }  # fmt: skip
    assert len(requests) >= 15


def test_greedy_replies_agree_token_for_token(connect, local, requests: list[Generate]) -> None:
    served = connect(model="granite-tiny").handle(requests)
    here = local.handle(requests)
    same = 0
    for request, theirs, ours in zip(requests, served, here, strict=True):
        assert isinstance(theirs, Generated) and isinstance(ours, Generated), (request.adapter, theirs, ours)
        assert theirs.usage.prompt_tokens == ours.usage.prompt_tokens, request.adapter
        parted = _parted(theirs.logprobs or (), ours.logprobs or ())
        if parted is None:
            assert theirs.text == ours.text, (request.adapter, theirs.text, ours.text)
            same += 1
        else:
            assert parted < TIE, (request.adapter, parted, theirs.text, ours.text)
    assert same >= 0.9 * len(requests)  # ties are rare


def _parted(theirs: tuple[TokenLogprob, ...], ours: tuple[TokenLogprob, ...]) -> float | None:
    """None where the replies are equally long and equally likely at every place; else how close the best two tokens
    are, in log-probability, at the first place where they are not.
    """
    assert theirs and ours
    for one, other in zip(theirs, ours, strict=False):
        if one.logprob != pytest.approx(other.logprob, abs=TIE):
            (_, best), (_, second) = other.top[:2]
            return best - second
    return None if len(theirs) == len(ours) else 1.0
