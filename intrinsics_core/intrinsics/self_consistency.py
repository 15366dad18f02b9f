"""Self-consistency: several answers are drawn, and the one that most of them agree with is taken.

Answers that are the same but for case, space and marks around them agree. Where that leaves several, the model is asked
once which say the same: votes are over meanings, not spellings.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from intrinsics_core.intrinsics import _costs
from intrinsics_core.intrinsics.calling import Documents, Messages, OnError, call, wrong
from intrinsics_core.intrinsics.table import register
from intrinsics_core.protocol.call import Call
from intrinsics_core.protocol.errors import IntrinsicsError
from intrinsics_core.protocol.profile import Profile
from intrinsics_core.protocol.requests import Program
from intrinsics_core.protocol.results import Sample, SelfConsistency
from intrinsics_core.protocol.task import Task

SAMPLES = 5
MOST = 100  # answers that one list shows a model

_IN_FRONT = " !?。！？"
_BEHIND = f"{_IN_FRONT}."  # a stop in front is kept: ".5" is not "5"
_PAIRS = frozenset(('""', "''", "``", "**", "“”", "‘’", "„“", "«»"))  # one alone may say something: 5' are not 5"
# The case of a word counts where it may be a unit behind a number: 5 Mb are not 5 MB.
_CASED = re.compile(r"(?P<unit>(?<=\d)\s?[^\W\d_]{1,4}(?![^\W_]))|[^\W\d_]+")


@register(
    "self-consistency",
    result=SelfConsistency,
    ends_with=("user",),
    fallbacks={"fallback": lambda task, why: SelfConsistency(answer=None, share=None, samples=(), degraded=why)},
    needs_model=True,
    needs="a last user turn",
    gives="the answer that most samples give, and the share of samples that give it",
)
def self_consistency(
    messages: Messages,
    documents: Documents = (),
    *,
    samples: int = SAMPLES,
    on_error: OnError = "raise",
    date: str | None = None,
) -> Call[SelfConsistency]:
    """Answer the last user turn several times, and vote. The share of the winner is a measure of certainty.

    Args:
        messages: a conversation that ends with a user turn.
        documents: what the answers should rest on, if anything.
        samples: answers to draw, from 1 to 100, in one batch of requests; if they differ, one more request.
        on_error: ``"fallback"`` gives no answer, marked as degraded. Samples that fail beside others that come are left
            out in any case, and ``missing`` and ``degraded`` say how many.
        date: date text for prompts that carry one; the day of the call where left out.

    Returns:
        A call whose ``answer`` is the first sample of the largest group (of the first such group), ``share`` the part
        of the samples in it, and ``samples`` all that came, in the order drawn.

    Raises:
        InvalidInput: if the input is invalid. It is raised by this function, not by `run`.
        UnsupportedIntrinsic: when run, where the profile has no language model.

    Source: Wang et al., *Self-Consistency Improves Chain of Thought Reasoning*, ICLR 2023; for free text, a model says
    which answers agree, after Chen et al., *Universal Self-Consistency* (2023).

    Example:

        >>> from intrinsics_core import run, self_consistency
        >>> from intrinsics_core.runtimes.scripted import Scripted  # a real program passes a server or chat model here
        >>> question = [{"role": "user", "content": "Who built the lighthouse?"}]
        >>> replies = [{"reasoning": "", "answer": text} for text in ("In 1911.", "in 1911", "In 1911.")]
        >>> found = run(self_consistency(question, samples=3), Scripted(replies))
        >>> found.answer, found.share
        ('In 1911.', 1.0)
    """
    if isinstance(samples, bool) or not isinstance(samples, int) or not 1 <= samples <= MOST:
        raise wrong("self-consistency", "samples is out of range", f"a whole number from 1 to {MOST}", samples)
    return call("self-consistency", messages, documents, date=date, program=partial(_program, samples=samples),
                on_error=on_error)  # fmt: skip


def _program(task: Task, profile: Profile, *, samples: int) -> Program[SelfConsistency]:
    asked = [replace(task, options={**task.options, "seed": seed}) for seed in range(samples)]
    drawn: list[str | IntrinsicsError] = yield from profile.ask_many("candidate", asked)
    failures = _costs.checked(drawn)
    texts = [text for text in drawn if isinstance(text, str)]
    groups = _same_words(texts)
    if len(groups) > 1:
        leaders = tuple(texts[group[0]] for group in groups)
        meant: Sequence[Sequence[int]] = yield from profile.ask(
            "agreement", replace(task, options={**task.options, "answers": leaders})
        )
        groups = [sorted(number for leader in group for number in groups[leader]) for group in meant]
    largest = max(groups, key=lambda group: (len(group), -group[0]))
    return SelfConsistency(
        answer=texts[largest[0]],
        share=len(largest) / len(texts),
        missing=len(failures),
        samples=tuple(Sample(text=text, agrees=number in largest) for number, text in enumerate(texts)),
        degraded=_costs.failure_note(failures, samples, "samples failed"),
    )


def _same_words(texts: Sequence[str]) -> list[list[int]]:
    """Numbers of texts that differ in case, space and the marks around them alone."""
    groups: dict[Any, list[int]] = {}
    for number, text in enumerate(texts):
        plain = " ".join(unicodedata.normalize("NFKC", text).split())
        plain = _CASED.sub(lambda word: word["unit"] or word[0].casefold(), plain)
        groups.setdefault(_without_marks(plain) or plain, []).append(number)
    return list(groups.values())


def _without_marks(text: str) -> str:
    """The text without the stops at its ends, and without the marks that it is in."""
    begin, end = 0, len(text)
    while begin < end:
        if text[end - 1] in _BEHIND:
            end -= 1
        elif text[begin] in _IN_FRONT:
            begin += 1
        elif end - begin > 1 and text[begin] + text[end - 1] in _PAIRS:
            begin, end = begin + 1, end - 1
        else:
            break
    return text[begin:end]
