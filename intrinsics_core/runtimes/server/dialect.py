"""How one OpenAI-compatible server wants a request said: pure functions from a request to a body.

Servers differ in a few keys. None is asked what it takes: the first request says it the usual way, and a refusal that
names a key of ours, whatever its status, tells to say it the other way from then on. A refusal that finds fault with
what a key says is about that request: a bad schema is an error, and no other request loses its constraint for it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, get_args

from intrinsics_core.protocol.requests import Choice, Constraint, Generate, JsonSchema, Regex
from intrinsics_core.protocol.task import Message
from intrinsics_core.runtimes.configs import Constraints, Length, Setting
from intrinsics_core.runtimes.server.constraint_support import without_bounds
from intrinsics_core.runtimes.shown_turns import LEVELS, Turns, as_key, into_messages, shown_turns

# Log-probabilities per place: room for ten digits in two spellings (vLLM's own default limit); what others allow; none.
_ALTERNATIVES = (20, 5, 0)


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a server takes.

    Attributes:
        constraints: how replies are constrained.
        alternatives: log-probabilities per place.
        length: the key for the length of a reply.
        documents: as the request's ``documents`` for the chat template, or in the messages.
        schema: how ``response_format`` spells a schema: OpenAI's way, or TGI's own.
        bounds: whether a schema may have its finer points: bounds, patterns, lengths.
        template: whether ``chat_template_kwargs`` are taken.
        reasoning: tokens that a reply may have beyond what its verdict needs.
        sampling: whether it takes parameters of sampling that only some servers know.
        turns: which order of turns its chat template takes.
        temperature, top_p, seed: ``"auto"`` as the request has it, a number in its place, None for leaving it out.
        extra: further keys of every body, which go before all others.
    """

    constraints: Constraints = "structured_outputs"
    alternatives: int = _ALTERNATIVES[0]
    length: Length = "max_tokens"
    documents: Literal["template", "messages"] = "messages"
    schema: Literal["json_schema", "json"] = "json_schema"
    bounds: bool = True
    template: bool = True
    reasoning: int = 0
    sampling: bool = True
    turns: Turns = "as given"
    temperature: Setting = "auto"
    top_p: Setting = "auto"
    seed: Setting = "auto"
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def constraint_key(self) -> str:
        """The key of a body that constrains, ``"none"`` for none."""
        return "response_format" if self.constraints == "json_object" else self.constraints

    def after(self, complaint: str, body: Mapping[str, Any], *, invalid: bool = True) -> Lesson | None:
        """What to try after a refusal with this text; None where nothing said otherwise would mend it. Of several keys
        that it names the first counts.

        Args:
            body: what was refused.
            invalid: whether the status says that the request is at fault. Where it does not (403, 500), the text must
                say so of the key.
        """
        found: dict[str, tuple[int, Callable[[Dialect], Dialect]]] = {}
        for key, names_it, change in _OTHERWISE:
            if key in body and (named := names_it.search(complaint)) and change(self) != self:
                found.setdefault(key, (named.start(), change))
        refused = _UNKNOWN_KEY.search(complaint) or _UNSUPPORTED.search(complaint)
        for key, (_, change) in sorted(found.items(), key=lambda row: row[1][0]):
            if not refused and (key in _SOUGHT or not invalid):
                continue  # the word stands in what the server quotes of the request, or in a fault of its own
            if key == "chat_template_kwargs" and set(body[key]) - _DISPENSABLE:
                return None  # without its adapter's name another model would answer
            if key not in get_args(Constraints) or _UNKNOWN_KEY.search(complaint):
                return Lesson(change, lasting=True)
            if change is not _unbounded and _VALUE.search(complaint):
                return None
            return Lesson(change, lasting=bool(_UNSUPPORTED.search(complaint)))
        return None

    def weaker(self, other: Dialect) -> Dialect:
        """What both sides take: two requests may have learnt two things at once."""
        return Dialect(**{f.name: _WEAKER[f.name](getattr(self, f.name), getattr(other, f.name)) for f in fields(self)})

    def taught(self, before: Dialect, after: Dialect) -> dict[str, Any]:
        """By name, what is weaker than in this one because it changed from ``before`` to ``after``."""
        weaker = self.weaker(after)
        changed = [f.name for f in fields(self) if getattr(before, f.name) != getattr(after, f.name)]
        return {name: new for name in changed if (new := getattr(weaker, name)) != getattr(self, name)}


