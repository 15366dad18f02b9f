"""Whether a sentence reports what a tool call has just done: "I have sent the email to Anna."

Such a sentence says nothing about the documents' world: what makes it true is the call. It is one where it reads like a
report (a fitted head, see `small_talk`), a call of that effect was made after the last user turn, and its names and
numbers stand in the call, in what the call returned or in the user's turn. Without such a call it is a claim.

What it is not: a check that the call did what it says. A tool's effect is read from the words of its name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from intrinsics_core.embedded.lexical import stem, terms, tokens
from intrinsics_core.embedded.scoring.keys import Floats, claim, keys_of
from intrinsics_core.embedded.scoring.small_talk import is_report
from intrinsics_core.protocol.task import Task, ToolCall
from intrinsics_core.text.words import word_set

# What tools do, in the words of their names and of those who report it. What undoes something stands last: "I cancelled
# the order" is no report of a call that ordered.
_EFFECTS = tuple(
    word_set(words)
    for words in (
        "send sent email mail message sms text texted notify notified inform informed tell told write wrote written"
        " reply replied forward post posted deliver share shared invite alert announce ask asked thank pass"
        " passed copied went",
        "book booked booking reserve reservation order schedule arrange register sign signed buy bought purchase ticket"
        " rent calendar event appointment meeting rebook move moved reschedule subscribe join place placed",
        "create created add added make made insert open opened put save saved store stored note write wrote written"
        " record log enter upload file filed new start started run ran begin set submit raise raised",
        "update change changed edit set move moved rename switch turn turned adjust reset modify correct swap extend"
        " renew fix lock unlock mute dim lower start started restart archive",
        "pay paid payment transfer refund issue issued money",
        "delete remove removed cancel cancelled canceled cancellation close closed clear drop dropped unsubscribe"
        " revoke block blocked withdraw withdrew decline reject erase stop stopped",
    )
)
_UNDOING = len(_EFFECTS) - 1
_READS = word_set("search get find list fetch look lookup read query retrieve check show view browse")
_DONE = word_set("done finished completed complete set ready request task carried care taken went ahead asked wished")
_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\W_]+")


def reports_a_call(sentence: str, task: Task, vectors: Floats | None = None) -> bool:
    """Whether a sentence of the response says no more than what a tool call of this turn has done.

    Args:
        sentence: one sentence of the response.
        task: the conversation, with its tool calls.
        vectors: the sentence's vectors by the encoder that ships; None: the words alone decide.
    """
    made = [call for call in task.tool_calls if not _only_reads(call)]
    if not made or not is_report(sentence, vectors):
        return False
    known = " ".join(
        [task.query, *(f"{call.name} {call.arguments} {call.result}" for call in made), *_tool_outputs(task)]
    )
    keys = keys_of(_CASE.sub(" ", known)) | keys_of(known)
    details = [unit for unit in claim(sentence).units if unit.is_detail]
    return all(unit.keys & keys for unit in details) and any(_effects_agree(sentence, call) for call in made)


def _tool_outputs(task: Task) -> Sequence[str]:
    """What tools said after the last user turn, where that stands in turns of its own."""
    last = max((i for i, m in enumerate(task.messages) if m.role == "user"), default=-1)
    return [m.content for m in task.messages[last + 1 :] if m.role == "tool"]


def _name(call: ToolCall) -> frozenset[str]:
    return frozenset(stem(word) for word in _CASE.split(call.name) if word)


def _only_reads(call: ToolCall) -> bool:
    words = [stem(word) for word in _CASE.split(call.name) if word]
    return bool(words) and words[0] in _stems(_READS)


def _effects_agree(sentence: str, call: ToolCall) -> bool:
    said = frozenset(terms(sentence, stopwords=True))
    named = _name(call)
    theirs, mine = _effects(named), _effects(said)
    if (_UNDOING in mine) != (_UNDOING in theirs):
        return _only_done(sentence)
    return bool(theirs & mine or {t for t in named & said if len(t) > 2}) or _only_done(sentence)


def _only_done(sentence: str) -> bool:
    """Whether a sentence says that something was done, and not what."""
    return {token.term for token in tokens(sentence) if not token.is_stop} <= _stems(_DONE)


def _effects(words: frozenset[str]) -> frozenset[int]:
    return frozenset(i for i, effect in enumerate(_EFFECTS) if not words.isdisjoint(_stems(effect)))


@cache
def _stems(words: frozenset[str]) -> frozenset[str]:
    return frozenset(map(stem, words))
