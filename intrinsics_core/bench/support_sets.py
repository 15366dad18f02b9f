"""Sets of claims as tables judge them: an answer over texts, and where in them its support stands."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from intrinsics_core.bench.base import Case
from intrinsics_core.bench.datasets import CLAIMS, ClaimRow, joined
from intrinsics_core.bench.folder import DataFolder


@dataclass(frozen=True)
class Answered:
    """An answer to ``question`` over ``sources``; ``supported`` as a whole, and by sentence where that is known.

    ``sentences`` are (begin, end, supported) in the answer; ``gold`` the (source, begin, end) that the answer
    rests on, in alternatives, any one of which is enough.
    """

    answer: str
    sources: tuple[str, ...]
    supported: bool
    question: str = ""
    sentences: tuple[tuple[int, int, bool], ...] = ()
    gold: tuple[tuple[tuple[int, int, int], ...], ...] = field(default=())

    @property
    def messages(self) -> list[dict[str, str]]:
        asked = self.question or "What do the documents say?"
        return [{"role": "user", "content": asked}, {"role": "assistant", "content": self.answer}]


# What tables take of a set, where that is not all of it as it stands.
_TAKEN: Mapping[str, Callable[[ClaimRow], ClaimRow | None]] = {
    "wice": lambda claim: None if claim.part == "train_tokens" else claim,
    # Each sentence was retrieved alone.
    "fm2": lambda claim: replace(claim, documents=tuple(claim.documents[0]), gold=()),
    "expertqa": lambda claim: replace(claim, documents=tuple(d for d in claim.documents if len(d) > 80)),
}


def answered(name: str) -> Callable[[DataFolder], Iterator[Answered]]:
    """The reader of a set of claims: those that are labelled, with words on both sides."""

    def read(folder: DataFolder) -> Iterator[Answered]:
        take = _TAKEN.get(name, lambda claim: claim)
        for claim in map(take, CLAIMS[name].read(folder)):
            if claim and claim.documents and claim.supported is not None and claim.text.strip():
                found = _placed(claim, claim.supported)
                if any(source.strip() for source in found.sources):
                    yield found

    return read


def each_answer(
    case: Callable[[str, Answered], Case], fits: Callable[[Answered], bool] = lambda row: True
) -> Callable[[str], Callable[[DataFolder], Iterator[Case]]]:
    """From a set's name to the reader of its cases, as tables take it: one for each answer that fits.

    Args:
        case: makes the case of an answer; it is given the set's name.
        fits: whether an answer is a case at all.
    """
    return lambda name: lambda folder: (case(name, row) for row in answered(name)(folder) if fits(row))


def _placed(claim: ClaimRow, supported: bool) -> Answered:
    """The claim with offsets for indices of sentences."""
    texts, spans = zip(*(((d, []) if isinstance(d, str) else joined(d)) for d in claim.documents), strict=True)
    gold = tuple(tuple((0, *spans[0][i]) for i in alternative) for alternative in claim.gold)
    _, parts = joined([text for text, _ in claim.sentences])
    labelled = tuple((*span, yes) for span, (_, yes) in zip(parts, claim.sentences, strict=True))
    return Answered(claim.text, texts, supported, claim.question, labelled, gold)
