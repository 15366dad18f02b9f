"""Context relevance: precision of *relevant*, recall of *irrelevant*, AUROC, one passage a case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from intrinsics_core.bench import mtrag, own
from intrinsics_core.bench.base import Case, Said, Table, by_half, judged_case
from intrinsics_core.bench.datasets import QUESTIONS, whole
from intrinsics_core.bench.folder import DataFolder
from intrinsics_core.bench.measures import auroc, precision, recall, weighted_f1
from intrinsics_core.bench.plain import coverage
from intrinsics_core.intrinsics import context_relevance
from intrinsics_core.protocol.results import ContextRelevance


def case(name: str, messages: Sequence[Any], document: Any, truth: bool) -> Case:
    def read(result: ContextRelevance) -> Said:
        (judgement,) = result.judgements
        return judgement.label != "irrelevant", judgement.score

    def covered() -> Said:
        return by_half(coverage(messages[-1]["content"], own.texts_of([document])))

    plain = {"always relevant": lambda: (True, None), "word coverage": covered}
    return judged_case(name, lambda: context_relevance(messages, [document]), ("passage", truth), read, plain)


def votes(folder: DataFolder) -> Iterator[Case]:
    """What MT-RAG's annotators said of the passages that they saw."""
    texts = mtrag.passages(folder)
    for row in folder.rows("mtrag_tasks"):
        messages = [*row["history"], {"role": "user", "content": row["question"]}]
        messages = [{"role": m["role"], "content": m["content"]} for m in messages]
        for context in row["contexts"]:
            if context["relevant"] is not None and context["id"] in texts:
                yield case("mtrag", messages, texts[context["id"]], bool(context["relevant"]))


def cast(folder: DataFolder) -> Iterator[Case]:
    for row in QUESTIONS["cast"](folder):
        yield case("cast", [{"role": "user", "content": row.text}], whole(row.documents[0]), (row.grade or 0) > 0)


def mine(row: Mapping[str, Any]) -> Case:
    truth = own.truth(row, "context-relevance")
    return case("own", own.conversation(row, answered=False), own.documents(row)[0], truth)


TABLE = Table(
    "context-relevance",
    {"mtrag": votes, "cast": cast},
    {
        "passage": {
            "precision of relevant": precision(True),
            "recall of irrelevant": recall(False),
            "weighted F1": weighted_f1,
            "AUROC": auroc,
        }
    },
    own=mine,
    columns={"question or messages": "the conversation", "documents": "one text", "label": "relevant or irrelevant"},
)
