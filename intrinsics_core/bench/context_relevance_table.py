"""Context relevance: precision of *relevant*, recall of *irrelevant*, AUROC, one passage a case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from intrinsics_core.bench import mtrag, own
from intrinsics_core.bench.base import Case, Observed, Table
from intrinsics_core.bench.datasets import QUESTIONS, whole
from intrinsics_core.bench.folder import DataFolder
from intrinsics_core.bench.measures import auroc, precision, recall, weighted_f1
from intrinsics_core.bench.plain import coverage
from intrinsics_core.intrinsics import context_relevance
from intrinsics_core.protocol.results import ContextRelevance


def case(name: str, messages: Sequence[Any], document: Any, truth: bool) -> Case:
    text = document if isinstance(document, str) else document["text"]

    def observe(result: ContextRelevance) -> Observed:
        (judgement,) = result.judgements
        return seen(judgement.label != "irrelevant", judgement.score)

    def seen(label: bool, score: float | None) -> Observed:
        return Observed(labelled={"passage": [(truth, label, score)]})

    def covered() -> Observed:
        share = coverage(messages[-1]["content"], [text])
        return seen(share >= 0.5, share)

    baselines = {"always relevant": lambda: seen(True, None), "word coverage": covered}
    return Case(name, lambda: context_relevance(messages, [document]), observe, baselines)


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
