"""From a request to the tokens an in-process model is given. The same for every engine that has a tokenizer."""

from __future__ import annotations

from typing import Any

from intrinsics_core.errors import ContextTooLong, InvalidInput
from intrinsics_core.requests import Generate


def token_ids(tokenizer: Any, request: Generate) -> list[int]:
    """Tokens of a raw prompt, or of the messages as the model's own chat template writes them.

    Raises:
        InvalidInput: the model has no chat template, or its template refuses the messages.
    """
    if request.prompt is not None:
        return _encoded(tokenizer, request.prompt, special=True)
    return _encoded(tokenizer, chat_text(tokenizer, request), special=False)  # the template wrote them already


def chat_text(tokenizer: Any, request: Generate) -> str:
    """The messages, with documents and template arguments, in the model's own words, up to the assistant's turn."""
    if not getattr(tokenizer, "chat_template", None):
        raise InvalidInput(
            "the model has no chat template",
            expected="an instruction-tuned model for a profile that sends messages",
        )
    documents = [
        {"doc_id": d.id or str(i), "text": d.text} | ({"title": d.title} if d.title else {})
        for i, d in enumerate(request.documents)
    ]
    try:
        text: str = tokenizer.apply_chat_template(
            [{"role": m.role, "content": m.content} for m in request.messages or ()],
            tokenize=False,
            **{"add_generation_prompt": True}
            | dict(request.template)
            | ({"documents": documents} if documents else {}),
        )
    except Exception as error:  # templates raise their own errors, jinja's, and whatever they trip over
        raise InvalidInput(
            f"the model's chat template refuses the messages ({type(error).__name__}: {error})"
        ) from None
    return text


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
