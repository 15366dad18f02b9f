"""Replies as models really give them, and worse: a typed error or a valid result, and nothing else, for every format.

Table-driven over all profiles that read text: every format is fed a hundred replies, and 2,500 in the slow run, made
from valid ones (cut, spliced, with values of other types, ids out of range, negative and doubled, prose around, quotes
inside) and from noise. The generator is seeded: a failure is found again by its number.
"""

from __future__ import annotations

import copy
import json
import math
import random
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from pydantic import BaseModel

from intrinsics_core.calibration.probabilities import CERTAIN
from intrinsics_core.profiles import prompted
from intrinsics_core.profiles.granite import granite_3_2, granite_3_3
from intrinsics_core.protocol.errors import MalformedReply
from intrinsics_core.protocol.profile import Profile
from intrinsics_core.protocol.requests import Generate, Generated, TokenLogprob
from intrinsics_core.protocol.results import AuditParts, Citations, Evaluation, HallucinationDetection
from intrinsics_core.protocol.task import Task, check
from intrinsics_core.replies.statements import sources
from tests.profiles import adapters

FEW, MANY = 100, 2_500

MESSAGES = [
    {"role": "user", "content": "Is tea hot?"},
    {"role": "assistant", "content": "Yes, it is. Ice is not!\n\nSo it goes <r1> on."},
]
DOCUMENTS = [
    {"id": "a", "text": "Tea is hot.  <c0> Ice is not."},
    {"id": "b", "text": ""},
    {"id": "c", "text": "Snow.\nMelts."},
]
PROFILES: dict[str, Profile] = {
    "prompted": prompted.PROFILE,
    "granite-3.2": granite_3_2.PROFILE,
    "granite-3.2 (paper)": granite_3_2.profile(spelling="paper"),
    "granite-3.3": granite_3_3.PROFILE,
    "io.yaml": adapters.profile(),
}
# What each kind of format is answered with when all goes well, in the spellings of all profiles.
VALID: dict[str, list[Any]] = {
    "query-rewrite": [{"rewritten_question": "Is the \"green\" tea hot?"}],
    "query-clarification": [{"clarification": "Which tea?"}],
    "synonym-query": [{"query": "Is tea warm?"}, "Is tea warm?"],
    "reverse-question": [{"question": "What is hot?"}, " What is hot?\n   "],
    "sample-answer": ["Tea is hot."],
    "answer": ["Tea is hot."],
    "context-relevance": [
        {"context_relevance": "partially relevant", "confidence": 0.7},
        {"context_relevance": "relevant"},
    ],
    "answerability": [{"answerability": "answerable", "confidence": 0.9}, "unanswerable", '"answerable"'],
    "comparison": [{"preferred": "B", "confidence": 1}, "B\n\nExplanation: better.", "A"],
    "listwise": [{"ranking": ["d2", "d0", "d1"]}, {"ranking": ["d1", "d1", "d7"]}, {"ranking": [2, "<d0>"]}],
    "uncertainty": [{"correct": "yes", "confidence": 0.75}, {"score": "3"}, "8", "85%"],
    "hallucination-detection": [
        {"sentences": [{"id": "r0", "reason": "said", "faithfulness": "faithful"}, {"id": "r2", "faithfulness": "NA"}]},
        {"<r0>": "0.9-1.0", "<r1>": "unanswerable"},
        '"{\\"<r0>\\": \\"0.1-0.2\\"}"',
        [{"i": 0, "r": "why", "f": "partial"}, {"i": 2, "r": "", "f": "NA"}],
        [{"r": 1, "f": "unfaithful", "e": "no"}],
    ],
    "citations": [
        {"citations": [{"response": "r0", "sources": ["c0", "c3"]}]},
        {"<r0>": ["<c0>", "<c1>"], "<r1>": []},
        [{"r": 0, "c": [0, 1]}, {"r": 2, "c": []}],
    ],
    "revise": [{"mended": [{"id": "r0", "text": "Yes."}, {"id": "r1", "text": ""}]}],
    "audit": [
        {"answerability": "answerable", "confidence": 0.9, "answers_question": "yes",
         "correct": "yes", "certainty": 0.85,
         "sentences": [{"id": "r0", "reason": "said", "faithfulness": "faithful", "sources": ["c0", "c3"]},
                       {"id": "r2", "reason": "", "faithfulness": "NA", "sources": []}]},
    ],
    "entailment": [{"supported": "yes", "confidence": 0.5}, [{"i": 0, "r": "why", "f": "partial"}],
                   [{"r": 0, "f": "unfaithful", "e": ""}]],
    "relevance": [{"context_relevance": "partially relevant", "confidence": 0.7}, {"context_relevance": "relevant"}],
    "evaluate": [
        {"explanation": "It \"is\".", "statements": [{"text": "Tea is hot.", "citations": [
            {"source": "d0", "quote": "Tea is HOT."}, {"source": "response", "quote": "Yes, it is."},
            {"source": "m0", "quote": "tea"}, {"source": "d2", "quote": "Snow. Melts."}]}], "rating": "yes",
         "confidence": 0.8},
        {"explanation": "", "statements": [], "rating": "no"},
        {"metriclabel": "Yes", "justification": "It \"is\"."},
        {"answer": "No", "feedback": "It is.", "statements": [
            {"statement_string": "Hot.", "citations": [{"snippet": "Tea is HOT."}, {"snippet": "tea"}]}]},
    ],
    "preference": [{"preferred": "B", "confidence": 1}, {"preferred": "A"}],
    "answer-relevance": [
        {"answer_relevance": "relevant", "confidence": 0.7}, {"answer_relevance": "irrelevant"},
        {"answer_relevance_analysis": "It \"is\".", "answer_relevance_category": "Pertinent",
         "answer_relevance_judgment": True},
    ],
    "answer-rewrite": [{"rewritten_answer": "Tea is \"hot\"."}, {"answer_relevance_rewrite": "Tea is \"hot\"."}],
    "hyde": [{"passage": "Tea is served hot."}],
    "candidate": [{"reasoning": "Tea is made with hot water.", "answer": "Tea is \"hot\"."}],
    "agreement": [{"groups": [["a0", "a2"], ["a1"]]}, {"groups": [["A0"], ["<a1>", "a1"]]}],
    "requirement-check": [{"score": "yes"}],
    "context-attribution": [[{"r": 0, "c": [3, 1, 4]}, {"r": 1, "c": []}]],
}  # fmt: skip
STRANGE = [
    None, True, False, 0, -1, 3, 999_999, -0.5, 1e308, 10**30, "", " ", "r0", "<c1>", "<r-1>", "c99", "r0x", "NaN",
    "\u0000", "🤖", "日本", "'", '"', "\\", "</s>", "<|end_of_text|>", [], {}, [[]], [{}], {"": None}, "A", "7", "07",
    "1.5-2.0", "0.9-1.0", "0.5", "faithful", "Faithful ", "relevant", "yes", "YES.", ["<c0>"] * 3, [0, 0, -1, 99],
    {"r": 0},
]  # fmt: skip
NOISE = [
    "", " ", "\n", "{", "}", "[", "]", '"', "null", "true", "[]", "{}", "0", "-1", "NaN", "Infinity", "1e999",
    "```json\n```", "I cannot help.", "{'a': 1}", '{"a" 1}', "[1, 2", '{"a": [}', "\\", "\ufeff{}", "<r0>", "A", "B",
    "A and B", "no", '{"rewritten_question": ""}', '"\\ud800"', '{"score": "\\udfff"}', "{" * 200, "[" * 3000,
    '{"a":' * 2000,
]  # fmt: skip


