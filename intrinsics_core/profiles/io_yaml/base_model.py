"""The formats of reranking, query expansion, HyDE, self-consistency and the flows, asked of the base model through a
chat endpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from intrinsics_core.profiles import plain_text, sampling
from intrinsics_core.profiles.granite import prompts
from intrinsics_core.profiles.io_yaml.rendering import shown_documents
from intrinsics_core.profiles.turns import conversation
from intrinsics_core.protocol.profile import Format
from intrinsics_core.protocol.requests import Generate
from intrinsics_core.protocol.task import Message, Task
from intrinsics_core.text.markup import defuse

Messages = Callable[[Task], tuple[Message, ...]]


def _chat(
    messages: Messages, *, max_tokens: int, logprobs: bool = False, documents: bool = False
) -> Callable[[Task], Sequence[Generate]]:
    def render(task: Task) -> Sequence[Generate]:
        shown = shown_documents(task, (defuse(d.text) for d in task.documents), defuse) if documents else ()
        return [
            Generate(intrinsic=task.intrinsic, messages=messages(task), documents=shown, max_tokens=max_tokens,
                     logprobs=logprobs)
        ]  # fmt: skip

    return render


def _said(prompt: Callable[[Task], str]) -> Messages:
    return lambda task: (Message("user", prompt(task)),)


FORMATS: Mapping[str, Format[Any]] = {
    **sampling.FORMATS,
    "comparison": Format(
        _chat(_said(prompts.comparison_prompt), max_tokens=4096, logprobs=True),
        prompts.comparison,
        prompts.write_comparison,
    ),
    "synonym-query": plain_text.one_query(_chat(_said(prompts.synonym_prompt), max_tokens=512)),
    "reverse-question": plain_text.one_query(_chat(_said(prompts.reverse_prompt), max_tokens=512)),
    "sample-answer": plain_text.whole(_chat(conversation, max_tokens=512)),
    "answer": plain_text.whole(_chat(conversation, max_tokens=1024, documents=True)),
}
