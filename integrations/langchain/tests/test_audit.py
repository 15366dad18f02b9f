"""Audit, evaluator, reviser, and citations written into the text."""

from __future__ import annotations

import asyncio
import operator
from functools import reduce
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, ChatMessage, HumanMessage
from langchain_core.output_parsers import JsonOutputParser
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_rag_intrinsics import AnswerabilityGate, AnswerCheck, Reviser

from integrations.langchain.tests.scripts import FAITHFUL, INVENTED, QUESTION, documents, judging
from intrinsics_core import InvalidInput
from intrinsics_core.protocol import results as core
from intrinsics_core.render.citations import parse, restored

ANSWER = f"{FAITHFUL} {INVENTED}"
ASKED = {"question": QUESTION, "documents": documents(), "more": 1}


def given(answer: Any = ANSWER) -> dict[str, Any]:
    return {**ASKED, "answer": answer}


def verdicts(message: AIMessage) -> dict[str, Any]:
    found: dict[str, Any] = message.response_metadata["rag_intrinsics"]
    return found


def audit_of(message: AIMessage) -> dict[str, Any]:
    found: dict[str, Any] = verdicts(message)["audit"]
    return found


def summed(chunks: list[Any]) -> Any:
    return reduce(operator.add, chunks)


def sentences_in(chunk: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = chunk.response_metadata.get("rag_intrinsics", {}).get("sentences", [])
    return found


@pytest.mark.parametrize("key", ["answer", "response", "generation", "result"])
def test_an_audit_is_everything_about_the_answer(key: str) -> None:
    before = {**ASKED, key: AIMessage(ANSWER, id="a")}
    found = AnswerCheck(runtime=judging()).invoke(before)
    assert [s["label"] for s in audit_of(found)["sentences"]] == ["faithful", "unfaithful"]
    assert audit_of(found)["answerability"]["label"] == "answerable"
    assert (found.id, found.text) == ("a", ANSWER)
    (annotation,) = found.content_blocks[0]["annotations"]
    assert ANSWER[annotation["start_index"] : annotation["end_index"]] == FAITHFUL
    assert asyncio.run(AnswerCheck(runtime=judging()).ainvoke(before)) == found
    whole = AnswerCheck(runtime=judging(), return_result=True).invoke(before)
    assert isinstance(whole["audit"], core.Audit)
    kept = RunnablePassthrough.assign(answer=AnswerCheck(runtime=judging())).invoke(before)
    assert kept == {**before, "answer": found}


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("live", [False, True])
def test_an_audit_of_a_stream(asynchronous: bool, live: bool) -> None:
    writer = RunnableLambda(lambda x: x["question"]) | GenericFakeChatModel(messages=iter([ANSWER]))
    chain = RunnablePassthrough.assign(answer=writer) | AnswerCheck(runtime=judging(), live=live)

    async def collect() -> list[Any]:
        return [piece async for piece in chain.astream(ASKED)]

    chunks = asyncio.run(collect()) if asynchronous else list(chain.stream(ASKED))
    total, whole = summed(chunks), AnswerCheck(runtime=judging()).invoke(given())
    assert audit_of(total) == audit_of(whole)
    assert total.text == ANSWER
    assert total.content_blocks[0]["annotations"] == whole.content_blocks[0]["annotations"]
    early = [i for i, chunk in enumerate(chunks) if sentences_in(chunk)]
    assert bool(early) is live
    if live:  # the first sentence was judged before the second was written
        assert sentences_in(chunks[early[0]])[0]["text"] == FAITHFUL
        assert any("umbrellas" in chunk.text for chunk in chunks[early[0] :])


def test_an_audit_of_nothing_and_of_a_canned_answer() -> None:
    empty = AnswerCheck().invoke({"question": QUESTION, "documents": [], "answer": FAITHFUL})
    assert audit_of(empty)["label"] == "NA" and audit_of(empty)["reason"] == "nothing retrieved"
    runtime = judging()
    gate = AnswerabilityGate(runtime=judging(), otherwise="I do not know.")
    asked = {"question": "Which umbrellas?", "documents": documents()}
    refused = (gate | AnswerCheck(runtime=runtime)).invoke(asked)
    assert refused.text == "I do not know." and "audit" not in verdicts(refused)
    whole = (gate | AnswerCheck(runtime=runtime, return_result=True)).invoke(asked)
    assert whole["audit"].label == "NA" and runtime.requests == []


def test_what_is_cited_already_is_not_cited_twice() -> None:
    cited = AnswerCheck(checks="citations", runtime=judging()).invoke(given())
    audited = AnswerCheck(runtime=judging()).invoke(given(cited))
    assert audited.content_blocks == cited.content_blocks
    chain = RunnableLambda(lambda x: {**x, "answer": cited}) | AnswerCheck(runtime=judging())
    total = summed(list(chain.stream(ASKED)))
    assert len(total.content_blocks[0]["annotations"]) == 1


def test_an_answer_that_is_no_ai_message_is_judged_too() -> None:
    messages = [HumanMessage(QUESTION), ChatMessage(FAITHFUL, role="assistant")]
    asked = {"messages": messages, "documents": documents()}
    found = AnswerCheck(runtime=judging()).invoke(asked)
    assert found.text == FAITHFUL and audit_of(found)["label"] == "faithful"
    assert isinstance(Reviser(runtime=judging()).invoke(asked), core.RevisedAnswer)


# --- citations in the text --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["postfix", "postfix-snippet", "inline", "inline-snippet"])
@pytest.mark.parametrize("checks", ["citations", "audit"])
def test_citations_are_written_and_read_back(checks: str, mode: Any) -> None:
    component = AnswerCheck(checks=checks, runtime=judging(), citations=mode, style="json")
    message = component.invoke(given(AIMessage(ANSWER, id="a")))
    shown = parse(message.text)
    assert (shown.mode, shown.response, message.id) == (mode, ANSWER, "a")
    assert [r.context_id for r in shown.references] == ["mill"]
    passages = [{"id": d.id, "text": d.page_content} for d in documents()]
    if mode == "inline-snippet":
        (citation,) = restored(shown, passages).citations
        assert citation.response_text == FAITHFUL
    assert "".join(chunk.text for chunk in component.stream(given())) == message.text


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(ValueError, match="postfix"):
        AnswerCheck(checks="citations", citations="footnotes")


# --- evaluator --------------------------------------------------------------------------------------------------------


def test_an_evaluation_and_what_the_embedded_runtime_cannot_rate() -> None:
    rated = verdicts(AnswerCheck(checks="evaluate").invoke(given()))["evaluate"]["metrics"]
    by_name = {m["name"]: m for m in rated}
    assert by_name["faithfulness"]["rating"] == "no" and by_name["faithfulness"]["statements"]
    assert by_name["coherence"]["rating"] is None and by_name["coherence"]["reason"]
    with pytest.raises(InvalidInput, match="metrics is unknown"):
        AnswerCheck(checks="evaluate", options={"evaluate": {"metrics": ["beauty"]}})
    options = {"evaluate": {"metrics": "coherence"}}
    told = AnswerCheck(checks="evaluate", runtime=judging(), options=options).invoke(given())
    judged = verdicts(told)["evaluate"]["metrics"]
    assert [m["name"] for m in judged] == ["coherence"] and judged[0]["rating"] in ("yes", "no")


def test_an_evaluator_of_langsmith() -> None:
    """By LangSmith's own wrapper, on a run as it records one."""
    import datetime
    import uuid

    from langsmith.evaluation.evaluator import DynamicRunEvaluator
    from langsmith.schemas import Example, Run

    now = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    example = Example(id=uuid.uuid4(), inputs={"question": QUESTION}, created_at=now)
    outputs = {"answer": FAITHFUL, "documents": documents()}
    run = Run(id=uuid.uuid4(), name="app", start_time=now, run_type="chain", inputs={"question": QUESTION},
              outputs=outputs, trace_id=uuid.uuid4())  # fmt: skip
    found = DynamicRunEvaluator(AnswerCheck(checks="evaluate", runtime=judging()).for_langsmith()).evaluate_run(
        run, example
    )
    rows = {r.key: r for r in found["results"]}
    assert set(rows) == {"faithfulness", "instruction-following", "coherence", "completeness"}
    assert rows["faithfulness"].score is not None and 0 <= rows["faithfulness"].score <= 1


# --- reviser ----------------------------------------------------------------------------------------------------------


def test_what_the_documents_do_not_say_is_dropped_and_told() -> None:
    message = AIMessage(ANSWER, id="a", response_metadata={"model_name": "m"})
    judged = AnswerCheck(checks="hallucination-detection").invoke(given(message))
    found = Reviser().invoke(given(judged))
    assert (found.text, found.id, found.response_metadata["model_name"]) == (FAITHFUL, "a", "m")
    assert set(verdicts(found)) == {"revise"}  # the detector's verdict was of another text
    (change,) = verdicts(found)["revise"]["changes"]
    assert ANSWER[change["begin"] : change["end"]] == change["before"] and INVENTED in change["before"]
    assert message.text == ANSWER


def test_a_detectors_verdict_is_used_and_a_good_answer_stays() -> None:
    judged = AnswerCheck(checks="hallucination-detection", runtime=judging()).invoke(given(FAITHFUL))
    runtime = judging()
    found = Reviser(runtime=runtime).invoke(given(judged))
    assert found.text == FAITHFUL and runtime.requests == []
    assert set(verdicts(found)) == {"about", "hallucination_detection", "revise"}
    (piece,) = Reviser().stream(given())
    assert piece.text == FAITHFUL


def test_a_language_model_mends() -> None:
    runtime = judging()
    messages = [HumanMessage(QUESTION), AIMessage(ANSWER)]
    found = Reviser(runtime=runtime).invoke({"messages": messages, "documents": documents()})
    assert found.text.startswith(FAITHFUL) and found.text != ANSWER
    assert verdicts(found)["revise"]["changes"]
    assert (
        Reviser(runtime=judging(), mend=False).invoke({"messages": messages, "documents": documents()}).text == FAITHFUL
    )


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_streaming_answer_can_be_held_back_until_it_is_judged(asynchronous: bool) -> None:
    writer = RunnableLambda(lambda x: x["question"]) | GenericFakeChatModel(messages=iter([f"{ANSWER} {FAITHFUL}"]))
    chain = RunnablePassthrough.assign(answer=writer) | AnswerCheck(runtime=judging(), live=True, hold=True)

    async def collect() -> list[Any]:
        return [piece async for piece in chain.astream(ASKED)]

    chunks = asyncio.run(collect()) if asynchronous else list(chain.stream(ASKED))
    seen, labels = "", []
    for chunk in chunks:
        labels += [sentence["label"] for sentence in sentences_in(chunk)]
        if labels == ["faithful"]:
            assert "umbrellas" not in seen  # a reader that stops at the next label has not shown it
        seen += chunk.text
    assert labels == ["faithful", "unfaithful", "faithful"] and seen == f"{ANSWER} {FAITHFUL}"
    assert [bool(sentences_in(chunk)) for chunk in chunks if sentences_in(chunk) or chunk.text][:4] == [
        True, False, True, False,
    ]  # fmt: skip
    total = summed(chunks)
    assert total.text == seen and audit_of(total)["label"] == "unfaithful"


def test_what_is_held_back_is_not_lost() -> None:
    chunks = [{"question": QUESTION, "documents": documents()}, {"answer": AIMessageChunk(content="", id="a")},
              {"answer": AIMessageChunk(content=f"{FAITHFUL} It", id="a")},
              {"answer": AIMessageChunk(content=" is red", usage_metadata={"input_tokens": 1, "output_tokens": 2,
                                                                           "total_tokens": 3}, id="a")}]  # fmt: skip
    total = summed(list(AnswerCheck(runtime=judging(), live=True, hold=True).transform(iter(chunks))))
    assert (total.text, total.id, total.usage_metadata["total_tokens"]) == (f"{FAITHFUL} It is red", "a", 3)
    canned = AnswerabilityGate(runtime=judging(), otherwise="I do not know.") | AnswerCheck(live=True, hold=True)
    refused = list(canned.stream({"question": "Which umbrellas?", "documents": documents()}))
    assert "".join(chunk.text for chunk in refused) == "I do not know."
    with pytest.raises(InvalidInput, match="hold=True requires live=True"):
        AnswerCheck(hold=True)


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("live", [False, True])
def test_a_parser_that_gives_an_object_as_it_grows_streams(live: bool, asynchronous: bool) -> None:
    model = FakeListChatModel(responses=[f'{{"builder": "{FAITHFUL}", "shop": "{INVENTED}"}}'])
    answer = RunnableLambda(lambda given: given["question"]) | model | JsonOutputParser()
    chain = RunnablePassthrough.assign(answer=answer) | AnswerCheck(runtime=judging(), live=live, hold=live)

    async def collected() -> list[Any]:
        return [piece async for piece in chain.astream(ASKED)]

    chunks = asyncio.run(collected()) if asynchronous else list(chain.stream(ASKED))
    total = summed(chunks)
    assert [s["label"] for s in audit_of(total)["sentences"]] == ["faithful", "unfaithful"]
    assert [s["text"] for chunk in chunks for s in sentences_in(chunk)] == [FAITHFUL, INVENTED] * live
    assert total.text == f"{FAITHFUL}\n{INVENTED}"
    assert total.additional_kwargs["parsed"] == {"builder": FAITHFUL, "shop": INVENTED}
