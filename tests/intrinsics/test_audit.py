"""Audit: everything about an answer at once, in one request where a language model judges, else in one wave."""

from __future__ import annotations

import asyncio
import json
import math
from typing import Any

import pytest

from intrinsics_core import (
    MalformedReply,
    RuntimeUnavailable,
    UnsupportedIntrinsic,
    answerability,
    arun,
    as_runtime,
    audit,
    citations,
    hallucination_detection,
    run,
    uncertainty,
)
from intrinsics_core.embedded.profile import PROFILE as EMBEDDED
from intrinsics_core.encoders.profile import encoders_profile
from intrinsics_core.profiles import Profile, profile
from intrinsics_core.profiles.asking import data_of
from intrinsics_core.profiles.prompted import PROFILE as PROMPTED
from intrinsics_core.protocol.requests import Embed, Generate, Generated, Request, Score, Scored, TokenLogprob
from intrinsics_core.runtimes.mixed import Mixed
from intrinsics_core.service import short_results
from tests.contract import cases
from tests.contract.judge import judge
from tests.scripted import AsyncScripted, Scripted
from tests.tide_mill import WITH_IDS as DOCUMENTS
from tests.tide_mill import answered

MESSAGES = answered("Ada Brink built the tide mill in 1911. She painted it gold for forty sailors.")
REPLY: dict[str, Any] = {
    "answerability": "answerable",
    "confidence": 0.9,
    "sentences": [
        {"id": "r0", "reason": "said", "faithfulness": "faithful", "sources": ["c0"]},
        {"id": "r1", "reason": "not there", "faithfulness": "unfaithful", "sources": []},
    ],
    "answers_question": "yes",
    "correct": "yes",
    "certainty": 0.85,
}


class Watched(Scripted):
    """The embedded default, which notes what it is asked."""

    profile = EMBEDDED

    def __init__(self) -> None:
        super().__init__([])

    def handle(self, requests: Any) -> Any:
        self.waves.append(requests)
        return as_runtime(None).handle(requests)


def without(**changes: Any) -> dict[str, Any]:
    return {name: value for name, value in (REPLY | changes).items() if value is not ...}


# --- what it says -----------------------------------------------------------------------------------------------------


def test_everything_about_an_answer_at_once() -> None:
    told = run(audit(MESSAGES, DOCUMENTS))
    assert [(s.text, s.label, len(s.citations)) for s in told.sentences] == [
        ("Ada Brink built the tide mill in 1911.", "faithful", 1),
        ("She painted it gold for forty sailors.", "unfaithful", 0),
    ]
    (cited,) = told.sentences[0].citations
    assert DOCUMENTS[0]["text"][cited.document_begin : cited.document_end] == cited.document_text
    assert told.answerability.answerable and told.label == "unfaithful" and told.degraded is None
    right = [*MESSAGES[:-1], {"role": "assistant", "content": told.sentences[0].text}]
    assert told.certainty < run(audit(right, DOCUMENTS)).certainty


@pytest.mark.parametrize("runtime", [None, Scripted(judge)])
def test_reasoning_before_an_answer_is_not_judged_and_places_are_those_of_the_whole_text(runtime: Any) -> None:
    thought = "<think>\nThe user asks for the builder. Perhaps Otto Lang built it in 1950?\n</think>\n\n"
    said = MESSAGES[-1]["content"]
    told = run(audit(answered(thought + said), DOCUMENTS), runtime)
    plain = run(audit(answered(said), DOCUMENTS), runtime)
    assert [(s.begin, s.end, s.text, s.label, s.score) for s in told.sentences] == [
        (s.begin + len(thought), s.end + len(thought), s.text, s.label, s.score) for s in plain.sentences
    ]
    cited = [c for s in told.sentences for c in s.citations]
    assert cited and all((thought + said)[c.response_begin : c.response_end] == c.response_text for c in cited)
    assert (told.label, told.certainty, told.answer_relevance) == (plain.label, plain.certainty, plain.answer_relevance)
    assert run(audit(answered(thought), DOCUMENTS), runtime).reason == "nothing said"
    assert run(audit(answered("<think>" + said), DOCUMENTS)).label == "unfaithful"  # it has no end: judged as it is


