"""Whole flows: none, QR, AD, QR+AD around BM25 on MT-RAG; joint answerability and faithfulness (JAFS), and the cost.

JAFS of a turn: 1 if the flow abstains and no gold passage was among its five; the answer's faithfulness if it answers
and one was; else 0. The answer is the runtime's own model's where its profile can answer, else the annotator's recorded
one: then the rows compare gates and retrieval, not generators. Faithfulness is judged by the runtime that is measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from intrinsics_core.bench import mtrag
from intrinsics_core.bench.base import Case, Observed, Table
from intrinsics_core.bench.folder import DataFolder
from intrinsics_core.protocol.call import Call, through
from intrinsics_core.protocol.profile import Profile
from intrinsics_core.protocol.requests import Answer, Generated, Outcome, Program, Request, Retrieve, Retrieved
from intrinsics_core.protocol.task import Document, Task
from intrinsics_core.running.flows import RagResult, rag

FLOWS = {"none": (False, False), "QR": (True, False), "AD": (False, True), "QR+AD": (True, True)}
DEPTH = 5


def case(name: str, folder: DataFolder, turn: mtrag.RetrievalTurn, reference: str) -> Case:
    rewrite, gate = FLOWS[name]

    def search(query: str) -> tuple[Document, ...]:
        texts = mtrag.passages(folder)
        return tuple(
            Document(texts[i], id=i, score=s) for i, s in mtrag.index(folder, turn.domain).search(query, DEPTH)
        )

    def call() -> Call[RagResult]:
        made = rag(turn.messages, rewrite=rewrite, gate=gate, cite=False)
        own = rag(turn.messages, rewrite=rewrite, gate=gate, cite=False, answer="model")
        return replace(made, program=partial(_served, made, own, search, reference))

    def observe(result: RagResult) -> Observed:
        found = [document.id for document in result.documents]
        hit = bool(turn.gold & set(found))
        values = {"Recall@5": len(turn.gold & set(found)) / len(turn.gold), "answered": float(result.answered)}
        score = result.hallucination.score if result.hallucination else None
        if result.answered:
            values["faithfulness"] = score or 0.0
        values["JAFS"] = (score or 0.0) if result.answered and hit else float(not result.answered and not hit)
        return Observed(values)

    return Case(name, call, observe)


def _served(
    given: Call[RagResult], own: Call[RagResult], search: Callable[[str], tuple[Document, ...]], reference: str,
    task: Task, profile: Profile,
) -> Program[RagResult]:  # fmt: skip
    """The flow with its retriever, and its answers where the model gives none, at hand: the rest is asked as ever."""
    chosen = own if "answer" in profile.serving("rag").formats else given

    def at_hand(request: Request) -> Outcome | None:
        if isinstance(request, Retrieve):
            return Retrieved(search(request.query))
        return Generated(reference) if isinstance(request, Answer) else None

    def ask(requests: Sequence[Request]) -> Program[Sequence[Outcome]]:
        known = [at_hand(request) for request in requests]
        asked = iter((yield [r for r, outcome in zip(requests, known, strict=True) if outcome is None]))
        return [next(asked) if outcome is None else outcome for outcome in known]

    return through(chosen.program(task, profile), ask)


def cases(name: str) -> Callable[[DataFolder], Iterator[Case]]:
    def read(folder: DataFolder) -> Iterator[Case]:
        answers = {row["id"]: row["answer"] for row in folder.rows("mtrag_tasks")}
        return (case(name, folder, turn, answers[turn.identity]) for turn in mtrag.turns(folder))

    return read


TABLE = Table("flows", {name: cases(name) for name in FLOWS})
