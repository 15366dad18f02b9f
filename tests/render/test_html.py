"""Results as HTML: every result has a view, text is never markup, the page needs nothing but itself."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intrinsics_core.protocol.results import (
    Answerability,
    Audit,
    AuditedSentence,
    Change,
    CheckedClaim,
    Citation,
    Citations,
    ContextRelevance,
    ExpandedQuery,
    FactCheck,
    HallucinationDetection,
    Judgement,
    QueryExpansion,
    QueryRewrite,
    RankedDocument,
    Ranking,
    Result,
    RevisedAnswer,
    SentenceVerdict,
    SourceVerdict,
    Uncertainty,
)
from intrinsics_core.protocol.task import Document
from intrinsics_core.render import html, report, text
from intrinsics_core.render.trace import Turn

EVIL = "<script>alert(1)</script> \"q\" 'a' &amp; <img src=x onerror=y> \ud83d \x1b[31m \u202e </div>\x00"
VOID = {"meta", "br", "img", "input", "hr", "circle", "path"}


def results(evil: str) -> dict[str, Result]:
    """One result of each type, with this text wherever text can be."""
    return {
        "rewrite": QueryRewrite(query=evil, original=evil + "?", changed=True),
        "keywords": QueryRewrite(query=evil, original=evil, changed=False, retrieval_query=evil + "(y)"),
        "same": QueryRewrite(query=evil, original=evil, changed=False),
        "expansion": QueryExpansion(queries=(ExpandedQuery(text=evil, strategy=evil),)),
        "relevance": ContextRelevance(
            judgements=(Judgement(document_id=evil, index=0, label="irrelevant", score=0.1),)
        ),
        "answerable": Answerability(label="unanswerable", probability=None, degraded=evil),
        "ranking": Ranking(ranking=(RankedDocument(document_id=evil, index=0, rank=1, score=-3.0, wins=0.5),)),
        "none": Ranking(ranking=()),
        "revised": RevisedAnswer(
            answer=evil,
            changes=(
                Change(begin=0, end=1, before=evil, after=evil, why=evil),
                Change(begin=2, end=3, before=evil, after="", why=evil),
            ),
            unsupported=(SentenceVerdict(begin=0, end=len(evil), text=evil, label="partial", score=0.5),),
        ),
        "audit": Audit(
            answerability=Answerability(label="answerable", probability=0.9),
            sentences=(
                AuditedSentence(
                    begin=0,
                    end=len(evil),
                    text=evil,
                    label="faithful",
                    score=0.9,
                    explanation=evil,
                    citations=(citation(evil, evil, evil),),
                ),
            ),
            label="faithful",
            score=0.9,
            certainty=0.15,
            answer_relevance=None,
            disagreements=(evil,),
        ),
        "uncertainty": Uncertainty(certainty=0.45, expected=0.5),
        "hallucination": HallucinationDetection(
            label="partial",
            score=None,
            sentences=(
                SentenceVerdict(begin=0, end=len(evil), text=evil, label="unfaithful", score=0.0, explanation=evil),
                SentenceVerdict(begin=len(evil), end=len(evil) + 1, text="x", label="NA", score=None),
            ),
            dropped=2,
        ),
        "citations": Citations(citations=(citation(evil, evil, evil),)),
        "uncited": Citations(citations=()),
        "facts": FactCheck(
            score=1,
            claims=(
                CheckedClaim(text=evil, begin=0, end=len(evil), score=1),
                CheckedClaim(text="b", begin=0, end=1, score=1),
            ),
            sources=(SourceVerdict(document_id=evil, index=0, begin=0, end=1, relevance=0.7, weight=1.0, score=None),),
        ),
    }


def citation(response: str, identity: str, source: str) -> Citation:
    return Citation(
        response_begin=0,
        response_end=len(response),
        response_text=response,
        document_id=identity,
        document_index=0,
        document_begin=0,
        document_end=len(source),
        document_text=source,
    )


class Page(HTMLParser):
    """Reads HTML as a browser would: elements, attributes, text; and checks that what is opened is closed."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.said, self.open = "", list[str]()
        self.feed(source)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] != "style":
            self.said += data


def harmless(source: str) -> Page:
    source.encode("utf-8")
    page = Page(source)
    assert not {"script", "img", "iframe", "link", "object"} & set(page.tags)
    assert not [name for name, _ in page.attributes if name.startswith("on") or name in ("src", "xlink:href")]
    assert all(value.startswith("#") for name, value in page.attributes if name == "href")
    assert not re.search(r"url\(|@import|https?:|\x1b|\x00|\u202e", source)
    return page


@pytest.mark.parametrize("name", list(results("")))
def test_every_result_has_a_view_in_which_text_is_no_markup(name: str) -> None:
    value = results(EVIL)[name]
    shown = value._repr_html_()
    assert shown == html.result(value)
    page = harmless(shown)
    if name not in ("none", "uncertainty", "uncited"):
        assert "<script>alert(1)</script>" in page.said and "onerror=y" in page.said


