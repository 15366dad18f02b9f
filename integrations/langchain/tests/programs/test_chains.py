"""Programs as people write them with LangChain: vector stores, chains, streams, graphs. Numbers are items of one list.

``benchmarks/results/programs.md`` says which of them failed before and pass now.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import operator
import threading
from functools import reduce
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import BaseDocumentTransformer, Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.language_models import FakeListChatModel, GenericFakeChatModel
from langchain_core.load import dumps, loads
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, PromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import ConfigurableField, RunnableLambda, RunnablePassthrough
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_rag_intrinsics import (
    AnswerabilityGate,
    AnswerCheck,
    ChatModelRuntime,
    ContextRelevanceFilter,
    IntrinsicsReranker,
    IntrinsicsRetriever,
    QueryExpander,
    QueryRewriter,
)

from integrations.langchain.tests.models import JudgeModel, SchemaModel, said
from integrations.langchain.tests.scripts import FAITHFUL, INVENTED, QUESTION, documents, judging
from intrinsics_core import BlockingRuntime, InvalidInput, RuntimeUnavailable
from intrinsics_core.chains.notes import underscored
from intrinsics_core.profiles.asking import data_of
from intrinsics_core.profiles.prompted import PROFILE
from tests.contract.chat_model import tokens_of
from tests.contract.runtimes import cancelled
from tests.contract.scripts import no_judge
from tests.scripted import Scripted

JUDGES = ["hallucination-detection", "citations", "fact-check", "uncertainty"]
NAMES = {underscored(judge) for judge in JUDGES}
YES = {"answerability": "answerable", "confidence": 0.9}
assign = RunnablePassthrough.assign


def verdicts(message: Any) -> dict[str, Any]:
    found: dict[str, Any] = message.response_metadata["rag_intrinsics"]
    return found


# --- 1: empty is normal ---------------------------------------------------------------------------------------------


def test_1a_a_filter_that_keeps_nothing_before_a_gate() -> None:
    chain = assign(documents=ContextRelevanceFilter(runtime=judging())) | AnswerabilityGate(
        runtime=judging(), otherwise="I have nothing on that."
    )
    found = chain.invoke({"question": "Which umbrellas does the bakery sell?", "documents": documents()})
    assert found["documents"] == []
    assert (found["answerability"]["label"], found["answerability"]["probability"]) == ("unanswerable", 0.0)
    assert found["answerability"]["reason"] == "nothing retrieved"


@pytest.mark.parametrize(
    "answer",
    ["", "  \n", AIMessage(""), AIMessage("", tool_calls=[{"name": "search", "args": {}, "id": "1"}])],
    ids=["empty", "blank", "message", "tool call"],
)
def test_1b_an_answer_that_says_nothing(answer: Any) -> None:
    given, check = {"question": QUESTION, "documents": documents(), "answer": answer}, AnswerCheck(checks=JUDGES)
    found = check.invoke(given)
    assert found.tool_calls == getattr(answer, "tool_calls", [])
    for told in (found, reduce(operator.add, list(check.stream(given)))):
        assert {verdicts(told)[name]["reason"] for name in NAMES} == {"nothing said"}


def test_1c_an_answer_without_documents_after_all_its_tokens_have_passed() -> None:
    writer = RunnableLambda(lambda x: x["question"]) | GenericFakeChatModel(messages=iter([FAITHFUL]))
    chain = assign(answer=writer).assign(answer=AnswerCheck(checks=JUDGES[:3], runtime=judging())).pick("answer")
    answer = reduce(operator.add, list(chain.stream({"question": QUESTION, "documents": []})))
    assert answer.text == FAITHFUL
    assert {verdicts(answer)[underscored(judge)]["reason"] for judge in JUDGES[:3]} == {"nothing retrieved"}


# --- 2: what a state still holds ------------------------------------------------------------------------------------


class Chat(TypedDict, total=False):
    messages: list[AnyMessage]
    question: str
    documents: list[Document]
    answer: AIMessage


def test_2a_the_second_turn_of_a_graph_whose_state_holds_the_first_answer() -> None:
    graph_module = pytest.importorskip("langgraph.graph")
    checkpoint = pytest.importorskip("langgraph.checkpoint.memory")
    graph = graph_module.StateGraph(Chat)
    search = IntrinsicsRetriever(retriever=RunnableLambda(lambda query: documents()), rewriter=QueryRewriter())
    graph.add_node("retrieve", lambda state: {"documents": search.invoke(dict(state))})
    graph.add_node("rank", lambda state: {"documents": IntrinsicsReranker(runtime=judging()).invoke(state)})
    graph.add_node("write", lambda state: {"answer": AIMessage(FAITHFUL)})
    graph.add_node(
        "judge",
        lambda state: {"answer": AnswerCheck(checks="hallucination-detection", runtime=judging()).invoke(state)},
    )
    graph.set_entry_point("retrieve")
    for one, next_one in [("retrieve", "rank"), ("rank", "write"), ("write", "judge")]:
        graph.add_edge(one, next_one)
    app = graph.compile(checkpointer=checkpoint.InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "1"}}
    for question in (QUESTION, "Who built the mill?"):
        state = app.invoke({"question": question}, thread)
        assert verdicts(state["answer"])["hallucination_detection"]["label"] == "faithful"
        assert state["documents"][0].id == "mill"


def test_2b_messages_that_end_in_a_tools_message() -> None:
    call = {"name": "search", "args": {"query": "mill"}, "id": "1"}
    state = {
        "messages": [HumanMessage(QUESTION), AIMessage("", tool_calls=[call]), ToolMessage("...", tool_call_id="1")],
        "documents": documents(),
    }
    assert IntrinsicsReranker(runtime=judging()).invoke(state)[0].id == "mill"
    assert AnswerabilityGate(runtime=judging()).invoke(state)["answerability"]["label"] == "answerable"
    assert QueryRewriter(runtime=judging()).invoke(state) == QUESTION


def test_2c_a_question_beside_messages_is_the_last_turn() -> None:
    history = [HumanMessage("Tell me about the mill."), AIMessage("It is a tide mill.")]
    rewrite = QueryRewriter(return_result=True).invoke({"messages": history, "question": "Who built it?"})
    assert rewrite.original == "Who built it?"
    assert "mill" in rewrite.query
    answered = {"messages": [*history, HumanMessage("Who built it?"), AIMessage(FAITHFUL)], "question": "Who built it?"}
    found = AnswerCheck(checks="hallucination-detection", runtime=judging()).invoke(
        answered | {"documents": documents()}
    )
    assert found.text == FAITHFUL and verdicts(found)["hallucination_detection"]["label"] == "faithful"


# --- 3: ids ---------------------------------------------------------------------------------------------------------


class Collecting(TypedDict, total=False):
    question: str
    documents: Annotated[list[Document], operator.add]


def test_3a_two_retrievers_that_find_the_same() -> None:
    graph_module = pytest.importorskip("langgraph.graph")
    graph = graph_module.StateGraph(Collecting)
    graph.add_node("by_words", lambda state: {"documents": documents()})
    graph.add_node("by_meaning", lambda state: {"documents": documents()[1:]})
    graph.add_edge(graph_module.START, "by_words")
    graph.add_edge("by_words", "by_meaning")
    state = graph.compile().invoke({"question": QUESTION})
    assert [d.id for d in state["documents"]] == ["cranes", "mill", "fog", "mill", "fog"]
    ranked = IntrinsicsReranker(runtime=judging()).invoke(state)
    assert [d.id for d in ranked][:2] == ["mill", "mill"] and len(ranked) == 5
    assert [d.id for d in ContextRelevanceFilter(runtime=judging()).invoke(state)] == ["mill", "mill"]
    cited = AnswerCheck(checks="citations", runtime=judging()).invoke({**state, "answer": FAITHFUL})
    places = {c["extras"]["document_index"] for c in cited.content_blocks[0]["annotations"]}
    assert places <= {1, 3} and places


def test_3b_a_document_without_an_id_beside_one_whose_id_is_a_number() -> None:
    found = [Document("Fog is common.", id="1"), Document("Ada Brink built the mill in 1911.", metadata={"page": 7})]
    best = IntrinsicsReranker().compress_documents(found, "Who built the mill?")[0]
    assert (best.id, best.metadata["page"]) == (None, 7)


def test_3c_parts_of_one_document_that_share_its_id() -> None:
    parts = [Document("The mill is old.", id="a"), Document("Ada Brink built the mill.", id="a")]
    expander = RunnableLambda(lambda query: [query, "mill"])
    retriever = IntrinsicsRetriever(retriever=RunnableLambda(lambda query: parts), expander=expander)
    assert len(retriever.invoke("Who?")) == 2


# --- 4: what the model is shown -------------------------------------------------------------------------------------

REPORTS = [
    Document("Revenue rose by twelve per cent in 2023.", id="globex", metadata={"company": "Globex"}),
    Document("Revenue rose by twelve per cent in 2023.", id="initech", metadata={"company": "Initech"}),
]


@pytest.mark.parametrize(
    "fields", [["company"], "company", PromptTemplate.from_template("{company}: {page_content}")],
    ids=["names", "a name", "the document prompt"],
)  # fmt: skip
def test_4a_metadata_that_the_answering_model_is_shown(fields: Any) -> None:
    asked = "How did the revenue of Initech develop?"
    ranked = IntrinsicsReranker(metadata_fields=fields).compress_documents(REPORTS, asked)
    assert ranked[0].id == "initech"
    seen: list[str] = []

    def reply(messages: Any, settings: Any) -> Any:
        seen.append(messages[-1].content)
        return YES

    gate = AnswerabilityGate(runtime=JudgeModel(reply=reply), metadata_fields=fields)
    gate.invoke({"question": asked, "documents": ranked})
    assert "company: Initech" in seen[0]
    assert data_of(seen[0])["documents"][0]["text"] == ranked[0].page_content  # the text is the text


def test_4b_offsets_stay_in_the_text() -> None:
    found = AnswerCheck(checks="citations", metadata_fields=["company"]).invoke(
        {"question": "How did revenue develop?", "documents": REPORTS[1:], "answer": "Revenue rose by twelve per cent."}
    )
    (citation,) = found.content_blocks[0]["annotations"]
    extras = citation["extras"]
    text = REPORTS[1].page_content
    assert text[extras["document_begin"] : extras["document_end"]] == citation["cited_text"]


# --- 5, 6: scores ---------------------------------------------------------------------------------------------------


def test_5a_a_score_that_an_earlier_reranking_wrote_is_not_the_retrievers() -> None:
    found = [
        Document(text, id=str(i), metadata={"score": 1.0 - i / 10})
        for i, text in enumerate(["The mill is a mill.", "The mill has a wheel.", "The mill has two cats."])
    ]
    once = IntrinsicsReranker().compress_documents(found, "Which cats live there?")
    fresh = IntrinsicsReranker().compress_documents([found[int(d.id or 0)] for d in once], "What turns in the mill?")
    again = IntrinsicsReranker().compress_documents(once, "What turns in the mill?")
    assert [d.id for d in again] == [d.id for d in fresh]
    assert [d.metadata["relevance_score"] for d in again] == [d.metadata["relevance_score"] for d in fresh]


def test_5b_the_retrievers_score_survives_the_rerankers() -> None:
    found = [d.model_copy(update={"metadata": {"relevance_score": 7.0}}) for d in documents()]
    for _ in range(2):
        found = list(IntrinsicsReranker(runtime=judging()).compress_documents(found, QUESTION))
        assert [d.metadata["retrieval_score"] for d in found] == [7.0] * 3
    assert [d.metadata["relevance_score"] for d in found] == [1.0, 0.5, 0.0]


def test_6a_a_threshold_fits_one_document_and_gibberish() -> None:
    keep = IntrinsicsReranker(score_threshold=0.5)
    right = Document("Ada Brink built the tide mill in 1911.", id="mill")
    assert keep.compress_documents([right], "Who built the tide mill?") != []
    gibberish = [Document(text) for text in ("Lorem ipsum dolor sit amet.", "Xyzzy plugh qwfp.", "Foo bar baz.")]
    assert keep.compress_documents(gibberish, "Who built the tide mill?") == []
    alone = IntrinsicsReranker().compress_documents([right], "Who built the tide mill?")[0]
    among = IntrinsicsReranker().compress_documents([*gibberish, right], "Who built the tide mill?")[0]
    assert alone.metadata["relevance_score"] == among.metadata["relevance_score"]


def test_6b_a_threshold_is_not_held_against_places_in_a_list() -> None:
    kept = IntrinsicsReranker(runtime=judging(), score_threshold=0.9).compress_documents(documents(), QUESTION)
    assert len(kept) == 3
    assert "score_threshold" in kept[0].metadata["reranking_warning"]


def test_6c_a_fallback_overwrites_no_score_and_carries_only_its_own_failure() -> None:
    found = [Document(f"Passage {i}.", id=str(i), metadata={"relevance_score": i / 50}) for i in range(50)]
    ranked = IntrinsicsReranker(runtime=no_judge(), on_error="fallback", score_threshold=0.9)
    kept = ranked.compress_documents(found, QUESTION)
    assert [(d.id, d.metadata["relevance_score"]) for d in kept] == [(str(i), i / 50) for i in range(50)]
    noisy = Scripted(lambda request: RuntimeUnavailable("x" * 8000))
    kept = ContextRelevanceFilter(runtime=noisy, on_error="fallback").compress_documents(found, QUESTION)
    assert [d.metadata["relevance_score"] for d in kept] == [i / 50 for i in range(50)]
    assert sum(len(json.dumps(d.metadata)) for d in kept) < 50_000
    assert "RuntimeUnavailable" in kept[7].metadata["context_relevance_degraded"]


# --- 7, 8: what is asked and what is answered -----------------------------------------------------------------------


def test_7a_a_prompt_gets_the_plain_question_and_a_retriever_the_keywords() -> None:
    history = [HumanMessage("Tell me about the tide mill."), AIMessage("It stands at Port Ellery.")]
    asked: list[str] = []
    given = {"question": "Does it still grind flour?", "chat_history": history}
    search = RunnableLambda(lambda query: asked.append(query) or documents())
    chain = assign(question=QueryRewriter()) | ChatPromptTemplate.from_template("Answer: {question}")
    prompt = chain.invoke(given).to_string()
    assert "tide mill" in prompt and "(" not in prompt
    IntrinsicsRetriever(retriever=search, rewriter=QueryRewriter()).invoke(given)
    (QueryRewriter(for_retrieval=True) | search).invoke(given)
    assert len(set(asked)) == 1
    assert len(asked[0]) > len(prompt.partition("Answer: ")[2])  # with keywords


@pytest.mark.parametrize(
    "reply",
    [
        '<think>first idea: {"answerability": "unanswerable", "confidence": 0.9}</think>'
        '{"answerability": "answerable", "confidence": 0.9}',
        '<think>{} hm</think>{"answerability": "answerable", "confidence": "90%"}',
        "{'answerability': 'answerable', 'confidence': 90,}",
        AIMessage([{"type": "reasoning", "reasoning": '{"answerability": "unanswerable"}'},
                   {"type": "text", "text": '{"answerability": "answerable", "confidence": "0.9"}'}]),
    ],
    ids=["a draft in thoughts", "nothing in thoughts, per cent", "Python's quotes", "a reasoning block"],
)  # fmt: skip
def test_8a_the_verdict_and_not_the_draft(reply: Any) -> None:
    gate = AnswerabilityGate(runtime=JudgeModel(reply=lambda messages, settings: reply))
    found = gate.invoke({"question": QUESTION, "documents": documents()})["answerability"]
    assert (found["label"], found["probability"]) == ("answerable", pytest.approx(0.9))


# --- 9: failure -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [AnswerCheck, AnswerabilityGate, IntrinsicsReranker, QueryRewriter])
def test_9a_on_error_is_checked_when_it_is_built(kind: Any) -> None:
    with pytest.raises(InvalidInput, match="on_error is unknown"):
        kind(on_error="ignore")


def test_9b_a_judge_that_is_down_does_not_cost_the_answer() -> None:
    writer = RunnableLambda(lambda x: x["question"]) | GenericFakeChatModel(messages=iter([FAITHFUL] * 2))
    chain = assign(answer=writer).assign(answer=AnswerCheck(checks=JUDGES, runtime=no_judge()))
    answer = chain.invoke({"question": QUESTION, "documents": documents()})["answer"]
    assert answer.text == FAITHFUL
    assert all("connection refused" in verdicts(answer)[name]["degraded"] for name in NAMES)
    streamed = reduce(operator.add, list(chain.pick("answer").stream({"question": QUESTION, "documents": documents()})))
    assert streamed.text == FAITHFUL and all("degraded" in verdicts(streamed)[name] for name in NAMES)
    with pytest.raises(RuntimeUnavailable):
        AnswerCheck(checks=JUDGES, runtime=no_judge(), on_error="raise").invoke(
            {"question": "Q?", "documents": documents(), "answer": "A."}
        )


def test_9c_a_gate_that_is_down_raises_unless_told_otherwise() -> None:
    given = {"question": QUESTION, "documents": documents()}
    with pytest.raises(RuntimeUnavailable):
        AnswerabilityGate(runtime=no_judge()).invoke(given)


# --- 10: arguments --------------------------------------------------------------------------------------------------


def tenants() -> Any:
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=16))
    store.add_documents([
        Document("The mill of Acme was built by Ada Brink.", id="acme", metadata={"tenant": "acme"}),
        Document("The mill of Globex was built by Bo Carr.", id="globex", metadata={"tenant": "globex"}),
    ])  # fmt: skip
    return store


@pytest.mark.parametrize("asynchronous", [False, True])
def test_10a_a_tenants_filter_reaches_the_store_with_every_query(asynchronous: bool) -> None:
    retriever = IntrinsicsRetriever(retriever=tenants().as_retriever(), rewriter=QueryRewriter(), k=5,
                                    expander=QueryExpander(), compressors=[IntrinsicsReranker()])  # fmt: skip

    def own(document: Document) -> bool:
        return document.metadata["tenant"] == "acme"

    if asynchronous:
        found = asyncio.run(retriever.ainvoke("Who built the mill?", filter=own))
    else:
        found = retriever.invoke("Who built the mill?", filter=own)
    assert [d.id for d in found] == ["acme"]


class Plain(BaseRetriever):
    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return documents()


def test_10b_a_retriever_that_takes_no_filter_refuses_it() -> None:
    with pytest.raises(InvalidInput, match=r"takes no further arguments.*'filter'"):
        IntrinsicsRetriever(retriever=Plain()).invoke("Who?", filter={"tenant": "acme"})
    with pytest.raises(TypeError, match="filter"):
        IntrinsicsRetriever(retriever=RunnableLambda(lambda query: documents())).invoke("Who?", filter={})


# --- 13: types ------------------------------------------------------------------------------------------------------


def grounded(answer: str, **routes: Any) -> Any:
    model = FakeListChatModel(responses=[answer])
    writer = RunnableLambda(lambda x: x["question"]) | model
    chain: Any = AnswerabilityGate(runtime=judging(), answerable=assign(answer=writer), **routes)
    for judge in JUDGES:
        chain = chain.assign(answer=AnswerCheck(checks=judge, runtime=judging()))
    return chain


@pytest.mark.parametrize("streaming", [False, True])
def test_13a_a_canned_answer_passes_the_judges_that_follow(streaming: bool) -> None:
    chain = grounded(FAITHFUL, otherwise="The archive does not say.")

    def run(question: str) -> Any:
        given = {"question": question, "documents": documents()}
        return reduce(operator.add, list(chain.stream(given))) if streaming else chain.invoke(given)

    yes, no = run(QUESTION), run("Which umbrellas does the bakery sell?")
    assert set(yes) == set(no)
    assert yes["answer"].text == FAITHFUL
    assert set(verdicts(yes["answer"])) == {"about", *NAMES}
    assert no["answer"].text == "The archive does not say."
    assert no["answerability"]["label"] == "unanswerable"
    assert not NAMES & set(verdicts(no["answer"]))


@pytest.mark.parametrize("key", ["answer", "response", "generation", "result"])
def test_13b_answers_under_the_names_of_the_tutorials(key: str) -> None:
    found = AnswerCheck(checks="hallucination-detection", runtime=judging()).invoke(
        {"query": QUESTION, "source_documents": documents(), key: FAITHFUL}
    )
    assert verdicts(found)["hallucination_detection"]["label"] == "faithful"


def test_13c_no_answer_is_named() -> None:
    with pytest.raises(InvalidInput, match=r"no answer.*'generation', 'result'"):
        AnswerCheck(checks="hallucination-detection").invoke(
            {"question": QUESTION, "documents": documents(), "reply": FAITHFUL}
        )


@pytest.mark.parametrize("mine", ["mine", 7, ["a"], {"own": 1}, None])
def test_13d_somebodys_own_metadata_under_our_name(mine: Any) -> None:
    given = [d.model_copy(update={"metadata": {"rag_intrinsics": mine}}) for d in documents()]
    for component in (IntrinsicsReranker(runtime=judging()), ContextRelevanceFilter(runtime=judging())):
        found = component.compress_documents(given, QUESTION)
        assert found[0].id == "mill" and found[0].metadata["rag_intrinsics"] == mine
    answer = AIMessage(FAITHFUL, response_metadata={"rag_intrinsics": mine})
    judged = AnswerCheck(checks="hallucination-detection", runtime=judging()).invoke(
        {"question": QUESTION, "documents": given, "answer": answer}
    )
    assert "hallucination_detection" in verdicts(judged)
    assert not isinstance(mine, dict) or verdicts(judged)["own"] == 1


def test_13e_an_empty_canned_answer_and_one_that_depends_on_the_input() -> None:
    no = {"question": "Which umbrellas?", "documents": documents()}
    assert grounded(FAITHFUL, otherwise="").invoke(no)["answer"].text == ""
    told = grounded(FAITHFUL, otherwise=lambda state: f"Nothing on: {state['question']}")
    assert told.invoke(no)["answer"].text == "Nothing on: Which umbrellas?"
    assert reduce(operator.add, list(told.stream(no)))["answer"].text == "Nothing on: Which umbrellas?"


# --- 14: cost -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("count", "calls"), [(1, 0), (10, 1), (20, 1), (50, 4)])
def test_14a_a_language_model_reranks_in_few_calls(count: int, calls: int) -> None:
    def reply(messages: Any, settings: Any) -> Any:
        shown = data_of(messages[-1].content)["documents"]
        return {"ranking": [d["id"] for d in sorted(shown, key=lambda d: -int(d["text"].split()[1]))]}

    model = JudgeModel(reply=reply)
    found = [Document(f"Passage {i}", id=str(i)) for i in range(count)]
    best = IntrinsicsReranker(runtime=model, top_n=3).compress_documents(found, "Which is last?")
    assert [d.id for d in best] == [str(i) for i in range(count)][::-1][:3]
    assert len(model.seen) == calls


def test_14b_a_malformed_list_costs_its_window_alone_and_long_documents_are_cut_and_told() -> None:
    replies = iter(["Hm.", "Hm.", *['{"ranking": ["d1", "d1", "d99"]}'] * 9])
    model = JudgeModel(reply=lambda messages, settings: next(replies))
    found = [Document(f"Passage {i} " + "word " * 1000, id=str(i)) for i in range(30)]
    ranked = IntrinsicsReranker(runtime=model).compress_documents(found, "Which?")
    assert sorted(d.id or "" for d in ranked) == sorted(str(i) for i in range(30))
    told = ranked[0].metadata
    assert told["reranking_cut"] == 30 and told["reranking_degraded"]
    assert all(len(call["messages"][-1].content) < 20 * 2300 for call in model.seen)


# --- 16: saving -----------------------------------------------------------------------------------------------------


def test_16a_a_chain_is_saved_and_loaded_as_the_readme_says() -> None:
    chain = IntrinsicsReranker(runtime={"kind": "embedded"}, top_n=1)
    again = loads(dumps(chain), allowed_objects=[IntrinsicsReranker], valid_namespaces=["langchain_rag_intrinsics"])
    assert again == chain
    assert again.compress_documents(documents(), QUESTION)[0].id == "mill"


def test_16b_labels_in_a_template() -> None:
    found = ContextRelevanceFilter(runtime=judging()).compress_documents(documents(), QUESTION)
    # A path without brackets is all that Jinja, too, can read of a key: one with a hyphen would be a difference.
    template = PromptTemplate.from_template("{{#documents}}{{metadata.context_relevance}}{{/documents}}",
                                            template_format="mustache")  # fmt: skip
    assert template.format(documents=[d.model_dump() for d in found]) == "relevant"


# --- 17: smaller things ---------------------------------------------------------------------------------------------

OPTIONS = {"answerable": 0.3, "unanswerable": 0.6, "something": 0.1}


def doubtful(messages: Any, settings: Any) -> Any:
    if settings.get("response_format") and settings.get("logprobs"):
        return said(*tokens_of('{"answerability": "', OPTIONS, "unanswerable", '", "confidence": 1.0}'))
    return {"answerability": "unanswerable", "confidence": 1.0}


class Choosing(SchemaModel):
    temperature: float = 1.0


WRAPPERS: dict[str, Any] = {
    "the model": lambda model: model,
    "retries": lambda model: model.with_retry(stop_after_attempt=2),
    "bound": lambda model: model.bind(temperature=0.0),
    "fallbacks": lambda model: model.with_fallbacks([model]),
    "config": lambda model: model.with_config(tags=["judge"]),
    "configurable": lambda model: model.configurable_fields(temperature=ConfigurableField(id="temperature")),
    "all": lambda model: model.bind(temperature=0.0).with_retry(stop_after_attempt=2).with_config(tags=["judge"]),
}


@pytest.mark.parametrize("wrapped", WRAPPERS)
@pytest.mark.parametrize("asynchronous", [False, True])
def test_17a_a_model_in_a_wrapper_keeps_schema_and_log_probabilities(wrapped: str, asynchronous: bool) -> None:
    model = Choosing(reply=doubtful)
    gate = AnswerabilityGate(runtime=WRAPPERS[wrapped](model))
    given = {"question": QUESTION, "documents": documents()}
    found = asyncio.run(gate.ainvoke(given)) if asynchronous else gate.invoke(given)
    assert found["answerability"]["probability"] == pytest.approx(0.3 / 0.9)


def test_17b_what_is_lost_with_a_runnable_of_ones_own_is_said() -> None:
    chain = RunnableLambda(lambda messages: messages) | Choosing(reply=doubtful) | StrOutputParser()
    gate = AnswerabilityGate(runtime=chain)
    with pytest.warns(RuntimeWarning, match="no chat model is found in this RunnableSequence"):
        gate.invoke({"question": QUESTION, "documents": documents()})
    meant = ChatModelRuntime(chain, structured_output=False, logprobs=False)
    AnswerabilityGate(runtime=meant).invoke({"question": QUESTION, "documents": documents()})
    with pytest.raises(InvalidInput, match="JSON schema cannot be asked"):
        ChatModelRuntime(chain, structured_output=True)


def test_17c_a_cancelled_call_stops_working() -> None:
    from intrinsics_core._support import cancellation

    started, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    class Slow(BlockingRuntime):
        profile = PROFILE

        def handle(self, requests: Any) -> Any:
            started.set()
            try:
                go_on.wait(60)
                for _ in range(3):
                    cancellation.check()  # as the embedded encoder does between its batches
                return [RuntimeUnavailable("nobody gave up") for _ in requests]
            except BaseException:
                ended.set()
                raise

    async def main() -> None:
        asked = IntrinsicsReranker(runtime=Slow()).ainvoke({"question": QUESTION, "documents": documents()})
        await cancelled(asked, started)
        go_on.set()
        assert await asyncio.to_thread(ended.wait, 60)

    asyncio.run(main())


def test_17d_no_citation_for_a_sentence_that_was_judged_wrong() -> None:
    def cites_everything(request: Any) -> Any:
        shown = data_of(request.messages[-1].content)
        sources = [name for d in shown["documents"] for name in d["sentences"]]
        return {"citations": [{"response": name, "sources": sources[:1]} for name in shown["response"]]}

    given = {"question": QUESTION, "documents": documents(), "answer": f"{FAITHFUL} {INVENTED}"}
    judged = AnswerCheck(checks="hallucination-detection", runtime=judging()).invoke(given)
    cited = AnswerCheck(checks="citations", runtime=Scripted(cites_everything)).invoke({**given, "answer": judged})
    (annotation,) = cited.content_blocks[0]["annotations"]
    assert cited.text[annotation["start_index"] : annotation["end_index"]] == FAITHFUL
    assert len(verdicts(cited)["citations"]["citations"]) == 1
    # The verdict is about that text and those documents alone.
    cut = judged.model_copy(update={"content": INVENTED})
    more = [*documents(), Document(INVENTED)]
    for other, count in (({"answer": cut}, 1), ({"answer": judged, "documents": more}, 2)):
        cited = AnswerCheck(checks="citations", runtime=Scripted(cites_everything)).invoke({**given, **other})
        assert len(cited.content_blocks[0]["annotations"]) == count


@pytest.mark.parametrize(
    ("metadata", "title"),
    [
        ({"title": "The mill", "source": "mill.pdf"}, "The mill"),
        ({"source": "/srv/archive/mill.pdf", "page": 6, "page_label": "7"}, "mill.pdf, page 7"),
        ({"source": "C:\\archive\\mill.pdf", "page": 6}, "mill.pdf, page 6"),
        ({"source": "https://ellery.example/mill"}, "https://ellery.example/mill"),
        ({"page": 6}, None),
    ],
)
def test_17e_what_a_loader_says_is_the_citations_title(metadata: dict[str, Any], title: str | None) -> None:
    given = [Document(FAITHFUL, metadata=metadata)]
    found = AnswerCheck(checks="citations", runtime=judging()).invoke(
        {"question": QUESTION, "documents": given, "answer": FAITHFUL}
    )
    assert found.content_blocks[0]["annotations"][0].get("title") == title


class Reversed(BaseDocumentTransformer):
    def transform_documents(self, documents: Any, **kwargs: Any) -> Any:
        return list(documents)[::-1]


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize(
    "compressors",
    [
        IntrinsicsReranker(runtime=judging()),
        RunnableLambda(lambda x: sorted(x["documents"], key=lambda d: d.id != "mill")),
        lambda x: sorted(x["documents"], key=lambda d: d.id != "mill"),
        [Reversed(), IntrinsicsReranker(runtime=judging())],
    ],
    ids=["one", "a Runnable", "a function", "a transformer among them"],
)
def test_17f_a_function_retrieves_and_any_of_these_compress(compressors: Any, asynchronous: bool) -> None:
    def search(query: str) -> list[Document]:
        return documents()

    for names in (("retriever", "compressors"), ("base_retriever", "base_compressor")):
        retriever = IntrinsicsRetriever(**dict(zip(names, (search, compressors), strict=True)), k=1)
        found = asyncio.run(retriever.ainvoke(QUESTION)) if asynchronous else retriever.invoke(QUESTION)
        assert [d.id for d in found] == ["mill"]


def test_17g_verdicts_say_that_they_are_degraded() -> None:
    gate = AnswerabilityGate(runtime=no_judge(), on_error="open").invoke({"question": "Q?", "documents": documents()})
    assert "connection refused" in gate["answerability"]["degraded"]
    ranked = IntrinsicsReranker(runtime=no_judge(), on_error="fallback").compress_documents(documents(), "Q?")
    assert "connection refused" in ranked[0].metadata["reranking_degraded"]


# --- new ------------------------------------------------------------------------------------------------------------


def test_18a_vector_search_offline_out_of_the_box() -> None:
    from langchain_rag_intrinsics import IntrinsicsEmbeddings

    store = InMemoryVectorStore.from_documents(documents(), IntrinsicsEmbeddings())
    assert store.similarity_search("When was the mill constructed?", k=1)[0].id == "mill"
    assert asyncio.run(store.asimilarity_search("Is it foggy in spring?", k=1))[0].id == "fog"
    vector = IntrinsicsEmbeddings().embed_query("mill")
    assert math.isclose(sum(x * x for x in vector), 1.0, rel_tol=1e-5)
    assert IntrinsicsEmbeddings().embed_documents([]) == []
    with pytest.raises(InvalidInput, match="no vectors"):
        IntrinsicsEmbeddings(runtime=judging())


def test_18b_runtimes_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    assert QueryRewriter(runtime="embedded").invoke("Who built the mill?") == "Who built the mill?"
    pytest.importorskip("langchain_openai", reason="langchain-openai is not installed")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    named = QueryRewriter(runtime="openai:gpt-4o-mini")
    assert repr(named.engine) == "ChatModelRuntime(ChatOpenAI, JSON schema, log-probabilities)"
    again = loads(dumps(named), allowed_objects=[QueryRewriter], valid_namespaces=["langchain_rag_intrinsics"])
    assert again.runtime == "openai:gpt-4o-mini"
    with pytest.raises(InvalidInput, match="names no chat model"):
        QueryRewriter(runtime="nobody:nothing").invoke("Who?")


def test_18c_a_warning_is_logged_where_a_query_stays_as_it_was(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="langchain_rag_intrinsics"):
        assert QueryRewriter(runtime=no_judge(), on_error="fallback").invoke("Who?") == "Who?"
    assert "connection refused" in caplog.text
