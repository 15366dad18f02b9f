"""How documents reach the model: as the request's ``documents``, which only vLLM hands to the chat template, or in the
messages, which every server does.

A server that does not know the key drops it without a word, and the model judges without what it should judge by. So
documents go into the messages unless the server is known to show them: vLLM counts the tokens of a request
(``/tokenize``), and a request with a long document is long only where the template has a place for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from intrinsics_core.protocol.requests import Generate

_PROBE_WORDS = 600  # far more than any template says of its own accord, far less than any context window
_LONGEST_TOKEN = 16  # characters per token that no text of ours exceeds on average; English has four or five
_TELLING = 1_000  # characters of documents from which a prompt that is too short shows


def tokenize_address(base_url: str) -> str:
    """Of vLLM's ``/tokenize``, which lies beside ``/v1`` and not below it."""
    parts = urlsplit(base_url)
    return urlunsplit(parts._replace(path=parts.path.rstrip("/").removesuffix("/v1") + "/tokenize"))


def counting(model: str, **template: Any) -> dict[str, Any]:
    """The body that asks for the tokens of a short question with these arguments of the chat template. Nothing is
    generated.
    """
    return {"model": model, "messages": [{"role": "user", "content": "?"}], "chat_template_kwargs": template}


def probe(model: str) -> dict[str, Any]:
    """The same with a long document; the tokenizer's endpoint knows no ``documents`` of its own."""
    words = " ".join(str(i % 10) for i in range(_PROBE_WORDS))
    return counting(model, documents=[{"doc_id": "0", "text": words}])


def shown(reply: Any) -> bool | None:
    """Whether the probe's document was in the prompt; None where the reply is not vLLM's."""
    count = reply.get("count") if isinstance(reply, Mapping) else None
    if isinstance(count, bool) or not isinstance(count, int):
        return None
    return count >= _PROBE_WORDS


def lost(request: Generate, prompt_tokens: int) -> bool:
    """Whether a prompt of so many tokens is too short to hold the request's documents. False proves nothing."""
    size = sum(len("".join(d.text.split())) for d in request.documents)
    return size >= _TELLING and 0 < prompt_tokens < size / _LONGEST_TOKEN
