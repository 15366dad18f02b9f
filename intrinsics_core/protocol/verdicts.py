"""Verdicts as frameworks carry them: in the metadata of what they are about, under one key, by the intrinsic's name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from intrinsics_core.protocol.results import HallucinationDetection

KEY = "rag_intrinsics"

UNRETRIEVED = HallucinationDetection(label="NA", score=None, sentences=(), degraded="nothing retrieved")
"""The verdict on an agent's answer for which nothing was retrieved: it is not judged."""


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
