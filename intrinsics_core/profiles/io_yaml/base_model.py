"""The formats of reranking, query expansion, HyDE, self-consistency and the flows, asked of the base model through a
chat endpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from intrinsics_core.profiles import sampling
from intrinsics_core.profiles.granite import prompts
from intrinsics_core.profiles.turns import conversation
from intrinsics_core.protocol.profile import Format
from intrinsics_core.protocol.requests import Generate
from intrinsics_core.protocol.task import Document, Message, Task
from intrinsics_core.replies import readers, writers
from intrinsics_core.text.markup import defuse, header

Messages = Callable[[Task], tuple[Message, ...]]


def _chat(
    messages: Messages, *, max_tokens: int, logprobs: bool = False, documents: bool = False
) -> Callable[[Task], Sequence[Generate]]:
    def render(task: Task) -> Sequence[Generate]:
        shown = _documents(task) if documents else ()
        return [
            Generate(intrinsic=task.intrinsic, messages=messages(task), documents=shown, max_tokens=max_tokens,
                     logprobs=logprobs)
        ]  # fmt: skip

    return render


def _said(prompt: Callable[[Task], str]) -> Messages:
    return lambda task: (Message("user", prompt(task)),)


def _documents(task: Task) -> tuple[Document, ...]:
    return tuple(
        replace(
            document,
            text=defuse(document.text),
            id=header(task.document_id(i)),
            title=None if document.title is None else defuse(document.title),
            metadata={},
        )
        for i, document in enumerate(task.documents)
    )


def _query(task: Task, replies: Sequence[Any]) -> str:
    return readers.first_query(readers.generated(replies))


def _answer(task: Task, replies: Sequence[Any]) -> str:
    return readers.free_text(readers.generated(replies))


def _write_query(task: Task, value: str) -> str:
    return writers.first_query(value)


def _write_answer(task: Task, value: str) -> str:
    return writers.free_text(value)


FORMATS: Mapping[str, Format[Any]] = {
    **sampling.FORMATS,
    "comparison": Format(
        _chat(_said(prompts.comparison_prompt), max_tokens=4096, logprobs=True),
        prompts.comparison,
        prompts.write_comparison,
    ),
    "synonym-query": Format(_chat(_said(prompts.synonym_prompt), max_tokens=512), _query, _write_query),
    "reverse-question": Format(_chat(_said(prompts.reverse_prompt), max_tokens=512), _query, _write_query),
    "sample-answer": Format(_chat(conversation, max_tokens=512), _answer, _write_answer),
    "answer": Format(_chat(conversation, max_tokens=1024, documents=True), _answer, _write_answer),
}
