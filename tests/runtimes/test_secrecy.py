"""A key stays where it belongs, wherever it came from and whatever a server says back."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from intrinsics_core import MalformedReply, RuntimeUnavailable, answerability, query_rewrite, run
from intrinsics_core.cli import app
from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.protocol.requests import Generate
from intrinsics_core.runtimes.server import ServerRuntime
from tests.loopback import Loopback, Received, Reply

KEY = "sk-very-secret-0123456789"
IN_PATH = "a81bc2d93ef04a5b9c77"
ASKED = Generate("x", prompt="?")
QUESTION = [{"role": "user", "content": "When was it lit?"}]


@pytest.fixture
def keyed(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def echo_in_reasoning(received: Received) -> Reply:
    said = received.headers["authorization"]
    return Reply({"choices": [{"text": "", "message": {"content": "", "reasoning": f"I was sent {said}."},
                               "finish_reason": "stop"}]})  # fmt: skip


def test_a_key_of_the_environment_is_hidden_in_what_a_model_reasons(serve, runtime, keyed):
    server = serve(echo_in_reasoning)
    (outcome,) = runtime(server, model="m").handle([ASKED])
    assert KEY in server.received[0].headers["authorization"]
    assert "***" in outcome.reasoning and KEY not in repr(outcome)
    with pytest.raises(MalformedReply) as caught:
        run(answerability(QUESTION, ["It was lit."]), runtime(server, model="m", reasoning_tokens=9))
    assert KEY not in f"{caught.value} {caught.value.got} {caught.value.raw}"


@pytest.mark.parametrize("config", [{}, {"api_key": "sk-another-0123456789"}], ids=["in use", "another in use"])
def test_a_key_of_the_environment_is_in_no_row_of_a_file(serve, tmp_path, keyed, config):
    (tmp_path / "in.jsonl").write_text(json.dumps({"messages": QUESTION, "documents": [KEY]}) + "\n")

    def echo(received: Received) -> Reply:
        return Reply({"choices": [{"message": {"content": f"Your keys: {KEY} {received.headers['authorization']}"}}]})

    config = {"kind": "server", "base_url": serve(echo).url, "model": "m", **config}
    ran = CliRunner().invoke(app, ["run", "answerability", "-i", str(tmp_path / "in.jsonl"), "-o",
                                   str(tmp_path / "out.jsonl"), "--runtime", json.dumps(config)])  # fmt: skip
    assert ran.exit_code == 1
    written = (tmp_path / "out.jsonl").read_text() + ran.output
    assert "MalformedReply" in written and "***" in written
    assert KEY not in written and "sk-another" not in written


@pytest.mark.parametrize("key", ["1", "x", "test", "none", "ollama", "EMPTY", "password", "lm-studio", "not-needed"])
def test_a_reply_that_holds_a_word_which_is_the_key_is_read_as_it_came(serve, runtime, key):
    query = f"Is {key} in the latest ollama test of pump 1?"
    tokens = [{"token": '{"rewritten_question": "', "logprob": -0.1}, {"token": f'{query}"}}', "logprob": -0.1}]
    said = {"message": {"content": json.dumps({"rewritten_question": query})}, "logprobs": {"content": tokens}}
    engine = runtime(serve(lambda _: Reply({"choices": [said]})), model="m", api_key=key)
    assert run(query_rewrite(QUESTION), engine).query == query
    (outcome,) = engine.handle([ASKED])
    assert outcome.logprobs is not None


@pytest.mark.parametrize("key", ["sk-0123456789", "hunter22", "a1b2c3d4", "correct-horse-battery"])
def test_a_reply_that_holds_a_key_which_is_no_word_is_cleaned(serve, runtime, key):
    server = serve(lambda _: Reply({"choices": [{"message": {"content": f"My key is {key}."}}]}))
    (outcome,) = runtime(server, model="m", api_key=key).handle([ASKED])
    assert outcome.text == "My key is ***."


def test_an_error_that_quotes_a_short_key_hides_it(serve, runtime):
    server = serve(lambda _: Reply({"error": {"message": "the key zap is unknown"}}, status=403))
    (error,) = runtime(server, model="m", api_key="zap").handle([ASKED])
    assert "zap" not in str(error)


def test_log_probabilities_of_a_text_that_was_changed_are_not_kept(serve, runtime, keyed):
    said = {"token": KEY, "logprob": -0.1, "top_logprobs": [{"token": KEY, "logprob": -0.1}]}
    server = serve(lambda _: Reply({"choices": [{"message": {"content": KEY}, "logprobs": {"content": [said]}}]}))
    (outcome,) = runtime(server, model="m").handle([ASKED])
    assert (outcome.text, outcome.logprobs) == ("***", None)


@pytest.mark.parametrize("path", [f"/{IN_PATH}/v1", f"/v1/{IN_PATH}", "/key/short1/v1"])
def test_a_secret_in_the_path_of_the_address_is_hidden(path):
    secret = IN_PATH if IN_PATH in path else "short1"

    def answer(received: Received) -> Reply:
        return Reply({"error": {"message": f"nothing at {received.path}"}}, status=403)

    with Loopback(answer) as server, ServerRuntime(server.url.removesuffix("/v1") + path, model="m") as engine:
        (error,) = engine.handle([ASKED])
        config = {"kind": "server", "base_url": engine.base_url}
        ran = CliRunner().invoke(app, ["check", "--runtime", json.dumps(config)])
        assert secret in server.received[0].path
        assert isinstance(error, RuntimeUnavailable) and "***" in str(error)
        assert secret not in f"{error!r} {error} {error.got} {engine!r} {ran.output}"


def test_a_plain_path_is_shown():
    assert "http://host:8000/openai/v1" in repr(ServerRuntime("http://host:8000/openai/v1"))


def test_no_cookie_is_kept(serve, runtime):
    server = serve(lambda _: Reply({"choices": [{"text": "ok"}]}, headers={"set-cookie": "session=abc; Path=/"}))
    engine = runtime(server, model="m", cache=0)
    for _ in range(2):
        engine.handle([Generate("x", prompt="?", temperature=1.0)])
    assert len(server.received) == 2
    assert all("cookie" not in received.headers for received in server.received)


def test_no_control_character_enters_the_text_of_an_exception(serve, runtime):
    evil = "\x1b[2Jall is well\x07\x9b\u202e"
    server = serve(lambda _: Reply({"error": {"message": evil}}, status=403))
    (error,) = runtime(server, model="m").handle([ASKED])
    texts = [str(error), repr(error), error.got, *map(str, error.args)]
    with pytest.raises(MalformedReply) as caught:
        run(answerability(QUESTION, ["It was lit."]), runtime(serve(evil), model="m"))
    texts += [str(caught.value), caught.value.got, str(InvalidInput(evil, expected=evil))]
    for text in texts:
        assert not set(evil) & set("\x1b\x07\x9b\u202e") & set(text), text
    assert "\\x1b[2Jall is well" in str(error)
