"""The fact check: which sources are read, what they weigh, and what their scores come to. Computed by hand."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from math import exp, log
from typing import Any

import pytest

from intrinsics_core import InvalidInput, fact_check, hallucination_detection, run
from intrinsics_core.encoders.profile import encoders_profile
from intrinsics_core.profiles.asking import data_of
from intrinsics_core.protocol.profile import Format, Profile
from intrinsics_core.protocol.requests import Generate, Generated, Scored
from intrinsics_core.protocol.results import FactCheck
from intrinsics_core.runtimes.scripted import Scripted

ASKED = [{"role": "user", "content": "Who built it?"}, {"role": "assistant", "content": "Ada Brink."}]

# The sources in the caller's order: the share of each of all relevance (their logits are its logarithm, up to a
# constant), and how far each supports the answer. The most relevant one supports it neither most nor least.
SHARES = (0.2, 0.4, 0.1, 0.3)
LOGITS = tuple(log(share) + 2 for share in SHARES)
SUPPORT = (0.9, 0.5, 0.1, 0.2)

# What is read, by the number of sources: their weights (shares of the relevance of those that are read), and the sum
# of weight times support, its least and its greatest support.
#               weights, in the caller's order   weighted                              min  max
READ = {
    1: ((0, 1, 0, 0),                            0.5,                                  0.5, 0.5),
    2: ((0, 4 / 7, 0, 3 / 7),                    (4 * 0.5 + 3 * 0.2) / 7,              0.2, 0.5),
    3: ((2 / 9, 4 / 9, 0, 3 / 9),                (2 * 0.9 + 4 * 0.5 + 3 * 0.2) / 9,    0.2, 0.9),
    4: ((0.2, 0.4, 0.1, 0.3),                    0.18 + 0.20 + 0.01 + 0.06,            0.1, 0.9),
}  # fmt: skip
# top_k and top_p -> how many are read. Their shares of all relevance add up to .4, .7, .9, 1.
CHOSEN = {
    (None, None): 4, (1, None): 1, (2, None): 2, (3, None): 3, (4, None): 4, (9, None): 4,
    (None, 0.3): 1, (None, 0.5): 2, (None, 0.8): 3, (None, 0.95): 4, (None, 1.0): 4,
    (3, 0.5): 2, (2, 0.8): 2, (1, 0.95): 1, (4, 0.3): 1, (3, 1.0): 3,
}  # fmt: skip


def _told(kind: str) -> Format[float]:
    """A format whose request names what is asked, of which source and answer, and whose reply is a number."""
    return Format(
        lambda task: [Generate(task.intrinsic, prompt=f"{kind}|{task.documents[0].text}|{task.response}")],
        lambda task, replies: float(json.loads(replies[0].text)),
    )


PROFILE = Profile("numbers", {"relevance": _told("relevance"), "entailment": _told("support")})


def driven(
    documents: Sequence[Any],
    relevance: Callable[[str], float],
    support: Callable[[str, str], float],
    answer: str = "Ada Brink.",
    **options: Any,
) -> tuple[FactCheck, list[tuple[str, str]]]:
    """The result, and the (source, claim) pairs that were read."""
    messages = [ASKED[0], {"role": "assistant", "content": answer}]
    program = fact_check(messages, documents, **options).start(PROFILE)
    first = [request.prompt.split("|") for request in next(program)]
    assert {kind for kind, *_ in first} == {"relevance"}
    second = [
        request.prompt.split("|") for request in program.send([Generated(str(relevance(s))) for _, s, _ in first])
    ]
    pairs = [(source, claim) for _, source, claim in second]
    with pytest.raises(StopIteration) as stopped:
        program.send([Generated(str(support(*pair))) for pair in pairs])
    return stopped.value.value, pairs


def checked(
    logits: Sequence[float], support: Sequence[float], order: Sequence[int] | None = None, **options: Any
) -> tuple[FactCheck, list[int]]:
    """The result for sources of which only numbers are known, and the numbers of those that were read."""
    documents = [{"id": str(i), "text": str(i)} for i in order or range(len(logits))]
    result, pairs = driven(documents, lambda s: logits[int(s)], lambda s, _: support[int(s)], **options)
    return result, [int(source) for source, _ in pairs]


@pytest.mark.parametrize("aggregate", ["weighted", "min", "max"])
@pytest.mark.parametrize(("top_k", "top_p"), CHOSEN)
def test_the_table(top_k: int | None, top_p: float | None, aggregate: str) -> None:
    weights, *totals = READ[CHOSEN[top_k, top_p]]
    result, read = checked(LOGITS, SUPPORT, top_k=top_k, top_p=top_p, aggregate=aggregate)
    assert read == [i for i, weight in enumerate(weights) if weight]
    assert result.score == pytest.approx(dict(zip(("weighted", "min", "max"), totals, strict=True))[aggregate])
    assert [source.document_id for source in result.sources] == ["0", "1", "2", "3"]
    assert [source.relevance for source in result.sources] == pytest.approx([1 / (1 + exp(-x)) for x in LOGITS])
    assert [source.weight for source in result.sources] == pytest.approx(weights)
    assert [source.score for source in result.sources] == [SUPPORT[i] if i in read else None for i in range(4)]
    assert result.read == len(read) / 4  # of four sources of one character each


def test_by_default_the_best_of_the_sources_that_hold_nine_tenths_of_the_relevance() -> None:
    shares = (0.55, 0.3, 0.1, 0.05)
    result, read = checked([log(share) for share in shares], (0.1, 0.2, 0.7, 0.9))
    assert read == [0, 1, 2]
    assert result.score == 0.7


def test_the_order_of_the_sources_changes_no_score() -> None:
    order = (2, 0, 3, 1)
    result, read = checked(LOGITS, SUPPORT, order, top_k=2, top_p=None, aggregate="weighted")
    assert read == [3, 1]
    assert [source.document_id for source in result.sources] == ["2", "0", "3", "1"]
    assert [source.weight for source in result.sources] == pytest.approx([0, 0, 3 / 7, 4 / 7])
    assert result.score == pytest.approx(READ[2][1])


@pytest.mark.parametrize("aggregate", ["weighted", "min", "max"])
def test_one_source_is_all_there_is(aggregate: str) -> None:
    result, _ = checked((-9.0,), (0.3,), aggregate=aggregate)
    assert (result.score, result.sources[0].weight, result.read) == (0.3, 1.0, 1.0)


def test_a_source_given_twice_weighs_twice_and_is_told_twice() -> None:
    documents = [{"id": "a", "text": "0"}, {"id": "a", "text": "0"}, {"id": "b", "text": "1"}]
    result, _ = driven(documents, lambda s: 0.0, lambda s, _: (0.9, 0.3)[int(s)], aggregate="weighted", top_p=None)
    assert [(s.document_id, s.index) for s in result.sources] == [("a", 0), ("a", 1), ("b", 2)]
    assert result.score == pytest.approx((0.9 + 0.9 + 0.3) / 3)


def test_equally_relevant_sources_are_read_in_the_callers_order() -> None:
    result, read = checked((0.5, 0.5, 0.5), (0.2, 0.4, 0.9), top_k=2, top_p=None, aggregate="weighted")
    assert read == [0, 1]
    assert result.score == pytest.approx(0.3)


def test_where_nothing_is_relevant_all_weigh_the_same() -> None:
    result, _ = checked((-36.0, -36.0), (0.2, 0.8), aggregate="weighted")
    assert [source.weight for source in result.sources] == [0.5, 0.5]
    assert result.score == pytest.approx(0.5)


@pytest.mark.parametrize(("combine", "score"), [("mean", (0.9 + 0.3 + 0.6) / 3), ("min", 0.3)])
def test_each_sentence_of_a_response_is_a_claim(combine: str, score: float) -> None:
    support = {"It is old.": (0.9, 0.1), "It is red.": (0.2, 0.3), "No.": (0.6, 0.5)}
    answer = "It is old.  It is red.\nNo."
    result, pairs = driven(["0", "1"], lambda s: 0.0, lambda s, c: support[c][int(s)], answer, combine=combine)
    assert pairs == [(source, claim) for claim in support for source in ("0", "1")]
    assert [(c.text, c.score) for c in result.claims] == [("It is old.", 0.9), ("It is red.", 0.3), ("No.", 0.6)]
    assert all(answer[c.begin : c.end] == c.text for c in result.claims)
    assert result.score == pytest.approx(score)
    mean = combine == "mean"
    assert [s.score for s in result.sources] == pytest.approx([(1.7 if mean else 0.6) / 3, (0.9 if mean else 0.3) / 3])


def test_sources_may_be_sentences() -> None:
    documents = [
        {"id": "x", "text": "It is old. It was built."},
        {"id": "blank", "text": " "},
        {"id": "y", "text": "Red."},
    ]
    support = {"It is old.": 0.1, "It was built.": 0.8, "Red.": 0.4}
    result, pairs = driven(documents, lambda s: 0.0, lambda s, _: support[s], sources="sentences", top_p=None)
    assert [source for source, _ in pairs] == list(support)
    assert result.score == 0.8
    found = [(s.document_id, s.index, documents[s.index]["text"][s.begin : s.end], s.score) for s in result.sources]
    assert found == [("x", 0, "It is old.", 0.1), ("x", 0, "It was built.", 0.8), ("y", 2, "Red.", 0.4)]


def test_sources_without_text_judge_nothing() -> None:
    result = run(fact_check(ASKED, [" ", "\n"]))
    assert (result.score, result.claims, result.sources) == (None, (), ())
    assert "no text" in (result.reason or "")


LIDO = (
    "The lido is open from 9 a.m. to 8 p.m. from May to September. A day ticket costs 6 euros for adults and 3 euros "
    "for children under 14. The water slide is closed on Mondays. Lockers need a 2 euro coin. Dogs are not admitted."
)
TABLE = "| Who | Price |\n|---|---|\n| Adults | 6 euros |\n| Children under 14 | 3 euros |"


def by_default(question: str, answer: str, **options: Any) -> FactCheck:
    """The embedded default's result, by one source."""
    turns = [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
    return run(fact_check(turns, [LIDO], **options))


@pytest.mark.parametrize(
    ("question", "answer", "claims"),
    [
        (
            "When does the lido open?",
            "Hello! Here is what I found:\n\n- The lido opens at 9 a.m.\n\nLet me know if you need more.",
            ["- The lido opens at 9 a.m."],
        ),
        ("What does a ticket cost?", TABLE, TABLE.split("\n")[2:]),
        ("What does a ticket cost?", "**Prices**\n- Adults: 6 euros", ["- Adults: 6 euros"]),
        ("When does the lido open?", "The lido opens at 9 a.m.", ["The lido opens at 9 a.m."]),
    ],
)
def test_what_claims_nothing_is_no_claim_and_costs_nothing(question: str, answer: str, claims: list[str]) -> None:
    """Those are claims that hallucination detection judges, and their offsets are the caller's."""
    result = by_default(question, answer, combine="min")
    assert [claim.text for claim in result.claims] == claims
    assert all(answer[claim.begin : claim.end] == claim.text for claim in result.claims)
    assert result.score is not None and result.score > 0.5
    turns = [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
    judged = run(hallucination_detection(turns, [LIDO])).sentences
    assert claims == [sentence.text for sentence in judged if sentence.label != "NA"]


def test_a_wrong_claim_gains_nothing_by_courtesy() -> None:
    rude = by_default("When does the lido open?", "The lido opens at 11 a.m.")
    polite = by_default("When does the lido open?", "Hello! The lido opens at 11 a.m.")
    assert polite.score == rude.score
    assert rude.score is not None and rude.score < 0.5


@pytest.mark.parametrize("answer", ["I don't know.", "Hello! How can I help?", "---"])
def test_an_answer_that_claims_nothing_has_no_score(answer: str) -> None:
    result = by_default("When does the lido open?", answer)
    assert (result.score, result.claims, result.sources) == (None, (), ())
    assert result.reason == "nothing claimed"


def test_items_and_rows_are_read_without_the_marks_of_their_form() -> None:
    """A claim in a form has the score that hallucination detection gives it where there is one source."""
    question, answer = "What does a ticket cost?", f"{TABLE}\n\n1. \N{WHITE HEAVY CHECK MARK} Adults pay 6 euros."
    turns = [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
    judged = [s.score for s in run(hallucination_detection(turns, [LIDO])).sentences if s.label != "NA"]
    assert [claim.score for claim in by_default(question, answer).claims] == judged


def test_the_question_is_read_as_it_stands_alone() -> None:
    turns = [
        {"role": "user", "content": "What is the lido?"},
        {"role": "assistant", "content": "A public bath."},
        {"role": "user", "content": "When does it open?"},
    ]
    right, wrong = (
        run(fact_check([*turns, {"role": "assistant", "content": answer}], [LIDO])).score
        for answer in ("At 9 a.m.", "At 7 a.m.")
    )
    assert right is not None and wrong is not None and right > wrong


def test_a_profile_that_cannot_say_what_claims_something_judges_every_sentence() -> None:
    """Also where its base can: what the base says of sentences is for the base's own judge."""
    turns = [ASKED[0], {"role": "assistant", "content": "Hello! Ada Brink built it."}]
    model = Scripted(lambda r: Scored(tuple((1.0,) for _ in r.pairs), ("yes",)))
    result = run(fact_check(turns, ["Ada."]), model, profile=encoders_profile(("relevance", "entailment")))
    assert [claim.text for claim in result.claims] == ["Hello!", "Ada Brink built it."]
    result, pairs = driven(["0"], lambda s: 0.0, lambda s, c: 0.5, "Hello! Ada Brink built it.")
    assert [claim for _, claim in pairs] == [claim.text for claim in result.claims] == ["Hello!", "Ada Brink built it."]


def test_a_short_answer_is_judged_with_its_question() -> None:
    """The embedded default, too: "No." alone has no word that a source could hold."""
    sources = ["The tide mill is closed in winter.", "Fog is common in May."]
    asked = [{"role": "user", "content": "Is the tide mill open in winter?"}, {"role": "assistant", "content": "No."}]
    result = run(fact_check(asked, sources))
    assert result.score is not None
    assert [claim.text for claim in result.claims] == ["No."]
    assert result.sources[0].weight > result.sources[1].weight


@pytest.mark.parametrize(
    ("answer", "ends"),
    [
        ("Ada Brink", "is Ada Brink."), ("Ada Brink.  ", "is Ada Brink."), ("“Ada Brink.”", "is “Ada Brink.”"),
        ("Who knows?", "is Who knows?"), ("艾达。", "is 艾达。"), ("1911", "is 1911."),
    ],
)  # fmt: skip
def test_the_claim_ends_with_its_period(answer: str, ends: str) -> None:
    """Provenance's template (A.1) for the models that users name, and the same of a language model."""
    asked = [ASKED[0], {"role": "assistant", "content": answer}]
    model = Scripted(lambda r: Scored(tuple((1.0,) for _ in r.pairs), ("yes",)))
    run(fact_check(asked, ["Ada."]), model, profile=encoders_profile(("relevance", "entailment")))
    (claim,) = {claim for request in model.requests if request.task == "entailment" for _, claim in request.pairs}
    assert claim == f"The answer to question Who built it? {ends}"
    model = Scripted(lambda r: {"context_relevance": "relevant", "supported": "yes"})
    run(fact_check(asked, ["Ada."]), model)
    assert data_of(model.requests[-1].messages[-1].content)["claim"].endswith(ends.replace("is ", "is: "))


@pytest.mark.parametrize(
    "bad",
    [{"top_k": 0}, {"top_p": 0.0}, {"top_p": 1.1}, {"aggregate": "mean"}, {"sources": "words"}, {"combine": "max"}],
)
def test_an_option_out_of_range_is_named(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(bad))):
        fact_check(ASKED, ["A source."], **bad)
