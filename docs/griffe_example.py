"""Griffe, which reads the docstrings for the site, shows as code what stands in a section ``Examples:``. Ours are
called ``Example:``, or stand between paragraphs. It shows a class's arguments by its ``__init__``, which models of
pydantic write at run time.
"""

from __future__ import annotations

import re
from typing import Any

import griffe


class ExampleSections(griffe.Extension):
    """Shows an ``Example:`` section as code."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring:
            text = re.sub(r"(?m)^(\s*)Example:$", r"\1Examples:", obj.docstring.value)
            obj.docstring.value = re.sub(r"(?ms)^(>>> .*?)(?=\n\n|\Z)", _as_block, text)


class ArgumentsOfModels(griffe.Extension):
    """Shows the fields of a LangChain component as the arguments that they are."""

    def on_package(self, *, pkg: griffe.Module, **kwargs: Any) -> None:
        if pkg.name == "langchain_rag_intrinsics":
            for kind in [kind for module in _modules(pkg) for kind in module.classes.values() if not kind.is_alias]:
                init = kind.members.get("__init__")
                if (init is None or "kwargs" in init.parameters) and (fields := _fields(kind)):
                    kind.set_member("__init__", griffe.Function("__init__", parameters=griffe.Parameters(*fields)))


def _modules(module: griffe.Module) -> list[griffe.Module]:
    below = [one for one in module.modules.values() if not one.is_alias]
    return [module, *(found for one in below for found in _modules(one))]


def _fields(kind: griffe.Class) -> list[griffe.Parameter]:
    """The public fields of a class and its bases, those of the class first."""
    found: dict[str, griffe.Parameter] = {}
    for owner in (kind, *kind.mro()):
        for name, field in owner.attributes.items():
            hidden = name.startswith("_") or name == "intrinsic" or "property" in field.labels
            if field.annotation and not hidden and "ClassVar" not in str(field.annotation):
                shown = {"kind": griffe.ParameterKind.keyword_only, "default": field.value}
                found.setdefault(name, griffe.Parameter(name, annotation=field.annotation, **shown))
    return list(found.values())


def _as_block(example: re.Match[str]) -> str:
    return f"```pycon\n{example[1]}\n```"
