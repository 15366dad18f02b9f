import pytest

from intrinsics_core import answerability, hallucination_detection, run
from intrinsics_core.text.scripts import unfitted_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Who built it?", None), ("", None), ("42 %", None), ("Où est la bibliothèque?", "French"),
        ("灯塔是谁建的？", "CJK"), ("Кто построил мельницу?", "Cyrillic"), ("من بنى الطاحونة؟", "Arabic"),
        ("The word 灯塔 means lighthouse.", None),
        ("Who wrote Преступление и наказание?", None), ("Кто поёт песню The End?", "Cyrillic"),
        ("Wann wurde die Mühle gebaut, und von wem?", "German"), ("El molino fue construido en 1911.", "Spanish"),
        ("De molen werd in 1911 gebouwd door Ada Brink.", "Dutch"), ("Quando foi construído o moinho?", "Portuguese"),
        # What only looks foreign: names, titles, one word, a list.
        ("Who sang La La Land de la Cruz?", None), ("Le restaurant Le Petit Chat is in Paris.", None),
        ("La Jolla Los Angeles distance", None), ("drive El Paso Las Vegas", None), ("De La Soul albums", None),
        ("Rio de la Plata depth", None), ("Robin van de Kerkhof", None), ("sliding door van repair cost", None),
        ("PO Box 12, Boulder, CO", None), ("Contact e-mail: info@acme.com", None),
        ("Price per person; come early", None),
        ("hat sale am only", None), ("Mietvertrag", None),
        ("Co-requesters cannot approve co-requesters.", None), ("Rent: 840 euros; deposit: 2,520 euros", None),
    ],
)  # fmt: skip
def test_the_language_of_a_text(text, language):
    assert unfitted_language(text) == language


def test_a_text_in_another_script_keeps_its_label_and_has_no_probability():
    source = ["灯塔建于1871年。它很高。"]
    asked = [{"role": "user", "content": "灯塔建于哪一年？"}]
    gate = run(answerability(asked, source))
    assert gate.label in ("answerable", "unanswerable") and gate.probability is None and "CJK" in gate.degraded
    judged = run(hallucination_detection([*asked, {"role": "assistant", "content": "1871年。它有三只猫。"}], source))
    assert [s.text for s in judged.sentences] == ["1871年。", "它有三只猫。"]
    assert judged.label != "faithful" and judged.score is None and "CJK" in judged.degraded
    assert all(s.score is None for s in judged.sentences)


def test_an_answer_in_another_language_keeps_its_label_and_has_no_probability():
    source = ["Die Mühle wurde 1911 von Ada Brink gebaut und mahlte bis 1958."]
    asked = [{"role": "user", "content": "Wann wurde die Mühle gebaut?"}]
    gate = run(answerability(asked, source))
    assert gate.label in ("answerable", "unanswerable") and gate.probability is None and "German" in gate.degraded
