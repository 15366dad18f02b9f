"""What each kind of runtime is configured with: one discriminated union, open for registered kinds.

Python, the command line and the components of the frameworks take these configs, as objects or as plain mappings.
Errors name the field and never show a secret. A key is a pydantic ``SecretStr`` from here on.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from os import environ
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args
from urllib.parse import urlsplit, urlunsplit

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    SecretStr,
    TypeAdapter,
    ValidationError,
)

from intrinsics_core.errors import InvalidInput

Constraints = Literal["structured_outputs", "response_format", "none"]  # from the most expressive to none
Documents = Literal["auto", "template", "messages"]  # how documents reach a server's model
C = TypeVar("C", bound="Config")


# --- values -------------------------------------------------------------------------------------------------------


def _address(value: Any) -> str:
    """An http address; ``/v1`` is added where it has no path."""
    try:
        parts = urlsplit(value if isinstance(value, str) else "")
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:  # brackets without a pair, or a port that is none
        fits = False
    if not fits:
        raise InvalidInput("is no address", expected="http://host:port/v1", got=_scheme_and_host(value))
    if parts.username or parts.password:
        raise InvalidInput("holds a user name or password", expected="the key in api_key alone")
    return urlunsplit(parts._replace(path=parts.path.rstrip("/") or "/v1"))


def _scheme_and_host(value: Any) -> str:
    """What may be shown of a text that is no address: the rest may be a user, a password or a key."""
    if not isinstance(value, str):
        return type(value).__name__
    match = re.match(r"([A-Za-z][A-Za-z0-9+.-]*)://(?:[^/?#]*@)?([\w.-]*)", value)
    if match is None:
        return "text without http:// or https://"
    # A slash or a mark in a password ends what looks like the host before the real one.
    return repr(match[1] + "://" + ("..." if "@" in value[match.end() :] else match[2]))


def shown(address: str) -> str:
    """The address without its query, where people put keys."""
    return urlunsplit(urlsplit(address)._replace(query="", fragment=""))


def _secret(value: Any) -> SecretStr | None:
    """From text, or from an object that keeps it (pydantic's ``SecretStr``, Haystack's ``Secret``)."""
    for reveal in ("get_secret_value", "resolve_value"):
        if hasattr(value, reveal):
            value = getattr(value, reveal)()
    if value is None:
        return None
    if not isinstance(value, str):
        raise InvalidInput("is no text", got=type(value).__name__)
    value = value.strip()
    if not value.isascii() or not value.isprintable() or " " in value:
        raise InvalidInput("cannot be sent", expected="printable ASCII characters without spaces")
    return SecretStr(value) if value else None


def _number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput("is no number", expected="a number", got=repr(value))
    return value


def _whole(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInput("is no whole number", expected="a whole number", got=repr(value))
    return value


Address = Annotated[str, BeforeValidator(_address)]
Key = Annotated[SecretStr | None, BeforeValidator(_secret)]
Name = Annotated[str, Field(min_length=1, strict=True)]
Names = Mapping[Name, Name]
Places = Mapping[str, Annotated[str, BeforeValidator(lambda value: str(value) if isinstance(value, Path) else value)]]
Seconds = Annotated[float, BeforeValidator(_number), Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, BeforeValidator(_whole), Field(ge=1)]
CountOrNone = Annotated[int, BeforeValidator(_whole), Field(ge=0)]  # none at all is a choice: 0
Dtype = Literal["auto", "float32", "bfloat16", "float16"]
_ModelPlace = Annotated[str, BeforeValidator(lambda value: str(value) if isinstance(value, Path) else value)]


def environment_key() -> SecretStr | None:
    """The key in the environment's ``OPENAI_API_KEY``, where there is one."""
    return _secret(environ.get("OPENAI_API_KEY"))


# --- kinds --------------------------------------------------------------------------------------------------------


