"""Structured answers, as a person reads them."""

import doctest
from dataclasses import dataclass

from pydantic import BaseModel

from intrinsics_core.chains import fields


class Mill(BaseModel):
    builder: str
    owners: list[str] = []


@dataclass
class Quay:
    mill: Mill
    cranes: int | None = None


def test_the_example() -> None:
    assert doctest.testmod(fields).failed == 0


def test_an_object_in_json_is_told_from_words() -> None:
    assert fields.object_in(' {"a": [1]}\n') == {"a": [1]} and fields.object_in("[]") == []
    for text in ("", "7", '"a"', "[Note] It was gold.", '{"a": 1} and more', "{not JSON}", "[" * 100_000):
        assert fields.object_in(text) is None


def test_objects_within_objects() -> None:
    quay = Quay(Mill(builder="Ada Brink", owners=["Tom", "Una"]), cranes=2)
    said = ["builder: Ada Brink", "owners: Tom", "owners: Una", "cranes: 2"]
    assert list(fields.as_lines(quay)) == said
    assert list(fields.as_lines({"a": None, "b": "", "c": [], "d": False})) == ["d: False"]
    assert list(fields.as_lines("Two cranes.")) == ["Two cranes."] and list(fields.as_lines(None)) == []
