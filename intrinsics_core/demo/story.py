"""The shipped passages and the conversation about them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from intrinsics_core.protocol.errors import raised
from intrinsics_core.protocol.requests import Generate, Generated
from intrinsics_core.protocol.results import Citations, FactCheck, HallucinationDetection, Result, Uncertainty
from intrinsics_core.protocol.task import Document, Message
from intrinsics_core.runtimes import Runtime

# What every telling keeps to, so that the tellings can be compared.
RETRIEVED = 8  # passages that BM25 finds
KEPT = 4  # passages that an answer may rest on
QUOTED = 2  # sentences that the extractive answerer picks, at most


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
    fields = json.loads(files(__package__).joinpath("story.json").read_text(encoding="utf-8"))
    return Story(**fields | {"questions": tuple(Question(**q) for q in fields["questions"])})


def generated(runtime: Runtime, question: str, context: str) -> str:
    """An answer by the runtime's language model.

    Raises:
        IntrinsicsError: it gave none.
    """
    messages = (
        Message("system", "Answer in one or two sentences, from these passages alone.\n\n" + context),
        Message("user", question),
    )
    (outcome,) = runtime.handle([Generate("answer", messages=messages, max_tokens=200)])
    reply = raised(outcome)
    if isinstance(reply, Generated):
        return reply.text.strip()
    raise TypeError(f"unexpected reply: {type(reply).__name__}")


_VERDICTS: dict[str, tuple[str, type[Result]]] = {
    "citations": ("citations", Citations),
    "hallucination": ("hallucination-detection", HallucinationDetection),
    "certainty": ("uncertainty", Uncertainty),
    "fact_check": ("fact-check", FactCheck),
}


def verdicts_of(data: Mapping[str, Any]) -> dict[str, Any]:
    """A turn's verdicts on its answer, by field, from a framework's data by intrinsic; None where there is none."""
    given = {name.replace("_", "-"): value for name, value in data.items()}
    return {
        field: kind.model_validate(given[name]) if name in given else None for field, (name, kind) in _VERDICTS.items()
    }
