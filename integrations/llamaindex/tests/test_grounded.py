"""The synthesizer around a synthesizer, and the annotator: gate, citations, verdicts; streams that stream."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from llama_index.core import get_response_synthesizer
from llama_index.core.base.response.schema import AsyncStreamingResponse, PydanticResponse, Response, StreamingResponse
from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.chat_engine.types import AgentChatResponse
from llama_index.core.llms import ChatMessage
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import ResponseMode
from llama_index.rag_intrinsics import ConversationQuery
from llama_index.response_synthesizers.rag_intrinsics import AnswerabilityGate, AnswerCheck

from integrations.llamaindex.tests.llms import (
    BOTH,
    FAITHFUL,
    INVENTED,
    QUESTION,
    CompletingLLM,
    JudgeLLM,
    Says,
    Traced,
    judging,
    nodes,
    searching,
    texts,
)
from intrinsics_core import MalformedReply, RuntimeUnavailable, citations, hallucination_detection, run
from tests.contract.judge import judge
from tests.contract.scripts import no_judge
from tests.scripted import Scripted

ANSWER = f"{FAITHFUL} {INVENTED}"
UNANSWERED = "How many zebras does the circus own?"


def synthesized(synthesizer: AnswerabilityGate, query: Any, given: Any, asynchronous: bool) -> Any:
    if asynchronous:
        return asyncio.run(synthesizer.asynthesize(query, given))
    return synthesizer.synthesize(query, given)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_verdicts_are_the_cores(asynchronous: bool) -> None:
    inner = Says(ANSWER)
    response = synthesized(AnswerabilityGate(inner, check=BOTH, runtime=judging()), QUESTION, nodes(), asynchronous)
    assert isinstance(response, Response)
    assert response.response == ANSWER
    found = response.metadata["rag_intrinsics"]
    turns = [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": ANSWER}]
    titles = ["page: 3", "The mill\npage: 7", None]  # what an LLM is shown besides the texts
    documents = [
        {"id": n.node_id, "text": n.text, "title": title, "metadata": n.metadata}
        for n, title in zip(texts(), titles, strict=True)
    ]
    expected = {
        "citations": run(citations(turns, documents), judging()),
        "hallucination_detection": run(hallucination_detection(turns, documents), judging()),
    }
    assert found["answerability"]["label"] == "answerable"
    assert {name: found[name] for name in expected} == {k: v.model_dump(mode="json") for k, v in expected.items()}
    assert [s["label"] for s in found["hallucination_detection"]["sentences"]] == ["faithful", "unfaithful"]
    (cited,) = found["citations"]["citations"]
    assert cited["document_id"] == "mill"
    mill = texts()[1].text
    assert mill[cited["document_begin"] : cited["document_end"]] == "Ada Brink built the mill in 1911."
    assert response.metadata["mill"]["page"] == 7  # what LlamaIndex puts there stays


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("streaming", [False, True])
def test_the_gate_answers_in_the_inner_ones_place(asynchronous: bool, streaming: bool) -> None:
    inner = Says(ANSWER, streaming=streaming)
    synthesizer = AnswerabilityGate(inner, check=BOTH, canned="Not in the archive.", runtime=judging())

    async def asynchronously() -> Any:
        response = await synthesizer.asynthesize(UNANSWERED, nodes())
        return response, await response.get_response() if streaming else response

    with Traced() as traced:
        if asynchronous:
            response, whole = asyncio.run(asynchronously())
        else:
            response = synthesizer.synthesize(UNANSWERED, nodes())
            whole = response.get_response() if streaming else response
    kinds = {(False, True): StreamingResponse, (True, True): AsyncStreamingResponse}
    assert isinstance(response, kinds.get((asynchronous, streaming), Response))
    assert whole.response == "Not in the archive."
    assert inner.asked == 0
    assert whole.metadata["rag_intrinsics"]["answerability"]["label"] == "unanswerable"
    assert set(whole.metadata["rag_intrinsics"]) == {"answerability", "canned"}
    assert [n.node_id for n in whole.source_nodes] == ["cranes", "mill", "fog"]
    assert traced.events.names() == ["SynthesizeStartEvent", "SynthesizeEndEvent"]


def test_each_part_can_be_left_out() -> None:
    def found(check: Any) -> set[str]:
        synthesizer = AnswerabilityGate(Says(ANSWER), check=check, runtime=judging())
        return set(synthesizer.synthesize(QUESTION, nodes()).metadata["rag_intrinsics"])

    assert found(BOTH) == {"about", "answerability", *BOTH}
    assert found("citations") == {"about", "answerability", "citations"}
    assert found(None) == {"answerability"}
    checked: Any = AnswerCheck(BOTH).check(QUESTION, Says(ANSWER).synthesize(QUESTION, nodes()))
    assert set(checked.metadata["rag_intrinsics"]) == {"about", *BOTH}


@pytest.mark.parametrize("asynchronous", [False, True])
def test_nothing_found_is_nothing_to_answer_from(asynchronous: bool) -> None:
    inner = Says(ANSWER)
    response = synthesized(AnswerabilityGate(inner, check=BOTH), QUESTION, [], asynchronous)
    assert "could not find an answer" in response.response and inner.asked == 0
    gate = {"label": "unanswerable", "probability": 0.0, "reason": "nothing retrieved", "schema_version": 1}
    assert response.metadata["rag_intrinsics"] == {"answerability": gate, "canned": True}
    ungated = synthesized(AnswerabilityGate(inner, check=BOTH, mode="annotate"), QUESTION, [], asynchronous)
    assert ungated.response == "Empty Response"
    assert ungated.metadata["rag_intrinsics"]["citations"] == {
        "citations": [],
        "reason": "nothing retrieved",
        "schema_version": 1,
    }


def test_a_sync_stream_passes_tokens_as_they_come() -> None:
    inner = Says(ANSWER, streaming=True)
    runtime = judging()
    response: Any = AnswerabilityGate(inner, check=BOTH, runtime=runtime).synthesize(QUESTION, nodes())
    gate_only = len(runtime.waves)
    tokens = response.response_gen
    assert next(tokens) == "Ada "
    assert inner.made == 1  # the second token is not made when the first has left
    assert set(response.metadata["rag_intrinsics"]) == {"answerability"}
    rest = list(tokens)
    assert "Ada " + "".join(rest) == ANSWER + " "
    assert set(response.metadata["rag_intrinsics"]) == {"about", "answerability", *BOTH}
    assert len(runtime.waves) == gate_only + 1  # both are asked for in one wave


def test_an_async_stream_passes_tokens_as_they_come() -> None:
    async def main() -> None:
        inner = Says(ANSWER, streaming=True)
        response: Any = await AnswerabilityGate(inner, check=BOTH, runtime=judging()).asynthesize(QUESTION, nodes())
        assert isinstance(response, AsyncStreamingResponse)
        tokens = response.async_response_gen()
        assert await anext(tokens) == "Ada "
        assert inner.made == 1
        assert set(response.metadata["rag_intrinsics"]) == {"answerability"}
        rest = [token async for token in tokens]
        assert "Ada " + "".join(rest) == ANSWER + " "
        found = response.metadata["rag_intrinsics"]["hallucination_detection"]
        assert [s["label"] for s in found["sentences"]] == ["faithful", "unfaithful"]
        assert (await response.get_response()).metadata["rag_intrinsics"]["hallucination_detection"] == found

    asyncio.run(main())


def test_an_async_query_engine_streams_with_llamaindexs_own_synthesizer() -> None:
    async def main() -> None:
        inner = get_response_synthesizer(llm=CompletingLLM(reply=FAITHFUL), streaming=True)
        retriever = searching(k=1)
        response: Any = await RetrieverQueryEngine(retriever, AnswerabilityGate(inner, check=BOTH)).aquery(QUESTION)
        tokens = [token async for token in response.async_response_gen()]
        assert "".join(tokens).strip() == FAITHFUL and len(tokens) > 5
        assert response.metadata["rag_intrinsics"]["hallucination_detection"]["label"] == "faithful"

    asyncio.run(main())


def test_the_judging_at_the_end_of_a_stream_is_a_span() -> None:
    with Traced() as traced:
        response: Any = AnswerabilityGate(Says(FAITHFUL, streaming=True), check=BOTH, runtime=judging()).synthesize(
            QUESTION, nodes()
        )
        assert "AnswerCheck._judge" not in traced.parents()
        list(response.response_gen)
    assert "AnswerCheck._judge" in traced.parents()


def test_a_stream_that_is_left_early_is_not_judged() -> None:
    runtime = judging()
    response: Any = AnswerabilityGate(Says(ANSWER, streaming=True), check=BOTH, runtime=runtime).synthesize(
        QUESTION, nodes()
    )
    waves = len(runtime.waves)
    next(response.response_gen)
    response.response_gen.close()
    assert len(runtime.waves) == waves


@pytest.mark.parametrize("mode", [ResponseMode.COMPACT, ResponseMode.REFINE, ResponseMode.TREE_SUMMARIZE])
@pytest.mark.parametrize("streaming", [False, True])
def test_in_a_query_engine_with_llamaindexs_own_synthesizers(mode: ResponseMode, streaming: bool) -> None:
    llm = CompletingLLM(reply=FAITHFUL)
    inner = get_response_synthesizer(llm=llm, response_mode=mode, streaming=streaming)
    retriever = searching(k=1)
    engine = RetrieverQueryEngine(retriever, AnswerabilityGate(inner, check=BOTH))
    response: Any = engine.query(QUESTION)
    whole = response.get_response() if streaming else response
    assert whole.response.strip() == FAITHFUL
    assert whole.metadata["rag_intrinsics"]["hallucination_detection"]["label"] == "faithful"
    assert "response_synthesizer:text_qa_template" in str(engine.get_prompts()) or mode is ResponseMode.TREE_SUMMARIZE
    if not streaming:
        aresponse: Any = asyncio.run(engine.aquery(QUESTION))
        assert aresponse.metadata["rag_intrinsics"] == whole.metadata["rag_intrinsics"]


def test_a_structured_answer_is_checked_too() -> None:
    class Built(BaseModel):
        builder: str

    class Structured(Says):
        def get_response(self, query_str: str, text_chunks: Any, **kwargs: Any) -> Any:
            return Built(builder="Ada Brink")

    inner = Structured("")
    inner._output_cls = Built
    response: Any = AnswerabilityGate(inner, check=BOTH, runtime=judging()).synthesize(QUESTION, nodes())
    assert isinstance(response, PydanticResponse)
    assert response.response == Built(builder="Ada Brink")
    assert (
        response.metadata["rag_intrinsics"]["hallucination_detection"]["sentences"][0]["text"] == "builder: Ada Brink"
    )


@pytest.mark.parametrize("asynchronous", [False, True])
def test_with_texts_alone_it_gates(asynchronous: bool) -> None:
    synthesizer = AnswerabilityGate(Says(ANSWER), check=BOTH, runtime=judging(), canned="No.")

    def said(question: str) -> Any:
        chunks = [node.text for node in texts()]
        if asynchronous:
            return asyncio.run(synthesizer.aget_response(question, chunks))
        return synthesizer.get_response(question, chunks)

    assert said(QUESTION) == ANSWER
    assert said(UNANSWERED) == "No."


def test_failures_are_raised_not_swallowed() -> None:
    with pytest.raises(RuntimeUnavailable):
        AnswerabilityGate(Says(ANSWER), check=BOTH, runtime=no_judge()).synthesize(QUESTION, nodes())

    def script(request: Any) -> Any:
        return "no json" if request.intrinsic == "citations" else judge(request)

    strict = AnswerCheck(BOTH, on_error="raise", runtime=Scripted(script))
    response: Any = strict.check(QUESTION, Says(ANSWER, streaming=True).synthesize(QUESTION, nodes()))
    with pytest.raises(MalformedReply) as caught:
        list(response.response_gen)
    assert caught.value.intrinsic == "citations"


def test_the_conversation_reaches_the_judge() -> None:
    seen: list[str] = []

    def script(request: Any) -> Any:
        seen.append(request.messages[-1].content)
        return judge(request)

    history = [ChatMessage("Tell me about the mill."), ChatMessage("It is old.", role="assistant")]
    query = ConversationQuery("Who built it, and when?", chat_history=history)
    AnswerabilityGate(Says(FAITHFUL), check=BOTH, runtime=Scripted(script)).synthesize(query, nodes())
    assert len(seen) == 3 and all("Tell me about the mill" in text for text in seen)


def test_spans_and_the_inner_events() -> None:
    llm = JudgeLLM(reply=lambda messages, options: {"answerability": "answerable", "confidence": 0.9})
    synthesizer = AnswerabilityGate(Says(ANSWER), runtime=llm)
    with Traced() as traced:
        synthesizer.synthesize(QUESTION, nodes())
    parents = traced.parents()
    assert parents["AnswerabilityGate.synthesize"] is None
    assert parents["JudgeLLM.chat"] == "AnswerabilityGate.synthesize"
    names = traced.events.names()
    assert names.count("SynthesizeStartEvent") == names.count("SynthesizeEndEvent") == 1


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_chat_engines_response_is_annotated(asynchronous: bool) -> None:
    retriever = searching(k=2)
    chat = ContextChatEngine.from_defaults(retriever, llm=CompletingLLM(reply=FAITHFUL))
    response = chat.chat(QUESTION)
    annotator = AnswerCheck(BOTH)
    if asynchronous:
        annotated: Any = asyncio.run(annotator.acheck(QUESTION, response))
    else:
        annotated = annotator.check(QUESTION, response)
    assert isinstance(annotated, AgentChatResponse) and annotated.response == response.response
    assert annotated.metadata["rag_intrinsics"]["citations"]["citations"][0]["document_id"] == "mill"
    assert not response.metadata  # the chat engine's own is not written into
