"""What each component does beyond the contract."""

import asyncio
import copy
import inspect
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from haystack import Document
from haystack.components.builders import AnswerBuilder
from haystack.dataclasses import ChatMessage
from haystack_integrations.components.query.rag_intrinsics import RagIntrinsicsQueryRewriter
from haystack_integrations.components.rankers.rag_intrinsics import (
    RagIntrinsicsContextRelevanceFilter,
    RagIntrinsicsRanker,
)
from haystack_integrations.components.routers.rag_intrinsics import RagIntrinsicsAnswerabilityRouter
from haystack_integrations.components.validators.rag_intrinsics import RagIntrinsicsAnswerCheck

from integrations.haystack.tests.adapter import COMPONENTS
from integrations.haystack.tests.generators import SyncGenerator
from integrations.haystack.tests.scripts import FAITHFUL, INVENTED, QUESTION, documents, judging
from intrinsics_core import InvalidInput
from tests.contract.scripts import no_judge
from tests.scripted import Scripted


@pytest.mark.parametrize("kind", dict.fromkeys(COMPONENTS.values()))
def test_run_and_run_async_look_alike(kind: Any) -> None:
    assert inspect.signature(kind.run) == inspect.signature(kind.run_async)
    assert ":param query:" in kind.run.__doc__ and "```python" in kind.__doc__


@pytest.mark.parametrize("kind", dict.fromkeys(COMPONENTS.values()))
def test_nothing_is_loaded_before_it_is_needed(kind: Any) -> None:
    component = kind()
    assert not component._engine._holders
    component.warm_up()
    runtime = component._ready()
    component.warm_up()
    asyncio.run(component.warm_up_async())
    assert list(component._engine._holders) == [component] and component._ready() is runtime
    component.close()
    assert not component._engine._holders
    asyncio.run(component.close_async())


def test_a_runtime_of_the_callers_is_left_open() -> None:
    closed: list[str] = []

    class Closing(Scripted):
        def close(self) -> None:
            closed.append("closed")

    ranker = RagIntrinsicsRanker(Closing(judging().script))
    ranker.run(query=QUESTION, documents=documents())
    ranker.close()
    assert closed == []


def test_a_runtime_that_threads_and_components_share_is_closed_once_and_last() -> None:
    generator = SyncGenerator()
    ranker, router = RagIntrinsicsRanker(generator), RagIntrinsicsAnswerabilityRouter(generator)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda part: part.warm_up(), [ranker, router] * 8))
    ranker.close()
    ranker.close()
    assert "close" not in generator.life
    router.close()
    assert generator.life.count("close") == 1


def test_a_key_inside_a_config_of_configs_is_not_saved() -> None:
    server = {"kind": "server", "base_url": "http://127.0.0.1:9/v1", "api_key": "sk-inside-0123456789"}
    config = {"kind": "mixed", "routes": {"answerability": server, "*": {"kind": "embedded"}}}
    ranker = RagIntrinsicsRanker(config)
    for text in (str(ranker.to_dict()), repr(vars(ranker)), repr(ranker.runtime), repr(vars(ranker._engine))):
        assert "sk-inside" not in text
    assert server["api_key"] == "sk-inside-0123456789"
    assert ranker.run(query=QUESTION, documents=documents())["documents"][0].id == "mill"


def test_a_component_can_be_copied() -> None:
    ranker = RagIntrinsicsRanker({"kind": "embedded"}, top_k=1)
    ranker.warm_up()
    again = copy.deepcopy(ranker)
    assert again.to_dict() == ranker.to_dict()
    assert again.run(query=QUESTION, documents=documents()) == ranker.run(query=QUESTION, documents=documents())


