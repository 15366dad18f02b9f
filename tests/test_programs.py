"""The protocol: an intrinsic is a generator that is sent replies from a list. No runtime, no driver, no loop."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from intrinsics_core import (
    INTRINSICS,
    Call,
    IntrinsicsError,
    InvalidInput,
    MalformedReply,
    RuntimeUnavailable,
    UnsupportedIntrinsic,
    answer_relevance,
    answerability,
    citations,
    context_relevance,
    evaluate,
    fact_check,
    hallucination_detection,
    hyde,
    query_expansion,
    query_rewrite,
    reranking,
    self_consistency,
    uncertainty,
)
from intrinsics_core.profiles.prompted import PROFILE
from intrinsics_core.protocol.profile import Profile
from intrinsics_core.protocol.requests import Generate, Generated, Outcome, Request, Usage
from intrinsics_core.text.sentences import Span

ASK = [{"role": "user", "content": "Who built the mill?"}]
SAID = [*ASK, {"role": "assistant", "content": "Ada built it. She wore green."}]
DOCUMENTS = ["Fog is common.", "Ada Brink built the mill."]

Wave = Sequence[Any]  # of replies: text, an object for JSON, or an outcome as it is


def driven(call: Call[Any], waves: Sequence[Wave], profile: Profile = PROFILE) -> tuple[Any, list[Sequence[Request]]]:
    """What a call returns that is sent these waves, no more and no fewer, and what it asked."""
    program, asked, pending = call.start(profile), [], iter(waves)
    requests = next(program)
    while True:
        asked.append(requests)
        wave = [_outcome(reply) for reply in next(pending)]
        assert len(wave) == len(requests)
        try:
            requests = program.send(wave)
        except StopIteration as stop:
            assert next(pending, None) is None, "it ended before its last replies"
            return stop.value, asked


def _outcome(reply: Any) -> Outcome:
    if isinstance(reply, Generated | IntrinsicsError):
        return reply
    text = reply if isinstance(reply, str) else json.dumps(reply)
    return Generated(text, usage=Usage(requests=1, prompt_tokens=10, completion_tokens=2))


def judged(label: str, confidence: float = 0.8) -> dict[str, object]:
    return {"context_relevance": label, "confidence": confidence}


YES, NO = {"answerability": "answerable", "confidence": 0.9}, {"answerability": "unanswerable", "confidence": 0.9}

# intrinsic -> the call, the replies wave by wave, and (a part of) what they come to.
SCRIPTS: dict[str, tuple[Call[Any], list[Wave], dict[str, Any]]] = {
    "query-rewrite": (
        query_rewrite([*SAID, {"role": "user", "content": "When?"}]),
        [[{"rewritten_question": "When was it built?"}]],
        {"query": "When was it built?", "original": "When?", "changed": True},
    ),
    "query-expansion": (
        query_expansion(ASK),
        [[{"rewritten_question": "Q"}, {"query": "S"}, "It was Ada."], [{"question": "R"}]],
        {
            "queries": [
                {"text": "Who built the mill?", "strategy": "original"},
                {"text": "Q", "strategy": "rewrite"},
                {"text": "S", "strategy": "synonym"},
                {"text": "R", "strategy": "reverse question"},
                {"text": "It was Ada.", "strategy": "sampled answer"},
            ]
        },
    ),
    "context-relevance": (
        context_relevance(ASK, DOCUMENTS),
        [[judged("irrelevant"), judged("relevant")]],
        {
            "judgements": [
                {"document_id": "0", "index": 0, "label": "irrelevant", "score": pytest.approx(0.15)},
                {"document_id": "1", "index": 1, "label": "relevant", "score": pytest.approx(0.85)},
            ]
        },
    ),
    "answerability": (
        answerability(ASK, DOCUMENTS),
        [[NO]],
        {"label": "unanswerable", "probability": pytest.approx(0.1)},
    ),
    "reranking": (
        reranking(ASK, DOCUMENTS, mode="pairwise"),
        [[{"preferred": "B", "confidence": 0.9}]],
        {
            "ranking": [
                {"document_id": "1", "index": 1, "rank": 1, "score": 1.0, "wins": 1.0},
                {"document_id": "0", "index": 0, "rank": 2, "score": 0.0, "wins": 0.0},
            ]
        },
    ),
    "uncertainty": (uncertainty(SAID, DOCUMENTS), [[{"correct": "yes", "confidence": 0.75}]], {"certainty": 0.75}),
    "hallucination-detection": (
        hallucination_detection(SAID, DOCUMENTS),
        [[{"sentences": [{"id": "r0", "reason": "said", "faithfulness": "faithful"},
                         {"id": "r1", "reason": "not said", "faithfulness": "unfaithful"}]}]],
        {"label": "unfaithful"},
    ),
    "citations": (
        citations(SAID, DOCUMENTS),
        [[{"citations": [{"response": "r0", "sources": ["c1"]}, {"response": "r1", "sources": []}]}]],
        {
            "citations": [
                {"response_begin": 0, "response_end": 13, "response_text": "Ada built it.",
                 "document_id": "1", "document_index": 1,
                 "document_begin": 0, "document_end": 25, "document_text": "Ada Brink built the mill."},
            ]
        },
    ),
    "fact-check": (
        fact_check(SAID, DOCUMENTS, top_k=1),
        [
            [judged("irrelevant"), judged("relevant")],
            [{"supported": "yes", "confidence": 0.9}, {"supported": "no", "confidence": 0.7}],  # a claim each
        ],
        {"score": pytest.approx((0.9 + 0.3) / 2)},
    ),
    "answer-relevance": (
        answer_relevance(SAID, DOCUMENTS),
        [[{"answer_relevance": "irrelevant", "confidence": 0.7}], [{"rewritten_answer": "Ada Brink built it."}]],
        {"label": "irrelevant", "score": pytest.approx(0.7 * 0 + 0.15 * 0.5 + 0.15), "rewrite": "Ada Brink built it."},
    ),
    "evaluate": (
        evaluate(SAID, DOCUMENTS, metrics="faithfulness,coherence"),
        [
            [
                {"explanation": "Green is made up.", "rating": "no", "confidence": 0.8,
                 "statements": [{"text": "Who built it is right.", "citations": [
                     {"source": "d1", "quote": "ada brink"}, {"source": "d1", "quote": "blue"}]}]},
                {"explanation": "", "statements": [], "rating": "yes", "confidence": 1},
            ]
        ],
        {
            "metrics": [
                {"name": "faithfulness", "rating": "no", "score": pytest.approx(0.2),
                 "explanation": "Green is made up.", "statements": [{"text": "Who built it is right.", "citations": [
                     {"source": "documents[1]", "begin": 0, "end": 9, "text": "Ada Brink"}]}]},
                {"name": "coherence", "rating": "yes", "score": 1.0, "explanation": None, "statements": []},
            ],
            "dropped": 1,
        },
    ),
    "hyde": (hyde(ASK), [[{"passage": "The mill was built by …"}]], {"passage": "The mill was built by …"}),
    "self-consistency": (
        self_consistency(ASK, samples=4),
        [[{"answer": text} for text in ("Ada.", "Ben", " ada ", "It was Ada.")], [{"groups": [["a0", "a2"]]}]],
        {
            "answer": "Ada.",
            "share": 0.75,
            "samples": [
                {"text": "Ada.", "agrees": True},
                {"text": "Ben", "agrees": False},
                {"text": "ada", "agrees": True},
                {"text": "It was Ada.", "agrees": True},
            ],
        },
    ),
}  # fmt: skip


# One sample that fails is left out; the only one is not.
STRICT = {"self-consistency": (self_consistency(ASK, samples=1), [[{"answer": "Ada."}]], {"answer": "Ada."})}


def test_every_intrinsic_has_a_script() -> None:
    """Those that are made of others, and ask and fail in ways of their own, have theirs in tests/intrinsics."""
    assert set(INTRINSICS) - set(SCRIPTS) == {"audit", "check-citations", "revise"}


@pytest.mark.parametrize("name", SCRIPTS)
def test_replies_from_a_list_come_to_the_result(name: str) -> None:
    call, waves, expected = SCRIPTS[name]
    result, asked = driven(call, waves)
    dump = result.model_dump(mode="json")
    assert {key: dump.get(key) for key in expected} == expected
    requests = [request for wave in asked for request in wave]
    assert [request.intrinsic for request in requests] == [name] * len(requests)
    assert all(isinstance(request, Generate) and request.attempt == 0 for request in requests)
    assert result.usage == Usage(len(requests), 10 * len(requests), 2 * len(requests))


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_call_is_started_anew_as_often_as_one_likes(name: str) -> None:
    call, waves, _ = SCRIPTS[name]
    assert driven(call, waves) == driven(call, waves)


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_malformed_reply_is_asked_for_once_more_and_alone(name: str) -> None:
    call, (first, *rest), expected = SCRIPTS[name]
    result, asked = driven(call, [["", *first[1:]], [first[0]], *rest])
    assert {key: result.model_dump(mode="json").get(key) for key in expected} == expected
    # Greedy decoding would say the same again: the repeat is sampled, and reproducibly.
    assert asked[1] == [replace(asked[0][0], attempt=1, temperature=asked[0][0].temperature or 0.3, seed=1)]


@pytest.mark.parametrize("name", SCRIPTS)
def test_what_stays_malformed_is_raised_under_the_intrinsics_name(name: str) -> None:
    call, (first, *_), _ = STRICT.get(name) or SCRIPTS[name]
    with pytest.raises(MalformedReply) as caught:
        driven(call, [["", *first[1:]], [""]])
    assert (caught.value.intrinsic, caught.value.raw) == (name, "")


@pytest.mark.parametrize("name", SCRIPTS)
def test_an_error_among_the_replies_is_raised_and_not_asked_again(name: str) -> None:
    call, (first, *_), _ = STRICT.get(name) or SCRIPTS[name]
    with pytest.raises(RuntimeUnavailable) as caught:
        driven(call, [[RuntimeUnavailable("connection refused"), *first[1:]]])
    assert caught.value.intrinsic == name


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (query_rewrite(ASK, on_error="fallback"), {"query": "Who built the mill?", "changed": False}),
        (answerability(ASK, DOCUMENTS, on_error="open"), {"label": "answerable", "probability": None}),
        (answerability(ASK, DOCUMENTS, on_error="closed"), {"label": "unanswerable", "probability": None}),
    ],
)
def test_a_fallback_that_the_caller_chose_says_why(call: Call[Any], expected: dict[str, Any]) -> None:
    result, _ = driven(call, [[RuntimeUnavailable("connection refused")]])
    assert {key: getattr(result, key) for key in expected} == expected
    assert result.degraded == f"RuntimeUnavailable: {call.task.intrinsic}: connection refused"


@pytest.mark.parametrize("below", [False, True])
def test_a_fallbacks_sentences_are_those_of_the_profile_that_was_asked(below: bool) -> None:
    def by_line(text: str) -> tuple[Span, ...]:
        lines = list(re.finditer(r"[^\n]++", text))
        return tuple(Span(line.start(), line.end(), line[0]) for line in lines)

    own = replace(PROFILE, split=by_line)
    answer = [*ASK, {"role": "assistant", "content": "Ada built it. She wore\ngreen."}]
    call = hallucination_detection(answer, DOCUMENTS, on_error="fallback")
    profile = Profile("over", {}, base=own) if below else own
    result, _ = driven(call, [[RuntimeUnavailable("connection refused")]], profile)
    assert [sentence.text for sentence in result.sentences] == ["Ada built it. She wore", "green."]
    assert result.degraded is not None


def test_no_fallback_hides_what_is_the_callers_to_mend() -> None:
    with pytest.raises(InvalidInput):
        driven(answerability(ASK, DOCUMENTS, on_error="open"), [[InvalidInput("no such model")]])


def test_what_a_profile_lacks_is_told_before_anything_is_asked() -> None:
    with pytest.raises(UnsupportedIntrinsic) as caught:
        next(answerability(ASK, DOCUMENTS).start(Profile("bare", {})))
    assert caught.value.intrinsic == "answerability"
