"""Audit, revise, rate and cite in a pipeline: everything about an answer, and what to do with it."""

from __future__ import annotations

import asyncio
import math
import re
from typing import Any

import pytest
from haystack import Document, Pipeline, component
from haystack.components.builders import AnswerBuilder
from haystack.dataclasses import ChatMessage, StreamingCallbackT, StreamingChunk, ToolCall, ToolCallDelta
from haystack.evaluation import EvaluationRunResult
from haystack_integrations.components.evaluators.rag_intrinsics import RagIntrinsicsEvaluator
from haystack_integrations.components.validators.rag_intrinsics import RagIntrinsicsAnswerCheck, RagIntrinsicsReviser

from integrations.haystack.tests.scripts import FAITHFUL, INVENTED, QUESTION, chat, documents, judging
from intrinsics_core import InvalidInput, RuntimeUnavailable
from intrinsics_core.protocol.results import Citations
from intrinsics_core.render.citations import MODES, parse, restored
from tests.contract.judge import judge
from tests.contract.scripts import no_judge
from tests.scripted import Scripted

BOTH = f"{FAITHFUL} {INVENTED}"


def given(*replies: Any) -> dict[str, Any]:
    return {"query": QUESTION, "replies": list(replies) or [BOTH], "documents": documents()}


@pytest.mark.parametrize("asynchronous", [False, True])
def test_20_an_audit_is_one_request_and_builds_the_answer(asynchronous: bool) -> None:
    runtime = judging()
    pipeline = Pipeline()
    pipeline.add_component("audit", RagIntrinsicsAnswerCheck(runtime))
    pipeline.add_component("answers", AnswerBuilder(reference_pattern=r"\[(\d+)\]"))
    pipeline.connect("audit.replies", "answers.replies")
    data = {"audit": given(), "answers": {"query": QUESTION, "documents": documents()}}
    found = asyncio.run(pipeline.run_async(data)) if asynchronous else pipeline.run(data)
    [answer] = found["answers"]["answers"]
    assert len(runtime.requests) == 1
    assert answer.data == f"Ada Brink built the mill in 1911 [2]. {INVENTED}"
    assert [d.id for d in answer.documents] == ["mill"]
    audit = answer.meta["rag_intrinsics"]["audit"]
    assert [s["label"] for s in audit["sentences"]] == ["faithful", "unfaithful"]
    assert audit["answerability"]["label"] == "answerable" and audit["certainty"] is not None
    for sentence in audit["sentences"]:
        assert BOTH[sentence["begin"] : sentence["end"]] == sentence["text"]


def test_20_an_audit_of_nothing_and_by_a_judge_that_is_down() -> None:
    call = ChatMessage.from_assistant(tool_calls=[ToolCall(tool_name="send", arguments={}, id="1")])
    nothing = RagIntrinsicsAnswerCheck().run(query=QUESTION, replies=["", call, FAITHFUL], documents=[])
    assert [r["audit"]["reason"] for r in nothing["results"]] == ["nothing said", "nothing said", "nothing retrieved"]
    assert nothing["replies"][1].tool_calls == call.tool_calls
    down = no_judge()
    found = RagIntrinsicsAnswerCheck(down).run(**given())
    assert found["replies"][0].text == BOTH and "refused" in found["results"][0]["audit"]["degraded"]
    with pytest.raises(RuntimeUnavailable):
        RagIntrinsicsAnswerCheck(down, on_error="raise").run(**given())


def test_20_positions_are_those_of_the_list_that_came_in() -> None:
    twice = [documents()[0], documents()[0], documents()[1]]
    found = RagIntrinsicsAnswerCheck(judging()).run(query=QUESTION, replies=[FAITHFUL], documents=twice)
    assert found["replies"][0].text == "Ada Brink built the mill in 1911 [3]."
    [row] = found["results"][0]["audit"]["sentences"][0]["citations"]
    assert row["document_index"] == 2


