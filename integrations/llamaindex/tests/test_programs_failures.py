"""Programs in which a judge is down, or replies nonsense: paid answers stay, gates do as told, evaluators say so."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from llama_index.core.base.response.schema import Response
from llama_index.core.evaluation import BatchEvalRunner
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.evaluation.rag_intrinsics import IntrinsicEvaluator
from llama_index.postprocessor.rag_intrinsics import ContextRelevancePostprocessor, IntrinsicsRerank
from llama_index.query_transform.rag_intrinsics import QueryRewriteTransform
from llama_index.response_synthesizers.rag_intrinsics import AnswerabilityGate, AnswerCheck

from integrations.llamaindex.tests.llms import BOTH, FAITHFUL, QUESTION, JudgeLLM, Says, nodes
from integrations.llamaindex.tests.test_programs_retrieval import Gives
from intrinsics_core import BlockingRuntime, InvalidInput, RuntimeUnavailable
from intrinsics_core.profiles.prompted import PROFILE
from tests.contract.judge import judge
from tests.scripted import Scripted


def down(*intrinsics: str) -> Scripted:
    """A judge that is out for some intrinsics, or for all."""

    def script(request: Any) -> Any:
        out = not intrinsics or request.intrinsic in intrinsics
        return RuntimeUnavailable("connection refused") if out else judge(request)

    return Scripted(script)


AFTER = ("citations", "hallucination-detection")


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("streaming", [False, True])
def test_9_an_answer_that_was_paid_for_is_kept(asynchronous: bool, streaming: bool) -> None:
    engine = RetrieverQueryEngine(
        Gives(nodes()), AnswerabilityGate(Says(FAITHFUL, streaming=streaming), check=BOTH, runtime=down(*AFTER))
    )

    async def asked() -> Any:
        response: Any = await engine.aquery(QUESTION)
        return await response.get_response() if streaming else response

    whole: Any = asyncio.run(asked()) if asynchronous else engine.query(QUESTION)
    whole = whole.get_response() if streaming and not asynchronous else whole
    assert whole.response.strip() == FAITHFUL
    found = whole.metadata["rag_intrinsics"]
    assert found["answerability"]["label"] == "answerable"
    assert all("connection refused" in found[name]["degraded"] for name in BOTH)
    assert found["hallucination_detection"]["label"] == "NA" and found["citations"]["citations"] == []


def test_9_not_even_a_broken_runtime_of_the_users_costs_it() -> None:
    class Broken(BlockingRuntime):
        profile = PROFILE

        def handle(self, requests: Any) -> Any:
            raise KeyError("a bug in my runtime")

    said = Says(FAITHFUL).synthesize(QUESTION, nodes())
    response: Any = AnswerCheck(BOTH, runtime=Broken()).check(QUESTION, said)
    assert response.response == FAITHFUL
    assert "a bug in my runtime" in response.metadata["rag_intrinsics"]["citations"]["degraded"]


def test_9_who_wants_the_failure_gets_it() -> None:
    strict = AnswerabilityGate(Says(FAITHFUL), check=AnswerCheck(BOTH, on_error="raise", runtime=down(*AFTER)))
    with pytest.raises(RuntimeUnavailable):
        strict.synthesize(QUESTION, nodes())
    with pytest.raises(RuntimeUnavailable):
        AnswerCheck(BOTH, runtime=down(), on_error="raise").check(QUESTION, Response(FAITHFUL, nodes()))


def test_9_a_wrong_runtime_is_told_before_an_answer_is_paid_for() -> None:
    inner = Says(FAITHFUL)
    with pytest.raises(InvalidInput, match="kind"):
        AnswerabilityGate(inner, check=AnswerCheck(runtime={"kind": "no such kind"}))
    assert inner.asked == 0


@pytest.mark.parametrize(
    ("on_error", "answered"), [("raise", None), ("fallback", True), ("open", True), ("closed", False)]
)
def test_9_the_gate_has_one_vocabulary(on_error: str, answered: bool | None) -> None:
    inner = Says(FAITHFUL)
    grounded = AnswerabilityGate(inner, check=BOTH, runtime=down("answerability"), on_error=on_error)
    if answered is None:
        with pytest.raises(RuntimeUnavailable):
            grounded.synthesize(QUESTION, nodes())
    else:
        response: Any = grounded.synthesize(QUESTION, nodes())
        assert (inner.asked == 1) is answered
        assert "connection refused" in response.metadata["rag_intrinsics"]["answerability"]["degraded"]


@pytest.mark.parametrize(
    "build",
    [
        lambda how: IntrinsicsRerank(on_error=how),
        lambda how: ContextRelevancePostprocessor(on_error=how),
        lambda how: QueryRewriteTransform(on_error=how),
        lambda how: IntrinsicEvaluator("hallucination-detection", on_error=how),
        lambda how: AnswerCheck(BOTH, on_error=how),
        lambda how: AnswerabilityGate(Says(""), check=BOTH, on_error=how),
        lambda how: AnswerabilityGate(Says(""), check=AnswerCheck(BOTH, on_error=how)),
    ],
)
def test_9_a_wrong_choice_is_told_when_it_is_made(build: Any) -> None:
    with pytest.raises(InvalidInput, match="on_error is unknown; expected one of raise, fallback"):
        build("ignore")
    build("fallback")


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("intrinsic", ["answerability", "context-relevance", "fact-check", "hallucination-detection"])
def test_9_15_an_outage_is_no_pass(intrinsic: str, asynchronous: bool) -> None:
    evaluator, response = IntrinsicEvaluator(intrinsic, runtime=down()), Response(FAITHFUL, source_nodes=nodes())
    if asynchronous:
        found = asyncio.run(evaluator.aevaluate_response(QUESTION, response))
    else:
        found = evaluator.evaluate_response(QUESTION, response)
    assert (found.passing, found.invalid_result) == (None, True)
    assert "connection refused" in found.invalid_reason and "connection refused" in found.feedback


def test_9_15_one_outage_does_not_cost_the_run() -> None:
    asked: list[Any] = []

    def script(request: Any) -> Any:
        asked.append(request)
        return RuntimeUnavailable("connection refused") if len(asked) == 2 else judge(request)

    runner = BatchEvalRunner(
        {"faithful": IntrinsicEvaluator("hallucination-detection", runtime=Scripted(script))}, workers=1
    )
    found = runner.evaluate_responses([QUESTION] * 3, [Response(FAITHFUL, source_nodes=nodes())] * 3)["faithful"]
    assert sorted((r.passing, r.invalid_result) for r in found if r.passing) == [(True, False), (True, False)]
    assert len(asked) == 3 and [r.passing for r in found if r.invalid_result] == [None]


def test_15_a_threshold_decides_where_one_is_set() -> None:
    given: dict[str, Any] = {"query": QUESTION, "response": FAITHFUL, "contexts": [nodes()[1].get_content()]}
    for intrinsic in ("answerability", "context-relevance", "fact-check", "hallucination-detection"):
        score = IntrinsicEvaluator(intrinsic).evaluate(**given).score
        assert IntrinsicEvaluator(intrinsic, threshold=score).evaluate(**given).passing is True
        more = min(1.0, (score or 0) + 0.01)
        assert IntrinsicEvaluator(intrinsic, threshold=more).evaluate(**given).passing is False
        with pytest.raises(ValueError, match="threshold"):
            IntrinsicEvaluator(intrinsic, threshold=2)


@pytest.mark.parametrize("answer", ["Yes.", "yes", "No."])
def test_15_a_bare_yes_is_judged_together_with_its_question(answer: str) -> None:
    contexts = ["Ada Brink built the tide mill at Port Ellery in 1911.", "The ferry to Gull Rock leaves at nine."]
    known = IntrinsicEvaluator("hallucination-detection").evaluate(
        "Did Ada Brink build the tide mill in 1911?", answer, contexts
    )
    invented = IntrinsicEvaluator("hallucination-detection").evaluate(
        "Does the zeppelin fly to Paris?", answer, contexts
    )
    assert known.passing is (answer != "No.")  # the documents say yes
    assert not invented.passing and known.score is not None and invented.score is not None
    # what the documents deny is worse than what they do not know of
    assert known.score < invented.score if answer == "No." else known.score > invented.score
    (row,) = known.verdict["sentences"]
    assert answer[row["begin"] : row["end"]] == row["text"] == answer  # offsets of what was given
    assert known.response == answer


def test_15_a_language_model_tells_yes_from_no() -> None:
    def reply(messages: Any, options: Any) -> Any:
        asked, wrong = "Did Ada Brink build the mill?" in str(messages), "No." in str(messages)
        said = "unfaithful" if asked and wrong else "faithful"
        return {"sentences": [{"id": "r0", "reason": "Ada Brink built it.", "faithfulness": said}]}

    evaluator = IntrinsicEvaluator("hallucination-detection", runtime=JudgeLLM(reply=reply))
    asked, contexts = "Did Ada Brink build the mill?", ["Ada Brink built the mill."]
    assert evaluator.evaluate(asked, "Yes.", contexts).passing is True
    assert evaluator.evaluate(asked, "No.", contexts).passing is False


def test_14_malformed_lists_of_an_llm_do_not_cost_the_ranking() -> None:
    replies = iter(['{"ranking": [2, 2, 9, 1]}'])
    llm = JudgeLLM(reply=lambda messages, options: next(replies))
    ranked = IntrinsicsRerank(runtime=llm).postprocess_nodes(nodes(), query_str=QUESTION)
    assert sorted(n.node_id for n in ranked) == ["cranes", "fog", "mill"] and len(llm.seen) == 1
    garbled = IntrinsicsRerank(runtime=MockLLM(), on_error="fallback")
    kept = garbled.postprocess_nodes(nodes(), query_str=QUESTION)
    assert [n.score for n in kept] == [n.score for n in nodes()]


def test_14_a_cap_on_what_is_shown_of_a_node_is_told() -> None:
    [first, *rest] = nodes()
    long = [NodeWithScore(node=TextNode(text=first.node.get_content() * 90), score=first.score), *rest]
    llm = JudgeLLM(reply=lambda messages, options: {"ranking": ["1", "0", "2"]})
    ranked = IntrinsicsRerank(runtime=llm).postprocess_nodes(long, query_str=QUESTION)
    assert {n.metadata["reranking_cut"] for n in ranked} == {1}
