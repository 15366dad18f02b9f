"""Programs that chat: chat engines with history, streams, agents, structured answers, canned answers of all kinds."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from llama_index.core import get_response_synthesizer
from llama_index.core.agent.workflow import AgentOutput, FunctionAgent
from llama_index.core.base.response.schema import PydanticResponse, Response, StreamingResponse
from llama_index.core.chat_engine import CondensePlusContextChatEngine, CondenseQuestionChatEngine, ContextChatEngine
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.query_engine import RetrieverQueryEngine, SubQuestionQueryEngine
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.tools import FunctionTool, QueryEngineTool, RetrieverTool, ToolMetadata
from llama_index.evaluation.rag_intrinsics import IntrinsicEvaluator
from llama_index.postprocessor.rag_intrinsics import ContextRelevancePostprocessor, IntrinsicsRerank
from llama_index.query_transform.rag_intrinsics import QueryRewriteTransform
from llama_index.response_synthesizers.rag_intrinsics import AnswerabilityGate, AnswerCheck
from pydantic import BaseModel

from integrations.llamaindex.tests.agents import ToolUser
from integrations.llamaindex.tests.llms import (
    BOTH,
    FAITHFUL,
    INVENTED,
    QUESTION,
    CompletingLLM,
    JudgeLLM,
    Says,
    nodes,
    searching,
    streamed,
)
from intrinsics_core import InvalidInput
from intrinsics_core.running.flows import CANNED

TURNS = [
    ChatMessage("Is there a tide mill at Port Ellery?"),
    ChatMessage("Yes, there is, on the east quay.", role="assistant"),
]
FOLLOW_UP = "Who built it?"
OFF_TOPIC = "What does a zeppelin ticket to Paris cost?"


def remembering() -> ChatMemoryBuffer:
    return ChatMemoryBuffer.from_defaults(chat_history=list(TURNS), token_limit=3000)


# --- 12: postprocessors in chat engines ---------------------------------------------------------------------------


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("engine", [ContextChatEngine, CondensePlusContextChatEngine])
def test_12_a_follow_up_keeps_its_nodes(engine: Any, asynchronous: bool) -> None:
    memory = remembering()
    chat = engine.from_defaults(
        searching(),
        llm=CompletingLLM(reply=FAITHFUL),
        memory=memory,
        node_postprocessors=[ContextRelevancePostprocessor(memory=memory), IntrinsicsRerank(memory=memory, top_n=1)],
        **({"skip_condense": True} if engine is CondensePlusContextChatEngine else {}),
    )
    response = asyncio.run(chat.achat(FOLLOW_UP)) if asynchronous else chat.chat(FOLLOW_UP)
    assert [n.node_id for n in response.source_nodes] == ["mill"]
    assert len(memory.get_all()) == 4


def test_12_a_memory_that_holds_the_question_already_says_it_once() -> None:
    shown: list[str] = []

    def reply(messages: Any, options: Any) -> Any:
        shown.append(str(messages[-1].content))
        return {"context_relevance": "relevant", "confidence": 0.9}

    memory = remembering()
    memory.put(ChatMessage(FOLLOW_UP))  # as in an agent
    keep = ContextRelevancePostprocessor(runtime=JudgeLLM(reply=reply), memory=memory)
    keep.postprocess_nodes(nodes()[:1], query_str=FOLLOW_UP)
    assert shown[0].count(FOLLOW_UP) == 1 and "tide mill" in shown[0]


# --- 12: a chat with a gate and verdicts --------------------------------------------------------------------------


@pytest.mark.parametrize("asynchronous", [False, True])
def test_12_a_chat_with_history_gate_and_verdicts(asynchronous: bool) -> None:
    llm, memory = CompletingLLM(reply=f"{FAITHFUL} {INVENTED}"), remembering()
    gate = AnswerabilityGate(llm, check=BOTH, canned="The archive does not say.")
    steps = [ContextRelevancePostprocessor(), IntrinsicsRerank(top_n=2)]
    engine = RetrieverQueryEngine(searching(), gate, node_postprocessors=steps)
    rewriter = QueryRewriteTransform(memory=memory)

    async def asay(message: str) -> Any:
        return await engine.aquery(await rewriter.arun(message))

    def say(message: str) -> Any:
        response = asyncio.run(asay(message)) if asynchronous else engine.query(rewriter.run(message))
        memory.put_messages([ChatMessage(message), ChatMessage(str(response), role="assistant")])
        return response

    answered = say(FOLLOW_UP)
    assert [n.node_id for n in answered.source_nodes] == ["mill"]
    found = answered.metadata["rag_intrinsics"]
    assert [s["label"] for s in found["hallucination_detection"]["sentences"]] == ["faithful", "unfaithful"]
    assert found["citations"]["citations"][0]["document_id"] == "mill"
    asked = len(llm.threads)
    refused = say(OFF_TOPIC)
    assert refused.response == "The archive does not say." and len(llm.threads) == asked
    assert set(refused.metadata["rag_intrinsics"]) == {"answerability", "canned"}
    assert [m.content for m in memory.get_all()[-2:]] == [OFF_TOPIC, "The archive does not say."]


def gated_chat(question: str) -> CondenseQuestionChatEngine:
    engine = RetrieverQueryEngine(searching(), AnswerabilityGate(CompletingLLM(reply=FAITHFUL), check=BOTH))
    return CondenseQuestionChatEngine.from_defaults(engine, llm=CompletingLLM(reply=question), chat_history=list(TURNS))


@pytest.mark.parametrize("asynchronous", [False, True])
def test_12_a_query_engine_with_a_gate_inside_a_chat_engine(asynchronous: bool) -> None:
    chat = gated_chat(QUESTION)
    response = asyncio.run(chat.achat(FOLLOW_UP)) if asynchronous else chat.chat(FOLLOW_UP)
    inner = response.sources[0].raw_output
    assert response.response.strip() == FAITHFUL
    assert set(inner.metadata["rag_intrinsics"]) == {"about", "answerability", *BOTH}


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize(("question", "said"), [(QUESTION, FAITHFUL), (OFF_TOPIC, CANNED)])
def test_12_the_same_chat_streamed(question: str, said: str, asynchronous: bool) -> None:
    chat = gated_chat(question)
    if asynchronous:
        tokens, stream = asyncio.run(streamed(chat.astream_chat(FOLLOW_UP)))
    else:
        stream = chat.stream_chat(FOLLOW_UP)
        tokens = list(stream.response_gen)
    assert "".join(tokens).strip() == said and (len(tokens) > 5 or said == CANNED)
    found = stream.sources[0].raw_output.metadata["rag_intrinsics"]
    assert set(found) == ({"answerability", "canned"} if said == CANNED else {"about", "answerability", *BOTH})


# --- 12: annotate whatever answered -------------------------------------------------------------------------------


def annotated_chat(annotator: AnswerCheck, chat: Any, asynchronous: bool) -> tuple[list[str], Any]:
    """The tokens of a chat's streaming answer, and the annotated stream when they have come."""

    async def main() -> Any:
        return await streamed(annotator.acheck(QUESTION, await chat.astream_chat(QUESTION)))

    if asynchronous:
        found: tuple[list[str], Any] = asyncio.run(main())
        return found
    stream = annotator.check(QUESTION, chat.stream_chat(QUESTION))
    return list(stream.response_gen), stream


