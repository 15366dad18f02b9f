"""From a task to the chat request that an adapter's ``io.yaml`` describes."""

from __future__ import annotations

import json
from collections.abc import Sequence

from intrinsics_core.profiles.io_yaml.places import Numbering, number
from intrinsics_core.profiles.io_yaml.spec import Spec
from intrinsics_core.profiles.turns import shown_documents
from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.protocol.names import nearest
from intrinsics_core.protocol.requests import Generate, JsonSchema
from intrinsics_core.protocol.task import Document, Message, Task

_SAMPLING = ("top_k", "min_p", "repetition_penalty", "frequency_penalty", "presence_penalty")
_DOCUMENT = "document_content"  # the argument that stands for the one document
_SCORED = ("answerability", "context-relevance", "hallucination-detection", "uncertainty")  # typed results have scores


def numbered_in(spec: Spec, task: Task) -> Numbering:
    return number(task, spec.boundaries, spec.defuse)


def render(spec: Spec, task: Task) -> Sequence[Generate]:
    """The request. An instruction with ``{document_content}`` shows the one document itself, and only there.

    Raises:
        InvalidInput: an argument of the instruction is missing, or one is given that it does not use.
    """
    arguments = _arguments(spec, task)
    inline = spec.instruction is not None and _DOCUMENT in spec.instruction.names and _DOCUMENT not in task.arguments
    numbered = numbered_in(spec, task)
    documents = () if inline else shown_documents(task, numbered.documents, spec.defuse)
    messages = [Message(m.role, text) for m, text in zip(task.messages, numbered.messages, strict=True)]
    arguments["last_message"] = messages[-1].content
    # An adapter says its verdict and nothing else: a base model that would reason first is told not to.
    template = {"enable_thinking": False, **spec.parameters.extra_body.chat_template_kwargs}
    if spec.switch is not None:
        template["adapter_name"] = spec.switch
    if documents and spec.docs_as_message:
        # After a system turn, which chat templates look for at the very start.
        at = 1 if messages[0].role in ("system", "developer") else 0
        messages[at:at] = _as_messages(spec.docs_as_message, documents)
        documents = ()
    if spec.instruction is not None:
        messages.append(Message("user", spec.instruction.fill(arguments)))
    sampled = spec.parameters
    return [
        Generate(
            intrinsic=task.intrinsic,
            messages=tuple(messages),
            documents=documents,
            adapter=None if spec.switch is not None else spec.name,
            constraint=None if spec.schema is None else JsonSchema(spec.schema),
            max_tokens=sampled.max_completion_tokens if sampled.max_tokens is None else sampled.max_tokens,
            temperature=float(sampled.temperature),
            top_p=sampled.top_p,
            stop=sampled.stop,
            seed=sampled.seed,
            logprobs=spec.likelihood is not None or spec.name in _SCORED,
            template=template,
            # What servers know beyond these, by their names for it.
            sampling={name: value for name in _SAMPLING if (value := getattr(sampled, name)) is not None},
        )
    ]


def _arguments(spec: Spec, task: Task) -> dict[str, str]:
    wanted = (spec.instruction.names if spec.instruction else frozenset()) - {"last_message"}
    given = dict(task.arguments)
    if _DOCUMENT in wanted and _DOCUMENT not in given:
        if len(task.documents) != 1:
            raise InvalidInput(f"the adapter {spec.name!r} reads one document at a time", expected="one document",
                               got=f"{len(task.documents)} documents")  # fmt: skip
        given[_DOCUMENT] = task.documents[0].text
    if unused := sorted(given.keys() - wanted):
        close = nearest(unused[0], wanted)
        meant = f" (did you mean {close!r}?)" if close else ""
        raise InvalidInput(f"arguments has {', '.join(map(repr, unused))}, which the adapter's instruction does not use"
                           f"{meant}", expected=", ".join(sorted(wanted)) or "no arguments")  # fmt: skip
    if missing := sorted(wanted - given.keys()):
        raise InvalidInput(f"arguments lacks {', '.join(map(repr, missing))}, which the adapter's instruction needs",
                           expected=f"arguments={{{missing[0]!r}: text, ...}}")  # fmt: skip
    for name, text in given.items():
        if not isinstance(text, str):
            raise InvalidInput(f"arguments[{name!r}] is not text", expected="a string", got=repr(text))
    return {name: spec.defuse(text) for name, text in given.items()}


def _as_messages(how: str, documents: Sequence[Document]) -> list[Message]:
    if how == "roles":
        return [Message(f"document {document.id}", document.text) for document in documents]
    if how == "json":
        shown = [{"text": d.text} | ({"title": d.title} if d.title else {}) | {"doc_id": d.id or ""} for d in documents]
        return [Message("user", json.dumps(shown, ensure_ascii=False))]
    # A document with such a heading of its own must not look like two.
    texts = (f"[Document {d.id}]\n{d.text.replace('[Document ', '[ Document ')}" for d in documents)
    return [Message("user", "You have access to the following documents:\n\n" + "\n\n".join(texts))]
