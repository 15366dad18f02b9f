"""The last question of a conversation as it stands alone, and its rewrite and expansion.

Which of its `readings` a question has is told by a reader, a cross-encoder that scores a reading beside the
conversation (task ``meant`` of `requests.Score`): a small softmax weighs every reading, and leaving the question alone.
The question stays where no reading is likely enough. Without a reader it is the one that the rules are sure of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from intrinsics_core.calibration.logits import yes_logits
from intrinsics_core.calibration.probabilities import softmax
from intrinsics_core.embedded.heads import bounded, load_head
from intrinsics_core.embedded.overrides import Overrides
from intrinsics_core.embedded.rewrite.keywords import expand, rewrite
from intrinsics_core.embedded.rewrite.readings import is_framed, new_thing, readings
from intrinsics_core.embedded.rewrite.salience import LONGEST_TURN, dependence, heard
from intrinsics_core.embedded.short_answers import beginning, is_polar
from intrinsics_core.embedded.turns import (
    Turn,
    accepted_offer,
    as_one_turn,
    asked_before,
    is_answered_itself,
    is_left_as_it_is,
)
from intrinsics_core.embedded.words import terms
from intrinsics_core.protocol.requests import Program, Score
from intrinsics_core.protocol.results import ExpandedQuery, QueryExpansion, QueryRewrite
from intrinsics_core.protocol.task import Task

OPTIONS = ("left_alone", "own", "fragment", "meant", "early", "by_rules")
"""What an option is weighed by: leaving the question alone has the first three (1, the reader's logit of the question
itself, whether it is a fragment), a reading the others (its logit, 1 over its place among the readings, whether the
rules say the same)."""
SHOWN = 80
"""Words of the conversation that a reading is judged beside, its last ones."""
AS_SPOKEN = "as spoken"
"""The option of a task whose question was made to stand alone: the task as it was (`standing_alone`)."""


@dataclass(frozen=True)
class ChoiceOfReading:
    """A question and its readings, ready to be chosen from.

    Attributes:
        asked: the last turn as it stands, then each reading that a reader may choose.
        by_rules: what the rules choose among them.
        as_read: the conversation as a reader is shown it.
    """

    asked: tuple[str, ...]
    by_rules: str
    as_read: str = ""

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """What a reader is asked for *meant*, one logit for each of ``asked``; empty where there is no choice."""
        return tuple((self.as_read, text) for text in self.asked) if len(self.asked) > 1 else ()

    def options(self, logits: Sequence[float]) -> list[tuple[float, ...]]:
        """`OPTIONS` of leaving the question alone, and of each reading."""
        question, *others = self.asked
        own, *values = map(bounded, logits)
        pairs = enumerate(zip(others, values, strict=True), 1)
        rows = [(0.0, 0.0, 0.0, value, 1.0 / place, float(text == self.by_rules)) for place, (text, value) in pairs]
        return [(1.0, own, float(new_thing(question) != ""), 0.0, 0.0, 0.0), *rows]

    def taken(self, rows: Sequence[Sequence[float]], shares: Sequence[float], least: float) -> int:
        """Which of the options is taken, 0 for leaving the question alone.

        It is the likeliest reading, where it and those that say the same in one word less or more ("the mill", "the
        tide mill") have enough of the shares together. It is also taken where the rules say the same and the reader
        finds no other likelier, nor the question as it stands.
        """
        if len(shares) < 2:
            return 0
        best = max(range(1, len(shares)), key=shares.__getitem__)
        own, *added = (set(terms(text)) for text in self.asked)
        said = [words - own for words in added]
        top = said[best - 1]
        same = ((words <= top or words >= top) and len(words ^ top) <= 1 for words in said)
        alike = sum(share for is_same, share in zip(same, shares[1:], strict=True) if is_same)
        meant = [rows[0][OPTIONS.index("own")], *(row[OPTIONS.index("meant")] for row in rows[1:])]
        agreed = self.asked[best] == self.by_rules and meant[best] == max(meant)
        return best if agreed or alike >= max(least, shares[0]) else 0

    def meant(self, logits: Sequence[float]) -> str:
        """The reading that is meant, or the question itself where none is likely enough: by the softmax and the
        threshold of the head ``readings`` (`training.reader.readings`).
        """
        head = load_head("readings", OPTIONS)
        rows = self.options(logits)
        return self.asked[self.taken(rows, softmax([head.logit(row) for row in rows]), head.thresholds["taken"])]


def choice(conversation: Sequence[Turn]) -> ChoiceOfReading:
    """What there is to choose for the last turn, where it looks dependent enough or is a fragment.

    Args:
        conversation: ``(role, text)`` turns, oldest first, ending with the user's.

    Raises:
        ValueError: the conversation is empty or its last turn is not the user's.
    """
    turns = heard(conversation)
    last = turns[-1][1]
    if len(turns) < 2 or len(last) > LONGEST_TURN or is_left_as_it_is(turns):
        return ChoiceOfReading((last,), last)
    leans = dependence(turns) >= load_head("rewrite_dependence").thresholds["rewrite"]
    found = readings(turns) if leans or new_thing(last) else []
    sure = [each.text for each in found[:1] if each.is_sure and (leans or is_framed(last, each.text))]
    return ChoiceOfReading((last, *(each.text for each in found)), next(iter(sure), last), as_read(turns))


def as_read(conversation: Sequence[Turn], most: int = SHOWN) -> str:
    """The turns as one text, as the reader was trained on them: the last ``most`` words, " / " between turns."""
    *history, last = conversation
    turns = [*(turn for turn in history[-most:] if turn[0] in ("user", "assistant")), last]
    # A word is seldom longer than this; a long turn is not split whole for its last words.
    ends = [text[-40 * most :] for _, text in turns]
    return " ".join(" / ".join(ends).split()[-most:])


def question_by_rules(task: Task) -> str:
    """The question made to stand alone without a reader, "" without one."""
    turns = turns_of(task)
    return _choice(turns).by_rules if turns else ""


def turns_of(task: Task) -> tuple[Turn, ...]:
    """(role, text) up to the last user turn, which may be several messages in a row."""
    turns = [(m.role, m.content) for m in task.messages]
    while turns and turns[-1][0] != "user":
        turns.pop()
    return as_one_turn(turns) if len(turns) > 1 else tuple(turns)


def earlier_turns(task: Task) -> list[str]:
    """The turns before the last user turn, the newest first."""
    return [text for _, text in reversed(turns_of(task)[:-1])]


def turns_cut(task: Task) -> int:
    """Earlier turns of which a rewrite of the question reads the end alone, or nothing where the last is too long."""
    *earlier, last = turns_of(task) or (("user", ""),)
    whole = 0 if len(last[1]) > LONGEST_TURN else LONGEST_TURN
    return sum(role in ("user", "assistant") and len(text) > whole for role, text in earlier)


# One dialogue is looked at once, though context relevance and the fact check ask for it with every document.
@lru_cache(maxsize=32)
def _choice(turns: tuple[Turn, ...]) -> ChoiceOfReading:
    return choice(turns)


def _meant(own: Overrides, intrinsic: str, turns: tuple[Turn, ...]) -> Program[tuple[tuple[Turn, ...], str]]:
    """The turns, an accepted offer in place of its "Yes please", and the last question by the reading that is meant."""
    if offer := accepted_offer(turns):
        turns = (*turns[:-1], ("user", offer))
    asked = _choice(turns)
    if "meant" not in own.reads or not asked.pairs:
        return turns, asked.by_rules
    (scored,) = yield [Score(intrinsic, asked.pairs, "meant", own=True)]
    return turns, asked.meant(yes_logits([scored]))  # type: ignore[list-item]  # only replies are sent in


def asked_alone(own: Overrides, task: Task, *, back: bool = True) -> Program[str]:
    """The question as it stands alone, "" without one: neither encoder nor reader sees the history.

    ``back``: of a turn that is about the question before it ("Sorry?") it is that question.

    Without the keywords that a rewrite adds for retrieval: they draw the vector towards what was said before. (150
    MT-RAG tasks with a history, ELSER's top 5: answerability AUROC .64 with the plain question, .57 with keywords.)
    For ranking either will do: .478 against .471 nDCG on those tasks, .550 against .560 on others.
    """
    turns = turns_of(task)
    if len(turns) < 2:
        return turns[0][1] if turns else ""
    before = asked_before(turns) if back else None
    return (yield from _meant(own, task.intrinsic, turns if before is None else turns[: before + 1]))[1]


def standing_alone(own: Overrides, task: Task) -> Program[Task]:
    """The task with its question as it stands alone: what "it" is, an earlier turn may say. The option `AS_SPOKEN` is
    the task as it was, for what looks at the conversation itself.
    """
    turns = turns_of(task)
    question = (yield from _answered(own, task, turns)) if len(turns) > 1 else turns[0][1] if turns else ""
    if question == task.query:
        return task
    messages = list(task.messages)
    last = max(i for i, message in enumerate(messages) if message.role == "user")
    messages[last] = replace(messages[last], content=question)
    return replace(task, messages=tuple(messages), options={**task.options, AS_SPOKEN: task})


def _answered(own: Overrides, task: Task, turns: Sequence[Turn]) -> Program[str]:
    """The question that the answer of a task is an answer to.

    A yes behind "Are you sure?" or "Can you repeat that?" answers that turn, so the question before it is read as no
    question of yes or no.
    """
    said = asked_before(turns) is not None and is_answered_itself(turns)
    question = yield from asked_alone(own, task, back=not (said and beginning(task.response).is_bare))
    return question.replace("?", ".") if said and is_polar(question) else question


def query_rewrite(own: Overrides, task: Task) -> Program[QueryRewrite]:
    turns, meant = yield from _meant(own, task.intrinsic, turns_of(task))
    found = rewrite(turns, meant)
    return QueryRewrite(
        query=found.question,
        original=task.query,
        changed=found.question != task.query,
        retrieval_query=found.retrieval_query,
        terms=found.terms,
    )


def query_expansion(own: Overrides, task: Task) -> Program[QueryExpansion]:
    turns, meant = yield from _meant(own, task.intrinsic, turns_of(task))
    passages = [f"{document.title or ''}\n{document.text}" for document in task.documents]
    queries = expand(rewrite(turns, meant), turns, passages)
    return QueryExpansion(queries=tuple(ExpandedQuery(text=text, strategy=strategy) for text, strategy in queries))
