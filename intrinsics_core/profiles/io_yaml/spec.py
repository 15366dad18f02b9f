"""One adapter's ``io.yaml``, read and checked: how it wants to be asked, and what becomes of its reply."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from string import Formatter
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StrictInt, StrictStr, StringConstraints

from intrinsics_core.profiles.adapter_names import intrinsic_of
from intrinsics_core.profiles.io_yaml import schemas, yaml_loader
from intrinsics_core.profiles.io_yaml.places import LOCATIONS, Location
from intrinsics_core.profiles.io_yaml.transformations import AnyRule, DecodeSentences, Likelihood, Rule
from intrinsics_core.profiles.io_yaml.yaml_loader import Number, Part, check, told, wrong
from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.text.markup import Defuse, defuser

_LARGEST = 1 << 20  # bytes; the published files have two or three thousand


@dataclass(frozen=True)
class Template:
    """Literal texts and argument names, by turns: a literal, a name, a literal …"""

    pieces: tuple[str, ...]

    @classmethod
    def parse(cls, text: Any) -> Template:
        """From an instruction.

        Raises:
            PydanticCustomError: it is no text, a brace stands alone, or one holds anything but a plain name.
        """
        if not isinstance(text, str):
            raise wrong("has the wrong type", "text")
        pieces = [""]
        try:
            for literal, name, form, conversion in Formatter().parse(text):
                pieces[-1] += literal
                if name is not None:
                    if form or conversion or not (name.isascii() and name.isidentifier()):
                        raise ValueError(f"{{{name}}}")
                    pieces += [name, ""]
        except ValueError as error:
            what = f"has a brace that does not enclose an argument: {error}"
            raise wrong(what, "{name}, or {{ and }} for braces") from None
        return cls(tuple(pieces))

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self.pieces[1::2])

    @property
    def literals(self) -> tuple[str, ...]:
        return self.pieces[0::2]

    def fill(self, arguments: Mapping[str, str]) -> str:
        """The instruction with its arguments in place; braces in an argument mean nothing."""
        return "".join(arguments[piece] if i % 2 else piece for i, piece in enumerate(self.pieces))


class _ExtraBody(Part):
    chat_template_kwargs: dict[str, Any] = Field(default_factory=dict)


_Tokens = Annotated[StrictInt, Field(gt=0, lt=10_000_000)]
_Schema = Annotated[dict[str, Any] | None, BeforeValidator(schemas.read)]
_Amount = Annotated[Number, Field(ge=0, le=100)]


class Parameters(Part):
    """How the reply is sampled."""

    grows = "parameters."
    max_completion_tokens: _Tokens | None = None
    max_tokens: _Tokens | None = None
    temperature: _Amount = 0.0
    top_p: _Amount | None = None
    top_k: StrictInt | None = None
    min_p: Number | None = None
    repetition_penalty: Number | None = None
    frequency_penalty: Number | None = None
    presence_penalty: Number | None = None
    seed: StrictInt | None = None
    stop: Annotated[
        tuple[StrictStr, ...], BeforeValidator(lambda value: [value] if isinstance(value, str) else value)
    ] = ()
    n: Annotated[StrictInt, Field(ge=1, le=1), told("is not supported", "1")] = 1
    # What is asked for beside the text is for the rules to say.
    logprobs: Any = None
    top_logprobs: Any = None
    response_format: _Schema = None
    extra_body: _ExtraBody = _ExtraBody()


_Prefix = Annotated[
    str,
    StringConstraints(strict=True, pattern=r"^[A-Za-z][A-Za-z_]{0,15}$"),
    told("is not a tag prefix", "letters, such as c"),
]


class _Boundaries(Part):
    last_message: _Prefix | None = None
    documents: _Prefix | None = None
    all_but_last_message: _Prefix | None = None


class _File(Part):
    """The file as it is written."""

    grows = ""
    name: StrictStr | None = None
    model: StrictStr | None = None
    instruction: Annotated[Template, BeforeValidator(Template.parse)] | None = None
    response_format: _Schema = None
    parameters: Parameters = Parameters()
    sentence_boundaries: _Boundaries = _Boundaries()
    docs_as_message: Literal["string", "json", "roles"] | None = None
    transformations: tuple[Rule, ...] = ()
    # gpt-oss: its log-probabilities are found behind Harmony's markers for every model (`replies.reasoning`).
    logprobs_workaround: Any = None


@dataclass(frozen=True)
class Spec:
    """The file's content.

    Attributes:
        name: the intrinsic that the adapter serves.
        source: where the file comes from, with its revision, for records and errors.
        schema: JSON schema of a reply, None for free text.
        boundaries: tag prefix by location of the sentences that are numbered.
        switch: for an adapter inside one checkpoint (Granite Switch), its name in there: the base model is asked, and
            its chat template told. None where an adapter is loaded beside its base model.
    """

    name: str
    source: str
    instruction: Template | None = None
    schema: schemas.Schema | None = None
    parameters: Parameters = field(default_factory=Parameters)
    boundaries: Mapping[str, str] = field(default_factory=dict)
    docs_as_message: str | None = None
    rules: tuple[AnyRule, ...] = ()
    model: str | None = None
    switch: str | None = None

    @cached_property
    def defuse(self) -> Defuse:
        """Breaks special tokens, this adapter's sentence tags, and literals such as ``<certainty>`` that invoke it."""
        texts = self.instruction.literals if self.instruction else ()
        return defuser(
            {"c", "r", "i", *self.boundaries.values()},
            sorted({tag for text in texts for tag in re.findall(r"<\w+>", text)}),
        )

    @cached_property
    def validator(self) -> Any:
        """Of replies, by the schema; None where there is no schema."""
        numbers = {name for location in LOCATIONS for name in self.sentence_fields(location)}
        return None if self.schema is None else schemas.validator(self.schema, numbers)

    @property
    def likelihood(self) -> Likelihood | None:
        """The rule that makes a number of a label."""
        return next((rule for rule in self.rules if isinstance(rule, Likelihood)), None)

    def sentence_fields(self, location: Location) -> tuple[str, ...]:
        """Fields of a reply that hold sentence numbers of a location."""
        return tuple(r.field for r in self.rules if isinstance(r, DecodeSentences) and location in r.sources)