@pytest.mark.parametrize("asynchronous", [False, True])
def test_21_an_answer_is_revised_by_what_a_checker_found(asynchronous: bool) -> None:
    runtime = judging()
    pipeline = Pipeline()
    pipeline.add_component("checker", RagIntrinsicsAnswerCheck(checks="hallucination-detection", runtime=runtime))
    pipeline.add_component("reviser", RagIntrinsicsReviser(runtime))
    pipeline.add_component("citations", RagIntrinsicsAnswerCheck(checks="citations", runtime=runtime))
    pipeline.connect("checker.replies", "reviser.replies")
    pipeline.connect("reviser.replies", "citations.replies")
    rest = {"query": QUESTION, "documents": documents()}
    data = {"checker": given(), "reviser": rest, "citations": rest}
    told = {"reviser"}
    found = (
        asyncio.run(pipeline.run_async(data, include_outputs_from=told))
        if asynchronous
        else pipeline.run(data, include_outputs_from=told)
    )
    [reply] = found["citations"]["replies"]
    assert reply.text == "Ada Brink built the mill in 1911 [2]."
    [result] = found["reviser"]["results"]
    [change] = result["changes"]
    assert BOTH[change["begin"] : change["end"]] == change["before"] and change["why"]
    assert set(reply.meta["rag_intrinsics"]) == {"revise", "citations", "about"}  # nothing about a text that is no more
    # Judged once before and once after: the checker's verdicts were not asked for again.
    assert [r.intrinsic for r in runtime.requests].count("hallucination-detection") == 2


def test_21_what_stands_is_left_alone() -> None:
    call = ChatMessage.from_assistant(tool_calls=[ToolCall(tool_name="send", arguments={}, id="1")])
    reply = ChatMessage.from_assistant(FAITHFUL, meta={"model": "m"})
    found = RagIntrinsicsReviser().run(**given(reply, call, ""))
    assert [r.text for r in found["replies"]] == [FAITHFUL, None, ""]
    assert found["replies"][0].meta["model"] == "m" and found["results"][0]["changes"] == []
    empty = RagIntrinsicsReviser().run(**given(INVENTED))
    assert empty["replies"][0].text == "" and "no sentence" in empty["results"][0]["reason"]


@pytest.mark.parametrize("mode", MODES)
def test_22_citations_in_four_modes_are_read_back(mode: Any) -> None:
    twice = [documents()[0], documents()[0], *documents()[1:]]
    builder = RagIntrinsicsAnswerCheck(checks="citations", runtime=judging(), citations=mode, style="json")
    found = builder.run(query=QUESTION, replies=[f"{FAITHFUL} Port Ellery has two cranes."], documents=twice)
    shown = parse(found["replies"][0].text)
    assert shown.response == f"{FAITHFUL} Port Ellery has two cranes." and len(shown.references) == 2
    if mode == "inline-snippet":
        plain = [{"text": d.content, "id": d.id} for d in documents()]
        dump = Citations.model_validate(found["results"][0]["citations"])
        again = restored(shown, plain).citations
        assert [(c.document_id, c.document_begin, c.response_begin) for c in again] == [
            (c.document_id, c.document_begin, c.response_begin) for c in dump.citations
        ]
    with pytest.raises(InvalidInput, match="citations"):
        RagIntrinsicsAnswerCheck(checks="citations", citations="footnote")  # type: ignore[arg-type]
    pipeline = Pipeline()
    pipeline.add_component("it", RagIntrinsicsAnswerCheck(checks="citations", citations=mode, style="json"))
    assert Pipeline.loads(pipeline.dumps()).dumps() == pipeline.dumps()


@pytest.mark.parametrize("asynchronous", [False, True])
def test_23_answers_rated_metric_by_metric(asynchronous: bool) -> None:
    rows: dict[str, Any] = {
        "questions": [QUESTION] * 3,
        "contexts": [[FAITHFUL]] * 3,
        "predicted_answers": [FAITHFUL, INVENTED, ""],
    }
    evaluator = RagIntrinsicsEvaluator("evaluate", judging())
    found = asyncio.run(evaluator.run_async(**rows)) if asynchronous else evaluator.run(**rows)
    report = EvaluationRunResult("mine", inputs=rows, results={"all": found, **found["metrics"]})
    names = report.aggregated_report()["metrics"]  # type: ignore[index,call-overload]
    assert names == ["all", "faithfulness", "instruction-following", "coherence", "completeness"]
    assert [r["status"] for r in found["results"]] == ["evaluated", "evaluated", "nothing to judge"]
    right, wrong, silent = found["individual_scores"]
    assert right > wrong and math.isnan(silent)
    report.detailed_report()
    quotes = [q for m in found["results"][0]["metrics"] for s in m["statements"] for q in s["citations"]]
    assert quotes and all(q["text"] in FAITHFUL or q["text"] in QUESTION for q in quotes)
    alone = RagIntrinsicsEvaluator("evaluate").run(**rows)
    assert set(alone["metrics"]) >= {"faithfulness"}
    with pytest.raises(InvalidInput, match="metrics"):
        RagIntrinsicsEvaluator("evaluate", options={"metrics": "beauty"})


