"""HyDE: a made-up passage that answers the question, to be embedded in its place."""

from __future__ import annotations

from functools import partial

from intrinsics_core.intrinsics.calling import Documents, Messages, OnError, call
from intrinsics_core.intrinsics.table import register
from intrinsics_core.protocol.call import Call
from intrinsics_core.protocol.errors import UnsupportedIntrinsic
from intrinsics_core.protocol.profile import Profile
from intrinsics_core.protocol.requests import Program
from intrinsics_core.protocol.results import HypotheticalPassage
from intrinsics_core.protocol.task import Task


def _query(task: Task, why: str) -> HypotheticalPassage:
    return HypotheticalPassage(passage=task.query, degraded=why)


@register(
    "hyde",
    result=HypotheticalPassage,
    ends_with=("user",),
    fallbacks={"fallback": _query},
    needs_model=True,
    needs="a last user turn",
    gives="a made-up passage to search with",
)
def hyde(
    messages: Messages, documents: Documents = (), *, on_error: OnError = "raise", date: str | None = None
) -> Call[HypotheticalPassage]:
    """Write a passage that would answer the last user turn. Passages are nearer to it than a question is.

    Args:
        messages: a conversation that ends with a user turn.
        documents: ignored.
        on_error: ``"fallback"`` gives the question itself, marked as degraded, also where the profile has no language
            model to write one.
        date: date text for prompts that carry one; the day of the call where left out.

    Returns:
        A call whose result's ``passage`` is the passage to search with.

    Raises:
        InvalidInput: if the input is invalid. It is raised by this function, not by `run`.
        UnsupportedIntrinsic: when run, where the profile has no language model.

    Source: Gao et al., *Precise Zero-Shot Dense Retrieval without Relevance Labels*, ACL 2023.

    Example:

        >>> from intrinsics_core import hyde, run
        >>> from intrinsics_core.runtimes.scripted import Scripted  # a real program passes a server or chat model here
        >>> question = [{"role": "user", "content": "Who built the lighthouse?"}]
        >>> run(hyde(question), Scripted([{"passage": "Ada Brink built it."}])).passage
        'Ada Brink built it.'
    """
    program = partial(_program, keep=on_error == "fallback")
    return call("hyde", messages, documents, date=date, program=program, on_error=on_error)


def _program(task: Task, profile: Profile, *, keep: bool) -> Program[HypotheticalPassage]:
    try:
        passage: HypotheticalPassage = yield from profile.ask(task.intrinsic, task)
    except UnsupportedIntrinsic as error:
        if not keep:
            raise
        # Not the caller's mistake here: the question is what one searches with anyway.
        return _query(task, f"{type(error).__name__}: {error.message}")
    return passage
