"""Whether an answer addresses its question, without a language model: the answer is judged as a passage would be.

The numbers are those of context relevance, whose question is the same: does this text hold what was asked for. They
were fitted on passages, not on answers. So it judges what a passage could be, and nothing else: sentences that claim
nothing (a refusal, a greeting) count for nothing, and of an answer in a few words ("1911.", "Yes.") the words do not
tell what it answers: there is no verdict then, and a reason. "Yes, there is." says no more than "Yes.".
On a question back ("For adults or for children?") there is none either.
"""

from __future__ import annotations

import re

from intrinsics_core.embedded.overrides import Overrides
from intrinsics_core.embedded.questions import asked_alone
from intrinsics_core.protocol.requests import Embed, Embedded, Program
from intrinsics_core.protocol.results import AnswerRelevance
from intrinsics_core.protocol.task import Task

_FEW = 3  # words with content, below which an answer does not say what it is about
_A_WORD = 2  # words of an answer that claims nothing, up to which it is no refusal either
_TOO_SHORT = "too short an answer to tell without a language model"
_ASKS_BACK = "the answer is a question back"
_HELP = re.compile(r"\b(?:help|assist|else|know)\b", re.IGNORECASE)


def answer_relevance(own: Overrides, task: Task) -> Program[AnswerRelevance]:
    from intrinsics_core.embedded.scoring.answering import context_relevance

    claimed = _claimed(task)
    if _too_short(task, claimed):
        return AnswerRelevance(label=None, score=None, reason=_TOO_SHORT)
    if not claimed and _asks_back(task):
        return AnswerRelevance(label=None, score=None, reason=_ASKS_BACK)
    if not claimed:
        return AnswerRelevance(label="irrelevant", score=0.0)
    question = yield from asked_alone(own, task)
    replies = yield [
        Embed(task.intrinsic, (question,), kind="query"),
        Embed(task.intrinsic, (claimed,), kind="passage"),
    ]
    (asked,), (answer,) = [reply.vectors for reply in replies if isinstance(reply, Embedded)]
    found = context_relevance(question, claimed, asked, answer)
    return AnswerRelevance(label=found.label, score=found.score)


def _claimed(task: Task) -> str:
    """The sentences of the answer that claim something."""
    from intrinsics_core.embedded.scoring.claims import makes_claim

    alone = len(task.response_sentences) == 1
    return " ".join(s.text for s in task.response_sentences if makes_claim(s.text, alone=alone))


def _asks_back(task: Task) -> bool:
    """Whether an answer only asks what is meant; "Can I help with anything else?" does not."""
    said = [sentence.text.rstrip() for sentence in task.response_sentences]
    return bool(said) and all(text.endswith("?") and not _HELP.search(text) for text in said)


def _too_short(task: Task, claimed: str) -> bool:
    from intrinsics_core.embedded.scoring.keys import claim
    from intrinsics_core.embedded.scoring.short_answers import is_bare

    if claimed:
        return len(claim(claimed).units) < _FEW
    return len(task.response.split()) <= _A_WORD or any(is_bare(s.text) for s in task.response_sentences)
