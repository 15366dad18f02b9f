"""Evaluators, as LlamaIndex's own are used."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from llama_index.core.base.response.schema import Response
from llama_index.core.evaluation import BatchEvalRunner, EvaluationResult
from llama_index.core.llms import ChatMessage
from llama_index.evaluation.rag_intrinsics import IntrinsicEvaluator
from llama_index.evaluation.rag_intrinsics.evaluator import _faithfulness

from integrations.llamaindex.tests.llms import FAITHFUL, INVENTED, QUESTION, Traced, judging, nodes, texts
from intrinsics_core import InvalidInput, RuntimeUnavailable, context_relevance, run
from intrinsics_core.protocol.results import HallucinationDetection, SentenceVerdict
from tests.contract.scripts import no_judge

CONTEXTS = [node.text for node in texts()]
ALL = ["answerability", "context-relevance", "fact-check", "hallucination-detection", "uncertainty"]


def evaluated(evaluator: Any, asynchronous: bool, **given: Any) -> Any:
    return asyncio.run(evaluator.aevaluate(**given)) if asynchronous else evaluator.evaluate(**given)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_hallucination(asynchronous: bool) -> None:
    evaluator = IntrinsicEvaluator("hallucination-detection", runtime=judging())
    good = evaluated(evaluator, asynchronous, query=QUESTION, response=FAITHFUL, contexts=CONTEXTS)
    assert (good.passing, good.feedback, good.invalid_result) == (True, "faithful", False)
    assert (good.query, good.response, good.contexts) == (QUESTION, FAITHFUL, CONTEXTS)
    bad = evaluated(evaluator, asynchronous, query=QUESTION, response=f"{FAITHFUL} {INVENTED}", contexts=CONTEXTS)
    assert not bad.passing and bad.score < good.score
    assert f"unfaithful: {INVENTED} (0.0 of its words are in the documents)" in bad.feedback
    assert isinstance(bad, EvaluationResult)


def test_one_flagged_sentence_fails_a_response_that_is_faithful_on_the_whole() -> None:
    whole = HallucinationDetection(
        label="faithful",
        score=0.8,
        sentences=(
            SentenceVerdict(begin=0, end=2, text="A.", label="faithful", score=0.9),
            SentenceVerdict(begin=3, end=5, text="B.", label="unfaithful", score=0.1),
        ),
    )
    assert _faithfulness(whole) == (False, 0.8, "faithful\nunfaithful: B.")


@pytest.mark.parametrize("asynchronous", [False, True])
def test_answerability(asynchronous: bool) -> None:
    evaluator = IntrinsicEvaluator("answerability", runtime=judging())
    assert evaluated(evaluator, asynchronous, query=QUESTION, contexts=CONTEXTS).passing
    other = evaluated(evaluator, asynchronous, query="How many zebras does the circus own?", contexts=CONTEXTS)
    assert (other.passing, other.feedback) == (False, "unanswerable")
    assert other.score == other.verdict["probability"] <= 0.5


@pytest.mark.parametrize("asynchronous", [False, True])
def test_relevance_is_the_cores_and_the_best_context_counts(asynchronous: bool) -> None:
    evaluator = IntrinsicEvaluator("context-relevance", runtime=judging())
    found = evaluated(evaluator, asynchronous, query=QUESTION, contexts=CONTEXTS)
    core = run(context_relevance([{"role": "user", "content": QUESTION}], CONTEXTS), judging())
    assert found.verdict == core.model_dump(mode="json")
    assert found.passing and found.score == max(j.score or 0 for j in core.judgements)
    assert found.feedback.splitlines() == ["0: irrelevant", "1: relevant", "2: irrelevant"]
    assert not evaluated(evaluator, asynchronous, query=QUESTION, contexts=[CONTEXTS[0]]).passing


@pytest.mark.parametrize("asynchronous", [False, True])
def test_fact_check_and_its_threshold(asynchronous: bool) -> None:
    given = {"query": QUESTION, "response": FAITHFUL, "contexts": CONTEXTS}
    found = evaluated(IntrinsicEvaluator("fact-check", runtime=judging(), top_k=1), asynchronous, **given)
    assert found.passing and [s["weight"] for s in found.verdict["sources"]] == [0.0, 1.0, 0.0]
    assert found.feedback.startswith("1: supports it with")
    strict = IntrinsicEvaluator("fact-check", runtime=judging(), top_k=1, threshold=1.0)
    assert evaluated(strict, asynchronous, **{**given, "response": INVENTED}).passing is False
    with pytest.raises(InvalidInput, match="top_p"):
        IntrinsicEvaluator("fact-check", top_p=3.0)
    with pytest.raises(InvalidInput, match="did you mean 'threshold'"):
        IntrinsicEvaluator("fact-check", treshold=0.5)


def test_uncertainty_before_and_after_an_answer() -> None:
    evaluator = IntrinsicEvaluator("uncertainty", runtime=judging())
    after = evaluator.evaluate(query=QUESTION, response=FAITHFUL, contexts=CONTEXTS)
    assert after.passing and after.score == after.verdict["certainty"] == 0.95
    before = evaluator.evaluate(query=QUESTION)
    assert before.contexts == [] and before.score < 0.5 and before.passing is False


@pytest.mark.parametrize("intrinsic", ALL)
def test_evaluate_works_inside_a_running_loop(intrinsic: str) -> None:
    async def main() -> Any:
        return IntrinsicEvaluator(intrinsic, runtime=judging()).evaluate(
            query=QUESTION, response=FAITHFUL, contexts=CONTEXTS
        )

    assert asyncio.run(main()).score is not None


@pytest.mark.parametrize("intrinsic", ALL)
def test_a_response_is_read_with_the_ids_of_its_nodes(intrinsic: str) -> None:
    evaluator, response = (
        IntrinsicEvaluator(intrinsic, runtime=judging()),
        Response(FAITHFUL, source_nodes=[*nodes(), *nodes()]),
    )
    found = evaluator.evaluate_response(QUESTION, response)
    again = asyncio.run(evaluator.aevaluate_response(query=QUESTION, response=response))
    assert found == again
    rows = found.verdict.get("judgements") or found.verdict.get("sources")
    if rows:  # a node that was found twice is one source
        assert [row["document_id"] for row in rows] == ["cranes", "mill", "fog"]


def test_the_turns_before_count() -> None:
    history = [ChatMessage("Tell me about the mill."), ChatMessage("It is old.", role="assistant")]
    evaluator = IntrinsicEvaluator("answerability", runtime=judging())
    alone = evaluator.evaluate(query="Who built it, and when?", contexts=CONTEXTS)
    whole = evaluator.evaluate(query="Who built it, and when?", contexts=CONTEXTS, chat_history=history)
    assert whole.score != alone.score


def test_a_fallback_is_an_invalid_result_with_its_reason() -> None:
    down = no_judge()
    found = IntrinsicEvaluator("answerability", runtime=down, on_error="closed").evaluate(
        query=QUESTION, contexts=CONTEXTS
    )
    assert (found.passing, found.score, found.invalid_result) == (None, None, True)
    assert "connection refused" in found.invalid_reason
    with pytest.raises(RuntimeUnavailable):
        IntrinsicEvaluator("answerability", runtime=down, on_error="raise").evaluate(query=QUESTION, contexts=CONTEXTS)


def test_in_a_batch_runner() -> None:
    runner = BatchEvalRunner(
        {
            "faithful": IntrinsicEvaluator("hallucination-detection", runtime=judging()),
            "factual": IntrinsicEvaluator("fact-check", runtime=judging()),
        },
        workers=4,
    )
    responses = [Response(text, source_nodes=nodes()) for text in (FAITHFUL, INVENTED)]
    found = runner.evaluate_responses([QUESTION, QUESTION], responses)
    assert [r.passing for r in found["faithful"]] == [True, False]
    assert found["factual"][0].score > found["factual"][1].score


@pytest.mark.parametrize("given", [{}, {"query": QUESTION}, {"query": "", "contexts": CONTEXTS}])
def test_what_is_missing_is_named(given: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=r"query= is missing|contexts= is missing|messages"):
        IntrinsicEvaluator("answerability").evaluate(**given)


@pytest.mark.parametrize("contexts", ["Ada Brink built the mill.", 3])
def test_contexts_that_are_no_list_are_refused(contexts: Any) -> None:
    with pytest.raises(InvalidInput, match="contexts is not a list; expected a list of the texts or nodes"):
        IntrinsicEvaluator("hallucination-detection").evaluate(query=QUESTION, response=FAITHFUL, contexts=contexts)


def test_it_is_a_span() -> None:
    with Traced() as traced:
        IntrinsicEvaluator("answerability", runtime=judging()).evaluate(query=QUESTION, contexts=CONTEXTS)
    assert "IntrinsicEvaluator.evaluate" in traced.parents()
