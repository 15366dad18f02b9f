"""Calibration: known values, recovery of a known curve, what it refuses, its JSON."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from intrinsics_core.calibration.fitting import Calibration, auroc, calibrate, f1, quality, reliability, weighted_f1
from intrinsics_core.protocol.errors import InvalidInput


def sample(slope: float, intercept: float, n: int = 20_000, seed: int = 0) -> tuple[list[float], list[bool]]:
    draw = np.random.default_rng(seed)
    scores = draw.uniform(0.2, 0.6, n)
    labels = draw.uniform(size=n) < 1 / (1 + np.exp(-(slope * scores + intercept)))
    return scores.tolist(), labels.tolist()


def test_recovers_the_curve_that_made_the_labels():
    found = calibrate(*sample(12.0, -5.0))
    assert found.slope == pytest.approx(12.0, rel=0.05)
    assert found.intercept == pytest.approx(-5.0, rel=0.05)
    assert found.apply(5 / 12) == pytest.approx(0.5, abs=0.01)
    assert found.threshold == pytest.approx(0.5, abs=0.06)


def test_a_monotone_map_keeps_auroc_and_mends_ece():
    found = calibrate(*sample(12.0, -5.0))
    assert found.after.auroc == pytest.approx(found.before.auroc, abs=1e-12)
    assert found.before.ece > 0.1
    assert found.after.ece < 0.02
    assert found.after.brier < found.before.brier


def test_the_fit_is_where_the_gradient_vanishes():
    scores, labels = sample(3.0, -1.0, 60)
    found = calibrate(scores, labels)
    up, down = sum(labels), len(labels) - sum(labels)
    targets = [(up + 1) / (up + 2) if y else 1 / (down + 2) for y in labels]
    residuals = [found.apply(s) - t for s, t in zip(scores, targets, strict=True)]
    assert sum(residuals) == pytest.approx(0, abs=1e-6)
    assert sum(r * s for r, s in zip(residuals, scores, strict=True)) == pytest.approx(0, abs=1e-6)


def test_separable_scores_stay_finite():
    found = calibrate([0.1] * 10 + [0.9] * 10, [0] * 10 + [1] * 10)
    assert math.isfinite(found.slope)
    assert found.objective_value == 1.0
    assert not found.decide(0.1)
    assert found.decide(0.9)


def test_the_band_is_where_both_kinds_lie():
    scores, labels = sample(12.0, -5.0)
    found = calibrate(scores, labels)
    p = np.array([found.apply(score) for score in scores])
    low, high = found.band
    assert low <= found.threshold <= high
    assert np.mean(p[np.array(labels)] < low) == pytest.approx(0.1, abs=0.002)
    assert np.mean(p[~np.array(labels)] >= high) == pytest.approx(0.2, abs=0.002)
    assert [found.unsure(x) for x in (low - 1e-6, low, high - 1e-6, high)] == [False, True, True, False]

    apart = calibrate([0.1] * 10 + [0.9] * 10, [0] * 10 + [1] * 10)
    assert not any(apart.unsure(apart.apply(score)) for score in (0.1, 0.9))  # nothing lies between


@pytest.mark.parametrize("seed", range(12))
def test_scores_on_the_edge_of_a_band_are_in_it(seed: int):
    """A judge has few scores, so that an edge is one of them."""
    draw = np.random.default_rng(seed)
    scores = draw.choice([0.1, 0.3, 0.5, 0.7, 0.9], 60)
    labels = draw.uniform(size=60) < scores
    found = calibrate(scores.tolist(), labels.tolist())
    sure = np.array([not found.unsure(found.apply(score)) for score in scores])
    true = np.array([found.decide(score) for score in scores])
    assert np.mean((sure & ~true)[labels]) <= 0.1
    assert np.mean((sure & true)[~labels]) <= 0.2


def test_a_file_of_before_there_were_bands_has_none():
    found = calibrate(*sample(12.0, -5.0, 50))
    kept = json.loads(found.to_json())
    assert Calibration.from_json(json.dumps(kept)) == found
    assert not Calibration.from_json(json.dumps({k: v for k, v in kept.items() if k != "band"})).unsure(found.threshold)
    for wrong in ([0.9, 0.95], [0.1], "ab", 3, [None, 1.0]):
        with pytest.raises(InvalidInput, match="not a saved calibration"):
            Calibration.from_json(json.dumps(kept | {"band": wrong, "threshold": 0.5}))
    with pytest.raises(InvalidInput, match="the key 'before' is missing; expected what calibrate"):
        Calibration.from_json("{}")


def test_constant_scores_give_the_base_rate():
    for score in (0.3, 0.4, 0.5):
        found = calibrate([score] * 20, [1] * 15 + [0] * 5)
        assert found.apply(score) == pytest.approx(0.75, abs=0.05)
        assert (found.after.auroc, found.slope) == (0.5, 0)


def test_labels_the_wrong_way_round_are_told():
    scores = [i / 20 for i in range(20)]
    with pytest.raises(InvalidInput, match=r"labels the wrong way round\?.*AUROC of 0\.00"):
        calibrate(scores, [score < 0.5 for score in scores])
    assert Calibration.from_json(calibrate(scores, [score > 0.5 for score in scores]).to_json()).slope > 0


def test_a_score_that_is_none_is_named():
    with pytest.raises(InvalidInput, match=r"not finite at \[1\]"):
        calibrate([0.5, None, *[0.5] * 10], [1] * 6 + [0] * 6)


@pytest.mark.parametrize(
    ("scores", "labels", "expected"),
    [
        ([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1], 0.75),
        ([1, 2, 3, 4], [0, 0, 1, 1], 1.0),
        ([1, 1, 1, 1], [0, 1, 0, 1], 0.5),
        ([1, 2, 2, 3], [0, 0, 1, 1], 0.875),
        ([3, 1], [0, 1], 0.0),
    ],
)
def test_auroc_known_values(scores, labels, expected):
    assert auroc(scores, labels) == pytest.approx(expected)


def test_f1_known_values():
    labels, predictions = np.array([1, 1, 1, 0], bool), np.array([1, 1, 0, 1], bool)
    assert f1(labels, predictions) == pytest.approx(2 / 3)
    assert weighted_f1(labels, predictions) == pytest.approx(0.75 * 2 / 3 + 0.25 * 0.0)
    assert f1(~np.ones(3, bool), ~np.ones(3, bool)) == 0.0


def test_reliability_and_ece_by_hand():
    table = reliability([0.05, 0.1, 0.95, 1.0, 0.0], [0, 1, 1, 1, 0])
    assert [(b.low, b.high, b.count) for b in table] == [(0.0, 0.1, 3), (0.9, 1.0, 2)]
    assert table[0].predicted == pytest.approx(0.05)
    assert table[0].observed == pytest.approx(1 / 3)
    found = quality([0.05, 0.1, 0.95, 1.0, 0.0], [0, 1, 1, 1, 0])
    assert found.ece == pytest.approx((3 * (1 / 3 - 0.05) + 2 * 0.025) / 5)


def test_scores_outside_0_1_have_no_ece():
    found = quality([-3.0, 4.0], [0, 1])
    assert (found.auroc, found.ece, found.table) == (1.0, None, None)
    assert calibrate([s * 30 - 7 for s in sample(5, -2)[0]], sample(5, -2)[1]).after.ece < 0.03


def test_objective_decides_the_threshold():
    scores, labels = sample(8.0, -5.0, 4000)
    balanced, positive = calibrate(scores, labels), calibrate(scores, labels, objective="f1")
    assert positive.threshold < balanced.threshold

    def recall(y, p):
        return float((y & p).sum() / y.sum())

    eager = calibrate(scores, labels, objective=recall)
    assert (eager.objective, eager.objective_value) == ("recall", 1.0)


def test_json_round_trip_is_plain():
    found = calibrate(*sample(6.0, -2.0, 200))
    assert Calibration.from_json(found.to_json()) == found
    assert json.loads(found.to_json())["slope"] == found.slope


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "null", '{"slope": 1}', '{"before": 3}', "pickle", '{"before": {"table": null}}']
)
def test_json_that_is_not_ours(text):
    with pytest.raises(InvalidInput, match="not a saved calibration"):
        Calibration.from_json(text)


def test_json_with_a_nan():
    text = calibrate(*sample(6.0, -2.0, 200)).to_json()
    slope = json.loads(text)["slope"]
    with pytest.raises(InvalidInput, match="finite"):
        Calibration.from_json(text.replace(str(slope), "NaN", 1))


@pytest.mark.parametrize(
    ("scores", "labels", "says"),
    [
        ([0.1] * 20, [1] * 20, "both classes"),
        ([0.1] * 20, [0] * 20, "both classes"),
        ([0.1] * 9, [0, 1, 1] * 3, "at least 10"),
        ([], [], "at least 10"),
        ([0.1] * 20, [0, 1] * 9, "one label for each score"),
        ([float("nan")] + [0.1] * 19, [0, 1] * 10, "finite"),
        ([float("inf")] + [0.1] * 19, [0, 1] * 10, "finite"),
        (["high"] * 20, [0, 1] * 10, "numbers"),
        ([0.1] * 20, [0, 2] * 10, "True or False"),
        ([0.1] * 20, ["yes", "no"] * 10, "True or False"),
    ],
)
def test_refuses_with_a_reason(scores, labels, says):
    with pytest.raises(InvalidInput, match=says):
        calibrate(scores, labels)


def test_unknown_objective_and_nan_score():
    scores, labels = sample(6.0, -2.0, 100)
    with pytest.raises(InvalidInput, match="objective"):
        calibrate(scores, labels, objective="auc")
    with pytest.raises(InvalidInput, match="NaN"):
        calibrate(scores, labels).apply(float("nan"))


@given(
    st.lists(st.tuples(st.floats(-1e3, 1e3), st.booleans()), min_size=10, max_size=60).filter(
        lambda rows: len({y for _, y in rows}) == 2
    )
)
def test_any_finite_examples_give_probabilities(rows):
    try:
        found = calibrate([s for s, _ in rows], [y for _, y in rows])
    except InvalidInput as error:
        assert "have the lower scores" in str(error)
        return
    scores = [*sorted(s for s, _ in rows), -1e300, 1e300]
    values = [found.apply(s) for s in scores]
    assert all(0 <= v <= 1 for v in values)
    steps = np.diff(values[:-2])
    assert (steps >= -1e-12).all()


@pytest.mark.parametrize(
    ("field", "value"),
    [("slope", -1.0), ("slope", 10**400), ("threshold", 5), ("threshold", -0.1), ("threshold", 10**400),
     ("intercept", True), ("intercept", "1"), ("slope", None)],
)  # fmt: skip
def test_a_saved_calibration_that_no_fit_could_have_made_is_refused(field, value):
    scores = [i / 40 for i in range(40)]
    saved = json.loads(calibrate(scores, [score > 0.4 for score in scores]).to_json())
    assert Calibration.from_json(json.dumps(saved)).slope > 0
    with pytest.raises(InvalidInput, match="not a saved calibration"):
        Calibration.from_json(json.dumps(saved | {field: value}))
    with pytest.raises(InvalidInput, match="not a saved calibration"):
        Calibration.from_json("[" * 100_000)
