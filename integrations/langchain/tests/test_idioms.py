"""States, messages, configs and wrappers as LangChain's own users write them."""

from __future__ import annotations

import asyncio
import copy
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pytest
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import ConfigurableField, RunnableLambda, RunnablePassthrough
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_rag_intrinsics import (
    AnswerabilityGate,
    AnswerCheck,
    IntrinsicsEmbeddings,
    IntrinsicsReranker,
    IntrinsicsRetriever,
    QueryRewriter,
)
from pydantic import BaseModel, Field

from integrations.langchain.tests.models import SchemaModel
from integrations.langchain.tests.scripts import detecting, judging
from intrinsics_core import InvalidInput, RuntimeUnavailable
from intrinsics_core.protocol.requests import Generate, JsonSchema
from intrinsics_core.protocol.task import Message
from tests.contract.judge import judge
from tests.scripted import Scripted

QUESTION = "Who built the tide mill?"
MILL = "Ada Brink built the tide mill in 1911."
INVENTED = "She painted it gold for forty sailors."


class Answer(BaseModel):
    builder: str
    year_built: int
    note: str


# --- states of a graph --------------------------------------------------------------------------------------------


class ModelState(BaseModel):
    messages: list[Any] = Field(default_factory=list)
    documents: list[Document] = Field(default_factory=list)
    answer: Any = None


@dataclass
class DataState:
    messages: list[Any] = field(default_factory=list)
    documents: list[Document] = field(default_factory=list)
    answer: Any = None


@pytest.mark.parametrize("kind", [ModelState, DataState])
def test_a_state_may_be_a_model_or_a_dataclass(kind: Any) -> None:
    state = kind(messages=[HumanMessage(QUESTION)], documents=[Document(MILL)], answer=INVENTED)
    assert detecting().invoke(state).label == "unfaithful"
    for told in (AnswerCheck().invoke(state), list(AnswerCheck().stream(state))[-1]):
        assert told.response_metadata["rag_intrinsics"]["audit"]["label"] == "unfaithful"


@pytest.mark.parametrize("kind", [ModelState, DataState])
def test_a_graph_with_such_a_state_judges_its_answer(kind: Any) -> None:
    graph = pytest.importorskip("langgraph.graph", reason="the extra [agents] is not installed")
    built = graph.StateGraph(kind)
    built.add_node("write", lambda state: {"answer": f"{MILL} {INVENTED}"})
    built.add_node("judge", lambda state: {"answer": AnswerCheck(checks="hallucination-detection").invoke(state)})
    built.add_edge(graph.START, "write")
    built.add_edge("write", "judge")
    end = built.compile().invoke({"messages": [HumanMessage(QUESTION)], "documents": [Document(MILL)]})
    told = end["answer"].response_metadata["rag_intrinsics"]["hallucination_detection"]
    assert [sentence["label"] for sentence in told["sentences"]] == ["faithful", "unfaithful"]


def test_messages_may_be_pairs() -> None:
    detector = detecting()
    asked = {"question": ("human", QUESTION), "documents": [MILL], "answer": ("ai", INVENTED)}
    whole = {"messages": [("human", QUESTION), ("ai", INVENTED)], "documents": [MILL]}
    assert detector.invoke(asked) == detector.invoke(whole)
    assert QueryRewriter().invoke(("human", QUESTION)) == QueryRewriter().invoke(QUESTION)


# --- structured answers -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("structured", [True, False])
def test_a_structured_answer_is_judged_by_its_fields_and_stays_as_it_is(structured: bool) -> None:
    answer: Any = Answer(builder="Ada Brink", year_built=1911, note=INVENTED)
    answer = answer if structured else answer.model_dump()
    given = {"question": QUESTION, "documents": [MILL], "answer": answer}
    judged = detecting().invoke(given)
    assert [(s.text, s.label) for s in judged.sentences][-1] == (INVENTED, "unfaithful")
    assert AnswerCheck(checks="hallucination-detection").invoke(given).additional_kwargs["parsed"] == answer