class Config(BaseModel):
    """Base of every kind's config. The fields are the arguments of its runtime, which says what they mean.

    ``profile`` names the profile that requests are rendered with; the runtime's own where left out. ``calibrations``
    are by intrinsic what ``calibrate`` fitted: its file, or its JSON object.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, arbitrary_types_allowed=True)

    kind: str
    profile: Name | None = None
    calibrations: Mapping[str, Any] | None = None

    @property
    def given(self) -> dict[str, Any]:
        """What was set, as arguments of the runtime."""
        return {name: getattr(self, name) for name in self.model_fields_set - {"kind", "profile"}}


class EmbeddedConfig(Config):
    kind: Literal["embedded"] = "embedded"
    path: str | Path | None = None
    thresholds: Mapping[str, Any] | None = None
    threads: Count | None = None
    cache_size: CountOrNone = 64 * 2**20
    max_document_tokens: Count = 10_000_000
    reader: str | Path | Literal[False] | None = None


class ServerConfig(Config):
    kind: Literal["server"] = "server"
    base_url: Address
    api_key: Key = None
    model: Name | None = None
    adapters: Names | None = None
    constraints: Constraints | Literal["auto"] = "auto"
    documents: Documents = "auto"
    reasoning_tokens: CountOrNone = 0
    timeout: Seconds = 120.0
    deadline: Seconds | None = None
    max_reply_bytes: Count = 32 * 2**20
    max_retries: CountOrNone = 3
    concurrency: Count = 32
    cache: CountOrNone = 0


class _LocalConfig(Config):
    model: _ModelPlace
    adapters: Places | None = None
    revision: Name | None = None
    dtype: Dtype = "auto"
    context_length: Count | None = None
    max_tokens: Count = 1024


class TransformersConfig(_LocalConfig):
    kind: Literal["transformers"] = "transformers"
    device: Name | None = None
    batch_tokens: Count | None = None
    prefix_tokens: CountOrNone = 16_384
    concurrency: Count = 32


class VllmConfig(_LocalConfig):
    kind: Literal["vllm"] = "vllm"
    concurrency: Count = 256
    engine: Mapping[str, Any] | None = None


class EncodersConfig(Config):
    """``base``: a config, or in Python a runtime, for what these models do not serve. With ``base_url`` the models are
    names on a server with a score endpoint, and the fields from ``api_key`` on count; without it, the others."""

    kind: Literal["encoders"] = "encoders"
    relevance: _ModelPlace | None = None
    entailment: _ModelPlace | None = None
    tokens: _ModelPlace | None = None
    backend: Literal["torch", "onnx", "openvino"] = "torch"
    revision: Name | None = None
    file_name: Name | None = None
    device: Name | None = None
    batch_tokens: Count = 4096
    max_document_tokens: Count = 10_000_000
    base: Any = None
    base_url: Address | None = None
    api_key: Key = None
    timeout: Seconds = 120.0
    max_retries: CountOrNone = 3
    concurrency: Count = 32


class ScriptedConfig(Config):
    kind: Literal["scripted"] = "scripted"
    replies: str | Path


class MixedConfig(Config):
    """``routes``: a config, or in Python a runtime, by the intrinsic that is called; ``"*"`` for all others."""

    kind: Literal["mixed"] = "mixed"
    routes: Annotated[Mapping[str, Any], Field(min_length=1)]


# --- the union ----------------------------------------------------------------------------------------------------


class Kinds:
    """The configs by kind, and the union of them."""

    def __init__(self, *configs: type[Config]) -> None:
        self._configs: dict[str, type[Config]] = {}
        self._union: TypeAdapter[Config] | None = None
        for config in configs:
            self.add(config)

    def add(self, config: type[Config]) -> str:
        """Take a config into the union; its kind.

        Raises:
            InvalidInput: its field ``kind`` is no Literal of one text with that text as default, or the kind is taken.
        """
        kind = config.model_fields["kind"].get_default()
        if not isinstance(kind, str) or get_args(config.model_fields["kind"].annotation) != (kind,):
            raise InvalidInput(f"{config.__name__}.kind", expected='kind: Literal["name"] = "name"', got=repr(kind))
        if kind in self._configs:
            raise InvalidInput(f"there is a runtime of kind {kind!r} already", expected="another name")
        self._configs[kind], self._union = config, None
        return kind

    def __iter__(self) -> Any:
        return iter(self._configs)

    @property
    def union(self) -> TypeAdapter[Config]:
        """The discriminated union of all kinds."""
        if self._union is None:
            union: Any = Union[tuple(self._configs.values())]  # noqa: UP007  (of a tuple that grows)
            self._union = TypeAdapter(Annotated[union, Discriminator("kind")])
        return self._union

    def parse(self, value: Mapping[str, Any] | Config) -> Config:
        """A config from its plain form.

        Raises:
            InvalidInput: the kind is unknown, or a field is; the message names it.
        """
        if isinstance(value, Config):
            return value
        try:
            return self.union.validate_python(dict(value))
        except ValidationError as error:
            raise self._told(error, value.get("kind")) from None

    def _told(self, error: ValidationError, kind: Any) -> InvalidInput:
        problems = error.errors(include_url=False, include_input=False)
        if any(problem["type"].startswith("union_tag") for problem in problems):
            known = f"one of {', '.join(self._configs)}"
            return InvalidInput("runtime.kind is unknown", expected=known, got=repr(kind))
        return told(error, self._configs[cast(str, kind)])


KINDS = Kinds(EmbeddedConfig, ServerConfig, TransformersConfig, VllmConfig, EncodersConfig, ScriptedConfig,
              MixedConfig)  # fmt: skip


def checked(config: type[C], **given: Any) -> C:
    """The arguments of a runtime, checked as those of a config are.

    Raises:
        InvalidInput: names the argument.
    """
    try:
        return config(**given)
    except ValidationError as error:
        raise told(error, config) from None


def told(error: ValidationError, config: type[Config]) -> InvalidInput:
    """The first problem in the words of this library."""
    problems = error.errors(include_url=False, include_input=False)
    kind, known = config.model_fields["kind"].get_default(), list(config.model_fields)
    if unknown := [str(p["loc"][-1]) for p in problems if p["type"] == "extra_forbidden"]:
        return InvalidInput(f"runtime config of kind {kind!r} has unknown keys",
                            expected=f"some of {', '.join(known)}", got=", ".join(map(repr, unknown)))  # fmt: skip
    if missing := [str(p["loc"][-1]) for p in problems if p["type"] == "missing"]:
        return InvalidInput(f"runtime config of kind {kind!r} lacks {', '.join(map(repr, missing))}")
    problem = problems[0]
    where = ".".join(str(part) for part in problem["loc"] if part != kind)
    cause = problem.get("ctx", {}).get("error")
    if isinstance(cause, InvalidInput):
        return InvalidInput(f"runtime.{where} {cause.message}", expected=cause.expected, got=cause.got)
    # pydantic's own words say what is wanted; what came is not repeated: it may be a key in the wrong place.
    return InvalidInput(f"runtime.{where} does not fit", expected=problem["msg"].removeprefix("Input should be "))


# --- keys beside configs ------------------------------------------------------------------------------------------


def key_apart(values: Any) -> Any:
    """Constructor arguments with the key of ``runtime`` as ``api_key``, where no repr, dump or trace shows it.

    For components whose fields are shown and saved.
    """
    runtime = values.get("runtime") if isinstance(values, Mapping) else None
    if isinstance(runtime, Config):
        runtime = {"kind": runtime.kind, **({"profile": runtime.profile} if runtime.profile else {}), **runtime.given}
        values = {**values, "runtime": runtime}
    if not isinstance(runtime, Mapping) or runtime.get("api_key") is None:
        return values
    config = {name: value for name, value in runtime.items() if name != "api_key"}
    return {**values, "runtime": config, "api_key": runtime["api_key"]}


def with_key(spec: Any, api_key: SecretStr | None) -> Any:
    """What :func:`key_apart` took apart, together again; a spec without a key as it is.

    Raises:
        InvalidInput: there is a key, but no config that takes it.
    """
    if api_key is None:
        return spec
    if not isinstance(spec, Mapping):
        raise InvalidInput("api_key is given without a runtime config that takes it", expected='runtime={"kind": ...}')
    return {**spec, "api_key": api_key}
