"""From the bytes of a 200 to a :class:`Generated`."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from intrinsics_core.protocol.requests import Generated, TokenLogprob, Usage
from intrinsics_core.replies import reasoning

_SHOWN = 20_000  # bytes of a body that an error holds


class Unreadable(Exception):
    """A 200 whose body is no completion: cut off, not JSON, or JSON of another shape. Holds the text of the body."""

    def __init__(self, why: str, text: str) -> None:
        super().__init__(why)
        self.why, self.text = why, text


def read(body: bytes, seconds: float) -> Generated:
    """The choice of a completion or chat completion that its index calls the first.

    Log-probabilities of an odd shape are None, as if none had come: they cost no reply.

    Raises:
        Unreadable: there is none.
    """
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"it is not JSON ({error})", _shown(body)) from None
    try:
        choice = min(value["choices"], key=lambda choice: choice.get("index") != 0)  # the first where none says 0
        said = _text(choice)
        return Generated(
            text=said,
            logprobs=_logprobs(choice.get("logprobs"), said),
            finish_reason=choice.get("finish_reason"),
            usage=_usage(value["usage"] if isinstance(value.get("usage"), dict) else {}, seconds),
            reasoning=_reasoning(choice.get("message") or {}),
        )
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError) as error:
        what = f" (it holds an error: {value['error']})" if isinstance(value, dict) and value.get("error") else ""
        raise Unreadable(f"it is not a completion: {type(error).__name__}: {error}{what}", _shown(body)) from None


def _shown(body: bytes) -> str:
    return body[:_SHOWN].decode("utf-8", "replace")


def _text(choice: Mapping[str, Any]) -> str:
    text = choice["message"].get("content") if "message" in choice else choice["text"]
    if text is None:  # a refusal or a tool call: nothing was said
        return ""
    if isinstance(text, list):
        return _of_parts(text, "text")
    if not isinstance(text, str):
        raise TypeError(f"the text is {type(text).__name__}")
    return text


def _of_parts(parts: Sequence[Any], kind: str) -> str:
    """The text of a list of parts, of those of this type: a model of Mistral's lists what it thinks beside its text."""
    found = (part.get(kind) for part in parts if isinstance(part, Mapping) and part.get("type") == kind)
    return "".join(_of_parts(text, "text") if isinstance(text, list) else str(text or "") for text in found)


def _reasoning(message: Mapping[str, Any]) -> str | None:
    """What the server took out of the text: vLLM, SGLang, llama.cpp and LiteLLM call it so, Ollama and others so."""
    content = message.get("content")
    found = [message.get(key) for key in ("reasoning_content", "reasoning")]
    found += [_of_parts(content, "thinking")] if isinstance(content, list) else []
    return next((text for text in found if isinstance(text, str) and text), None)


def _usage(usage: Mapping[str, Any], seconds: float) -> Usage:
    details, spent = usage.get("prompt_tokens_details"), usage.get("completion_tokens_details")
    return Usage(
        requests=1,
        prompt_tokens=_count(usage.get("prompt_tokens")),
        completion_tokens=_count(usage.get("completion_tokens")),
        cached_tokens=_count(details.get("cached_tokens") if isinstance(details, Mapping) else 0),
        seconds=seconds,
        reasoning_tokens=_count(spent.get("reasoning_tokens") if isinstance(spent, Mapping) else 0),
    )


def _count(value: Any) -> int:
    """A number of tokens; 0 for what is none (``null``, ``1e999``): an account that is off costs no reply."""
    known = isinstance(value, int | float) and math.isfinite(value) and 0 <= value < 2**53
    return int(value) if known else 0


def _logprobs(given: Any, said: str) -> tuple[TokenLogprob, ...] | None:
    """The tokens of the text with their log-probabilities; None where there are none that can be read."""
    try:
        tokens = _tokens(given)
        return None if tokens is None else reasoning.of_text(tokens, said)
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError):
        return None


def _tokens(given: Mapping[str, Any] | None) -> tuple[TokenLogprob, ...] | None:
    """Chat endpoints list ``content``; completion endpoints have parallel lists."""
    if not given:
        return None
    if content := given.get("content"):
        return tuple(map(TokenLogprob.of, content))
    tokens, logprobs = given.get("tokens"), given.get("token_logprobs")
    if not tokens or not logprobs:
        return None
    tops = given.get("top_logprobs") or [None] * len(tokens)
    return tuple(
        TokenLogprob(token, float(logprob), tuple((name, float(value)) for name, value in (top or {}).items()))
        for token, logprob, top in zip(tokens, logprobs, tops, strict=True)
        if logprob is not None
    )
