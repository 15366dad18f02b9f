"""The ``prompted`` profile: what the model is shown, how much it may say, and what scores rest on."""

from __future__ import annotations

import math
from typing import Any

import pytest

from intrinsics_core import run
from intrinsics_core.intrinsics import (
    answerability,
    citations,
    fact_check,
    hallucination_detection,
    query_rewrite,
    uncertainty,
)
from intrinsics_core.profiles.asking import data_of
from intrinsics_core.profiles.prompted import PROFILE
from intrinsics_core.protocol.errors import MalformedReply
from intrinsics_core.protocol.requests import Generate, Generated, TokenLogprob
from intrinsics_core.protocol.task import Task, check
from tests.scripted import Scripted

ASKED = [{"role": "user", "content": "When does the ferry leave?"}]
ANSWERED = [*ASKED, {"role": "assistant", "content": "It leaves at nine. There is another one at noon."}]
DOCUMENTS = ["The ferry leaves at nine.", "Tea is served hot."]


def asked(name: str, messages: Any = ASKED, documents: Any = DOCUMENTS) -> Generate:
    (request,) = PROFILE.formats[name].render(task(messages, documents))
    assert isinstance(request, Generate)
    return request


def task(messages: Any = ASKED, documents: Any = DOCUMENTS) -> Task:
    return check("answerability", messages, documents, ends_with=["user", "assistant"], date="April 1, 2025")


def parsed(name: str, text: str, logprobs: Any = None) -> Any:
    return PROFILE.formats[name].parse(task(), [Generated(text, logprobs=logprobs)])


def test_the_fact_checks_relevance_is_judged_without_the_answer_that_is_checked() -> None:
    seen: list[Any] = []

    def script(request: Generate) -> dict[str, Any]:
        assert request.messages
        shown = data_of(request.messages[-1].content)
        if "claim" in shown:
            return {"supported": "yes", "confidence": 1}
        seen.append((shown["question"], "conversation" in shown))
        return {"context_relevance": "relevant", "confidence": 1}

    run(fact_check(ANSWERED, DOCUMENTS), Scripted(script))
    assert seen == [(ASKED[0]["content"], False)] * 2


@pytest.mark.parametrize("name", ["answerability", "context-relevance", "comparison", "listwise"])
def test_the_question_stands_apart_from_the_turns_before_it(name: str) -> None:
    before = [{"role": "user", "content": "Is there a ferry?"}, {"role": "assistant", "content": "Yes, two."}]
    request = asked(name, [*before, *ASKED], DOCUMENTS[:2])
    shown = data_of(request.messages[-1].content)  # type: ignore[index]
    assert (shown["conversation"], shown["question"]) == (before, ASKED[0]["content"])
    assert list(shown)[-1] == "question", "behind the documents and the turns before it"
    alone = data_of(asked(name, ASKED, DOCUMENTS[:2]).messages[-1].content)  # type: ignore[index]
    assert "conversation" not in alone and alone["question"] == ASKED[0]["content"]


MILL = [
    {"role": "user", "content": "Who built the mill?"},
    {"role": "assistant", "content": "Ada Brink built it. It opened in 1911."},
]


def checked(documents: list[str], judged: list[Any], **options: Any) -> Any:
    """The fact check over documents that are judged so. A claim is supported by a document with a word of it."""

    def script(request: Generate) -> dict[str, Any]:
        assert request.messages
        shown = data_of(request.messages[-1].content)
        if "claim" in shown:
            held = any(word in shown["claim"] and word in shown["source"]["text"] for word in ("Ada", "1911"))
            return {"supported": "yes" if held else "no", "confidence": 1}
        label, confidence = judged[documents.index(shown["document"]["text"])]
        return {"context_relevance": label, "confidence": confidence}

    return run(fact_check(MILL, documents, **options), Scripted(script))


def test_a_model_that_is_held_to_the_schema_tells_of_each_sentence_what_it_rests_on() -> None:
    def shortest(request: Generate) -> Any:
        """The least that the schema admits."""
        constraint: Any = request.constraint
        listed = constraint.schema["properties"]["citations"]
        names = listed["items"]["properties"]["response"]["enum"][: listed["minItems"]]
        return {"citations": [{"response": name, "sources": []} for name in names]}

    found = run(citations(ANSWERED, DOCUMENTS), Scripted(shortest), profile="prompted")
    assert (found.citations, found.missing, found.degraded) == ((), 0, None)


