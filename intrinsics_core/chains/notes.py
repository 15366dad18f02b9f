"""Verdicts as frameworks carry them: in the metadata of what they are about, under one key, by the intrinsic's name."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

KEY = "rag_intrinsics"


def digest(answer: str, documents: Iterable[Mapping[str, Any]]) -> str:
    """What tells whether a verdict is about this answer and these documents, in whatever order they come.

    Args:
        answer: its text.
        documents: mappings with ``text`` and maybe ``title``, as the core takes them.
    """
    read = sorted({(document["text"], document.get("title") or "") for document in documents})
    return hashlib.sha256(json.dumps([answer, read]).encode()).hexdigest()


def copy_containers(value: Any) -> Any:
    """A value with its mappings and lists copied, at every depth, so that a change of the copy reaches no original.

    What they hold is shared: metadata may hold a client or a lock, which has no copy.
    """
    if isinstance(value, dict):
        return {name: copy_containers(held) for name, held in value.items()}
    return [copy_containers(held) for held in value] if isinstance(value, list) else value


def verdicts_in(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """All verdicts by name; none where there are none, or where something that is not ours is called so."""
    found = metadata.get(KEY)
    return found if isinstance(found, Mapping) else {}


def verdict_in(metadata: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The verdict of that name as plain values; empty where there is none."""
    found = verdicts_in(metadata).get(name)
    return found if isinstance(found, Mapping) else {}


def with_verdicts(metadata: Mapping[str, Any], verdicts: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of the metadata with verdicts beside those that are there. What is not ours is replaced, not read."""
    return {**metadata, KEY: {**verdicts_in(metadata), **verdicts}}


def unfaithful_places(verdict: Mapping[str, Any]) -> set[tuple[int, int]]:
    """Where the sentences begin and end that a verdict calls unfaithful: a reference on them would say otherwise."""
    return {(row["begin"], row["end"]) for row in verdict.get("sentences") or () if row["label"] == "unfaithful"}
