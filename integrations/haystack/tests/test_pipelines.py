"""Components inside Haystack's pipelines: run, run async, saved, traced."""

import asyncio
from typing import Any

import pytest
from haystack import Pipeline
from haystack.components.builders import AnswerBuilder, ChatPromptBuilder
from haystack.components.generators.chat import MockChatGenerator, OpenAIChatGenerator
from haystack.components.retrievers import MultiQueryTextRetriever
from haystack.core.errors import SerializationError
from haystack.dataclasses import ChatMessage
from haystack.tracing import tracer
from haystack.utils import Secret
from haystack_integrations.common.rag_intrinsics import ChatGeneratorRuntime
from haystack_integrations.components.pipelines.rag_intrinsics import RagIntrinsicsPipeline
from haystack_integrations.components.query.rag_intrinsics import RagIntrinsicsQueryExpander, RagIntrinsicsQueryRewriter
from haystack_integrations.components.rankers.rag_intrinsics import (
    RagIntrinsicsContextRelevanceFilter,
    RagIntrinsicsRanker,
)
from haystack_integrations.components.routers.rag_intrinsics import RagIntrinsicsAnswerabilityRouter
from haystack_integrations.components.validators.rag_intrinsics import RagIntrinsicsCitationBuilder

from integrations.haystack.tests.adapter import COMPONENTS
from integrations.haystack.tests.generators import AsyncGenerator, SyncGenerator, judging
from integrations.haystack.tests.scripts import FAITHFUL, INVENTED, QUESTION, retriever
from intrinsics_core.running.flows import CANNED

SECRET = "sk-pipeline-0123456789"
KEY = "RAG_INTRINSICS_API_KEY"
SERVER = {"kind": "server", "base_url": "http://127.0.0.1:9"}
WITH_KEY = {**SERVER, "api_key": Secret.from_env_var("MINE")}
UNANSWERED = "How tall is the lighthouse?"


def answering(text: str) -> SyncGenerator:
    return AsyncGenerator(lambda messages, settings: text)


def run(pipeline: Any, asynchronous: bool, *data: Any, **settings: Any) -> Any:
    if asynchronous:
        return asyncio.run(pipeline.run_async(*data, **settings))
    return pipeline.run(*data, **settings)


def by_hand(generator: Any = None) -> Pipeline:
    """A pipeline as people wire it."""
    pipeline = Pipeline()
    pipeline.add_component("rewriter", RagIntrinsicsQueryRewriter())
    pipeline.add_component("retriever", retriever())
    pipeline.add_component("ranker", RagIntrinsicsRanker(top_k=2))
    pipeline.add_component("router", RagIntrinsicsAnswerabilityRouter())
    pipeline.add_component(
        "prompt",
        ChatPromptBuilder(
            [ChatMessage.from_user("{% for d in documents %}{{ d.content }}{% endfor %} {{ query }}")],
            required_variables="*",
        ),
    )
    pipeline.add_component("generator", generator or answering(FAITHFUL))
    pipeline.add_component("citations", RagIntrinsicsCitationBuilder())
    pipeline.add_component("answers", AnswerBuilder(reference_pattern=r"\[(\d+)\]"))
    for sender, receiver in [
        ("rewriter.retrieval_query", "retriever.query"),
        ("rewriter.standalone_query", "ranker.query"),
        ("retriever", "ranker"),
        ("ranker", "router.documents"),
        ("rewriter.standalone_query", "router.query"),
        ("router.answerable", "prompt.documents"),
        ("rewriter.standalone_query", "prompt.query"),
        ("prompt", "generator.messages"),
        ("generator.replies", "citations.replies"),
        ("router.answerable", "citations.documents"),
        ("rewriter.standalone_query", "citations.query"),
        ("citations.replies", "answers.replies"),
        ("router.answerable", "answers.documents"),
        ("rewriter.standalone_query", "answers.query"),
    ]:
        pipeline.connect(sender, receiver)
    return pipeline


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_pipeline_by_hand(asynchronous: bool) -> None:
    found = run(by_hand(), asynchronous, {"rewriter": {"query": QUESTION}})
    [answer] = found["answers"]["answers"]
    assert answer.data == "Ada Brink built the mill in 1911 [1]."
    assert [d.id for d in answer.documents] == ["mill"]


def test_the_router_starts_one_branch_only() -> None:
    pipeline = by_hand()
    found = pipeline.run({"rewriter": {"query": UNANSWERED}})
    assert found["router"]["unanswerable"] == UNANSWERED
    assert "answers" not in found
    assert pipeline.get_component("generator").seen == []


def test_expanded_queries_fit_haystacks_retriever_for_many() -> None:
    pipeline = Pipeline()
    pipeline.add_component("expander", RagIntrinsicsQueryExpander())
    pipeline.add_component("retriever", MultiQueryTextRetriever(retriever=retriever()))
    pipeline.add_component("ranker", RagIntrinsicsRanker(top_k=1))
    pipeline.connect("expander.queries", "retriever.queries")
    pipeline.connect("retriever.documents", "ranker.documents")
    found = pipeline.run({"expander": {"query": QUESTION}, "ranker": {"query": QUESTION}})
    assert [d.id for d in found["ranker"]["documents"]] == ["mill"]


