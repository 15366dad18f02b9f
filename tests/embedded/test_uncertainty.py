"""Certainty: its grid, its direction, its limits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intrinsics_core.calibration.probabilities import tenth
from intrinsics_core.embedded.uncertainty import certainty
from intrinsics_core.protocol.errors import InvalidInput

GRID = [0.05, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.95]
probability = st.floats(0, 1)


@pytest.mark.parametrize(
    ("p", "expected"), [(0.0, 0.05), (0.0999, 0.05), (0.1, 0.15), (0.5, 0.55), (0.949, 0.95), (1.0, 0.95)]
)
def test_grid(p, expected):
    assert tenth(p) == expected


@given(st.none() | probability, st.none() | probability)
def test_always_on_the_grid_and_near_the_expectation(a, s):
    found = certainty(a, s)
    assert tenth(found) in GRID and abs(tenth(found) - found) <= 0.05 + 1e-12


@given(probability, probability, probability)
def test_more_evidence_never_lowers_it(low, high, other):
    low, high = sorted((low, high))
    assert certainty(low) <= certainty(high)
    assert certainty(low, other) <= certainty(high, other)
    assert certainty(other, low) <= certainty(other, high)


def test_nothing_known_is_even_odds():
    assert certainty(None) == 0.5
    assert certainty(0.5) == 0.5
    assert certainty(0.5, 0.5) == 0.5


def test_an_unsupported_answer_to_an_answerable_question_is_doubted():
    assert certainty(0.9) > 0.8
    assert certainty(0.9, 0.05) < 0.3
    assert certainty(0.2, 0.95) > certainty(0.2)
    assert certainty(None, 0.9) > 0.75


def test_known_value():
    # log-odds of .8 and .9 are ln 4 and ln 9
    assert certainty(0.8, 0.9) == pytest.approx(1 / (1 + 4**-0.35 * 9**-0.65))


def test_no_surer_than_the_support_of_the_answer():
    assert certainty(0.99, 0.4) == pytest.approx(0.4)
    assert certainty(None, 0.1) == pytest.approx(0.1)
    assert certainty(0.1, 0.4) < 0.4


def test_what_claims_nothing_is_right_where_the_question_has_no_answer():
    assert certainty(0.9, claims=False) < 0.2 and certainty(0.1, claims=False) > 0.8
    assert certainty(None, claims=False) == 0.5  # nothing is known without passages


@pytest.mark.parametrize("bad", [-0.1, 1.1, float("nan")])
def test_probabilities_only(bad):
    with pytest.raises(InvalidInput, match="answerability"):
        certainty(bad)
    with pytest.raises(InvalidInput, match="support"):
        certainty(0.5, bad)
    with pytest.raises(InvalidInput, match="probability"):
        tenth(bad)
