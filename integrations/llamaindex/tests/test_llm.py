"""An LLM of LlamaIndex's as a runtime."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from llama_index.core.base.llms.types import LogProb
from llama_index.core.llms import ChatMessage, ChatResponse, MessageRole
from llama_index.rag_intrinsics import LLMRuntime

from integrations.llamaindex.tests.llms import CallingLLM, CompletingLLM, JudgeLLM, SchemaLLM, SetLLM
from intrinsics_core import (
    MalformedReply,
    RuntimeUnavailable,
    answerability,
    run,
    self_consistency,
)
from intrinsics_core.profiles.asking import data_of
from intrinsics_core.running.flows import rag
from intrinsics_core.runtimes.tools import Tools
from tests.contract.chat_model import DOCUMENTS, QUESTION, YES, ChatModelTests, always, ask, tokens_of


class TestLLM(ChatModelTests):
    def model(self, reply: Any, *, pause: float = 0.0) -> JudgeLLM:
        return JudgeLLM(reply=reply, pause=pause)

    def constrained(self, reply: Any) -> SchemaLLM:
        return SchemaLLM(reply=reply)

    def set_to(self, reply: Any, own: dict[str, Any]) -> SetLLM:
        further = {name: value for name, value in own.items() if name != "temperature"}
        return SetLLM(reply=reply, temperature=own["temperature"], additional_kwargs=further)

    def said(self, text: str, rows: list[dict[str, Any]]) -> ChatResponse:
        choice = {"finish_reason": "stop", "logprobs": {"content": rows}}
        usage = {"prompt_tokens": 50, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 40}}
        message = ChatMessage(text, role="assistant")
        return ChatResponse(message=message, raw={"choices": [choice], "usage": usage})

    def runtime(self, model: Any, **settings: Any) -> LLMRuntime:
        return LLMRuntime(model, **settings)


def test_turns_reach_the_llm_with_their_roles() -> None:
    llm = JudgeLLM(reply=always(YES))
    ask(LLMRuntime(llm))
    system, user = llm.seen[0]["messages"]
    assert (system.role, user.role) == (MessageRole.SYSTEM, MessageRole.USER)
    assert data_of(user.content)["documents"][0]["text"] == DOCUMENTS[0]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_function_calling_llm_is_constrained_by_a_function(asynchronous: bool) -> None:
    llm = CallingLLM(arguments=YES)
    assert ask(LLMRuntime(llm), asynchronous).probability == pytest.approx(0.8)
    (schema,) = llm.offered
    assert schema["properties"]["answerability"]["enum"] == ["answerable", "unanswerable"]
    assert repr(LLMRuntime(llm)) == "LLMRuntime(CallingLLM, JSON schema)"


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_function_called_wrongly_is_a_malformed_reply(asynchronous: bool) -> None:
    with pytest.raises(MalformedReply):
        ask(LLMRuntime(CallingLLM(arguments={"answerability": "perhaps"})), asynchronous)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_function_that_is_not_called_is_given_up_and_said(asynchronous: bool) -> None:
    llm = CallingLLM(arguments=None, said=json.dumps(YES))
    runtime = LLMRuntime(llm)
    with pytest.warns(RuntimeWarning, match="refuses JSON schema"):
        assert ask(runtime, asynchronous).label == "answerable"
    assert repr(runtime) == "LLMRuntime(CallingLLM, plain text)"


def test_an_error_of_the_server_is_no_refusal() -> None:
    runtime = LLMRuntime(SchemaLLM(reply=always(ConnectionError("cloud function crashed"))))
    with pytest.raises(RuntimeUnavailable):
        ask(runtime)
    assert "JSON schema" in repr(runtime)


def test_llamaindexs_own_lists_of_log_probabilities_are_read() -> None:
    options = {"answerable": 0.3, "unanswerable": 0.6}
    text, rows = tokens_of('{"answerability": "', options, "unanswerable", '", "confidence": 1.0}')
    lists = [[LogProb(token=t["token"], logprob=t["logprob"]) for t in row["top_logprobs"]] for row in rows]
    own = ChatResponse(message=ChatMessage(text, role="assistant"), logprobs=lists)
    assert ask(LLMRuntime(SchemaLLM(reply=always(own)))).probability == pytest.approx(0.3 / 0.9)
    cut = ChatResponse(message=ChatMessage(text, role="assistant"), logprobs=lists[1:])
    assert ask(LLMRuntime(SchemaLLM(reply=always(cut)))).probability == pytest.approx(0.0)  # as stated


@pytest.mark.parametrize(
    "rows", [None, {}, {"content": None}, {"content": [{"token": "x"}]}, "nonsense", {"content": 3}]
)
def test_odd_raw_replies_are_passed_over(rows: Any) -> None:
    message = ChatMessage(json.dumps(YES), role="assistant")
    for raw in ({"choices": [{"logprobs": rows}]}, {"choices": []}, {"choices": rows}, rows, {"usage": rows}):
        llm = SchemaLLM(reply=always(ChatResponse(message=message, raw=raw)))
        assert ask(LLMRuntime(llm)).probability == pytest.approx(0.8)


@pytest.mark.parametrize(
    "raw", [{"choices": [{"finish_reason": "length"}]}, {"stop_reason": "max_tokens"}, {"done_reason": "length"}]
)
def test_how_a_reply_ended_is_told(raw: Any) -> None:
    reply = ChatResponse(message=ChatMessage("Ada", role="assistant"), raw=raw)
    chain = Tools(LLMRuntime(JudgeLLM(reply=always(reply))), retrieve=lambda query: ["Ada keeps it."])
    question = [{"role": "user", "content": "Who keeps it?"}]
    found = run(rag(question, rewrite=False, gate=False, cite=False, detect=False, answer="model"), chain)
    assert (found.answer, found.degraded) == ("Ada", "the answer ended at the token limit")


def test_an_llm_is_copied_when_a_sample_changes_it_and_again_when_its_settings_change(monkeypatch: Any) -> None:
    copied, copy = list[Any](), SetLLM.model_copy

    def counted(self: SetLLM, **options: Any) -> Any:
        copied.append(options["update"])
        return copy(self, **options)

    monkeypatch.setattr(SetLLM, "model_copy", counted)
    topics = list[Any]()

    def reply(_: Any, settings: Any) -> Any:
        topics.append(settings.get("topic"))
        return {"reasoning": "", "answer": "1911"} | YES

    llm = SetLLM(reply=reply, temperature=0.0)
    runtime = LLMRuntime(llm)
    for _ in range(3):
        ask(runtime)
    assert copied == []
    for _ in range(2):
        run(self_consistency(QUESTION, samples=3), runtime)
    assert len(copied) == 3  # one for each sample's seed
    llm.additional_kwargs = {"topic": "mills"}
    topics.clear()
    run(self_consistency(QUESTION, samples=3), runtime)
    assert topics == ["mills"] * 3 and len(copied) == 6
    runtime.llm = SetLLM(reply=reply, temperature=1.0)
    run(self_consistency(QUESTION, samples=3), runtime)
    assert topics[3:] == [None] * 3 and len(copied) == 6


def test_braces_in_our_text_are_text() -> None:
    llm = CallingLLM(arguments=YES)
    call = answerability([{"role": "user", "content": "What does {query_str} {0} {{x}} mean?"}], ["{context}"])
    assert run(call, LLMRuntime(llm)).label == "answerable"


def test_an_llm_that_only_completes_is_kept_off_the_event_loop() -> None:
    llm = CompletingLLM(reply=json.dumps(YES))
    ask(LLMRuntime(llm), asynchronous=True)
    assert threading.get_ident() not in llm.threads
    ask(LLMRuntime(llm))
    assert llm.threads[-1] == threading.get_ident()