def _later_of(order: Sequence[Any]) -> Callable[[Any, Any], Any]:
    return lambda one, other: max(one, other, key=order.index)


def _set(one: Setting, other: Setting) -> Setting:
    return None if one is None or other is None else one


# What is the weaker of two values of a field.
_WEAKER: Mapping[str, Callable[[Any, Any], Any]] = {
    "constraints": _later_of(get_args(Constraints)),
    "alternatives": min,
    "length": _later_of(get_args(Length)),
    "documents": _later_of(("template", "messages")),
    "schema": _later_of(("json_schema", "json")),
    "bounds": min,
    "template": min,
    "reasoning": max,
    "sampling": min,
    "turns": _later_of(LEVELS),
    "temperature": _set,
    "top_p": _set,
    "seed": _set,
    "extra": lambda one, other: one,
}

OF_MODEL = ("alternatives", "length", "temperature", "top_p", "seed")
"""What is one model's: behind a gateway another may take it."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """What a rejection taught: how to say it otherwise, and whether that holds for every later request too."""

    change: Callable[[Dialect], Dialect]
    lasting: bool


# Arguments of a chat template that only spare tokens: a model that is not told may reason, which is read all the same.
_DISPENSABLE = {"enable_thinking", "thinking"}

# Keys whose names are ordinary words, or stand in many a complaint about their value.
_SOUGHT = ("documents", "chat_template_kwargs", "max_completion_tokens", "top_p", "seed", "temperature")

# A server that does not know a key, in the words of pydantic, OpenAI and others.
_UNKNOWN_KEY = re.compile(
    r"extra[_ ](inputs?|fields?|param\w*|keys?|forbidden)"
    r"|(unknown|unrecogni[sz]ed|unexpected|unsupported|no such) (request )?"
    r"(param\w*|fields?|arg\w*|keys?|keyword|propert\w*|name)",
    re.IGNORECASE,
)
# A server that looked into what the key says.
_VALUE = re.compile(
    r"\b(schema|regexp?|regular expression|pattern|grammar|enum|choices?|unbalanced|unterminated)\b", re.IGNORECASE
)
_UNSUPPORTED = re.compile(
    r"unsupported|unavailable|unknown|(not|n't|cannot) (be )?(support|permit|allow|implement|enable|available|use)"
    r"|type'? must be|only (for|available|supported)|input should be|must be (strictly|greater|positive|>)"
    r"|is deprecated for|are fixed at|may only be set|cannot both be|must alternate|not a valid param"
    r"|invalid (temperature: only|param\w*: ['\"`]?(seed|temperature|top_p))|supported values are: ['\"](json|text)",
    re.IGNORECASE,
)
# Keywords that a schema can do without, as complaints name them.
_KEYWORD = (
    r"['\"`](m(in|ax)(imum|Length|Items|Properties)|exclusiveM(in|ax)imum|multipleOf|pattern|format|uniqueItems)['\"`]"
    r"|schema contains features"
)
# `response_format` of another type. llama-cpp-python: status 500 or 422, "Input should be 'text' or 'json_object'".
_OTHER_TYPE = (
    r"json_object|(type|response format).{0,30}json_schema|json_schema.{0,60}(not|n't|un) ?(support|avail|allow|permit)"
    r"|response_format type"
)
_ANY_FORMAT = r"response_format|(structured.?output|json mode).{0,20}(not|n't) (be )?(support|avail|allow|permit|enabl)"
_NO_SYSTEM = (
    r"System role not supported|only user and assistant roles|role' does not support '(?:system|developer)"
    r"|Developer instruction is not enabled|valid role: user, model"
)
_NO_PROBS = r"log_?probs['\"`]? (is|are) not (supp|avail|enabl|allow)|allowed to request logprobs|n't support logprobs"
_OTHER_LENGTH = r"max_?completion_?tokens|not support param\w*: [\[{]?'max_tokens"


def _weaker(before: Constraints, after: Constraints) -> Callable[[Dialect], Dialect]:
    return lambda d: replace(d, constraints=after) if d.constraints == before else d


def _unbounded(d: Dialect) -> Dialect:
    return replace(d, bounds=False)


def _set_to(**changes: Any) -> Callable[[Dialect], Dialect]:
    return lambda d: replace(d, **changes)


_ONLY_SOME = ("top_k", "min_p", "repetition_penalty", "frequency_penalty", "presence_penalty")
# key in the body, what a complaint about it looks like, what is changed
_OTHERWISE: tuple[tuple[str, re.Pattern[str], Callable[[Dialect], Dialect]], ...] = tuple(
    (key, re.compile(names_it, re.IGNORECASE), change)
    for key, names_it, change in (
        ("structured_outputs", _KEYWORD, _unbounded),
        ("structured_outputs", "structured_outputs", _weaker("structured_outputs", "response_format")),
        # TGI 2 knows a schema by another name; TGI 3 both.
        ("response_format", "unknown variant `json_schema`", _set_to(schema="json")),
        ("response_format", _KEYWORD, _unbounded),
        ("response_format", _OTHER_TYPE, _weaker("response_format", "json_object")),
        ("response_format", _ANY_FORMAT, _set_to(constraints="none")),
        # OpenAI, llama-cpp-python without --logits_all, Google: none at all. Others: fewer.
        ("logprobs", _NO_PROBS, _set_to(alternatives=0)),
        # TGI calls the alternatives of a place by the name of its own endpoint.
        ("logprobs", "log_?probs|top_n_tokens", lambda d: replace(d, alternatives=_fewer(d.alternatives))),
        ("documents", r"\bdocuments\b", _set_to(documents="messages")),
        ("chat_template_kwargs", "chat_template_kwargs", _set_to(template=False)),
        *((key, key, _set_to(sampling=False)) for key in _ONLY_SOME),
        # The model's chat template speaks: Mistral's and Gemma's words; then OpenAI's and Google's endpoints.
        ("messages", "roles must alternate|should alternate with", lambda d: replace(d, turns=_stricter(d.turns))),
        ("messages", _NO_SYSTEM, _set_to(turns="no system")),
        # A mere "max_tokens" is in many a complaint about its value, which no other name would mend.
        ("max_tokens", _OTHER_LENGTH, _set_to(length="max_completion_tokens")),
        ("max_completion_tokens", "max_completion_tokens", _set_to(length=None)),
        # Models that reason draw as they like: OpenAI's "Unsupported value: 'temperature' does not support 0".
        *((key, rf"\b{key}\b", _set_to(**{key: None})) for key in ("top_p", "seed", "temperature")),
    )
)


def refuses(complaint: str, body: Mapping[str, Any]) -> bool:
    """Whether a complaint says of a key of the body that it is not taken: nothing that another try would mend."""
    return bool(_UNKNOWN_KEY.search(complaint) or _UNSUPPORTED.search(complaint)) and any(
        key in body and names_it.search(complaint) for key, names_it, _ in _OTHERWISE
    )


def names(key: str) -> re.Pattern[str]:
    """What names this key of a body in a complaint."""
    return next(pattern for known, pattern, _ in _OTHERWISE if known == key)


def _stricter(turns: Turns) -> Turns:
    return LEVELS[min(LEVELS.index(turns) + 1, len(LEVELS) - 1)]


def _fewer(alternatives: int) -> int:
    return next((fewer for fewer in _ALTERNATIVES if fewer < alternatives), 0)


def body(request: Generate, model: str, dialect: Dialect) -> dict[str, Any]:
    """The JSON body of a request to ``/completions`` (a raw prompt) or ``/chat/completions`` (messages)."""
    shared: dict[str, Any] = {"model": model}
    for name in ("temperature", "top_p", "seed"):
        setting = getattr(dialect, name)
        if (value := getattr(request, name) if setting == "auto" else setting) is not None:
            shared[name] = value
    if isinstance(dialect.seed, int) and request.temperature > 0:  # samples differ
        shared["seed"] = dialect.seed + (request.seed or 0)
    if request.stop:
        shared["stop"] = list(request.stop)
    if dialect.sampling:
        shared |= request.sampling
    shared |= _constraint(request.constraint, dialect)
    shared |= _chat(request, dialect) if request.prompt is None else _completion(request, dialect)
    return {**shared, **dialect.extra}


def identity(request: Generate, said: Mapping[str, Any]) -> str:
    """Equal for requests that may share one reply: not a repeat after a malformed reply, nor another sample."""
    return json.dumps([request.attempt, request.seed, said], sort_keys=True)


def _completion(request: Generate, dialect: Dialect) -> dict[str, Any]:
    return (
        {"prompt": request.prompt}
        | _length(request, dialect, "max_tokens")
        | ({"logprobs": dialect.alternatives} if request.logprobs and dialect.alternatives else {})
    )


def _length(request: Generate, dialect: Dialect, key: Length) -> dict[str, Any]:
    if request.max_tokens is None or key is None or dialect.length is None:
        return {}
    return {key: request.max_tokens + dialect.reasoning}


def _chat(request: Generate, dialect: Dialect) -> dict[str, Any]:
    messages: Sequence[Message] = request.messages or ()
    in_template = dialect.documents == "template"
    if request.documents and not in_template:
        messages = into_messages(messages, request.documents)
    return (
        {"messages": [{"role": m.role, "content": m.content} for m in shown_turns(messages, dialect.turns)]}
        | ({"documents": as_key(request.documents)} if request.documents and in_template else {})
        | ({"chat_template_kwargs": dict(request.template)} if request.template and dialect.template else {})
        | _length(request, dialect, dialect.length)
        | (
            {"logprobs": True, "top_logprobs": dialect.alternatives}
            if request.logprobs and dialect.alternatives
            else {}
        )
    )


def _constraint(constraint: Constraint | None, dialect: Dialect) -> dict[str, Any]:
    key = dialect.constraint_key
    if constraint is None or key == "none":
        return {}
    if isinstance(constraint, JsonSchema) and not dialect.bounds:
        constraint = JsonSchema(without_bounds(constraint.schema))
    if key == "structured_outputs":
        return {key: structured(constraint)}
    if isinstance(constraint, JsonSchema):
        if dialect.constraints == "json_object":
            return {key: {"type": "json_object", "schema": dict(constraint.schema)}}
        if dialect.schema == "json":
            return {key: {"type": "json", "value": dict(constraint.schema)}}
        return {key: {"type": "json_schema", "json_schema": _named_schema(constraint.schema)}}
    return {}  # response_format has no word for a choice or a pattern of plain text


def structured(constraint: Constraint) -> dict[str, Any]:
    """A constraint by its kind, as vLLM names the kinds."""
    match constraint:
        case Choice(options):
            return {"choice": list(options)}
        case Regex(pattern):
            return {"regex": pattern}
        case JsonSchema(schema):
            return {"json": dict(schema)}


def _named_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    name = re.sub(r"[^A-Za-z0-9_-]", "_", str(schema.get("title") or "reply"))[:64]
    # Endpoints that enforce a schema only when it is "strict" demand this shape of it.
    strict = schema.get("type") == "object" and schema.get("additionalProperties") is False
    return {"name": name, "schema": dict(schema), "strict": strict}
