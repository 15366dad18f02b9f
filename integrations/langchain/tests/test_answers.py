"""Components that judge an answer: metadata, annotations, streams."""

from __future__ import annotations

import asyncio
import operator
import threading
from collections.abc import Iterator
from functools import reduce
from typing import Any

import pytest
from hypothesis import given as given_examples
from hypothesis import settings
from hypothesis import strategies as st
from langchain_core.language_models import FakeListChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.runnables import Runnable, RunnableGenerator, RunnableLambda, RunnablePassthrough
from langchain_rag_intrinsics import AnswerCheck

from integrations.langchain.tests.scripts import FAITHFUL, INVENTED, QUESTION, documents, judging
from intrinsics_core import InvalidInput
from intrinsics_core.chains.notes import underscored
from intrinsics_core.profiles.asking import data_of
from tests.drawing import drawn
from tests.scripted import Scripted

ALL = ["hallucination-detection", "citations", "fact-check", "uncertainty"]
ANSWER = f"{FAITHFUL} {INVENTED}"


def given(answer: Any = ANSWER) -> dict[str, Any]:
    return {"question": QUESTION, "documents": documents(), "answer": answer}


def verdicts(message: AIMessage) -> dict[str, Any]:
    found: dict[str, Any] = message.response_metadata["rag_intrinsics"]
    return found


def test_the_answer_is_a_copy_with_the_verdict() -> None:
    answer = AIMessage(ANSWER, id="answer-1", name="writer", response_metadata={"model_name": "m"}, usage_metadata={
        "input_tokens": 1, "output_tokens": 2, "total_tokens": 3})  # fmt: skip
    before = answer.model_copy(deep=True)
    found = AnswerCheck(checks=ALL, runtime=judging()).invoke(given(answer))
    assert answer == before
    assert found is not answer
    assert (found.id, found.name, found.text, found.usage_metadata) == (
        "answer-1",
        "writer",
        ANSWER,
        answer.usage_metadata,
    )
    assert found.response_metadata["model_name"] == "m"
    assert set(verdicts(found)) - {"about"} == set(map(underscored, ALL))


def test_verdicts_are_merged_not_clobbered() -> None:
    answer: Any = AIMessage(ANSWER, response_metadata={"rag_intrinsics": {"mine": 1}})
    for kind in ALL:
        answer = AnswerCheck(checks=kind, runtime=judging()).invoke(given(answer))
    assert set(verdicts(answer)) == {"mine", "about", *map(underscored, ALL)}


def test_messages_may_end_with_the_answer() -> None:
    messages = [HumanMessage(QUESTION), AIMessage(ANSWER, id="a")]
    found = AnswerCheck(checks="hallucination-detection", runtime=judging()).invoke(
        {"messages": messages, "documents": documents()}
    )
    assert found.id == "a"
    assert verdicts(found) == verdicts(AnswerCheck(checks="hallucination-detection", runtime=judging()).invoke(given()))


def test_whole_results() -> None:
    component = AnswerCheck(checks=ALL, runtime=judging(), return_result=True)
    result = component.invoke(given())
    dumped = {name: found.model_dump(mode="json") for name, found in result.items()}
    shown = verdicts(AnswerCheck(checks=ALL, runtime=judging()).invoke(given()))
    assert dumped == {name: verdict for name, verdict in shown.items() if name != "about"}
    assert list(component.stream(given())) == [result]


# --- citations ----------------------------------------------------------------------------------------------------


def test_a_citation_is_langchains_own() -> None:
    found = AnswerCheck(checks="citations", runtime=judging()).invoke(given())
    (block,) = found.content_blocks
    (citation,) = block["annotations"]
    assert citation == {
        "type": "citation",
        "start_index": 0,
        "end_index": len(FAITHFUL),
        "cited_text": "Ada Brink built the mill in 1911.",
        "title": "The mill",
        "url": "https://ellery.example/mill",
        "extras": {"document_id": "mill", "document_index": 1, "document_begin": 39, "document_end": 72},
    }
    source = documents()[1].page_content
    assert source[39:72] == citation["cited_text"]
    assert found.response_metadata["output_version"] == "v1"


def test_offsets_are_in_their_own_block() -> None:
    blocks = [
        {
            "type": "text",
            "text": "Well. Ada Brink built ",
            "annotations": [{"type": "citation", "cited_text": "before"}],
        },
        {"type": "reasoning", "reasoning": "hm"},
        {"type": "text", "text": "the mill in 1911. "},
        INVENTED,
    ]
    answer = AIMessage(blocks)
    found = AnswerCheck(checks="citations", runtime=judging()).invoke(given(answer))
    first, reasoning, second, third = found.content
    assert [c["cited_text"] for c in first["annotations"]] == ["before", FAITHFUL]
    cited = first["annotations"][1]
    assert first["text"][cited["start_index"] : cited["end_index"]] == "Ada Brink built "
    (cited,) = second["annotations"]
    assert second["text"][cited["start_index"] : cited["end_index"]] == "the mill in 1911."
    assert (reasoning, third) == (blocks[1], INVENTED)
    assert len(answer.content[0]["annotations"]) == 1
    assert found.text == answer.text


