"""Adapters before they are loaded: what their own descriptions say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from intrinsics_core._support.hub import HubPlace
from intrinsics_core.local.peft_adapters import Adapters
from intrinsics_core.local.vllm import _read
from intrinsics_core.protocol.errors import RuntimeUnavailable
from intrinsics_core.protocol.requests import Generate
from intrinsics_core.runtimes.adapters import invocation, is_activated

PLAIN = {"peft_type": "LORA", "task_type": "CAUSAL_LM", "r": 8}
# As aLoRA adapters were published over time; PEFT knows the first alone.
SPELLINGS: list[dict[str, Any]] = [
    {"alora_invocation_tokens": [5, 6]},
    {"alora_invocation_string": "<certainty>"},
    {"invocation_tokens": [5, 6]},
    {"invocation_string": "<certainty>"},
    {"peft_type": "ALORA"},
]


def folder(place: Path, config: Any) -> Path:
    place.mkdir()
    (place / "adapter_config.json").write_text(json.dumps(config))
    (place / "adapter_model.safetensors").touch()
    return place


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_an_alora_is_known_by_every_spelling(spelling: dict[str, Any], tmp_path: Path) -> None:
    config = PLAIN | spelling
    assert is_activated(config) and not is_activated(PLAIN)
    served, refused = _read({"gate": str(folder(tmp_path / "a", config))})
    assert not served and isinstance(refused["gate"], RuntimeUnavailable)


@pytest.mark.parametrize("spelling", SPELLINGS[1:4])
def test_an_alora_that_would_load_as_plain_lora_is_refused(spelling: dict[str, Any], tmp_path: Path) -> None:
    adapters = Adapters(object(), {"gate": str(folder(tmp_path / "a", PLAIN | spelling))})
    with pytest.raises(RuntimeUnavailable, match=r"is an aLoRA.*alora_invocation_tokens"):
        adapters.find(Generate("answerability", prompt="?", adapter="gate"))


def test_the_invocation_is_its_tokens() -> None:
    assert invocation("gate", PLAIN | SPELLINGS[0]) == (5, 6)
    assert invocation("gate", PLAIN) == invocation("gate", PLAIN | {"alora_invocation_tokens": None}) == ()
    with pytest.raises(RuntimeUnavailable, match="token ids"):
        invocation("gate", PLAIN | {"alora_invocation_tokens": "5 6"})


def test_a_description_that_is_no_object_is_one_adapters_error(tmp_path: Path) -> None:
    good, bad = folder(tmp_path / "good", PLAIN), folder(tmp_path / "bad", [1])
    served, refused = _read({"good": str(good), "bad": str(bad)})
    assert list(served) == ["good"] and "contains no adapter" in str(refused["bad"])


def test_a_place_on_the_hub() -> None:
    assert HubPlace.parse("owner/name") == HubPlace("owner/name")
    assert HubPlace.parse("owner/name/a/b@main") == HubPlace("owner/name", "a/b", "main")
    assert HubPlace.parse("name") is None and HubPlace.parse("owner/name@a b") is None
    pinned = HubPlace.parse(f"owner/name@{'0' * 40}")
    assert pinned and pinned.pinned and not HubPlace("owner/name", revision="main").pinned
