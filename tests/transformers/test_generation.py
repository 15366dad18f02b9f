"""Replies are those of transformers and PEFT themselves, whatever is in the batch and whatever is in memory."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from intrinsics_core.protocol.requests import Generate, Generated
from tests.transformers.asked import ALORA, ASSISTANT, CERTAINTY, LORA, asked, context, mixed, reference, text_of
from tests.transformers.conftest import ADAPTERS


def texts(runtime: Any, requests: list[Generate]) -> list[str]:
    replies = runtime.handle(requests)
    assert all(isinstance(reply, Generated) for reply in replies), replies
    return [reply.text for reply in replies]


@pytest.mark.parametrize("intrinsic", [None, *ADAPTERS])
def test_single_reply_is_that_of_the_plain_libraries(models: Path, made: Any, intrinsic: str | None) -> None:
    prompt = context() + ALORA.get(intrinsic or "", ASSISTANT)
    tokens = reference(models, ADAPTERS[intrinsic] if intrinsic else None, prompt)
    with made() as runtime:
        (reply,) = runtime.handle([asked(intrinsic, prompt)])
    assert reply.text == text_of(models, tokens)
    assert reply.usage.completion_tokens == len(tokens) or reply.finish_reason == "stop"


def test_every_adapter_says_something_else(runtime: Any) -> None:
    prompt = context(2) + CERTAINTY + ASSISTANT  # activates both aLoRA adapters
    requests = [asked(name, prompt, max_tokens=48) for name in (None, *ADAPTERS)]
    assert len(set(texts(runtime, requests))) == 1 + len(ADAPTERS)


def test_mixed_batch_equals_single_runs(made: Any) -> None:
    requests = mixed()
    with made() as together, made(prefix_tokens=0) as alone:
        assert texts(together, requests) == [texts(alone, [request])[0] for request in requests]


@pytest.mark.parametrize("batch_tokens", [1, 400, 100_000])
def test_batch_bounds_do_not_change_replies(runtime: Any, made: Any, batch_tokens: int) -> None:
    requests = mixed()
    with made(batch_tokens=batch_tokens) as other:
        assert texts(other, requests) == texts(runtime, requests)


def test_order_of_requests_does_not_matter(made: Any) -> None:
    requests = mixed()
    with made() as runtime:
        expected = dict(zip(range(len(requests)), texts(runtime, requests), strict=True))
        order = list(expected)
        random.Random(0).shuffle(order)
        assert texts(runtime, [requests[i] for i in order]) == [expected[i] for i in order]


@pytest.mark.parametrize("intrinsic", ALORA)
def test_cached_prefix_is_exact_for_alora(models: Path, made: Any, intrinsic: str) -> None:
    prompt = context(40) + ALORA[intrinsic]
    with made() as runtime:
        runtime.handle([asked("uncertainty", context(40) + CERTAINTY)])  # leaves the context's keys and values
        (reply,) = runtime.handle([asked(intrinsic, prompt, max_tokens=48)])
    assert reply.usage.cached_tokens > 400
    assert reply.text == text_of(models, reference(models, ADAPTERS[intrinsic], prompt, tokens=48))


def test_prefix_of_a_longer_conversation_is_used_up_to_where_they_part(models: Path, made: Any) -> None:
    first, second = context(30), context(30).replace("Bridge 20", "Tunnel 20")
    with made() as runtime:
        runtime.handle([asked("uncertainty", first + CERTAINTY)])
        (reply,) = runtime.handle([asked("uncertainty", second + CERTAINTY, max_tokens=32)])
    assert 200 < reply.usage.cached_tokens < reply.usage.prompt_tokens - 100
    assert reply.text == text_of(models, reference(models, ADAPTERS["uncertainty"], second + CERTAINTY, tokens=32))


def test_four_intrinsics_on_one_context_compute_it_once(made: Any, recwarn: pytest.WarningsRecorder) -> None:
    shared = context(40)
    requests = [asked(name, shared + f"Part {i}. " + ALORA[name]) for i in range(2) for name in ALORA]
    with made() as runtime:
        cached = sorted(reply.usage.cached_tokens for reply in runtime.handle(requests))
        assert cached[0] == 0 and cached[1] > 400
        again = [reply.usage.cached_tokens for reply in runtime.handle(requests)]
    assert min(again) > 400
    assert not [w for w in recwarn if "past_key_values" in str(w.message)]  # the cache has this version's name


@pytest.mark.parametrize("intrinsic", LORA)
def test_lora_never_uses_the_base_models_cache(models: Path, made: Any, intrinsic: str) -> None:
    prompt = context(40) + ASSISTANT
    with made() as runtime:
        runtime.handle([asked("hallucination-detection", prompt), asked(None, prompt)])
        (reply,) = runtime.handle([asked(intrinsic, prompt)])
    assert reply.usage.cached_tokens == 0
    assert reply.text == text_of(models, reference(models, ADAPTERS[intrinsic], prompt))


def test_only_the_last_invocation_activates_an_alora(models: Path, made: Any) -> None:
    prompt = context(5) + CERTAINTY + "7<|end_of_text|>\n" + context(30, "Tower") + CERTAINTY
    with made() as runtime:
        (reply,) = runtime.handle([asked("uncertainty", prompt)])
    assert reply.text == text_of(models, reference(models, ADAPTERS["uncertainty"], prompt))


def test_memory_for_prefixes_is_bounded(made: Any) -> None:
    with made(prefix_tokens=1000) as runtime:
        for name in ("Bridge", "Tower", "Road", "Harbour"):
            runtime.handle([asked("uncertainty", context(30, name) + CERTAINTY)])
            assert 0 < runtime._engine._prefixes.tokens <= 1000
        runtime.handle([asked("uncertainty", context(70, "Canal") + CERTAINTY)])  # longer than the bound: not kept
        assert 0 < runtime._engine._prefixes.tokens <= 1000


def test_models_without_a_key_per_token_share_nothing(models: Path) -> None:
    from transformers import GraniteConfig, LlamaConfig, MistralConfig, Qwen3NextConfig

    from intrinsics_core.local.kv_cache import can_share

    windows, states = MistralConfig(num_hidden_layers=2, sliding_window=64), Qwen3NextConfig(num_hidden_layers=4)
    assert can_share(GraniteConfig(num_hidden_layers=2))
    assert not can_share(windows) and not can_share(states)
    assert can_share(windows, windows=True) and not can_share(states, windows=True)
    turned = {"rope_type": "dynamic", "factor": 2.0, "rope_theta": 1e4}  # by the longest position that is read
    assert not can_share(LlamaConfig(num_hidden_layers=2, rope_parameters=turned))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_dtype_is_the_models(made: Any, dtype: str) -> None:
    import torch

    with made(dtype=dtype, device="cpu") as runtime:
        replies = runtime.handle([replace(request, max_tokens=4) for request in mixed()])
        assert all(isinstance(reply, Generated) for reply in replies), replies
        assert runtime._engine._adapters.base.dtype == getattr(torch, dtype)


def test_runs_on_a_gpu(models: Path, made: Any, runtime: Any) -> None:
    import torch

    if not torch.cuda.is_available():
        pytest.skip("no GPU here")
    with made(device="cuda") as on_gpu:
        assert texts(on_gpu, mixed()) == texts(runtime, mixed())