@pytest.mark.parametrize("asynchronous", [False, True])
def test_12_annotate_a_streaming_chat(asynchronous: bool) -> None:
    chat = ContextChatEngine.from_defaults(searching(k=1), llm=CompletingLLM(reply=FAITHFUL), memory=remembering())
    tokens, stream = annotated_chat(AnswerCheck(BOTH), chat, asynchronous)
    assert len(tokens) > 5 and "".join(tokens).strip() == FAITHFUL
    assert set(stream.metadata["rag_intrinsics"]) == {"about", *BOTH}
    assert stream.metadata["rag_intrinsics"]["citations"]["citations"][0]["document_id"] == "mill"
    assert len(chat.chat_history) == 4


@pytest.mark.parametrize("asynchronous", [False, True])
def test_12_annotate_a_streaming_chat_sentence_by_sentence(asynchronous: bool) -> None:
    llm = CompletingLLM(reply=f" {FAITHFUL} {INVENTED}")  # a model's first token often begins with a space
    chat = ContextChatEngine.from_defaults(searching(k=1), llm=llm, memory=remembering())
    tokens, stream = annotated_chat(AnswerCheck(BOTH, stream="sentences"), chat, asynchronous)
    said = "".join(tokens)
    assert len(tokens) > 5 and said.strip() == f"{FAITHFUL} {INVENTED}"
    found = stream.metadata["rag_intrinsics"]
    assert set(found) == {*BOTH, "sentences"}
    for rows in (found["sentences"], found["hallucination_detection"]["sentences"]):
        assert [row["label"] for row in rows] == ["faithful", "unfaithful"]
        assert [said[row["begin"] : row["end"]] for row in rows] == [FAITHFUL, INVENTED]


