"""What a server refuses is left out or said otherwise, asked again at once and remembered, whatever the status; what
the config leaves out or sets is sent so.

The words are those of OpenAI's models that reason, LiteLLM, llama-cpp-python 0.3, FastAPI, Gemma's chat template.
"""

from __future__ import annotations

import json

import pytest

from intrinsics_core import InvalidInput, RuntimeUnavailable, answerability, run
from intrinsics_core.protocol.requests import Generate, Generated, JsonSchema
from intrinsics_core.protocol.task import Message
from tests.loopback import Reply, completion, failure

SCHEMA = {
    "title": "answerability",
    "type": "object",
    "properties": {"answerability": {"type": "string"}, "confidence": {"type": "number", "minimum": 0, "maximum": 1}},
    "required": ["answerability", "confidence"],
    "additionalProperties": False,
}
YES = '{"answerability": "answerable", "confidence": 0.9}'


def asked(text="Who?", **more):
    turns = (Message("system", "Judge."), Message("user", text), *more.pop("turns", ()))
    usual = {"max_tokens": 9, "constraint": JsonSchema(SCHEMA), "logprobs": True, "seed": 7, "top_p": 0.5}
    return Generate("answerability", messages=turns, **(usual | more))


def pydantic(*loc):
    """llama-cpp-python's own handler: the validation error of a body as the text of a fault."""
    row = {"type": "literal_error", "loc": ("body", *loc), "msg": "Input should be 'text' or 'json_object'",
           "input": "json_schema", "ctx": {"expected": "'text' or 'json_object'"}}  # fmt: skip
    return failure(str([row]), "internal_server_error", code=None)


def fastapi(*loc):
    said = "Input should be 'text' or 'json_object'"
    return {"detail": [{"type": "literal_error", "loc": ["body", *loc], "msg": said, "input": "json_schema"}]}


def openai(key, value):
    said = f"Unsupported value: '{key}' does not support {value} with this model."
    return failure(f"{said} Only the default (1) value is supported.", "invalid_request_error", key)


def litellm(*keys):
    said = f"litellm.UnsupportedParamsError: openai does not support parameters: {list(keys)}, for model=o3."
    return failure(said, "None", None)


NO_MAX = failure("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' "
                 "instead.", "invalid_request_error", "max_tokens")  # fmt: skip
NO_LOGPROBS = failure("You are not allowed to request logprobs from this model", "invalid_request_error")
NO_MINIMUM = failure("Invalid schema for response_format 'answerability': In context=('properties', 'confidence'), "
                     "'minimum' is not permitted.", "invalid_request_error", "response_format")  # fmt: skip
NO_SYSTEM = failure("Unsupported value: 'messages[0].role' does not support 'system' with this model.", "x")


AS_OBJECT = {"response_format": {"type": "json_object", "schema": SCHEMA}}


def has(key):
    return lambda body: key in body


def of_type(kind):
    return lambda body: body.get("response_format", {}).get("type") == kind


