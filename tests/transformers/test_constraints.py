"""Constraints hold on every reply, log-probabilities are those of the model, and what cannot be enforced is refused."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.protocol.requests import Choice, Generate, Generated, JsonSchema, Regex
from intrinsics_core.replies.labels import label_probabilities
from tests.transformers.asked import ASSISTANT, CERTAINTY, asked, context

PROMPT = context(5) + ASSISTANT
VERDICTS = {
    "type": "object",
    "properties": {
        "label": {"enum": ["faithful", "partial", "unfaithful"]},
        "score": {"type": "integer", "minimum": 0, "maximum": 9},
        "cited": {"type": "array", "items": {"type": "string", "pattern": "^c[0-9]{1,2}$"}, "maxItems": 2},
    },
    "required": ["label", "score", "cited"],
    "additionalProperties": False,
}


def one(runtime: Any, request: Generate) -> Generated:
    (reply,) = runtime.handle([request])
    assert isinstance(reply, Generated), reply
    return reply


@pytest.mark.parametrize("adapter", [None, "answerability", "hallucination-detection"])
def test_choice(runtime: Any, adapter: str | None) -> None:
    options = ("answerable", "unanswerable", 'with "quotes" and\na line', "é漢🙂")
    assert one(runtime, asked(adapter, PROMPT, constraint=Choice(options))).text in options
    for option in options:
        assert one(runtime, asked(adapter, PROMPT, constraint=Choice((option,)))).text == option


@pytest.mark.parametrize("adapter", [None, "answerability", "hallucination-detection"])
def test_regex(runtime: Any, adapter: str | None) -> None:
    pattern = r'\{("<r\d{1,2}>": \[("<c\d>")?\], )*"<r\d{1,2}>": \[\]\}|none'
    reply = one(runtime, asked(adapter, PROMPT, constraint=Regex(pattern), max_tokens=200))
    assert re.fullmatch(pattern, reply.text) or reply.finish_reason == "length"
    assert re.fullmatch(r"[a-c]{3}\d", one(runtime, asked(adapter, PROMPT, constraint=Regex(r"[a-c]{3}\d"))).text)


@pytest.mark.parametrize("adapter", [None, "answerability", "hallucination-detection"])
def test_json(runtime: Any, adapter: str | None) -> None:
    text = one(runtime, asked(adapter, PROMPT, constraint=JsonSchema(VERDICTS), max_tokens=200)).text
    value = json.loads(text)
    assert value["label"] in VERDICTS["properties"]["label"]["enum"] and 0 <= value["score"] <= 9
    assert all(re.fullmatch("c[0-9]{1,2}", cited) for cited in value["cited"])
    assert text == json.dumps(value)  # spelled as adapters were trained to


@pytest.mark.parametrize(
    "constraint",
    [
        JsonSchema({"type": "array", "items": {"type": "string"}, "uniqueItems": True}),
        JsonSchema({"not": {"type": "string"}}),
        JsonSchema({"type": "strin"}),
        JsonSchema({"type": "string", "format": "no-such-format"}),
        JsonSchema({"$ref": "https://example.org/schema.json"}),
        Regex("(?=a)b"),
        Regex("(unclosed"),
        Choice(()),
        Choice(("a", "")),
    ],
    ids=repr,
)
def test_what_cannot_be_enforced_is_refused_and_costs_no_other(runtime: Any, constraint: Any) -> None:
    good = asked("answerability", PROMPT, constraint=Choice(("yes", "no")))
    first, refused, last = runtime.handle([good, asked(None, PROMPT, constraint=constraint), good])
    assert isinstance(refused, InvalidInput) and "cannot be enforced" in str(refused)
    assert first.text == last.text and first.text in ("yes", "no")


def test_a_schema_cannot_loosen_its_own_spelling(runtime: Any) -> None:
    sly = {"x-guidance": {"whitespace_flexible": True, "lenient": True}, "type": "array", "uniqueItems": True}
    (refused,) = runtime.handle([asked(None, PROMPT, constraint=JsonSchema(sly))])
    assert isinstance(refused, InvalidInput)


def test_constraint_of_one_row_does_not_touch_another(runtime: Any) -> None:
    free = asked(None, PROMPT)
    expected = one(runtime, free).text
    bound = asked(None, PROMPT, constraint=Choice(("yes", "no")))
    assert [reply.text for reply in runtime.handle([bound, free, bound])][1] == expected


def test_logprobs_are_the_models_own(models: Path, runtime: Any) -> None:
    """Held against one pass over prompt and reply."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    reply = one(runtime, asked(None, PROMPT, logprobs=True))
    words = AutoTokenizer.from_pretrained(models / "base")
    prompt = words.encode(PROMPT)
    with made_engine(runtime) as engine:
        row = engine._row(engine._planned(0, asked(None, PROMPT)))
        engine._generate([engine._planned(0, asked(None, PROMPT))], [row], (), 0)
    with torch.inference_mode():
        logits = AutoModelForCausalLM.from_pretrained(models / "base")(torch.tensor([prompt + row.tokens])).logits[0]
    logs = logits.float().log_softmax(-1)
    own = [float(logs[len(prompt) - 1 + i, token]) for i, token in enumerate(row.tokens)]
    assert reply.logprobs is not None
    assert [token.logprob for token in reply.logprobs] == pytest.approx(own, abs=1e-4)
    assert "".join(token.token for token in reply.logprobs).rstrip("\ufffd") == reply.text
    for token in reply.logprobs:
        assert len(token.top) == 20 and max(value for _, value in token.top) == pytest.approx(token.logprob)
        assert sum(math.exp(value) for _, value in token.top) <= 1 + 1e-5


