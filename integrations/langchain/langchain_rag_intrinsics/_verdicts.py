"""Verdicts in metadata: under ``rag_intrinsics``, by the intrinsic's name, as the command line writes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from intrinsics_core.chains.notes import KEY, digest, verdict_in, verdicts_in
from intrinsics_core.protocol.results import Result

CANNED = "canned"  # marks an answer that claims nothing: no judge has anything to say of it
ABOUT = "about"  # by intrinsic, the digest of the answer and the documents that its verdict is about


def verdict(intrinsic: str, result: Result) -> dict[str, Any]:
    """The part of ``response_metadata`` that holds a result."""
    return {KEY: {intrinsic: result.model_dump(mode="json")}}


def verdict_about(
    intrinsic: str, result: Result, answer: AIMessage, passages: Iterable[Mapping[str, Any]]
) -> dict[str, Any]:
    """The part of ``response_metadata`` that holds a result, and what it is about."""
    return {KEY: {**verdict(intrinsic, result)[KEY], ABOUT: {intrinsic: digest(str(answer.text), passages)}}}


def known_verdict(intrinsic: str, answer: AIMessage, passages: Iterable[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The verdict that an answer carries, if it is about its text and about these documents; else an empty one."""
    metadata = answer.response_metadata
    if verdict_in(metadata, ABOUT).get(intrinsic) != digest(str(answer.text), passages):
        return {}
    return verdict_in(metadata, intrinsic)


def beside(before: Any, new: Mapping[str, Any]) -> dict[str, Any]:
    """Verdicts beside those that are there; something else that somebody keeps under our name is kept as ``given``."""
    if before is None:
        return dict(new)
    return {**(before if isinstance(before, Mapping) else {"given": before}), **new}


def with_verdict(metadata: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """``response_metadata`` with verdicts beside those that are there."""
    return {**metadata, **new, KEY: beside(metadata.get(KEY), new[KEY])}


def canned(text: str, verdicts: Mapping[str, Any]) -> AIMessage:
    """An answer that says that there is none, with the verdicts (by intrinsic) that it is there for."""
    return AIMessage(text, response_metadata={KEY: {**verdicts, CANNED: True}})


def is_canned(message: BaseMessage | None) -> bool:
    return message is not None and verdicts_in(message.response_metadata).get(CANNED) is True
