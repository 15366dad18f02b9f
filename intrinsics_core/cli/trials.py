"""One small question to each intrinsic of a profile, asked as the profile asks it: its own prompt and constraint.

A server that answers every request may still answer none as the adapters need it. Only the reply shows that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from intrinsics_core.intrinsics import INTRINSICS, TABLE
from intrinsics_core.protocol.call import Call, step, watched
from intrinsics_core.protocol.errors import IntrinsicsError, MalformedReply, UnknownAdapter
from intrinsics_core.protocol.profile import Profile
from intrinsics_core.protocol.requests import Choice, Generate, Generated, JsonSchema, Outcome, Regex, Request
from intrinsics_core.running.execution import run
from intrinsics_core.runtimes.base import Runtime
from intrinsics_core.runtimes.server.constraint_support import constraint_kept
from intrinsics_core.runtimes.server.examination import Finding

_DOCUMENT = "Ada Brink built the lighthouse. It was lit in 1871."
_ASKED = [
    {"role": "user", "content": "Who built the lighthouse?"},
    {"role": "assistant", "content": "Ada Brink built it."},
    {"role": "user", "content": "When was it lit?"},
]
_ANSWERED = [*_ASKED, {"role": "assistant", "content": "It was lit in 1871."}]
_ELSEWHERE = [*_ASKED[:2], {"role": "user", "content": "What does a ticket for the ferry to Brill cost?"}]
_DECIDE = ("answerability", "context-relevance")  # what is asked a second time, where the document does not answer
_ONE = "answerability"  # what is asked where a profile has no adapters: its formats then share one model
_WORDS = {Choice: "a choice", Regex: "a regular expression", JsonSchema: "a JSON schema"}
_BARE = 4  # tokens that the one letter "a" has at most; a chat template adds more
_SHOWN = 80  # characters of a reply that are shown


def tried(engine: Runtime, profile: Profile) -> Iterator[Finding]:
    """A finding for each intrinsic that the profile has an adapter for, else for one; adapters that the server lacks
    are left out.

    Before them comes a finding about raw prompts, where the profile sends such and the server changes them. Gates are
    asked one question that the document answers and one that it does not; a finding says how the verdicts differ.
    """
    names = [name for name in profile.models if name in TABLE] or [_ONE]
    looked = False
    for name in names:
        record = TABLE[name]
        messages = _ASKED if "user" in record.ends_with else _ANSWERED
        call = INTRINSICS[name](messages, [_DOCUMENT]) if record.needs_documents else INTRINSICS[name](messages)
        requests = _first(call, profile)
        raw = next((r for r in requests if isinstance(r, Generate) and r.prompt is not None), None)
        if raw is not None and not looked:
            finding = _prompts(engine, raw)
            looked = finding is not None
            if finding and finding.state != "works":
                yield finding
        finding, verdict = _trial(engine, call, profile, name, requests)
        if finding is not None:
            yield finding
        if verdict is not None and name in _DECIDE and (finding := _told_apart(engine, profile, name, verdict)):
            yield finding


def _told_apart(engine: Runtime, profile: Profile, name: str, verdict: str) -> Finding | None:
    """Whether a gate's verdict on a question that the document does not answer is another one."""
    try:
        other = _verdict(run(INTRINSICS[name](_ELSEWHERE, [_DOCUMENT]), engine, profile=profile))
    except IntrinsicsError:
        return None  # it can judge, as the first question showed
    if other != verdict:
        return Finding("verdicts", "works", f"{name}: {verdict}; where the document does not answer: {other}")
    return Finding("verdicts", "degraded",
                    f"{name}: {verdict} of a question that the document answers, and of one that it does not",
                    "a judge that tells them apart: a larger model, or an adapter trained for it")  # fmt: skip


def _verdict(result: Any) -> str | None:
    """The label of a result, or of its one judgement."""
    return getattr(next(iter(getattr(result, "judgements", ())), result), "label", None)


def _first(call: Call[Any], profile: Profile) -> list[Request]:
    program = call.start(profile)
    try:
        requests, _ = step(program, None)
        return list(requests or ())
    except IntrinsicsError:  # told by the trial
        return []
    finally:
        program.close()


def _prompts(engine: Runtime, like: Generate) -> Finding | None:
    """Whether a raw prompt reaches the model as it is; None where the model is not there."""
    asked = Generate(like.intrinsic, prompt="a", adapter=like.adapter, models=like.models, max_tokens=1)
    (outcome,) = engine.handle([asked])
    if not isinstance(outcome, Generated):
        return None
    tokens = outcome.usage.prompt_tokens
    if tokens <= _BARE:
        return Finding("prompts", "works", "raw prompts reach the model as they are")
    return Finding("prompts", "refused", f"the server puts its chat template around a raw prompt: {tokens} tokens for "
                    "one letter", "a server whose /v1/completions takes a prompt as it is, such as vLLM")  # fmt: skip


def _trial(
    engine: Runtime, call: Call[Any], profile: Profile, name: str, requests: list[Request]
) -> tuple[Finding | None, str | None]:
    """The finding, None where the server lacks the adapter; and the verdict, None where there is none."""
    kinds = {type(r.constraint) for r in requests if isinstance(r, Generate) and r.constraint is not None}
    wanted = ", ".join(_WORDS[kind] for kind in kinds if kind in _WORDS)
    try:
        result, kept = _driven(engine, call, profile)
    except UnknownAdapter:
        return None, None  # the finding about adapters names it
    except MalformedReply as error:
        said = f"the reply cannot be read: {(error.got or error.raw or error.message)[:_SHOWN]}"
        change = f"a server that constrains replies to {wanted}" if wanted else error.expected
        return Finding(name, "refused", said, change), None
    except IntrinsicsError as error:
        return Finding(name, "refused", error.message, error.expected), None
    label = getattr(result, "label", None) or "its reply can be read"
    if kept:
        return Finding(name, "works", str(label)), _verdict(result)
    return Finding(name, "degraded", f"{label}; the reply does not keep to {wanted}",
                    f"a server that constrains replies to {wanted}"), _verdict(result)  # fmt: skip


def _driven(engine: Runtime, call: Call[Any], profile: Profile) -> tuple[Any, bool]:
    """The result, and whether every reply kept to its constraint as far as can be told."""
    kept = True

    def look(requests: Sequence[Request], outcomes: Sequence[Outcome]) -> None:
        nonlocal kept
        for request, outcome in zip(requests, outcomes, strict=True):
            if isinstance(request, Generate) and isinstance(outcome, Generated) and request.constraint:
                kept = kept and constraint_kept(request.constraint, outcome) is not False

    looking = replace(call, program=lambda task, own: watched(call.program(task, own), look))
    return run(looking, engine, profile=profile), kept
