"""How any instruction-following model is asked to mend sentences: a format of the ``prompted`` profile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from intrinsics_core.profiles import asking
from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.protocol.profile import Format
from intrinsics_core.protocol.requests import Generate, Reply
from intrinsics_core.protocol.results import MendedSentence, Mendings
from intrinsics_core.protocol.task import Task
from intrinsics_core.replies import json_reply, readers, writers
from intrinsics_core.text.markup import defuse
from intrinsics_core.text.sentences import Span

_INSTRUCTION = (
    "The response is given sentence by sentence. Some sentences were flagged: the documents do not support them, for "
    "the reason given. Mend each flagged sentence so that the documents support all of it: correct what is wrong, "
    "leave out what is not there, add nothing, keep its language, style and place in the response. Where nothing of it "
    "can be kept, give an empty text: the sentence is then dropped. Name no other sentence."
)
_SHAPE = '{"mended": [{"id": "...", "text": "..."}, ...]}, one entry per flagged sentence.'
_SCHEMA = asking.object_of(mended=asking.array_of(asking.object_of(id=asking.id_of("r"), text=asking.TEXT)))


def _sentences(task: Task) -> Sequence[Span]:
    given = task.options.get("sentences")
    return task.response_sentences if given is None else [Span(*span) for span in given]


def _flagged(task: Task) -> Mapping[int, str]:
    """Why, by the number of the sentence; all of them, where nothing is said about which."""
    found: Mapping[int, str] = task.options.get("flagged", dict.fromkeys(range(len(_sentences(task))), ""))
    return found


def _render(task: Task) -> Sequence[Generate]:
    sentences, flagged = _sentences(task), _flagged(task)
    shown = {
        **asking.before_response(task),
        "response": asking.numbered(sentences, "r"),
        "flagged": {f"r{i}": defuse(why) for i, why in flagged.items()},
    }
    written = sum(len(sentences[i].text) for i in flagged)
    tokens = 100 + 32 * len(flagged) + written
    return asking.json_request(task, "revise", _INSTRUCTION, _SHAPE, shown, _SCHEMA, max_tokens=tokens, logprobs=False)


def _parse(task: Task, replies: Sequence[Reply]) -> Mendings:
    expected = '{"mended": [{"id", "text"}, ...]}'
    value, reply = asking.read_object(replies, expected)
    rows = readers.objects(json_reply.field(value, "mended", list, "a list", reply.text), reply, expected)
    flagged, found, dropped = _flagged(task), dict[int, str](), 0
    for row in rows:
        number = readers.sentence_number(row.get("id"), "r")
        text = json_reply.field(row, "text", (str, type(None)), "text, empty to drop the sentence", reply.text)
        if number is not None and number in flagged and number not in found:
            found[number] = (text or "").strip()
        else:
            dropped += 1
    return Mendings(
        mended=tuple(MendedSentence(sentence=number, text=found[number]) for number in sorted(found)), dropped=dropped
    )


def _write(task: Task, value: Mendings) -> str:
    writers.given(value, Mendings)
    for i, one in enumerate(value.mended):
        if one.sentence not in _flagged(task):
            raise InvalidInput(f"mended[{i}].sentence is not one of the sentences to correct", got=repr(one.sentence),
                               expected=", ".join(map(str, _flagged(task))))  # fmt: skip
    rows: list[dict[str, Any]] = [{"id": f"r{one.sentence}", "text": one.text.strip()} for one in value.mended]
    return asking.said(mended=rows)


FORMAT = Format(_render, _parse, _write)
