"""What becomes of an answer that exists already: it passes, is annotated, replaced, or asked for again.

A policy makes no call. It yields what is to be judged, is sent the verdict, and returns a decision, so that one program
serves synchronous and asynchronous guards of every framework (`running.steps`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from intrinsics_core.protocol.errors import MalformedReply
from intrinsics_core.protocol.names import named
from intrinsics_core.protocol.results import Faithfulness, HallucinationDetection
from intrinsics_core.running.steps import Steps

Mode = Literal["annotate", "block", "retry", "retry_then_block"]
Unretrieved = Literal["annotate", "block", "pass"]
Act = Literal["pass", "annotate", "replace", "retry"]

Basis = Literal["sources", "nothing"]
BY_SOURCES: Basis = "sources"
BY_NOTHING: Basis = "nothing"


UNRETRIEVED = HallucinationDetection(label="NA", score=None, sentences=(), degraded="nothing retrieved")
"""The verdict on an agent's answer for which nothing was retrieved: it is not judged."""

NO_SOURCE = "No documents were found."
"""The text of the document that an answer is judged by to tell whether it claims anything: it supports nothing."""


@dataclass(frozen=True)
class Decision:
    """``act`` is what is done with the answer, ``verdict`` what is noted on it, None where it is left as it is.

    ``unsupported`` are the sentences with a label that counts, which a model that answers again is told.
    """

    act: Act
    verdict: HallucinationDetection | None = None
    unsupported: tuple[str, ...] = ()


class AnswerPolicy:
    """What a guard does with an agent's answer.

    Args:
        mode: ``"annotate"`` notes the verdict; ``"block"`` replaces an answer with a label in ``labels``; ``"retry"``
            asks once for another answer and annotates that one; ``"retry_then_block"`` replaces the second answer, too.
        labels: which labels of the answer as a whole count, one or several.
        unretrieved: what becomes of an answer where nothing was retrieved: ``"annotate"`` notes the verdict NA,
            degraded for "nothing retrieved"; ``"block"`` replaces it unless it claims nothing, which takes a judgement;
            ``"pass"`` leaves it.
        on_error: ``"raise"`` or ``"fallback"``; None: ``"fallback"`` to annotate, ``"raise"`` for all other modes.
        modes: the modes that the guard has.

    Raises:
        InvalidInput: ``mode``, ``unretrieved`` or one of ``labels`` is unknown; the message has the nearest name.
    """

    def __init__(
        self,
        *,
        mode: str,
        labels: Sequence[str] | str,
        unretrieved: str,
        on_error: str | None = None,
        modes: Sequence[Mode] = get_args(Mode),
    ) -> None:
        self.mode: Mode = named("mode", mode, modes)
        self.unretrieved: Unretrieved = named("unretrieved", unretrieved, get_args(Unretrieved))
        given = [labels] if isinstance(labels, str) else labels
        self.labels: list[Faithfulness] = [named("labels", label, get_args(Faithfulness)) for label in given]
        self.on_error = on_error or ("fallback" if mode == "annotate" else "raise")

    @property
    def retries(self) -> bool:
        """Whether a first answer may be asked for again."""
        return self.mode in ("retry", "retry_then_block")

    def decide(self, *, retrieved: bool, judged_by: Mapping[Basis, Any], again: bool = False) -> Steps[Decision]:
        """The decision on one answer; no I/O. Its one step is ``"judge"``.

        Args:
            retrieved: whether there is a source with text.
            judged_by: what the step is given: `BY_SOURCES` the answer with its sources, `BY_NOTHING` with the one text
                `NO_SOURCE`, which tells whether it claims anything.
            again: whether this answer was asked for by a decision before.

        Raises:
            MalformedReply: the judge left sentences out of an answer that might have to be replaced, and ``on_error``
                is ``"raise"``.
        """
        if retrieved:
            return self._of((yield "judge", judged_by[BY_SOURCES]), again)
        if self.unretrieved == "pass":
            return Decision("pass")
        if self.unretrieved == "block" and not claims_nothing((yield "judge", judged_by[BY_NOTHING])):
            return Decision("replace", UNRETRIEVED)
        return Decision("annotate", UNRETRIEVED)

    def _of(self, found: HallucinationDetection, again: bool) -> Decision:
        if found.label not in self.labels:
            if self.mode != "annotate" and self.on_error == "raise":
                required_whole(found)
            return Decision("annotate", found)
        unsupported = tuple(sentence.text for sentence in found.sentences if sentence.label in self.labels)
        if self.retries and not again:
            return Decision("retry", found, unsupported)
        replaced = self.mode == "block" or (self.mode == "retry_then_block" and again)
        return Decision("replace" if replaced else "annotate", found, unsupported)


def claims_nothing(result: HallucinationDetection) -> bool:
    """Whether a judge has said that no sentence of the answer makes a claim. One that failed has not said so."""
    return result.label == "NA" and result.degraded is None and result.reason is None


def required_whole(result: HallucinationDetection) -> None:
    """For a guard that may have to block the answer: a sentence without a verdict is not let through.

    Raises:
        MalformedReply: the judge left sentences out.
    """
    if result.missing:
        raise MalformedReply("the judge left sentences of the answer out", intrinsic="hallucination-detection",
                             expected="a verdict for each sentence", got=result.degraded)  # fmt: skip
