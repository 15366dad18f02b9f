"""The code of a model card and of docs/training.md runs as it stands, and gives back what was learnt."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from intrinsics_core.intrinsics import TABLE
from intrinsics_core.training.card import card
from intrinsics_core.training.regime import regime
from tests.transformers.training.make import TAUGHT
from tests.transformers.training.rows import INTRINSICS

PAGE = Path(__file__).parents[3] / "docs" / "training.md"
MODEL = "ibm-granite/granite-3.3-8b-instruct"


def code_of(text: str) -> str:
    (found,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    return str(found)


def test_a_card_and_the_page_run_and_give_the_learnt_label(
    trained: Callable[..., Any], models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [{key: value for key, value in row.items() if key != "result"} | {"label": "unanswerable"}
             for row in TAUGHT]  # fmt: skip
    done = trained("answerability", words, out=tmp_path / "adapter")
    monkeypatch.chdir(tmp_path)
    for text in (
        (done.folder / "README.md").read_text("utf-8"),
        PAGE.read_text("utf-8").replace(MODEL, str(models / "base")),
    ):
        names: dict[str, Any] = {}
        exec(compile(code_of(text), "snippet", "exec"), names)
        assert names["result"].label == "unanswerable"
        assert names["result"].degraded is None


@pytest.mark.parametrize("intrinsic", INTRINSICS)
@pytest.mark.parametrize("profile", ["io.yaml", "granite-3.3"])
def test_every_card_asks_by_the_profile_that_was_trained_with(intrinsic: str, profile: str) -> None:
    outcome = {"best": None, "steps": 8, "epochs": 2}
    text = card(intrinsic=intrinsic, base="a/b", folder="adapter", profile=profile, activated=False,
                regime=regime(intrinsic), counts={"trained": 8}, outcome=outcome, version="0")  # fmt: skip
    asked: dict[str, Any] = {}

    class Noted:
        def __init__(self, model: str, adapters: dict[str, str]) -> None:
            asked.update(model=model, adapters=adapters)

        def __enter__(self) -> str:
            return "runtime"

        def __exit__(self, *_: object) -> None: ...

    def run(call: Any, runtime: Any, profile: str) -> None:
        asked.update(call=call, runtime=runtime, profile=profile)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("intrinsics_core.run", run)
        patched.setattr("intrinsics_core.runtimes.TransformersRuntime", Noted, raising=False)
        exec(compile(code_of(text), "card", "exec"), {})
    assert asked["call"].task.intrinsic == intrinsic
    assert asked["adapters"] == {intrinsic: "adapter"} and asked["model"] == "a/b"
    assert asked["profile"] == ("io.yaml:adapter" if profile == "io.yaml" else profile)
    assert asked["call"].task.messages[-1].role == ("assistant" if TABLE[intrinsic].judges_answers else "user")