def test_an_answer_with_its_raw_message_is_judged_by_what_was_parsed() -> None:
    parsed = Answer(builder="Ada Brink", year_built=1911, note=INVENTED)
    called = AIMessage("", tool_calls=[{"name": "Answer", "args": parsed.model_dump(), "id": "1"}])

    def texts(answer: Any) -> list[str]:
        given = {"question": QUESTION, "documents": [MILL], "answer": answer}
        return [sentence.text for sentence in detecting().invoke(given).sentences]

    assert texts({"raw": called, "parsed": parsed, "parsing_error": None}) == texts(parsed)
    assert texts({"raw": AIMessage(INVENTED), "parsed": None, "parsing_error": ValueError("x")}) == [INVENTED]
    assert texts({"raw": "flour", "parsed": "bread"}) == ["raw: flour", "parsed: bread"]


def test_an_answer_that_is_nothing_of_all_that_is_named() -> None:
    with pytest.raises(InvalidInput, match="neither text, nor an AI message, nor structured"):
        AnswerCheck(checks="hallucination-detection").invoke({"question": QUESTION, "documents": [MILL], "answer": 7})


def test_an_answer_with_a_tool_call_beside_its_text_is_judged_by_its_text() -> None:
    call = {"name": "remember", "args": {"what": "mill"}, "id": "1"}
    answer = AIMessage(INVENTED, tool_calls=[call])
    told = AnswerCheck(checks="hallucination-detection").invoke(
        {"question": QUESTION, "documents": [MILL], "answer": answer}
    )
    assert told.tool_calls == answer.tool_calls
    assert told.response_metadata["rag_intrinsics"]["hallucination_detection"]["label"] == "unfaithful"


def test_code_in_an_answer_gets_no_mark() -> None:
    code = "```python\nbuilder = 'Ada Brink'\n```"
    given = {"question": QUESTION, "documents": [MILL], "answer": f"{MILL}\n\n{code}"}
    text = AnswerCheck(checks="citations", citations="postfix").invoke(given).text
    assert "[1]" in text
    assert code in text


# --- a config reaches what it chooses for -------------------------------------------------------------------------


class TenantRetriever(BaseRetriever):
    """Finds the documents of one tenant."""

    tenant: str = "nobody"

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return [Document(f"{MILL} ({self.tenant})")]


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("around", ["config", "with_config", "chain"])
def test_the_tenant_that_a_config_names_is_the_one_that_is_searched(around: str, asynchronous: bool) -> None:
    inner = TenantRetriever().configurable_fields(tenant=ConfigurableField(id="tenant"))
    retriever: Any = IntrinsicsRetriever(
        retriever=inner, expander=lambda query: ["the mill's builder"], compressors=[IntrinsicsReranker()]
    )
    config: Any = {"configurable": {"tenant": "north"}}
    if around == "with_config":
        retriever, config = retriever.with_config(config), None
    elif around == "chain":
        retriever = RunnablePassthrough() | retriever
    found = asyncio.run(retriever.ainvoke(QUESTION, config)) if asynchronous else retriever.invoke(QUESTION, config)
    assert [document.page_content for document in found] == [f"{MILL} (north)"]


def test_a_config_of_one_call_is_not_that_of_the_next() -> None:
    inner = TenantRetriever().configurable_fields(tenant=ConfigurableField(id="tenant"))
    retriever = IntrinsicsRetriever(retriever=inner)

    def ask(tenant: str) -> str:
        return retriever.invoke(QUESTION, {"configurable": {"tenant": tenant}})[0].page_content

    tenants = [f"tenant {i}" for i in range(20)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ask, tenants)) == [f"{MILL} ({tenant})" for tenant in tenants]
    assert retriever.invoke(QUESTION)[0].page_content == f"{MILL} (nobody)"


def reply(messages: Any, settings: Any) -> Any:
    """What the contract's judge says; a sentence where nothing is constrained."""
    if "response_format" not in settings:
        return MILL
    schema = settings["response_format"]["json_schema"]["schema"]
    return judge(Generate("any", messages=(Message("user", messages[-1].content),), constraint=JsonSchema(schema)))


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_compressor_s_model_is_the_one_that_the_config_chooses(asynchronous: bool) -> None:
    models = {name: SchemaModel(reply=reply) for name in ("small", "large")}
    chosen = models["small"].configurable_alternatives(
        ConfigurableField(id="model"), default_key="small", large=models["large"]
    )
    inner = RunnableLambda(lambda query: [Document(MILL), Document("The harbour has two cranes.")])
    retriever = IntrinsicsRetriever(retriever=inner, compressors=[IntrinsicsReranker(runtime=chosen)])
    config: Any = {"configurable": {"model": "large"}}
    _ = asyncio.run(retriever.ainvoke(QUESTION, config)) if asynchronous else retriever.invoke(QUESTION, config)
    assert models["large"].seen
    assert not models["small"].seen


