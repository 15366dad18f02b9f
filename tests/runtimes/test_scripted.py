"""The scripted runtime, as people use it to test their chains without a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from intrinsics_core import InvalidInput, MalformedReply, RuntimeUnavailable, answerability, as_runtime, run, run_many
from intrinsics_core.intrinsics import uncertainty
from intrinsics_core.protocol.requests import Generated
from intrinsics_core.runtimes.scripted import Scripted

ASKED = [{"role": "user", "content": "Who built it?"}]
YES = {"answerability": "answerable", "confidence": 1}


def gate() -> Any:
    return answerability(ASKED, ["Ada Brink built it."])


def test_replies_are_used_up_in_order_and_the_end_is_told() -> None:
    runtime = Scripted(
        [YES, '{"answerability": "unanswerable"}', Generated(json.dumps(YES)), RuntimeUnavailable("down")]
    )
    assert [run(gate(), runtime).label for _ in range(3)] == ["answerable", "unanswerable", "answerable"]
    with pytest.raises(RuntimeUnavailable, match="answerability: down"):
        run(gate(), runtime)
    with pytest.raises(RuntimeUnavailable, match="no reply left"):
        run(gate(), runtime)
    assert len(runtime.requests) == 5 and runtime.requests[0].messages[0].role == "system"


def test_by_intrinsic_and_by_function() -> None:
    runtime = Scripted({"answerability": [YES], "uncertainty": [{"correct": "no", "confidence": 0.55}]})
    gated, weighed = run_many([gate(), uncertainty(ASKED)], runtime)
    assert (gated.label, weighed.certainty) == ("answerable", 0.45)
    assert run(gate(), Scripted(lambda request: YES if "Ada" in request.messages[1].content else "?")).answerable


@pytest.mark.parametrize("text", ['["no JSON here", "nor here"]', '"no JSON here"\n"nor here"\n'])
def test_a_file_and_a_malformed_reply(text: str, tmp_path: Path) -> None:
    file = tmp_path / "replies.jsonl"
    file.write_text(text)
    with pytest.raises(MalformedReply) as caught:
        run(gate(), {"kind": "scripted", "replies": str(file)})
    assert caught.value.raw == "nor here"  # it was asked again


@pytest.mark.parametrize("text", ["{", "3"])
def test_a_file_that_is_none(text: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_text(text)
    with pytest.raises(InvalidInput, match=r"runtime\.replies"):
        as_runtime({"kind": "scripted", "replies": str(tmp_path / "x")})
    with pytest.raises(InvalidInput, match=r"runtime\.replies"):
        as_runtime({"kind": "scripted", "replies": str(tmp_path / "nothing")})
