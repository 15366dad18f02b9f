"""Answer relevance: does the answer address the question, be it true or not; and one that does."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from intrinsics_core.intrinsics.calling import Documents, Messages, OnError, call, with_question
from intrinsics_core.intrinsics.table import register, without_verdict
from intrinsics_core.protocol.call import Call
from intrinsics_core.protocol.errors import IntrinsicsError, InvalidInput
from intrinsics_core.protocol.profile import Profile
from intrinsics_core.protocol.requests import Program
from intrinsics_core.protocol.results import AnswerRelevance
from intrinsics_core.protocol.task import Task


@register(
    "answer-relevance",
    result=AnswerRelevance,
    ends_with=("assistant",),
    score=lambda result: result.score,
    judges="the answer addresses the question",
    needs="question, answer",
    gives="whether the answer addresses the question, and one that does",
    **without_verdict(lambda task: AnswerRelevance(label=None, score=None)),
)
def answer_relevance(
    messages: Messages,
    documents: Documents = (),
    *,
    rewrite: bool = True,
    on_error: OnError = "raise",
    date: str | None = None,
) -> Call[AnswerRelevance]:
    """Judge whether the last assistant turn addresses the last user turn before it.

    Args:
        messages: ends with an assistant turn, the answer, after a user turn, the question.
        documents: what a rewritten answer may say, if anything; the verdict is about the question.
        rewrite: ask for a better answer where this one is not relevant: a second request, in those cases alone. Only a
            language model writes one, and Granite 3.3's rewriter only where there are documents to write it from.
        on_error: ``"fallback"`` gives no verdict, marked as degraded; where only the rewrite failed the verdict stays.
        date: date text for prompts that carry one; the day of the call where left out.

    Returns:
        A call whose result has a label, the probability that goes with it, and a rewritten answer or None. Granite
        3.3's classifier says *relevant* or *irrelevant* alone, and why: ``category`` and ``analysis``.

    Raises:
        InvalidInput: if the input is invalid. It is raised by this function, not by `run`.

    Source: the answer-relevance classifier and rewriter of IBM's granite-io.

    Example:

        >>> from intrinsics_core import answer_relevance, run
        >>> question = [{"role": "user", "content": "Who built the lighthouse?"}]
        >>> answer = [*question, {"role": "assistant", "content": "Ada Brink built the lighthouse in 1911."}]
        >>> run(answer_relevance(answer)).label
        'relevant'
    """
    program = partial(_program, rewrite=rewrite, keep=on_error == "fallback")
    made = call("answer-relevance", messages, documents, date=date, program=program, on_error=on_error)
    return with_question(made, made.task.query.strip())


def _program(task: Task, profile: Profile, *, rewrite: bool, keep: bool) -> Program[AnswerRelevance]:
    judged: AnswerRelevance = yield from profile.ask(task.intrinsic, task)
    if not rewrite or judged.label == "relevant" or "answer-rewrite" not in profile:
        return judged
    why = {"category": judged.category or "", "analysis": judged.analysis or ""} if judged.category else {}
    try:
        text = yield from profile.ask("answer-rewrite", replace(task, options={**task.options, **why}))
    except IntrinsicsError as error:
        if not keep or isinstance(error, InvalidInput):
            raise
        return judged.model_copy(update={"degraded": f"no rewrite: {type(error).__name__}: {error.message}"})
    return judged.model_copy(update={"rewrite": text})