def test_the_rewriter_of_a_retrieval_chain_sees_the_history() -> None:
    asked: list[str] = []

    def find(query: str) -> list[Document]:
        asked.append(query)
        return [Document(MILL)]

    retriever = IntrinsicsRetriever(retriever=RunnableLambda(find), rewriter=QueryRewriter())
    # As create_retrieval_chain does: a retriever proper is given the input alone, any other Runnable the whole mapping.
    chain = RunnablePassthrough.assign(context=retriever.with_history().with_config(run_name="retrieve_documents"))
    history = [HumanMessage("Tell me about the tide mill."), AIMessage("It stands at the harbour.")]
    found = chain.invoke({"input": "Who built it?", "chat_history": history})
    assert found["context"] == [Document(MILL)]
    assert "mill" in asked[0]
    again = asyncio.run(chain.ainvoke({"input": "Who built it?", "chat_history": history}))
    assert again["context"] == found["context"]
    assert len(set(asked)) == 1


@pytest.mark.parametrize(
    ("inner", "form", "keywords"),
    [("vectors", "auto", False), ("words", "auto", True), ("vectors", "keywords", True), ("words", "question", False)],
)
def test_a_vector_store_is_asked_the_plain_question_and_a_search_for_words_with_keywords(
    inner: str, form: Any, keywords: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = InMemoryVectorStore(IntrinsicsEmbeddings())
    store.add_texts([MILL, "The harbour of Port Ellery has two cranes."])
    asked: list[str] = []
    searched = store.similarity_search

    def search(query: str, **kwargs: Any) -> list[Document]:
        asked.append(query)
        return searched(query, **kwargs)

    monkeypatch.setattr(store, "similarity_search", search)
    finding: Any = store.as_retriever() if inner == "vectors" else RunnableLambda(search)
    finding = finding.with_config(run_name="search")
    history = [
        HumanMessage("Which cranes does the harbour of Port Ellery have?"),
        AIMessage("Two, and a tide mill."),
        HumanMessage("Who built the tide mill?"),
    ]
    rewriter = QueryRewriter(return_result=True)
    rewritten = rewriter.invoke(history)
    assert rewritten.retrieval_query != rewritten.query
    retriever = IntrinsicsRetriever(retriever=finding, rewriter=rewriter, query_form=form)
    assert retriever.invoke(history)[0].page_content == MILL
    assert asked == [rewritten.retrieval_query if keywords else rewritten.query]


# --- wrappers and copies ------------------------------------------------------------------------------------------


def failing() -> Any:
    return Scripted(lambda request: (_ for _ in ()).throw(RuntimeUnavailable("the judge is away")))


GIVEN = {"question": QUESTION, "documents": [MILL], "answer": MILL}


def test_fallbacks_and_retries_act_where_errors_are_raised() -> None:
    spare = AnswerCheck(checks="hallucination-detection")
    judged = (
        AnswerCheck(checks="hallucination-detection", runtime=failing(), on_error="raise")
        .with_fallbacks([spare])
        .invoke(GIVEN)
    )
    assert judged.response_metadata["rag_intrinsics"]["hallucination_detection"]["label"] == "faithful"
    asked: list[int] = []

    def third_time(messages: Any, settings: Any) -> Any:
        asked.append(1)
        return ConnectionError("the judge is away") if len(asked) < 3 else reply(messages, settings)

    detector = AnswerCheck(checks="hallucination-detection", runtime=SchemaModel(reply=third_time), on_error="raise")
    retried = detector.with_retry(stop_after_attempt=4, wait_exponential_jitter=False).invoke(GIVEN)
    assert "degraded" not in retried.response_metadata["rag_intrinsics"]["hallucination_detection"]
    assert len(asked) >= 3


def test_they_refuse_a_component_that_raises_no_error() -> None:
    judge, gate = (
        AnswerCheck(checks="hallucination-detection", runtime=failing()),
        AnswerabilityGate(runtime=failing(), on_error="open"),
    )
    told = judge.invoke(GIVEN).response_metadata["rag_intrinsics"]["hallucination_detection"]
    assert "the judge is away" in told["degraded"]
    for component in (judge, gate):
        with pytest.raises(InvalidInput, match=r"with_retry\(\) acts on errors.*expected .*on_error=\"raise\""):
            component.with_retry()
        with pytest.raises(InvalidInput, match=r"with_fallbacks\(\) acts on errors"):
            component.with_fallbacks([component])
    AnswerabilityGate(runtime=failing()).with_retry()  # a gate raises unless told otherwise


def test_a_component_is_copied_and_pickled_after_use() -> None:
    judge = FakeListChatModel(responses=['{"answerability": "answerable", "confidence": 0.8}'])
    gate = AnswerabilityGate(runtime=judge)
    judged = gate.invoke(GIVEN)
    for again in (copy.copy(gate), copy.deepcopy(gate), pickle.loads(pickle.dumps(gate))):  # noqa: S301
        assert again.invoke(GIVEN)["answerability"] == judged["answerability"]
    detector = AnswerCheck(checks="hallucination-detection")
    expected = detector.invoke(GIVEN)
    for other in (copy.copy(detector), copy.deepcopy(detector), pickle.loads(pickle.dumps(detector))):  # noqa: S301
        assert other.invoke(GIVEN).response_metadata == expected.response_metadata


# --- one client ---------------------------------------------------------------------------------------------------


class LoopBoundModel(SchemaModel):
    """A chat model whose asynchronous client belongs to the loop that used it first, as those of providers do."""

    loops: list[Any] = Field(default_factory=list)

    async def _agenerate(self, *args: Any, **kwargs: Any) -> Any:
        loop = asyncio.get_running_loop()
        if self.loops and self.loops[0] is not loop:
            raise RuntimeError("the client is bound to a different event loop")
        self.loops.append(loop)
        return await super()._agenerate(*args, **kwargs)


def test_a_writer_s_client_is_not_taken_to_another_loop_by_its_judges() -> None:
    client = LoopBoundModel(reply=reply)
    detector = detecting(runtime=client)
    prompt = ChatPromptTemplate.from_messages([("human", "{question}")])

    async def answered() -> list[Any]:
        _ = await (prompt | client).ainvoke({"question": QUESTION})  # the writer's own call, on its loop
        return [await detector.ainvoke(GIVEN) for _ in range(2)]

    results = [detector.invoke(GIVEN)]  # before, and not on any loop of the user's
    results += asyncio.run(answered())
    with ThreadPoolExecutor(4) as pool:
        results += list(pool.map(detector.invoke, [GIVEN] * 4))
    thread = threading.Thread(target=lambda: results.append(detector.invoke(GIVEN)))
    thread.start()
    thread.join()
    assert len(results) == 8
    assert not [result.degraded for result in results if result.degraded]
    assert {result.label for result in results} == {"faithful"}


@pytest.mark.parametrize("runtime", [None, judging()])
def test_two_loops_one_after_the_other(runtime: Any) -> None:
    detector = detecting(runtime=runtime)
    assert asyncio.run(detector.ainvoke(GIVEN)) == asyncio.run(detector.ainvoke(GIVEN))


def test_two_middlewares_of_one_class_have_names() -> None:
    agents = pytest.importorskip("langchain.agents", reason="the extra [agents] is not installed")
    from langchain_core.language_models import FakeListChatModel
    from langchain_rag_intrinsics.agents import AnswerabilityMiddleware, GroundednessMiddleware

    several = [
        GroundednessMiddleware(mode="annotate"),
        GroundednessMiddleware(mode="block", name="strict"),
        AnswerabilityMiddleware(tools=["search"], name="public documents"),
        AnswerabilityMiddleware(tools=["intranet"]),
    ]
    assert [m.name for m in several][1:3] == ["strict", "public documents"]
    agent = agents.create_agent(FakeListChatModel(responses=["Hello!"]), middleware=several)
    assert agent.invoke({"messages": [("human", "Hello")]})["messages"][-1].text == "Hello!"
