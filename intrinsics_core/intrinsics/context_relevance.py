"""Context relevance: one judgement per document."""

from __future__ import annotations

from functools import partial

from intrinsics_core.intrinsics.calling import Documents, Messages, OnError, call
from intrinsics_core.intrinsics.table import register
from intrinsics_core.protocol.call import Call
from intrinsics_core.protocol.errors import IntrinsicsError, InvalidInput
from intrinsics_core.protocol.profile import Profile
from intrinsics_core.protocol.requests import Program
from intrinsics_core.protocol.results import ContextRelevance, Judgement
from intrinsics_core.protocol.task import Task


@register(
    "context-relevance",
    result=ContextRelevance,
    ends_with=("user",),
    needs_documents=True,
    of_each=True,
    empty=lambda task, why: ContextRelevance(judgements=(), reason=why),
    score=lambda result: result.judgements[0].score,
    judges="the document, one an example, helps to answer",
    needs="question, documents",
    gives="relevant, partially relevant or irrelevant, per document",
)
def context_relevance(
    messages: Messages, documents: Documents, *, on_error: OnError = "raise", date: str | None = None
) -> Call[ContextRelevance]:
    """Judge for each document whether it helps to answer the last user turn. All are judged in one batch of requests.

    Args:
        messages: a conversation that ends with a user turn.
        documents: any number; none has no judgements.
        on_error: ``"fallback"`` keeps a document whose judgement failed: it counts as relevant, without a score, and
            the result is marked as degraded. The other judgements stand. So a document without a verdict is never
            dropped and never called irrelevant, and ``missing`` counts it.
        date: date text for prompts that carry one; the day of the call where left out.

    Returns:
        A call whose result has one judgement for each document, in the order given: a label (``"relevant"``,
        ``"partially relevant"`` or ``"irrelevant"``) and a score in 0 to 1.

    Raises:
        InvalidInput: if the input is invalid. It is raised by this function, not by `run`.

    Source: *A Library of LLM Intrinsics for RAG* (2025), context relevance.

    Example:

        >>> from intrinsics_core import context_relevance, run
        >>> question = [{"role": "user", "content": "Who built the lighthouse?"}]
        >>> documents = ["Ada Brink built the lighthouse in 1911.", "Fog is common in May."]
        >>> [judgement.label for judgement in run(context_relevance(question, documents)).judgements]
        ['relevant', 'irrelevant']
    """
    return call("context-relevance", messages, documents, date=date,
                program=partial(_program, keep=on_error == "fallback"), on_error=on_error)  # fmt: skip


def _program(task: Task, profile: Profile, *, keep: bool) -> Program[ContextRelevance]:
    judgements, failures, notes = [], [], []
    for i, verdict in enumerate((yield from profile.ask_each(task.intrinsic, task))):
        if isinstance(verdict, IntrinsicsError):
            if not keep or isinstance(verdict, InvalidInput):
                raise verdict
            why = _short(f"{type(verdict).__name__}: {verdict}")
            failures.append(f"document {task.document_id(i)!r} kept: {why}")
            verdict = Judgement(index=i, document_id=task.document_id(i), label="relevant", score=None, failure=why)
        elif verdict.failure:
            notes.append(f"document {task.document_id(i)!r}: {_short(verdict.failure)}")
        judgements.append(verdict if verdict.index == i else verdict.model_copy(update={"index": i}))
    told = "; ".join(filter(None, (*failures, *notes, profile.note_of(task.intrinsic, task))))
    return ContextRelevance(judgements=tuple(judgements), degraded=told or None, missing=len(failures))


def _short(text: str, most: int = 200) -> str:
    """An error may carry a whole reply, and a list of documents has many."""
    return text if len(text) <= most else text[: most - 1] + "…"
