"""Probabilities of labels from the log-probabilities of tokens."""

from __future__ import annotations

import math

import pytest

from intrinsics_core.protocol.requests import TokenLogprob
from intrinsics_core.replies.labels import label_probabilities

ANSWERABLE = ("answerable", "unanswerable")


def token(text: str, probability: float, **others: float) -> TokenLogprob:
    top = {text: probability, **others}
    return TokenLogprob(text, math.log(probability), tuple((name, math.log(p)) for name, p in top.items()))


def tokens(*places: dict[str, float]) -> list[TokenLogprob]:
    """The first key of each place is the token that was generated."""
    return [token(next(iter(place)), place[next(iter(place))], **place) for place in places]


def test_no_tokens_tell_nothing() -> None:
    assert label_probabilities(None, ANSWERABLE) is None
    assert label_probabilities([], ANSWERABLE) is None


def test_one_token_a_label() -> None:
    found = label_probabilities(tokens({"answerable": 0.9, "unanswerable": 0.1}), ANSWERABLE)
    assert found == pytest.approx({"answerable": 0.9, "unanswerable": 0.1})


def test_several_tokenizations_of_a_label_are_summed() -> None:
    place = {"un": 0.4, "una": 0.2, "unanswer": 0.1, "unanswerable": 0.05, "answer": 0.15, "answerable": 0.1}
    found = label_probabilities(tokens(place, {"answerable": 1.0}), ANSWERABLE)
    assert found == pytest.approx({"answerable": 0.25, "unanswerable": 0.75})


def test_other_tokens_are_left_out_and_the_rest_renormalised() -> None:
    found = label_probabilities(tokens({"un": 0.3, "answer": 0.1, "Maybe": 0.6}), ANSWERABLE)
    assert found == pytest.approx({"answerable": 0.25, "unanswerable": 0.75})


def test_quotes_and_space_before_the_label_are_passed_over() -> None:
    places = tokens({" ": 0.5, "{": 0.5}, {'"': 1.0}, {"un": 0.8, "answer": 0.2}, {"answerable": 1.0}, {'"': 1.0})
    assert label_probabilities(places, ANSWERABLE) == pytest.approx({"answerable": 0.2, "unanswerable": 0.8})


def test_a_shared_first_token_keeps_what_was_decided_before_it() -> None:
    """ "p" leads to two labels, so its share is divided by the next token; "none" had its share already."""
    places = tokens({"p": 0.6, "none": 0.4}, {"artial": 0.75, "ositive": 0.25})
    found = label_probabilities(places, ("partial", "positive", "none"))
    assert found == pytest.approx({"partial": 0.45, "positive": 0.15, "none": 0.4})


def test_digits_are_not_prefixes_of_numbers() -> None:
    found = label_probabilities(tokens({"8": 0.5, "85": 0.3, "9": 0.2}), tuple("0123456789"))
    assert found is not None
    assert found["8"] == pytest.approx(0.5 / 0.7) and found["9"] == pytest.approx(0.2 / 0.7)


def test_label_after_a_place_in_the_text() -> None:
    places = tokens({'{"answerable": ': 1.0}, {'"': 1.0}, {"un": 0.9, "answer": 0.1}, {"answerable": 1.0}, {'"}': 1.0})
    found = label_probabilities(places, ANSWERABLE, start=len('{"answerable": '))
    assert found == pytest.approx({"answerable": 0.1, "unanswerable": 0.9})


def test_alternatives_of_a_token_across_the_start_must_share_its_beginning() -> None:
    places = tokens({': "un': 0.5, ': "answer': 0.25, "}  unanswerable": 0.25}, {"answerable": 1.0})
    found = label_probabilities(places, ANSWERABLE, start=2)
    assert found == pytest.approx({"answerable": 1 / 3, "unanswerable": 2 / 3})


def test_text_that_leaves_every_label_tells_nothing() -> None:
    assert label_probabilities(tokens({"perhaps": 0.9, "answerable": 0.1}), ANSWERABLE) is None
    assert label_probabilities(tokens({"un": 1.0}, {"clear": 1.0}), ("unseen", "unanswerable")) is None


def test_labels_that_hold_one_another() -> None:
    labels = ("relevant", "partially relevant", "irrelevant")
    found = label_probabilities(tokens({"partially": 0.5, "relevant": 0.3, "ir": 0.2}, {" relevant": 1.0}), labels)
    assert found == pytest.approx({"relevant": 0.3, "partially relevant": 0.5, "irrelevant": 0.2})


