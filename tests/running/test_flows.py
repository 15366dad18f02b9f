import asyncio
import json

import pytest

from intrinsics_core import Document, InvalidInput, RuntimeUnavailable, answerability, arun, as_runtime, run
from intrinsics_core.protocol.requests import Generated
from intrinsics_core.running.flows import CANNED, disagreements, fused, rag
from intrinsics_core.runtimes.tools import Tools
from tests.scripted import AsyncScripted, Scripted

QUESTION = [{"role": "user", "content": "Who keeps it?"}]
CORPUS = {
    "Who keeps the lighthouse?": ["Ada keeps the lighthouse.", "The lighthouse is tall."],
    "lighthouse keeper": ["Bea wrote it all down.", "Ada keeps the lighthouse."],
}


def judge(request):
    """A model that finds a question answerable only if Bea's notes, or a keeper, are among the documents."""
    shown = request.messages[-1].content
    fields = request.constraint.schema["properties"] if request.constraint else {}
    if "rewritten_question" in fields:
        return {"rewritten_question": "Who keeps the lighthouse?"}
    if "query" in fields:
        return {"query": "lighthouse keeper"}
    if "question" in fields:
        return {"question": "Who keeps the lighthouse?"}
    if "answerability" in fields:
        return {"answerability": "answerable" if "Bea" in shown else "unanswerable", "confidence": 0.9}
    if "context_relevance" in fields:
        return {"context_relevance": "irrelevant" if "tall" in shown.split('"document"')[1] else "relevant"}
    if "citations" in fields:
        return {"citations": [{"response": "r0", "sources": ["c0"]}]}
    if "sentences" in fields:
        return {
            "sentences": [{"id": "r0", "reason": "", "faithfulness": "unfaithful" if "Zed" in shown else "faithful"}]
        }
    if "correct" in fields:
        return {"correct": "yes", "confidence": 0.95}
    return "It is Ada."


def tools(kind=Scripted, generate=lambda messages, documents: "Ada keeps it.", retrieve=lambda q: CORPUS.get(q, [])):
    return Tools(kind(judge), retrieve=retrieve, generate=generate)


@pytest.mark.parametrize("kind", [Scripted, AsyncScripted])
def test_rewrite_retrieve_answer_cite(kind):
    result = run(rag(QUESTION, gate=False, weigh=True), tools(kind))
    assert result.query == "Who keeps the lighthouse?"
    assert [d.text for d in result.documents] == CORPUS[result.query]
    assert (result.answer, result.answered) == ("Ada keeps it.", True)
    (citation,) = result.citations.citations
    assert citation.document_text == "Ada keeps the lighthouse."
    assert result.hallucination.label == "faithful"
    assert result == asyncio.run(arun(rag(QUESTION, gate=False, weigh=True), tools(kind)))
    json.dumps(result.model_dump(mode="json"))


def test_no_rewrite_retrieves_with_the_last_turn():
    result = run(rag(QUESTION, rewrite=False, gate=False, cite=False, detect=False), tools())
    assert (result.query, result.documents, result.rewrite) == ("Who keeps it?", (), None)


def test_an_unanswerable_question_gets_the_canned_answer():
    result = run(rag(QUESTION), tools(generate=lambda m, d: pytest.fail("the generator was asked")))
    assert (result.answer, result.answered, result.answerability.label) == (CANNED, False, "unanswerable")
    assert result.citations is None


@pytest.mark.parametrize(("settings", "answered"), [({}, False), ({"block_unsure": False}, True)])
def test_an_unsure_verdict_stops_a_question_unless_asked_otherwise(settings, answered):
    never = {"kind": "embedded", "thresholds": {"answerability": {"answerable": 0.99}}}  # nothing is as sure as that
    chain = Tools(never, retrieve=lambda query: CORPUS["lighthouse keeper"], generate=lambda m, d: "Ada keeps it.")
    result = run(rag([{"role": "user", "content": "Who keeps the lighthouse?"}], **settings), chain)
    assert (result.answerability.label, result.answerability.unsure) == ("unanswerable", True)
    assert (result.answered, result.answer) == (answered, "Ada keeps it." if answered else CANNED)


def test_an_unanswerable_question_answered_without_documents():
    seen = []
    generate = lambda messages, documents: seen.append(documents) or "From memory: Ada."  # noqa: E731
    result = run(rag(QUESTION, unanswerable="without-documents"), tools(generate=generate))
    assert (seen, result.documents, result.answered) == ([()], (), True)


