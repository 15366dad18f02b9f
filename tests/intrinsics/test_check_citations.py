"""Whether the citations of an answer hold."""

from __future__ import annotations

import json
from typing import Any

import pytest

from intrinsics_core import InvalidInput, RuntimeUnavailable, audit, check_citations, run
from intrinsics_core.protocol.results import CitationCheck
from intrinsics_core.render import html
from tests.scripted import Scripted
from tests.tide_mill import answered

DOCUMENTS = [
    {"id": "mill-1", "title": "Mill guide", "metadata": {"url": "https://example.org/mill", "file_name": "mill.pdf"},
     "text": "The tide mill was built in 1911 by the engineer Ada Brink. It ground flour until 1958, day and night."},
    {"id": "fog-2", "title": "Weather", "text": "Fog is common in May. It's half-day's walk to the self-service inn."},
]  # fmt: skip


def told(answer: str, documents: Any = DOCUMENTS, **options: Any) -> list[tuple[str, Any, str | None]]:
    result = run(check_citations(answered(answer), documents, **options))
    assert all(answer[one.begin : one.end] == one.text for one in result.citations)
    for one in result.citations:
        if one.found:
            text = documents[one.found.document_index]["text"]
            assert text[one.found.begin : one.found.end] == one.found.text
    return [(one.text, one.document_index, one.verdict) for one in result.citations]