class TestPrewired:
    @pytest.mark.parametrize("asynchronous", [False, True])
    def test_an_answer_is_checked_cited_and_built(self, asynchronous: bool) -> None:
        rag = RagIntrinsicsPipeline(retriever(), answering(f"{FAITHFUL} {INVENTED}"))
        found = run(rag, asynchronous, query=QUESTION)
        [answer] = found["answers"]
        assert answer.data == f"Ada Brink built the mill in 1911 [1]. {INVENTED}"
        assert [d.id for d in answer.documents] == ["mill"]
        verdicts = answer.meta["rag_intrinsics"]
        labels = [s["label"] for s in verdicts["hallucination_detection"]["sentences"]]
        assert labels == ["faithful", "unfaithful"]
        assert verdicts["citations"]["citations"][0]["document_id"] == "mill"
        assert found["answerability"]["label"] == "answerable"
        assert found["documents"][0].meta["page"] == 7
        assert found["query"] == QUESTION
        assert found["replies"][0].text == answer.data

    @pytest.mark.parametrize("asynchronous", [False, True])
    @pytest.mark.parametrize("stored", [None, []])
    def test_what_the_documents_do_not_answer_is_not_asked(self, asynchronous: bool, stored: Any) -> None:
        generator = answering(FAITHFUL)
        rag = RagIntrinsicsPipeline(retriever(stored), generator)
        found = run(rag, asynchronous, query=UNANSWERED)
        assert [a.data for a in found["answers"]] == [CANNED]
        assert found["answerability"]["label"] == "unanswerable"
        assert generator.seen == []

    @pytest.mark.parametrize(("settings", "asked"), [({}, 0), ({"block_unsure": False}, 1)])
    def test_the_generator_is_asked_on_an_unsure_verdict_only_where_that_was_chosen(
        self, settings: dict[str, Any], asked: int
    ) -> None:
        never = {"kind": "embedded", "thresholds": {"answerability": {"answerable": 0.99}}}  # nothing is that sure
        generator = answering(FAITHFUL)
        found = RagIntrinsicsPipeline(retriever(), generator, never, **settings).run(query=QUESTION)
        assert (found["answerability"]["unsure"], len(generator.seen)) == (True, asked)

    def test_a_canned_answer_is_no_template(self) -> None:
        rag = RagIntrinsicsPipeline(retriever(), answering(FAITHFUL), canned="{{ query }} {% raise %}")
        assert rag.run(query=UNANSWERED)["answers"][0].data == "{{ query }} {% raise %}"

    def test_the_question_is_rewritten_before_it_is_retrieved_with(self) -> None:
        history = [
            ChatMessage.from_user("Is there a tide mill at Port Ellery?"),
            ChatMessage.from_assistant("Yes, the tide mill stands on the east quay."),
        ]
        rag = RagIntrinsicsPipeline(retriever(), answering(FAITHFUL))
        found = rag.run(query="Who built it?", history=history)
        assert "mill" in found["query"]
        assert found["documents"][0].id == "mill"

    def test_the_intrinsics_share_one_runtime(self) -> None:
        rag = RagIntrinsicsPipeline(retriever(), answering(FAITHFUL), {"kind": "embedded"})
        parts = [rag.pipeline.get_component(name) for name in ("rewriter", "ranker", "router", "checker", "citations")]
        rag.warm_up()
        assert len({id(part._engine.runtime) for part in parts}) == 1

    def test_a_chat_generator_judges_what_another_wrote(self) -> None:
        judge = ChatGeneratorRuntime(AsyncGenerator(judging), structured_output=True)
        rag = RagIntrinsicsPipeline(retriever(), answering(FAITHFUL), judge)
        assert rag.run(query=QUESTION)["answers"][0].data == "Ada Brink built the mill in 1911 [1]."

    def test_it_is_a_component_and_is_saved_as_one(self) -> None:
        rag = RagIntrinsicsPipeline(
            retriever(), OpenAIChatGenerator(api_key=Secret.from_env_var("OPENAI_API_KEY")),
            {**SERVER, "api_key": SECRET}, top_k=3, canned="I do not know.",
        )  # fmt: skip
        pipeline = Pipeline()
        pipeline.add_component("rag", rag)
        saved = pipeline.dumps()
        assert SECRET not in saved
        again = Pipeline.loads(saved)
        assert again.dumps() == saved
        assert again.get_component("rag").canned == "I do not know."


