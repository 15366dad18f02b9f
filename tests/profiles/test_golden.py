"""Prompts, adapters, published names, bounds and constraints are those of the files, whole."""

from __future__ import annotations

import re

import pytest

from intrinsics_core.profiles.prompted import PROFILE
from intrinsics_core.protocol.errors import MalformedReply
from intrinsics_core.protocol.requests import Generated
from tests.profiles.golden import CASES, FOLDER, PROFILES, rendered

RENDERED = dict(rendered())
COMMAND = "if the change is meant: python -m tests.profiles.golden --write"


@pytest.mark.parametrize("name", RENDERED)
def test_what_is_asked_is_what_was_published(name: str) -> None:
    path = FOLDER / name
    assert path.exists(), COMMAND
    assert RENDERED[name] == path.read_bytes().decode(), COMMAND


def test_every_format_has_its_file_and_every_file_its_format() -> None:
    assert {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.txt")} == set(RENDERED)
    for profile in PROFILES.values():
        assert set(profile.formats) == {case.format for case in CASES.values() if case.format in profile}


def test_no_form_of_a_reply_can_be_copied_as_an_answer() -> None:
    """Asked with `"yes" | "no"` or `0.0-1.0` in the form, a small model writes one end of it, whatever it judges; with
    `["c3", "c4"]` it cites these two.
    """
    for name, text in RENDERED.items():
        if name.startswith("prompted/") and "rec" not in name:  # REC's own forms are as published
            assert not re.search(r'nothing else: .*"[acd]\d', text), name
            assert not [form for form in ('\\" | \\"', '" | "', "0.0-1.0", '\\" … \\"') if form in text], name


@pytest.mark.parametrize("name", [name for name in CASES if f"prompted/{name}.txt" in RENDERED])
def test_the_form_that_a_prompt_shows_is_no_reply(name: str) -> None:
    case = CASES[name]
    form = re.search(r"Reply with one JSON object and nothing else: (\{.*\})", RENDERED[f"prompted/{name}.txt"])
    if form is None:
        pytest.skip("its reply is a text")
    whole = re.sub(r": \.\.\.", ': "..."', form[1].replace(", ...", ""))
    for copied in (form[1], whole):
        try:
            found = PROFILE.formats[case.format].parse(case.task(), [Generated(copied)])  # type: ignore[union-attr]
        except MalformedReply:
            continue
        assert copied == whole and (found.missing or found.dropped), found  # what it lacks is told
