"""Answerability: F1 per class, weighted, AUROC; with one passage, and with what real retrievers found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from intrinsics_core.bench import mtrag, own
from intrinsics_core.bench.base import Case, Said, Table, by_half, judged_case
from intrinsics_core.bench.datasets import QUESTIONS, whole
from intrinsics_core.bench.folder import DataFolder
from intrinsics_core.bench.measures import auroc, f1, weighted_f1
from intrinsics_core.bench.plain import best_coverage
from intrinsics_core.intrinsics import answerability
from intrinsics_core.protocol.results import Answerability


def case(name: str, messages: Sequence[Any], documents: Sequence[Any], truth: bool) -> Case:
    """A question, what was found for it, and whether that answers it."""

    def read(result: Answerability) -> Said:
        return result.answerable, result.probability

    def covered() -> Said:
        return by_half(best_coverage(messages[-1]["content"], own.texts_of(documents)))

    plain = {"always answerable": lambda: (True, None), "word coverage": covered}
    return judged_case(name, lambda: answerability(messages, documents), ("question", truth), read, plain)


def asked(question: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": question}]


def asked_of(name: str, *, titled: bool = False) -> Callable[[DataFolder], Iterator[Case]]:
    """A set of questions, each with its one passage; ``titled``: under its title."""

    def read(folder: DataFolder) -> Iterator[Case]:
        for row in QUESTIONS[name](folder):
            text = whole(row.documents[0])
            document = {"text": text, "title": row.title} if titled else text
            yield case(name, asked(row.text), [document], row.answerable)

    return read


def retrieved(retriever: str) -> Callable[[DataFolder], Iterator[Case]]:
    """A conversation with a retriever's top five: is a gold passage among them?"""

    def read(folder: DataFolder) -> Iterator[Case]:
        for found in mtrag.runs(folder, retriever):
            documents = found.documents(folder)[:5]
            if documents:
                yield case(f"mtrag-{retriever}", found.messages, documents, found.hit5)

    return read


def mine(row: Mapping[str, Any]) -> Case:
    truth = own.truth(row, "answerability")
    return case("own", own.conversation(row, answered=False), own.documents(row), truth)


TABLE = Table(
    "answerability",
    {
        "everyday": asked_of("everyday"),
        "squad2": asked_of("squad2"),
        "clapnq": asked_of("clapnq", titled=True),
        "cast": asked_of("cast"),
        "mtrag-elser": retrieved("elser"),
        "mtrag-bm25": retrieved("bm25"),
    },
    {
        "question": {
            "F1 answerable": f1(True),
            "F1 unanswerable": f1(False),
            "weighted F1": weighted_f1,
            "AUROC": auroc,
        }
    },
    own=mine,
    columns={"question or messages": "the conversation", "documents": "texts", "label": "answerable or unanswerable"},
)