def test_a_note_of_several_parts_is_told_once() -> None:
    turns = [{"role": "user", "content": "Wo liegt der Bahnhof?"},
             {"role": "assistant", "content": "Der Bahnhof liegt gleich neben der Post."}]  # fmt: skip
    documents = ["Der Bahnhof liegt am Müllerplatz, gleich neben der Post."]
    told = run(audit(turns, documents))
    assert told.degraded == run(answerability(turns[:1], documents)).degraded
    said = short_results.audit(told)
    assert "Probability" not in said and said.count("looks like German") == 1


def test_its_parts_are_what_each_intrinsic_says_by_itself() -> None:
    asked, answered, documents = cases.QUESTION, [*cases.QUESTION, cases.ANSWER], cases.for_core(cases.DOCUMENTS)
    for runtime in (None, Scripted(judge)):
        told = run(audit(answered, documents), runtime)
        gate = run(answerability(asked, documents), runtime)
        assert told.answerability.model_dump() == gate.model_dump()
        alone = run(hallucination_detection(answered, documents), runtime)
        assert (told.hallucination.sentences, told.label, told.score) == (alone.sentences, alone.label, alone.score)
        assert told.citations.citations == run(citations(answered, documents), runtime).citations
        assert told.certainty == run(uncertainty(answered, documents), runtime).certainty


def test_sync_equals_async() -> None:
    call = audit([*cases.QUESTION, cases.ANSWER], cases.for_core(cases.DOCUMENTS))
    for one, other in ((None, None), (Scripted(judge), AsyncScripted(judge))):
        assert run(call, one) == asyncio.run(arun(call, other))


def test_a_sentence_that_is_unfaithful_cites_nothing() -> None:
    cited = [REPLY["sentences"][0], REPLY["sentences"][1] | {"sources": ["c1"]}]
    told = run(audit(MESSAGES, DOCUMENTS), Scripted([without(sentences=cited)]))
    assert [(s.label, len(s.citations)) for s in told.sentences] == [("faithful", 1), ("unfaithful", 0)]
    twisted = [
        MESSAGES[0],
        {"role": "assistant", "content": "It was built in 1957 by the engineer Tom Rowe."},
    ]
    (sentence,) = run(audit(twisted, DOCUMENTS)).sentences
    assert sentence.label != "faithful" and (sentence.label, bool(sentence.citations)) != ("unfaithful", True)


@pytest.mark.parametrize("question", ["How do I get to the harbour by bus?", "What should I do if I am late?"])
def test_what_quotes_the_documents_is_not_called_beside_the_question(question: str) -> None:
    said = "Take bus 7 to the harbour."
    turns = [{"role": "user", "content": question}, {"role": "assistant", "content": said}]
    told = run(audit(turns, [f"{said} From there it is five minutes on foot."]))
    assert told.label == "faithful" and not [d for d in told.disagreements if "beside the question" in d]


@pytest.mark.parametrize(
    ("turn", "reply"), [("Hello", "Hello! How can I help you?"), ("Can you repeat that?", "Ada Brink built the mill.")]
)
def test_verdicts_do_not_disagree_where_nothing_was_asked(turn: str, reply: str) -> None:
    told = run(audit([{"role": "user", "content": turn}, {"role": "assistant", "content": reply}], DOCUMENTS))
    assert told.answerability is not None and told.answerability.reason and not told.disagreements


def test_a_citation_of_another_splitter_goes_to_the_sentence_it_shares_most_with() -> None:
    halves = Profile("halves", {"citations": PROMPTED.formats["citations"]}, split=_halves, base=PROMPTED)
    own = {"citations": [{"response": "r1", "sources": ["c1"]}]}
    doubted = [REPLY["sentences"][0], REPLY["sentences"][1] | {"faithfulness": "partial"}]
    judged = without(sentences=doubted)
    script = Scripted(lambda request: own if "citations" in _fields(request) else judged)
    told = run(audit(MESSAGES, DOCUMENTS), script, profile=halves)
    assert [len(s.citations) for s in told.sentences] == [0, 1]
    assert told.sentences[1].citations[0].response_begin < told.sentences[1].begin  # as it was given


def _halves(text: str) -> Any:
    from intrinsics_core.text.sentences import Span

    middle = len(text) // 2 - 4
    return (Span(0, middle, text[:middle]), Span(middle, len(text), text[middle:]))


