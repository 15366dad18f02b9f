"""Which reading of a question is meant: by rules, or by rules and a reader together.

A reader is a cross-encoder that scores a reading beside the conversation (task ``meant`` of `requests.Score`). Rules
alone take the reading that they are sure of (`readings`), where the question looks dependent enough (`salience`). Where
there is a reader, a small softmax weighs every reading, and leaving the question alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from intrinsics_core.calibration.probabilities import softmax
from intrinsics_core.embedded.heads import bounded, load_head
from intrinsics_core.embedded.rewrite.fragments import is_framed, new_thing
from intrinsics_core.embedded.rewrite.readings import readings
from intrinsics_core.embedded.rewrite.salience import LONGEST_TURN, dependence, heard
from intrinsics_core.embedded.turns import Turn, is_left_as_it_is
from intrinsics_core.embedded.words import terms, tokens

OPTIONS = ("left_alone", "own", "fragment", "meant", "early", "by_rules", "framed")
"""What an option is weighed by: leaving the question alone has the first three (1, the reader's logit of the question
itself, whether it is a fragment), a reading the others (its logit, 1 over its place among the readings, whether the
rules say the same, whether it is a fragment in the frame of an earlier question)."""
SHOWN = 80
"""Words of the conversation that a reading is judged beside, its last ones."""
_FEW = 6
_ELLIPSIS = re.compile(
    r"\A\W*+(?:(?:and|but|so|or|also|then)\b|(?:what|how) (?:about|else)\b|\w++\W*+$)", re.IGNORECASE
)


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
        rows: list[tuple[float, ...]] = [(1.0, own, float(new_thing(question) != ""), 0.0, 0.0, 0.0, 0.0)]
        for place, (text, value) in enumerate(zip(others, values, strict=True), 1):
            flags = (text == self.by_rules, is_framed(question, text))
            rows.append((0.0, 0.0, 0.0, value, 1.0 / place, *map(float, flags)))
        return rows

    def taken(self, rows: Sequence[Sequence[float]], shares: Sequence[float], least: float) -> int:
        """Which of the options is taken, 0 for leaving the question alone.

        It is the likeliest reading, where it and those that say the same in one word less or more ("the mill", "the
        tide mill") have enough of the shares together. It is also taken where the rules say the same and the reader
        finds no other likelier, nor the question as it stands.
        """
        if len(rows) < 2:
            return 0
        best = max(range(1, len(rows)), key=shares.__getitem__)
        meant, by_rules = OPTIONS.index("meant"), OPTIONS.index("by_rules")
        others = [rows[0][OPTIONS.index("own")], *(row[meant] for row in rows[1:])]
        agreed = rows[best][by_rules] == 1.0 and rows[best][meant] >= max(others)
        own, *added = (set(terms(text)) for text in self.asked)
        said = [words - own for words in added]
        top = said[best - 1]
        same = ((words <= top or words >= top) and len(words ^ top) <= 1 for words in said)
        alike = sum(share for is_same, share in zip(same, shares[1:], strict=True) if is_same)
        return best if agreed or alike >= max(least, shares[0]) else 0

    def meant(self, logits: Sequence[float]) -> str:
        """The reading that is meant, or the question itself where none is likely enough.

        A softmax over the options with the weights of the head ``readings`` (`training.reader.readings`); what is taken
        says `taken`, from the head's threshold of that name.
        """
        head = load_head("readings", OPTIONS)
        rows = self.options(logits)
        return self.asked[self.taken(rows, softmax([head.logit(row) for row in rows]), head.thresholds["taken"])]


def choice(conversation: Sequence[Turn], threshold: float | None = None) -> ChoiceOfReading:
    """What there is to choose for the last turn.

    Args:
        conversation: ``(role, text)`` turns, oldest first, ending with the user's.
        threshold: least dependence for a choice; None: the shipped head's, and none for a fragment that the rules can
            place and for a short ellipsis ("and for four?"), whose words may all be new.

    Raises:
        ValueError: the conversation is empty or its last turn is not the user's.
    """
    turns = heard(conversation)
    last = turns[-1][1]
    if len(turns) < 2 or len(last) > LONGEST_TURN or is_left_as_it_is(turns):
        return ChoiceOfReading((last,), last)
    least = load_head("rewrite_dependence").thresholds["rewrite"] if threshold is None else threshold
    leans, found = dependence(turns) >= least, readings(turns)
    sure = found[0] if found and found[0].rule else None
    by_rules = sure.text if sure and (leans or (sure.rule == "fragment" and threshold is None)) else last
    is_short = is_elliptic(last) and len(tokens(last)) <= _FEW  # to `_ELLIPSIS`, Chinese is one word
    asked = found if leans or is_short else []
    return ChoiceOfReading((last, *(each.text for each in asked)), by_rules, as_read(turns))


def is_elliptic(text: str) -> bool:
    """Whether a turn begins as one that completes an earlier question does, or is one word."""
    return _ELLIPSIS.match(text) is not None


def as_read(conversation: Sequence[Turn], most: int = SHOWN) -> str:
    """The turns as one text, as the reader was trained on them: the last ``most`` words, " / " between turns."""
    *history, last = conversation
    turns = [*(turn for turn in history[-most:] if turn[0] in ("user", "assistant")), last]
    # A word is seldom longer than this; a long turn is not split whole for its last words.
    ends = [text[-40 * most :] for _, text in turns]
    return " ".join(" / ".join(ends).split()[-most:])
