"""How one OpenAI-compatible server wants a request said: pure functions from a request to a body.

Servers differ in a few keys. None is asked what it takes: the first request says it the usual way, and a 400 that does
not know a key of ours tells to say it the other way from then on. A 400 that finds fault with what a key says is about
that request: a bad schema is an error, and no other request loses its constraint for it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args

from intrinsics_core.protocol.requests import Choice, Constraint, Generate, JsonSchema, Regex
from intrinsics_core.protocol.task import Message
from intrinsics_core.runtimes.configs import Constraints
from intrinsics_core.runtimes.shown_documents import as_key, into_messages
from intrinsics_core.runtimes.shown_turns import LEVELS, Turns, shown_turns

# Log-probabilities per place: room for ten digits in two spellings (vLLM's own default limit); what others allow; none.
_ALTERNATIVES = (20, 5, 0)


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a server takes.

    Attributes:
        constraints: the key that constrains.
        alternatives: log-probabilities per place.
        length: the key for the length of a reply.
        documents: as the request's ``documents`` for the chat template, or in the messages.
        schema: how ``response_format`` spells a schema: OpenAI's way, or TGI's own.
        template: whether ``chat_template_kwargs`` are taken.
        reasoning: tokens that a reply may have beyond what its verdict needs.
        sampling: whether it takes parameters of sampling that only some servers know.
        turns: which order of turns its chat template takes.
    """

    constraints: Constraints = "structured_outputs"
    alternatives: int = _ALTERNATIVES[0]
    length: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    documents: Literal["template", "messages"] = "messages"
    schema: Literal["json_schema", "json"] = "json_schema"
    template: bool = True
    reasoning: int = 0
    sampling: bool = True
    turns: Turns = "as given"

    def after(self, complaint: str, body: Mapping[str, Any]) -> Lesson | None:
        """What to try after a 400 with this text; None where nothing said otherwise would mend it."""
        for key, names_it, change in _OTHERWISE:
            if key in body and names_it.search(complaint) and change(self) != self:
                if key in _SOUGHT and not (_UNKNOWN_KEY.search(complaint) or _UNSUPPORTED.search(complaint)):
                    continue  # the word stands in what the server quotes of the request
                if key == "chat_template_kwargs" and set(body[key]) - _DISPENSABLE:
                    return None  # without its adapter's name another model would answer
                constrains = key in get_args(Constraints)
                if not constrains or _UNKNOWN_KEY.search(complaint):
                    return Lesson(change, lasting=True)
                if _VALUE.search(complaint):
                    return None
                return Lesson(change, lasting=bool(_UNSUPPORTED.search(complaint)))
        return None

    def weaker(self, other: Dialect) -> Dialect:
        """What both sides take: two requests may have learnt two things at once."""
        return Dialect(
            max(self.constraints, other.constraints, key=get_args(Constraints).index),
            min(self.alternatives, other.alternatives),
            max(self.length, other.length, key=len),
            min(self.documents, other.documents),  # "messages" before "template"
            min(self.schema, other.schema, key=len),
            self.template and other.template,
            max(self.reasoning, other.reasoning),
            self.sampling and other.sampling,
            max(self.turns, other.turns, key=LEVELS.index),
        )

    def taught(self, before: Dialect, after: Dialect) -> Dialect:
        """This one, weakened by what changed from ``before`` to ``after``."""
        weaker = self.weaker(after)
        changed = (f.name for f in fields(self) if getattr(before, f.name) != getattr(after, f.name))
        return replace(self, **{name: getattr(weaker, name) for name in changed})


@dataclass(frozen=True, slots=True)
class Lesson:
    """What a rejection taught: how to say it otherwise, and whether that holds for every later request too."""

    change: Callable[[Dialect], Dialect]
    lasting: bool


# Arguments of a chat template that only spare tokens: a model that is not told may reason, which is read all the same.
_DISPENSABLE = {"enable_thinking", "thinking"}

# Keys whose names are ordinary words.
_SOUGHT = ("documents", "chat_template_kwargs")

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
    r"|type'? must be|only (for|available|supported)",
    re.IGNORECASE,
)


def _weaker(before: Constraints, after: Constraints) -> Callable[[Dialect], Dialect]:
    return lambda d: replace(d, constraints=after) if d.constraints == before else d


