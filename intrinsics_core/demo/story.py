"""The shipped passages and the conversation about them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files

from intrinsics_core.conversation import Document


@dataclass(frozen=True)
class Question:
    """What the user asks; ``invented`` is a sentence that the story puts into the answer, to see it flagged."""

    ask: str
    remark: str = ""
    invented: str = ""


@dataclass(frozen=True)
class Story:
    """``refusal`` is the canned answer to what the passages do not answer."""

    title: str
    lead: str
    refusal: str
    questions: tuple[Question, ...]


def passages() -> list[Document]:
    """The corpus: short passages, each with an id and a title."""
    lines = files(__package__).joinpath("corpus.jsonl").read_text(encoding="utf-8").splitlines()
    return [Document(**json.loads(line)) for line in lines]


def story() -> Story:
    told = json.loads(files(__package__).joinpath("story.json").read_text(encoding="utf-8"))
    return Story(**told | {"questions": tuple(Question(**q) for q in told["questions"])})