@pytest.mark.parametrize(
    "confidences", [(0.99, 0.9), (1.0, 0.95), (0.95, 0.95), (0.6, 1.0), (0.99, "high"), ("quite", 1)]
)
def test_a_fact_check_reads_every_document_that_is_called_relevant(confidences: tuple[Any, Any]) -> None:
    documents = ["The mill was built by Ada Brink.", "The mill opened in 1911."]
    found = checked(documents, [("relevant", confidence) for confidence in confidences])
    assert found.score == 1.0 and all(source.score is not None for source in found.sources)
    assert checked(documents, [("relevant", c) for c in confidences], aggregate="weighted").score == pytest.approx(
        0.5, abs=0.15
    )


@pytest.mark.parametrize("label", ["partially relevant", "irrelevant"])
@pytest.mark.parametrize("confidence", [0.95, 0.5, 1.0, "quite"])
def test_a_fact_check_does_not_read_what_is_less_relevant_than_the_best(label: str, confidence: Any) -> None:
    documents = ["The mill was built by Ada Brink.", "The mill opened in 1911."]
    found = checked(documents, [("relevant", 0.9), (label, confidence)])
    assert [source.weight for source in found.sources] == [1.0, 0.0] and found.score == 0.5


def test_of_documents_with_one_label_the_surer_one_comes_first() -> None:
    documents = ["The mill was built by Ada Brink.", "The mill opened in 1911."]
    found = checked(documents, [("relevant", 0.7), ("relevant", 0.9)], top_k=1)
    assert [source.weight for source in found.sources] == [0.0, 1.0]


def test_replies_by_sentence_grow_with_the_response_and_no_others_do() -> None:
    longer = [*ASKED, {"role": "assistant", "content": "It leaves at nine. " * 20}]
    for name in PROFILE.formats:
        if name != "comparison":  # shows two documents
            sizes = [asked(name, messages, DOCUMENTS[:1]).max_tokens or 0 for messages in (ANSWERED, longer)]
            growing = ("answer-rewrite", "audit", "citations", "hallucination-detection", "revise")
            assert (sizes[1] > 5 * sizes[0]) == (name in growing), name
            assert sizes[0] > 0


def test_an_answer_from_the_documents() -> None:
    request = asked("answer", [{"role": "system", "content": "Be brief."}, *ASKED])
    assert request.messages and request.constraint is None
    system, user = request.messages
    assert "documents alone" in user.content and "documents alone" not in system.content
    shown = data_of(user.content)
    assert shown["conversation"][-1] == ASKED[0]
    assert [document["text"] for document in shown["documents"]] == DOCUMENTS
    assert parsed("answer", " At nine. ") == "At nine."


@pytest.mark.parametrize("name", ["answer", "sample-answer"])
@pytest.mark.parametrize("text", ["", " \n", "at nine \ud800"])
def test_a_reply_that_is_no_text_is_malformed(name: str, text: str) -> None:
    with pytest.raises(MalformedReply):
        parsed(name, text)


@pytest.mark.parametrize(
    ("confidence", "probability"),
    [(0.8, 0.2), (1, 0.0), (0.5, 0.5), (0, 0.49), (0.3, 0.49), (None, 0.0), (True, 0.49), ("high", 0.49), (7, 0.49)],
)
def test_without_log_probabilities_the_stated_confidence_counts_or_the_label_alone(
    confidence: Any, probability: float
) -> None:
    reply = {"answerability": "unanswerable", "confidence": confidence}
    result = run(answerability(ASKED, DOCUMENTS), Scripted(lambda request: reply))
    assert result.label == "unanswerable" and result.probability == pytest.approx(probability)


def test_log_probabilities_outweigh_what_the_model_states() -> None:
    pieces = ['{"answerability": "', "un", "answerable", '", "confidence": 1.0}']
    tokens = tuple(
        TokenLogprob(p, 0.0 if p != "un" else math.log(0.6), (("answer", math.log(0.4)),) if p == "un" else ())
        for p in pieces
    )
    assert parsed("answerability", "".join(pieces), tokens).probability == pytest.approx(0.4)


@pytest.mark.parametrize("listed", [(), (("un", math.log(0.51)),)])
def test_log_probabilities_without_alternatives_leave_it_to_what_the_model_states(listed: Any) -> None:
    pieces = ['{"answerability": "', "un", "answerable", '", "confidence": 0.55}']
    tokens = tuple(TokenLogprob(p, math.log(0.51), listed if p == "un" else ()) for p in pieces)
    found = parsed("answerability", "".join(pieces), tokens)
    assert (found.label, found.probability) == ("unanswerable", pytest.approx(0.45))