# key in the body, what a complaint about it looks like, what is changed
_OTHERWISE: tuple[tuple[str, re.Pattern[str], Callable[[Dialect], Dialect]], ...] = (
    (
        "structured_outputs",
        re.compile("structured_outputs"),
        _weaker("structured_outputs", "response_format"),
    ),
    # TGI 2 knows a schema by another name; TGI 3 both.
    ("response_format", re.compile("unknown variant `json_schema`"), lambda d: replace(d, schema="json")),
    ("response_format", re.compile("response_format"), _weaker("response_format", "none")),
    # TGI calls the alternatives of a place by the name of its own endpoint.
    ("logprobs", re.compile("logprobs|top_n_tokens"), lambda d: replace(d, alternatives=_fewer(d.alternatives))),
    ("documents", re.compile(r"\bdocuments\b"), lambda d: replace(d, documents="messages")),
    ("chat_template_kwargs", re.compile("chat_template_kwargs"), lambda d: replace(d, template=False)),
    *(
        (key, re.compile(key), lambda d: replace(d, sampling=False))
        for key in ("top_k", "min_p", "repetition_penalty", "frequency_penalty", "presence_penalty")
    ),
    # The model's chat template speaks: Mistral's and Gemma's words.
    ("messages", re.compile("roles must alternate"), lambda d: replace(d, turns=_stricter(d.turns))),
    (
        "messages",
        re.compile("System role not supported|[Oo]nly user and assistant roles"),
        lambda d: replace(d, turns="no system"),
    ),
    # A mere "max_tokens" is in many a complaint about its value, which no other name would mend.
    ("max_tokens", re.compile("max_completion_tokens"), lambda d: replace(d, length="max_completion_tokens")),
)


def _stricter(turns: Turns) -> Turns:
    return LEVELS[min(LEVELS.index(turns) + 1, len(LEVELS) - 1)]


def _fewer(alternatives: int) -> int:
    return next(fewer for fewer in _ALTERNATIVES if fewer < alternatives)


def body(request: Generate, model: str, dialect: Dialect) -> dict[str, Any]:
    """The JSON body of a request to ``/completions`` (a raw prompt) or ``/chat/completions`` (messages)."""
    shared: dict[str, Any] = {"model": model, "temperature": request.temperature}
    if request.top_p is not None:
        shared["top_p"] = request.top_p
    if request.stop:
        shared["stop"] = list(request.stop)
    if request.seed is not None:
        shared["seed"] = request.seed
    if dialect.sampling:
        shared |= request.sampling
    shared |= _constraint(request.constraint, dialect)
    if request.prompt is not None:
        return shared | _completion(request, dialect)
    return shared | _chat(request, dialect)


def identity(request: Generate, said: Mapping[str, Any]) -> str:
    """Equal for requests that may share one reply. A repeat after a malformed reply is another request."""
    return json.dumps([request.attempt, said], sort_keys=True)


def _completion(request: Generate, dialect: Dialect) -> dict[str, Any]:
    return (
        {"prompt": request.prompt}
        | ({} if request.max_tokens is None else {"max_tokens": request.max_tokens + dialect.reasoning})
        | ({"logprobs": dialect.alternatives} if request.logprobs and dialect.alternatives else {})
    )


def _chat(request: Generate, dialect: Dialect) -> dict[str, Any]:
    messages: Sequence[Message] = request.messages or ()
    in_template = dialect.documents == "template"
    if request.documents and not in_template:
        messages = into_messages(messages, request.documents)
    return (
        {"messages": [{"role": m.role, "content": m.content} for m in shown_turns(messages, dialect.turns)]}
        | ({"documents": as_key(request.documents)} if request.documents and in_template else {})
        | ({"chat_template_kwargs": dict(request.template)} if request.template and dialect.template else {})
        | ({} if request.max_tokens is None else {dialect.length: request.max_tokens + dialect.reasoning})
        | (
            {"logprobs": True, "top_logprobs": dialect.alternatives}
            if request.logprobs and dialect.alternatives
            else {}
        )
    )


def _constraint(constraint: Constraint | None, dialect: Dialect) -> dict[str, Any]:
    key = dialect.constraints
    if constraint is None or key == "none":
        return {}
    if key == "structured_outputs":
        return {key: _structured(constraint)}
    if isinstance(constraint, JsonSchema):
        if dialect.schema == "json":
            return {key: {"type": "json", "value": dict(constraint.schema)}}
        return {key: {"type": "json_schema", "json_schema": _named_schema(constraint.schema)}}
    return {}  # response_format has no word for a choice or a pattern of plain text


def _structured(constraint: Constraint) -> dict[str, Any]:
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
