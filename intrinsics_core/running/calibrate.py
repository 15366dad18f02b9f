"""Calibrate scores on your own labelled examples: thresholds do not transfer by themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from intrinsics_core.intrinsics import TABLE
from intrinsics_core.protocol.errors import IntrinsicsError, InvalidInput
from intrinsics_core.protocol.names import find, unknown
from intrinsics_core.running.execution import ProfileLike, RuntimeLike, run_many
from intrinsics_core.runtimes import as_runtime

if TYPE_CHECKING:
    from intrinsics_core.calibration.fitting import Calibration


def calibrate(
    intrinsic: str,
    examples: Iterable[Mapping[str, Any]],
    runtime: RuntimeLike = None,
    *,
    profile: ProfileLike = None,
    objective: Any = "weighted_f1",
    false_acceptance: float | None = None,
    path: str | Path | None = None,
) -> Calibration:
    """Fit a calibration of one intrinsic on labelled examples, and save it where a path is given.

    Args:
        intrinsic: one that has a score; what a label of it says is `intrinsics_core.intrinsics.TABLE[...].judges`, e.g.
            for ``"answerability"`` that the documents answer the question.
        examples: ``{"messages", "documents", "label": bool}`` each, at least ten, of both labels.
        runtime: what gives the scores: the embedded default where left out. It must not be calibrated for this
            intrinsic already.
        profile: a profile or its name; the runtime's own where left out.
        objective: what the threshold maximises: ``"weighted_f1"``, ``"f1"``, ``"accuracy"``, or a function of
            (labels, predictions).
        false_acceptance: the threshold accepts at most this share of the examples that are labelled false, instead of
            maximising an objective.
        path: a JSON file to write; give it to any runtime: ``{"kind": …, "calibrations": {intrinsic: path}}``.

    Returns:
        The calibration, with AUROC, ECE, Brier score and reliability table before and after.

    Raises:
        InvalidInput: an example is wrong (the message has its number), too few examples, or one label only.
        IntrinsicsError: an example could not be scored. None is left out silently.
    """
    from intrinsics_core.calibration.fitting import calibrate as fit

    scores_of = {name: record.score for name, record in TABLE.items() if record.score}
    if (found := find(intrinsic, scores_of)) is None:
        raise unknown("this intrinsic has no calibration", intrinsic, scores_of)
    intrinsic = found
    engine = as_runtime(runtime)
    if intrinsic in getattr(engine, "calibrations", ()):
        raise InvalidInput(f"the runtime is calibrated for {intrinsic} already", expected="a runtime without")
    calls, labels = [], []
    for number, example in enumerate(examples):
        try:
            label = example["label"]
            calls.append(TABLE[intrinsic].function(example["messages"], example.get("documents", ())))
        except (KeyError, TypeError, AttributeError) as error:
            raise InvalidInput(f"examples[{number}] is not an example", got=repr(example),
                               expected='{"messages", "documents", "label"}') from error  # fmt: skip
        except InvalidInput as error:
            raise InvalidInput(f"examples[{number}]: {error}") from error
        if label not in (0, 1):
            raise InvalidInput(f"examples[{number}].label", expected="true or false", got=repr(label))
        labels.append(bool(label))
    scores, kept = [], []
    for number, (result, label) in enumerate(zip(run_many(calls, engine, profile=profile), labels, strict=True)):
        if isinstance(result, IntrinsicsError):
            raise result
        score = scores_of[intrinsic](result)
        if score is None:
            raise InvalidInput(f"examples[{number}] has no score: nothing is claimed in it", intrinsic=intrinsic,
                               expected="a response that claims something")  # fmt: skip
        scores.append(score)
        kept.append(label)
    fitted = fit(scores, kept, objective=objective, false_acceptance=false_acceptance)
    if path is not None:
        Path(path).write_text(fitted.to_json(), encoding="utf-8")
    return fitted
