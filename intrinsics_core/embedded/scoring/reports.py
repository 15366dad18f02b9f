"""Whether a sentence reports what a tool call has done: "I have sent the email to Anna."

Such a sentence says nothing about the documents' world: what makes it true is the call. It is one where it reads like a
report (a fitted head, see `small_talk`), a call of that effect was made after the last user turn, and its names and
numbers stand in the call, in what the call returned or in the user's turn. Without such a call it is a claim. Where the
user only asks what was done ("Did you send it?") or thanks, a call of an earlier turn will do, if all that the sentence
and the question name stands there. A call of an earlier turn is no reason to believe that a new task was done.

What it is not: a check that the call did what it says. A tool's effect is read from the words of its name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property

from intrinsics_core.embedded.scoring.claims import asks
from intrinsics_core.embedded.scoring.small_talk import is_report
from intrinsics_core.embedded.short_answers import asked_of_each, yes_or_no
from intrinsics_core.embedded.words import Floats, Unit, claim, keys_of, stem, terms, tokens
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
_OF_TALK = _DONE | _THANKS | word_set("sure certain welcome great perfect already yet")
_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\W_]+")


@dataclass
class _TurnWithCalls:
    """A user's turn, the calls that were made for it and did something, and what tools said."""

    asked: str
    calls: list[ToolCall] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)

    @cached_property
    def keys(self) -> frozenset[str]:
        """Those of the turn, of its calls and of what tools said."""
        told = (f"{call.name} {call.arguments} {call.result}" for call in self.calls)
        known = " ".join([self.asked, *told, *self.outputs])
        return keys_of(_CASE.sub(" ", known)) | keys_of(known)

    @cached_property
    def tools(self) -> frozenset[frozenset[str]]:
        """The words of the name of each tool that was called."""
        return frozenset(map(_name, self.calls))


class CallsMade:
    """The tool calls of a conversation. They are read once for all sentences of a response."""

    def __init__(self, task: Task) -> None:
        self._query = task.query
        *earlier, self._last = _turns(task)
        self._earlier = [turn for turn in earlier if turn.calls]

    @cached_property
    def _asked_what_was_done(self) -> bool:
        return _asks_what_was_done(self._last.asked)

    @cached_property
    def _things_asked(self) -> list[Unit]:
        return [unit for span in laid_out(self._last.asked) for unit in self._things(span.text)]

    @cached_property
    def _words_of_reports(self) -> frozenset[str]:
        """The stems of the words for what the tools of earlier turns do, and of thanks and talk."""
        effects = frozenset[int]().union(*(_effects(tool) for turn in self._earlier for tool in turn.tools))
        return _stems(_OF_TALK.union(*(_EFFECTS[i] for i in effects)))

    def _things(self, sentence: str) -> list[Unit]:
        """What a sentence names beside what was done. That the price list was sent is no reason to believe that the
        invoice was.
        """
        known = self._words_of_reports
        return [unit for unit in claim(sentence).units if unit.is_detail or known.isdisjoint(map(stem, unit.keys))]

    def reported_alone(self, sentence: str, vectors: Floats | None = None) -> bool:
        """`reported` for a sentence that is looked at without the others."""
        (question,) = asked_of_each([sentence], self._query)
        return self.reported(sentence, question, vectors)

    def reported(self, sentence: str, question: str, vectors: Floats | None = None) -> bool:
        """Whether a sentence of the response says no more than what a call has done.

        Args:
            sentence: one sentence of the response.
            question: the user's last turn, or that of its questions which the sentence answers, or "" where nobody can
                tell which it answers (`asked_of_each`).
            vectors: the sentence's vectors by the encoder that ships; None: the words alone decide.
        """
        if not (self._last.calls or self._earlier):
            return False
        said = yes_or_no(sentence)
        if said == "Yes." and _DID_YOU.search(question):
            sentence = question
        elif (said and not question) or not is_report(sentence, vectors):
            return False
        details = [unit for unit in claim(sentence).units if unit.is_detail]
        if _tells_of(sentence, details, [self._last]):
            return True
        if not self._earlier or not self._asked_what_was_done:
            return False
        return _tells_of(sentence, [*self._things(sentence), *self._things_asked], self._earlier)


def _turns(task: Task) -> list[_TurnWithCalls]:
    turns = [_TurnWithCalls("")]
    for message in task.messages:
        if message.role == "user":
            turns.append(_TurnWithCalls(message.content))
        elif message.role == "tool":
            turns[-1].outputs.append(message.content)
        turns[-1].calls.extend(call for call in message.tool_calls if not _only_reads(call))
    return turns


def _tells_of(sentence: str, details: Sequence[Unit], turns: Sequence[_TurnWithCalls]) -> bool:
    """Whether a call of one of the turns has the effect that a sentence reports, and the turn has its names and
    numbers."""
    said = frozenset(terms(sentence, stopwords=True))
    tools = frozenset[frozenset[str]]().union(*(turn.tools for turn in turns))
    agree = frozenset(tool for tool in tools if _effects_agree(sentence, said, tool))
    of_effect = (turn for turn in turns if not agree.isdisjoint(turn.tools))
    return any(all(unit.keys & turn.keys for unit in details) for turn in of_effect)


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


def _effects_agree(sentence: str, said: frozenset[str], named: frozenset[str]) -> bool:
    """Whether a tool has the effect that a sentence reports, from the stems of both."""
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