def test_marks_by_number() -> None:
    said = (
        "Ada Brink built the tide mill in 1911 [1]. Fog is common in May [1]. It ground flour until 1958. [1] Why [9]?"
    )
    assert told(said) == [
        ("[1]", 0, "supported"), ("[1]", 0, "misattributed"), ("[1]", 0, "supported"), ("[9]", None, "no_document"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "mark", ["[1]", "[^1]", "【1†source】", "¹", "<sup>1</sup>", "<cite>1</cite>", "[doc 1]", "[mill-1]",
             "(Mill guide)", "[mill.pdf]", "[x](https://example.org/mill)", "([example.org](https://www.example.org/mill/))",
             "【4:0†mill.pdf】", "\ue200cite\ue202turn0search0\ue201", "(source: Mill guide)", "“Mill guide”"]
)  # fmt: skip
def test_a_mark_of_any_form_names_its_document(mark: str) -> None:
    ((text, document, verdict),) = told(f"Ada Brink built the tide mill in 1911 {mark}.".replace(" ¹", "¹"))
    assert (document, verdict) == (0, "supported") and text.strip("“”") in mark


@pytest.mark.parametrize("mark", ["[mill-7]", "[tower.pdf]", "[x](https://example.org/tower)", "[doc 8]", "【5†a】"])
def test_a_made_up_source(mark: str) -> None:
    assert told(f"Ada Brink built the tide mill in 1911 {mark}.") == [(mark, None, "no_document")]


def test_numbers_from_0_are_found_out_or_given() -> None:
    said = "Ada Brink built the tide mill in 1911 [0]. Fog is common in May [1]."
    assert [row[1:] for row in told(said)] == [(0, "supported"), (1, "supported")]
    assert told("Fog is common in May [1].", base=0) == [("[1]", 1, "supported")]
    assert told("Fog is common in May [1].") == [("[1]", 0, "misattributed")]
    with pytest.raises(InvalidInput, match="base"):
        check_citations(answered("Fog."), DOCUMENTS, base=2)


def test_numeric_ids_and_a_list_of_sources_say_what_numbers_mean() -> None:
    numbered = [DOCUMENTS[0] | {"id": "12"}, DOCUMENTS[1] | {"id": "7"}]
    assert told("Fog is common in May [7].", numbered) == [("[7]", 1, "supported")]
    listed = "Fog is common in May [1].\n\nSources:\n[1] Weather\n[2] Mill guide"
    assert told(listed) == [("[1]", 1, "supported")]


def test_what_is_no_citation() -> None:
    assert told("Ada Brink built it in 1911 (see page 3). `argv[1]` is read. [More](#more) [REDACTED] <|im_end|>") == []
    assert told('You asked "Who built the tide mill". The "king" is dead.') == []


@pytest.mark.parametrize(
    "quote", ["ground flour until 1958", "GROUND FLOUR UNTIL 1958,", "ground flour … day and night", "self service inn",
              "[it] ground flour [...] night", "halfday's walk"]
)  # fmt: skip
def test_quotes_in_any_marks_are_found(quote: str) -> None:
    said = " ".join(f"It says {marks.format(quote)}." for marks in ("“{}”", '"{}"', "«{}»", "„{}“", "「{}」", "‘{}’"))
    assert [verdict for _, _, verdict in told(said)] == ["supported"] * 6


def test_quotes_that_are_made_up_stitched_or_of_another_document() -> None:
    said = "It “ground coffee until 1958”. It says “built in 1958 by Ada Brink” [1]. It “ground flour until 1958” [2]."
    assert told(said) == [
        ("ground coffee until 1958", None, "not_found"),
        ("built in 1958 by Ada Brink", 0, "not_found"), ("[1]", 0, "not_found"),
        ("ground flour until 1958", 1, "misattributed"), ("[2]", 1, "misattributed"),
    ]  # fmt: skip


def test_claims_without_a_citation_and_the_share_that_holds() -> None:
    result = run(check_citations(answered("Sure! Fog is common in May [2]. Ada Brink built the tide mill."), DOCUMENTS))
    assert [one.text for one in result.uncited] == ["Ada Brink built the tide mill."] and result.score == 1
    assert CitationCheck.model_validate(result.model_dump()) == result


def test_without_documents_and_by_a_judge_that_is_down_what_needs_no_model_is_told() -> None:
    said = "Fog is common in May [1]. It “ground flour until 1958” [7]."
    nothing = run(check_citations(answered(said), []))
    assert {one.verdict for one in nothing.citations} == {"no_document", "not_found"} and nothing.reason
    down = Scripted(lambda request: RuntimeUnavailable("down"))
    with pytest.raises(RuntimeUnavailable):
        run(check_citations(answered(said), DOCUMENTS), down)
    told = run(check_citations(answered(said), DOCUMENTS, on_error="fallback"), down)
    assert [one.verdict for one in told.citations] == [None, "supported", "no_document"]
    assert told.missing == 1 and "down" in told.degraded


REPLY = {
    "sentences": [
        {"id": "r0", "reason": "said", "faithfulness": "faithful", "sources": ["c0"]},
        {"id": "r1", "reason": "said", "faithfulness": "faithful", "sources": ["c2"]},
        {"id": "r2", "reason": "no", "faithfulness": "unfaithful", "sources": []},
    ]
}


def test_a_language_model_is_asked_once_for_the_whole_answer() -> None:
    said = "Ada Brink built the tide mill in 1911 [1]. Fog is common in May [1]. It burned [2]."
    runtime = Scripted([REPLY])
    result = run(check_citations(answered(said), DOCUMENTS), runtime)
    assert [one.verdict for one in result.citations] == ["supported", "misattributed", "unsupported"]
    assert len(runtime.requests) == 1 and "[1]" not in json.dumps(str(runtime.requests[0]))


def test_an_audit_has_the_marks_of_an_answer_that_has_some() -> None:
    result = run(audit(answered("Fog is common in May [1]."), DOCUMENTS))
    (mark,) = result.marks
    assert (mark.verdict, mark.found.text) == ("misattributed", "Fog is common in May.")
    assert "marks" not in run(audit(answered("Fog is common in May."), DOCUMENTS)).model_dump()


def test_a_wrong_mark_is_shown_in_place() -> None:
    said = "Fog is common in May [1]. It ground flour until 1958 [1]."
    shown = html.answer(said, marks=run(check_citations(answered(said), DOCUMENTS)).citations)
    assert shown.index("[1]") < shown.index("misattributed") < shown.index("It ground") and shown.count("tag") == 1
