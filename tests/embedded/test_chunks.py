"""A sentence over two neighbouring chunks is read whole by every verdict, and cited where it stands."""

import pytest

from intrinsics_core import answerability, citations, fact_check, hallucination_detection, run

WARRANTY = [
    "The mower has a steel deck. For private customers the warranty is",
    "three years from the date of purchase. Blades are excluded.",
]
MEMBERS = [
    "The sauna opens at noon. The pool on the second floor may only be used by",
    "members over 16. Towels are at the desk.",
]
FEE = [
    "Books can be kept for four weeks. Whoever returns a book more than two weeks after the due date pays a late fee",
    "of 25 euros. Lost books are replaced at cost.",
]
LIBRARY = [
    "The library opens at nine, except on Sundays, and it is closed on all",
    "public holidays and in the last week of December.",
]
KEYS = [
    "Keys are handed out at the desk. If a key is lost, the guest pays for a replacement key,",
    "which costs 40 euros. Bicycles cost 12 euros a day.",
]


def verdicts(question, answer, documents):
    asked = [{"role": "user", "content": question}]
    answered = [*asked, {"role": "assistant", "content": answer}]
    return (
        run(hallucination_detection(answered, documents)),
        run(fact_check(answered, documents)),
        run(answerability(asked, documents)),
        [c.document_text for c in run(citations(answered, documents)).citations],
    )


@pytest.mark.parametrize(
    ("question", "answer", "wrong", "documents"),
    [
        ("How long is the warranty?", "The warranty is three years.", "The warranty is five years.", WARRANTY),
        (
            "Who may use the pool?",
            "The pool may only be used by members over 16.",
            "The pool may only be used by members over 18.",
            MEMBERS,
        ),
        ("How much is the late fee?", "The late fee is 25 euros.", "The late fee is 35 euros.", FEE),
        (
            "When is the library closed?",
            "The library is closed on public holidays.",
            "The library is closed on Mondays.",
            LIBRARY,
        ),
        (
            "How much is a replacement key?",
            "A replacement key costs 40 euros.",
            "A replacement key costs 60 euros.",
            KEYS,
        ),
    ],
)
def test_a_sentence_over_two_chunks_is_read_whole(question, answer, wrong, documents):
    judged, checked, gate, cited = verdicts(question, answer, documents)
    assert judged.label == "faithful" and gate.label == "answerable"
    assert abs(judged.score - checked.score) < 0.1
    assert len(cited) == 2 and documents[0].endswith(cited[0]) and documents[1].startswith(cited[1])
    judged, checked, *_ = verdicts(question, wrong, documents)
    assert judged.label == "unfaithful" and checked.score < 0.5


@pytest.mark.parametrize(
    "documents",
    [
        ["Parking costs 9 euros a day.", "the sauna costs 12 euros."],
        ["Parking costs 9 euros a day", "towels cost 12 euros"],
        ["- Parking costs 9 euros a day", "- the sauna costs 12 euros."],
        ["Parking costs 9 euros a day", "The sauna costs 12 euros."],
        [{"title": "Hotel", "text": "Parking costs 9 euros a day"}, {"title": "Spa", "text": "towels cost 12 euros."}],
    ],
)
def test_what_only_follows_is_no_rest_of_a_sentence(documents):
    judged, checked, _, cited = verdicts("How much is parking?", "Parking costs 12 euros.", documents)
    assert judged.label == "unfaithful" and checked.score < 0.5
    *_, cited = verdicts("How much is parking?", "Parking costs 9 euros.", documents)
    assert len(cited) <= 1
