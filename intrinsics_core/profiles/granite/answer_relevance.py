"""Answer relevance by the two adapters of Granite 3.3: one classifies the answer, the other rewrites it.

The classifier sees the conversation without documents. It names a category and says in one word whether that is
relevant; it knows no *partially relevant*. The rewriter is told category and analysis, and writes from documents alone:
where there are none, nothing is asked of it and there is no rewrite.

Source: the adapters ``answer_relevance_classifier`` and ``answer_relevance_rewriter`` as granite-io 0.5 asks them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from intrinsics_core.profiles.granite import prompts
from intrinsics_core.profiles.granite.prompts import Family, ask, object_schema, opening, turn
from intrinsics_core.profiles.turns import conversation
from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.protocol.profile import Format
from intrinsics_core.protocol.requests import Generate, Reply
from intrinsics_core.protocol.results import AnswerRelevance
from intrinsics_core.protocol.task import Task
from intrinsics_core.replies import json_reply, readers, writers
from intrinsics_core.text.markup import defuse

_JUDGMENT, _CATEGORY, _ANALYSIS, _REWRITE = (
    f"answer_relevance_{name}" for name in ("judgment", "category", "analysis", "rewrite")
)
_FLAGS = ("true", "false")
_CATEGORIES = {
    True: ("Pertinent", "Pertinent with relevant extra", "Relevant but not complete"),
    False: ("Excessive unnecessary information", "Unduly restrictive", "Too vague or generic",
            "Contextual misalignment", "Misinterpreted inquiry", "Misinterpreted question", "No attempt"),
}  # fmt: skip
_UNAVAILABLE = "indicating that the desired answer is not available"
_CORRECT_INTERPRETATION = (
    "providing answer only to the correct interpretation of the inquiry, or attempting clarification if the inquiry is "
    f"ambiguous or otherwise confusing, or {_UNAVAILABLE}"
)
_CORRECTIONS = {
    "Excessive unnecessary information": "removing the excessive information from the draft response",
    "Unduly restrictive": f"providing answer without the unwarranted restriction, or {_UNAVAILABLE}",
    "Too vague or generic": f"providing more crisp and to-the-point answer, or {_UNAVAILABLE}",
    "Contextual misalignment": "providing a response that answers the last user inquiry, taking into account the "
    "context of the conversation",
    "Misinterpreted inquiry": _CORRECT_INTERPRETATION,
    "Misinterpreted question": _CORRECT_INTERPRETATION,
    "No attempt": "providing a relevant response if an inquiry should be answered, or providing a short response if "
    "the last user utterance contains no inquiry",
}
_CORRECTION = {name.casefold(): how for name, how in _CORRECTIONS.items()}
_INSTRUCTION = """\
Rewrite the response for relevance.
The last assistant response is considered not fully relevant to the last user inquiry due to {category}: {analysis}
Decide if you agree with this assessment, then act according to the following instructions:\x20
If you disagree with the assessment, provide a verbatim copy of the original response.  DO NOT attempt to correct any \
other perceived defects in the response.
If you agree with the assessment, provide an updated response that no longer fit the label {category}, by \
{correction}.  Your response should be entirely based on the provided documents and should not rely on other prior \
knowledge. Your response should be suitable to be directly provided to the user.  It should NOT contain meta \
information regarding the original response, its assessment, or this instruction.  The user does not see any of these. \
 Your response is the only response they will see to their inquiry, in place of the original response."""
_VERDICT = object_schema("AnswerRelevanceRawOutput", **{_ANALYSIS: "string", _CATEGORY: "string", _JUDGMENT: "boolean"})
_REWRITTEN = object_schema("AnswerRelevanceRewriteRawOutput", **{_REWRITE: "string"})


def formats(family: Family) -> Mapping[str, Format[Any]]:
    """``answer-relevance`` and ``answer-rewrite``."""
    asked = turn("user", "answer_relevance").removesuffix("\n")

    def classify(task: Task) -> str:
        return family.context(task, conversation(task)) + asked

    def rewrite(task: Task) -> str:
        category, analysis = (defuse(task.options[name]) for name in ("category", "analysis"))
        correction = _CORRECTION.get(category.strip().casefold(), "fixing the defect")
        said = _INSTRUCTION.format(category=category, analysis=analysis, correction=correction)
        context = family.context(task, conversation(task), prompts.documents(task))
        return context + turn("user", said) + opening("assistant")

    ask_rewrite = ask("answer-rewrite", rewrite, max_tokens=1024, constraint=_REWRITTEN)

    def where_it_can(task: Task) -> Sequence[Generate]:
        return ask_rewrite(task) if task.documents and task.options.get("category") else []

    return {
        "answer-relevance": Format(
            ask("answer-relevance", classify, max_tokens=1024, constraint=_VERDICT, logprobs=True),
            _relevance,
            _write_relevance,
        ),
        "answer-rewrite": Format(
            where_it_can, _rewritten, lambda task, value: writers.as_json({_REWRITE: writers.free_text(value)})
        ),
    }


def _relevance(task: Task, replies: Sequence[Reply]) -> AnswerRelevance:
    """The judgment counts, whatever the category; its probability is that of *true*."""
    reply = readers.generated(replies)
    value = readers.parsed(reply, dict, f'{{"{_ANALYSIS}", "{_CATEGORY}", "{_JUDGMENT}": true | false}}')
    judged = json_reply.field(value, _JUDGMENT, bool, "true or false", reply.text)
    category = json_reply.field(value, _CATEGORY, str, "a category", reply.text).strip()
    analysis = json_reply.field(value, _ANALYSIS, str, "a text", reply.text).strip()
    start = readers.value_start(reply, _JUDGMENT)
    share = readers.probabilities(_FLAGS[not judged], _FLAGS, reply, start)[_FLAGS[0]]
    return AnswerRelevance(
        label="relevant" if judged else "irrelevant",
        score=min(1.0, share),
        category=category or None,
        analysis=analysis or None,
    )


def _rewritten(task: Task, replies: Sequence[Reply]) -> str | None:
    """The text in the reply's field; the reply itself where nothing held it to JSON. None where nothing was asked."""
    if not replies:
        return None
    reply = readers.generated(replies)
    is_json = _REWRITE in reply.text or reply.text.lstrip().startswith(("{", "```"))
    return readers.text_field(reply, _REWRITE) if is_json else readers.whole_text(reply)


def _write_relevance(task: Task, value: AnswerRelevance) -> str:
    label, _ = writers.answer_relevance(value)
    if label == "partially relevant" or not value.category or not value.category.strip():
        raise InvalidInput("value.category does not belong to the label",
                           expected="; ".join(", ".join(names) for names in _CATEGORIES.values()),
                           got=repr((label, value.category)))  # fmt: skip
    said = {_ANALYSIS: value.analysis or "", _CATEGORY: value.category, _JUDGMENT: label == "relevant"}
    return writers.as_json(said, indent=2)
