"""What a server does with what the intrinsics need, one request each: for ``intrinsics check``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from intrinsics_core.protocol.errors import IntrinsicsError, raised
from intrinsics_core.protocol.profile import Profile
from intrinsics_core.protocol.requests import Generate, Generated, JsonSchema
from intrinsics_core.protocol.task import Document, Message
from intrinsics_core.runtimes.adapters import key_of
from intrinsics_core.runtimes.server.constraint_support import constraint_kept
from intrinsics_core.runtimes.server.listing import Listing, Unmatched, choose, makes_vectors, some
from intrinsics_core.runtimes.server.runtime import ServerRuntime

State = Literal["works", "degraded", "refused"]

_NAME = "check"  # stands for the intrinsic in requests and errors
# A word that no model says to this of its own accord.
_ODD = JsonSchema({
    "title": "check", "type": "object", "properties": {"word": {"type": "string", "enum": ["quartz"]}},
    "required": ["word"], "additionalProperties": False,
})  # fmt: skip
_WORDS = 400  # a document of so many words has at least as many tokens


@dataclass(frozen=True, slots=True)
class Finding:
    """What was looked at, how it stands, what was seen, and what to change where that helps."""

    subject: str
    state: State
    seen: str
    change: str | None = None


def examine(runtime: ServerRuntime, profile: Profile) -> Iterator[Finding]:
    """Findings, as they come; a server that cannot be reached ends them.

    Args:
        profile: the profile that is to be used: its adapters are looked for.
    """
    try:
        listing = runtime.listing()
    except IntrinsicsError as error:
        yield _failed("models", error, "base_url, and whether the server runs")
        return
    yield Finding("server", "works", runtime.capabilities().server or "one that does not say who it is")
    yield _models(listing)
    for subject, look in _LOOKS.items():
        try:
            yield look(runtime, profile)
        except IntrinsicsError as error:
            yield _failed(subject, error)
    yield from _adapters(runtime, profile, listing)
    if refused := runtime.capabilities().refused:
        change = None if refused == ("length",) else "a model that takes them, where verdicts must repeat"
        yield Finding("sampling", "degraded", f"the model refuses {', '.join(refused)}: asked without it", change)
    if spent := runtime.capabilities().reasoning_tokens - runtime.config.reasoning_tokens:
        yield Finding("reasoning", "degraded", f"the model reasons before it answers, in up to {spent} tokens",
                      f"reasoning_tokens={spent}, or a model that is told not to reason")  # fmt: skip


def _models(listing: Listing) -> Finding:
    named = [entry.name for entry in listing.entries if not entry.parent]
    bases, vectors = [n for n in named if not makes_vectors(n)], [n for n in named if makes_vectors(n)]
    adapters = [entry.name for entry in listing.entries if entry.parent]
    return Finding("models", "works" if bases else "degraded",
                   f"{some(bases) or 'none'}; adapters: {some(adapters) or 'none'}"
                   + (f"; for vectors, not asked: {some(vectors)}" if vectors else ""),
                   None if bases else "model=... in the runtime's config")  # fmt: skip


def _ask(runtime: ServerRuntime, profile: Profile, text: str, **more: object) -> Generated:
    request = Generate(_NAME, messages=(Message("user", text),), models=profile.models.get(None, ()), **more)  # type: ignore[arg-type]
    (outcome,) = runtime.handle([request])
    reply = raised(outcome)
    assert isinstance(reply, Generated)
    return reply


def _failed(of: str, error: IntrinsicsError, advice: str | None = None) -> Finding:
    return Finding(of, "refused", error.message + (f" ({error.got})" if error.got else ""), error.expected or advice)


def _constraints(runtime: ServerRuntime, profile: Profile) -> Finding:
    reply = _ask(runtime, profile, "Say hello.", constraint=_ODD, max_tokens=48)
    by = runtime.capabilities().constraints
    if by == "none":
        return Finding("constraints", "degraded", "the server takes none: replies are read as they come",
                       "a server that takes structured_outputs or response_format")  # fmt: skip
    if constraint_kept(_ODD, reply):
        return Finding("constraints", "works", f"replies keep to {by}")
    return Finding("constraints", "degraded", f"the reply does not keep to {by}: {reply.text[:80]!r}",
                   "a server, or a model on it, that enforces JSON schemas")  # fmt: skip


def _logprobs(runtime: ServerRuntime, profile: Profile) -> Finding:
    if not runtime.config.logprobs:
        return Finding("log-probabilities", "degraded", "switched off in the runtime's config", "logprobs=True")
    reply = _ask(runtime, profile, "Say yes or no.", logprobs=True, max_tokens=4)
    tokens = reply.logprobs or ()
    if any(text != token.token for token in tokens for text, _ in token.top):
        return Finding("log-probabilities", "works", f"{max(len(token.top) for token in tokens)} alternatives a place")
    missing = "no alternatives" if tokens else "none"
    return Finding("log-probabilities", "degraded", f"{missing}: scores rest on what the model states, where it does",
                   "a server that gives logprobs and top_logprobs, where scores matter")  # fmt: skip


def _documents(runtime: ServerRuntime, profile: Profile) -> Finding:
    long = Document(" ".join(str(i % 10) for i in range(_WORDS)), id="0")
    reply = _ask(runtime, profile, "Which digits are in the document?", documents=(long,), max_tokens=1)
    known, tokens = runtime.capabilities(), reply.usage.prompt_tokens
    if 0 < tokens < _WORDS:
        return Finding("documents", "refused", f"the model did not see them: a prompt of {tokens} tokens",
                       'documents="messages" in the runtime\'s config, or a server with a larger context')  # fmt: skip
    if known.documents == "template":
        how = "through the chat template" if tokens else "as the request's documents; what the model saw is not told"
        return Finding("documents", "works" if tokens else "degraded", how)
    if known.server == "vLLM" and runtime.config.documents == "auto":
        return Finding("documents", "degraded", "the chat template ignores them (as prereleases of Granite 4.2 do): "
                       "they go into the messages", "a chat template with a place for documents")  # fmt: skip
    return Finding("documents", "works", "in the messages")


_LOOKS = {"constraints": _constraints, "log-probabilities": _logprobs, "documents": _documents}


def _adapters(runtime: ServerRuntime, profile: Profile, listing: Listing) -> Iterator[Finding]:
    """Which of the profile's adapters the server has; one of them is asked for a word."""
    wanted = [name for name in profile.models if name is not None]
    inside = [name for name in wanted if getattr(getattr(profile, "specs", {}).get(name), "switch", None)]
    if inside:
        try:
            _ask(runtime, profile, "?", template={"adapter_name": inside[0]}, max_tokens=1)
            yield Finding("adapters", "works", f"inside the checkpoint: {some(inside)}")
        except IntrinsicsError as error:
            yield _failed("adapters", error)
    wanted = [name for name in wanted if name not in inside]
    if not wanted:
        if not inside:
            yield Finding("adapters", "works", f"profile {profile.name!r} asks for none")
        return
    asked = {
        name: Generate(name, adapter=name, models=profile.models[name], messages=(Message("user", "?"),), max_tokens=1)
        for name in wanted
    }

    def listed(name: str) -> bool:
        named = key_of(runtime.adapters, asked[name]) is not None
        return named or not isinstance(choose(listing, asked[name], runtime.model), Unmatched)

    there = [name for name in wanted if listed(name)]
    missing = [name for name in wanted if name not in there]
    if there:
        (outcome,) = runtime.handle([asked[there[0]]])
        if isinstance(outcome, IntrinsicsError):
            yield _failed("adapters", outcome)
            return
    state: State = "refused" if not there else "degraded" if missing else "works"
    seen = f"{some(there) or 'none'}" + (f"; missing: {some(missing)}" if missing else "")
    change = f"load them, or name them: adapters={{{missing[0]!r}: NAME}}" if missing else None
    yield Finding("adapters", state, seen, change)
