"""One adapter's ``io.yaml``, read and checked: how it wants to be asked, and what becomes of its reply."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from intrinsics_core.errors import InvalidInput
from intrinsics_core.profiles.io_yaml import safe_files, schemas, transformations, yaml_loader
from intrinsics_core.profiles.io_yaml.checked import Section
from intrinsics_core.profiles.io_yaml.sentences import LOCATIONS
from intrinsics_core.profiles.io_yaml.template import Template
from intrinsics_core.profiles.io_yaml.transformations import DecodeSentences, Likelihood, Rule
from intrinsics_core.text.markup import Defuse, defuser

_KEYS = (
    "model", "instruction", "response_format", "parameters", "sentence_boundaries", "docs_as_message",
    "transformations", "logprobs_workaround",
)  # fmt: skip
_LARGEST = 1 << 20  # bytes; the published files have two or three thousand
_MOST = 20_000  # values in a file, those that aliases repeat included
_PREFIX = re.compile(r"[A-Za-z][A-Za-z_]{0,15}")


@dataclass(frozen=True)
class Parameters:
    """How the reply is sampled."""

    max_tokens: int | None = None
    temperature: float = 0.0
    top_p: float | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    template: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, section: Section | None) -> Parameters:
        if section is None:
            return cls()
        section.only(("max_completion_tokens", "max_tokens", "temperature", "top_p", "seed", "stop", "n", "logprobs",
                      "top_logprobs", "extra_body"))  # fmt: skip
        limit = section.get("max_completion_tokens", int, "a number of tokens", None)
        limit = section.get("max_tokens", int, "a number of tokens", limit)
        if limit is not None and not 0 < limit < 10_000_000:
            section.wrong("max_tokens", "is no number of tokens", expected="a number from 1", got=limit)
        for key in ("temperature", "top_p"):
            number = section.get(key, (int, float), "a number", 0.0)
            if not 0 <= number <= 100:  # also catches NaN
                section.wrong(key, "is out of range", expected="a number from 0")
        stop = section.get("stop", (str, list), "a text or a list of texts", [])
        extra = section.section("extra_body")
        if extra is not None:
            extra.only(("chat_template_kwargs",))
        if section.get("n", int, "1", 1) != 1:
            section.wrong("n", "is not supported", expected="1")
        return cls(
            limit,
            float(section.get("temperature", (int, float), "a number", 0.0)),
            section.get("top_p", (int, float), "a number", None),
            section.get("seed", int, "a whole number", None),
            (stop,) if isinstance(stop, str) else section.texts("stop") if stop else (),
            {} if extra is None else extra.get("chat_template_kwargs", dict, "a mapping", {}),
        )


@dataclass(frozen=True)
class Spec:
    """The file's content.

    Attributes:
        name: the intrinsic that the adapter serves.
        source: where the file comes from, with its revision, for records and errors.
        schema: JSON schema of a reply, None for free text.
        boundaries: tag prefix by location of the sentences that are numbered.
    """

    name: str
    source: str
    instruction: Template | None = None
    schema: Mapping[str, Any] | None = None
    parameters: Parameters = Parameters()
    boundaries: Mapping[str, str] = field(default_factory=dict)
    docs_as_message: str | None = None
    rules: tuple[Rule, ...] = ()
    model: str | None = None

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
    def wants_logprobs(self) -> bool:
        return any(isinstance(rule, Likelihood) for rule in self.rules)

    def sentence_fields(self, location: str) -> tuple[str, ...]:
        """Fields of a reply that hold sentence numbers of a location."""
        decoders = (rule for rule in self.rules if isinstance(rule, DecodeSentences) and location in rule.sources)
        return tuple(str(rule.input_path[-1]) for rule in decoders)


def load(path: Path, name: str, source: str | None = None, root: Path | None = None) -> Spec:
    """Read and check a file, which must lie within ``root``, links followed (its own folder where left out).

    Raises:
        InvalidInput: it cannot be read, or is not such a file; the message names the key.
    """
    where = source or str(path)
    try:
        value = yaml_loader.load(safe_files.read_text(path, _LARGEST, root))
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{where} cannot be read: {error}", expected="a YAML file") from error
    return parse(value, name, where)


def parse(value: Any, name: str, source: str) -> Spec:
    """Check the content of an ``io.yaml``.

    Raises:
        InvalidInput: the message names the key.
    """
    shown = source if source.endswith(".yaml") else f"{source}/io.yaml"
    _bounded(value, shown)
    section = Section(value, shown)
    section.only(_KEYS)
    if section.get("logprobs_workaround", bool, "true or false", False):
        section.wrong("logprobs_workaround", "is not supported", expected="false or left out")
    instruction = section.get("instruction", str, "text", None)
    boundaries = _boundaries(section.section("sentence_boundaries"))
    rows = section.get("transformations", list, "a list of transformations", [])
    rules = tuple(transformations.read(row, f"{shown}: transformations[{i}]") for i, row in enumerate(rows))
    for i, rule in enumerate(rules):
        if isinstance(rule, DecodeSentences) and (missing := [s for s in rule.sources if s not in boundaries]):
            raise InvalidInput(f"{shown}: transformations[{i}].source names sentences that are not numbered",
                               expected=f"sentence_boundaries with {' and '.join(missing)}")  # fmt: skip
    return Spec(
        name=name,
        source=source,
        instruction=None if instruction is None else Template.parse(instruction, f"{shown}: instruction"),
        schema=schemas.read(section),
        parameters=Parameters.read(section.section("parameters")),
        boundaries=boundaries,
        docs_as_message=section.choice("docs_as_message", ("string", "json", "roles")),
        rules=rules,
        model=section.get("model", str, "a name", None),
    )


def _boundaries(section: Section | None) -> Mapping[str, str]:
    if section is None:
        return {}
    section.only(LOCATIONS)
    found = {}
    for key, _ in section.items():
        prefix = section.get(key, str, "a tag prefix such as c", None)
        if prefix is not None and not _PREFIX.fullmatch(prefix):
            section.wrong(key, "is no tag prefix", expected="letters, such as c")
        if prefix is not None:
            found[key] = prefix
    return found


def _bounded(value: Any, where: str) -> None:
    """No more values than a person would write: aliases of aliases can stand for billions, or for themselves."""
    open_values, count = [value], 0
    while open_values:
        item = open_values.pop()
        count += 1
        if count > _MOST:
            raise InvalidInput(f"{where} holds too many values", expected=f"at most {_MOST}, aliases counted")
        if isinstance(item, dict):
            open_values += item.values()
        elif isinstance(item, list | tuple | set):
            open_values += item