def test_views_differ_and_say_what_the_result_says() -> None:
    told = {name: harmless(html.result(value)).said for name, value in results("the mill").items()}
    assert len(set(told.values())) == len(told)
    assert "rewritten" in told["rewrite"] and "stands alone" in told["same"]
    assert "words added" in told["keywords"] and "searched for: the mill(y)" in told["keywords"]
    assert "unanswerable" in told["answerable"] and "Degraded: the mill" in told["answerable"]
    assert "2 unusable entries" in told["hallucination"] and "partial" in told["hallucination"]
    assert "[1]" in told["citations"] and "characters 0–8" in told["citations"]


def test_a_result_type_without_a_view_shows_its_fields() -> None:
    class Mood(Result):
        mood: str

    page = harmless(html.result(Mood(mood=EVIL)))
    assert "mood" in page.said and "<script>" in page.said


@given(st.text())
def test_escaped_text_reads_as_the_cleaned_text(given_text: str) -> None:
    cleaned = text.clean(given_text)
    page = Page(html.environment().from_string('<p title="{{ text }}">{{ text }}</p>').render(text=given_text))
    assert page.said == cleaned and page.attributes == [("title", cleaned)]
    cleaned.encode("utf-8")
    if given_text.isprintable():
        assert cleaned == given_text or "\ufffd" in cleaned


@given(st.text(max_size=40), st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), max_size=6))
def test_pieces_joined_are_the_response(response: str, spans: list[tuple[int, int]]) -> None:
    verdicts = [SentenceVerdict(begin=a, end=b, text="", label="faithful", score=1.0) for a, b in spans[:3] if a <= b]
    cited = [
        Citation(
            response_begin=min(a, b),
            response_end=max(a, b),
            response_text="",
            document_id=str(a),
            document_index=0,
            document_begin=0,
            document_end=b,
            document_text="",
        )
        for a, b in spans[3:]
    ]
    found = text.pieces(response, verdicts, cited)
    assert "".join(piece.text for piece in found) == response


def test_citations_are_numbered_as_they_come_and_shared_sources_share_a_number() -> None:
    def cite(end: int, identity: str) -> Citation:
        return Citation(
            response_begin=end - 3,
            response_end=end,
            response_text="abc",
            document_id=identity,
            document_index=0,
            document_begin=0,
            document_end=1,
            document_text="x",
        )

    cited = [cite(9, "a"), cite(3, "b"), cite(6, "a"), cite(3, "a")]
    assert text.numbered(cited) == {(0, "b", 0, 1): 1, (0, "a", 0, 1): 2}
    assert [piece.cited for piece in text.pieces("abcdefghi", (), cited)] == [(1, 2), (2,), (2,)]


def unsupported(begin: int, text: str, why: str) -> SentenceVerdict:
    end = begin + len(text)
    return SentenceVerdict(begin=begin, end=end, text=text, label="unfaithful", score=0.1, explanation=why)


def turn(evil: str, **changes: object) -> Turn:
    some = results(evil)
    documents = (Document(evil, id="a", title=evil, score=2.0), Document("b is here", id="b", title="B", score=1.0))
    told: dict[str, object] = {
        "question": evil,
        "answer": evil + "x",
        "remark": evil,
        "retrieved": documents,
        "kept": documents[:1],
        "rewrite": some["rewrite"],
        "ranking": Ranking(
            ranking=(
                RankedDocument(document_id="b", index=0, rank=1, score=0.9),
                RankedDocument(document_id="a", index=0, rank=2, score=0.1),
            )
        ),
        "relevance": ContextRelevance(
            judgements=(
                Judgement(document_id="a", index=0, label="partially relevant", score=0.5),
                Judgement(document_id="b", index=0, label="irrelevant", score=None),
            )
        ),
        "gate": Answerability(label="answerable", probability=0.8),
        "citations": Citations(citations=(citation(evil, "a", evil),)),
        "hallucination": some["hallucination"].model_copy(update={"sentences": (unsupported(len(evil), "x", evil),)}),
        "certainty": some["uncertainty"],
        "fact_check": some["facts"],
        "seconds": 0.5,
    }
    return Turn(**(told | changes))  # type: ignore[arg-type]


def test_no_source_is_named_for_what_no_source_says() -> None:
    """A mark stood at the end of a sentence that was underlined as unfaithful."""
    said = "It is red. It is gold."
    verdicts = (unsupported(11, "It is gold.", "not there"),)
    cited = [
        Citation(response_begin=begin, response_end=end, response_text=said[begin:end], document_id="a",
                 document_index=0, document_begin=begin, document_end=end, document_text=said[begin:end])
        for begin, end in ((0, 10), (11, 22))
    ]  # fmt: skip
    for told in (harmless(html.answer(said, verdicts, cited)), harmless(html.response(said, verdicts, cited))):
        assert "It is red.[1]" in told.said and "It is gold.[" not in told.said and "[2]" not in told.said
    assert "It is gold.[2]" in harmless(html.answer(said, (), cited)).said


