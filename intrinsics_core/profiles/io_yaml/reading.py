"""From an adapter's reply to checked JSON.

The reply must be what the file's schema admits, sentence numbers apart: one that does not exist, a negative one
included, costs its own entry and not the reply.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from intrinsics_core.profiles.io_yaml import limits
from intrinsics_core.profiles.io_yaml.located import Decoder, located, plain
from intrinsics_core.profiles.io_yaml.rendering import numbering
from intrinsics_core.profiles.io_yaml.spec import Spec
from intrinsics_core.profiles.io_yaml.transformations import Work
from intrinsics_core.protocol.errors import MalformedReply
from intrinsics_core.protocol.requests import Generated
from intrinsics_core.protocol.results import AdapterOutput
from intrinsics_core.protocol.task import Task
from intrinsics_core.replies import json_reply, readers

_KINDS: dict[Any, type] = {"object": dict, "array": list}


@cache
def _decoder() -> Decoder:
    return Decoder()


def output(spec: Spec, task: Task, reply: Generated) -> AdapterOutput:
    """The reply after the file's transformations.

    Raises:
        MalformedReply: it is not what the schema or a transformation expects.
    """
    value = read(spec, reply)
    work = Work(numbering(spec, task), reply)
    try:
        for rule in spec.rules:
            value = rule.apply(value, work)
        return AdapterOutput(value=plain(value), dropped=work.dropped)
    except RecursionError:
        raise MalformedReply("the reply is nested too deeply", raw=reply.text) from None


def read(spec: Spec, reply: Generated) -> Any:
    """The reply's JSON, checked against the schema; its strings know their place. Free text where there is no schema.

    Documented repairs: a label without the quotes of JSON is taken for a string where a string is due; of "label" and
    "score", each stands for the other where the schema knows one alone (a published instruction asks for the other).

    Raises:
        MalformedReply: it is no such JSON.
    """
    expected = f"JSON as in the response_format of {spec.source}" if spec.schema is not None else "text or JSON"
    try:
        value = _parsed(spec.schema, reply, expected)
        if spec.schema is not None:
            value = _renamed(spec.schema, value)
            _check(spec, value, expected, reply)
    except RecursionError:
        raise MalformedReply("the reply is nested too deeply", expected=expected, raw=reply.text) from None
    return value


def _parsed(schema: Mapping[str, Any] | None, reply: Generated, expected: str) -> Any:
    kind = None if schema is None else schema.get("type")
    if isinstance(kind, str) and kind in _KINDS:
        return readers.parsed(reply, _KINDS[kind], expected, _decoder())
    text = reply.text.strip()
    if not text:
        raise MalformedReply("the reply is empty", expected=expected, got=repr(reply.text), raw=reply.text)
    begin = reply.text.find(text)
    try:
        value, end = _decoder().raw_decode(reply.text, begin)
    except ValueError:
        value, end = None, 0
    if not end or reply.text[end:].strip():
        value = located(text, begin)
    return json_reply.writable(value, reply.text, expected)


_EITHER = {"label": "score", "score": "label"}


def _renamed(schema: Mapping[str, Any], value: Any) -> Any:
    known = schema.get("properties")
    if not isinstance(value, dict) or not isinstance(known, dict):
        return value
    return {
        _EITHER[key]
        if key in _EITHER and key not in known and _EITHER[key] in known.keys() - value.keys()
        else key: item
        for key, item in value.items()
    }


def _check(spec: Spec, value: Any, expected: str, reply: Generated) -> None:
    try:
        error = limits.first_error(spec.validator, plain(value))
    except limits.BeyondLimits as beyond:
        raise MalformedReply(f"the reply cannot be checked: {beyond}", expected=expected, raw=reply.text) from None
    if error is not None:
        raise MalformedReply(f"the reply does not fit the schema at {error.json_path}: {error.message[:300]}",
                             expected=expected, got=repr(reply.text), raw=reply.text)  # fmt: skip
