"""A promised rate of false acceptance: what it takes, that it holds on further data, and that a breach is noticed."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from intrinsics_core import InvalidInput, answerability, as_runtime, calibrate, run
from intrinsics_core.calibration.fitting import Calibration
from intrinsics_core.calibration.fitting import calibrate as fit
from intrinsics_core.calibration.probabilities import logit
from intrinsics_core.calibration.promises import allowed_errors, compare, examples_needed, interval, tail
from intrinsics_core.cli import app
from intrinsics_core.protocol.requests import Generate
from intrinsics_core.running.calibrate import compare_with_promise
from tests.scripted import Scripted

DRAWS = 1000


def apart(negatives: int, positives: int = 60, errors: int = 0) -> tuple[list[float], list[bool]]:
    """Scores of which so many negative ones lie above all positive ones."""
    low = [n / 1000 for n in range(negatives - errors)]
    return [*low, *(2 + n / 1000 for n in range(errors)), *(1 + n / 1000 for n in range(positives))], (
        [False] * negatives + [True] * positives
    )


# --- numbers --------------------------------------------------------------------------------------------------------


def test_tails_are_those_of_the_binomial_distribution() -> None:
    for examples, rate in ((1, 0.5), (7, 0.2), (45, 0.05), (300, 0.9)):
        for errors in {-1, 0, 1, examples // 2, examples - 1, examples}:
            by_hand = sum(math.comb(examples, k) * rate**k * (1 - rate) ** (examples - k) for k in range(errors + 1))
            assert tail(errors, examples, rate) == pytest.approx(by_hand, rel=1e-9)


def test_the_interval_is_that_of_the_published_tables() -> None:
    assert interval(0, 10, 0.95) == pytest.approx((0.0, 0.3085), abs=5e-5)
    assert interval(2, 20, 0.95) == pytest.approx((0.0123, 0.3170), abs=5e-5)
    assert interval(10, 10, 0.95) == pytest.approx((0.6915, 1.0), abs=5e-5)


@pytest.mark.parametrize(("rate", "confidence"), [(0.05, 0.9), (0.01, 0.95), (0.2, 0.8), (0.5, 0.5)])
def test_what_is_needed_is_the_least_that_is_allowed(rate: float, confidence: float) -> None:
    for errors in range(6):
        least = examples_needed(errors, rate, confidence)
        assert allowed_errors(least, rate, confidence) == errors
        assert (allowed_errors(least - 1, rate, confidence) or -1) == (errors - 1 or -1)
    assert examples_needed(0, rate, confidence) == math.ceil(math.log(1 - confidence) / math.log(1 - rate) - 1e-9)


# --- fitting --------------------------------------------------------------------------------------------------------


def test_forty_negative_examples_are_five_too_few() -> None:
    told = r"cannot be promised with 40 negative examples; 45 without an error are needed"
    with pytest.raises(InvalidInput, match=told):
        fit(*apart(40), at_most=0.05, confidence=0.9)
    promise = fit(*apart(45), at_most=0.05, confidence=0.9).promise
    assert promise is not None
    assert (promise.rate, promise.confidence, promise.examples, promise.errors) == (0.05, 0.9, 45, 0)


def test_the_threshold_is_the_lowest_that_can_be_promised() -> None:
    scores, labels = apart(200, errors=3)
    fitted = fit(scores, labels, at_most=0.05)
    assert fitted.promise is not None and fitted.promise.threshold == fitted.threshold
    allowed = allowed_errors(200, 0.05, 0.9)
    assert allowed == 5  # three lie above all true examples: two more may
    accepted = [fitted.decide(s) for s, y in zip(scores, labels, strict=True) if not y]
    assert sum(accepted) == fitted.promise.errors == allowed


def test_errors_above_all_true_examples_are_told_with_what_would_do() -> None:
    scores, labels = apart(60, errors=5)
    needed = examples_needed(5, 0.05, 0.9)
    with pytest.raises(InvalidInput, match=f"5 of which score no less than the best true one; {needed} with no more"):
        fit(scores, labels, at_most=0.05, confidence=0.9)
    assert fit(*apart(needed, errors=5), at_most=0.05, confidence=0.9).objective_value > 0


def test_scores_without_a_step_promise_nothing() -> None:
    for scores in ([1.0] * 200, [0.0] * 100 + [1.0] * 100):  # all alike; then the true ones lower
        with pytest.raises(InvalidInput, match="cannot be promised"):
            fit(scores, [True] * 100 + [False] * 100, at_most=0.2)


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"at_most": 0}, "at_most"),
        ({"at_most": 1.0}, "at_most"),
        ({"at_most": "5%"}, "at_most"),
        ({"at_most": 0.1, "confidence": 1}, "confidence"),
        ({"at_most": 0.1, "confidence": math.nan}, "confidence"),
        ({"confidence": 0.9}, "at_most"),
        ({"at_most": 0.1, "false_acceptance": 0.1}, "cannot be given together"),
    ],
)
def test_a_promise_is_of_two_shares(asked: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidInput, match=named):
        fit(*apart(60), **asked)


# --- by simulation --------------------------------------------------------------------------------------------------


def broken(draw: np.random.Generator, negatives: int, digits: int | None, **asked: Any) -> bool:
    """Whether one fit on normal scores accepts more than a tenth of all negative ones there are."""
    scores = np.concatenate([draw.normal(0, 1, negatives), draw.normal(2, 1, 40)])
    if digits is not None:
        scores = scores.round(digits)
    fitted = fit(scores.tolist(), [False] * negatives + [True] * 40, **asked)
    least = (logit(fitted.threshold) - fitted.intercept) / fitted.slope  # of raw scores, which is accepted
    if digits is not None:
        least = math.ceil(least * 10**digits) / 10**digits - 0.5 / 10**digits  # what is rounded up to it is, too
    return 0.5 * math.erfc(least / math.sqrt(2)) > 0.1


@pytest.mark.parametrize(
    ("draws", "negatives", "digits"),
    [(DRAWS // 5, 22, None), *(pytest.param(DRAWS, *kind, marks=pytest.mark.slow) for kind in
                               ((22, None), (52, None), (52, 1)))],
)  # fmt: skip
def test_of_a_thousand_draws_a_tenth_breaks_the_promise_at_most(draws: int, negatives: int, digits: int | None) -> None:
    draw = np.random.default_rng(22)
    asked = {"at_most": 0.1, "confidence": 0.9}
    share = sum(broken(draw, negatives, digits, **asked) for _ in range(draws)) / draws
    print(f"{share:.3f} of {draws} draws break the promise")
    assert share <= 0.12


def test_a_rate_that_was_only_counted_is_no_promise() -> None:
    draw = np.random.default_rng(22)
    share = sum(broken(draw, 52, None, false_acceptance=0.1) for _ in range(DRAWS // 5)) / (DRAWS // 5)
    assert share > 0.3


# --- as a contract --------------------------------------------------------------------------------------------------

DOCUMENTS = ["Ada Brink built the tide mill in 1911."]


def row(score: int, label: bool) -> dict[str, Any]:
    turn = {"role": "user", "content": f"Question {score}?"}
    return {"messages": [turn], "documents": DOCUMENTS, "label": label}


def judge(request: Generate) -> dict[str, Any]:
    shown = request.messages[-1].content  # type: ignore[index]
    number = int(shown.split("Question ")[1].split("?")[0])
    return {"answerability": "answerable", "confidence": number / 1000}


LABELLED = [row(500 + n, label=n >= 45) for n in range(75)]
NEW = [row(400 + n, label=False) for n in range(40)] + [row(600, label=True)]


def fitted(**told: Any) -> Calibration:
    return calibrate("answerability", LABELLED, Scripted(judge), at_most=0.05, confidence=0.9, **told)


def test_the_contract_says_by_which_data_and_is_the_threshold(tmp_path: Path) -> None:
    place = tmp_path / "fitted.json"
    promise = fitted(path=place, file=tmp_path / "labelled.jsonl").promise
    assert promise is not None and promise.data is not None
    assert (promise.data.file, promise.data.rows, len(promise.data.sha256)) == ("labelled.jsonl", 75, 64)
    assert str(tmp_path) not in place.read_text()
    runtime = Scripted(judge).calibrate_by({"answerability": place})
    kept = runtime.calibrations["answerability"]
    assert kept.promise == promise
    told = [run(answerability(e["messages"], DOCUMENTS), runtime).answerable for e in LABELLED]
    assert told == [e["label"] for e in LABELLED]
    backwards = calibrate("answerability", LABELLED[::-1], Scripted(judge), at_most=0.05).promise
    assert backwards is not None and backwards.data is not None and backwards.data.sha256 == promise.data.sha256


def test_a_threshold_that_was_moved_has_no_promise() -> None:
    found = fitted()
    with pytest.raises(InvalidInput, match="another threshold"):
        replace(found, threshold=found.threshold / 2)
    kept = json.loads(found.to_json())
    for changed in (
        kept | {"threshold": 0.1, "band": None},
        kept | {"promise": kept["promise"] | {"examples": 44}},
        kept | {"promise": kept["promise"] | {"errors": 1}},
        kept | {"promise": kept["promise"] | {"confidence": "high"}},
        kept | {"promise": kept["promise"] | {"data": {"file": "x"}}},
        kept | {"promise": {"rate": 0.05}},
        kept | {"promise": "5%"},
    ):
        with pytest.raises(InvalidInput):
            as_runtime({"kind": "embedded", "calibrations": {"answerability": changed}})
    assert Calibration.from_json(json.dumps(kept)) == found
    del kept["promise"]  # as files of before there were any
    assert Calibration.from_json(json.dumps(kept)).promise is None


def test_new_rows_hold_the_promise_or_break_it() -> None:
    calibrated = {"answerability": fitted()}
    runtime = Scripted(judge).calibrate_by(calibrated)
    holding = compare_with_promise("answerability", NEW, runtime)
    assert holding.holds and (holding.examples, holding.errors, holding.positives, holding.kept) == (40, 0, 1, 1)
    drifted = [row(570 + n, label=False) for n in range(9)] + NEW
    breaking = compare_with_promise("answerability", drifted, runtime)
    assert not breaking.holds and breaking.errors == 9
    assert breaking.p_value < 0.1 and breaking.interval[0] > 0.05 > holding.interval[0]
    routed = as_runtime({"kind": "mixed", "routes": {"answerability": runtime, "*": {"kind": "embedded"}}})
    assert compare_with_promise("answerability", drifted, routed) == breaking
    with pytest.raises(InvalidInput, match="already calibrated for answerability"):
        calibrate("answerability", LABELLED, routed)


def test_while_the_promise_holds_it_is_seldom_said_to_be_broken() -> None:
    promise = fitted().promise
    assert promise is not None
    draw = np.random.default_rng(7)
    alarms = 0
    for _ in range(DRAWS):
        errors = draw.uniform(size=80) < promise.rate
        alarms += not compare(promise, errors * 1.0, [False] * 80).holds
    assert alarms / DRAWS <= 0.12


def test_what_cannot_be_compared_is_named() -> None:
    runtime = Scripted(judge).calibrate_by({"answerability": fitted()})
    for examples, used, named in (
        (LABELLED, runtime, "with the same examples"),
        ([row(600, label=True)], runtime, "0 negative examples"),
        (NEW, Scripted(judge), "no promise for answerability"),
        (NEW, Scripted(judge).calibrate_by({"answerability": fit(*apart(45))}), "no promise for answerability"),
        ([{"label": True}], runtime, r"examples\[0\]"),
    ):
        with pytest.raises(InvalidInput, match=named):
            compare_with_promise("answerability", examples, used)
    with pytest.raises(InvalidInput, match="no calibration"):
        compare_with_promise("query-rewrite", NEW, runtime)


# --- the command ----------------------------------------------------------------------------------------------------


def written(path: Path, numbers: range, label: bool) -> str:
    asked = ("tide mill", "moon")
    rows = [
        {
            "messages": [{"role": "user", "content": f"Who built the {asked[not label]}?"}],
            "documents": [f"{n}. Ada Brink built the tide mill in {1900 + n}."],
            "label": label,
        }
        for n in numbers
    ]
    with path.open("a") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return str(path)


def test_the_command_promises_and_watches(tmp_path: Path) -> None:
    given, out = tmp_path / "labelled.jsonl", tmp_path / "fitted.json"
    written(given, range(22), label=False)
    written(given, range(10), label=True)
    command = ["calibrate", "answerability", "-i", str(given), "-o", str(out), "--at-most"]
    ran = CliRunner().invoke(app, [*command, "0.05"])
    assert ran.exit_code == 2 and "with 22 negative examples; 45 without an error are needed" in " ".join(
        ran.output.split()
    )
    ran = CliRunner().invoke(app, [*command, "0.1", "--confidence", "0.9"])
    assert ran.exit_code == 0, ran.output
    assert "at most 10% of the negative examples reach" in ran.output and "90% confidence" in ran.output
    promise = Calibration.from_json(out.read_text()).promise
    assert promise is not None and promise.data is not None and promise.data.file == "labelled.jsonl"

    config = json.dumps({"kind": "embedded", "calibrations": {"answerability": str(out)}})
    watch = ["calibrate", "answerability", "--runtime", config, "--watch"]
    ran = CliRunner().invoke(app, [*watch, written(tmp_path / "new.jsonl", range(30, 50), label=False)])
    assert ran.exit_code == 0 and "the promise holds" in ran.output, ran.output
    assert "made with 32 rows of labelled.jsonl" in ran.output

    # Questions that the documents answer, labelled as if they did not.
    lines = [json.loads(line) for line in given.read_text().splitlines()]
    wrong = tmp_path / "wrong.jsonl"
    wrong.write_text("".join(json.dumps(row | {"label": False}) + "\n" for row in lines if row["label"]))
    ran = CliRunner().invoke(app, [*watch, str(wrong)])
    assert ran.exit_code == 1 and "the promise is broken" in ran.output, ran.output


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        (["--watch", "new.jsonl", "--at-most", "0.1"], "--at-most"),
        (["--watch", "new.jsonl", "-o", "out.json"], "--output"),
        (["-i", "in.jsonl"], "--output"),
        (["--watch", "nowhere.jsonl", "--runtime", '{"kind": "embedded"}'], "no promise for"),
    ],
)
def test_what_is_wrong_with_watching_is_one_line(changes: list[str], named: str) -> None:
    ran = CliRunner().invoke(app, ["calibrate", "answerability", *changes])
    assert ran.exit_code == 2 and named in ran.output and "Traceback" not in ran.output
