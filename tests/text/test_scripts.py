import pytest

from intrinsics_core import (
    answerability,
    citations,
    context_relevance,
    fact_check,
    hallucination_detection,
    reranking,
    run,
)
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


HOUSE = (
    "Haustiere: Hunde sind im Haus nicht erlaubt. Die Endreinigung kostet 80 Euro. Der Schlüssel liegt bei Frau Kolb."
)
MAISON = "Les chiens ne sont pas admis dans la maison. Le ménage coûte 80 euros. La clé est chez madame Colin."


@pytest.mark.parametrize(
    ("question", "answer", "document", "language"),
    [
        ("Sind Hunde erlaubt?", "Hunde sind erlaubt.", HOUSE, "German"),
        ("Was kostet die Endreinigung?", "80 Euro.", HOUSE, "German"),
        ("How much is the final cleaning?", "The final cleaning costs 80 euros.", HOUSE, "German"),
        ("How much is the final cleaning?", "The final cleaning costs 80 euros.", MAISON, "French"),
        ("Are dogs allowed?", "No.", MAISON, "French"),
    ],
)
def test_every_verdict_says_that_the_documents_are_in_another_language(question, answer, document, language):
    asked = [{"role": "user", "content": question}]
    answered = [*asked, {"role": "assistant", "content": answer}]
    judged, gate = run(hallucination_detection(answered, [document])), run(answerability(asked, [document]))
    assert judged.score is None and gate.probability is None
    checked, relevant = run(fact_check(answered, [document])), run(context_relevance(asked, [document]))
    assert checked.score is not None and relevant.judgements[0].score is not None  # others rank and filter by these
    ranked, cited = run(reranking(asked, [document])), run(citations(answered, [document]))
    assert all(language in (found.degraded or "") for found in (judged, gate, checked, relevant, ranked, cited))


@pytest.mark.parametrize(
    "documents",
    [
        ["The Café de la Gare on the Rue du Port is run by Zoë Müller. It opens at 9."],
        ["The word Schadenfreude is German for joy at another's loss.", "It is used in English, too."],
        [HOUSE, *["The cleaning costs 80 euros. Dogs are not allowed. The key is with Mrs Kolb."] * 4],
        ["| Ort | Tag |\n|---|---|\n| Bonn | Mo |"],
        ["def get(self, key):\n    return self.data[key]"],
    ],
)
def test_foreign_names_and_one_foreign_document_of_many_are_no_other_language(documents):
    asked = [{"role": "user", "content": "When does it open?"}, {"role": "assistant", "content": "It opens at 9."}]
    assert run(fact_check(asked, documents)).degraded is None
    assert run(hallucination_detection(asked, documents)).score is not None
