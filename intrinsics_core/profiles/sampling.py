"""How an instruction-following model is asked for texts: a made-up passage, sampled answers, which of them agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from intrinsics_core.profiles import asking
from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.protocol.profile import Format
from intrinsics_core.protocol.requests import Generate, Reply
from intrinsics_core.protocol.results import HypotheticalPassage
from intrinsics_core.protocol.task import Task
from intrinsics_core.replies import json_reply, rankings, readers, writers
from intrinsics_core.replies.rankings import Groups
from intrinsics_core.text.markup import defuse

TEMPERATURE = 0.7  # of sampled answers: as Wang et al., *Self-Consistency* (2022), who found .5 to .7 alike


_SHAPE = '{"groups": [["...", ...], ...]}'
_ask = asking.for_json(
    "candidate",
    "Answer the last user turn of the conversation: from the facts in the documents alone where there are any, else "
    "from what you know. First reason in a few sentences, then give the answer, as briefly as it can be given. If "
    "there are documents and they do not hold the information, answer that it is not in the documents.",
    '{"reasoning": "...", "answer": "..."}',
    asking.object_of(reasoning=asking.TEXT, answer=asking.TEXT),
    asking.documents_and_turns,
    1024,
)


def _sample(task: Task) -> Sequence[Generate]:
    """One answer, drawn with the seed that the options name. What is voted on is the answer, not how it was come by."""
    (request,) = _ask(task)
    return [replace(request, temperature=TEMPERATURE, seed=int(task.options.get("seed", 0)), logprobs=False)]


def _answers(task: Task) -> dict[str, Any]:
    shown = {f"a{i}": defuse(text) for i, text in enumerate(task.options.get("answers", ()))}
    return asking.conversation_shown(task) | {"answers": shown}


def _groups(task: Task, replies: Sequence[Reply]) -> Groups:
    value, reply = asking.read_object(replies, _SHAPE)
    rows = json_reply.field(value, "groups", list, "a list of lists of ids", reply.text)
    return rankings.read_groups(rows, len(task.options.get("answers", ())), reply)


def _write_groups(task: Task, value: Groups) -> str:
    if sorted(number for group in value for number in group) != list(range(len(task.options.get("answers", ())))):
        what = "value does not contain every answer exactly once"
        raise InvalidInput(what, expected="groups of all answers", got=repr(value))
    return asking.said(groups=[[f"a{number}" for number in group] for group in value])


FORMATS: Mapping[str, Format[Any]] = {
    "hyde": asking.text_format(
        "hyde",
        "Write the passage of a document that would answer the last user turn of the conversation: one paragraph, "
        "in the style and the words of such a document, as specific as it would be. It need not be true: it is "
        "used to look for the real one. Do not address the user.",
        "passage",
        asking.conversation_shown,
        512,
        lambda task, text, reply: HypotheticalPassage(passage=text),
        lambda task, value: writers.free_text(writers.given(value, HypotheticalPassage).passage),
    ),
    "candidate": Format(
        _sample,
        lambda task, replies: readers.text_field(readers.generated(replies), "answer"),
        lambda task, value: asking.said(reasoning="", answer=writers.free_text(value)),
    ),
    "agreement": Format(
        asking.for_json(
            "agreement",
            "The answers were given to the last user turn of the conversation. Group those that say the same: two "
            "answers belong together if whoever asked would take the same from both, in whatever words, and not if "
            "they differ in a fact, a number or a name. Name every answer, each once.",
            _SHAPE,
            asking.object_of(groups=asking.array_of(asking.array_of(asking.id_of("a")))),
            _answers,
            512,
        ),
        _groups,
        _write_groups,
    ),
}
