"""What a sentence that compares titled documents says of each of them."""

import pytest

from intrinsics_core import hallucination_detection, run
from intrinsics_core.embedded.clauses import clauses
from intrinsics_core.embedded.words import told_apart

HOTELS = ["Harbour Hotel", "Garden Hotel"]


@pytest.mark.parametrize(
    ("sentence", "cut"),
    [
        ("The Harbour Hotel has a pool, while the Garden Hotel has a sauna.",
         ["The Harbour Hotel has a pool.", "The Garden Hotel has a sauna."]),
        ("The Garden Hotel has a pool and a sauna.", None),
        ("Breakfast costs 9 euros.", None),
    ],
)  # fmt: skip
def test_a_comparison_is_cut_into_what_it_says_of_each_title(sentence: str, cut: list[str] | None) -> None:
    assert clauses(sentence, told_apart(HOTELS)) == (cut or [sentence])


def test_a_sentence_is_as_right_as_its_weakest_clause_and_keeps_its_place() -> None:
    documents = [
        {"title": "Harbour Hotel", "text": "There is a pool on the roof."},
        {"title": "Garden Hotel", "text": "There is a sauna in the cellar."},
    ]
    told = {}
    for has in ("sauna", "pool"):
        answer = f"The Harbour Hotel has a pool, while the Garden Hotel has a {has}. Welcome!"
        turns = [{"role": "user", "content": "What do the hotels have?"}, {"role": "assistant", "content": answer}]
        result = run(hallucination_detection(turns, documents))
        assert [s.text for s in result.sentences] == [answer[: -len(" Welcome!")], "Welcome!"]
        told[has] = result.sentences[0]
    assert told["sauna"].score > told["pool"].score and told["pool"].label != "faithful"