def test_an_unanswerable_question_is_retrieved_for_once_more():
    result = run(rag(QUESTION, unanswerable="expand"), tools())
    assert result.answered
    assert {d.text for d in result.documents} == {*CORPUS["Who keeps the lighthouse?"], *CORPUS["lighthouse keeper"]}
    assert result.documents[0].text == "Ada keeps the lighthouse."  # found by both queries


def test_irrelevant_documents_are_left_out():
    result = run(rag(QUESTION, gate=False, filter_context=True), tools())
    assert [d.text for d in result.documents] == ["Ada keeps the lighthouse."]


def test_the_most_faithful_sample_is_kept():
    generate = lambda messages, documents, seed: "Zed keeps it." if seed != 1 else "Ada keeps it."  # noqa: E731
    result = run(rag(QUESTION, gate=False, samples=3), tools(generate=generate))
    assert (result.answer, result.samples) == ("Ada keeps it.", 3)


BY_CERTAINTY = {"Zed keeps it.": 0.85, "Ada keeps it.": 0.35, "Nobody does.": 0.15}


def weighing(*, sentences=True, texts=tuple(BY_CERTAINTY)):
    """A chain whose first sample is the surest and unfaithful, and the second faithful and unsure."""

    def weighed(request):
        fields = request.constraint.schema["properties"] if request.constraint else {}
        if "correct" in fields:
            shown = request.messages[-1].content
            share = next(share for text, share in BY_CERTAINTY.items() if text in shown)
            return (
                {"correct": "yes", "confidence": share} if share > 0.5 else {"correct": "no", "confidence": 1 - share}
            )
        if "sentences" in fields and not sentences:
            return {"sentences": []}
        return judge(request)

    scripted = Scripted(weighed)
    return scripted, Tools(scripted, retrieve=lambda q: CORPUS["Who keeps the lighthouse?"],
                           generate=lambda messages, documents, seed: texts[seed])  # fmt: skip


def sampled(**options):
    return rag(QUESTION, rewrite=False, gate=False, cite=False, samples=3, **options)


def test_samples_are_ranked_by_certainty_alone_where_that_is_asked_for():
    scripted, chain = weighing()
    result = run(sampled(detect=False, weigh=True), chain)
    assert (result.answer, result.uncertainty.certainty, result.hallucination) == ("Zed keeps it.", 0.85, None)
    assert {request.intrinsic for request in scripted.requests} == {"uncertainty"}
    both = run(sampled(weigh=True), weighing()[1])
    assert (both.answer, both.hallucination.label) == ("Ada keeps it.", "faithful")


def test_of_several_samples_those_that_pass_count():
    result = run(sampled(min_certainty=0.75, detect=False), weighing()[1])
    assert (result.answer, result.answered, result.reason) == ("Zed keeps it.", True, None)
    result = run(sampled(min_faithfulness=0.75, min_certainty=0.3, detect=False), weighing()[1])
    assert (result.answer, result.hallucination.label, result.uncertainty.certainty) == (
        "Ada keeps it.",
        "faithful",
        0.35,
    )


def test_where_no_sample_passes_the_answer_is_the_canned_one_and_says_why():
    result = run(sampled(min_faithfulness=0.75, min_certainty=0.75), weighing(texts=["Zed keeps it."] * 3)[1])
    assert (result.answer, result.answered, result.samples) == (CANNED, False, 3)
    assert result.reason == "no sample met the requirements: faithfulness 0.00 is below 0.75"
    assert result.hallucination is None and result.uncertainty is None and result.degraded is None
    result = run(sampled(min_certainty=0.9, canned="Ask Ada."), weighing()[1])
    assert result.answer == "Ask Ada."
    assert result.reason == ("no sample met the requirements: certainty 0.85 is below 0.90; "
                             "certainty 0.35 is below 0.90; certainty 0.15 is below 0.90")  # fmt: skip


def test_a_sample_without_the_verdict_does_not_pass():
    result = run(sampled(min_faithfulness=0.1), weighing(sentences=False)[1])
    assert (result.answered, result.reason) == (False, "no sample met the requirements: no faithfulness was judged")
    down = Tools(Scripted(fails("correct")), retrieve=lambda q: ["Ada keeps it."], generate=lambda m, d: "Ada.")
    result = run(rag(QUESTION, rewrite=False, gate=False, min_certainty=0.1, on_error="fallback"), down)
    assert (result.answered, result.reason) == (False, "no sample met the requirements: no certainty was judged")
    assert "no uncertainty" in result.degraded


@pytest.mark.parametrize("least", [-0.1, 1.1, float("nan"), True, "0.75"])
def test_a_threshold_of_samples_is_a_probability(least):
    with pytest.raises(InvalidInput, match="min_certainty"):
        rag(QUESTION, min_certainty=least)
    with pytest.raises(InvalidInput, match="min_faithfulness"):
        rag(QUESTION, min_faithfulness=least)