def test_a_sentence_is_as_likely_supported_as_the_tokens_of_its_label_say() -> None:
    said = r'"reason": "\"faithfulness\": is what \"faithfulness\" means.", "faithfulness": "'
    pieces = ['{"sentences": [{"id": "r0", ' + said, "un", 'faithful"}, {"id": "r1", ' + said, "NA", '"}]}']
    top = {"un": (("faith", math.log(0.3)), ("part", math.log(0.1)), ("NA", math.log(0.2))), "NA": (("un", -2.0),)}
    tokens = tuple(TokenLogprob(p, math.log(0.4) if p == "un" else 0.0, top.get(p, ())) for p in pieces)
    reply = Generated("".join(pieces), logprobs=tokens)
    found = PROFILE.formats["hallucination-detection"].parse(task(ANSWERED), [reply])
    assert [sentence.label for sentence in found.sentences] == ["unfaithful", "NA"]
    assert found.sentences[0].score == found.score == pytest.approx((0.3 + 0.1 / 2) / 0.8)
    stated = PROFILE.formats["hallucination-detection"].parse(task(ANSWERED), [Generated(reply.text)])
    assert stated.sentences[0].score == 0.0


@pytest.mark.parametrize("ids", [("R0", "C1"), ("<R0>", "<C1>"), ("r0", "c1"), (0, 1)])
def test_the_case_of_an_id_does_not_matter(ids: tuple[Any, Any]) -> None:
    first, source = ids
    texts = ["The mill was built by Ada Brink. It opened in 1911."]
    answer = [*MILL[:1], {"role": "assistant", "content": "It opened in 1911."}]
    judged = run(
        hallucination_detection(answer, texts),
        Scripted([{"sentences": [{"id": first, "reason": "", "faithfulness": "faithful"}]}]),
    )
    assert (judged.label, judged.missing, judged.dropped) == ("faithful", 0, 0)
    cited = run(citations(answer, texts), Scripted([{"citations": [{"response": first, "sources": [source]}]}]))
    assert [c.document_text for c in cited.citations] == ["It opened in 1911."]


@pytest.mark.parametrize("said", ["N/A", "n/a.", "None", "[null]", "...", "…", "Not applicable", "(empty)", "“NA”"])
def test_a_rewritten_question_that_says_nothing_is_asked_again(said: str) -> None:
    runtime = Scripted([{"rewritten_question": said}, {"rewritten_question": "When does the ferry to Holm leave?"}])
    assert run(query_rewrite(ASKED), runtime).query == "When does the ferry to Holm leave?"
    with pytest.raises(MalformedReply, match="says nothing"):
        run(query_rewrite(ASKED), Scripted([{"rewritten_question": said}] * 2))
    kept = run(query_rewrite(ASKED, on_error="fallback"), Scripted([{"rewritten_question": said}] * 2))
    assert kept.query == ASKED[0]["content"] and kept.degraded


@pytest.mark.parametrize("said", ["What does N/A mean?", "None of the ferries?", "Null values in SQL", "Why?", "🍕?"])
def test_a_question_about_nothing_is_a_question(said: str) -> None:
    assert run(query_rewrite(ASKED), Scripted([{"rewritten_question": said}])).query == said


def test_a_user_who_says_nothing_is_left_alone() -> None:
    found = run(query_rewrite([{"role": "user", "content": "n/a"}]), Scripted([{"rewritten_question": "n/a"}]))
    assert (found.query, found.changed) == ("n/a", False)


@pytest.mark.parametrize(
    ("reply", "certainty"),
    [
        ({"correct": "yes", "confidence": 0.75}, 0.75),
        ({"correct": "Yes.", "confidence": "75%"}, 0.75),
        ({"correct": "yes", "confidence": 77}, 0.75),
        ({"correct": "no", "confidence": 0.75}, 0.25),
        ({"correct": "yes"}, 0.95),  # the label alone
        ({"correct": "no"}, 0.05),
    ],
)
def test_certainty_is_how_likely_a_yes_is(reply: dict[str, Any], certainty: float) -> None:
    result = run(uncertainty(ANSWERED, DOCUMENTS), Scripted(lambda request: reply))
    assert result.certainty == certainty and result.expected is None


@pytest.mark.parametrize("said", ["", "x", 10, -1, True, None, 0.5, "yes or no"])
def test_an_answer_that_is_neither_yes_nor_no_is_malformed(said: Any) -> None:
    with pytest.raises(MalformedReply):
        run(uncertainty(ANSWERED, DOCUMENTS), Scripted(lambda request: {"correct": said}))
