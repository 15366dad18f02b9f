"""What each kind of runtime is configured with: one discriminated union, open for registered kinds.

Python, the command line and the components of the frameworks take these configs, as objects or as plain mappings.
Errors name the field and never show a secret. A key is a pydantic ``SecretStr`` from here on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from os import environ
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar, Union, cast, get_args
from urllib.parse import urlsplit, urlunsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    SecretStr,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from intrinsics_core._support.redaction import shown as shown
from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.protocol.names import find, nearest, unknown
from intrinsics_core.protocol.results import BUILT_LATE
from intrinsics_core.protocol.validation import expected_by

Constraints = Literal["structured_outputs", "response_format", "json_object", "none"]  # from most expressive to none
Length = Literal["max_tokens", "max_completion_tokens", None]  # the key for the length of a reply
Documents = Literal["auto", "template", "messages"]  # how documents reach a server's model
C = TypeVar("C", bound="Config")
ENCODER_ROLES = ("relevance", "entailment", "tokens")  # what the user's own models can be for
_LABELLED_BY_CALIBRATION = ("answerability", "context-relevance")  # whose labels all follow from its threshold
_LONGEST_PAUSE = 60.0  # seconds that a server may ask us to wait before a retry (the client honours Retry-After)


# --- values -------------------------------------------------------------------------------------------------------


def _address(value: Any) -> str:
    """An http address; ``/v1`` is added where it has no path."""
    try:
        parts = urlsplit(value if isinstance(value, str) else "")
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:  # brackets without a pair, or a port that is none
        fits = False
    if not fits:
        raise InvalidInput("is not an address", expected="http://host:port/v1", got=_scheme_and_host(value))
    if parts.username or parts.password:
        raise InvalidInput("contains a user name or password", expected="the key in api_key only")
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


def _secret(value: Any) -> SecretStr | None:
    """From text, or from an object that keeps it (pydantic's ``SecretStr``, Haystack's ``Secret``)."""
    for reveal in ("get_secret_value", "resolve_value"):
        if hasattr(value, reveal):
            value = getattr(value, reveal)()
    if value is None:
        return None
    if not isinstance(value, str):
        raise InvalidInput("is not text", got=type(value).__name__)
    value = value.strip()
    if not value.isascii() or not value.isprintable() or " " in value:
        raise InvalidInput("cannot be sent as a header", expected="printable ASCII characters without spaces")
    return SecretStr(value) if value else None


def _number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput("is not a number", expected="a number", got=repr(value))
    return value


def _whole(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInput("is not a whole number", expected="a whole number", got=repr(value))
    return value


def _or_auto(check: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: value if value in ("auto", None) else check(value)


Address = Annotated[str, BeforeValidator(_address)]
Key = Annotated[SecretStr | None, BeforeValidator(_secret)]
Name = Annotated[str, Field(min_length=1, strict=True)]
Names = Mapping[Name, Name]
_ModelPlace = Annotated[str, BeforeValidator(lambda value: str(value) if isinstance(value, Path) else value)]
Places = Mapping[str, _ModelPlace]
Seconds = Annotated[float, BeforeValidator(_number), Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, BeforeValidator(_whole), Field(ge=1)]
CountOrNone = Annotated[int, BeforeValidator(_whole), Field(ge=0)]  # none at all is a choice: 0
_Auto = Literal["auto"] | None  # what the intrinsic asks for; the server's own
Share = Annotated[Annotated[float, Field(ge=0, allow_inf_nan=False)] | _Auto, BeforeValidator(_or_auto(_number))]
Seed = Annotated[int | _Auto, BeforeValidator(_or_auto(_whole))]
Setting = float | int | Literal["auto"] | None
Dtype = Literal["auto", "float32", "bfloat16", "float16"]


def _engine(value: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    if doubled := {"model", "revision", "dtype", "max_model_len", "trust_remote_code"} & set(value or {}):
        raise InvalidInput("contains keys that it may not set", got=", ".join(sorted(doubled)))
    return value


def _extra(value: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    if own := {"model", "messages", "prompt", "documents", "stream", "n"} & set(value or {}):
        raise InvalidInput("contains keys that it may not set", got=", ".join(sorted(own)))
    return value


def environment_key() -> SecretStr | None:
    """The key in the environment's ``OPENAI_API_KEY``, where there is one."""
    return _secret(environ.get("OPENAI_API_KEY"))