def load(path: Path, name: str, source: str | None = None, root: Path | None = None) -> Spec:
    """Read and check a file.

    Args:
        path: the file.
        name: the intrinsic, where the file does not say.
        source: what the file is called in errors; its path where left out.
        root: the folder that the file must lie in, links followed; its own where left out.

    Returns:
        The checked file.

    Raises:
        InvalidInput: it cannot be read, or is not such a file; the message names the key.
    """
    where = source or str(path)
    try:
        value = yaml_loader.load(yaml_loader.read_text(path, _LARGEST, root))
    except (OSError, ValueError) as error:
        file = where if where.endswith(path.name) else f"{where}/{path.name}"
        raise InvalidInput(f"{file} cannot be read: {error}", expected="a YAML file") from error
    return parse(value, name, where)


def parse(value: Any, name: str, source: str) -> Spec:
    """Check the content of an ``io.yaml``. Keys that are unknown are left out with a warning.

    Args:
        value: the content of the file, as YAML gives it.
        name: the intrinsic, where the file does not say.
        source: what the file is called in errors.

    Returns:
        The checked file.

    Raises:
        InvalidInput: the message names the key.
    """
    shown = source if source.endswith(".yaml") else f"{source}/io.yaml"
    file = check(_File, value, shown)
    boundaries = {place: prefix for place, prefix in file.sentence_boundaries if prefix is not None}
    for i, rule in enumerate(file.transformations):
        if isinstance(rule, DecodeSentences) and (missing := [s for s in rule.sources if s not in boundaries]):
            raise InvalidInput(f"{shown}: transformations[{i}].source names sentences that are not numbered",
                               expected=f"sentence_boundaries with {' and '.join(missing)}")  # fmt: skip
    return Spec(
        name=name if file.name is None else intrinsic_of(file.name),
        source=source,
        instruction=file.instruction,
        schema=file.parameters.response_format if file.response_format is None else file.response_format,
        parameters=file.parameters,
        boundaries=boundaries,
        docs_as_message=file.docs_as_message,
        rules=file.transformations,
        model=file.model,
    )
