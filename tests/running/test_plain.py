"""One line on plain text, how far many calls are, and results as rows."""

from __future__ import annotations

from intrinsics_core import answerability, check, rank, run_many
from tests.tide_mill import ASKED, DOCUMENTS


def test_one_line_on_plain_text() -> None:
    told = check("Ada Brink built the tide mill in 1911.", DOCUMENTS, question="Who built the tide mill?")
    assert (told.label, told.answerability.label) == ("faithful", "answerable")
    assert check("She painted it gold.", DOCUMENTS).answerability is None
    assert [row.index for row in rank("Who built the tide mill?", DOCUMENTS[::-1]).ranking] == [1, 0]


def test_how_far_many_calls_are(capsys) -> None:
    seen: list[tuple[int, int | None]] = []
    calls = [answerability(ASKED, [text]) for text in DOCUMENTS]
    results = run_many(calls, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 2), (2, 2)] and len(results) == 2
    run_many(iter(calls), progress=True)
    assert "2 done" in capsys.readouterr().err


def test_results_as_rows() -> None:
    told = check("Ada Brink built the tide mill in 1911. She painted it gold.", DOCUMENTS)
    rows = told.to_rows()
    assert [(row["text"], row["label"], row["result_label"]) for row in rows] == [
        (sentence.text, sentence.label, told.label) for sentence in told.sentences
    ]
    (row,) = answerability_rows()
    assert row["label"] == "answerable" and row["schema_version"] == 1


def answerability_rows() -> list[dict[str, object]]:
    (result,) = run_many([answerability(ASKED, DOCUMENTS)])
    return result.to_rows()
