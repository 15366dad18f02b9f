"""What a sentence of an answer claims: something, nothing, what the assistant has done, or who speaks to whom.

A small fitted head tells which (`training/small_talk` has the rates of its kinds), from the n-grams of the sentence
and, where the encoder that ships has made one, its vector. What claims nothing (courtesy, offers, questions back,
refusals, what the documents do not say, announcements) is not judged. What the assistant says of its own acts is
supported by tool calls; what it says of itself and of the user, by the turns of the system and the user (`Spoken`).
Without such a source it is a claim like any other.

What it is not: a reader. A claim wrongly said to claim nothing is never judged, so the thresholds are high.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from intrinsics_core.embedded.heads import hashed, load_text_head, places
from intrinsics_core.embedded.short_answers import beginning
from intrinsics_core.embedded.turns import asks_what_was_done, true_answer
from intrinsics_core.embedded.words import Unit, claim, keys_of, terms, tokens
from intrinsics_core.protocol.task import Message, Task, ToolCall
from intrinsics_core.text.layout import ends_in_question, laid_out
from intrinsics_core.text.lines import is_fence

if TYPE_CHECKING:
    from intrinsics_core.embedded.heads import Floats

# What a list or a layout puts between claims: "[1]", "(Passage 2)", "Page 3 of 10", "a)".
_MARKER = re.compile(
    r"\A\W*+(?:(?:passage|document|doc|source|page|chunk|section|figure|fig|table|item|ref|citation|step)s?\b\W*+)?"
    r"(?:\d{1,4}|[a-zA-Z])?+(?:\W++(?:(?:of|and|to)\W++)?\d{1,4}\b)*+\W*+\Z",
    re.IGNORECASE,
)
NUMBERING = re.compile(r"\A\W*+\d{1,3}\W*+\Z")
_PARTS_OF_NAMES = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\W_]+")
_NAME = r"[^\W\d_]+(?:['’-][^\W\d_]+)*"
_LONGEST = 40  # words from which on a sentence is a claim


def makes_claim(sentence: str, vectors: Floats | None = None, found: bool = False, alone: bool = False) -> bool:
    """Whether a sentence asserts something that sources could support. A yes or no by itself does not.

    Args:
        sentence: one sentence of an answer.
        vectors: its vectors by the encoder that ships, (windows, dim); None: it is told from its words alone.
        found: whether all its content stands in the sources, or it begins with a yes or a no to a question.
        alone: whether it is all that a question was answered with. "1.50" is a price then and no number of a list.
    """
    text = sentence.strip()
    if beginning(text).is_bare or not claim(text).units or (is_fence(text) and len(text.split()) == 1):
        return False
    if not alone and _MARKER.match(text) and not NUMBERING.match(text):
        return False
    return not claims_nothing(text, vectors, sure=found or alone)


def claims_nothing(text: str, vectors: Floats | None = None, sure: bool = False) -> bool:
    """Whether the head says that a text claims nothing. ``sure``: only if it is very likely."""
    if ends_in_question(text) or len(text.split()) >= _LONGEST:
        return ends_in_question(text)
    head = load_text_head("claims", vector=_vector(vectors) is not None)
    p = head.probabilities(places(text), _vector(vectors))
    return p["nothing"] >= (_SURE if sure else head.thresholds["nothing"])


_SURE = 0.8
"""The least probability of claiming nothing where a claim is likelier."""


def _vector(vectors: Floats | None) -> Floats | None:
    """The vector of a sentence of one window, by an encoder of the shipped one's size."""
    size = load_text_head("claims", vector=True).by_vector.shape[1]
    return vectors[0] if vectors is not None and vectors.shape == (1, size) else None


@dataclass
class _TurnWithCalls:
    """A user's turn, the calls that were made for it, and what tools said."""

    asked: str
    calls: list[ToolCall] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)

    @cached_property
    def keys(self) -> frozenset[str]:
        """Those of the turn, of its calls and of what tools said."""
        told = (f"{call.name} {call.arguments} {call.result}" for call in self.calls)
        known = " ".join([self.asked, *told, *self.outputs])
        return keys_of(_PARTS_OF_NAMES.sub(" ", known)) | keys_of(known)

    def did(self, sentence: str) -> bool:
        """Whether a call has the effect that a sentence reports."""
        read = (places_of_call(sentence, call.name, str(call.arguments)) for call in self.calls)
        return any(load_text_head("calls").kind(each) == "done" for each in read)