def mutated(value: Any, chance: random.Random) -> Any:
    """A copy of a JSON value with one thing changed somewhere in it."""
    value = copy.deepcopy(value)
    if isinstance(value, dict) and value:
        key = chance.choice(list(value))
        match chance.randrange(6):
            case 0:
                del value[key]
            case 1:
                value[chance.choice(["<r1>", "<r99>", "x", "", "id", "r", "c"])] = value[key]
            case 2:
                value[key] = chance.choice(STRANGE)
            case 3:
                value["extra"] = chance.choice(STRANGE)
            case _:
                value[key] = mutated(value[key], chance)
    elif isinstance(value, list) and value:
        at = chance.randrange(len(value))
        match chance.randrange(6):
            case 0:
                value.append(value[at])
            case 1:
                del value[at]
            case 2:
                value[at] = chance.choice(STRANGE)
            case 3:
                value *= chance.randrange(2, 5)
            case _:
                value[at] = mutated(value[at], chance)
    elif isinstance(value, str):
        match chance.randrange(4):
            case 0:
                return chance.choice(STRANGE)
            case 1:
                return value + chance.choice(['"', "\n", "%", " \\", ".", "\u0000", "🤖"])
            case 2:
                return value.upper()
            case _:
                return "".join(chance.sample(value, len(value)))
    else:
        return chance.choice(STRANGE)
    return value


def spelled(value: Any, chance: random.Random) -> str:
    text = value if isinstance(value, str) and chance.random() < 0.8 else json.dumps(
        value, ensure_ascii=chance.random() < 0.5, indent=chance.choice([None, None, 4]))  # fmt: skip
    match chance.randrange(10):
        case 0:
            return text[: chance.randrange(len(text) + 1)]
        case 1:
            return f"Sure! [1] Here {{it}} is:\n```json\n{text}\n```\nAnything else?"
        case 2:
            return json.dumps(text)
        case 3:
            at = chance.randrange(len(text) + 1)
            return text[:at] + chance.choice(['"', "\\", "{", "]", ",", "\n", "\u2028", "é", "\u0000"]) + text[at:]
        case 4:
            return text + text
        case 5:
            return text.replace('"', "'")
        case _:
            return text