class TestRanker:
    def test_top_k(self) -> None:
        ranker = RagIntrinsicsRanker(judging(), top_k=2)
        assert ranker.run(query=QUESTION, documents=documents())["documents"][0].id == "mill"
        assert len(ranker.run(query=QUESTION, documents=documents())["documents"]) == 2
        assert len(ranker.run(query=QUESTION, documents=documents(), top_k=1)["documents"]) == 1

    @pytest.mark.parametrize("top_k", [0, -1, True, 1.5])
    def test_a_wrong_top_k(self, top_k: Any) -> None:
        with pytest.raises(InvalidInput, match="top_k"):
            RagIntrinsicsRanker(top_k=top_k)
        with pytest.raises(InvalidInput, match="top_k"):
            RagIntrinsicsRanker(judging()).run(query=QUESTION, documents=documents(), top_k=top_k)

    @pytest.mark.parametrize(("how", "calls"), [({}, 1), ({"mode": "pairwise"}, 3), ({"mode": "pointwise"}, 3)])
    def test_how_a_model_ranks_is_a_choice(self, how: dict[str, Any], calls: int) -> None:
        runtime = judging()
        found = RagIntrinsicsRanker(runtime, **how).run(query=QUESTION, documents=documents())["documents"]
        assert len(runtime.requests) == calls and found[0].id == "mill"

    @pytest.mark.parametrize("how", [{"mode": "bubble"}])
    def test_a_wrong_choice_is_named_when_built(self, how: dict[str, Any]) -> None:
        with pytest.raises(InvalidInput, match=next(iter(how))):
            RagIntrinsicsRanker(**how)

    def test_score_threshold(self) -> None:
        found = RagIntrinsicsRanker(judging(), mode="pointwise", score_threshold=0.7).run(
            query=QUESTION, documents=documents()
        )
        assert [d.id for d in found["documents"]] == ["mill"]
        at_run_time = RagIntrinsicsRanker(judging(), mode="pointwise", score_threshold=1.0).run(
            query=QUESTION, documents=documents(), score_threshold=0.7
        )
        assert at_run_time == found
        filtered = RagIntrinsicsContextRelevanceFilter(judging(), score_threshold=0.0)
        kept = filtered.run(query=QUESTION, documents=documents(), score_threshold=0.7)["documents"]
        assert [d.id for d in kept] == ["mill"]

    @pytest.mark.parametrize("kind", [RagIntrinsicsRanker, RagIntrinsicsContextRelevanceFilter])
    @pytest.mark.parametrize("threshold", [float("nan"), float("inf"), "high"])
    def test_a_threshold_that_nothing_reaches_is_refused(self, kind: Any, threshold: Any) -> None:
        with pytest.raises(InvalidInput, match="score_threshold is no number"):
            kind(score_threshold=threshold)
        with pytest.raises(InvalidInput, match="score_threshold is no number"):
            kind(judging()).run(query=QUESTION, documents=documents(), score_threshold=threshold)

    def test_a_document_that_two_retrievers_found_is_ranked_once(self) -> None:
        found = RagIntrinsicsRanker(judging()).run(query=QUESTION, documents=[*documents(), *documents()])["documents"]
        assert sorted(d.id for d in found) == ["cranes", "fog", "mill"]

    def test_earlier_verdicts_stay(self) -> None:
        kept = RagIntrinsicsContextRelevanceFilter(judging()).run(query=QUESTION, documents=documents())["documents"]
        [best, *_] = RagIntrinsicsRanker(judging()).run(query=QUESTION, documents=kept)["documents"]
        assert (best.meta["context_relevance"], best.meta["reranking_rank"], best.score) == ("relevant", 1, 1.0)
        assert best.meta["page"] == 7

    @pytest.mark.parametrize(
        ("inputs", "named"),
        [
            ({"query": None, "documents": []}, "query"),
            ({"query": QUESTION, "documents": ["text"]}, r"documents\[0\]"),
            ({"query": QUESTION, "documents": documents(), "history": ["hello"]}, r"history\[0\]"),
            ({"query": "  ", "documents": documents()}, "empty"),
        ],
    )
    def test_bad_input_is_named(self, inputs: Any, named: str) -> None:
        with pytest.raises(InvalidInput, match=named):
            RagIntrinsicsRanker(judging()).run(**inputs)


class TestFilter:
    def test_labels_and_threshold(self) -> None:
        every = ("relevant", "partially relevant", "irrelevant")
        kept = RagIntrinsicsContextRelevanceFilter(judging(), labels=every).run(query=QUESTION, documents=documents())
        assert [d.id for d in kept["documents"]] == ["cranes", "mill", "fog"]
        assert [j["document_id"] for j in kept["result"]["judgements"]] == ["cranes", "mill", "fog"]
        high = RagIntrinsicsContextRelevanceFilter(judging(), labels=every, score_threshold=0.8)
        assert [d.id for d in high.run(query=QUESTION, documents=documents())["documents"]] == ["mill"]

    def test_the_score_is_the_callers_where_the_judgement_failed(self) -> None:
        down = no_judge()
        kept = RagIntrinsicsContextRelevanceFilter(down, on_error="fallback", score_threshold=0.9)
        found = kept.run(query=QUESTION, documents=documents())["documents"]
        assert [d.score for d in found] == [None, 0.25, None]


class TestRouter:
    def test_two_ways(self) -> None:
        router = RagIntrinsicsAnswerabilityRouter(judging())
        assert [d.id for d in router.run(query=QUESTION, documents=documents())["answerable"]] == [
            "cranes",
            "mill",
            "fog",
        ]
        other = router.run(query="How tall is the lighthouse?", documents=documents())
        assert other["unanswerable"] == "How tall is the lighthouse?" and "answerable" not in other

    @pytest.mark.parametrize(("settings", "way"), [({}, "unanswerable"), ({"block_unsure": False}, "answerable")])
    def test_an_unsure_verdict_stops_a_question_unless_asked_otherwise(
        self, settings: dict[str, Any], way: str
    ) -> None:
        never = {"kind": "embedded", "thresholds": {"answerability": {"answerable": 0.99}}}  # nothing is that sure
        router = RagIntrinsicsAnswerabilityRouter(never, **settings)
        found = router.run(query=QUESTION, documents=documents())
        assert (set(found), found["result"]["unsure"]) == ({way, "result"}, True)
        assert found["result"]["label"] == "unanswerable"