def test_a_bar_has_the_colour_of_its_label_and_none_without_one() -> None:
    for label, look in (("answerable", "ok"), ("unanswerable", "bad")):
        for probability in (0.05, 0.5, 0.95):
            told = html.result(Answerability(label=label, probability=probability))
            assert told.count(f'class="bar {look}"') == 1 and told.count('class="bar ') == 1
    for certainty in (0.05, 0.45, 0.95):
        assert 'class="bar "' in html.result(Uncertainty(certainty=certainty))


def test_a_report_is_harmless_complete_and_linked_within() -> None:
    page = harmless(report.report(EVIL, EVIL, [turn(EVIL), turn("plain")], notes=[EVIL]))
    targets = [value for name, value in page.attributes if name == "id"]
    links = {value[1:] for name, value in page.attributes if name == "href"}
    assert len(targets) == len(set(targets)) and links <= set(targets)
    assert {"turn-1", "turn-2", "turn-1-source-1", "turn-2-source-1"} <= links
    for part in ("Query rewrite", "Answerability gate", "partially relevant", "unfaithful", "fact check", "plain[1]x"):
        assert part in page.said
    pictures = [value for name, value in page.attributes if name == "aria-label"]
    assert "Order after reranking: B, plain" in pictures and "certainty (probability of being right) 0.45" in pictures


def test_a_turn_shows_only_what_there_is() -> None:
    page = harmless(report.turn(Turn(question="Why?", answer="No idea.")))
    assert "Why?" in page.said and "No idea." in page.said
    assert not any(part in page.said for part in ("rewrite", "Retrieval", "gate", "trust"))
    blocked = harmless(report.turn(turn("x", blocked=True, hallucination=None, citations=None)))
    assert "Canned answer" in blocked.said and "stopped here" in blocked.said


def test_a_ranking_of_documents_the_turn_did_not_retrieve_is_no_crash() -> None:
    strange = Ranking(ranking=(RankedDocument(document_id="zzz", index=0, rank=1, score=1.0),))
    harmless(report.turn(turn("x", ranking=strange)))
    harmless(report.turn(turn("x", relevance=None, ranking=None)))


def test_a_flagged_sentence_shows_though_the_answer_is_faithful_on_the_whole() -> None:
    def judged(whole: str, sentence: str) -> Turn:
        verdict = SentenceVerdict(begin=0, end=1, text="a", label=sentence, score=0.5)  # type: ignore[arg-type]
        found = HallucinationDetection(label=whole, score=0.5, sentences=(verdict,))  # type: ignore[arg-type]
        return turn("x", hallucination=found)

    assert judged("faithful", "unfaithful").worst == "unfaithful"
    assert judged("unfaithful", "faithful").worst == "unfaithful"
    assert judged("faithful", "faithful").worst == "faithful"
    assert judged("faithful", "NA").worst == "faithful"
    assert 'class="step bad"' in report.turn(judged("faithful", "unfaithful"))
    assert Turn(question="q", answer="a").worst is None


def test_a_notebook_shows_no_time_and_brings_its_styles() -> None:
    shown = report.fragment(turn("x", seconds=1.23))
    assert "1.23 s" in report.turn(turn("x", seconds=1.23)) and "1.23 s" not in shown
    harmless(shown)
    # Nothing outside of the turn is styled.
    css = re.sub(r"/\*.*?\*/|@media[^{]*", "", shown.split("</style>")[0].removeprefix("<style>"), flags=re.S)
    selectors = [part.strip() for rule in css.split("}") if "{" in rule for part in rule.split("{")[-2].split(",")]
    assert selectors and all(part.startswith((".ri", ".turn")) for part in selectors if part)


def test_a_response_with_all_that_was_said_about_it() -> None:
    from intrinsics_core import audit, run

    said = "Ada Brink built the tide mill in 1911. She <b>painted</b> it gold for forty sailors."
    documents = [{"id": "mill", "title": "The <i>mill</i>", "text": "The tide mill was built in 1911 by Ada Brink."}]
    found = run(
        audit([{"role": "user", "content": "Who built it?"}, {"role": "assistant", "content": said}], documents)
    )
    from intrinsics_core import Document

    shown = html.response(said, found.sentences, found.citations.citations, [Document(**documents[0])])
    assert "<b>painted" not in shown and "<i>mill" not in shown
    assert "The &lt;i&gt;mill&lt;/i&gt;" in shown and "[1]" in shown and 'class="note bad"' in shown