def test_23_one_row_that_fails_is_one_row() -> None:
    def sometimes(request: Any) -> Any:
        return RuntimeUnavailable("refused") if INVENTED in str(request) else judge(request)

    rows: dict[str, Any] = {
        "questions": [QUESTION] * 2,
        "contexts": [[Document(content=FAITHFUL)]] * 2,
        "predicted_answers": [FAITHFUL, INVENTED],
    }
    found = RagIntrinsicsEvaluator("evaluate", Scripted(sometimes)).run(**rows)
    assert [r["status"] for r in found["results"]] == ["evaluated", "error"]
    assert math.isnan(found["metrics"]["faithfulness"]["individual_scores"][1])


class TestStreams:
    """What a UI hears while the model writes."""

    def heard(self, pipeline: Pipeline, asynchronous: bool) -> list[Any]:
        chunks: list[Any] = []

        async def aheard(chunk: Any) -> None:
            chunks.append(chunk)

        tell = aheard if asynchronous else chunks.append
        data = {"rewriter": {"query": QUESTION}, "watch": {"streaming_callback": tell}}
        asyncio.run(pipeline.run_async(data)) if asynchronous else pipeline.run(data)
        return chunks

    @pytest.mark.parametrize("asynchronous", [False, True])
    @pytest.mark.parametrize("runtime", [None, judging])
    def test_24_verdicts_come_with_the_sentences(self, runtime: Any, asynchronous: bool) -> None:
        said = f"{BOTH} The tide mill stands on the east quay."
        chunks = self.heard(chat(said, runtime and runtime(), stream="chunks"), asynchronous)
        text = "".join(chunk.content for chunk in chunks)
        assert text == said
        told = [(i, s) for i, c in enumerate(chunks) for s in c.meta.get("rag_intrinsics", {}).get("sentences", [])]
        assert [s["label"] for _, s in told] == ["faithful", "unfaithful", "faithful"]  # as many pieces as sentences
        for at, sentence in told[:-1]:
            before = "".join(chunk.content for chunk in chunks[:at])
            assert text[sentence["begin"] : sentence["end"]] == sentence["text"] and len(before) < len(text)
        audit = chunks[-1].meta["rag_intrinsics"]["audit"]
        assert [s["label"] for s in audit["sentences"]] == ["faithful", "unfaithful", "faithful"]

    @pytest.mark.parametrize("asynchronous", [False, True])
    def test_24_a_judge_that_is_down_ends_no_stream(self, asynchronous: bool) -> None:
        def late(request: Any) -> Any:
            return RuntimeUnavailable("refused") if "audit" in request.intrinsic else judge(request)

        chunks = self.heard(chat(BOTH, Scripted(late), stream="chunks"), asynchronous)
        assert "".join(chunk.content for chunk in chunks) == BOTH
        assert "refused" in chunks[-1].meta["rag_intrinsics"]["audit"]["degraded"]

    def test_24_a_pipeline_without_a_callback(self) -> None:
        pipeline = chat(BOTH, stream="hold")
        found = pipeline.run({"rewriter": {"query": QUESTION}})
        assert found["answers"]["answers"][0].data.startswith("Ada Brink built the mill in 1911 [1].")
        assert Pipeline.loads(pipeline.dumps()).to_dict()["components"] == pipeline.to_dict()["components"]

    @pytest.mark.parametrize("kind", ["function", "object", "async function", "async object"])
    def test_any_callback_hears_all_chunks_and_what_follows_the_end(self, kind: str) -> None:
        """`stream_options={"include_usage": True}` sends a chunk behind the one with `finish_reason`."""
        chunks: list[Any] = []

        class Heard:
            def __call__(self, chunk: Any) -> None:
                chunks.append(chunk)

        class AsyncHeard:
            async def __call__(self, chunk: Any) -> None:
                chunks.append(chunk)

        tell = {"function": chunks.append, "object": Heard(), "async function": AsyncHeard().__call__,
                "async object": AsyncHeard()}[kind]  # fmt: skip
        auditor = RagIntrinsicsAnswerCheck()
        callback: Any = auditor.run(QUESTION, [Document(content=FAITHFUL)], streaming_callback=tell)[
            "streaming_callback"
        ]
        sent = [StreamingChunk(f"{FAITHFUL} ", index=0), StreamingChunk(INVENTED, index=0),
                StreamingChunk("", finish_reason="stop"), StreamingChunk("", meta={"usage": {"total_tokens": 9}}),
                StreamingChunk("", finish_reason="stop")]  # fmt: skip

        async def stream() -> None:
            for chunk in sent:
                await callback(chunk)

        if kind.startswith("async"):
            asyncio.run(stream())
        else:
            for chunk in sent:
                callback(chunk)
        told = [chunk.meta["rag_intrinsics"] for chunk in chunks if "rag_intrinsics" in chunk.meta]
        assert [chunk for chunk in chunks if "rag_intrinsics" not in chunk.meta] == sent
        assert [len(piece.get("sentences", ())) for piece in told] == [1, 1, 0]
        assert [s["label"] for s in told[-1]["audit"]["sentences"]] == ["faithful", "unfaithful"]

    @pytest.mark.parametrize("last", [{"finish_reason": "stop"}, {"done": True}, {"stop_reason": "end_turn"}])
    def test_the_end_that_stands_in_the_meta_is_an_end(self, last: dict[str, Any]) -> None:
        chunks: list[Any] = []
        made = RagIntrinsicsAnswerCheck().run(QUESTION, [Document(content=FAITHFUL)], streaming_callback=chunks.append)
        callback: Any = made["streaming_callback"]
        callback(StreamingChunk(FAITHFUL))
        callback(StreamingChunk("", meta=last))
        assert chunks[-1].meta["rag_intrinsics"]["audit"]["label"] == "faithful"

    @pytest.mark.parametrize("asynchronous", [False, True])
    def test_a_sentence_can_be_held_back_until_it_is_judged(self, asynchronous: bool) -> None:
        seen, labels = "", []
        for chunk in self.heard(chat(BOTH, stream="hold"), asynchronous):
            labels += [s["label"] for s in chunk.meta.get("rag_intrinsics", {}).get("sentences", [])]
            if labels == ["faithful"]:
                assert "umbrellas" not in seen  # a callback that raises at the next label has not shown it
            seen += chunk.content
        assert (seen, labels) == (BOTH, ["faithful", "unfaithful"])

    @pytest.mark.parametrize("hold", [False, True])
    def test_a_call_of_a_tool_is_no_end_and_nothing_is_lost(self, hold: bool) -> None:
        chunks: list[Any] = []
        callback: Any = RagIntrinsicsAnswerCheck(stream="hold" if hold else "chunks").run(
            QUESTION, [Document(content=FAITHFUL)], streaming_callback=chunks.append
        )["streaming_callback"]
        call = StreamingChunk("", tool_calls=[ToolCallDelta(index=0, tool_name="search", arguments="{}")], index=0)
        sent = [call, StreamingChunk("", finish_reason="tool_calls"), StreamingChunk(FAITHFUL[:9], start=True, index=1),
                StreamingChunk(FAITHFUL[9:]), StreamingChunk("", finish_reason="stop"),
                StreamingChunk("", meta={"usage": {"total_tokens": 9}})]  # fmt: skip
        for chunk in sent:
            callback(chunk)
        assert "".join(chunk.content for chunk in chunks) == FAITHFUL and chunks[0] is call
        assert [c.finish_reason for c in chunks if c.finish_reason] == ["tool_calls", "stop"]
        assert sum(chunk.start for chunk in chunks) == 1 and chunks[-1] is sent[-1]
        [audit] = [c.meta["rag_intrinsics"]["audit"] for c in chunks if "audit" in c.meta.get("rag_intrinsics", {})]
        assert audit["label"] == "faithful"

    @pytest.mark.parametrize("hold", [False, True])
    @pytest.mark.parametrize("asynchronous", [False, True])
    def test_each_answer_of_a_stream_is_audited(self, hold: bool, asynchronous: bool) -> None:
        """An Agent that is told to answer again streams its second answer, too."""
        chunks: list[Any] = []

        async def aheard(chunk: Any) -> None:
            chunks.append(chunk)

        callback: Any = RagIntrinsicsAnswerCheck(stream="hold" if hold else "chunks").run(
            QUESTION, [Document(content=FAITHFUL)], streaming_callback=aheard if asynchronous else chunks.append
        )["streaming_callback"]
        for text in (FAITHFUL, INVENTED, BOTH):
            for piece in (*re.findall(r"\S+\s*", text), ""):
                told = callback(StreamingChunk(piece, finish_reason=None if piece else "stop"))
                if asynchronous:
                    asyncio.run(told)
        audits = [c.meta["rag_intrinsics"]["audit"] for c in chunks if "audit" in c.meta.get("rag_intrinsics", {})]
        assert [[s["label"] for s in audit["sentences"]] for audit in audits] == [
            ["faithful"],
            ["unfaithful"],
            ["faithful", "unfaithful"],
        ]
        said, seen = "", list[str]()
        for chunk in chunks:
            seen += [s["text"] for s in chunk.meta.get("rag_intrinsics", {}).get("sentences", [])]
            said += chunk.content
            if hold:  # no sentence is shown before its verdict
                assert len(said.split()) <= len(" ".join(seen).split())
        assert said == FAITHFUL + INVENTED + BOTH and len(seen) == 4

    @pytest.mark.parametrize("hold", [False, True])
    @pytest.mark.parametrize("way", ["delta", "reason", "meta", "with text"])
    def test_words_before_a_call_are_no_part_of_the_answer(self, hold: bool, way: str) -> None:
        chunks: list[Any] = []
        callback: Any = RagIntrinsicsAnswerCheck(stream="hold" if hold else "chunks").run(
            QUESTION, [Document(content=FAITHFUL)], streaming_callback=chunks.append
        )["streaming_callback"]
        last = "up" if way == "with text" else ""
        call = {
            "delta": StreamingChunk("", tool_calls=[ToolCallDelta(index=0, tool_name="search")], index=0),
            "meta": StreamingChunk("", meta={"stop_reason": "tool_use"}),
        }.get(way, StreamingChunk(last, finish_reason="tool_calls"))
        words = "I will look it up"
        for chunk in (StreamingChunk(words.removesuffix(last)), call, StreamingChunk(f"{FAITHFUL} {INVENTED}"),
                      StreamingChunk("", finish_reason="stop")):  # fmt: skip
            callback(chunk)
        answer = f"{FAITHFUL} {INVENTED}"
        assert "".join(chunk.content for chunk in chunks) == words + answer
        told = [s for c in chunks for s in c.meta.get("rag_intrinsics", {}).get("sentences", [])]
        assert [s["text"] for s in told if s["text"] != words] == [FAITHFUL, INVENTED]
        assert all(answer[s["begin"] : s["end"]] == s["text"] for s in told if s["text"] != words)
        assert (told[0]["text"] == words) is hold  # what is held back is judged before it is shown
        assert sum("audit" in chunk.meta.get("rag_intrinsics", {}) for chunk in chunks) == 1

    @pytest.mark.parametrize("hold", [False, True])
    @pytest.mark.parametrize("asynchronous", [False, True])
    def test_a_stream_that_names_no_end_is_ended_by_what_runs_behind_it(self, hold: bool, asynchronous: bool) -> None:
        chunks = self.heard(chat(Endless(), stream="hold" if hold else "chunks"), asynchronous)
        assert "".join(chunk.content for chunk in chunks) == BOTH
        audit = chunks[-1].meta["rag_intrinsics"]["audit"]
        assert [s["label"] for s in audit["sentences"]] == ["faithful", "unfaithful"]
        told = [s for c in chunks for s in c.meta.get("rag_intrinsics", {}).get("sentences", [])]
        assert len(told) == 2


@component
class Endless:
    """A generator whose stream names no reason to end, as some local ones do."""

    def _chunks(self) -> list[StreamingChunk]:
        return [StreamingChunk(word, meta={"model": "local"}) for word in re.findall(r"\S+\s*", BOTH)]

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], streaming_callback: StreamingCallbackT | None = None) -> dict[str, Any]:
        for chunk in self._chunks():
            if streaming_callback:
                streaming_callback(chunk)
        return {"replies": [ChatMessage.from_assistant(BOTH)]}

    @component.output_types(replies=list[ChatMessage])
    async def run_async(
        self, messages: list[ChatMessage], streaming_callback: StreamingCallbackT | None = None
    ) -> dict[str, Any]:
        for chunk in self._chunks():
            if streaming_callback:
                await streaming_callback(chunk)  # type: ignore[misc]
        return {"replies": [ChatMessage.from_assistant(BOTH)]}