@cache
def replies(name: str, count: int) -> list[Generated]:
    """The same for all profiles that have the format."""
    chance = random.Random(f"{name} 20310505")
    valid = VALID[name]

    def one() -> str:
        kind = chance.random()
        if kind < 0.05:
            return chance.choice(NOISE)
        if kind < 0.10:
            letters = '{}[]":,0123456789rci<>-. \n\\abAB%"é🤖'
            return "".join(chance.choice(letters) for _ in range(chance.randrange(60)))
        value = chance.choice(valid) if kind < 0.9 else chance.choice(VALID[chance.choice(list(VALID))])
        for _ in range(chance.randrange(4)):
            value = mutated(value, chance)
        return spelled(value, chance)

    return [Generated(text, logprobs(text, chance)) for text in (one() for _ in range(count))]


def logprobs(text: str, chance: random.Random) -> tuple[TokenLogprob, ...] | None:
    """Tokens of a text at random borders, with odd alternatives and odd numbers among them."""
    if chance.random() < 0.6:
        return None
    tokens, at = [], 0
    while at < min(len(text), 80):
        size = chance.randrange(1, 6)
        top = tuple((chance.choice(["un", "answer", "yes", "A", "7", '"', "", " rel"]), chance.choice(
            [-0.1, -3.0, 0.0, 0.5, float("-inf"), float("nan")])) for _ in range(chance.randrange(4)))  # fmt: skip
        tokens.append(TokenLogprob(text[at : at + size], chance.choice([0.0, -1.0, -20.0]), top))
        at += size
    return tuple(tokens)


ASKED = ("query-rewrite", "context-relevance", "answerability", "comparison", "preference", "hyde", "candidate",
         "agreement")  # fmt: skip


def task_for(name: str) -> Task:
    ends = MESSAGES[:1] if name in ASKED else MESSAGES
    task = check(name, ends, DOCUMENTS, ends_with=["user", "assistant"], date="May 5, 2031")
    task = replace(task, options={"answers": ("Hot.", "Cold.", "It is hot.")} if name == "agreement" else {})
    if name in ("context-relevance", "relevance", "entailment"):
        return task.only(0)
    return task.only(0, 2) if name == "comparison" else task


CASES = [
    pytest.param(label, name, id=f"{label}-{name}")
    for label, profile in PROFILES.items()
    for name in profile.formats
    if label != "granite-3.2 (paper)" or name in ("uncertainty", "query-rewrite")
]


@pytest.mark.parametrize("count", [FEW, pytest.param(MANY, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("label", "name"), CASES)
def test_nothing_but_results_and_typed_errors(label: str, name: str, count: int) -> None:
    kind = name.removeprefix("io.yaml:")
    task, chosen = task_for(kind), PROFILES[label].formats[name]
    results = errors = 0
    for number, reply in enumerate(replies(kind, count)):
        text = reply.text
        try:
            value = chosen.parse(task, [reply])
        except MalformedReply as error:
            assert error.raw is not None, (number, text)
            errors += 1
            continue
        except Exception as error:
            pytest.fail(f"reply {number}, {text!r}: {type(error).__name__}: {error}")
        sound(task, value, text)
        results += 1
    assert results > count // 50, "the replies are too strange to tell"
    if kind not in ("sample-answer", "answer"):
        assert errors > count // 50, "the replies are too tame to tell"


def sound(task: Task, value: Any, text: str) -> None:
    """The result holds what every result promises."""
    if isinstance(value, float) and task.intrinsic == "relevance":  # a logit
        assert abs(value) <= CERTAIN, text
        return
    if isinstance(value, float):
        assert 0.0 <= value <= 1.0 and math.isfinite(value), text
        return
    if isinstance(value, str):
        assert value and value == value.strip() and value.encode(), text
        return
    if isinstance(value, tuple):  # which answers agree: each once
        assert sorted(number for group in value for number in group) == [0, 1, 2], text
        return
    assert isinstance(value, BaseModel), text
    json.loads(value.model_dump_json())  # it can be written down
    if isinstance(value, AuditParts):
        for part in (value.hallucination, value.citations):
            if part is not None:
                sound(task, part, text)
    if isinstance(value, Citations):
        texts = {document.id: document.text for document in task.documents}
        for c in value.citations:
            assert texts[c.document_id][c.document_begin : c.document_end] == c.document_text, text
            assert task.response[c.response_begin : c.response_end] == c.response_text, text
    if isinstance(value, Evaluation):
        known = sources(task)
        for statement in value.metrics[0].statements:
            assert statement.text.strip(), text
            for q in statement.citations:
                assert q.begin < q.end and known[q.source][q.begin : q.end] == q.text, text
    if isinstance(value, HallucinationDetection):
        assert [s.text for s in value.sentences] == [s.text for s in task.response_sentences], text
        assert all(task.response[s.begin : s.end] == s.text for s in value.sentences), text


@pytest.mark.parametrize("label", PROFILES)
def test_every_format_renders(label: str) -> None:
    """The table above names every format; none is left unfed."""
    profile = PROFILES[label]
    for name, chosen in profile.formats.items():
        kind = name.removeprefix("io.yaml:")
        assert kind in VALID, f"{label} has a format that is not fuzzed: {name}"
        task = task_for(kind)
        if kind == "requirement-check":
            continue  # wants an argument, which its own test gives
        assert all(isinstance(request, Generate) for request in chosen.render(task))