class TestSaved:
    @pytest.mark.parametrize("name", COMPONENTS)
    @pytest.mark.parametrize("runtime", [None, {"kind": "embedded"}, WITH_KEY])
    def test_a_pipeline_loads_without_allowed_modules(self, name: str, runtime: Any) -> None:
        pipeline = Pipeline()
        pipeline.add_component("it", COMPONENTS[name](runtime, on_error="raise", date="May 1, 2025"))
        saved = pipeline.dumps()
        again = Pipeline.loads(saved)
        assert again.dumps() == saved
        component = again.get_component("it")
        assert type(component) is COMPONENTS[name]
        assert component.runtime == runtime
        assert component.date == "May 1, 2025"

    def test_a_whole_pipeline_runs_the_same_after_loading(self) -> None:
        pipeline = by_hand(MockChatGenerator(FAITHFUL))
        data = {"rewriter": {"query": QUESTION}}
        pipeline.remove_component("retriever")  # saved without its documents, which is the in-memory store's way
        again = Pipeline.loads(pipeline.dumps())
        for loaded in (pipeline, again):
            loaded.add_component("retriever", retriever())
            loaded.connect("rewriter.retrieval_query", "retriever.query")
            loaded.connect("retriever", "ranker")
        assert again.run(data)["answers"]["answers"][0].data == "Ada Brink built the mill in 1911 [1]."
        assert again.run(data) == pipeline.run(data)

    def test_every_setting_comes_back(self) -> None:
        for component in (
            RagIntrinsicsRanker(
                top_k=2, score_threshold=0.5, mode="pairwise", prior="lower", on_error="fallback", profile="prompted"
            ),
            RagIntrinsicsContextRelevanceFilter(labels=("relevant",), score_threshold=0.1),
            RagIntrinsicsCitationBuilder(markers=False),
            RagIntrinsicsAnswerabilityRouter(on_error="closed"),
        ):
            again = type(component).from_dict(component.to_dict())
            assert again.to_dict() == component.to_dict()
            settings = {name: value for name, value in vars(component).items() if not name.startswith("_")}
            assert {name: getattr(again, name) for name in settings} == settings

    def test_a_plain_key_is_saved_as_a_name_and_read_from_there(self, monkeypatch: pytest.MonkeyPatch) -> None:
        config = {**SERVER, "api_key": SECRET}
        pipeline = Pipeline()
        pipeline.add_component("ranker", RagIntrinsicsRanker(config))
        saved = pipeline.dumps()
        assert SECRET not in saved and KEY in saved
        assert config["api_key"] == SECRET
        again = Pipeline.loads(saved).get_component("ranker")
        with pytest.raises(ValueError, match=KEY):
            again.warm_up()
        monkeypatch.setenv(KEY, SECRET)
        again.warm_up()
        assert again.runtime["api_key"].resolve_value() == SECRET
        assert SECRET not in repr(again) + repr(vars(again)) + repr(again.runtime)

    def test_haystacks_generators_come_back_as_runtimes(self) -> None:
        judge = OpenAIChatGenerator(model="judge", api_key=Secret.from_env_var("OPENAI_API_KEY"))
        for runtime in (judge, ChatGeneratorRuntime(judge, concurrency=2, logprobs=False)):
            pipeline = Pipeline()
            pipeline.add_component("ranker", RagIntrinsicsRanker(runtime))
            again = Pipeline.loads(pipeline.dumps())
            assert again.dumps() == pipeline.dumps()
            assert type(again.get_component("ranker").runtime) is type(runtime)

    def test_a_generator_of_ones_own_needs_haystacks_leave(self) -> None:
        pipeline = Pipeline()
        pipeline.add_component("ranker", RagIntrinsicsRanker(SyncGenerator(pause=0.5)))
        again = Pipeline.loads(pipeline.dumps(), allowed_modules=["integrations.haystack.tests.generators"])
        assert again.get_component("ranker").runtime.pause == 0.5

    def test_a_runtime_object_has_no_plain_form(self) -> None:
        from integrations.haystack.tests.scripts import judging as judging_runtime

        with pytest.raises(SerializationError, match="config"):
            RagIntrinsicsRanker(judging_runtime()).to_dict()


def test_judging_calls_are_spans_inside_the_components(monkeypatch: pytest.MonkeyPatch) -> None:
    from haystack.tracing.logging_tracer import LoggingTracer

    names: list[str] = []

    class Noting(LoggingTracer):
        def trace(self, operation_name: str, tags: Any = None, parent_span: Any = None) -> Any:
            names.append(operation_name)
            return super().trace(operation_name, tags, parent_span)

    monkeypatch.setattr(tracer, "actual_tracer", Noting())
    pipeline = Pipeline()
    judge = SyncGenerator(lambda messages, settings: {"answerability": "answerable", "confidence": 0.8})
    pipeline.add_component("router", RagIntrinsicsAnswerabilityRouter(judge))
    pipeline.run({"router": {"query": QUESTION, "documents": retriever().run(query=QUESTION)["documents"]}})
    assert names == ["haystack.pipeline.run", "haystack.component.run", "haystack.chat_generator.run"]
