"""Prompts, adapters, published names, bounds and constraints are those of the files, whole."""

from __future__ import annotations

import pytest

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