@pytest.mark.parametrize("logprob", [float("-inf"), float("nan"), 0.5])
def test_odd_log_probabilities_do_no_harm(logprob: float) -> None:
    place = TokenLogprob("answerable", -0.1, (("unanswerable", logprob),))
    found = label_probabilities([place], ANSWERABLE)
    assert found is not None and sum(found.values()) == pytest.approx(1.0)
    assert all(0 <= p <= 1 for p in found.values())


@pytest.mark.parametrize("listed", [(), (("un", math.log(0.51)),)])
def test_generated_tokens_alone_tell_nothing_of_the_other_labels(listed: tuple[tuple[str, float], ...]) -> None:
    places = [TokenLogprob("un", math.log(0.51), listed), TokenLogprob("answerable", -0.01)]
    assert label_probabilities(places, ANSWERABLE) is None
    assert label_probabilities([TokenLogprob("7", -0.7, (("7", -0.7),))], tuple("0123456789")) is None


def test_alternatives_of_no_label_show_that_others_were_considered() -> None:
    found = label_probabilities(tokens({"un": 0.99, "Maybe": 0.01}, {"answerable": 1.0}), ANSWERABLE)
    assert found == {"answerable": 0.0, "unanswerable": 1.0}


def test_alternatives_behind_the_label_say_nothing_of_it() -> None:
    places = [TokenLogprob("un", math.log(0.51)), *tokens({"answerable": 0.9, "clear": 0.1})]
    assert label_probabilities(places, ANSWERABLE) is None


def test_impossible_tokens_alone_tell_nothing() -> None:
    assert label_probabilities([TokenLogprob("answerable", float("-inf"))], ANSWERABLE) is None


def test_space_before_a_label_weighs_what_comes_after_it() -> None:
    """A label without the space was an alternative to all that follows the space."""
    places = tokens({" ": 0.6, "answerable": 0.4}, {"un": 0.6, "answer": 0.4}, {"answerable": 1.0})
    found = label_probabilities(places, ANSWERABLE)
    assert found == pytest.approx({"answerable": 0.64, "unanswerable": 0.36})


def test_alternatives_that_are_spelled_alike_are_summed() -> None:
    place = TokenLogprob("un", math.log(0.4), tuple((t, math.log(p)) for t, p in [("un", 0.4), ("answer", 0.3)] * 1
                                                    + [("answer", 0.3)]))  # fmt: skip
    found = label_probabilities([place, token("answerable", 1.0)], ANSWERABLE)
    assert found == pytest.approx({"answerable": 0.6, "unanswerable": 0.4})


def test_the_generated_token_counts_once_whether_it_is_among_the_alternatives_or_not() -> None:
    for top in ([("8", 0.25), ("9", 0.75)], [("9", 0.75)], [("8", 0.125), ("9", 0.625)]):
        place = TokenLogprob("8", math.log(0.25), tuple((t, math.log(p)) for t, p in top))
        found = label_probabilities([place], tuple("0123456789"))
        alike = 0.125 if ("8", 0.125) in top else 0.0  # another token of the same spelling
        assert found is not None and found["8"] == pytest.approx(0.25 + alike)


def test_a_label_that_no_alternative_leads_to_has_no_more_than_the_least_of_them() -> None:
    """Servers that constrain a reply may list the twenty likeliest tokens as they were before the constraint."""
    found = label_probabilities([token("un", 0.01, **{"...": 0.6, "true": 0.005})], ANSWERABLE)
    assert found == pytest.approx({"answerable": 1 / 3, "unanswerable": 2 / 3})
    quoted = [token(' "', 0.9, answer=1e-6), token("un", 0.01, **{"...": 0.6, "true": 0.005})]
    before = label_probabilities(quoted, ANSWERABLE)  # what another place listed of it does not stand for this one
    assert before == pytest.approx({"answerable": 1 / 3, "unanswerable": 2 / 3}, rel=1e-3)
    sure = label_probabilities([token("un", 0.999, **{"...": 0.0009})], ANSWERABLE)  # 0.0001 is left
    assert sure is not None and sure["answerable"] == pytest.approx(0.0001, rel=0.01)
    place = token("8", 0.5, **{"9": 0.25, "x": 0.2})  # eight digits share 0.05
    digits = label_probabilities([place], tuple("0123456789"))
    assert (
        digits is not None and digits["0"] == pytest.approx(0.05 / 8 / 0.8) and sum(digits.values()) == pytest.approx(1)
    )
