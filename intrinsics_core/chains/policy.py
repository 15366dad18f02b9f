"""What becomes of an answer that exists already: it passes, is annotated, replaced, or asked for again.

A policy makes no call: it is given verdicts, and returns decisions. What is judged, and when, is in `checks`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from intrinsics_core.protocol.errors import MalformedReply
from intrinsics_core.protocol.names import named
from intrinsics_core.protocol.results import Faithfulness, HallucinationDetection

Mode = Literal["annotate", "block", "retry", "retry_then_block"]
Unretrieved = Literal["annotate", "block", "pass"]
Act = Literal["pass", "annotate", "replace", "retry"]

UNRETRIEVED = HallucinationDetection(label="NA", score=None, sentences=(), degraded="nothing retrieved")
"""The verdict on an agent's answer for which nothing was retrieved: it is not judged."""

NO_SOURCE = "No documents were found."
"""The text of the document that an answer is judged by to tell whether it claims anything: it supports nothing."""

_AGAIN = (
    "These sentences of your answer are not supported by what your tools returned:\n{sentences}\n"
    "Answer again with what is supported, or say that you do not know."
)


@dataclass(frozen=True)
class Decision:
    """``act`` is what is done with the answer, ``verdict`` what is noted on it, None where it is left as it is.

    ``unsupported`` are the sentences with a label that counts, which a model that answers again is told.
    """

    act: Act
    verdict: HallucinationDetection | None = None
    unsupported: tuple[str, ...] = ()

    @property
    def feedback(self) -> str:
        """What a model that answers again is told."""
        return _AGAIN.format(sentences="\n".join(f"- {sentence}" for sentence in self.unsupported))


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

    @property
    def replaces(self) -> bool:
        """Whether an answer may be replaced: then nothing of it is shown before it is judged."""
        return self.mode in ("block", "retry_then_block") or self.unretrieved == "block"

    def decide(self, found: HallucinationDetection, *, again: bool = False) -> Decision:
        """The decision on an answer that was judged by its sources.

        Args:
            found: the verdict.
            again: whether this answer was asked for by a decision before.

        Raises:
            MalformedReply: the judge left sentences out of an answer that might have to be replaced, and ``on_error``
                is ``"raise"``.
        """
        if found.label not in self.labels:
            if self.mode != "annotate" and self.on_error == "raise":
                require_whole(found)
            return Decision("annotate", found)
        unsupported = tuple(sentence.text for sentence in found.sentences if sentence.label in self.labels)
        if self.retries and not again:
            return Decision("retry", found, unsupported)
        replaced = self.mode == "block" or (self.mode == "retry_then_block" and again)
        return Decision("replace" if replaced else "annotate", found, unsupported)

    def decide_unretrieved(self, found: HallucinationDetection | None = None) -> Decision:
        """The decision on an answer for which nothing was retrieved.

        Args:
            found: the verdict by `NO_SOURCE` alone, which tells whether it claims anything; to block takes one.
        """
        if self.unretrieved == "pass":
            return Decision("pass")
        replaced = self.unretrieved == "block" and not (found and claims_nothing(found))
        return Decision("replace" if replaced else "annotate", UNRETRIEVED)


def claims_nothing(result: HallucinationDetection) -> bool:
    """Whether a judge has said that no sentence of the answer makes a claim. One that failed has not said so."""
    return result.label == "NA" and result.degraded is None and result.reason is None


def require_whole(found: HallucinationDetection) -> None:
    """Refuse a verdict that leaves sentences of the answer out.

    Raises:
        MalformedReply: it does.
    """
    if found.missing:
        raise MalformedReply("the judge left sentences of the answer out", intrinsic="hallucination-detection",
                             expected="a verdict for each sentence", got=found.degraded)  # fmt: skip
