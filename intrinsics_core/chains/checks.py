"""Checks of an answer that exists: all asked at once, and what becomes of the answer. No I/O.

Each framework's ``AnswerCheck`` is this with its types around it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeVar, get_args

from intrinsics_core.chains.notes import without_wrong_citations
from intrinsics_core.chains.policy import NO_SOURCE, UNRETRIEVED, AnswerPolicy, Decision, Mode
from intrinsics_core.intrinsics.options import from_json
from intrinsics_core.intrinsics.table import TABLE
from intrinsics_core.protocol.call import Call, step
from intrinsics_core.protocol.errors import IntrinsicsError, InvalidInput
from intrinsics_core.protocol.names import named
from intrinsics_core.protocol.results import Audit, Citations, HallucinationDetection, Result
from intrinsics_core.running.steps import Steps

T = TypeVar("T")

SENTENCES = ("audit", "hallucination-detection")
"""Checks that say of each sentence whether it is faithful: by one of them an answer is blocked or asked for again."""

_OTHERWISE = ("query-expansion", "revise", "compare", "self-consistency")  # they judge no one answer


def known_checks() -> list[str]:
    """The intrinsics that judge an answer."""
    return [name for name, record in TABLE.items() if record.judges_answers and name not in _OTHERWISE]


_ANNOTATE = Decision("annotate")


@dataclass(frozen=True)
class CheckedAnswer:
    """``results`` by the check's name, and what becomes of the answer."""

    results: Mapping[str, Result] = field(default_factory=dict)
    decision: Decision = _ANNOTATE

    @property
    def citations(self) -> Citations | None:
        """Those of a check or of an audit; None where none were asked for."""
        found: Any = self.results.get("citations") or self.results.get("audit")
        return found.citations if isinstance(found, Audit) else found

    @property
    def dumped(self) -> dict[str, Any]:
        """The results as plain values."""
        return {name: result.model_dump(mode="json") for name, result in self.results.items()}