def test_nothing_cited_leaves_the_content() -> None:
    found = AnswerCheck(checks="citations", runtime=judging()).invoke(given(INVENTED))
    assert found.content == INVENTED
    assert verdicts(found)["citations"] == {"citations": [], "schema_version": 1}
    assert "output_version" not in found.response_metadata


# --- streams ------------------------------------------------------------------------------------------------------


def summed(chunks: list[Any]) -> AIMessageChunk:
    assert all(isinstance(chunk, AIMessageChunk) for chunk in chunks)
    total: AIMessageChunk = reduce(operator.add, chunks)
    return total


def same(left: AIMessage, right: AIMessage) -> None:
    assert left.text == right.text
    assert verdicts(left) == verdicts(right)
    assert [b.get("annotations") for b in left.content_blocks] == [b.get("annotations") for b in right.content_blocks]


def answering(model: Runnable[Any, Any]) -> Runnable[Any, Any]:
    return RunnablePassthrough.assign(answer=RunnableLambda(lambda x: x["question"]) | model)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_the_sum_of_the_stream_is_the_answer(asynchronous: bool) -> None:
    component = AnswerCheck(checks=ALL, runtime=judging())
    chain = answering(GenericFakeChatModel(messages=iter([ANSWER] * 2))).assign(answer=component).pick("answer")
    asked = {"question": QUESTION, "documents": documents()}

    async def collect() -> list[Any]:
        return [chunk async for chunk in chain.astream(asked)]

    chunks = asyncio.run(collect()) if asynchronous else list(chain.stream(asked))
    assert len(chunks) > 10
    assert [chunk.chunk_position for chunk in chunks] == [None] * (len(chunks) - 1) + ["last"]
    total = summed(chunks)
    same(total, component.invoke(given()))
    (block,) = total.content_blocks
    assert block["text"] == ANSWER  # the annotations are on the answer's own text block
    assert total.response_metadata["output_version"] == "v1"


def test_the_first_chunk_leaves_before_the_last_arrives() -> None:
    left = threading.Event()

    def write(_: Iterator[Any]) -> Iterator[AIMessageChunk]:
        yield AIMessageChunk(content=FAITHFUL)
        assert left.wait(5), "the first chunk was held back"
        yield AIMessageChunk(content=f" {INVENTED}")

    chain = RunnablePassthrough.assign(answer=RunnableGenerator(write)) | AnswerCheck(checks=ALL, runtime=judging())
    chunks = []
    for chunk in chain.stream({"question": QUESTION, "documents": documents()}):
        chunks.append(chunk)
        left.set()
    same(summed(chunks), AnswerCheck(checks=ALL, runtime=judging()).invoke(given()))


def test_the_first_chunk_leaves_before_the_last_arrives_async() -> None:
    async def main() -> list[Any]:
        left = asyncio.Event()

        async def write(_: Any) -> Any:
            yield AIMessageChunk(content=FAITHFUL)
            await asyncio.wait_for(left.wait(), 5)
            yield AIMessageChunk(content=f" {INVENTED}")

        chain = RunnablePassthrough.assign(answer=RunnableGenerator(write)) | AnswerCheck(checks=ALL, runtime=judging())
        chunks = []
        async for chunk in chain.astream({"question": QUESTION, "documents": documents()}):
            chunks.append(chunk)
            left.set()
        return chunks

    same(summed(asyncio.run(main())), AnswerCheck(checks=ALL, runtime=judging()).invoke(given()))


def test_all_of_them_in_one_stream() -> None:
    chain: Any = answering(FakeListChatModel(responses=[ANSWER]))
    for kind in ALL:
        chain = chain.assign(answer=AnswerCheck(checks=kind, runtime=judging()))
    total = summed(list(chain.pick("answer").stream({"question": QUESTION, "documents": documents()})))
    assert set(verdicts(total)) == {"about", *map(underscored, ALL)}
    (block,) = total.content_blocks
    assert (block["text"], len(block["annotations"])) == (ANSWER, 1)


def test_text_still_streams_through_a_parser() -> None:
    chain = (
        answering(GenericFakeChatModel(messages=iter([ANSWER])))
        | AnswerCheck(checks="citations", runtime=judging())
        | StrOutputParser()
    )
    pieces = list(chain.stream({"question": QUESTION, "documents": documents()}))
    assert "".join(pieces) == ANSWER
    assert len(pieces) > 10


