"""MT-RAG: conversations, gold passages, recorded runs of real retrievers, and an index over its pool."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from intrinsics_core.bench.folder import DataFolder
from intrinsics_core.embedded.words import terms
from intrinsics_core.runtimes.extras import extra


@dataclass(frozen=True)
class RetrievalTurn:
    """A turn that needs retrieval: the conversation up to it, its gold passages, and recorded rewrites of it."""

    identity: str
    domain: str
    messages: tuple[Mapping[str, str], ...]
    gold: frozenset[str]
    rewrites: Mapping[str, str]
    standalone: bool


@dataclass(frozen=True)
class Run:
    """What a retriever found for a turn, best first: ids and scores."""

    turn: RetrievalTurn
    ids: tuple[str, ...]
    scores: tuple[float, ...]
    hit5: bool

    @property
    def messages(self) -> list[Mapping[str, str]]:
        return list(self.turn.messages)

    def documents(self, folder: DataFolder) -> list[dict[str, Any]]:
        texts = passages(folder)
        return [
            {"id": i, "text": texts[i], "score": s} for i, s in zip(self.ids, self.scores, strict=True) if i in texts
        ]


def passages(folder: DataFolder) -> dict[str, str]:
    """The pool's texts by id."""
    if "mtrag passages" not in folder.kept:
        folder.kept["mtrag passages"] = {row["id"]: row["text"] for row in folder.rows("mtrag_pool")}
    found: dict[str, str] = folder.kept["mtrag passages"]
    return found


def turns(folder: DataFolder) -> list[RetrievalTurn]:
    """The turns with gold passages, in the order of the file."""
    tasks = {row["id"]: row for row in folder.rows("mtrag_tasks")}
    found = []
    for row in folder.rows("mtrag_queries"):
        history = [{"role": t["role"], "content": t["content"]} for t in tasks[row["id"]]["history"]]
        found.append(
            RetrievalTurn(row["id"], row["domain"], (*history, {"role": "user", "content": row["last_turn"]}),
                 frozenset(row["qrels"]), {"Mixtral": row["rewrite_mixtral"]}, not history)
        )  # fmt: skip
    return found


def runs(folder: DataFolder, retriever: str) -> Iterator[Run]:
    """The recorded top ten of a retriever for the rewritten query of each turn."""
    known = {turn.identity: turn for turn in turns(folder)}
    for row in folder.rows("mtrag_runs"):
        if (row["retriever"], row["query"]) == (retriever, "rewrite") and row["id"] in known:
            yield Run(known[row["id"]], tuple(row["docs"]), tuple(row["scores"]), bool(row["hit5"]))


class Index:
    """BM25 (the ``bm25s`` library; Lucene's formula, k1 1.5, b .75) over the stems of the passages.

    Raises:
        RuntimeUnavailable: bm25s is not installed.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        with extra("eval", "this table needs bm25s"):
            import bm25s

        self.ids = list(texts)
        self._index = bm25s.BM25()
        self._index.index([terms(text) for text in texts.values()], show_progress=False)
        self._known = set(self._index.vocab_dict)

    def search(self, query: str, k: int) -> list[tuple[str, float]]:
        """(id, score) of the best, those with a score above 0."""
        wanted = [term for term in terms(query) if term in self._known]
        if not wanted:
            return []
        scores = np.asarray(self._index.get_scores(wanted))
        best = np.argsort(-scores, kind="stable")[:k]
        return [(self.ids[i], float(scores[i])) for i in best if scores[i] > 0]


def index(folder: DataFolder, domain: str) -> Index:
    """The index over one domain's passages, made once."""
    if "mtrag index" not in folder.kept:
        texts: dict[str, dict[str, str]] = defaultdict(dict)
        for row in folder.rows("mtrag_pool"):
            texts[row["domain"]][row["id"]] = row["text"]
        folder.kept["mtrag index"] = {"texts": texts}
    kept = folder.kept["mtrag index"]
    if domain not in kept:
        kept[domain] = Index(kept["texts"][domain])
    found: Index = kept[domain]
    return found


def recalls(found: Sequence[str], gold: frozenset[str], cuts: Sequence[int]) -> dict[str, float]:
    """``{"Recall@k": ...}``: the share of the gold passages among the first k."""
    return {f"Recall@{k}": len(gold & set(found[:k])) / len(gold) for k in cuts}
