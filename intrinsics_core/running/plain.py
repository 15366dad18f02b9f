"""One line on plain text: the calls of `audit` and `reranking`, with messages made for them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from intrinsics_core.intrinsics import audit, reranking
from intrinsics_core.protocol.results import Audit, Ranking
from intrinsics_core.protocol.task import DocumentLike
from intrinsics_core.running.execution import RuntimeLike, run


def exchange(answer: str, question: str | None = None) -> list[dict[str, str]]:
    """The messages of an answer, with the question where there is one."""
    asked = [] if question is None else [{"role": "user", "content": question}]
    return [*asked, {"role": "assistant", "content": answer}]


def check(
    answer: str, documents: Iterable[DocumentLike], *, question: str | None = None, runtime: RuntimeLike = None
) -> Audit:
    """All verdicts on an answer: :func:`intrinsics_core.audit` on plain text.

    Args:
        answer: the answer to check.
        documents: texts, or documents with ids and titles.
        question: what it answers. Without it, answerability and answer relevance are not judged.
        runtime: as :func:`intrinsics_core.run` takes it.

    Returns:
        The result of the audit.

    Raises:
        IntrinsicsError: the input is invalid, or nothing could be judged.

    Example:

        >>> from intrinsics_core import check
        >>> check("It was built in 1911.", ["The mill was built in 1911."], question="When was the mill built?").label
        'faithful'
    """
    return run(audit(exchange(answer, question), documents), runtime)


def rank(query: str, documents: Sequence[DocumentLike], *, runtime: RuntimeLike = None) -> Ranking:
    """Documents by how well they answer a query: :func:`intrinsics_core.reranking` on plain text.

    Args:
        query: what is looked for.
        documents: texts, or documents with ids and titles.
        runtime: as :func:`intrinsics_core.run` takes it.

    Returns:
        The ranking, best first; ``index`` of a row is the document's position among those given.

    Raises:
        IntrinsicsError: the input is invalid, or nothing could be ranked.

    Example:

        >>> from intrinsics_core import rank
        >>> [row.index for row in rank("Who built the mill?", ["Fog is common.", "Ada built the mill."]).ranking]
        [1, 0]
    """
    return run(reranking([{"role": "user", "content": query}], documents), runtime)