def test_forced_tokens_are_read_at_once_and_the_others_are_chosen_as_before(models: Path, made: Any) -> None:
    """Rows of a batch have their forced tokens at different places. Each choice is held against one plain pass."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    requests = [
        asked(None, PROMPT, constraint=JsonSchema(VERDICTS), max_tokens=200, logprobs=True),
        asked(None, "Hello" + ASSISTANT, constraint=Choice(("none of them at all", "all of them")), logprobs=True),
        asked(None, context(2) + ASSISTANT, logprobs=True),
        asked(None, PROMPT, constraint=Choice(("only this may be said",)), logprobs=True),
    ]
    words, plain = AutoTokenizer.from_pretrained(models / "base"), AutoModelForCausalLM.from_pretrained(models / "base")
    passes: list[int] = []
    with made() as runtime:
        runtime.handle([requests[2]])
        with made_engine(runtime) as engine:
            jobs = [engine._planned(i, request) for i, request in enumerate(requests)]
            rows = [engine._row(job) for job in jobs]
            counted = engine._adapters.base.register_forward_pre_hook(lambda *_: passes.append(1))
            engine._generate(jobs, rows, (), 0)
            counted.remove()
    assert rows[3].outcome(0).text == "only this may be said"
    assert len(passes) < max(len(row.tokens) for row in rows)
    chosen = 0
    for request, row in zip(requests, rows, strict=True):
        prompt = words.encode(request.prompt)
        with torch.inference_mode():
            logits = plain(torch.tensor([prompt + row.tokens])).logits[0].float()
        for i, (token, (logprob, top)) in enumerate(zip(row.tokens, row._logprobs, strict=True)):
            if len(top) < 20:  # all that was allowed
                own = logits[len(prompt) - 1 + i, [other for other, _ in top]].log_softmax(0)
                assert dict(zip([other for other, _ in top], own.tolist(), strict=True)) == pytest.approx(
                    dict(top), abs=1e-4
                )
                assert logprob == dict(top)[token] == max(dict(top).values())
                chosen += len(top) > 1
    assert chosen >= 3


class made_engine:  # the engine, with its lock held
    def __init__(self, runtime: Any) -> None:
        self._runtime = runtime

    def __enter__(self) -> Any:
        self._runtime._lock.__enter__()
        return self._runtime._engine

    def __exit__(self, *_: object) -> None:
        self._runtime._lock.__exit__(None, None, None)


@pytest.mark.parametrize("adapter", ["answerability", "uncertainty"])
def test_logprobs_under_a_choice_sum_to_one(runtime: Any, adapter: str) -> None:
    digits = tuple("0123456789")
    reply = one(runtime, asked(adapter, PROMPT + CERTAINTY, constraint=Choice(digits), logprobs=True))
    assert reply.logprobs is not None and len(reply.logprobs) == 1
    assert {name for name, _ in reply.logprobs[0].top} == set(digits)
    assert sum(math.exp(value) for _, value in reply.logprobs[0].top) == pytest.approx(1, abs=1e-5)
    odds = label_probabilities(reply.logprobs, digits)
    assert odds is not None and max(odds, key=lambda name: odds[name]) == reply.text


def test_no_logprobs_unless_asked_for(runtime: Any) -> None:
    assert one(runtime, asked(None, PROMPT)).logprobs is None


def test_pieces_of_split_characters_join_to_the_text(models: Path) -> None:
    from transformers import AutoTokenizer

    from intrinsics_core.local.decoding import Detokeniser

    tokenizer = AutoTokenizer.from_pretrained(models / "base")
    words = Detokeniser(tokenizer)
    for text in ("plain words", " né 漢字 🙂 ok", "🙂🙂", "", "a\n\tb"):
        ids = tokenizer.encode(text)
        assert "".join(words.pieces(ids)) == text == words.text(ids)
        assert len(words.pieces(ids)) == len(ids)
