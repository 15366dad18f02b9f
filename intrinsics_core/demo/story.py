"""The shipped passages and the conversation about them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

from intrinsics_core.intrinsics import reranking
from intrinsics_core.protocol.errors import raised
from intrinsics_core.protocol.requests import Generate, Generated
from intrinsics_core.protocol.results import (
    Citations,
    ContextRelevance,
    FactCheck,
    HallucinationDetection,
    Judgement,
    RankedDocument,
    Ranking,
    Result,
    Uncertainty,
)
from intrinsics_core.protocol.task import Document, Message
from intrinsics_core.render.trace import Turn
from intrinsics_core.running.execution import run
from intrinsics_core.runtimes import Runtime
from intrinsics_core.text.layout import laid_out

# What every telling keeps to, so that the tellings can be compared.
RETRIEVED = 8  # passages that BM25 finds
KEPT = 4  # passages that an answer may rest on
QUOTED = 2  # sentences that the extractive answerer picks, at most
CHECKS = ("citations", "hallucination-detection", "uncertainty", "fact-check")


@dataclass(frozen=True)
class Question:
    """What the user asks; ``invented`` is a sentence that the story puts into the answer, to see it flagged."""

    ask: str
    remark: str = ""
    invented: str = ""


@dataclass(frozen=True)
class Story:
    """``refusal`` is the canned answer to what the passages do not answer."""

    title: str
    lead: str
    refusal: str
    questions: tuple[Question, ...]


def passages() -> list[Document]:
    """The corpus: short passages, each with an id and a title."""
    lines = files(__package__).joinpath("corpus.jsonl").read_text(encoding="utf-8").splitlines()
    return [Document(**json.loads(line)) for line in lines]


def story() -> Story:
    fields = json.loads(files(__package__).joinpath("story.json").read_text(encoding="utf-8"))
    return Story(**fields | {"questions": tuple(Question(**q) for q in fields["questions"])})


Said = Sequence[tuple[str, str]]
"""What was said so far: each question with its answer."""


def turns(questions: Sequence[Question], tell: Callable[[Question, Said], Turn]) -> Iterator[Turn]:
    """Ask the questions in one conversation; each turn as it ends, with the time that it took."""
    said: list[tuple[str, str]] = []
    for question in questions:
        started = time.perf_counter()
        turn = tell(question, said)
        yield replace(turn, seconds=time.perf_counter() - started)
        said.append((question.ask, turn.answer))


def answer_from(runtime: Runtime, question: str, documents: Sequence[Document]) -> str:
    """An answer from these passages: by the runtime's language model, or by quoting where it has none.

    What is quoted is the best sentence and the best other one of its passage, in the order of the passage.

    Raises:
        IntrinsicsError: the language model gave no answer.
    """
    if runtime.profile.name != "embedded":
        return _generated(runtime, question, documents)
    sentences = [(passage, span) for passage, d in enumerate(documents) for span in laid_out(d.text)]
    found = run(reranking([Message("user", question)], [span.text for _, span in sentences]), runtime)
    ranked = [sentences[row.index] for row in found.ranking]
    same = [span for passage, span in ranked if passage == ranked[0][0]][:QUOTED]
    return " ".join(span.text for span in sorted(same, key=lambda span: span.begin))


def _generated(runtime: Runtime, question: str, documents: Sequence[Document]) -> str:
    context = "\n\n".join(f"{d.title}\n{d.text}" if d.title else d.text for d in documents)
    messages = (
        Message("system", "Answer in one or two sentences, from these passages alone.\n\n" + context),
        Message("user", question),
    )
    (outcome,) = runtime.handle([Generate("answer", messages=messages, max_tokens=200)])
    reply = raised(outcome)
    if isinstance(reply, Generated):
        return reply.text.strip()
    raise TypeError(f"unexpected reply: {type(reply).__name__}")


Found = Sequence[tuple[str, Mapping[str, Any]]]
"""Ids of documents, each with the metadata that a framework keeps verdicts in."""


def rankings_of(retrieved: Sequence[str], reranked: Found, relevant: Found) -> dict[str, Any]:
    """A turn's ranking and judgements, by field, from the flat keys of a framework's metadata.

    Args:
        retrieved: ids in the retriever's order.
        reranked: all of them, in the order of the ranking.
        relevant: those that the filter kept.
    """
    judged = dict(relevant)
    ranking = (
        RankedDocument(
            document_id=identity,
            index=retrieved.index(identity),
            **{name: kept.get(f"reranking_{name}") for name in ("rank", "score", "wins")},
        )
        for identity, kept in reranked
    )
    judgements = (
        Judgement(
            document_id=identity,
            index=place,
            label=judged.get(identity, {}).get("context_relevance", "irrelevant"),
            score=judged.get(identity, {}).get("context_relevance_score"),
        )
        for place, (identity, _) in enumerate(reranked)
    )
    return {"ranking": Ranking(ranking=tuple(ranking)), "relevance": ContextRelevance(judgements=tuple(judgements))}


_VERDICTS: dict[str, tuple[str, type[Result]]] = {
    "citations": ("citations", Citations),
    "hallucination": ("hallucination-detection", HallucinationDetection),
    "certainty": ("uncertainty", Uncertainty),
    "fact_check": ("fact-check", FactCheck),
}


def verdicts_of(data: Mapping[str, Any]) -> dict[str, Any]:
    """A turn's verdicts on its answer, by field, from a framework's data by intrinsic; None where there is none."""
    given = {name.replace("_", "-"): value for name, value in data.items()}
    return {
        field: kind.model_validate(given[name]) if name in given else None for field, (name, kind) in _VERDICTS.items()
    }