def test_what_is_beside_the_question_is_told() -> None:
    rows = [{**row, "faithfulness": "faithful", "sources": ["c0"]} for row in REPLY["sentences"]]
    told = run(audit(MESSAGES, DOCUMENTS), Scripted([without(answers_question="no", sentences=rows, correct="no")]))
    assert told.answer_relevance == 0.0
    assert set(told.disagreements) == {
        "faithful to the documents, but beside the question",
        "faithful to the documents, but uncertain",
    }


def test_without_a_question_the_sentences_are_judged_alone() -> None:
    script = Scripted([without()])
    told = run(audit(MESSAGES[1:], DOCUMENTS), script)
    assert (told.answerability, told.answer_relevance, told.label) == (None, None, "unfaithful")
    assert "no question" in told.reason
    fields = script.requests[0].constraint.schema["properties"]  # type: ignore[union-attr]
    assert set(fields) == {"sentences", "correct", "certainty"}
    assert run(audit(MESSAGES[1:], DOCUMENTS)).answerability is None


# --- what it costs ----------------------------------------------------------------------------------------------------


def test_a_language_model_is_asked_once_and_reads_the_documents_once() -> None:
    script = Scripted([without()])
    told = run(audit(MESSAGES, DOCUMENTS), script)
    (request,) = script.requests
    assert request.messages[-1].content.count("engineer Ada Brink") == 1  # type: ignore[union-attr]
    assert told.usage.requests == 1
    assert (told.certainty, told.answer_relevance, told.label) == (0.85, 1.0, "unfaithful")


def test_no_text_is_encoded_twice() -> None:
    runtime = Watched()
    run(audit(MESSAGES, DOCUMENTS), runtime)
    asked = [(r.kind, text) for r in runtime.requests if isinstance(r, Embed) for text in r.texts]
    assert len(asked) == len(set(asked)) > 4
    assert len(runtime.waves) == 1


def test_pairs_are_scored_once() -> None:
    asked: list[Request] = []

    def script(request: Request) -> Any:
        asked.append(request)
        if isinstance(request, Score):
            return Scored(tuple((2.0,) for _ in request.pairs), ("entailment",))
        return as_runtime(None).handle([request])[0]

    told = run(audit(MESSAGES, DOCUMENTS), Scripted(script), profile=encoders_profile(["entailment"]))
    first = [pair for request in asked[:-1] if isinstance(request, Score) for pair in request.pairs]
    assert len(first) == len(set(first)) == 4  # two sentences against two documents, for verdicts and for citations
    assert told.label == "faithful"


def test_adapters_are_asked_in_one_wave() -> None:
    replies = {
        "answerability": '"answerable"',
        "uncertainty": "8",
        "hallucination-detection": '[{"i": 0, "f": "faithful", "r": "x"}, {"i": 1, "f": "unfaithful", "r": "y"}]',
        "citations": '[{"r": 0, "c": [0]}]',
        "answer-relevance": '{"answer_relevance_analysis": "x", "answer_relevance_category": "Pertinent", '
        '"answer_relevance_judgment": true}',
    }
    script = Scripted(lambda request: replies[request.adapter])
    told = run(audit(MESSAGES, DOCUMENTS), script, profile=profile("granite-3.3"))
    assert len(script.waves) == 1
    assert {request.adapter for request in script.requests} == set(replies)
    assert (told.label, told.certainty, len(told.citations.citations)) == ("unfaithful", 0.85, 1)
    assert (told.answer_relevance, told.reason) == (1.0, None)


# --- who is asked -----------------------------------------------------------------------------------------------------


def test_a_part_with_a_route_of_its_own_goes_there_and_the_rest_is_one_request() -> None:
    sure, rest = Scripted([{"correct": "no", "confidence": 0.75}]), Scripted([without(correct=..., certainty=...)])
    told = run(audit(MESSAGES, DOCUMENTS), Mixed({"uncertainty": sure, "*": rest}))
    assert (told.certainty, told.label, told.degraded) == (0.25, "unfaithful", None)
    assert [r.intrinsic for r in (*sure.requests, *rest.requests)] == ["uncertainty", "audit"]


def test_a_route_of_the_audit_serves_all_of_it() -> None:
    never, all_of_it = Scripted([]), Scripted([without()])
    told = run(audit(MESSAGES, DOCUMENTS), Mixed({"uncertainty": never, "audit": all_of_it}))
    assert told.certainty == 0.85 and never.requests == []