@pytest.mark.parametrize("read", [False, True])
def test_12_annotate_a_stream_of_a_query_engine(read: bool) -> None:
    engine = RetrieverQueryEngine(searching(), Says(FAITHFUL, streaming=True))
    response: Any = engine.query(QUESTION)
    if read:
        assert str(response).strip() == FAITHFUL
    annotated: Any = AnswerCheck(BOTH).check(QUESTION, response)
    assert isinstance(annotated, StreamingResponse)
    assert annotated.get_response().response.strip() == FAITHFUL
    assert set(annotated.metadata["rag_intrinsics"]) == {"about", *BOTH}
    assert "rag_intrinsics" not in response.metadata  # a copy


def agent_of(*tools: Any, says: str = FAITHFUL) -> FunctionAgent:
    return FunctionAgent(tools=list(tools), llm=ToolUser(calls=[t.metadata.get_name() for t in tools], says=says))


@pytest.mark.parametrize("kind", ["query engine", "retriever"])
def test_12_an_agent_with_sources(kind: str) -> None:
    about = ToolMetadata(name="archive", description="What the archive knows.")
    if kind == "retriever":
        archive: Any = RetrieverTool(searching(), about, node_postprocessors=[IntrinsicsRerank(top_n=1)])
    else:
        archive = QueryEngineTool(
            RetrieverQueryEngine(searching(), AnswerabilityGate(Says(FAITHFUL), check=BOTH)), about
        )
    mail = FunctionTool.from_defaults(lambda text: "sent", name="send", description="Send a mail.")

    async def main() -> AgentOutput:
        output: AgentOutput = await agent_of(archive, mail).run(QUESTION)
        return await AnswerCheck(BOTH).acheck(QUESTION, output)

    annotated = asyncio.run(main())
    assert str(annotated) == FAITHFUL
    found = annotated.response.additional_kwargs["rag_intrinsics"]
    assert found["hallucination_detection"]["label"] == "faithful"
    assert found["citations"]["citations"][0]["document_id"] == "mill"
    assert IntrinsicEvaluator("hallucination-detection").evaluate_response(QUESTION, annotated).passing  # type: ignore[arg-type]


def test_12_an_agent_without_sources_is_judged_by_nothing() -> None:
    mail = FunctionTool.from_defaults(lambda text: "sent", name="send", description="Send a mail.")

    async def main() -> AgentOutput:
        output: AgentOutput = await agent_of(mail, says="I have sent it.").run("Send it.")
        return AnswerCheck(BOTH, tools=()).check("Send it.", output)

    found = asyncio.run(main()).response.additional_kwargs["rag_intrinsics"]
    assert found["citations"] == {"citations": [], "reason": "nothing retrieved", "schema_version": 1}
    assert found["hallucination_detection"]["label"] == "NA"


# --- 12: structured answers ---------------------------------------------------------------------------------------


class Built(BaseModel):
    """Who built what."""

    builder: str


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("how", ["as_structured_llm", "output_cls"])
def test_12_a_refusal_where_the_answer_would_be_an_object(how: str, asynchronous: bool) -> None:
    llm = CompletingLLM(reply='{"builder": "Ada Brink"}')
    if how == "output_cls":
        inner = get_response_synthesizer(llm=llm, output_cls=Built)
    else:
        inner = get_response_synthesizer(llm=llm.as_structured_llm(Built))
    engine = RetrieverQueryEngine(searching(), AnswerabilityGate(inner, check=BOTH, canned="Not in the archive."))

    def ask(question: str) -> Any:
        return asyncio.run(engine.aquery(question)) if asynchronous else engine.query(question)

    answered = ask(QUESTION)
    assert isinstance(answered, PydanticResponse) and answered.builder == "Ada Brink"
    refused = ask(OFF_TOPIC)
    assert isinstance(refused, PydanticResponse)  # the type of an answer, without an object
    assert refused.response is None and refused.builder is None
    assert str(refused) == str(refused.get_response()) == "Not in the archive."
    assert refused.metadata["rag_intrinsics"]["answerability"]["label"] == "unanswerable"
    judged = IntrinsicEvaluator("hallucination-detection").evaluate_response(OFF_TOPIC, refused)
    assert judged.passing is None and not judged.invalid_result


def test_12_an_object_as_the_canned_answer() -> None:
    inner = get_response_synthesizer(llm=CompletingLLM(reply='{"builder": "x"}'), output_cls=Built)
    grounded = AnswerabilityGate(inner, check=BOTH, canned=Built(builder="unknown"))
    refused: Any = grounded.synthesize(OFF_TOPIC, nodes())
    assert refused.builder == "unknown"


def test_12_additional_source_nodes_stay() -> None:
    more = [NodeWithScore(node=TextNode(id_="more", text="More."))]
    for question in (QUESTION, OFF_TOPIC):
        response: Any = AnswerabilityGate(Says(FAITHFUL), check=BOTH).synthesize(question, nodes(), more)
        assert [n.node_id for n in response.source_nodes] == ["cranes", "mill", "fog", "more"]