class TestReplies:
    @pytest.mark.parametrize("asynchronous", [False, True])
    def test_several_replies_each_have_their_verdict(self, asynchronous: bool) -> None:
        checker = RagIntrinsicsAnswerCheck(checks="hallucination-detection", runtime=judging())
        replies = [FAITHFUL, ChatMessage.from_assistant(INVENTED, meta={"model": "m"})]
        inputs: Any = {"query": QUESTION, "replies": replies, "documents": documents()}
        output = asyncio.run(checker.run_async(**inputs)) if asynchronous else checker.run(**inputs)
        assert [r["hallucination_detection"]["label"] for r in output["results"]] == ["faithful", "unfaithful"]
        assert [r.text for r in output["replies"]] == [FAITHFUL, INVENTED]
        assert output["replies"][1].meta["model"] == "m"
        assert replies[1].meta == {"model": "m"}  # type: ignore[union-attr]

    def test_no_replies(self) -> None:
        output = RagIntrinsicsAnswerCheck(checks="hallucination-detection", runtime=judging()).run(
            query=QUESTION, replies=[], documents=documents()
        )
        assert output == {"replies": [], "results": []}

    def test_one_text_is_no_list(self) -> None:
        with pytest.raises(InvalidInput, match="replies"):
            RagIntrinsicsAnswerCheck(checks="hallucination-detection", runtime=judging()).run(
                query=QUESTION,
                replies="text",  # type: ignore[arg-type]
                documents=documents(),
            )

    def test_a_reply_of_a_user(self) -> None:
        with pytest.raises(InvalidInput, match="role"):
            RagIntrinsicsAnswerCheck(checks="hallucination-detection", runtime=judging()).run(
                query=QUESTION, replies=[ChatMessage.from_user(FAITHFUL)], documents=documents()
            )

    def test_fact_check_reads_as_it_is_told(self) -> None:
        one = RagIntrinsicsAnswerCheck(
            checks="fact-check", runtime=judging(), options={"fact-check": {"top_k": 1}}
        ).run(query=QUESTION, replies=[FAITHFUL], documents=documents())
        assert [s["weight"] for s in one["results"][0]["fact_check"]["sources"]] == [0.0, 1.0, 0.0]

    def test_history_is_read(self) -> None:
        history = [ChatMessage.from_user("Is there a lighthouse?"), ChatMessage.from_assistant("There is.")]
        runtime = judging()
        RagIntrinsicsQueryRewriter(runtime).run(query="How tall is it?", history=history)
        assert "Is there a lighthouse?" in runtime.waves[0][0].messages[-1].content  # type: ignore[union-attr,index]


class TestCitations:
    def cited(self, text: str, found: list[Document], **settings: Any) -> Any:
        builder = RagIntrinsicsAnswerCheck(checks="citations", runtime=judging(), **settings)
        return builder.run(query=QUESTION, replies=[text], documents=found)

    def test_markers_make_answer_builder_find_the_documents(self) -> None:
        output = self.cited(f"{FAITHFUL} {INVENTED} Port Ellery has two cranes!", documents())
        [reply] = output["replies"]
        expected = f"Ada Brink built the mill in 1911 [2]. {INVENTED} Port Ellery has two cranes [1]!"
        assert reply.text == expected
        builder = AnswerBuilder(reference_pattern=r"\[(\d+)\]")
        [answer] = builder.run(query=QUESTION, replies=output["replies"], documents=documents())["answers"]
        assert [(d.id, d.meta["source_index"]) for d in answer.documents] == [("cranes", 1), ("mill", 2)]
        assert answer.meta["rag_intrinsics"]["citations"] == output["results"][0]["citations"]

    def test_two_sources_of_one_sentence(self) -> None:
        twice = [documents()[1], Document(id="again", content="Ada Brink built the mill in 1911.")]
        [reply] = self.cited(FAITHFUL, twice)["replies"]
        assert reply.text == "Ada Brink built the mill in 1911 [1][2]."

    def test_without_markers(self) -> None:
        [reply] = self.cited(FAITHFUL, documents(), citations=None)["replies"]
        assert reply.text == FAITHFUL
        assert reply.meta["rag_intrinsics"]["citations"]["citations"]

    def test_nothing_to_cite(self) -> None:
        [reply] = self.cited(INVENTED, documents())["replies"]
        assert reply.text == INVENTED
