"""The recorded exchanges of the published adapters, read from where the developer keeps them (never shipped)."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from intrinsics_core.protocol.task import Task, check

_EXCHANGE = re.compile(
    r"^## (?P<name>\S+) \(/v1/completions\)\nparams: `(?P<params>[^\n]*)`\n\n"
    r"PROMPT\n~~~\n(?P<prompt>.*?)\n~~~\nREPLY\n~~~\n(?P<reply>.*?)\n~~~\n",
    re.DOTALL | re.MULTILINE,
)
_TURN = re.compile(r"<\|start_of_role\|>(.*?)<\|end_of_role\|>(.*?)(?:<\|end_of_text\|>|\Z)", re.DOTALL)
_TAG = re.compile(r"<[cri]\d+> ")
_DATE = re.compile(r"Today's Date: (.*?)\.\n")


@dataclass(frozen=True)
class Recording:
    family: str
    name: str
    params: dict[str, Any]
    prompt: str
    reply: str

    def __str__(self) -> str:
        return f"{self.family}-{self.name}-{self.params['model'].rsplit('/')[-1]}"

    @property
    def turns(self) -> list[tuple[str, str]]:
        return _TURN.findall(self.prompt)

    @property
    def date(self) -> str:
        found = _DATE.search(self.prompt)
        return found[1] if found else ""


def location() -> Path | None:
    """The file named by RAG_INTRINSICS_FORMATS, or the one beside the folder that RAG_INTRINSICS_DATA names."""
    if named := os.environ.get("RAG_INTRINSICS_FORMATS"):
        return Path(named)
    if data := os.environ.get("RAG_INTRINSICS_DATA"):
        return Path(data).parent / "formats" / "wire-formats.md"
    return None


def recordings() -> list[Recording]:
    path = location()
    if path is None or not path.is_file():
        return []
    text = path.read_bytes().decode("utf-8")
    found = []
    for family in ("3.2", "3.3"):
        part = text.split(f"\n# Granite {family} ", 1)[1].split("\n# ", 1)[0]
        for match in _EXCHANGE.finditer(part):
            found.append(Recording(family, match["name"], json.loads(match["params"]), match["prompt"], match["reply"]))
    return found


def answer_relevance() -> list[tuple[str, str, str, str]]:
    """Model, parameters as text (they may be cut), prompt and reply of the two exchanges of Granite 3.3."""
    path = location()
    if path is None or not path.is_file():
        return []
    part = path.read_bytes().decode("utf-8").split("\n## answer_relevance, Granite 3.3 ", 1)[1].split("\n## ", 1)[0]
    exchange = r"~~~\nMODEL (\S+) +PARAMETERS (.*?)\nPROMPT\n(.*?)\nREPLY\n(.*?)\n~~~"
    return re.findall(exchange, part, re.DOTALL)


def io_yamls() -> dict[str, str]:
    """The adapters' own files by task, as far as they are known."""
    path = location()
    if path is None or not path.is_file():
        return {}
    part = path.read_bytes().decode("utf-8").split("\n# 4.x io.yaml", 1)[1]
    return dict(re.findall(r"^## (\S+)\.yaml\n~~~yaml\n(.*?)\n~~~", part, re.DOTALL | re.MULTILINE))


def untagged(text: str) -> str:
    return _TAG.sub("", text)


def rebuilt(recording: Recording, intrinsic: str) -> Task:
    """The task behind a recorded prompt, from what the prompt shows of conversation and documents."""
    messages, documents = [], []
    for role, text in recording.turns:
        if role == "documents":
            texts = re.split(r"(?:\n\n)?Document \d+\n", untagged(text))[1:]
            documents = [{"text": body} for body in texts]
        elif role.startswith("document "):
            documents.append(
                {"id": json.loads(role.removeprefix("document "))["document_id"], "text": untagged(text)[1:]}
            )
        elif role in ("user", "assistant") and text:
            messages.append({"role": role, "content": untagged(text)})
    return check(intrinsic, messages, documents, ends_with=["user", "assistant"], date=recording.date)


def needed() -> pytest.MarkDecorator:
    return pytest.mark.skipif(not recordings(), reason="RAG_INTRINSICS_FORMATS names no file of recorded exchanges")