# what the server cannot take; the status and body of its refusal; what a request that it takes has, or has not
REFUSALS = {
    "temperature, OpenAI": (has("temperature"), 400, openai("temperature", 0), {"temperature": None}),
    "temperature, LiteLLM": (has("temperature"), 400, litellm("temperature"), {"temperature": None}),
    "temperature, a gateway's 500": (has("temperature"), 500, litellm("temperature"), {"temperature": None}),
    "temperature, Kimi": (
        has("temperature"), 400, failure("invalid temperature: only 1 is allowed for this model"), {"temperature": None}
    ),
    "temperature, deprecated": (
        has("temperature"), 400, failure("`temperature` is deprecated for this model."), {"temperature": None}
    ),
    "temperature, with thinking": (
        has("temperature"), 400, failure("`temperature` may only be set to 1 when thinking is enabled."),
        {"temperature": None, "seed": 7},
    ),
    "temperature, above 0": (
        lambda body: body.get("temperature") == 0, 400, failure("temperature must be > 0"), {"temperature": None}
    ),
    "seed, no parameter": (has("seed"), 400, failure("seed is not a valid parameter"), {"seed": None, "top_p": 0.5}),
    "top_p": (has("top_p"), 400, openai("top_p", 0.5), {"top_p": None, "temperature": 0.0}),
    "seed": (has("seed"), 422, {"detail": "Extra inputs are not permitted: seed"}, {"seed": None, "top_p": 0.5}),
    "two at once": (
        lambda body: {"seed", "temperature"} & set(body), 400, litellm("temperature", "seed"), {"seed": None}
    ),
    "logprobs, 403": (has("logprobs"), 403, NO_LOGPROBS, {"logprobs": None, "top_logprobs": None}),
    "logprobs, 400": (has("logprobs"), 400, litellm("logprobs", "top_logprobs"), {"logprobs": None, "seed": 7}),
    "logprobs, llama-cpp-python": (
        has("logprobs"), 500, failure("logprobs is not supported for models created with logits_all=False"),
        {"logprobs": None, "seed": 7},
    ),
    "logprobs, Groq": (
        has("logprobs"), 400, failure("`logprobs` is not supported with this model"), {"logprobs": None, "seed": 7}
    ),
    "logprobs, Google": (
        has("logprobs"), 400, failure("Logprobs is not enabled for models/gemini-2.5-pro"), {"logprobs": None}
    ),
    "temperature, LiteLLM of o1": (
        has("temperature"), 400,
        failure("litellm.UnsupportedParamsError: O-series models don't support temperature=0.0. Only temperature=1 is "
                "supported. To drop unsupported openai params from the call, set `litellm.drop_params = True`"),
        {"temperature": None, "seed": 7},
    ),
    "max_tokens, OpenAI": (has("max_tokens"), 400, NO_MAX, {"max_tokens": None, "max_completion_tokens": 9}),
    "max_tokens, a gateway": (
        has("max_tokens"), 500, failure("this model is not supported MaxTokens, please use MaxCompletionTokens"),
        {"max_tokens": None, "max_completion_tokens": 9},
    ),
    "max_tokens, LiteLLM": (has("max_tokens"), 400, litellm("max_tokens"), {"max_completion_tokens": 9}),
    "a keyword of the schema": (
        lambda body: "minimum" in json.dumps(body.get("response_format", "")), 400, NO_MINIMUM, {"max_tokens": 9}
    ),
    "a system turn": (lambda body: body["messages"][0]["role"] == "system", 400, NO_SYSTEM, {"max_tokens": 9}),
    "json_schema, llama-cpp-python": (
        of_type("json_schema"), 500, pydantic("response_format", "type"),
        AS_OBJECT,
    ),
    "json_schema, FastAPI": (
        of_type("json_schema"), 422, fastapi("response_format", "type"),
        AS_OBJECT,
    ),
    "json_schema, OpenAI's older models": (
        of_type("json_schema"), 400,
        failure("Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model."),
        AS_OBJECT,
    ),
    "json_schema, Groq": (
        of_type("json_schema"), 400, failure("This model does not support response format `json_schema`."),
        AS_OBJECT,
    ),
    "json_schema, an invalid value": (
        of_type("json_schema"), 400,
        failure("Invalid value: 'json_schema'. Supported values are: 'json_object' and 'text'."),
        AS_OBJECT,
    ),
    "no structured output": (
        has("response_format"), 400, failure("Structured output is not supported for this model"),
        {"response_format": None, "max_tokens": 9},
    ),
    "turns that do not alternate, llama.cpp": (
        lambda body: len(body["messages"]) > 2, 500,
        failure("Error: Jinja Exception: Conversation roles must alternate user/assistant/user/assistant/..."),
        {"max_tokens": 9},
    ),
    "turns that do not alternate, Perplexity": (
        lambda body: len(body["messages"]) > 2, 400,
        failure("After the (optional) system message(s), user or tool message(s) should alternate with assistant "
                "message(s)."), {"max_tokens": 9},
    ),
    "response_format of any type": (
        has("response_format"), 500, litellm("response_format"), {"response_format": None, "max_tokens": 9},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSALS)
def test_what_is_refused_is_left_out_at_once_and_remembered(serve, runtime, case):
    refuses, status, body, kept = REFUSALS[case]
    server = serve(lambda received: Reply(body, status) if refuses(received.body) else Reply(completion(YES)))
    engine = runtime(server, constraints="response_format", model="o3")
    for number in range(3):
        turns = (Message("user", "And?"),) if "alternate" in case else ()
        (reply,) = engine.handle([asked(str(number), turns=turns)])
        assert isinstance(reply, Generated), reply
    last = server.bodies()[-1]
    assert {key: last.get(key) for key in kept} == kept
    assert not refuses(last)
    wasted = [body for body in server.bodies() if refuses(body)]
    assert len(server.bodies()) == 3 + len(wasted)
    assert len(wasted) == (2 if case in ("two at once", "logprobs, 400") else 1)  # twenty alternatives, five, none


def test_what_one_model_refuses_another_behind_the_same_gateway_is_asked_for(serve, runtime):
    def answer(received):
        if received.body["model"] == "o3" and "temperature" in received.body:
            return Reply(openai("temperature", 0), 400)
        return Reply(completion(YES))

    server = serve(answer)
    engine = runtime(server, model="o3", adapters={"answerability": "small"})
    engine.handle([asked("one"), asked("two", adapter="answerability")])
    engine.handle([asked("three"), asked("four", adapter="answerability")])
    assert {(body["model"], "temperature" in body) for body in server.bodies()[-2:]} == {("o3", False), ("small", True)}
    assert engine.capabilities().refused == ("temperature",)


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (500, "CUDA out of memory"),
        (503, "no worker"),
        (500, "temperature of the card is 95 C"),
        (403, "go away, seed"),
        (400, "Invalid temperature value, the valid range of temperature is [0, 2]"),
        (400, "A filter forbids 'my ticket is not valid for the seed fair'"),
        (503, 'Service temporarily unavailable; the request was {"temperature": 0.0}'),
    ],
)
def test_a_fault_that_names_no_refused_key_is_a_fault(serve, runtime, status, said):
    server = serve(lambda received: Reply(failure(said), status))
    (error,) = runtime(server, max_retries=1).handle([asked()])
    assert isinstance(error, InvalidInput if status == 400 else RuntimeUnavailable)
    assert len(server.bodies()) == (2 if status >= 500 else 1)
    assert all("temperature" in body for body in server.bodies())


