"""Griffe, which reads the docstrings for the site, shows as code what stands in a section ``Examples:``. Ours are
called ``Example:``, or stand between paragraphs.
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


def _as_block(example: re.Match[str]) -> str:
    return f"```pycon\n{example[1]}\n```"
