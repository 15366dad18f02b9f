"""Labelled cases through a chain and the judges, and what that comes to, with its interval.

A case is a question, or a conversation, with what is known of it:

    {"id": "price", "question": "What is the entry?", "documents": ["..."], "answer": "...", "answerable": true}

``documents`` and ``answer`` are what your chain gave when the case was recorded; with a chain of your own (the fixture
``intrinsics_chain``) they are made anew. ``answerable`` is the label of the question.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from intrinsics_core.bench import own
from intrinsics_core.bench.base import Observed
from intrinsics_core.bench.folder import read_rows
from intrinsics_core.bench.intervals import interval, mean_of
from intrinsics_core.intrinsics import answerability, hallucination_detection
from intrinsics_core.intrinsics.calling import NOTHING_SAID
from intrinsics_core.protocol.call import Call
from intrinsics_core.protocol.errors import IntrinsicsError, InvalidInput, within
from intrinsics_core.protocol.task import documents_of
from intrinsics_core.running.execution import ProfileLike, RuntimeLike, run_many
from intrinsics_core.testing.counting import Count, counts

Chain = Callable[[Sequence[Mapping[str, str]]], Any]

_MISSING = {"faithfulness": "no answer", "answerability": "no label"}

# What a bound may be set on, and what it is.
METRICS = {
    "faithfulness": "mean faithfulness of the answers to the documents, 0..1",
    "answerability": "share of questions whose answerable / unanswerable is judged as labelled, 0..1",
}


@dataclass(frozen=True)
class Gated:
    """One case: what was asked, what the chain gave, the label where there is one."""

    id: str
    messages: tuple[Mapping[str, str], ...]
    documents: tuple[Any, ...] | None
    answer: str | None
    answerable: bool | None

    def through(self, chain: Chain) -> Gated:
        """With what the chain gives now.

        Raises:
            InvalidInput: it is no mapping with ``documents`` and ``answer``, or the documents cannot be read.
        """
        given = chain(self.messages)
        if not isinstance(given, Mapping) or "documents" not in given or "answer" not in given:
            got = f"keys {list(given)}" if isinstance(given, Mapping) else type(given).__name__
            expected = "a mapping with documents and answer"
            raise InvalidInput("intrinsics_chain returned the wrong type", expected=expected, got=got)
        answer, found = given["answer"], given["documents"]
        text = answer if isinstance(answer, str) or answer is None else str(getattr(answer, "text", answer))
        documents = documents_of("intrinsics_chain", [found] if isinstance(found, str) else found)
        return Gated(self.id, self.messages, documents, text, self.answerable)


@dataclass(frozen=True)
class Outcome:
    """What became of one case: values by metric, the labels behind them, or the error.

    ``reasons`` say by metric why the value is 0 without a verdict, or why there is none.
    """

    values: Mapping[str, float] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    error: str | None = None
    reasons: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Standing:
    """A metric over all cases: the mean, its 95% interval, the bound, and whether it holds.

    A bound fails where the whole interval lies below it: a few unlucky cases do not break a build, a loss does.
    ``notes`` say how many cases count 0 without a verdict, how many are left out, and why.
    """

    metric: str
    n: int
    value: float
    low: float
    high: float
    bound: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        return self.bound is None or self.high >= self.bound

    def __str__(self) -> str:
        bound = "" if self.bound is None else f", bound {self.bound:g}: {'holds' if self.holds else 'FAILS'}"
        found = f"{self.metric} {self.value:.3f} [{self.low:.3f}, {self.high:.3f}] of {self.n} cases{bound}"
        return "; ".join((found, *self.notes))


def read_cases(file: Path) -> list[Gated]:
    """The cases of a file.

    Raises:
        InvalidInput: a row cannot be read, or two have one id; the message names file and row.
    """
    found: list[Gated] = []
    for number, row in enumerate(read_rows(file), start=1):
        with within(f"{file.name}, row {number}"):
            messages = tuple(own.conversation(row, answered=False))
            documents = None if row.get("documents") is None else tuple(own.documents(row))
            label = None if row.get("answerable") is None else own.truth(row, "answerability", "answerable")
        identity = str(row.get("id", number))
        if identity in {case.id for case in found}:
            where = f"{file.name}, row {number}"
            raise InvalidInput(f"{where}: the id {identity!r} occurs twice", expected="a different id for each case")
        found.append(Gated(identity, messages, documents, row.get("answer"), label))
    if not found:
        raise InvalidInput(f"{file.name} contains no cases")
    return found


def judge(
    cases: Sequence[Gated], runtime: RuntimeLike = None, *, profile: ProfileLike = None, chain: Chain | None = None
) -> list[Outcome]:
    """Each case's outcome. All are judged together; if a case fails, the others are still judged.

    Args:
        cases: the cases, in order.
        runtime: a runtime, a config, or None for the embedded one.
        profile: a profile or its name; the runtime's own where left out.
        chain: called with the messages of each case, for the documents and answer that are judged; None: those of the
            case.

    Returns:
        One outcome for each case, in order.
    """
    outcomes: list[dict[str, Any]] = [{"values": {}, "labels": {}, "reasons": {}, "error": None} for _ in cases]
    calls: list[Call[Any]] = []
    about: list[tuple[int, str]] = []
    for i, case in enumerate(cases):
        try:
            given = case.through(chain) if chain else case
            asked = _asked(given, recorded=chain is None)
        except Exception as error:  # the chain is the user's: whatever it raises is this case's own
            outcomes[i]["error"] = _told(error)
            continue
        calls += asked.values()
        about += [(i, metric) for metric in asked]
        outcomes[i]["reasons"] = {metric: why for metric, why in _MISSING.items() if metric not in asked}
    answered: list[tuple[int, Call[Any], Any]] = []
    for (i, metric), call, result in zip(about, calls, run_many(calls, runtime, profile=profile), strict=True):
        if isinstance(result, IntrinsicsError):
            outcomes[i]["error"] = _told(result)
            continue
        outcomes[i]["labels"][metric] = result.label
        if metric == "answerability":
            outcomes[i]["values"][metric] = float((result.label == "answerable") == cases[i].answerable)
        else:
            answered.append((i, call, result))
    counted = counts([(call.task.messages, verdict) for _, call, verdict in answered], runtime, profile)
    for (i, _, _), count in zip(answered, counted, strict=True):
        _put(outcomes[i], count, wanted=cases[i].answerable is not False)
    return [Outcome(**outcome) for outcome in outcomes]


def _put(outcome: dict[str, Any], count: Count | IntrinsicsError, *, wanted: bool) -> None:
    """What an answer counts for; to say nothing is no loss where no answer is ``wanted``."""
    if isinstance(count, IntrinsicsError):
        outcome["error"] = _told(count)
        return
    if count.value is not None and (wanted or count.why != NOTHING_SAID):
        outcome["values"]["faithfulness"] = count.value
    if count.why:
        outcome["reasons"]["faithfulness"] = count.why


def _asked(case: Gated, *, recorded: bool) -> dict[str, Call[Any]]:
    """What is asked about a case, by metric.

    Raises:
        InvalidInput: there are no documents, or nothing of a recorded case can be judged.
    """
    if case.documents is None:
        raise InvalidInput(f"case {case.id} has no documents", expected="documents, or a chain that finds some")
    found: dict[str, Call[Any]] = {}
    if case.answerable is not None:
        found["answerability"] = answerability(list(case.messages), case.documents)
    if case.answer is not None:
        turns = [*case.messages, {"role": "assistant", "content": case.answer}]
        found["faithfulness"] = hallucination_detection(turns, case.documents)
    if recorded and not found:
        raise InvalidInput(f"case {case.id} has nothing to judge",
                           expected="an answer, the label answerable, or a chain that answers")  # fmt: skip
    return found


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def notes(metric: str, outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    """How many cases count 0 without a verdict, how many are left out, and why, as a sentence for each reason."""
    why = Counter((metric in one.values, one.reasons[metric]) for one in outcomes if metric in one.reasons)
    found = []
    for (valued, reason), n in sorted(why.items(), reverse=True):
        one = n == 1
        what = ("counts 0" if one else "count 0") if valued else ("is left out" if one else "are left out")
        found.append(f"{n} case{'' if one else 's'} {what}: {reason}")
    return tuple(found)


def standing(metric: str, values: Sequence[float], bound: float | None = None, notes: tuple[str, ...] = ()) -> Standing:
    """A metric over the values of the cases that have it.

    Args:
        metric: name of the metric.
        values: the values of the cases that have it, at least one, each 0 to 1.
        bound: the bound on the metric, 0 to 1, or None.
        notes: what is said of the cases behind the number.

    Returns:
        The mean with its 95% interval and the bound.
    """
    observed = [Observed({metric: value}) for value in values]
    mean = sum(values) / len(values)
    low, high = interval(observed, mean_of(metric)) or (mean, mean)
    return Standing(metric, len(values), mean, low, high, bound, notes)


def bounds(texts: Sequence[str]) -> dict[str, float]:
    """``faithfulness=0.5`` texts as bounds.

    Raises:
        InvalidInput: no such metric, or no number in 0..1.
    """
    found = {}
    for text in texts:
        metric, _, number = (part.strip() for part in text.partition("="))
        try:
            found[metric] = float(number)
        except ValueError:
            found[metric] = -1.0
        if metric not in METRICS or not 0 <= found[metric] <= 1:
            expected = f"{' or '.join(METRICS)}, =, and a number in 0..1"
            raise InvalidInput("a bound cannot be read", expected=expected, got=repr(text))
    return found


def summary(file: str, standings: Sequence[Standing], failed: Mapping[str, str]) -> str:
    """Markdown for GitHub's job summary; ids are shown as code, and nothing else of the cases.

    Args:
        file: name of the file with the cases.
        standings: the metrics.
        failed: by id of each failed case, the reason.

    Returns:
        Markdown text.
    """
    lines = [f"### Intrinsics: {file}", ""]
    lines += ["| metric | value | 95% interval | cases | bound | |", "|---|---|---|---|---|---|"]
    for one in standings:
        bound, holds = "" if one.bound is None else f"{one.bound:g}", "holds" if one.holds else "**fails**"
        interval_ = f"{one.low:.3f} .. {one.high:.3f}"
        lines.append(f"| {one.metric} | {one.value:.3f} | {interval_} | {one.n} | {bound} | {holds} |")
    remarks = [f"- {one.metric}: {note}" for one in standings for note in one.notes]
    remarks += [f"- case {json.dumps(name)} failed" for name in failed]
    lines += ["", *remarks] if remarks else []
    return "\n".join(lines) + "\n"
