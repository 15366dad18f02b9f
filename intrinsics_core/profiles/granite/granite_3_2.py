"""``granite-3.2``: the LoRA adapters published for ``ibm-granite/granite-3.2-8b-instruct``, and the base model.

Prompts match the published adapters' format byte for byte, as they were served: the sentence about documents follows
"IBM." without a space. The date in the system prompt is the task's. Reranking, query expansion, HyDE and
self-consistency are prompts to the base model. There is no context-relevance adapter for 3.2, hence neither context
relevance nor the fact check that is built on it.

The paper of April 2025 spells three things differently from cards and servers; ``profile(spelling="paper")`` follows
it: "the last utterance" in the rewrite role, the chat template's space after "IBM.", and certainty as a percentage.

Sources: the adapters' model cards; *A Library of LLM Intrinsics for RAG* (April 2025).
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

from intrinsics_core.profiles import adapter_names
from intrinsics_core.profiles.granite import prompts
from intrinsics_core.profiles.granite.prompts import Family, Shown, ask, opening, turn, within_expansion
from intrinsics_core.profiles.turns import to_last_question
from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.protocol.profile import Format, Profile
from intrinsics_core.protocol.requests import Generated, Regex, Reply
from intrinsics_core.protocol.results import (
    Citations,
    Faithfulness,
    HallucinationDetection,
    QueryRewrite,
    SentenceVerdict,
)
from intrinsics_core.protocol.task import Task
from intrinsics_core.replies import readers, sentence_ids, writers
from intrinsics_core.replies.json_reply import malformed

# A document with such a line of its own must not look like two.
_HEADING = re.compile(r"^([^\S\n]*Document \d+)(?=[ \t]*$)", re.MULTILINE)


def _documents(documents: Sequence[Shown]) -> str:
    texts = (_HEADING.sub(r"\1.", text) for _, text in documents)
    return turn("documents", "\n\n".join(f"Document {i}\n{text}" for i, text in enumerate(texts)))


_REWRITE = (
    "rewrite: Reword the final utterance from the USER into a single utterance that doesn't need the prior "
    "conversation history to understand the user's intent. If the final utterance is a clear and standalone question, "
    "please DO NOT attempt to rewrite it, rather output the last user utterance as is. Your output format should be in "
    "JSON: "
    '{ "rewritten_question": <REWRITE> }'
)
_DETECT = (
    "Split the last assistant response into individual sentences. For each sentence in the last assistant response, "
    "identify the faithfulness score range. Ensure that your output includes all response sentence IDs, and for each "
    "response sentence ID, provide the corresponding faithfulness score range. The output must be a json structure."
)
_CITE = (
    "Split the last assistant response into individual sentences. For each sentence in the response, identify the "
    "statement IDs from the documents that it references. Ensure that your output includes all response sentence IDs, "
    "and for each response sentence ID, provide the corresponding referring document sentence IDs."
)
_REWRITE_SCHEMA = prompts.object_schema("QueryRewriteRawOutput", rewritten_question="string")
_CITED = r'"<r\d+>": \[(("<c\d+>", )*"<c\d+>")?\]'
_LINKS = Regex(rf"\{{({_CITED}, )*{_CITED}\}}")


class _Pairs(dict[str, Any]):
    """A JSON object that remembers keys that came twice."""

    def __init__(self, pairs: Sequence[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = tuple(pairs)


_DECODER = json.JSONDecoder(object_pairs_hook=_Pairs)


def _by_sentence(task: Task, reply: Generated, expected: str) -> Sequence[tuple[int | None, Any]]:
    value: _Pairs = readers.parsed(reply, dict, expected, _DECODER)
    pairs = [(readers.sentence_number(key, "r"), said) for key, said in value.pairs]
    sentence_ids.check_numbers([number for number, _ in pairs], range(len(task.response_sentences)), reply)
    return pairs


_RANGE = re.compile(r"\A([01](?:\.\d{1,99})?)\s*+-\s*+([01](?:\.\d{1,99})?)")
_DECLINES = "says that the question cannot be answered"
_UNFAITHFUL_BELOW = 0.1  # the operating point of the adapter's own evaluation (paper, section 4.2)


def _verdict(value: Any, reply: Generated) -> sentence_ids.Verdict:
    """A score range, e.g. "0.8-0.9", as a label and the range's middle.

    The lowest range is unfaithful, ranges from 0.5 are faithful, those between are partial. "unanswerable", for a
    sentence that says the question cannot be answered, and "NA", for one that claims nothing, are NA.
    """
    text = value.strip() if isinstance(value, str) else ""
    if text.casefold() in ("na", "unanswerable"):
        return "NA", None, _DECLINES if text.casefold() != "na" else None
    match = _RANGE.fullmatch(text)
    low, high = sorted(map(float, match.groups())) if match else (2.0, 2.0)
    if high > 1:
        what = "a faithfulness value is not a score range"
        raise malformed(what, reply.text, '"0.9-1.0", "unanswerable" or "NA"', value)
    label: Faithfulness = "unfaithful" if high <= _UNFAITHFUL_BELOW else "faithful" if low >= 0.5 else "partial"
    return label, round((low + high) / 2, 4), None


def _detect(task: Task, replies: Sequence[Reply]) -> HallucinationDetection:
    reply = readers.generated(replies)
    pairs = _by_sentence(task, reply, '{"<r0>": "0.9-1.0", ...}')
    return sentence_ids.hallucination(task, [(number, _verdict(value, reply)) for number, value in pairs])


def _cite(task: Task, replies: Sequence[Reply]) -> Citations:
    reply, links = readers.generated(replies), []
    for number, sources in _by_sentence(task, reply, '{"<r0>": ["<c0>", ...], ...}'):
        if not isinstance(sources, list):
            raise malformed("the sources of a sentence are not a list", reply.text, '["<c0>", ...]', sources)
        links += [(number, readers.sentence_number(source, "c")) for source in sources]
    return sentence_ids.citations(task, links)


def _write_rewrite(task: Task, value: QueryRewrite) -> str:
    text = writers.as_json({"rewritten_question": writers.query(task, value)}, indent=2)
    # Asked without a schema, the adapter begins on a line of its own.
    return text if task.intrinsic == "query-expansion" else "\n" + text


_TENTHS: dict[Faithfulness, range] = {"unfaithful": range(1), "partial": range(1, 5), "faithful": range(5, 10)}


def _score_range(verdict: SentenceVerdict) -> str:
    """The tenth of the label that holds the score, or is nearest to it: the label counts."""
    if verdict.label == "NA":
        return "unanswerable" if verdict.explanation == _DECLINES else "NA"
    tenths = _TENTHS[verdict.label]
    score = verdict.score if verdict.score is not None else 1.0
    # A middle like .35 lies in its own tenth, whatever its floating-point neighbours say of 3.5.
    tenth = min(max(int(round(score * 10, 6)), tenths[0]), tenths[-1])
    return f"{tenth / 10:.1f}-{(tenth + 1) / 10:.1f}"


def _write_verdicts(task: Task, value: HallucinationDetection) -> str:
    """JSON in a JSON string, as the adapter gives it. It gives no reasons: explanations are left out."""
    ranges = {f"<r{i}>": _score_range(verdict) for i, verdict in enumerate(writers.verdicts(task, value))}
    return writers.as_json(writers.as_json(ranges))


def _write_links(task: Task, value: Citations) -> str:
    links = {f"<r{i}>": [f"<c{n}>" for n in numbers] for i, numbers in enumerate(writers.cited(task, value))}
    return writers.as_json(links)


def profile(*, spelling: Literal["card", "paper"] = "card", explain: bool = True) -> Profile:
    """The profile.

    Args:
        spelling: ``"card"``, as the adapters are served, or ``"paper"``, where the paper's text differs.
        explain: let the base model explain a comparison of two passages, as published. False asks for the letter
            alone: the same ranking at a fraction of the tokens.

    Raises:
        InvalidInput: the spelling is unknown.
    """
    if spelling not in ("card", "paper"):
        raise InvalidInput("spelling is unknown", expected="card or paper", got=repr(spelling))
    paper = spelling == "paper"
    family = Family(grounded=(" " if paper else "") + prompts.GROUNDED, documents=_documents)
    rewrite_role = _REWRITE.replace("the last user utterance", "the last utterance") if paper else _REWRITE

    ask_rewrite = partial(
        ask, "query-rewrite", lambda task: family.context(task, to_last_question(task)) + opening(rewrite_role)
    )
    formats: dict[str, Format[Any]] = {
        "query-rewrite": Format(
            within_expansion(ask_rewrite(max_tokens=80), ask_rewrite(max_tokens=256, constraint=_REWRITE_SCHEMA)),
            readers.rewrite,
            _write_rewrite,
        ),
        "answerability": prompts.answerability(family),
        "uncertainty": prompts.uncertainty(family, readers.SHARES if paper else readers.CERTAINTIES),
        "hallucination-detection": Format(
            ask("hallucination-detection", prompts.detection_prompt(family, "r", _DETECT), max_tokens=1024),
            _detect,
            _write_verdicts,
        ),
        "citations": Format(
            ask("citations", prompts.citation_prompt(family, _CITE), max_tokens=1024, constraint=_LINKS),
            _cite,
            _write_links,
        ),
    }
    formats |= prompts.base_formats(family, 4096 if explain else 2)
    return Profile(
        "granite-3.2",
        formats,
        models=adapter_names.GRANITE_3_2,
        made_by=(partial(profile, spelling=spelling, explain=explain), ()),
    )


PROFILE = profile()
