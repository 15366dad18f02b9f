"""An adapter that `intrinsics train` wrote, in vLLM as it is: its greedy reply is what it was taught."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import intrinsics_core as ic
from intrinsics_core.protocol.requests import Outcome, Request
from tests.transformers.training.make import SAYS, TAUGHT
from tests.vllm.inprocess.test_engine import ENGINE, SETTINGS

TRAINED = os.environ.get("RAG_INTRINSICS_TRAINED")


@pytest.mark.skipif(not find_spec("vllm"), reason="needs vllm: pip install 'rag-intrinsics[vllm]'")
@pytest.mark.skipif(not TRAINED, reason="RAG_INTRINSICS_TRAINED is unset; .ci/vllm.sh sets it")
def test_a_trained_adapter_says_what_it_was_taught() -> None:
    from intrinsics_core.local.vllm import VllmRuntime

    os.environ.update(SETTINGS)  # before vLLM is imported: it reads them then
    folder = Path(str(TRAINED))

    class Free(VllmRuntime):
        """Without the constraint: what the weights say by themselves. And the same of the base model."""

        said: tuple[str, str]

        def handle(self, requests: Sequence[Request]) -> list[Outcome]:
            (request,) = requests
            free: Any = replace(request, constraint=None, max_tokens=40)  # type: ignore[type-var]
            trained, plain = super().handle([free, replace(free, adapter=None)])
            self.said = trained.text, plain.text  # type: ignore[union-attr]
            return [trained]

    with Free(
        str(folder / "base"), {"answerability": str(folder / "adapter")}, dtype="float32", engine=ENGINE
    ) as runtime:
        call = ic.answerability(TAUGHT[0]["messages"], TAUGHT[0]["documents"])
        result = ic.run(call, runtime, profile=f"io.yaml:{folder / 'adapter'}")
        assert runtime.said[0] == SAYS
        assert runtime.said[1] != SAYS
    assert result.label == "unanswerable"
