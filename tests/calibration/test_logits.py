"""Scores that are none: a label that nobody knows, NaN and infinity are typed errors, never a number in a result."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from intrinsics_core import (
    BlockingRuntime,
    Call,
    MalformedReply,
    answer_relevance,
    answerability,
    citations,
    context_relevance,
    fact_check,
    hallucination_detection,
    query_rewrite,
    reranking,
    run,
)
from intrinsics_core.embedded.runtime import EmbeddedRuntime
from intrinsics_core.encoders.profile import encoders_profile
from intrinsics_core.protocol.profile import Format, Profile
from intrinsics_core.protocol.requests import Embed, Embedded, Generate, Outcome, Request, Score, Scored
from intrinsics_core.runtimes.scripted import Scripted
from tests.tide_mill import ASKED, answered

ANSWERED = answered("Ada Brink built it in 1911, and she painted it gold.")
DOCUMENTS = ["Ada Brink built the tide mill.", "Fog is common in May."]
TALK = [*ANSWERED, {"role": "user", "content": "And when did she sell it?"}]

BY_ENCODERS = [
    context_relevance(ASKED, DOCUMENTS),
    reranking(ASKED, DOCUMENTS),
    answerability(ASKED, DOCUMENTS),
    answer_relevance(ANSWERED),
    hallucination_detection(ANSWERED, DOCUMENTS),
    citations(ANSWERED, DOCUMENTS),
    fact_check(ANSWERED, DOCUMENTS),
]
BY_READER = [
    hallucination_detection(ANSWERED, DOCUMENTS),
    answerability(ASKED, DOCUMENTS),
    context_relevance(ASKED, DOCUMENTS),
    fact_check(ANSWERED, DOCUMENTS),
    query_rewrite(TALK),
]

PROFILE = encoders_profile(("relevance", "entailment"))

WRONG = {
    "an unknown label": ((0.5,), ("LABEL_0",)),
    "no label": ((), ()),
    "unknown labels": ((0.5, 0.1), ("LABEL_0", "LABEL_1")),
    "NaN": ((math.nan,), ("yes",)),
    "infinite": ((math.inf,), ("yes",)),
    "minus infinite": ((-math.inf,), ("yes",)),
    "NaN of another label": ((0.5, math.nan), ("entailment", "neutral")),
    "one score for two labels": ((0.5,), ("yes", "no")),
    "no number": (("0.5",), ("yes",)),
}


class Reader(BlockingRuntime):
    """The embedded default with an encoder that knows nothing and a reader that says one thing of every pair."""

    profile = EmbeddedRuntime(threads=1).profile

    def __init__(self, said: Any) -> None:
        self.said, self.scored = said, 0

    def handle(self, requests: Sequence[Request]) -> list[Outcome]:
        self.scored += sum(isinstance(request, Score) for request in requests)
        return [self._reply(request) for request in requests]

    def _reply(self, request: Any) -> Outcome:
        if isinstance(request, Embed):
            return Embedded(tuple(np.ones((1, 384), np.float32) / math.sqrt(384) for _ in request.texts))
        return scored(request, *self.said)


def scored(request: Any, row: Any, labels: Any) -> Scored:
    assert isinstance(request, Score)
    return Scored(tuple(row for _ in request.pairs), labels)


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("call", BY_ENCODERS, ids=lambda call: call.task.intrinsic)
def test_an_encoder_that_gives_no_scores_is_a_malformed_reply(call: Call[Any], wrong: str) -> None:
    engine = Scripted(lambda request: scored(request, *WRONG[wrong]))
    with pytest.raises(MalformedReply):
        run(call, engine, profile=PROFILE)


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("call", BY_READER, ids=lambda call: call.task.intrinsic)
def test_so_is_a_reader_of_the_default_that_gives_none(call: Call[Any], wrong: str) -> None:
    engine = Reader(WRONG[wrong])
    with pytest.raises(MalformedReply):
        run(call, engine)
    assert engine.scored


def test_the_message_names_the_label_and_the_number() -> None:
    for wrong, named in (("an unknown label", "LABEL_0"), ("NaN", "nan"), ("minus infinite", "-inf")):
        with pytest.raises(MalformedReply, match=named) as caught:
            run(BY_ENCODERS[0], Scripted(lambda r, w=wrong: scored(r, *WRONG[w])), profile=PROFILE)
        assert caught.value.intrinsic == "context-relevance"


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, None, "1", True])
@pytest.mark.parametrize("bad", ["relevance", "entailment"])
def test_a_fact_check_takes_no_number_that_is_none_from_a_profile(bad: str, number: Any) -> None:
    def told(kind: str) -> Format[Any]:
        return Format(
            lambda task: [Generate(task.intrinsic, prompt=kind)],
            lambda task, replies: number if kind == bad else 0.5,
        )

    own = Profile("own", {kind: told(kind) for kind in ("relevance", "entailment")})
    with pytest.raises(MalformedReply, match="finite"):
        run(fact_check(ANSWERED, DOCUMENTS), Scripted(lambda request: "x"), profile=own)
    failed = run(fact_check(ANSWERED, DOCUMENTS, on_error="fallback"), Scripted(lambda request: "x"), profile=own)
    assert failed.score is None and "MalformedReply" in (failed.degraded or "")
