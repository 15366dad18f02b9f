"""Components inside Haystack's pipelines: run, run async, saved, traced."""

import asyncio
from typing import Any

import pytest
from haystack import Pipeline
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.components.retrievers import MultiQueryTextRetriever
from haystack.core.errors import SerializationError
from haystack.tracing import tracer
from haystack.utils import Secret
from haystack_integrations.common.rag_intrinsics import ChatGeneratorRuntime
from haystack_integrations.components.query.rag_intrinsics import RagIntrinsicsQueryExpander
from haystack_integrations.components.rankers.rag_intrinsics import (
    RagIntrinsicsContextRelevanceFilter,
    RagIntrinsicsRanker,
)
from haystack_integrations.components.routers.rag_intrinsics import RagIntrinsicsAnswerabilityRouter
from haystack_integrations.components.validators.rag_intrinsics import RagIntrinsicsAnswerCheck

from integrations.haystack.tests.adapter import COMPONENTS, built
from integrations.haystack.tests.generators import AsyncGenerator, SyncGenerator
from integrations.haystack.tests.scripts import FAITHFUL, QUESTION, chat, retriever

SECRET = "sk-pipeline-0123456789"
KEY = "RAG_INTRINSICS_API_KEY"
SERVER = {"kind": "server", "base_url": "http://127.0.0.1:9"}
WITH_KEY = {**SERVER, "api_key": Secret.from_env_var("MINE")}
UNANSWERED = "How tall is the lighthouse?"


def run(pipeline: Any, asynchronous: bool, *data: Any, **settings: Any) -> Any:
    if asynchronous:
        return asyncio.run(pipeline.run_async(*data, **settings))
    return pipeline.run(*data, **settings)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_pipeline_by_hand(asynchronous: bool) -> None:
    found = run(chat(), asynchronous, {"rewriter": {"query": QUESTION}})
    [answer] = found["answers"]["answers"]
    assert answer.data == "Ada Brink built the mill in 1911 [1]."
    assert [d.id for d in answer.documents] == ["mill"]


def test_the_router_starts_one_branch_only() -> None:
    generator = AsyncGenerator(lambda messages, settings: FAITHFUL)
    found = chat(generator).run({"rewriter": {"query": UNANSWERED}})
    assert found["router"]["unanswerable"] == UNANSWERED
    assert "answers" not in found and generator.seen == []


def test_expanded_queries_fit_haystacks_retriever_for_many() -> None:
    pipeline = Pipeline()
    pipeline.add_component("expander", RagIntrinsicsQueryExpander())
    pipeline.add_component("retriever", MultiQueryTextRetriever(retriever=retriever()))
    pipeline.add_component("ranker", RagIntrinsicsRanker(top_k=1))
    pipeline.connect("expander.queries", "retriever.queries")
    pipeline.connect("retriever.documents", "ranker.documents")
    found = pipeline.run({"expander": {"query": QUESTION}, "ranker": {"query": QUESTION}})
    assert [d.id for d in found["ranker"]["documents"]] == ["mill"]


class TestSaved:
    @pytest.mark.parametrize("name", COMPONENTS)
    @pytest.mark.parametrize("runtime", [None, {"kind": "embedded"}, WITH_KEY])
    def test_a_pipeline_loads_without_allowed_modules(self, name: str, runtime: Any) -> None:
        pipeline = Pipeline()
        pipeline.add_component("it", built(name, runtime=runtime, on_error="raise", date="May 1, 2025"))
        saved = pipeline.dumps()
        again = Pipeline.loads(saved)
        assert again.dumps() == saved
        component = again.get_component("it")
        assert type(component) is COMPONENTS[name]
        assert component.runtime == runtime
        assert component.date == "May 1, 2025"

    def test_a_whole_pipeline_runs_the_same_after_loading(self) -> None:
        pipeline = chat(FAITHFUL)
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
            RagIntrinsicsAnswerCheck(checks="citations", citations=None),
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
