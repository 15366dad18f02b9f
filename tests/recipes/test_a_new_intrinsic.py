"""AGENTS.md, "A new intrinsic": one module registers it; the command line and the contract then know it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from intrinsics_core import Call, Format, InvalidInput, Profile, run
from intrinsics_core.intrinsics import INTRINSICS, TABLE, Documents, Messages, call, register
from intrinsics_core.profiles.prompted import PROFILE
from intrinsics_core.protocol.requests import Generate
from intrinsics_core.protocol.results import Result
from intrinsics_core.replies import readers
from intrinsics_core.runtimes.scripted import Scripted

ASKED = [{"role": "user", "content": "Where does the ferry land?"}]


class Title(Result):
    title: str | None


@pytest.fixture
def title() -> Iterator[Any]:
    @register(
        "title",
        result=Title,
        ends_with=("user",),
        needs_documents=True,
        empty=lambda task, why: Title(title=None, reason=why),
        fallbacks={"fallback": lambda task, why: Title(title=None, degraded=why)},
        needs="question, documents",
        gives="a title for the documents",
    )
    def title(
        messages: Messages, documents: Documents, *, on_error: str = "raise", date: str | None = None
    ) -> Call[Title]:
        return call("title", messages, documents, date=date, on_error=on_error)

    yield title
    del TABLE["title"], INTRINSICS["title"]


FORMAT: Format[Title] = Format(
    lambda task: [Generate(task.intrinsic, prompt=f"A title for: {task.documents[0].text}")],
    lambda task, replies: Title(title=readers.first_query(readers.generated(replies))),
)
FAMILY = Profile("mine", {"title": FORMAT}, base=PROFILE)


def test_it_runs_and_gives_up_like_the_others(title: Any) -> None:
    runtime = Scripted(["Ferries", "", ""])
    assert run(title(ASKED, ["The ferry lands at noon."]), runtime, profile=FAMILY).title == "Ferries"
    assert run(title(ASKED, []), runtime, profile=FAMILY).reason == "nothing retrieved"
    assert "MalformedReply" in run(title(ASKED, ["x"], on_error="fallback"), runtime, profile=FAMILY).degraded
    with pytest.raises(InvalidInput, match="title: on_error"):
        title(ASKED, ["x"], on_error="shrug")


def test_a_name_is_taken_once(title: Any) -> None:
    with pytest.raises(InvalidInput, match="title"):
        register("title", result=Title, ends_with=("user",))(title)


def test_the_command_line_knows_it(title: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from intrinsics_core import profiles
    from intrinsics_core.cli import app

    monkeypatch.setattr(profiles, "_REGISTERED", {"mine": lambda: FAMILY})
    (tmp_path / "in.jsonl").write_text(json.dumps({"id": 1, "messages": ASKED, "documents": ["The ferry lands."]}))
    (tmp_path / "replies.json").write_text('["Ferries"]')
    runtime = json.dumps({"kind": "scripted", "replies": str(tmp_path / "replies.json"), "profile": "mine"})
    ran = CliRunner().invoke(app, ["run", "title", "-i", str(tmp_path / "in.jsonl"), "-o", "-", "--runtime", runtime])
    assert ran.exit_code == 0, ran.output
    assert json.loads(ran.stdout) == {"id": 1, "result": {"title": "Ferries", "schema_version": 1}}