def test_parts_that_have_no_route_are_told() -> None:
    told = run(audit(MESSAGES, DOCUMENTS), Mixed({"uncertainty": Scripted([{"correct": "no", "confidence": 0.75}])}))
    assert told.certainty == 0.25 and "citations" in told.reason and told.label == "NA"
    with pytest.raises(UnsupportedIntrinsic):
        run(audit(MESSAGES, DOCUMENTS), Mixed({"reranking": Scripted([])}))


def test_what_a_profile_serves_before_its_base_is_asked_of_it() -> None:
    over = Profile("over", {"uncertainty": PROMPTED.formats["uncertainty"]}, base=PROMPTED)
    no = {"correct": "no", "confidence": 0.85}
    rest = without(correct=..., certainty=...)
    script = Scripted(lambda request: rest if "sentences" in _fields(request) else no)
    told = run(audit(MESSAGES, DOCUMENTS), script, profile=over)
    assert told.certainty == 0.15 and len(script.requests) == 2 and len(script.waves) == 1


def _fields(request: Generate) -> set[str]:
    return set(request.constraint.schema["properties"])  # type: ignore[union-attr]


TWO = [{"role": "user", "content": "Who built the mill?"}, {"role": "assistant", "content": "Ada built it. It is red."}]
MILL = ["Ada built it. It is red."]

# --- what goes wrong --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "field", "empty"),
    [
        ({"answerability": "perhaps"}, "answerability", None),
        ({"correct": "perhaps"}, "certainty", None),
        ({"answers_question": ...}, "answer_relevance", None),
    ],
)
def test_a_malformed_part_costs_that_part_alone(changes: dict[str, Any], field: str, empty: Any) -> None:
    whole, told = (run(audit(MESSAGES, DOCUMENTS), Scripted([reply])) for reply in (without(), without(**changes)))
    assert getattr(told, field) is empty and told.degraded.startswith("no ")
    same = told.model_dump() | {field: whole.model_dump()[field], "disagreements": list(told.disagreements)}
    same.pop("degraded")
    assert {k: v for k, v in same.items() if k != "disagreements"} == {
        k: v for k, v in whole.model_dump().items() if k != "disagreements"
    }


def test_verdicts_survive_citations_that_are_malformed_and_the_other_way_round() -> None:
    rows = REPLY["sentences"]
    uncited = run(audit(MESSAGES, DOCUMENTS), Scripted([without(sentences=[{**r, "sources": "c0"} for r in rows])]))
    assert uncited.label == "unfaithful" and not uncited.citations.citations and "no citations" in uncited.degraded
    unjudged = run(audit(MESSAGES, DOCUMENTS), Scripted([without(sentences=[{**r, "faithfulness": 1} for r in rows])]))
    assert unjudged.label == "NA" and len(unjudged.citations.citations) == 1
    assert "no hallucination-detection" in unjudged.degraded


def _said_again(*rows: dict[str, Any]) -> dict[str, Any]:
    return {"sentences": list(rows)}


def _row(number: int, label: str, *sources: str) -> dict[str, Any]:
    return {"id": f"r{number}", "reason": "", "faithfulness": label, "sources": list(sources)}


def test_a_sentence_that_was_left_out_is_asked_for_with_its_sources() -> None:
    judge = Scripted([without(sentences=[_row(0, "faithful", "c0")]), _said_again(_row(1, "faithful", "c1"))])
    found = run(audit(TWO, MILL), judge)
    assert [[c.document_text for c in s.citations] for s in found.sentences] == [["Ada built it."], ["It is red."]]
    assert (found.missing, found.degraded, len(judge.requests)) == (0, None, 2)
    shown = data_of(judge.requests[1].messages[-1].content)
    assert shown["response"] == {"r1": "It is red."}
    each = judge.requests[1].constraint.schema["properties"]
    assert set(each) == {"sentences"} and "sources" in each["sentences"]["items"]["properties"]


@pytest.mark.parametrize(
    ("second", "label", "told"),
    [
        (_said_again({"id": "r1", "reason": "", "faithfulness": "faithful"}), "faithful", "sources of 1 of 2"),
        (RuntimeUnavailable("busy"), "NA", "1 of 2 sentences were not judged (RuntimeUnavailable: busy)"),
        (_said_again(), "NA", "1 of 2 sentences were not judged"),
    ],
)
def test_sources_that_are_not_known_are_told(second: Any, label: str, told: str) -> None:
    found = run(audit(TWO, MILL), Scripted([without(sentences=[_row(0, "faithful", "c0")]), second]))
    assert [s.label for s in found.sentences] == ["faithful", label]
    assert told in found.degraded and "the sources of 1 of 2 sentences are not known" in found.degraded
    assert "answerable by the gate, but nothing to cite" not in found.disagreements


