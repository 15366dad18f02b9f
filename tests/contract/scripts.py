"""What the integrations' own tests ask and are told: passages, answers, and a judge of them."""

from __future__ import annotations

from typing import Any

from intrinsics_core import RuntimeUnavailable
from tests.contract.judge import judge
from tests.scripted import Scripted

QUESTION = "Who built the mill, and when?"
FAITHFUL = "Ada Brink built the mill in 1911."
INVENTED = "The bakery sold purple umbrellas."

# Id, text and metadata of each.
PASSAGES: list[tuple[str, str, dict[str, Any]]] = [
    ("cranes", "Port Ellery has two cranes.", {"page": 3}),
    (
        "mill",
        "The tide mill stands on the east quay. Ada Brink built the mill in 1911.",
        {"page": 7, "title": "The mill"},
    ),
    ("fog", "Fog is common from March to May.", {}),
]


def judging() -> Scripted:
    return Scripted(judge)


def no_judge() -> Scripted:
    """A judge that is out."""
    return Scripted(lambda request: RuntimeUnavailable("connection refused"))
