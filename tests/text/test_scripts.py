import pytest

from intrinsics_core import answerability, hallucination_detection, run
from intrinsics_core.text.scripts import unfitted_script


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("Who built it?", None), ("", None), ("42 %", None), ("Où est la bibliothèque?", None),
        ("灯塔是谁建的？", "CJK"), ("Кто построил мельницу?", "Cyrillic"), ("من بنى الطاحونة؟", "Arabic"),
        ("The word 灯塔 means lighthouse.", None),
    ],
)  # fmt: skip
def test_the_script_of_a_text(text, script):
    assert unfitted_script(text) == script


def test_a_text_in_another_script_keeps_its_label_and_has_no_probability():
    source = ["灯塔建于1871年。它很高。"]
    asked = [{"role": "user", "content": "灯塔建于哪一年？"}]
    gate = run(answerability(asked, source))
    assert gate.label in ("answerable", "unanswerable") and gate.probability is None and "CJK" in gate.degraded
    judged = run(hallucination_detection([*asked, {"role": "assistant", "content": "1871年。它有三只猫。"}], source))
    assert [s.text for s in judged.sentences] == ["1871年。", "它有三只猫。"]
    assert judged.label != "faithful" and judged.score is None and "CJK" in judged.degraded
    assert all(s.score is None for s in judged.sentences)
