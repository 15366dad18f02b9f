"""The tools of the MCP server: how each is described to a model, what it gives, and what is asked with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from intrinsics_core import Call, answerability, audit, check_citations, citations, fact_check, query_rewrite, reranking
from intrinsics_core.protocol.results import (
    Answerability,
    Audit,
    CitationCheck,
    Citations,
    FactCheck,
    QueryRewrite,
    Ranking,
    Result,
)
from intrinsics_core.running.plain import exchange
from intrinsics_core.service import short_results


class GivenDocument(BaseModel):
    """A document."""

    text: str
    id: str | None = None
    title: str | None = None
    score: float | None = Field(None, strict=True, description="The retriever's own.")
    metadata: dict[str, Any] | None = Field(None, description="A title in it is read.")


class GivenTurn(BaseModel):
    """What somebody said."""

    role: Literal["user", "assistant"]
    content: str


class _Given(BaseModel):
    model_config = ConfigDict(extra="forbid")

    runtime: str | None = Field(None, description="Leave out, unless told to name one.")


def _documents() -> Any:
    return Field(description="The passages: texts, or objects with a text. Results name them by position, from 0.")


class AuditAnswer(_Given):
    """An answer, and what it should rest on."""

    answer: str = Field(description="The answer to check, whole.")
    documents: list[str | GivenDocument] = _documents()
    question: str | None = Field(None, description="The question that it answers.")


class IsAnswerable(_Given):
    """A question, and what was found for it."""

    question: str = Field(description="The question, standing alone.")
    documents: list[str | GivenDocument] = _documents()


class Rerank(_Given):
    """A query, and what to sort by it."""

    query: str = Field(description="What is looked for.")
    documents: list[str | GivenDocument] = _documents()
    top_n: int | None = Field(None, ge=1, description="How many to give; all where left out.")


class RewriteQuestion(_Given):
    """A question that leans on what was said before."""

    question: str = Field(description="The last question, as it was asked.")
    conversation: list[GivenTurn] = Field(description="The turns before it, oldest first.")


class Cite(AuditAnswer):
    """An answer, and what may be quoted for it."""

    answer: str = Field(description="The answer to cite for, whole.")


class CheckCitations(AuditAnswer):
    """An answer with citations, and what it cites."""

    answer: str = Field(description="The answer, whole, with its marks such as [1] and its quotes.")


class CheckFacts(_Given):
    """A claim made in answer to a question, and the sources to check it by."""

    question: str = Field(description="The question that is answered.")
    answer: str = Field(description="The answer, or the claim, to check.")
    sources: list[str | GivenDocument] = _documents()


@dataclass(frozen=True)
class Tool:
    """A tool of the server.

    Attributes:
        name: how a model calls it.
        description: for a model: when to call it, and what it gets.
        given: the type of its arguments.
        result: the type of its structured result.
        call: what is asked.
        tell: the result in words.
    """

    name: str
    description: str
    given: type[_Given]
    result: type[Result]
    call: Callable[[Any], Call[Any]]
    tell: Callable[[Any, Any], str]


def _texts(documents: list[str | GivenDocument]) -> list[str]:
    return [one if isinstance(one, str) else one.text for one in documents]


def _shown(documents: list[str | GivenDocument]) -> list[Any]:
    return [one if isinstance(one, str) else one.model_dump(exclude_unset=True) for one in documents]


def _first(found: Ranking, given: Rerank) -> Ranking:
    return found.model_copy(update={"ranking": found.ranking[: given.top_n]})


TOOLS: tuple[Tool, ...] = (
    Tool(
        "audit_answer",
        "Check an answer before you give it: which of its sentences the documents support, which not, and where. "
        "Call it on any answer that was written from retrieved documents.",
        AuditAnswer,
        Audit,
        lambda a: audit(exchange(a.answer, a.question), _shown(a.documents)),
        lambda found, a: short_results.audit(found),
    ),
    Tool(
        "is_answerable",
        "Whether documents answer a question at all. Call it after a search, before you answer; if not, search again.",
        IsAnswerable,
        Answerability,
        lambda a: answerability([{"role": "user", "content": a.question}], _shown(a.documents)),
        lambda found, a: short_results.answerability(found),
    ),
    Tool(
        "rerank",
        "Sort documents by how well they answer a query, best first, with a probability each. "
        "Call it when a search gave more than you can read.",
        Rerank,
        Ranking,
        lambda a: reranking([{"role": "user", "content": a.query}], _shown(a.documents)),
        lambda found, a: short_results.ranking(_first(found, a), _texts(a.documents)),
    ),
    Tool(
        "rewrite_question",
        "Turn a question that leans on its conversation ('and when was it built?') into one that stands alone. "
        "Call it before you search with a follow-up question.",
        RewriteQuestion,
        QueryRewrite,
        lambda a: query_rewrite(
            [*(turn.model_dump() for turn in a.conversation), {"role": "user", "content": a.question}]
        ),
        lambda found, a: short_results.rewrite(found),
    ),
    Tool(
        "cite",
        "Find for each sentence of an answer the exact places in the documents that it rests on. "
        "Call it to add citations to an answer.",
        Cite,
        Citations,
        lambda a: citations(exchange(a.answer, a.question), _shown(a.documents)),
        lambda found, a: short_results.citations(found),
    ),
    Tool(
        "check_citations",
        "Whether the citations in an answer hold: each mark, such as [1], and each quote. Tells which are made up, and "
        "which stand in another document. Call it on an answer that cites documents, before you give it.",
        CheckCitations,
        CitationCheck,
        lambda a: check_citations(exchange(a.answer, a.question), _shown(a.documents)),
        lambda found, a: short_results.checked(found),
    ),
    Tool(
        "check_facts",
        "How far sources support an answer to a question, claim by claim, from 0 to 1. "
        "Call it to check a statement against sources that were not written for it.",
        CheckFacts,
        FactCheck,
        lambda a: fact_check(exchange(a.answer, a.question), _shown(a.sources)),
        lambda found, a: short_results.facts(found),
    ),
)


def structured(tool: Tool, found: Result, given: Any) -> dict[str, Any]:
    """The result as the JSON object that goes with the text."""
    shown = _first(found, given) if isinstance(found, Ranking) else found
    return shown.model_dump(mode="json")
