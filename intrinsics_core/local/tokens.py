"""From a request to the tokens an in-process model is given. The same for every engine that has a tokenizer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from intrinsics_core.protocol.errors import ContextTooLong, InvalidInput
from intrinsics_core.protocol.requests import Generate
from intrinsics_core.protocol.task import Message
from intrinsics_core.runtimes.shown_turns import LEVELS, as_key, into_messages, shown_turns


def token_ids(tokenizer: Any, request: Generate) -> list[int]:
    """Tokens of a raw prompt, or of the messages as the model's own chat template writes them.

    Raises:
        InvalidInput: the model has no chat template, or its template refuses the messages.
    """
    if request.prompt is not None:
        return _encoded(tokenizer, request.prompt, special=True)
    return _encoded(tokenizer, chat_text(tokenizer, request), special=False)  # the template wrote them already


def chat_text(tokenizer: Any, request: Generate) -> str:
    """The messages, with documents and template arguments, in the model's own words, up to the assistant's turn.

    Documents stand where the template has a place for them, else in the messages: one that has none says nothing.
    Where the template refuses turns of one role in a row, or a system turn, they are merged
    (:mod:`intrinsics_core.runtimes.shown_turns`).

    Raises:
        InvalidInput: the model has no chat template, it refuses the messages, or an adapter inside a checkpoint is
            asked for, which no engine here knows to choose.
    """
    if not getattr(tokenizer, "chat_template", None):
        raise InvalidInput(
            "the model has no chat template", expected="an instruction-tuned model for a profile that sends messages"
        )
    if "adapter_name" in request.template:
        raise InvalidInput(
            f"the adapter {request.template['adapter_name']!r} is part of the checkpoint (Granite Switch). "
            "In this process another adapter would answer instead",
            expected="a server runtime: vLLM with the Granite Switch plugin",
        )
    messages, arguments = tuple(request.messages or ()), {"add_generation_prompt": True, **request.template}
    if not request.documents:
        return _templated(tokenizer, messages, arguments)
    text = _templated(tokenizer, messages, arguments | {"documents": as_key(request.documents)})
    if text != _templated(tokenizer, messages, arguments):
        return text
    return _templated(tokenizer, into_messages(messages, request.documents), arguments)


def _templated(tokenizer: Any, messages: Sequence[Message], arguments: Mapping[str, Any]) -> str:
    """The text of the messages; where the template refuses their order, of the same messages in one that it takes."""
    refusal = ""
    for level in LEVELS:
        try:
            text: str = tokenizer.apply_chat_template(
                [{"role": m.role, "content": m.content} for m in shown_turns(messages, level)],
                tokenize=False,
                **arguments,
            )
        except Exception as error:  # templates raise their own errors, jinja's, and whatever they trip over
            refusal = refusal or f"{type(error).__name__}: {error}"
        else:
            return text
    raise InvalidInput(f"the model's chat template refuses the messages ({refusal})")


def room(prompt_tokens: int, asked: int | None, default: int, context: int) -> int:
    """How many tokens may be generated.

    Args:
        asked: what the request asks for; None: ``default``, or what the context window has left.

    Raises:
        ContextTooLong: prompt and reply do not fit into the context window of ``context`` tokens.
    """
    left = context - prompt_tokens
    if left < (asked or 1):
        raise ContextTooLong(
            "the request does not fit into the model's context window",
            expected=f"at most {context} tokens",
            got=f"{prompt_tokens} tokens of prompt and {asked or 'at least 1'} to generate",
        )
    return min(default, left) if asked is None else asked


def _encoded(tokenizer: Any, text: str, *, special: bool) -> list[int]:
    ids: list[int] = tokenizer.encode(text, add_special_tokens=special)
    if not ids:
        raise InvalidInput("the prompt is empty", expected="at least one token")
    return ids