# --- kinds --------------------------------------------------------------------------------------------------------


class Config(BaseModel):
    """Base of every kind's config. Its fields are the arguments of its runtime.

    ``profile`` names the profile that requests are rendered with; the runtime's own where left out. ``calibrations``
    are by intrinsic what ``calibrate`` fitted: its file, or its JSON object.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, arbitrary_types_allowed=True,
                              defer_build=BUILT_LATE)  # fmt: skip

    positional: ClassVar[tuple[str, ...]] = ()  # fields that the runtime takes without their names
    kind: str
    profile: Name | None = None
    calibrations: Mapping[str, Any] | None = None

    @property
    def given(self) -> dict[str, Any]:
        """What was set, as arguments of the runtime."""
        return {name: getattr(self, name) for name in self.model_fields_set - {"kind", "profile"}}

    @property
    def plain(self) -> dict[str, Any]:
        """The config as a mapping, with what was set."""
        return {"kind": self.kind, **({"profile": self.profile} if self.profile else {}), **self.given}


class EmbeddedConfig(Config):
    kind: Literal["embedded"] = "embedded"
    path: str | Path | None = None
    thresholds: Mapping[str, Any] | None = None
    threads: Count | None = None
    cache_size: CountOrNone = 64 * 2**20
    max_document_tokens: Count = 10_000_000
    reader: str | Path | Literal[False] | None = None

    @model_validator(mode="after")
    def _one_threshold(self) -> Self:
        for name in self.thresholds or ():
            if find(name, _LABELLED_BY_CALIBRATION) and find(name, self.calibrations or ()):
                raise InvalidInput(f".thresholds.{name} has no effect beside .calibrations.{name}",
                                   expected="one of them: a calibration has its own threshold")  # fmt: skip
        return self


class _ClientConfig(Config):
    """Attributes:
    api_key: text, or an object that keeps a secret (pydantic's ``SecretStr``, Haystack's ``Secret``). Left out: the
        environment's ``OPENAI_API_KEY``, else none. It is never shown, logged or pickled.
    timeout: seconds of silence that end a single try: before the first byte, or between two. A reply that keeps
        dripping is ended with all tries of its request, after ``(timeout + 60) * (max_retries + 1)`` seconds.
    max_reply_bytes: longest body that is read, decoded; a longer one is an error.
    max_retries: further tries after a timeout, a lost connection, a 408, 409, 429, 5xx or an unreadable reply.
    concurrency: requests under way at once, retries included, over all event loops.
    """

    api_key: Key = None
    timeout: Seconds = 120.0
    max_reply_bytes: Count = 32 * 2**20
    max_retries: CountOrNone = 3
    concurrency: Count = 32

    @property
    def patience(self) -> float:
        """Seconds for all tries of a request: ``timeout`` ends a silence, this what drips for ever."""
        return (self.timeout + _LONGEST_PAUSE) * (self.max_retries + 1)


class ServerConfig(_ClientConfig):
    """An OpenAI-compatible server.

    Attributes:
        base_url: the address, e.g. ``http://localhost:8000/v1``; ``/v1`` is added where it has no path.
        model: the base model's name on the server. Left out: what the profile names, if the server lists it, else the
            only model there that is no adapter.
        adapters: name on the server by intrinsic, e.g. ``{"answerability": "my-adapter"}``. Left out: the names the
            adapter was published under, whichever the server lists.
        constraints: the key by which replies are constrained: ``"structured_outputs"`` (vLLM), ``"response_format"``
            (JSON schemas only), ``"json_object"`` (the same key with the type of llama-cpp-python) or ``"none"``;
            ``"auto"`` begins with the first unless the server is known to be another than vLLM. A server that does not
            know the key, or that replies as if it did not, is asked the next way from then on; one that finds fault
            with what the key says is an :class:`InvalidInput` of that request.
        documents: how documents reach the model where they are not part of the prompt: ``"template"`` (the request's
            ``documents``, for the chat template: vLLM alone), ``"messages"`` (in the system turn), or ``"auto"``: the
            template where the server shows that it has a place for them, asked once, else the messages.
        reasoning_tokens: tokens that a reply may have beyond what its verdict needs, for a model that reasons first.
            Left at 0, the first reply that ends inside its reasoning has them counted from then on.
        temperature, top_p, seed: ``"auto"``: as the intrinsic asks; a number, from which the seeds of samples count on;
            None: not sent, so the server's own counts. A model that refuses one is asked without it from then on.
        logprobs: False: log-probabilities are not asked for. Scores are then the confidence that the model states.
        max_tokens_key: the key for the length of a reply in chat completions: ``"max_tokens"``,
            ``"max_completion_tokens"``, or None: no length is sent.
        extra_body: further keys of every request's body, which go before the library's own.
        deadline: seconds after which a request is given up, all its tries and pauses counted from when it has a place
            among those under way; None: the bound that follows from ``timeout``.
        cache: replies kept and reused for identical requests (never for samples, which are meant to differ).
    """

    positional = ("base_url",)
    kind: Literal["server"] = "server"
    base_url: Address
    model: Name | None = None
    adapters: Names | None = None
    constraints: Constraints | Literal["auto"] = "auto"
    documents: Documents = "auto"
    reasoning_tokens: CountOrNone = 0
    temperature: Share = "auto"
    top_p: Share = "auto"
    seed: Seed = "auto"
    logprobs: Annotated[bool, Field(strict=True)] = True
    max_tokens_key: Length = "max_tokens"
    extra_body: Annotated[Mapping[str, Any] | None, AfterValidator(_extra)] = None
    deadline: Seconds | None = None
    cache: CountOrNone = 0


class LocalConfig(Config):
    """A language model in this process.

    Attributes:
        model: a local folder or a repository on the hub; weights in safetensors only, no code of the repository is run.
        adapters: intrinsic -> local folder, or ``owner/name[/folder][@revision]`` on the hub.
        revision: the commit, tag or branch of the model's repository.
        dtype: ``"auto"`` (as the weights are stored), ``"float32"``, ``"bfloat16"`` or ``"float16"``. On a CPU without
            AVX-512, torch multiplies bfloat16 4 to 50 times slower than float32.
        context_length: tokens of prompt and reply together; None: what the model was made for.
        max_tokens: how long a reply may get where the request does not say.
        concurrency: how many calls :func:`run_many` keeps under way.
    """

    positional = ("model", "adapters")
    model: _ModelPlace
    adapters: Places | None = None
    revision: Name | None = None
    dtype: Dtype = "auto"
    context_length: Count | None = None
    max_tokens: Count = 1024
    concurrency: Count = 32


class TransformersConfig(LocalConfig):
    """A model by transformers; each adapter, LoRA or aLoRA, is loaded when first asked for.

    Attributes:
        device: ``"cpu"``, ``"cuda"``, ``"cuda:1"``, ``"mps"``; None: a GPU where there is one.
        batch_tokens: bound on rows times the longest prompt of a batch; None: 2,048 on a CPU, where reading long texts
            together gains nothing, and 16,384 elsewhere.
        prefix_tokens: tokens of the base model's keys and values that are kept for requests that begin alike; only the
            base model and aLoRA adapters use them. 0 keeps nothing.
    """

    kind: Literal["transformers"] = "transformers"
    device: Name | None = None
    batch_tokens: Count | None = None
    prefix_tokens: CountOrNone = 16_384


class VllmConfig(LocalConfig):
    """A vLLM engine of its own. LoRA only: vLLM does not support aLoRA, and requests for such an adapter end in an
    error (the transformers runtime serves them).

    Attributes:
        engine: further arguments of ``vllm.LLM``, e.g. ``{"tensor_parallel_size": 2}``.
    """

    kind: Literal["vllm"] = "vllm"
    concurrency: Count = 256
    engine: Annotated[Mapping[str, Any] | None, AfterValidator(_engine)] = None


class EncodersConfig(_ClientConfig):
    """Models of the user's choice: folders or repositories on the hub, or names on a server; at least one is named.

    Attributes:
        relevance: a cross-encoder with one label, or mxbai-rerank v2 or Qwen3-Reranker: reranking, context relevance,
            answerability, and which sources a fact check reads.
        entailment: a model of inference or a checker (cross-encoder/nli-*, MiniCheck, HHEM-2.1-open): hallucination
            detection per sentence, citations, and the fact check itself.
        tokens: a token classifier (LettuceDetect): hallucination detection with the spans within sentences.
        backend: ``"torch"``; or, without torch, a file of the model's folder: ``"onnx"`` by onnxruntime, ``"openvino"``
            by OpenVINO, in its own format or in ONNX.
        revision: commit, tag or branch of the models on the hub that name none themselves (``owner/name@revision``).
        file_name: that file, e.g. ``"onnx/model_qint8_avx512.onnx"``; None: ``onnx/model.onnx`` or ``model.onnx``; for
            OpenVINO ``openvino/openvino_model.xml`` or ``openvino_model.xml`` before these.
        device: ``"cpu"``, ``"cuda"``, ``"mps"``, for OpenVINO one of its own; None: a GPU where torch sees one.
        batch_tokens: bound on rows times the longest input of a batch.
        max_document_tokens: most tokens of one request's sources that are read, by the model's own tokenizer; the
            result's ``unread`` says how many more there were.
        base: a config, or in Python a runtime, for everything else; None: the embedded one, with the same bound.
        base_url: a server with a score endpoint, on which the models are names; the fields of a client count there, and
            those of a model in this process do not.
    """

    positional = ENCODER_ROLES
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

    @property
    def places(self) -> dict[str, str]:
        """The models that are named, by what they are for."""
        return {role: place for role in ENCODER_ROLES if (place := getattr(self, role)) is not None}

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        own = {"backend", "revision", "file_name", "device", "batch_tokens"}
        served = set(_ClientConfig.model_fields) - set(Config.model_fields)
        if stray := self.model_fields_set & (own if self.base_url else served):
            raise InvalidInput(f".{min(stray)} {'cannot be used with' if self.base_url else 'requires'} base_url",
                               expected="settings of a model in this process, or of one on a server")  # fmt: skip
        if self.base_url and self.tokens is not None:
            raise InvalidInput(
                ".tokens cannot be used with base_url, because a score endpoint does not score single tokens",
                expected="tokens without base_url: a model in this process",
            )
        if not self.places:
            expected = f"at least one of {', '.join(ENCODER_ROLES)}"
            raise InvalidInput(" config of kind 'encoders' names no model", expected=expected)
        return self


class ScriptedConfig(Config):
    kind: Literal["scripted"] = "scripted"
    replies: str | Path


class MixedConfig(Config):
    """``routes``: a config, or in Python a runtime, by the intrinsic that is called; ``"*"`` for all others."""

    kind: Literal["mixed"] = "mixed"
    routes: Annotated[Mapping[str, Any], Field(min_length=1)]


class CascadeConfig(Config):
    """``first`` judges, and ``then`` where the first is unsure: each a config, or in Python a runtime."""

    kind: Literal["cascade"] = "cascade"
    first: Any
    then: Any


# --- the union ----------------------------------------------------------------------------------------------------


class Kinds:
    """The configs by kind, and the union of them."""

    def __init__(self) -> None:
        self._configs: dict[str, type[Config]] = {}
        self._union: TypeAdapter[Config] | None = None

    def add(self, config: type[Config]) -> str:
        """Take a config into the union; its kind.

        Raises:
            InvalidInput: its field ``kind`` is no Literal of one text with that text as default, or the kind is taken.
        """
        kind = config.model_fields["kind"].get_default()
        if not isinstance(kind, str) or get_args(config.model_fields["kind"].annotation) != (kind,):
            raise InvalidInput(
                f"{config.__name__}.kind is not a literal with its own value as default",
                expected='kind: Literal["name"] = "name"',
                got=repr(kind),
            )
        if kind in self._configs:
            raise InvalidInput(f"a runtime of kind {kind!r} is already registered", expected="another name")
        self._configs[kind], self._union = config, None
        return kind

    def remove(self, kind: str) -> None:
        """Take a kind out of the union. Raises InvalidInput where there is none of that name."""
        if self._configs.pop(kind, None) is None:
            raise InvalidInput("runtime.kind is unknown", expected=f"one of {', '.join(self)}", got=repr(kind))
        self._union = None

    def __iter__(self) -> Iterator[str]:
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
            raise self._as_error(error, value.get("kind")) from None

    def _as_error(self, error: ValidationError, kind: Any) -> InvalidInput:
        problems = error.errors(include_url=False, include_input=False)
        if any(problem["type"] == "union_tag_not_found" for problem in problems):
            return InvalidInput("runtime has no 'kind'", expected=f'{{"kind": ...}}, one of {", ".join(self)}')
        if any(problem["type"].startswith("union_tag") for problem in problems):
            return unknown("runtime.kind is unknown", kind, self._configs)
        return as_error(error, self._configs[cast(str, kind)])


KINDS = Kinds()  # what ships is registered in `intrinsics_core.shipped`


def checked(config: type[C], **given: Any) -> C:
    """The arguments of a runtime, checked as those of a config are.

    Raises:
        InvalidInput: names the argument.
    """
    try:
        return config(**given)
    except ValidationError as error:
        raise as_error(error, config) from None


def as_error(error: ValidationError, config: type[Config]) -> InvalidInput:
    """The first problem in the words of this library."""
    problems = error.errors(include_url=False, include_input=False)
    kind, known = config.model_fields["kind"].get_default(), list(config.model_fields)
    if stray := [str(p["loc"][-1]) for p in problems if p["type"] == "extra_forbidden"]:
        meant = [close for key in stray if (close := nearest(key, known))]
        hint = f" (did you mean {', '.join(map(repr, meant))}?)" if meant else ""
        return InvalidInput(f"runtime config of kind {kind!r} has unknown keys{hint}",
                            expected=f"some of {', '.join(known)}", got=", ".join(map(repr, stray)))  # fmt: skip
    if missing := [str(p["loc"][-1]) for p in problems if p["type"] == "missing"]:
        return InvalidInput(f"runtime config of kind {kind!r} lacks {', '.join(map(repr, missing))}")
    problem = problems[0]
    where = ".".join(str(part) for part in problem["loc"] if part != kind)
    cause = problem.get("ctx", {}).get("error")
    if isinstance(cause, InvalidInput):
        named = f"runtime.{where} " if where else "runtime"  # of a whole config the message names the field
        return InvalidInput(f"{named}{cause.message}", expected=cause.expected, got=cause.got)
    # pydantic's own words say what is wanted; what came is not repeated: it may be a key in the wrong place.
    return InvalidInput(f"runtime.{where} is wrong", expected=expected_by(problem))


# --- keys beside configs ------------------------------------------------------------------------------------------


def key_apart(values: Any) -> Any:
    """Constructor arguments with the key of ``runtime`` as ``api_key``, where no repr, dump or trace shows it.

    For components whose fields are shown and saved.
    """
    runtime = values.get("runtime") if isinstance(values, Mapping) else None
    if isinstance(runtime, Config):
        runtime = runtime.plain
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
        raise InvalidInput("api_key requires a runtime config that has a key", expected='runtime={"kind": ...}')
    return {**spec, "api_key": api_key}


# --- on a command line ------------------------------------------------------------------------------------------------


def runtime_config(text: str | None) -> dict[str, Any] | None:
    """The config in ``--runtime``: JSON text, the name of a file that holds it, or the name of a kind alone.

    Raises:
        InvalidInput: neither, or not a JSON object. The message never repeats what was given: it may hold a key.
    """
    if text is None:
        return None
    where = "--runtime"
    if text in KINDS and not Path(text).exists():
        return {"kind": text}
    if not text.lstrip().startswith(("{", "[", '"')):
        try:
            text, where = Path(text).read_text(encoding="utf-8-sig"), "the file that --runtime names"
        except UnicodeDecodeError:
            raise InvalidInput("the file that --runtime names is not UTF-8 text") from None
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else "not a file name"
            raise InvalidInput(
                f"--runtime is neither JSON nor a file that can be read ({why})",
                expected='{"kind": "embedded"}, a file that contains it, or the name of a kind, such as embedded',
            ) from None
    try:
        config = json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidInput(f"{where} is not JSON: {error.msg} (line {error.lineno}, column {error.colno})") from None
    except RecursionError:
        raise InvalidInput(f"{where} is nested too deeply") from None
    if not isinstance(config, dict):
        raise InvalidInput(f"{where} is not a JSON object", expected='{"kind": ...}')
    return config
