"""Adapters driven by their own ``io.yaml``, as aLoRA: chat messages, constrained replies, one context computed once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import intrinsics_core as ic
from intrinsics_core.intrinsics.adapter import adapter
from tests.profiles.adapters import profile

DOCUMENTS = [f"Bridge {i} was built in {1900 + i} by crew {i * 7 % 11}. It spans river {i}." for i in range(12)]
ASKED = [{"role": "user", "content": "Who built bridge 7, and when was it opened to the public?"}]


def test_alora_adapters_on_one_conversation_share_its_keys_and_values(models: Path, made: Any) -> None:
    place = str(models / "hallucination-alora")  # active from the assistant's turn on, which the template opens
    names = ("uncertainty", "requirement-check")
    calls = [
        ic.uncertainty(ASKED, DOCUMENTS),
        adapter("requirement-check", ASKED, DOCUMENTS, arguments={"requirement": "Be brief."}),
    ]
    with made(adapters=dict.fromkeys(names, place)) as runtime:
        certain = ic.run(calls[0], runtime, profile=profile())
        required = ic.run(calls[1], runtime, profile=profile())
    assert 0.05 <= certain.certainty <= 0.95 and certain.expected is not None
    assert 0 <= required.value["requirement_check"]["score"] <= 1
    with made(adapters=dict.fromkeys(names, place), prefix_tokens=0) as plain:
        assert ic.run(calls[0], plain, profile=profile()).certainty == certain.certainty


def test_what_one_intrinsic_computed_serves_the_next(models: Path, made: Any) -> None:
    place = str(models / "hallucination-alora")
    with made(adapters={"uncertainty": place, "requirement-check": place}) as runtime:
        usages = []
        handle = runtime.handle

        def watched(requests: Any) -> Any:
            replies = handle(requests)
            usages.extend(reply.usage for reply in replies)
            return replies

        runtime.handle = watched
        ic.run(ic.uncertainty(ASKED, DOCUMENTS), runtime, profile=profile())
        ic.run(
            adapter("requirement-check", ASKED, DOCUMENTS, arguments={"requirement": "Be brief."}),
            runtime,
            profile=profile(),
        )
    assert usages[0].cached_tokens == 0
    assert usages[1].cached_tokens > 0.7 * usages[1].prompt_tokens
