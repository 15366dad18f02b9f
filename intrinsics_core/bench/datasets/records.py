"""The shapes that data sets are read into, and the register of sets of claims."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from intrinsics_core.bench.folder import DataFolder

T = TypeVar("T")

Document = str | tuple[str, ...]
"""A text; or its sentences, where the set gives sentences."""


@dataclass(frozen=True)
class ClaimRow:
    """A claim, or an answer, beside documents that support it or do not.

    Attributes:
        supported: None where the set does not say.
        question: what the claim answers, where the set has one.
        gold: the document's sentences that support the claim, as indices; in alternatives, any one of which is enough.
            Only where there is one document, of sentences.
        sentences: (sentence, supported) of the answer, where each is labelled. ``text`` is these, joined by blanks.
        group: what the claim shares with others that must stay on its side of a split: an article, a conversation.
        system: what wrote the claim.
        part: the set's own part that it stands in.
    """

    text: str
    documents: tuple[Document, ...]
    supported: bool | None
    question: str = ""
    gold: tuple[tuple[int, ...], ...] = ()
    sentences: tuple[tuple[str, bool], ...] = ()
    group: str = ""
    system: str = ""
    part: str = ""


@dataclass(frozen=True)
class QuestionRow:
    """A question beside documents that answer it or do not.

    Attributes:
        answers: as the set words them; none where nothing answers.
        gold: the document's sentences that an answer rests on, as indices.
        title: the article's, as the file spells it.
        grade: how relevant the passage is, 0 and up, where people graded it.
    """

    text: str
    documents: tuple[Document, ...]
    answerable: bool
    answers: tuple[str, ...] = ()
    gold: tuple[int, ...] = ()
    title: str = ""
    identity: str = ""
    grade: int | None = None


@dataclass(frozen=True)
class RewriteRow:
    """The last question of a conversation, and a person's rewrite that stands alone.

    Attributes:
        history: (role, text) of the turns before the question.
        source: which collection the row is from, where a file has several.
    """

    identity: str
    history: tuple[tuple[str, str], ...]
    question: str
    rewrite: str
    source: str = ""


@dataclass(frozen=True)
class PassageRow:
    """A text to read; its first line is its article's title where the set has titles."""

    identity: str
    text: str


@dataclass(frozen=True)
class Page:
    """A document to be searched: its title and its sentences."""

    title: str
    sentences: tuple[str, ...]

    @property
    def text(self) -> str:
        return " ".join(self.sentences)


@dataclass(frozen=True)
class RecordedAnswer:
    """An answer that a model gave, the log-probabilities of its tokens (nats), and whether it is true."""

    question: str
    answer: str
    logprobs: tuple[float, ...]
    truthful: bool


@dataclass(frozen=True)
class ClaimSet:
    """A set of claims: how it is read, and the names of the tables that show it."""

    read: Callable[[DataFolder], Iterator[ClaimRow]]
    tables: tuple[str, ...]


CLAIMS: dict[str, ClaimSet] = {}


def claim_set(
    name: str, *tables: str
) -> Callable[[Callable[[DataFolder], Iterator[ClaimRow]]], Callable[[DataFolder], Iterator[ClaimRow]]]:
    """Register a function that reads a set of claims.

    Args:
        name: the set's name in tables.
        tables: which tables show it, for example ``"fact-check"``.
    """

    def keep(read: Callable[[DataFolder], Iterator[ClaimRow]]) -> Callable[[DataFolder], Iterator[ClaimRow]]:
        CLAIMS[name] = ClaimSet(read, tables)
        return read

    return keep


class SetsOf(Mapping[str, Callable[[DataFolder], Iterator[T]]]):
    """The sets of claims that a table shows, those registered later too, by the names that the table gives them.

    Args:
        kinds: (the table's name in :func:`claim_set`, what is put behind a set's name, ``make``); ``make(name)`` gives
            the function that reads a set's cases.
    """

    def __init__(self, *kinds: tuple[str, str, Callable[[str], Callable[[DataFolder], Iterator[T]]]]) -> None:
        self._kinds = kinds

    def _found(self) -> dict[str, Callable[[DataFolder], Iterator[T]]]:
        return {
            f"{name}{ending}": make(name)
            for table, ending, make in self._kinds
            for name, found in CLAIMS.items()
            if table in found.tables
        }

    def __getitem__(self, name: str) -> Callable[[DataFolder], Iterator[T]]:
        return self._found()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found())

    def __len__(self) -> int:
        return len(self._found())


def whole(document: Document) -> str:
    """A document as one text."""
    return document if isinstance(document, str) else " ".join(document)


def joined(sentences: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
    """Sentences as one text, and (begin, end) of each in it."""
    text, spans = "", []
    for sentence in sentences:
        text += " " if text else ""
        spans.append((len(text), len(text) + len(sentence)))
        text += sentence
    return text, spans