def test_a_flow_tells_of_sentences_that_were_not_judged():
    result = run(rag(QUESTION, rewrite=False, gate=False, cite=False), weighing(sentences=False)[1])
    assert (result.hallucination.label, result.missing) == ("NA", 1)
    assert "1 of 1 sentences were not judged" in result.degraded


def test_disagreements_are_told():
    result = run(rag(QUESTION, gate=False, weigh=True), tools(generate=lambda m, d: "Zed keeps it."))
    assert "certain, but unfaithful to the documents" in result.disagreements
    assert "cited, but unfaithful to the documents" in result.disagreements
    assert disagreements(run(rag(QUESTION, gate=False, weigh=True), tools())) == []


def test_coroutine_tools_and_their_failures():
    async def retrieve(query):
        await asyncio.sleep(0)
        return CORPUS[query]

    async def generate(messages, documents):
        raise ConnectionError("no route")

    assert run(rag(QUESTION, gate=False), tools(retrieve=retrieve)).answered
    with pytest.raises(Exception, match="no route"):
        run(rag(QUESTION, gate=False), tools(retrieve=retrieve, generate=generate))
    with pytest.raises(InvalidInput, match="text"):
        run(rag(QUESTION, gate=False), tools(generate=lambda m, d: None))
    with pytest.raises(RuntimeUnavailable):
        run(rag(QUESTION), Tools(Scripted(lambda r: RuntimeUnavailable("down")), retrieve=retrieve, generate=generate))


def test_fusion_counts_a_document_once():
    a, b, c = (Document(t, id=t) for t in "abc")
    assert [d.id for d in fused([[a, b], [b, c]])] == ["b", "a", "c"]


def fails(*names):
    """The judge, down for requests whose schema has one of these fields."""

    def script(request):
        fields = request.constraint.schema["properties"] if request.constraint else {}
        return RuntimeUnavailable("down") if set(names) & set(fields) else judge(request)

    return script


def test_equal_texts_of_two_titles_are_two_documents():
    reports = [{"title": name, "text": "Revenue rose."} for name in ("Globex", "Initech")]
    found = run(rag(QUESTION, gate=False), tools(retrieve=lambda query: [*reports, reports[0]])).documents
    assert [d.title for d in found] == ["Globex", "Initech"] and len({d.id for d in found}) == 2
    untitled = [Document("Revenue rose.", title=name) for name in ("Globex", "Initech", "Globex")]
    assert fused([untitled]) == untitled[:2]


def test_a_flow_may_go_on_where_an_intrinsic_fails():
    broken = Tools(
        Scripted(fails("rewritten_question", "answerability", "citations")),
        retrieve=lambda q: ["Ada keeps the lighthouse."],
        generate=lambda messages, documents: "Ada keeps it.",
    )
    with pytest.raises(RuntimeUnavailable):
        run(rag(QUESTION), broken)
    result = run(rag(QUESTION, on_error="fallback"), broken)
    assert (result.answer, result.query, result.citations) == ("Ada keeps it.", "Who keeps it?", None)
    assert result.hallucination.label == "faithful"
    assert result.degraded.count("down") == 3
    assert "no citations" in result.degraded


def test_a_generator_is_told_of_a_sample_by_name_alone():
    generate = lambda messages, documents, temperature=0.5: f"Ada, at {temperature}."  # noqa: E731
    assert run(rag(QUESTION, gate=False), tools(generate=generate)).answer == "Ada, at 0.5."
    with pytest.raises(InvalidInput, match="generator"):
        run(rag(QUESTION, gate=False), tools(generate=None))
    with pytest.raises(InvalidInput, match="samples"):
        rag(QUESTION, answer="model", samples=2)


def test_the_runtimes_own_model_answers():
    from intrinsics_core.profiles import profile

    seen = []

    def model(request):
        seen.append(request)
        return "Ada keeps it."

    chain = Tools(Scripted(model), retrieve=lambda q: ["Ada keeps the lighthouse."])
    call = rag(QUESTION, rewrite=False, gate=False, cite=False, detect=False, answer="model", date="April 1, 2025")
    assert run(call, chain, profile=profile("granite-3.3")).answer == "Ada keeps it."
    assert "Ada keeps the lighthouse." in seen[0].prompt
    assert seen[0].prompt.endswith("<|start_of_role|>assistant<|end_of_role|>")