def test_a_key_of_the_config_that_is_refused_is_an_error(serve, runtime):
    server = serve(lambda received: Reply(NO_LOGPROBS, 403))
    (error,) = runtime(server, logprobs=False, extra_body={"logprobs": True}).handle([asked()])
    assert isinstance(error, RuntimeUnavailable) and "logprobs" in str(error)


@pytest.mark.parametrize("config", [{"seed": None}, {"seed": 3}, {}])
def test_samples_are_drawn_one_by_one_whatever_the_seed(serve, runtime, config):
    refused = failure("seed is not a valid parameter")
    server = serve(lambda received: Reply(refused, 400) if not config and "seed" in received.body
                   else Reply(completion(YES)))  # fmt: skip
    engine = runtime(server, model="o3", **config)
    replies = engine.handle([asked(temperature=0.7, seed=seed) for seed in range(3)])
    assert all(isinstance(reply, Generated) for reply in replies)
    answered = [body.get("seed") for body in server.bodies() if config or "seed" not in body]
    assert sorted(answered, key=str) == ([3, 4, 5] if config.get("seed") else [None] * 3)


def test_a_refusal_that_nothing_mends_is_the_error(serve, runtime):
    server = serve(lambda received: Reply(litellm("temperature"), 400))
    (error,) = runtime(server).handle([asked()])
    assert isinstance(error, InvalidInput)
    assert "UnsupportedParamsError" in str(error)
    assert len(server.bodies()) == 2
    assert "temperature" not in server.bodies()[-1]


def test_the_config_leaves_out_or_changes_each_part(serve, runtime):
    server = serve(YES)
    off = {"temperature": None, "top_p": None, "seed": None, "logprobs": False, "max_tokens_key": None}
    runtime(server, constraints="none", **off).handle([asked()])
    assert set(server.bodies()[-1]) == {"model", "messages"}
    own = {"temperature": 1, "top_p": 0.9, "seed": 3, "max_tokens_key": "max_completion_tokens"}
    more = {"reasoning_effort": "low", "user": "me"}
    runtime(server, constraints="json_object", extra_body=more, **own).handle([asked()])
    last = server.bodies()[-1]
    assert (last["temperature"], last["top_p"], last["seed"], last["max_completion_tokens"]) == (1, 0.9, 3, 9)
    assert (last["reasoning_effort"], last["user"]) == ("low", "me")
    assert last["response_format"] == {"type": "json_object", "schema": SCHEMA}
    assert "max_tokens" not in last


def test_without_log_probabilities_the_stated_confidence_is_the_score_and_nothing_is_warned_of(serve, runtime, caplog):
    server = serve(YES)
    found = run(answerability([{"role": "user", "content": "Who?"}], ["Ada."]), runtime(server, logprobs=False))
    assert found.probability == 0.9
    assert "logprobs" not in server.bodies()[-1]
    assert not caplog.records


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"temperature": "hot"}, "runtime.temperature"),
        ({"temperature": -1}, "runtime.temperature"),
        ({"seed": 0.5}, "runtime.seed"),
        ({"logprobs": "no"}, "runtime.logprobs"),
        ({"max_tokens_key": "length"}, "runtime.max_tokens_key"),
        ({"extra_body": {"messages": []}}, "runtime.extra_body"),
    ],
)
def test_wrong_settings_are_named(serve, runtime, config, named):
    with pytest.raises(InvalidInput, match=named):
        runtime(serve(), **config)