# --- 13: types ----------------------------------------------------------------------------------------------------


def test_13_a_synthesizer_from_an_llm() -> None:
    engine = RetrieverQueryEngine(searching(), AnswerabilityGate(CompletingLLM(reply=FAITHFUL), check=BOTH))
    assert str(engine.query(QUESTION)).strip() == FAITHFUL
    streaming: Any = AnswerabilityGate(CompletingLLM(reply=FAITHFUL), check=BOTH, streaming=True).synthesize(
        QUESTION, nodes()
    )
    assert len(list(streaming.response_gen)) > 5
    with pytest.raises(InvalidInput, match="inner"):
        AnswerabilityGate(searching())


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize(
    ("canned", "said"),
    [("", ""), (lambda question: f"Nothing about: {question}", f"Nothing about: {OFF_TOPIC}"), ("No.", "No.")],
)
def test_13_canned_answers_of_all_kinds(canned: Any, said: str, asynchronous: bool) -> None:
    grounded = AnswerabilityGate(Says(FAITHFUL), check=BOTH, canned=canned)
    if asynchronous:
        response: Any = asyncio.run(grounded.asynthesize(OFF_TOPIC, nodes()))
    else:
        response = grounded.synthesize(OFF_TOPIC, nodes())
    assert isinstance(response, Response) and response.response == str(response) == said


def test_13_a_canned_answer_that_is_awaited() -> None:
    async def ask_a_person(question: str) -> str:
        return f"{question} I have asked a colleague."

    response: Any = asyncio.run(
        AnswerabilityGate(Says(FAITHFUL), check=BOTH, canned=ask_a_person).asynthesize(OFF_TOPIC, nodes())
    )
    assert response.response.endswith("I have asked a colleague.")


def test_13_a_runtime_by_its_name() -> None:
    assert IntrinsicEvaluator("answerability", runtime="embedded").evaluate(QUESTION, contexts=[FAITHFUL]).passing
    with pytest.raises(InvalidInput, match="kind is unknown"):
        IntrinsicsRerank(runtime="openai:gpt-4o-mini")
    saved = IntrinsicsRerank(runtime="embedded").to_dict()
    assert IntrinsicsRerank.from_dict(saved).postprocess_nodes(nodes(), query_str=QUESTION)[0].node_id == "mill"


# --- 7: the plain question reaches prompts ------------------------------------------------------------------------


def test_7_no_brackets_reach_the_model() -> None:
    prompts: list[str] = []

    class Notes(CompletingLLM):
        def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
            prompts.append(prompt)
            return super().complete(prompt, formatted, **kwargs)

    from llama_index.core.query_engine import TransformQueryEngine

    inner = RetrieverQueryEngine(searching(), AnswerabilityGate(Notes(reply=FAITHFUL), check=BOTH, mode="annotate"))
    turns = [ChatMessage("Tell me about the tide mill."), ChatMessage("It stands on the east quay.", role="assistant")]
    engine = TransformQueryEngine(inner, QueryRewriteTransform(), transform_metadata={"chat_history": turns})
    engine.query(FOLLOW_UP)
    asked = prompts[0].split("Query: ")[-1].split("\n")[0]
    assert "mill" in asked and "(" not in asked


def test_7_a_sub_question_engine_keeps_sources_of_its_parts() -> None:
    from llama_index.core.question_gen.types import BaseQuestionGenerator, SubQuestion

    class Splits(BaseQuestionGenerator):
        def generate(self, tools: Any, query: Any) -> list[SubQuestion]:
            return [SubQuestion(sub_question=QUESTION, tool_name="archive")]

        async def agenerate(self, tools: Any, query: Any) -> list[SubQuestion]:
            return self.generate(tools, query)

        def _get_prompts(self) -> Any:
            return {}

        def _update_prompts(self, prompts: Any) -> None:
            pass

    tool = QueryEngineTool(
        RetrieverQueryEngine(searching(k=1), Says(FAITHFUL)), ToolMetadata("what is known", "archive")
    )
    engine = SubQuestionQueryEngine.from_defaults(
        [tool], llm=CompletingLLM(reply=""), question_gen=Splits(), use_async=False, verbose=False,
        response_synthesizer=AnswerabilityGate(Says(FAITHFUL), check=BOTH),
    )  # fmt: skip
    response: Any = engine.query(QUESTION)
    assert "mill" in [n.node_id for n in response.source_nodes]
    assert response.metadata["rag_intrinsics"]["hallucination_detection"]["label"] == "faithful"
