"""An LLM of LlamaIndex's as a runtime."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from llama_index.core.base.llms.types import LogProb
from llama_index.core.llms import ChatMessage, ChatResponse, MessageRole
from llama_index.rag_intrinsics import LLMRuntime

from integrations.llamaindex.tests.llms import CallingLLM, CompletingLLM, JudgeLLM, SchemaLLM, with_logprobs
from intrinsics_core import (
    MalformedReply,
    RuntimeUnavailable,
    UnsupportedIntrinsic,
    answerability,
    run,
)
from intrinsics_core.profiles.asking import data_of
from intrinsics_core.protocol.requests import Embed, Generate
from tests.contract.chat_model import DOCUMENTS, YES, ChatModelTests, always, ask


class TestLLM(ChatModelTests):
    def model(self, reply: Any, *, pause: float = 0.0) -> JudgeLLM:
        return JudgeLLM(reply=reply, pause=pause)

    def constrained(self, reply: Any) -> SchemaLLM:
        return SchemaLLM(reply=reply)

    def runtime(self, model: Any, **settings: Any) -> LLMRuntime:
        return LLMRuntime(model, **settings)


def test_a_malformed_reply_of_an_llm_that_completes_carries_what_came() -> None:
    with pytest.raises(MalformedReply) as caught:
        ask(LLMRuntime(CompletingLLM(reply="Dunno.")))
    assert caught.value.raw == "Dunno."


def test_a_plain_llm_is_asked_in_words_and_read_leniently() -> None:
    llm = CompletingLLM(reply='Sure! ```json\n{"answerability": "answerable", "confidence": 0.8}\n```')
    assert ask(LLMRuntime(llm)).probability == pytest.approx(0.8)


def test_turns_reach_the_llm_with_their_roles_and_no_settings() -> None:
    llm = JudgeLLM(reply=always(YES))
    ask(LLMRuntime(llm))
    system, user = llm.seen[0]["messages"]
    assert (system.role, user.role) == (MessageRole.SYSTEM, MessageRole.USER)
    assert data_of(user.content)["documents"][0]["text"] == DOCUMENTS[0]
    assert llm.seen[0]["options"] == {}


def test_a_schema_llm_is_constrained() -> None:
    llm = SchemaLLM(reply=always(YES))
    assert ask(LLMRuntime(llm)).label == "answerable"
    named = llm.seen[0]["options"]["response_format"]["json_schema"]
    assert named["name"] == "answerability"
    assert named["schema"]["properties"]["answerability"]["enum"] == ["answerable", "unanswerable"]


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


def test_scores_come_from_log_probabilities() -> None:
    options = {"answerable": 0.3, "unanswerable": 0.6, "something": 0.1}
    reply = with_logprobs('{"answerability": "', options, "unanswerable", '", "confidence": 1.0}')
    llm = SchemaLLM(reply=always(reply))
    result = ask(LLMRuntime(llm))
    assert result.probability == pytest.approx(0.3 / 0.9)
    assert (llm.seen[0]["options"]["logprobs"], llm.seen[0]["options"]["top_logprobs"]) == (True, 20)
    assert llm.logprobs is None  # the caller's LLM keeps its settings
    assert result.usage is not None
    assert (result.usage.requests, result.usage.prompt_tokens, result.usage.completion_tokens) == (1, 50, 3)
    assert result.usage.cached_tokens == 40 and result.usage.seconds > 0


def test_llamaindexs_own_lists_of_log_probabilities_are_read() -> None:
    options = {"answerable": 0.3, "unanswerable": 0.6}
    reply = with_logprobs('{"answerability": "', options, "unanswerable", '", "confidence": 1.0}')
    rows = reply.raw["choices"][0]["logprobs"]["content"]
    lists = [[LogProb(token=t["token"], logprob=t["logprob"]) for t in row["top_logprobs"]] for row in rows]
    own = ChatResponse(message=reply.message, logprobs=lists)
    assert ask(LLMRuntime(SchemaLLM(reply=always(own)))).probability == pytest.approx(0.3 / 0.9)
    cut = ChatResponse(message=reply.message, logprobs=lists[1:])
    assert ask(LLMRuntime(SchemaLLM(reply=always(cut)))).probability == pytest.approx(0.0)  # as stated


def test_log_probabilities_of_another_text_are_not_believed() -> None:
    reply = with_logprobs('{"answerability": "', {"answerable": 0.01, "unanswerable": 0.99}, "unanswerable", '"}')
    reply.message = ChatMessage('{"answerability": "answerable", "confidence": 0.9}', role="assistant")
    assert ask(LLMRuntime(SchemaLLM(reply=always(reply)))).probability == pytest.approx(0.9)


@pytest.mark.parametrize(
    "rows", [None, {}, {"content": None}, {"content": [{"token": "x"}]}, "nonsense", {"content": 3}]
)
def test_odd_raw_replies_are_passed_over(rows: Any) -> None:
    message = ChatMessage(json.dumps(YES), role="assistant")
    for raw in ({"choices": [{"logprobs": rows}]}, {"choices": []}, {"choices": rows}, rows, {"usage": rows}):
        llm = SchemaLLM(reply=always(ChatResponse(message=message, raw=raw)))
        assert ask(LLMRuntime(llm)).probability == pytest.approx(0.8)


def test_the_caller_decides_over_all() -> None:
    llm = SchemaLLM(reply=always(YES))
    ask(LLMRuntime(llm, structured_output=False, logprobs=False))
    assert llm.seen[0]["options"] == {}


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


def test_what_an_llm_cannot_answer_is_an_error_value() -> None:
    runtime = LLMRuntime(CompletingLLM(reply="x"))
    for request in (
        Embed("answerability", ("text",)),
        Generate("answerability", prompt="<|start_of_role|>user"),
        Generate("answerability", messages=(), adapter="answerability"),
    ):
        (outcome,) = runtime.handle([request])
        assert isinstance(outcome, UnsupportedIntrinsic)


def test_repr_shows_no_settings() -> None:
    assert repr(LLMRuntime(SchemaLLM(reply=always("x")))) == "LLMRuntime(SchemaLLM, JSON schema, log-probabilities)"
