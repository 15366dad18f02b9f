"""Servers that say who they are, in their list of models or beside a reply; what is known of each beforehand; and how
documents reach the model there.

Only what would cost a rejected request or a lost constraint to find out stands here; a server that is not in the table
is learnt from its replies. Sources: the documentation of each, see ``docs/servers.md``.

Documents go as the request's ``documents``, which only vLLM hands to the chat template, or in the messages, which every
server does. A server that does not know the key drops it without a word, and the model judges without what it should
judge by. So documents go into the messages unless the server is known to show them: vLLM counts the tokens of a request
(``/tokenize``), and a request with a long document is long only where the template has a place for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from intrinsics_core.protocol.requests import Generate
from intrinsics_core.runtimes.server.listing import Listing


@dataclass(frozen=True, slots=True)
class Known:
    """A server's name, the fields of its ``Dialect`` that are known, whether it drops ``documents`` without a word."""

    name: str
    begins: Mapping[str, Any] = field(default_factory=dict)
    drops_documents: bool = False

    @property
    def vllm(self) -> bool:
        return self.name == _VLLM


_VLLM = "vLLM"
_GATEWAY = {"constraints": "response_format", "template": False}
_OPEN = {"constraints": "response_format"}

VLLM = Known(_VLLM)
OPENAI = Known("OpenAI", _GATEWAY)
TGI = Known("TGI", {**_GATEWAY, "schema": "json", "alternatives": 5})
LLAMA_CPP = Known("llama.cpp", _OPEN, drops_documents=True)
_STRANGER = Known("another server than vLLM", _GATEWAY)

# owned_by of /v1/models
_OWNERS: Mapping[str, Known] = {
    "vllm": VLLM,
    "sglang": Known("SGLang", _OPEN, drops_documents=True),
    "llamacpp": LLAMA_CPP,
    "library": Known("Ollama", _OPEN, drops_documents=True),
    "organization_owner": Known("LM Studio", _OPEN, drops_documents=True),
    # LiteLLM says so, too, of all its models: what it hands on is for whoever stands behind it to take.
    "openai": Known("OpenAI, or a gateway that speaks like it", _GATEWAY),
    "system": OPENAI,
    "openai-internal": OPENAI,
}


def by_address(base_url: str) -> Known | None:
    host = urlsplit(base_url).hostname or ""
    return OPENAI if host == "api.openai.com" or host.endswith(".api.openai.com") else None


def by_listing(listing: Listing) -> Known | None:
    """Who the server says it is; None where it names no owner."""
    owners = listing.owners
    if known := next((_OWNERS[owner] for owner in owners if owner in _OWNERS), None):
        return known
    if listing.entries and all(entry.owner == entry.name for entry in listing.entries):
        return TGI
    # What a server calls itself is shown to people: in one line, and not at length.
    return Known("".join(filter(str.isprintable, ", ".join(owners)))[:80], _OPEN) if owners else None


def by_tokenizer(answer: Any) -> Known:
    """Who it is by what it answers when asked to count as vLLM counts: JSON, or the text of a refusal."""
    if shown(answer) is not None:
        return VLLM
    if isinstance(answer, Mapping) and isinstance(answer.get("tokens"), list):
        return LLAMA_CPP
    return TGI if isinstance(answer, str) and "missing field `inputs`" in answer else _STRANGER


# --- documents --------------------------------------------------------------------------------------------------------


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
