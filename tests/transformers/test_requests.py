"""Each request's own wishes, and each request's own error."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from intrinsics_core import as_runtime
from intrinsics_core.protocol.errors import (
    ContextTooLong,
    InvalidInput,
    RuntimeUnavailable,
    UnknownAdapter,
    UnsupportedIntrinsic,
)
from intrinsics_core.protocol.requests import Embed, Generate, Generated
from intrinsics_core.protocol.task import Document, Message
from tests.loop import files_on_loop
from tests.transformers.asked import ASSISTANT, asked, context, mixed

PROMPT = context(5) + ASSISTANT


def one(runtime: Any, request: Any) -> Any:
    (reply,) = runtime.handle([request])
    return reply


def test_max_tokens_of_each_row(runtime: Any) -> None:
    replies = runtime.handle([asked(None, PROMPT, max_tokens=n) for n in (1, 5, 40)])
    assert [reply.usage.completion_tokens for reply in replies] == [1, 5, 40]
    assert {reply.finish_reason for reply in replies} == {"length"}
    assert replies[2].text.startswith(replies[1].text[:4])


def test_default_length_fits_the_context_window(made: Any) -> None:
    with made(max_tokens=7) as short, made(context_length=200) as narrow:
        assert one(short, asked(None, PROMPT, max_tokens=None)).usage.completion_tokens == 7
        reply = one(narrow, asked(None, PROMPT, max_tokens=None))
        assert reply.usage.prompt_tokens + reply.usage.completion_tokens == 200


def test_stop_text_ends_the_reply_before_it(runtime: Any) -> None:
    whole = one(runtime, asked(None, PROMPT, max_tokens=24)).text
    stop = whole[9:13]
    cut, free = runtime.handle([asked(None, PROMPT, max_tokens=24, stop=("\0never", stop)), asked(None, PROMPT)])
    assert cut.text == whole[: whole.find(stop)] and cut.finish_reason == "stop"
    assert cut.usage.completion_tokens < 24 and free.finish_reason == "length"


def test_end_token_ends_the_reply(models: Path, made: Any, tmp_path: Path) -> None:
    """A model of which the third greedy token is declared an end: nothing of it shows, and nothing follows."""
    import json
    import shutil

    from transformers import AutoTokenizer

    with made() as runtime:
        whole = one(runtime, asked(None, PROMPT, logprobs=True))
    shutil.copytree(models / "base", tmp_path / "base")
    third = AutoTokenizer.from_pretrained(models / "base").encode(whole.logprobs[2].token)
    assert len(third) == 1, "the tiny model's third token must be one the tokenizer makes"
    settings = json.loads((tmp_path / "base/generation_config.json").read_text())
    (tmp_path / "base/generation_config.json").write_text(json.dumps(settings | {"eos_token_id": [0, *third]}))
    with made(model=str(tmp_path / "base"), adapters={}) as ended:
        reply = one(ended, asked(None, PROMPT))
    assert reply.finish_reason == "stop" and reply.usage.completion_tokens == 3
    assert whole.text.startswith(reply.text)


def test_the_models_own_sampling_settings_do_not_leak_in(models: Path, made: Any, runtime: Any, tmp_path: Path) -> None:
    import json
    import shutil

    shutil.copytree(models / "base", tmp_path / "base")
    settings = {"do_sample": True, "temperature": 5.0, "repetition_penalty": 9.0, "eos_token_id": 0, "pad_token_id": 0}
    (tmp_path / "base/generation_config.json").write_text(json.dumps(settings))
    with made(model=str(tmp_path / "base")) as other:
        requests = mixed()
        assert [r.text for r in other.handle(requests)] == [r.text for r in runtime.handle(requests)]


def test_seeds_tell_samples_apart_and_repeat_them(runtime: Any) -> None:
    hot = [asked(None, PROMPT, temperature=1.5, seed=seed) for seed in (1, 2, 3)]
    first, second = ([r.text for r in runtime.handle(hot)] for _ in range(2))
    assert first == second and len(set(first)) == 3
    assert one(runtime, hot[1]).text == first[1]  # whatever else is in the batch


def test_top_p_of_almost_nothing_is_greedy(runtime: Any) -> None:
    greedy = one(runtime, asked(None, PROMPT)).text
    assert one(runtime, asked(None, PROMPT, temperature=3.0, top_p=1e-6)).text == greedy
    assert one(runtime, asked(None, PROMPT, temperature=3.0, seed=5)).text != greedy


def test_messages_go_through_the_models_template(runtime: Any) -> None:
    """The same text, written by hand."""
    chat = Generate(
        "answerability",
        messages=(Message("user", "Who built it?"),),
        documents=(Document("Ada built it.", "a7"),),
        template={"controls": {"citations": True}},
        max_tokens=12,
    )
    raw = (
        "<|start_of_role|>system<|end_of_role|>Knowledge Cutoff Date: April 2024. You are Granite, developed by IBM."
        '<|end_of_text|>\n<|start_of_role|>document {"document_id": "a7"}<|end_of_role|>Ada built it.<|end_of_text|>\n'
        "<|start_of_role|>user<|end_of_role|>Who built it?<|end_of_text|>\n"
        '<|start_of_role|>assistant {"citations": true}<|end_of_role|>'
    )
    by_template, by_hand = runtime.handle([chat, asked(None, raw, max_tokens=12)])
    assert by_template.text == by_hand.text
    assert by_template.usage.prompt_tokens == by_hand.usage.prompt_tokens


def test_usage_is_filled(runtime: Any) -> None:
    usage = one(runtime, asked("answerability", PROMPT)).usage
    assert usage.requests == 1 and usage.prompt_tokens > 50 and usage.completion_tokens == 16 and usage.seconds > 0


def test_one_bad_request_never_fails_the_others(made: Any, models: Path) -> None:
    adapters = {
        "answerability": str(models / "answerability"),
        "query-rewrite": str(models / "no-such-folder"),
        "uncertainty": str(models / "uncertainty-alora"),
    }
    good = asked("answerability", PROMPT)
    with made(adapters=adapters) as runtime:
        replies = runtime.handle(
            [
                good,
                asked(None, context(400) + ASSISTANT),
                asked(None, PROMPT, max_tokens=5000),
                asked("citations", PROMPT, models=("citation_generation",)),
                asked("query-rewrite", PROMPT),
                asked("uncertainty", PROMPT),  # a prompt without its invocation tokens
                asked(None, ""),
                Embed("x", ("text",)),
                good,
            ]
        )
        expected = one(runtime, good).text
    kinds = [type(reply) for reply in replies]
    assert kinds == [
        Generated, ContextTooLong, ContextTooLong, UnknownAdapter, RuntimeUnavailable, InvalidInput, InvalidInput,
        UnsupportedIntrinsic, Generated,
    ]  # fmt: skip
    assert replies[0].text == replies[-1].text == expected
    assert "2048" in str(replies[1]) and "5000" in str(replies[2])
    assert "answerability, query-rewrite, uncertainty" in str(replies[3]) and "citation_generation" in str(replies[3])
    assert "no-such-folder" in str(replies[4]) and "aLoRA" in str(replies[5])
    assert [reply.intrinsic for reply in replies[3:6]] == ["citations", "query-rewrite", "uncertainty"]


def test_an_adapter_is_found_by_its_published_name(made: Any, models: Path) -> None:
    with made(adapters={"answerability_prediction": str(models / "answerability")}) as runtime, made() as usual:
        named = one(runtime, asked("answerability", PROMPT, models=("answerability_prediction",)))
        assert named.text == one(usual, asked("answerability", PROMPT)).text


def test_a_template_that_refuses_is_that_requests_error(made: Any, models: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(models / "base", tmp_path / "refusing")
    (tmp_path / "refusing/chat_template.jinja").write_text("{{ raise_exception('roles must alternate') }}")
    shutil.copytree(models / "base", tmp_path / "without")
    (tmp_path / "without/chat_template.jinja").unlink()
    chat = Generate("x", messages=(Message("user", "Hi"),), max_tokens=4)
    for name, said in (("refusing", "roles must alternate"), ("without", "no chat template")):
        with made(model=str(tmp_path / name), adapters={}) as runtime:
            refused, fine = runtime.handle([chat, asked(None, PROMPT)])
        assert isinstance(refused, InvalidInput) and said in str(refused)
        assert isinstance(fine, Generated)


def test_threads_take_turns(made: Any) -> None:
    requests = mixed()
    with made() as runtime, ThreadPoolExecutor(6) as pool:
        expected = [reply.text for reply in runtime.handle(requests)]
        for replies in pool.map(lambda _: runtime.handle(requests), range(12)):
            assert [reply.text for reply in replies] == expected


def test_asynchronous_callers_are_not_blocked(runtime: Any) -> None:
    replies: list[Any] = []

    async def main() -> None:
        replies.extend(await runtime.ahandle(mixed() * 3))

    assert not files_on_loop(main, ("/torch/", "/transformers/models/", "/transformers/generation/", "/peft/"))
    assert replies and all(isinstance(reply, Generated) for reply in replies)


def test_usable_again_after_close_and_across_processes(made: Any) -> None:
    runtime = made()
    first = one(runtime, asked("answerability", PROMPT)).text
    runtime.close()
    assert runtime._engine is None
    assert one(runtime, asked("answerability", PROMPT)).text == first
    runtime.close()
    assert repr(pickle.loads(pickle.dumps(runtime))) == repr(runtime)  # noqa: S301  (our own object)


def test_config(models: Path) -> None:
    runtime = as_runtime({"kind": "transformers", "model": str(models / "base"), "dtype": "float32", "device": "cpu"})
    assert isinstance(one(runtime, asked(None, PROMPT)), Generated)
    runtime.close()
    with pytest.raises(InvalidInput, match="unknown keys"):
        as_runtime({"kind": "transformers", "model": "x", "trust_remote_code": True})
    with pytest.raises(InvalidInput, match="dtype"):
        as_runtime({"kind": "transformers", "model": "x", "dtype": "int3"})
    with pytest.raises(InvalidInput, match="lacks 'model'"):
        as_runtime({"kind": "transformers"})


def test_a_model_that_cannot_be_loaded_says_so(models: Path, made: Any, tmp_path: Path) -> None:
    with pytest.raises(RuntimeUnavailable, match="no-such-model"):
        made(model=str(tmp_path / "no-such-model")).handle([asked(None, PROMPT)])
