"""How documents reach the model: as the request's ``documents``, which only vLLM hands to the chat template, or in the
messages, which every server does.

A server that does not know the key drops it without a word, and the model judges without what it should judge by. So
documents go into the messages unless the server is known to show them: vLLM counts the tokens of a request
(``/tokenize``), and a request with a long document is long only where the template has a place for it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args
from urllib.parse import urlsplit, urlunsplit

from intrinsics_core.conversation import Document, Message
from intrinsics_core.requests import Generate

Documents = Literal["auto", "template", "messages"]
WAYS = get_args(Documents)

# The words with which the chat templates of Granite 4 show documents: its adapters know them, other models read them.
_BEFORE = (
    "You are a helpful assistant with access to the following documents. You may use one or more documents to assist "
    "with the user query.\n\nYou are given a list of documents within <documents></documents> XML tags:\n<documents>"
)
_AFTER = (
    "\n</documents>\n\nWrite the response to the user's input by strictly aligning with the facts in the provided "
    "documents. If the information needed to answer the question is not available in the documents, inform the user "
    "that the question cannot be answered based on the available data."
)

_PROBE_WORDS = 600  # far more than any template says of its own accord, far less than any context window
_LONGEST_TOKEN = 16  # characters per token that no text of ours exceeds on average; English has four or five
_TELLING = 1_000  # characters of documents from which a prompt that is too short shows


def as_key(documents: Sequence[Document]) -> list[dict[str, str]]:
    """For the request's ``documents``."""
    return [
        {"doc_id": d.id or str(i), "text": d.text} | ({"title": d.title} if d.title else {})
        for i, d in enumerate(documents)
    ]


def into_messages(messages: Sequence[Message], documents: Sequence[Document]) -> list[Message]:
    """The messages with the documents in the system turn, one JSON object a line; a system turn that is there goes
    before them.
    """
    # Escaped, no text inside can end the list.
    lines = (json.dumps(row, ensure_ascii=False).replace("<", "\\u003c") for row in as_key(documents))
    shown = "\n".join([_BEFORE, *lines]) + _AFTER
    if messages and messages[0].role in ("system", "developer"):
        first, *rest = messages
        return [Message(first.role, f"{first.content}\n\n{shown}"), *rest]
    return [Message("system", shown), *messages]


def tokenize_address(base_url: str) -> str:
    """Of vLLM's ``/tokenize``, which lies beside ``/v1`` and not below it."""
    parts = urlsplit(base_url)
    return urlunsplit(parts._replace(path=parts.path.rstrip("/").removesuffix("/v1") + "/tokenize"))


def probe(model: str) -> dict[str, Any]:
    """The body that asks how many tokens a short question with a long document has. Nothing is generated."""
    words = " ".join(str(i % 10) for i in range(_PROBE_WORDS))
    # Below chat_template_kwargs: the tokenizer's endpoint knows no `documents` of its own.
    return {
        "model": model,
        "messages": [{"role": "user", "content": "?"}],
        "chat_template_kwargs": {"documents": [{"doc_id": "0", "text": words}]},
    }


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
