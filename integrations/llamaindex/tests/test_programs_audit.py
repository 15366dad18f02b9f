"""Programs that look at an answer whole: audited engines, verdicts while tokens pass, answers put right, ratings."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from llama_index.core.base.response.schema import PydanticResponse, Response
from llama_index.core.evaluation import BatchEvalRunner
from llama_index.core.llms import ChatMessage
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.tools import QueryEngineTool, ToolMetadata
from llama_index.evaluation.rag_intrinsics import IntrinsicEvaluator
from llama_index.rag_intrinsics import ConversationQuery
from llama_index.response_synthesizers.rag_intrinsics import AnswerabilityGate, AnswerCheck, Reviser, cited
from pydantic import BaseModel

from integrations.llamaindex.tests.llms import (
    BOTH,
    FAITHFUL,
    INVENTED,
    QUESTION,
    Says,
    judging,
    nodes,
    searching,
    streamed,
)
from intrinsics_core import InvalidInput, RuntimeUnavailable, audit, run
from tests.contract.scripts import no_judge

ANSWER = f"{FAITHFUL} {INVENTED}"


def engine(inner: Says) -> RetrieverQueryEngine:
    return RetrieverQueryEngine(searching(k=2), inner)


def checked(check: AnswerCheck, inner: Says, asynchronous: bool) -> tuple[list[str], Any]:
    """The tokens of a streaming answer that is checked, and the response when they have come."""

    async def main() -> Any:
        return await streamed(check.acheck(QUESTION, await inner.asynthesize(QUESTION, nodes())))

    if asynchronous:
        return asyncio.run(main())
    response: Any = check.check(QUESTION, inner.synthesize(QUESTION, nodes()))
    return list(response.response_gen), response


@pytest.mark.parametrize("asynchronous", [False, True])
def test_an_engine_is_audited_in_one_line(asynchronous: bool) -> None:
    runtime = judging()
    audited = AnswerCheck(runtime=runtime).as_query_engine(engine(Says(ANSWER)))
    response: Any = asyncio.run(audited.aquery(QUESTION)) if asynchronous else audited.query(QUESTION)
    assert response.response == ANSWER
    assert len([request for wave in runtime.waves for request in wave]) == 1  # one request for everything
    found = response.metadata["rag_intrinsics"]["audit"]
    assert found["answerability"]["label"] == "answerable"
    assert [s["label"] for s in found["sentences"]] == ["faithful", "unfaithful"]
    (cited,) = found["sentences"][0]["citations"]
    assert cited["document_id"] == "mill"
    assert set(response.metadata["rag_intrinsics"]) == {"about", "audit"}


def test_it_goes_wherever_an_engine_goes_and_never_costs_the_answer() -> None:
    down = no_judge()
    audited = AnswerCheck(runtime=down).as_query_engine(engine(Says(ANSWER)))
    tool = QueryEngineTool(audited, ToolMetadata("What the archive knows.", "archive"))
    output = tool.call(QUESTION)
    assert output.content == ANSWER
    assert "connection refused" in output.raw_output.metadata["rag_intrinsics"]["audit"]["degraded"]
    assert audited.retrieve(ConversationQuery(QUESTION))[0].node_id == "mill"
    assert "text_qa_template" in str(audited.get_prompts()) or audited.get_prompts() == {}


# --- verdicts while tokens pass -----------------------------------------------------------------------------------


@pytest.mark.parametrize("asynchronous", [False, True])
def test_each_sentence_is_judged_as_it_closes(asynchronous: bool) -> None:
    inner = Says(f"{ANSWER} So it goes.", streaming=True)
    grounded = AnswerabilityGate(inner, check=AnswerCheck(BOTH, stream="sentences"))
    before_the_end: list[list[str]] = []

    def look(response: Any) -> None:
        rows = response.metadata["rag_intrinsics"].get("sentences", ())
        before_the_end.append([row["label"] for row in rows])

    async def main() -> Any:
        response: Any = await grounded.asynthesize(QUESTION, nodes())
        async for _ in response.async_response_gen():
            look(response)
            # Tokens do not wait for verdicts; this reader does, so that nothing hangs on how fast a judge is.
            if others := asyncio.all_tasks() - {asyncio.current_task()}:
                await asyncio.wait(others)
        return response

    if asynchronous:
        response = asyncio.run(main())
    else:
        response = grounded.synthesize(QUESTION, nodes())
        for _ in response.response_gen:
            look(response)
    assert ["faithful"] in before_the_end  # before the last token had come
    found = response.metadata["rag_intrinsics"]
    assert [row["label"] for row in found["sentences"]][:2] == ["faithful", "unfaithful"]
    # The end carries everything, the same as without a stream.
    whole: Any = AnswerabilityGate(Says(f"{ANSWER} So it goes. "), check=BOTH).synthesize(QUESTION, nodes())
    for name in ("answerability", *BOTH):
        assert found[name] == whole.metadata["rag_intrinsics"][name]


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize(
    "answer",
    [FAITHFUL, ANSWER, f"{ANSWER} Fog is common from March to May. The end", f"{ANSWER}\n\n- Two cranes.\n", ""],
)
@pytest.mark.parametrize("audited", [False, True])
def test_each_sentence_of_a_stream_gets_its_verdict_the_last_one_too(
    answer: str, asynchronous: bool, audited: bool
) -> None:
    inner = Says(answer, streaming=True)
    check = AnswerCheck("audit" if audited else BOTH, stream="sentences", runtime=judging())
    _, response = checked(check, inner, asynchronous)
    found = response.metadata["rag_intrinsics"]
    whole = found["audit" if audited else "hallucination_detection"]["sentences"]
    pieces = found["sentences"]
    assert [(row["begin"], row["end"], row["text"]) for row in pieces] == [
        (row["begin"], row["end"], row["text"]) for row in whole
    ]
    assert {row["label"] for row in pieces} <= {"faithful", "unfaithful", "NA"}


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_judge_that_is_out_while_tokens_pass_stops_no_token(asynchronous: bool) -> None:
    down = no_judge()
    inner = Says(ANSWER, streaming=True)
    tokens, response = checked(AnswerCheck(BOTH, stream="sentences", runtime=down), inner, asynchronous)
    assert "".join(tokens).strip() == ANSWER
    assert "connection refused" in response.metadata["rag_intrinsics"]["citations"]["degraded"]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_sentence_can_be_held_back_until_it_is_judged(asynchronous: bool) -> None:
    check = AnswerCheck(BOTH, stream="hold", runtime=judging())
    grounded: Any = AnswerabilityGate(Says(ANSWER, streaming=True), check=check, runtime=judging())
    seen, steps = "", []

    async def main() -> None:
        nonlocal seen
        response: Any = await grounded.asynthesize(QUESTION, nodes())
        async for token in response.async_response_gen():
            steps.append((seen, [row["label"] for row in response.metadata["rag_intrinsics"]["sentences"]]))
            seen += token

    if asynchronous:
        asyncio.run(main())
    else:
        response = grounded.synthesize(QUESTION, nodes())
        for token in response.response_gen:
            steps.append((seen, [row["label"] for row in response.metadata["rag_intrinsics"]["sentences"]]))
            seen += token
    assert seen.strip() == ANSWER
    # When the text of a sentence comes, its verdict is there.
    assert [labels for _, labels in steps] == [["faithful"], ["faithful", "unfaithful"]]
    with pytest.raises(InvalidInput, match="did you mean 'hold'"):
        AnswerCheck(BOTH, stream="holt")


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_judge_that_is_out_holds_nothing_back_for_good(asynchronous: bool) -> None:
    down = no_judge()
    inner = Says(ANSWER, streaming=True)
    tokens, _ = checked(AnswerCheck(BOTH, stream="hold", runtime=down), inner, asynchronous)
    assert "".join(tokens).strip() == ANSWER


def test_an_audited_stream() -> None:
    response: Any = (
        AnswerCheck(stream="sentences").as_query_engine(engine(Says(ANSWER, streaming=True))).query(QUESTION)
    )
    assert "".join(response.response_gen).strip() == ANSWER
    assert set(response.metadata["rag_intrinsics"]) == {"sentences", "audit"}
    turns = [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": f"{ANSWER} "}]
    documents = [{"id": n.node_id, "text": n.text, "title": t} for n, t in
                 ((n, n.metadata.get("title")) for n in (s.node for s in response.source_nodes))]  # fmt: skip
    core = run(audit(turns, documents)).model_dump(mode="json")
    assert [s["label"] for s in response.metadata["rag_intrinsics"]["audit"]["sentences"]] == [
        s["label"] for s in core["sentences"]
    ]


# --- answers that are blocked -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("says", [FAITHFUL, INVENTED])
def test_an_unfaithful_answer_is_blocked_before_any_of_it_is_shown(
    says: str, streaming: bool, asynchronous: bool
) -> None:
    check, inner = AnswerCheck(mode="block", text="That was not in the archive."), Says(says, streaming=streaming)
    if streaming:
        tokens, response = checked(check, inner, asynchronous)
        shown = tokens[0].strip()
        assert len(tokens) == 1
    elif asynchronous:
        response = asyncio.run(check.acheck(QUESTION, inner.synthesize(QUESTION, nodes())))
        shown = response.response
    else:
        response = check.check(QUESTION, inner.synthesize(QUESTION, nodes()))
        shown = response.response
    found = response.metadata["rag_intrinsics"]
    assert shown == (FAITHFUL if says == FAITHFUL else "That was not in the archive.")
    assert ("canned" in found) is (says == INVENTED)
    assert found["audit"]["label"] == ("faithful" if says == FAITHFUL else "unfaithful")
    if not streaming:
        assert cited(response, "inline").startswith(shown)
        assert check.check(QUESTION, response).metadata["rag_intrinsics"].keys() == found.keys()


def test_blocking_takes_a_verdict_on_sentences_and_a_judge() -> None:
    with pytest.raises(InvalidInput, match="needs a verdict on each sentence"):
        AnswerCheck("citations", mode="block")
    with pytest.raises(RuntimeUnavailable):  # what might have to be blocked does not pass unjudged
        AnswerCheck(mode="block", runtime=no_judge()).check(QUESTION, Response(FAITHFUL, nodes()))
    blocked: Any = AnswerCheck(unretrieved="block").check(QUESTION, Response(FAITHFUL))
    assert blocked.response != FAITHFUL
    passed: Any = AnswerCheck(unretrieved="pass").check(QUESTION, Response(FAITHFUL))
    assert passed.response == FAITHFUL and passed.metadata["rag_intrinsics"] == {}
    structured: Any = AnswerCheck(mode="block").check(QUESTION, PydanticResponse(Painter(painter="Bob Ross"), nodes()))
    assert structured.painter is None and str(structured) == AnswerCheck().text


class Painter(BaseModel):
    """Who painted it."""

    painter: str


# --- answers put right ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("asynchronous", [False, True])
def test_what_was_made_up_is_taken_out(asynchronous: bool) -> None:
    reviser, response = Reviser(), Response(ANSWER, source_nodes=nodes(), metadata={"kept": 1})
    response = AnswerCheck(BOTH).check(QUESTION, response)
    revised = asyncio.run(reviser.arevise(QUESTION, response)) if asynchronous else reviser.revise(QUESTION, response)
    assert revised.response.strip() == FAITHFUL and response.response == ANSWER
    metadata = revised.metadata or {}
    assert metadata["kept"] == 1 and set(metadata["rag_intrinsics"]) == {"revise"}  # old verdicts were on the old text
    (change,) = metadata["rag_intrinsics"]["revise"]["changes"]
    assert ANSWER[change["begin"] : change["end"]] == change["before"] and INVENTED in change["before"]


def test_what_cannot_be_revised_is_told_or_stays() -> None:
    down = no_judge()
    kept = Reviser(runtime=down).revise(QUESTION, Response(ANSWER, source_nodes=nodes()))
    assert kept.response == ANSWER
    assert "connection refused" in (kept.metadata or {})["rag_intrinsics"]["revise"]["degraded"]
    with pytest.raises(InvalidInput, match="no text to revise"):
        Reviser().revise(QUESTION, PydanticResponse(None))
    with pytest.raises(InvalidInput, match="no text to revise"):
        Reviser().revise(QUESTION, Says(ANSWER, streaming=True).synthesize(QUESTION, nodes()))
    without: Any = Reviser().revise(QUESTION, Response(ANSWER))
    assert without.response == ANSWER
    assert without.metadata["rag_intrinsics"]["revise"]["reason"] == "nothing retrieved"


# --- ratings ------------------------------------------------------------------------------------------------------


def test_rated_metrics_in_a_batch() -> None:
    names = ("faithfulness", "coherence")
    runner = BatchEvalRunner(
        {name: IntrinsicEvaluator("evaluate", metrics=name, runtime=judging()) for name in names}, workers=2
    )
    found = runner.evaluate_responses([QUESTION], [Response(FAITHFUL, source_nodes=nodes())])
    for name in names:
        (result,) = found[name]
        assert result.feedback.startswith(f"{name}: ") and not result.invalid_result
        (metric,) = result.verdict["metrics"]
        assert metric["name"] == name and metric["explanation"]


def test_what_only_a_language_model_rates_is_not_rated_without_one() -> None:
    every = IntrinsicEvaluator("evaluate").evaluate(QUESTION, FAITHFUL, [FAITHFUL])
    assert every.passing is True  # by faithfulness
    assert [m["rating"] for m in every.verdict["metrics"]] == ["yes", None, None, None]
    assert "not rated" in every.feedback
    strict = IntrinsicEvaluator("evaluate", threshold=1.0).evaluate(QUESTION, FAITHFUL, [FAITHFUL])
    assert strict.passing is False and strict.score == every.score


def test_relevance_to_the_question_counts_the_conversation() -> None:
    evaluator = IntrinsicEvaluator("answer-relevance")
    assert evaluator.evaluate(QUESTION, FAITHFUL).passing
    assert not evaluator.evaluate(QUESTION, INVENTED).passing
    empty = evaluator.evaluate(QUESTION, "", chat_history=[ChatMessage("Hello.")])
    assert empty.passing is None and empty.feedback == "nothing said"