@pytest.mark.parametrize("answer", [ANSWER, AIMessage(ANSWER, id="a")])
def test_streaming_a_finished_answer(answer: Any) -> None:
    chunks = list(AnswerCheck(checks=ALL, runtime=judging()).stream(given(answer)))
    same(summed(chunks), AnswerCheck(checks=ALL, runtime=judging()).invoke(given(answer)))
    chunks = list(
        AnswerCheck(checks=ALL, runtime=judging()).stream(
            {"messages": [HumanMessage(QUESTION), AIMessage(ANSWER)], "documents": documents()}
        )
    )
    same(summed(chunks), AnswerCheck(checks=ALL, runtime=judging()).invoke(given(answer)))


def test_streaming_content_blocks_keep_their_index() -> None:
    def write(_: Iterator[Any]) -> Iterator[AIMessageChunk]:
        yield AIMessageChunk(content=[{"type": "reasoning", "reasoning": "hm", "index": 0}])
        for word in FAITHFUL.split(" "):
            yield AIMessageChunk(content=[{"type": "text", "text": f"{word} ", "index": 1}])

    chain = RunnablePassthrough.assign(answer=RunnableGenerator(write)) | AnswerCheck(
        checks="citations", runtime=judging()
    )
    total = summed(list(chain.stream({"question": QUESTION, "documents": documents()})))
    reasoning, text = total.content
    assert reasoning["reasoning"] == "hm"
    (citation,) = text["annotations"]
    assert text["text"][citation["start_index"] : citation["end_index"]] == FAITHFUL


PIECES = st.lists(
    st.sampled_from(["Mill. ", "🌾 它仍在运转。", "<r1> ", "a\r\nb ", "Who? ", "", " ", "\n\n- item", "x"]), max_size=12
)


def cite_all(request: Any) -> Any:
    shown = data_of(request.messages[-1].content)
    sources = [name for d in shown["documents"] for name in d["sentences"]]
    return {"citations": [{"response": name, "sources": sources[:1]} for name in shown["response"]]}


@given_examples(PIECES.filter(lambda pieces: "".join(pieces).strip()))
@settings(max_examples=drawn(150))
def test_annotations_join_to_the_sentences_they_cite(pieces: list[str]) -> None:
    text = "".join(pieces)
    component = AnswerCheck(checks="citations", runtime=Scripted(cite_all))
    asked = {"question": QUESTION, "documents": documents()}
    whole = component.invoke(asked | {"answer": text})
    rows = verdicts(whole)["citations"]["citations"]
    assert rows
    in_blocks = component.invoke(asked | {"answer": AIMessage([{"type": "text", "text": piece} for piece in pieces])})
    streamed = summed(
        list(component.transform(iter([asked, *({"answer": AIMessageChunk(content=p)} for p in pieces)])))
    )
    for message in (whole, in_blocks, streamed):
        assert message.text == text
        for block in message.content_blocks:
            for c in block.get("annotations", ()):
                assert 0 <= c["start_index"] < c["end_index"] <= len(block["text"])
        cited = "".join(
            block["text"][c["start_index"] : c["end_index"]]
            for block in message.content_blocks
            for c in block.get("annotations", ())
        )
        assert cited == "".join(row["response_text"] for row in rows)


def test_events_of_a_stream() -> None:
    async def main() -> list[str]:
        chain = answering(GenericFakeChatModel(messages=iter([ANSWER]))) | AnswerCheck(checks=ALL, runtime=judging())
        asked = {"question": QUESTION, "documents": documents()}
        return [f"{e['name']}:{e['event']}" async for e in chain.astream_events(asked, version="v2")]

    events = asyncio.run(main())
    first, last = (
        events.index("AnswerCheck:on_chain_stream"),
        events.index("GenericFakeChatModel:on_chat_model_end"),
    )
    assert first < last  # it passed on what the model had not finished


# --- blocking -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("checks", ["audit", "hallucination-detection", ("fact-check", "hallucination-detection")])
def test_a_blocked_answer_is_not_shown(checks: Any) -> None:
    check = AnswerCheck(checks=checks, mode="block", text="No.", runtime=judging())
    blocked = check.invoke(given(AIMessage(ANSWER, id="a", additional_kwargs={"parsed": INVENTED})))
    assert (blocked.text, blocked.id, blocked.additional_kwargs) == ("No.", "a", {})
    assert AnswerCheck(runtime=judging()).invoke(given(blocked)) == blocked  # it claims nothing
    assert check.invoke(given(FAITHFUL)).text == FAITHFUL
    writer = answering(GenericFakeChatModel(messages=iter([ANSWER, FAITHFUL])))
    for shown in ("No.", FAITHFUL):
        chunks = list((writer | check).stream({"question": QUESTION, "documents": documents()}))
        assert "".join(chunk.text for chunk in chunks) == shown
    with pytest.raises(InvalidInput, match="verdict on each sentence"):
        AnswerCheck(checks="uncertainty", mode="block")
