"""Query expansion: several queries for one information need, to be retrieved with side by side."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from intrinsics_core.intrinsics.calling import Documents, Messages, OnError, call
from intrinsics_core.intrinsics.table import register
from intrinsics_core.protocol.call import Call, merge
from intrinsics_core.protocol.errors import raised
from intrinsics_core.protocol.profile import Profile
from intrinsics_core.protocol.requests import Program
from intrinsics_core.protocol.results import ExpandedQuery, QueryExpansion
from intrinsics_core.protocol.task import Task


def _original(task: Task, why: str) -> QueryExpansion:
    return distinct([(task.query, "original")]).model_copy(update={"degraded": why})


@register(
    "query-expansion",
    result=QueryExpansion,
    ends_with=("user",),
    fallbacks={"fallback": _original},
    needs="a last user turn",
    gives="several queries for the same need",
)
def query_expansion(
    messages: Messages, documents: Documents = (), *, on_error: OnError = "raise", date: str | None = None
) -> Call[QueryExpansion]:
    """Expand the last user turn into several queries.

    With a language model: the original, the standalone rewrite, a rewrite in synonyms, a sampled answer, and the
    question that this answer would answer. Rewrite, synonyms and answer are asked for in one batch of
    requests. Without one: the original, the rewrite, a keyword form and, where ``documents`` holds first results,
    pseudo-relevance terms.

    Args:
        messages: a conversation that ends with a user turn.
        documents: first results of a retriever, where there are any.
        on_error: ``"fallback"`` gives the original query alone, marked as degraded.
        date: date text for prompts that carry one; the day of the call where left out.

    Returns:
        A call whose result has the queries, each with the strategy that made it; the original comes first.

    Raises:
        InvalidInput: if the input is invalid. It is raised by this function, not by `run`.

    Source: *A Library of LLM Intrinsics for RAG* (2025), query expansion.

    Example:

        >>> from intrinsics_core import query_expansion, run
        >>> question = [{"role": "user", "content": "Who built the lighthouse?"}]
        >>> [query.text for query in run(query_expansion(question)).queries]
        ['Who built the lighthouse?', 'built lighthouse']
    """
    return call("query-expansion", messages, documents, date=date, program=_program, on_error=on_error)


def _program(task: Task, profile: Profile) -> Program[QueryExpansion]:
    if task.intrinsic in profile:  # a profile that needs no stages
        expansion: QueryExpansion = yield from profile.ask(task.intrinsic, task)
        return expansion
    # One wave: the three parts do not depend on one another.
    parts = [profile.ask(name, task) for name in ("query-rewrite", "synonym-query", "sample-answer")]
    rewrite, synonym, answer = yield from together(parts)
    question = yield from profile.ask("reverse-question", task.then("assistant", answer))
    return distinct(
        [
            (task.query, "original"),
            (rewrite.query, "rewrite"),
            (synonym, "synonym"),
            (question, "reverse question"),
            (answer, "sampled answer"),
        ]
    )


def together(programs: list[Program[Any]]) -> Program[list[Any]]:
    """Run programs side by side; the first error is raised."""
    return list(map(raised, (yield from merge(programs, width=len(programs)))))


def distinct(queries: Iterable[tuple[str, str]]) -> QueryExpansion:
    """Queries in order, without blanks and without those that differ from an earlier one in case or space alone."""
    seen: dict[str, ExpandedQuery] = {}
    for text, strategy in queries:
        key = " ".join(text.casefold().split())
        if key and key not in seen:
            seen[key] = ExpandedQuery(text=text.strip(), strategy=strategy)
    return QueryExpansion(queries=tuple(seen.values()))
