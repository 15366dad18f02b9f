"""Whether a sentence reports what a tool call has done: "I have sent the email to Anna."

Such a sentence says nothing about the documents' world: what makes it true is the call. It is one where it reads like a
report (a fitted head, see `small_talk`), a call of that effect was made after the last user turn, and its names and
numbers stand in the call, in what the call returned or in the user's turn. Without such a call it is a claim. Where the
user only asks what was done ("Did you send it?") or thanks, a call of an earlier turn will do, if the question's names
and numbers stand there, too. A call of an earlier turn is no reason to believe that a new task was done.

What it is not: a check that the call did what it says. A tool's effect is read from the words of its name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from intrinsics_core.embedded.lexical import stem, terms, tokens
from intrinsics_core.embedded.scoring.claims import asks
from intrinsics_core.embedded.scoring.keys import Floats, Unit, claim, keys_of
from intrinsics_core.embedded.scoring.short_answers import yes_or_no
from intrinsics_core.embedded.scoring.small_talk import is_report
from intrinsics_core.protocol.task import Task, ToolCall
from intrinsics_core.text.layout import ends_in_question, laid_out
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
# "Did you send it?", "Was it booked?", "Thanks. Sent?", "What have you done?"
_WHETHER_DONE = re.compile(
    r"\b(?:did|have|has|had|was|were|is|are)\b"
    r"|\A\W*(?:(?:and|so|ok|okay|thanks|all|already),? ){0,2}(?:done|sent|paid|bought|\w+ed)\b",
    re.IGNORECASE,
)
_DID_YOU = re.compile(
    r"\A(?:[^.!?]{0,60}[.!])?\W*(?:and |so |but )?(?:did|have) you\b[^.!?]{1,200}\?\W*\Z", re.IGNORECASE
)
_REQUESTS = re.compile(r"\b(?:please|kindly|(?:can|could|would|will) you|do (?:it|that|so)|again)\b", re.IGNORECASE)
_THANKS = word_set("thank thanks")
_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\W_]+")


class _TurnWithCalls(NamedTuple):
    """A user's turn, the calls that were made for it and did something, and what tools said."""

    asked: str
    calls: list[ToolCall]
    outputs: list[str]


def reports_a_call(sentence: str, task: Task, vectors: Floats | None = None) -> bool:
    """Whether a sentence of the response says no more than what a tool call has done.

    Args:
        sentence: one sentence of the response.
        task: the conversation, with its tool calls.
        vectors: the sentence's vectors by the encoder that ships; None: the words alone decide.
    """
    *earlier, last = _turns(task)
    if not (last.calls or any(turn.calls for turn in earlier)):
        return False
    if yes_or_no(sentence) == "Yes." and _DID_YOU.search(last.asked):
        sentence = last.asked
    elif not is_report(sentence, vectors):
        return False
    details = [unit for unit in claim(sentence).units if unit.is_detail]
    if _tells_of(sentence, details, last):
        return True
    if not any(turn.calls for turn in earlier) or not _asks_what_was_done(last.asked):
        return False
    details += [unit for span in laid_out(last.asked) for unit in claim(span.text).units if unit.is_detail]
    return any(_tells_of(sentence, details, turn) for turn in earlier)


def _turns(task: Task) -> list[_TurnWithCalls]:
    turns = [_TurnWithCalls("", [], [])]
    for message in task.messages:
        if message.role == "user":
            turns.append(_TurnWithCalls(message.content, [], []))
        elif message.role == "tool":
            turns[-1].outputs.append(message.content)
        turns[-1].calls.extend(call for call in message.tool_calls if not _only_reads(call))
    return turns


def _tells_of(sentence: str, details: Sequence[Unit], turn: _TurnWithCalls) -> bool:
    """Whether a call of a turn has the effect that a sentence reports, and the turn has the names and numbers."""
    if not turn.calls:
        return False
    told = (f"{call.name} {call.arguments} {call.result}" for call in turn.calls)
    known = " ".join([turn.asked, *told, *turn.outputs])
    keys = keys_of(_CASE.sub(" ", known)) | keys_of(known)
    return all(unit.keys & keys for unit in details) and any(_effects_agree(sentence, call) for call in turn.calls)


def _asks_what_was_done(turn: str) -> bool:
    """Whether a turn asks what was done, or asks nothing ("Thanks!"), and gives no task."""
    return all(_gives_no_task(span.text) for span in laid_out(turn))


def _gives_no_task(sentence: str) -> bool:
    if _REQUESTS.search(sentence):
        return False
    if ends_in_question(sentence):
        return _WHETHER_DONE.search(sentence) is not None
    return not (asks(sentence) or _effects(frozenset(terms(sentence, stopwords=True)) - _stems(_THANKS)))


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