@pytest.mark.parametrize("label", ["Mostly faithful", "not supported", 1])
def test_one_label_that_cannot_be_read_costs_its_own_sentence(label: Any) -> None:
    first = without(sentences=[{**_row(0, "", "c0"), "faithfulness": label}, _row(1, "unfaithful")])
    judge = Scripted([first, _said_again(_row(0, "faithful"))])
    found = run(audit(TWO, MILL), judge)
    assert [s.label for s in found.sentences] == ["faithful", "unfaithful"]
    assert [c.document_text for c in found.sentences[0].citations] == ["Ada built it."]
    assert (found.label, found.missing, found.degraded, len(judge.requests)) == ("unfaithful", 0, None, 2)


def test_sentences_that_are_numbered_from_one_are_asked_for_by_themselves() -> None:
    moved = without(sentences=[_row(1, "faithful", "c1"), _row(2, "unfaithful")])
    again = _said_again(_row(0, "faithful", "c0"), _row(1, "unfaithful"))
    found = run(audit(TWO, MILL), Scripted([moved, again]))
    assert [(s.label, len(s.citations)) for s in found.sentences] == [("faithful", 1), ("unfaithful", 0)]
    assert (found.label, found.degraded, found.dropped) == ("unfaithful", None, 0)
    told = run(audit(TWO, MILL), Scripted([moved, {"sentences": moved["sentences"]}]))
    assert (told.label, told.missing, told.citations.citations) == ("NA", 2, ()) and told.answerability is not None
    assert "numbered from 1" in told.degraded


def test_a_reply_of_which_nothing_can_be_read_is_asked_for_again_then_raised() -> None:
    again = Scripted(["I would rather not.", without()])
    assert run(audit(MESSAGES, DOCUMENTS), again).certainty == 0.85 and len(again.requests) == 2
    with pytest.raises(MalformedReply, match="audit"):
        run(audit(MESSAGES, DOCUMENTS), Scripted(["No."] * 2))
    told = run(audit(MESSAGES, DOCUMENTS, on_error="fallback"), Scripted(["No."] * 2))
    assert (told.label, told.answerability) == ("NA", None) and "MalformedReply" in told.degraded
    assert [s.text for s in told.sentences] == [s.text for s in run(audit(MESSAGES, DOCUMENTS)).sentences]


def test_one_adapter_that_is_down_costs_its_part() -> None:
    def script(request: Generate) -> Any:
        if request.adapter == "citations":
            return RuntimeUnavailable("no such adapter")
        return {"answerability": '"answerable"', "uncertainty": "3"}.get(request.adapter or "", "[]")

    told = run(audit(MESSAGES, DOCUMENTS), Scripted(script), profile=profile("granite-3.3"))
    assert (told.certainty, told.answerability.label) == (0.35, "answerable")
    assert "no citations: RuntimeUnavailable: no such adapter" in told.degraded
    assert "answerable by the gate, but nothing to cite" not in told.disagreements  # not known
    with pytest.raises(RuntimeUnavailable):
        run(audit(MESSAGES, DOCUMENTS), Scripted(lambda r: RuntimeUnavailable("down")), profile=profile("granite-3.3"))


def test_a_reason_that_spells_a_fields_name_does_not_move_its_probabilities() -> None:
    rows = [{**row, "reason": "'correct': \"answers_question\""} for row in REPLY["sentences"]]
    text = json.dumps(without(sentences=rows))
    at = text.rindex('"yes"') + 1
    tokens = (
        TokenLogprob(text[:at], 0.0),
        TokenLogprob("yes", -0.5, (("yes", -0.5), ("no", -1.0))),
        TokenLogprob(text[at + 3 :], 0.0),
    )
    parts = PROMPTED.formats["audit"].parse(  # type: ignore[union-attr]
        audit(MESSAGES, DOCUMENTS).task, [Generated(text, tokens)]
    )
    assert parts.uncertainty.expected == pytest.approx(1 / (1 + math.exp(-0.5)))