class Spoken:
    """What a conversation itself can tell of an answer. It is read once for all sentences of a response."""

    def __init__(self, task: Task) -> None:
        self._task = task
        turns = [_TurnWithCalls("")]
        for message in task.messages:
            if message.role == "user":
                turns.append(_TurnWithCalls(message.content))
            elif message.role == "tool":
                turns[-1].outputs.append(message.content)
            turns[-1].calls.extend(message.tool_calls)
        self._turns = turns

    def tells(self, sentence: str, question: str, vectors: Floats | None = None) -> bool:
        """Whether a sentence says no more than what a call has done, who answers, or what the user said.

        Args:
            sentence: one sentence of the response.
            question: that of the user which it answers; "" where nobody can tell which.
            vectors: the sentence's vectors by the encoder that ships; None: the words alone decide.
        """
        said = beginning(sentence).says
        if said:
            asked = laid_out(question)[-1].text if question.strip() else ""
            if true_answer(asked) == said:
                return True
            return said == "Yes." and ends_in_question(asked) and asks_what_was_done(asked) and self._done(asked, "")
        if len(sentence.split()) >= _LONGEST:
            return False
        vector = _vector(vectors)
        kind = load_text_head("claims", vector=vector is not None).kind(places(sentence.strip()), vector)
        if kind == "report":
            return self._done(sentence, question)
        return kind == "self" and self._is_known(sentence)

    def _done(self, sentence: str, question: str) -> bool:
        last = len(self._turns) - 1
        details = [unit for unit in claim(sentence).units if unit.is_detail]
        if last in self._holding(details) and self._turns[last].did(sentence):
            return True
        # A call of an earlier turn is no reason to believe that a new task was done.
        if not all(asks_what_was_done(span.text) for span in laid_out(self._turns[last].asked)):
            return False
        details += [unit for unit in claim(question).units if unit.is_detail]
        return any(self._turns[number].did(sentence) for number in self._holding(details) if number != last)

    def _holding(self, details: Sequence[Unit]) -> Collection[int]:
        """The numbers of the turns in which all these names and numbers stand, found without a look at each turn."""
        found = [set[int]().union(*(self._by_key.get(key, ()) for key in unit.keys)) for unit in details]
        return set.intersection(*found) if found else range(len(self._turns))

    @cached_property
    def _by_key(self) -> dict[str, list[int]]:
        """The numbers of the turns, by the keys in them."""
        found: dict[str, list[int]] = {}
        for number, turn in enumerate(self._turns):
            for key in turn.keys:
                found.setdefault(key, []).append(number)
        return found

    def _is_known(self, sentence: str) -> bool:
        """Whether the names and numbers of a sentence were told by the system or the user.

        Where the system gives no name, the assistant may have one.
        """
        unknown = [unit for unit in claim(sentence).units if unit.is_detail and not unit.keys & self._told]
        return not unknown or (not self._is_named and len(unknown) == 1 and unknown[0].is_name)

    @cached_property
    def _told(self) -> frozenset[str]:
        return keys_of(" ".join(m.content for m in self._task.messages[:-1] if m.role in ("system", "user")))

    @cached_property
    def _is_named(self) -> bool:
        """Whether the system's turns have names."""
        return any(unit.is_name for m in self._task.messages if m.role == "system" for unit in claim(m.content).units)


def places_of_call(sentence: str, name: str, arguments: str) -> tuple[int, ...]:
    """What a head reads of a sentence beside a call: each pair of their words, and how many they share."""
    said = frozenset(terms(sentence, stopwords=True))
    tool = frozenset(terms(_PARTS_OF_NAMES.sub(" ", name), stopwords=True))
    content = frozenset(token.term for token in tokens(sentence) if not token.is_stop)
    alike = len({a[:3] for a in content} & {b[:3] for b in tool})
    same, given = len(content & tool), len(content & frozenset(terms(arguments)))
    counts = {"alike": min(2, alike), "same": min(2, same), "given": min(2, given), "content": min(4, len(content))}
    pairs = [f"{a}*{b}" for a in said for b in tool]
    return hashed([*pairs, *tool, *(f"{a}-" for a in said), *(f"{name}:{n}" for name, n in counts.items())])


def names_of_the_user(turns: Iterable[Message], texts: Sequence[str]) -> frozenset[str]:
    """Words with capital letters that may name the user, of the turns before the answer ("This is Ada Brink"). Those of
    a document are left out.
    """
    told = (span.text for turn in turns if len(turn.content) <= _A_TURN for span in laid_out(turn.content))
    words = {word for text in told for word in re.findall(_NAME, text)[1:] if word[:1].isupper() and word[1:]}
    return frozenset(word for word in words if not any(word in text for text in texts))


_A_TURN = 400  # characters of a turn that tells a name, and is no text


def unaddressed(sentence: str, names: frozenset[str]) -> str:
    """A sentence without the name by which it addresses the user, at its end behind a comma."""
    if not names or "," not in sentence:
        return sentence
    name = rf"(?:[A-Z][a-z]{{1,2}}\.? )?(?:{'|'.join(map(re.escape, sorted(names)))})"
    return re.sub(rf"(?P<last>\A\w+|(?<=\s)[^A-Z\s]\S*), {name}(?: {name})*(?=[.!]*\Z)", r"\g<last>", sentence)
