"""Calibrate scores on your own labelled examples, and compare later ones with what was promised.

Thresholds do not transfer by themselves.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from intrinsics_core._support import whole_files
from intrinsics_core.calibration.promises import Comparison, ExampleData, compare
from intrinsics_core.calibration.truths import label_of, truth
from intrinsics_core.intrinsics import TABLE
from intrinsics_core.protocol.call import Call
from intrinsics_core.protocol.errors import InvalidInput, raised
from intrinsics_core.protocol.names import find, unknown
from intrinsics_core.protocol.results import Result
from intrinsics_core.running.execution import ProfileLike, RuntimeLike, run_many
from intrinsics_core.running.progress import Progress
from intrinsics_core.runtimes import Runtime, as_runtime

if TYPE_CHECKING:
    from intrinsics_core.calibration.fitting import Calibration

OnScore = Callable[[int, float, Result], None]


def calibrate(
    intrinsic: str,
    examples: Iterable[Mapping[str, Any]],
    runtime: RuntimeLike = None,
    *,
    profile: ProfileLike = None,
    objective: Any = "weighted_f1",
    false_acceptance: float | None = None,
    at_most: float | None = None,
    confidence: float | None = None,
    path: str | Path | None = None,
    file: str | Path | None = None,
    progress: Progress = False,
    known: Sequence[float] = (),
    on_score: OnScore | None = None,
) -> Calibration:
    """Fit a calibration of one intrinsic on labelled examples, and save it where a path is given.

    Args:
        intrinsic: one that has a score; what a label of it says is `intrinsics_core.intrinsics.TABLE[...].judges`, e.g.
            for ``"answerability"`` that the documents answer the question.
        examples: ``{"messages", "documents", "label"}`` each, at least ten, of both labels. A label is a boolean, a
            word such as ``"answerable"``, or a result (:mod:`intrinsics_core.calibration.truths`); ``result`` may
            stand in place of ``label``.
        runtime: what gives the scores: the embedded default where left out. It must not be calibrated for this
            intrinsic already.
        profile: a profile or its name; the runtime's own where left out.
        objective: what the threshold maximises: ``"weighted_f1"``, ``"f1"``, ``"accuracy"``, or a function of
            (labels, predictions).
        false_acceptance: the threshold accepts at most this share of the examples that are labelled false, instead of
            maximising an objective. It is counted on these examples and promises nothing about others.
        at_most: the threshold accepts at most this share of *further* examples that are labelled false, above 0 and
            below 1. It holds where these are exchangeable with the ones given. ``promise`` of what is returned says
            what it rests on. The method is Learn then Test (Angelopoulos, Bates, Candès, Jordan & Lei 2021) with
            fixed-sequence testing and exact binomial tails (Clopper & Pearson 1934):
            `intrinsics_core.calibration.promises`. Accepted is what the calibrated label says; of a fact check and of
            a certainty, which have none, what scores no less than ``promise.threshold``.
        confidence: with which the promise holds, above 0 and below 1; 0.9 where left out.
        path: a JSON file to write; give it to any runtime: ``{"kind": …, "calibrations": {intrinsic: path}}``.
        file: what the promise calls the examples: the name of their file, without its folder.
        progress: as :func:`run_many` takes it, of the examples that are scored here.
        known: the scores of the first examples, which an earlier call that was stopped told.
        on_score: called with ``(number of the example, score, result)`` as each is scored, in any order.

    Returns:
        The calibration, with AUROC, ECE, Brier score and reliability table before and after.

    Raises:
        InvalidInput: an example is wrong (the message has its number), too few examples, one label only, labels that
            are the wrong way round, scores that do not vary, or a promise that cannot be given (the message says how
            many examples labelled false it takes).
        IntrinsicsError: an example could not be scored. None is left out silently.
    """
    from intrinsics_core.calibration.fitting import calibrate as fit

    intrinsic = _known(intrinsic)
    engine = as_runtime(runtime)
    if _calibration(intrinsic, engine, profile) is not None:
        raise InvalidInput(
            f"the runtime is already calibrated for {intrinsic}", expected="a runtime without this calibration"
        )
    calls, labels = _labelled(intrinsic, examples)
    data = _data(calls, labels, file)
    scores = _scores(intrinsic, calls, engine, profile, progress, known, on_score)
    if len(set(scores)) == 1 and len(set(labels)) > 1:
        raise InvalidInput(f"the scores do not vary: the judge gives {scores[0]:g} to each of {len(scores)} examples",
                           intrinsic=intrinsic, expected="a judge that tells the two labels apart, such as a larger "
                           "model or an adapter trained for it")  # fmt: skip
    fitted = fit(scores, labels, objective=objective,
                 false_acceptance=false_acceptance, at_most=at_most, confidence=confidence, data=data)  # fmt: skip
    fitted = replace(fitted, intrinsic=intrinsic)
    if path is not None:
        whole_files.write(Path(path), fitted.to_json())
    return fitted


def compare_with_promise(
    intrinsic: str, examples: Iterable[Mapping[str, Any]], runtime: RuntimeLike, *, profile: ProfileLike = None
) -> Comparison:
    """Compare new labelled examples with the promise in the calibration that a runtime is configured with.

    Args:
        intrinsic: the one that the calibration is of.
        examples: ``{"messages", "documents", "label": bool}`` each.
        runtime: one whose ``calibrations`` hold a calibration with a promise.
        profile: a profile or its name; the runtime's own where left out.

    Returns:
        The share of the examples labelled false that are accepted now, and whether the promise holds.

    Raises:
        InvalidInput: the runtime has no promise for this intrinsic; an example is wrong (the message has its number);
            the examples are those that the promise was made with, or too few to contradict it.
        IntrinsicsError: an example could not be scored. None is left out silently.
    """
    intrinsic = _known(intrinsic)
    engine = as_runtime(runtime)
    fitted = _calibration(intrinsic, engine, profile)
    if fitted is None or fitted.promise is None:
        raise InvalidInput(
            f"the runtime's config has no promise for {intrinsic}",
            got="a calibration without a promise" if fitted else "no calibration",
            expected="a calibration that was fitted with at_most",
        )
    calls, labels = _labelled(intrinsic, examples)
    if fitted.promise.data and _data(calls, labels).sha256 == fitted.promise.data.sha256:
        raise InvalidInput("the promise was made with the same examples", expected="new examples")
    return compare(fitted.promise, _scores(intrinsic, calls, engine, profile), labels)


def _known(intrinsic: str) -> str:
    """The name of an intrinsic that has a score to calibrate."""
    scored = {name: record.score for name, record in TABLE.items() if record.score}
    if (found := find(intrinsic, scored)) is None:
        raise unknown("this intrinsic has no calibration", intrinsic, scored)
    return found


def _calibration(intrinsic: str, engine: Runtime, profile: ProfileLike) -> Calibration | None:
    """The calibration that is applied to an intrinsic here: that of its route, where there are several."""
    found: Any = engine.profile_of(profile).serving(intrinsic).calibrations.get(intrinsic)
    return found  # type: ignore[no-any-return]


_EXAMPLE = '{"messages": ..., "documents": ..., "label": ...}'


def _labelled(intrinsic: str, examples: Iterable[Mapping[str, Any]]) -> tuple[list[Call[Any]], list[bool]]:
    keys = ("messages", "documents") if TABLE[intrinsic].needs_documents else ("messages",)
    calls, labels = [], []
    for number, example in enumerate(examples):
        if not isinstance(example, Mapping):
            raise InvalidInput(f"examples[{number}] is not an example", expected=_EXAMPLE, got=repr(example))
        label = label_of(example)
        if missing := [key for key in keys if key not in example] + ["label"] * (label is None):
            raise InvalidInput(f"examples[{number}] has no {' and no '.join(map(repr, missing))}", expected=_EXAMPLE,
                               got=f"the keys {', '.join(map(str, example)) or '(none)'}")  # fmt: skip
        try:
            calls.append(TABLE[intrinsic].function(example["messages"], example.get("documents", ())))
        except InvalidInput as error:
            raise InvalidInput(f"examples[{number}]: {error}") from error
        if TABLE[intrinsic].of_each and (count := len(calls[-1].task.documents)) != 1:
            raise InvalidInput(f"examples[{number}].documents must have one document, which the label is about",
                               intrinsic=intrinsic, expected="one document an example",
                               got=f"{count} documents")  # fmt: skip
        labels.append(truth(label, intrinsic, f"examples[{number}].label"))
    return calls, labels


def _scores(intrinsic: str, calls: list[Call[Any]], engine: Runtime, profile: ProfileLike, progress: Progress = False,
            known: Sequence[float] = (), on_score: OnScore | None = None) -> list[float]:  # fmt: skip
    score_of, scores, begun = TABLE[intrinsic].score, list(known), len(known)
    assert score_of is not None  # `_known`

    def told(index: int, outcome: Any) -> None:
        if on_score and isinstance(outcome, Result) and (score := score_of(outcome)) is not None:
            on_score(begun + index, score, outcome)

    outcomes = run_many(calls[begun:], engine, profile=profile, on_result=told, progress=progress)
    for number, outcome in enumerate(outcomes, start=begun):
        result = raised(outcome)
        score = score_of(result)
        if score is None:
            raise InvalidInput(
                f"examples[{number}] has no score: {result.degraded or result.reason or 'its response claims nothing'}",
                intrinsic=intrinsic,
                expected="an example that has something to judge",
            )
        scores.append(score)
    return scores


def _data(calls: list[Call[Any]], labels: list[bool], file: str | Path | None = None) -> ExampleData:
    """What says of examples which they are: what is asked about, and the label."""
    texts = (
        json.dumps([
            [[turn.role, turn.content] for turn in call.task.messages],
            [[document.title, document.text] for document in call.task.documents],
            label,
        ])
        for call, label in zip(calls, labels, strict=True)
    )  # fmt: skip
    return ExampleData.of(texts, Path(file).name if file is not None else None)