class AnswerChecks:
    """Some checks, and what is done by what they say.

    Args:
        checks: names of intrinsics that judge an answer, one or several.
        mode: as `AnswerPolicy` takes it; all but ``"annotate"`` take a check of sentences (`SENTENCES`).
        labels: which labels of the answer as a whole count, one or several.
        unretrieved: as `AnswerPolicy` takes it; None: an answer without documents is judged like any other.
        on_error: ``"raise"`` or ``"fallback"``; None: ``"fallback"`` to annotate, ``"raise"`` for all other modes.
        date: date text for prompts that carry one.
        options: of each check, by its name.
        modes: the modes that the component has.

    Raises:
        InvalidInput: one of these is unknown, or the mode needs a check of sentences.
    """

    def __init__(
        self,
        checks: Sequence[str] | str = ("audit",),
        *,
        mode: str = "annotate",
        labels: Sequence[str] | str = ("unfaithful",),
        unretrieved: str | None = None,
        on_error: str | None = None,
        date: str | None = None,
        options: Mapping[str, Mapping[str, Any]] | None = None,
        modes: Sequence[Mode] = get_args(Mode),
    ) -> None:
        given, known = [checks] if isinstance(checks, str) else checks, known_checks()
        self.checks = tuple(dict.fromkeys(named("checks", name, known) for name in given))
        if not self.checks:
            raise InvalidInput("checks is empty", expected=f"some of {', '.join(known)}")
        self.policy = AnswerPolicy(
            mode=mode, labels=labels, unretrieved=unretrieved or "annotate", on_error=on_error, modes=modes
        )
        self.by = next((name for name in SENTENCES if name in self.checks), None)
        if self.by is None and mode != "annotate":
            raise InvalidInput(f"mode={mode!r} needs a verdict on each sentence",
                               expected=f"one of {' or '.join(SENTENCES)} among the checks")  # fmt: skip
        self._judges_all = unretrieved is None
        self._date = date
        for name in self.checks:
            TABLE[name].chosen(self.policy.on_error)
        chosen = {named("options", name, self.checks): values for name, values in (options or {}).items()}
        self._options = {name: from_json(TABLE[name], values, called="option") for name, values in chosen.items()}

    def calls(self, messages: Sequence[Mapping[str, Any]], documents: Sequence[Any]) -> dict[str, Call[Any]]:
        """The calls of the core by the check's name.

        Args:
            messages: a conversation that ends with the answer (`transcript.messages`).
            documents: what it is judged by, as the core takes them.

        Raises:
            InvalidInput: they are none.
        """
        return {name: self._call(name, messages, documents) for name in self.checks}

    def judge(
        self,
        messages: Sequence[Mapping[str, Any]],
        documents: Sequence[Any],
        *,
        again: bool = False,
        known: HallucinationDetection | None = None,
    ) -> Steps[CheckedAnswer]:
        """The verdicts on one answer and what becomes of it. Its one step is ``"run"``.

        The step is given a list of calls, and answers with their results, or errors, in that order: `run_many`.

        Args:
            messages: a conversation that ends with the answer (`transcript.messages`).
            documents: what it is judged by, as the core takes them.
            again: whether this answer was asked for by a decision before.
            known: what was said of its sentences before (`notes.known_detection`): what is unfaithful is not cited.

        Raises:
            IntrinsicsError: a check failed and has no fallback; or a check left sentences out of an answer that might
                have to be replaced, and ``on_error`` is ``"raise"``.
        """
        if self.by is None or self._judges_all or any(map(_text, documents)):
            results = yield from self._run(self.calls(messages, documents), known)
            decide = self.policy.decide
            return CheckedAnswer(results, decide(detection(results[self.by]), again=again) if self.by else _ANNOTATE)
        found = None
        if self.policy.unretrieved == "block":
            by_nothing = yield from self._run({self.by: self._call(self.by, messages, [NO_SOURCE])})
            found = detection(by_nothing[self.by])
        decision = self.policy.decide_unretrieved(found)
        return CheckedAnswer({} if decision.act == "pass" else {self.by: self._unretrieved()}, decision)

    def _call(self, name: str, messages: Sequence[Mapping[str, Any]], documents: Sequence[Any]) -> Call[Any]:
        call: Call[Any] = TABLE[name].function(messages, documents, on_error=self.policy.on_error, date=self._date,
                                               **self._options.get(name, {}))  # fmt: skip
        return call

    def _run(
        self, calls: Mapping[str, Call[Any]], known: HallucinationDetection | None = None
    ) -> Steps[dict[str, Result]]:
        found = yield "run", list(calls.values())
        results = {name: result_or_fallback(call, one) for (name, call), one in zip(calls.items(), found, strict=True)}
        if "citations" in results:
            cited: Any = results["citations"]
            found = detection(results[self.by]) if self.by in results else known
            results["citations"] = without_wrong_citations(cited, found)
        return results

    def _unretrieved(self) -> Result:
        if self.by != "audit":
            return UNRETRIEVED
        return Audit(answerability=None, sentences=(), label="NA", score=None, certainty=None, answer_relevance=None,
                     degraded=UNRETRIEVED.degraded)  # fmt: skip


def _text(document: Any) -> str:
    """A document's text; a picture has none."""
    if isinstance(document, Mapping):
        return str(document.get("text") or "").strip()
    return str(getattr(document, "text", document)).strip()


def detection(result: Any) -> HallucinationDetection:
    """The verdicts on sentences of an audit or of a hallucination detection."""
    found: HallucinationDetection = result.hallucination if isinstance(result, Audit) else result
    return found


def result_or_fallback(call: Call[Any], result: Any) -> Result:
    """A result; of an error the fallback of its call.

    Raises:
        IntrinsicsError: the call has no fallback for it.
    """
    if not isinstance(result, IntrinsicsError):
        found: Result = result
        return found
    if call.fallback is None or isinstance(result, InvalidInput):
        raise result
    fallen: Result = call.fallback(call.task, f"{type(result).__name__}: {result}")
    return fallen


def side_by_side(programs: Sequence[Steps[T]]) -> Steps[list[T]]:
    """Several programs as one: what they ask for at a time is asked for at once. Its one step is ``"run"``.

    Args:
        programs: each has this step alone, such as `AnswerChecks.judge`.
    """
    states = [step(program, None) for program in programs]
    while any(wanted for wanted, _ in states):
        asked = [wanted[1] if wanted else [] for wanted, _ in states]
        found = iter((yield "run", [call for calls in asked for call in calls]))
        sent = [list(islice(found, len(calls))) for calls in asked]
        rows = zip(programs, sent, states, strict=True)
        states = [step(program, each) if state[0] else state for program, each, state in rows]
    return [result for _, result in states]