def _of_a_model(**ending):
    def reply(request):
        if request.constraint is None:
            return Generated("Ada keeps it, but she never", **ending)
        return judge(request)

    chain = Tools(Scripted(reply), retrieve=lambda q: CORPUS.get(q, []))
    return run(rag(QUESTION, gate=False, answer="model"), chain)


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("length", "token limit"),
        ("max_tokens", "token limit"),
        ("MAX_TOKENS", "token limit"),
        ("content_filter", "content filter"),
        ("SAFETY", "content filter"),
    ],
)
def test_an_answer_of_the_model_that_was_cut_off_is_told_of(reason, said):
    result = _of_a_model(finish_reason=reason)
    assert result.answer == "Ada keeps it, but she never" and said in result.degraded
    assert result.hallucination.label == "faithful"


@pytest.mark.parametrize("reason", [None, "stop", "end_turn", "STOP", "eos_token", "tool_calls"])
def test_an_answer_that_the_model_ended_is_whole(reason):
    assert _of_a_model(finish_reason=reason).degraded is None


def test_an_answer_that_was_cut_off_inside_its_reasoning_is_asked_for_again():
    replies = iter([Generated("<think>Ada", finish_reason="length"), Generated("Ada.", finish_reason="stop")])
    chain = Tools(Scripted(lambda request: next(replies)), retrieve=lambda q: [])
    result = run(rag(QUESTION, rewrite=False, gate=False, cite=False, detect=False, answer="model"), chain)
    assert (result.answer, result.degraded) == ("Ada.", None)


MANUAL = "The manual covers the lido's opening hours: 9 a.m. to 8 p.m."
SAUNA = "A sauna ticket costs 12 euros."


@pytest.mark.parametrize("other", ["manual.pdf", "sauna.pdf", None])
def test_expansion_keeps_the_chunks_of_one_document(other):
    one, two = {"id": "manual.pdf", "text": MANUAL}, {"id": other, "text": SAUNA}
    found = Tools(as_runtime(None), retrieve=lambda q: [one] if q.startswith("What") else [two],
                  generate=lambda m, d: "12 euros.")  # fmt: skip
    asked = [{"role": "user", "content": "What does the sauna cost?"}]
    result = run(rag(asked, unanswerable="expand"), found)
    assert result.answered and [d.text for d in result.documents] == [MANUAL, SAUNA]


LIDO = ["Dogs are not admitted. Lockers need a 2 euro coin. A day ticket costs 6 euros for adults."]


@pytest.mark.parametrize(
    ("turn", "answered"),
    [
        ("Hello!", True),
        ("Thanks a lot!", True),
        ("Can you repeat that?", True),
        ("Please answer in German.", True),
        ("Good morning, how are you?", True),
        ("What is the speed of light?", False),
        ("Thanks! And who built the mill?", False),
        ("Hi, what is the capital of France?", False),
        ("Can you repeat the name of the king of Spain?", False),
        ("Good morning, how deep is the ocean?", False),
    ],
)
def test_a_turn_that_asks_nothing_passes_the_gate_whatever_a_filter_kept(turn, answered):
    asked = [{"role": "user", "content": turn}]
    chat = Tools(as_runtime(None), retrieve=lambda q: LIDO, generate=lambda m, d: "How can I help?")
    result = run(rag(asked, filter_context=True), chat)
    assert (result.answered, result.documents) == (answered, ())
    alone = run(answerability(asked, []))
    assert alone.answerable == answered and (alone.reason == "nothing retrieved") != answered


def test_a_profile_that_asks_a_model_is_asked_nothing_where_nothing_was_retrieved():
    model = Scripted(judge)
    found = run(answerability([{"role": "user", "content": "Hello!"}], []), model)
    assert (found.answerable, found.reason, model.requests) == (False, "nothing retrieved", [])


@pytest.mark.parametrize("settings", [{}, {"detect": False, "cite": False}, {"weigh": True}])
@pytest.mark.parametrize("said", ["", "  \n"])
def test_a_text_without_words_is_no_answer(said, settings):
    result = run(rag(QUESTION, gate=False, **settings), tools(generate=lambda m, d: said))
    assert (result.answer, result.answered) == (CANNED, False)
    assert result.reason == "no sample met the requirements: it has no text"


def test_a_sample_without_words_loses_to_any_other():
    for said, kept in ((["", "Zed keeps it."], "Zed keeps it."), (["Ada keeps it.", " "], "Ada keeps it.")):
        drawn = iter(said)
        result = run(rag(QUESTION, gate=False, samples=2), tools(generate=lambda m, d, drawn=drawn: next(drawn)))
        assert (result.answer, result.answered, result.samples) == (kept, True, 2)
