"""Verdicts while an answer is still being written: each sentence is judged as it closes.

`AnswerStream` finds the sentences that have closed and says what to ask; it does no I/O. `StreamChecker` asks: blocking
or on an event loop. A line that says nothing without the next one closes with that one: a heading, an introduction, the
first rows of a table, a bare "No.". A block of code closes as a whole. What is said of a sentence is provisional in two
ways only: it is judged with what was said before it and not with what else follows, and a splitter that changes its
mind later is not followed. The last result is the audit of the whole answer, the same as without a stream.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, TypeVar

from intrinsics_core.intrinsics.audit import NAME, audit, audit_of
from intrinsics_core.intrinsics.calling import Documents, Messages, OnError
from intrinsics_core.protocol.call import Call
from intrinsics_core.protocol.errors import InvalidInput, UnsupportedIntrinsic
from intrinsics_core.protocol.profile import Leans, Profile
from intrinsics_core.protocol.results import Audit, AuditedSentence, Frozen
from intrinsics_core.protocol.task import GOES_ON, Message, Split, Task, check
from intrinsics_core.running.execution import ProfileLike, RuntimeLike, arun, run
from intrinsics_core.running.leaning import leans_by_form, shortened
from intrinsics_core.running.line_breaks import readable_alone, split_behind, would_be_heading
from intrinsics_core.runtimes import as_runtime
from intrinsics_core.text.lines import fenced
from intrinsics_core.text.reasoning import blanked, unended
from intrinsics_core.text.sentences import Span, punkt

P = TypeVar("P", bound=Frozen)

_OF_A_SENTENCE = ("hallucination-detection", "citations")
_WITHIN = frozenset(" ,'’-")  # no sentence ends at one of these, nor at a letter or digit, in any layout
_CLOSING = ("。", "！", "？")  # end a sentence without a space behind
_LONG = 400  # characters of an open tail from which it is split again only when it has grown by a part of itself
_GROWN = 8  # that part is one in so many
_BEFORE = 2_000  # characters of what was said before that a sentence is judged with


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """What a stream of checks yields: a chunk as it came, sentences that were judged, or at last the whole ``audit``.

    Offsets of sentences and citations are those of the whole answer.
    """

    text: str = ""
    sentences: tuple[AuditedSentence, ...] = ()
    audit: Audit | None = None


class AnswerStream:
    """An answer as it is written, and what there is to ask about it. No I/O.

    Args:
        messages: the conversation that is answered; ends before the answer.
        documents: what the answer rests on.
        split: finds sentences; that of the profile which judges.
        leans: tells which sentences are judged with the next one; that of the same profile.
        on_error: ``"fallback"``: a sentence that cannot be judged is NA, and its ``explanation`` says why.
        date: date text for prompts that carry one; the day of the call where left out.

    Raises:
        InvalidInput: if the input is invalid. It is raised when the object is made.
    """

    def __init__(
        self,
        messages: Messages,
        documents: Documents,
        *,
        split: Split = punkt,
        leans: Leans | None = None,
        on_error: OnError = "raise",
        date: str | None = None,
    ) -> None:
        turns = (*messages, Message("assistant", "")) if _listed(messages) else messages
        self._task: Task = check(NAME, turns, documents, ends_with=["assistant"], blank_answer=True, date=date)
        before = self._task.messages[:-1]
        if before and before[-1].role == "assistant" and before[-1].content.strip() and not before[-1].tool_calls:
            raise InvalidInput("messages ends with an answer", intrinsic=NAME,
                               expected="the conversation before the answer, which feed(...) takes")  # fmt: skip
        self._on_error: OnError = on_error
        self._split, self._leans_too = split, leans
        self._chunks: list[str] = []
        self._open = ""  # what has no verdict yet, and is not asked about
        self._coming: list[str] = []  # what was written behind it since
        self._length = 0  # of both together
        self._begin = 0  # where it begins in the answer
        self._before = ""  # what was said before it: its end, and the headings above that
        self._over: Sequence[Span] = ()  # the sentences in it that have closed
        self._taken = ("", "")  # what was taken last, and what was said before that
        self._titles = tuple(dict.fromkeys(d.title for d in self._task.documents if d.title))
        self._last = -1  # where in it the last character is that may end a sentence
        self._hopeful = False  # whether a sentence may have ended in it
        self._word_ended = False  # whether a word behind such an end was finished since it was split
        self._tried = 0  # its length when it was split in vain, or when what closed in it could not be judged
        self._failed = False  # whether that could not be judged
        self._previous = ""  # its last character
        self._previous_word = ""  # the last character of it that is no space
        self.finish()  # checks on_error, before the first chunk

    @property
    def text(self) -> str:
        """The answer so far."""
        return "".join(self._chunks)

    def push(self, chunk: str) -> None:
        """Take what was written next. An empty chunk asks again for what could not be judged.

        Raises:
            InvalidInput: the chunk is not text.
        """
        if not isinstance(chunk, str):
            raise InvalidInput(
                "a chunk of the answer is not text", intrinsic=NAME, expected="a string", got=repr(chunk)
            )
        if not chunk and self._failed:
            self._failed, self._tried = False, 0
        self._chunks.append(chunk)
        self._coming.append(chunk)
        for i, c in enumerate(chunk, self._length):
            if not c.isalnum() and c not in _WITHIN:
                self._last, self._hopeful = i, True
            if c.isspace():
                self._word_ended = self._word_ended or not self._previous.isspace()
            else:
                self._word_ended = self._word_ended or self._previous_word in _CLOSING
                self._previous_word = c
            self._previous = c
        self._length += len(chunk)

    @property
    def taken(self) -> int:
        """How many characters of it were asked about: where the sentences begin that have not closed yet."""
        return self._begin

    def take(self) -> tuple[int, Call[Audit]] | None:
        """Where the sentences that have closed since the last time begin, and what to ask about them; None: none have.

        What was said before stands in the conversation, so that a judge can tell what "it" is: the last 2,000
        characters of it, so that a sentence late in a long answer costs no more than an early one. The headings that
        these stand under are kept in front of them, and so are the first rows of a table.
        """
        end = self._closed()
        if not end:
            return None
        said = self._open[:end] if self._begin == 0 else self._open[:end].lstrip()  # as in the whole answer
        skipped = end - len(said)
        spaces, before = self._open[:skipped], self._before
        read = readable_alone(said, [Span(b - skipped, e - skipped, t) for b, e, t in self._over], self._split)
        self._taken = (self._open[:end], before)
        self._open, self._begin = self._open[end:], self._begin + end
        self._length, self._last = self._length - end, self._last - end
        self._before = shortened(before + spaces + blanked(said).lstrip(), _BEFORE, self._leans)
        begin, before = self._begin - len(said), before + spaces
        turns = [*self._task.messages[:-1], *([Message("assistant", before)] if before.strip() else [])]
        turns.append(Message("assistant", read))
        made = audit_of(_OF_A_SENTENCE, turns, self._task.documents, on_error=self._on_error, date=self._task.date)
        if before.strip():
            made = replace(made, task=replace(made.task, options={**made.task.options, GOES_ON: True}))
        return begin, made

    def written(self, begin: int) -> str:
        """What was taken last, from a place of the answer on, with the line breaks that a judge does not see."""
        return self._taken[0][begin - self._begin :]

    def put_back(self) -> None:
        """What was taken last could not be judged: it is open again. It is taken once more when the open text has grown
        by an eighth, or when an empty chunk comes. So a judge that stays down is not asked at every chunk.
        """
        said, self._before = self._taken
        self._taken = ("", self._before)
        self._open, self._begin = said + self._open, self._begin - len(said)
        self._length, self._last = self._length + len(said), self._last + len(said)
        self._hopeful = self._word_ended = self._failed = True
        self._tried = self._length

    def finish(self) -> Call[Audit]:
        """The audit of the whole answer."""
        said = Message("assistant", self.text)
        return audit((*self._task.messages[:-1], said), self._task.documents, on_error=self._on_error,
                     date=self._task.date)  # fmt: skip

    def _closed(self) -> int:
        """The end of the last sentence that has closed; 0 where none has. One that leans on the next closes with it.

        The tail is split only when a word was finished behind what may be an end. A long one that did not close, and
        one that could not be judged, is split again when it has grown by an eighth. So the work is in proportion to
        what is written.
        """
        if not (self._hopeful and self._word_ended):
            return 0
        patient = self._failed or self._length > _LONG
        if patient and self._length - self._tried < self._tried // _GROWN:
            return 0
        self._open, self._coming = "".join((self._open, *self._coming)), []
        self._word_ended = False
        if self._begin == 0 and unended(self._open):
            self._tried = self._length
            return 0
        shown = blanked(self._open)
        spans, code = split_behind(self._before, shown, self._split), _code(shown)
        over = len(spans) - 2
        # It takes a whole word behind to know that a sentence is over.
        while over >= 0 and (
            _is_within(code, spans[over].end)
            or would_be_heading(self._open, spans[over], spans[over + 1])
            or self._leans(spans[over].text, spans[over + 1].text, spans[over - 1].text if over else self._before)
            or not _followed(self._open[spans[over].end :], spans[over].text)
        ):
            over -= 1
        self._over, self._failed = spans[: over + 1], False
        end, last = spans[over].end if over >= 0 else 0, self._last
        self._tried = 0 if end else self._length
        self._hopeful = last >= end and not _followed(self._open[last + 1 :], self._open[: last + 1])
        return end

    def _leans(self, sentence: str, following: str, before: str) -> bool:
        """Whether a sentence is judged with the following one."""
        if leans_by_form(sentence, before):
            return True
        return self._leans_too is not None and self._leans_too(sentence, following, before, self._titles)


def _listed(messages: Any) -> bool:
    """Whether there can be a turn more; what is no list is for `check` to name."""
    return isinstance(messages, Iterable) and not isinstance(messages, str | bytes | Mapping)


def _code(text: str) -> list[tuple[int, int]]:
    """Where blocks of code begin, and where their last lines end. They close as a whole."""
    return [(begin, begin + len(text[begin:end].rstrip())) for begin, end in fenced(text)]


def _is_within(code: Sequence[tuple[int, int]], place: int) -> bool:
    """Whether a place lies behind the beginning of a block of code and before its end."""
    i = bisect_left(code, place, key=itemgetter(0)) - 1
    return i >= 0 and place < code[i][1]


def _followed(rest: str, sentence: str) -> bool:
    """Whether what comes behind a sentence is enough to know that it is over: a space, and a whole word."""
    cjk = sentence.endswith(_CLOSING)
    behind = rest.lstrip()
    if not behind or not (cjk or rest[0].isspace()):
        return False
    return cjk or behind[-1].isspace() or len(behind.split(maxsplit=1)) > 1


class StreamChecker:
    """Judges an answer while it is written; one answer each.

    >>> checker = StreamChecker([{"role": "user", "content": "Who built it?"}], ["Ada Brink built it in 1911."])
    >>> [s.label for chunk in ["Ada Brink", " built it. It ", "is made of glass."] for s in checker.feed(chunk)]
    ['faithful']
    >>> [s.label for s in checker.close().sentences]
    ['faithful', 'unfaithful']

    Args:
        messages: the conversation that is answered; ends before the answer.
        documents: what the answer rests on.
        runtime, profile: as :func:`intrinsics_core.run` takes them.
        on_error: ``"fallback"``: a sentence that cannot be judged is NA, and its ``explanation`` says why.
        date: date text for prompts that carry one; the day of the call where left out.
        hold: whether :meth:`check` and :meth:`acheck` keep each sentence back until it is judged. Its verdict then
            comes before its text, so a reader that stops at an unfaithful sentence has not seen it. It costs time: a
            sentence is seen when it has closed and was judged, not while it is written.

    A language model is asked once for the sentences that close together, and once more for the whole answer.

    Raises:
        InvalidInput: if the input is invalid. It is raised when the object is made.
    """

    def __init__(
        self,
        messages: Messages,
        documents: Documents,
        *,
        runtime: RuntimeLike = None,
        profile: ProfileLike = None,
        on_error: OnError = "raise",
        date: str | None = None,
        hold: bool = False,
    ) -> None:
        self._runtime = as_runtime(runtime)
        self._profile = self._runtime.profile_of(profile)
        judge = _judge(self._profile)
        self._stream = AnswerStream(
            messages, documents, split=judge.split, leans=judge.leans, on_error=on_error, date=date
        )
        self._hold = hold
        self._judged = 0  # characters of the answer that have a verdict
        self._released = 0  # those of them that `release` gave
        self._ended = False
        self._told: list[AuditedSentence] = []

    @property
    def text(self) -> str:
        """The answer so far."""
        return self._stream.text

    def release(self) -> str:
        """The text of the sentences that were judged since the last time; of a closed answer all that is left.

        For those who hold an answer back: what was released adds up to the answer.
        """
        begin, self._released = self._released, self._judged
        return self.text[begin : self._released]

    def feed(self, chunk: str) -> list[AuditedSentence]:
        """Take what was written next; the verdicts and citations of the sentences that closed with it.

        Raises:
            InvalidInput: the chunk is no text, or the answer was closed.
            IntrinsicsError: the sentences could not be judged; with ``on_error="fallback"`` none of these. The chunk is
                part of the answer all the same. Its sentences are judged when the text that has no verdict has grown by
                an eighth, or at once with ``feed("")``.
        """
        self._push(chunk)
        if (taken := self._stream.take()) is None:
            return []
        with self._judging():
            return self._placed(taken[0], run(taken[1], self._runtime, profile=self._profile))

    async def afeed(self, chunk: str) -> list[AuditedSentence]:
        """Like :meth:`feed`, without ever blocking the event loop."""
        self._push(chunk)
        taken = self._stream.take()
        return [] if taken is None else await self._ajudged(*taken)

    def close(self) -> Audit:
        """The answer is whole: everything about it, as :func:`intrinsics_core.audit` says it.

        A language model may judge a sentence differently once it reads the whole answer. ``disagreements`` names each
        sentence whose label is another one than :meth:`feed` told.
        """
        self._ended = True
        return self._closed(run(self._stream.finish(), self._runtime, profile=self._profile))

    async def aclose(self) -> Audit:
        """Like :meth:`close`, without ever blocking the event loop."""
        self._ended = True
        return self._closed(await arun(self._stream.finish(), self._runtime, profile=self._profile))

    def _closed(self, whole: Audit) -> Audit:
        self._judged = len(self.text)
        turned = tuple(_turned(self._told, whole))
        return whole.model_copy(update={"disagreements": (*whole.disagreements, *turned)}) if turned else whole

    def left(self, whole: Audit) -> tuple[AuditedSentence, ...]:
        """The sentences of the whole answer's audit that closed with the end alone: the last one, at least.

        With those that :meth:`feed` gave, they are all sentences, each once. One that goes on in the whole, behind
        where it ended for :meth:`feed`, is told again with its end.
        """
        return tuple(sentence for sentence in whole.sentences if sentence.end > self._stream.taken)

    def check(self, chunks: Iterable[str]) -> Iterator[StreamEvent]:
        """A whole stream: each chunk, then the sentences that closed with it, those left at the end, and the audit.

        With ``hold``: the sentences that closed, then their text.
        """
        for chunk in chunks:
            if chunk and not self._hold:
                yield StreamEvent(text=chunk)
            yield from self._events(self.feed(chunk))
        yield from self._last(self.close())

    async def acheck(self, chunks: AsyncIterable[str]) -> AsyncIterator[StreamEvent]:
        """Like :meth:`check`; without ``hold`` chunks are passed on at once, however long a verdict takes.

        Sentences that close while others are judged are judged together next.
        """
        source = aiter(chunks)
        coming: asyncio.Task[Any] | None = asyncio.create_task(_next(source))
        judging: asyncio.Task[list[AuditedSentence]] | None = None
        try:
            while coming or judging:
                waited = [task for task in (coming, judging) if task is not None]
                await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
                if judging is not None and judging.done():
                    judged, judging = judging.result(), None
                    for event in self._events(judged):
                        yield event
                if coming is not None and coming.done():
                    chunk, coming = coming.result(), None
                    if chunk is not None:
                        self._push(chunk)
                        coming = asyncio.create_task(_next(source))
                        if chunk and not self._hold:
                            yield StreamEvent(text=chunk)
                if judging is None and coming is not None and (taken := self._stream.take()) is not None:
                    judging = asyncio.create_task(self._ajudged(*taken))
            for event in self._last(await self.aclose()):
                yield event
        finally:
            left = [task for task in (coming, judging) if task is not None]
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)
            if self._stream.taken > self._judged:  # the task was cancelled before its first step
                self._stream.put_back()

    def _events(self, judged: Sequence[AuditedSentence]) -> Iterator[StreamEvent]:
        if judged:
            yield StreamEvent(sentences=tuple(judged))
        if self._hold and (judged or self._ended) and (text := self.release()):
            yield StreamEvent(text=text)

    def _last(self, whole: Audit) -> Iterator[StreamEvent]:
        yield from self._events(self.left(whole))
        yield StreamEvent(audit=whole)

    async def _ajudged(self, begin: int, call: Call[Audit]) -> list[AuditedSentence]:
        with self._judging():
            return self._placed(begin, await arun(call, self._runtime, profile=self._profile))

    def _placed(self, begin: int, judged: Audit) -> list[AuditedSentence]:
        placed = _placed(begin, judged, self._stream.written(begin))
        self._told += placed
        return placed

    @contextmanager
    def _judging(self) -> Iterator[None]:
        """Counts what was taken as judged; puts it back where it could not be."""
        end = self._stream.taken
        try:
            yield
        except BaseException:  # a caller that was cancelled may go on, too
            self._stream.put_back()
            raise
        self._judged = end

    def _push(self, chunk: str) -> None:
        if self._ended:
            raise InvalidInput(
                "this StreamChecker was closed", intrinsic=NAME, expected="a new StreamChecker for each answer"
            )
        self._stream.push(chunk)


def _judge(profile: Profile) -> Profile:
    try:
        return profile.serving(NAME)
    except UnsupportedIntrinsic:  # routes for some parts alone
        return profile


def _placed(begin: int, judged: Audit, said: str) -> list[AuditedSentence]:
    """The sentences with offsets in the whole answer and as they were ``said``, and why where there is no verdict."""
    placed = []
    for sentence in judged.sentences:
        update: dict[str, Any] = {
            "spans": tuple(_moved(span, begin, "begin", "end") for span in sentence.spans),
            "citations": tuple(
                _moved(c, begin, "response_begin", "response_end").model_copy(
                    update={"response_text": said[c.response_begin : c.response_end]}
                )
                for c in sentence.citations
            ),
            "text": said[sentence.begin : sentence.end],
        }
        unsaid = sentence.label == "NA" and sentence.explanation is None
        if judged.degraded and unsaid and (not sentence.judged or not judged.missing):
            update["explanation"] = f"not judged: {judged.degraded}"
        placed.append(_moved(sentence, begin, "begin", "end").model_copy(update=update))
    return placed


def _turned(told: Iterable[AuditedSentence], whole: Audit) -> Iterator[str]:
    """The sentences whose label is another one in the whole answer than while it was written."""
    now = {(sentence.begin, sentence.end): sentence for sentence in whole.sentences}
    for before in told:
        after = now.get((before.begin, before.end))
        if after is not None and before.judged and after.judged and after.label != before.label:
            yield f"the sentence at {before.begin} was {before.label} while it was written, and is {after.label} now"


def _moved(part: P, by: int, *offsets: str) -> P:
    return part.model_copy(update={name: getattr(part, name) + by for name in offsets})


async def _next(source: AsyncIterator[str]) -> str | None:
    return await anext(source, None)
