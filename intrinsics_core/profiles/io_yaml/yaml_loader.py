"""YAML of strangers: plain values, no more of them than a person would write, whatever stands for what.

PyYAML's safe loader makes no objects, but a few hundred bytes of merge keys or of aliases of aliases cost it minutes,
``190:20:30`` is a number to it, and ``2024-01-01`` a date. Here aliases and ``<<`` are errors, numbers are decimal and
dates are text. Values are counted while the file is read, before anything is made of them.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

_MOST = 20_000  # values in a file
_DEEPEST = 60  # lists and mappings within one another
_LONGEST_NUMBER = 40  # characters


class _Loader(yaml.SafeLoader):
    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._depth = self._count = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        self._depth += 1
        self._count += 1
        wrong = {
            "an alias (*), which is not taken": self.check_event(yaml.events.AliasEvent),
            f"more than {_DEEPEST} levels": self._depth > _DEEPEST,
            f"too many values (more than {_MOST})": self._count > _MOST,
        }
        for what, found in wrong.items():
            if found:
                raise yaml.composer.ComposerError(None, None, what, self.peek_event().start_mark)  # type: ignore[no-untyped-call]
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        seen: set[Any] = set()
        for key, _ in node.value:
            name = key.value if isinstance(key, yaml.ScalarNode) else None
            if name is None or name in seen:
                why = "a key that is not text" if name is None else "a key that occurs twice"
                raise yaml.constructor.ConstructorError(None, None, why, key.start_mark)
            if name == "<<":
                raise yaml.constructor.ConstructorError(None, None, "a merge key (<<)", key.start_mark)
            seen.add(name)
        return super().construct_mapping(node, deep=deep)

    def construct_yaml_int(self, node: Any) -> int:
        return int(self._number(node))

    def construct_yaml_float(self, node: Any) -> float:
        text = self._number(node).lower()
        return float(text.replace(".inf", "inf").replace(".nan", "nan"))

    def _number(self, node: Any) -> str:
        text = str(node.value).replace("_", "")
        if len(text) > _LONGEST_NUMBER or ":" in text:
            raise yaml.constructor.ConstructorError(None, None, "a number of odd length or form", node.start_mark)
        return text


_PLAIN = {
    "tag:yaml.org,2002:bool": (r"(?:true|True|TRUE|false|False|FALSE)\Z", "tTfF"),
    "tag:yaml.org,2002:null": (r"(?:~|null|Null|NULL|)\Z", ["~", "n", "N", ""]),
    "tag:yaml.org,2002:int": (r"[-+]?[0-9]+\Z", "-+0123456789"),
    "tag:yaml.org,2002:float": (
        r"(?:[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z",
        "-+0123456789.",
    ),
}
_Loader.yaml_implicit_resolvers = {}  # none inherited
for _tag, (_pattern, _first) in _PLAIN.items():
    _Loader.add_implicit_resolver(_tag, re.compile(r"\A" + _pattern), list(_first))
_KINDS = ("str", "bool", "null", "seq", "map")  # and numbers; no dates, no bytes, no sets
_Loader.yaml_constructors = {
    tag: make
    for tag, make in yaml.SafeLoader.yaml_constructors.items()
    if tag is None or tag.rpartition(":")[2] in _KINDS
}
_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_yaml_int)
_Loader.add_constructor("tag:yaml.org,2002:float", _Loader.construct_yaml_float)


def load(text: str) -> Any:
    """The values of one YAML document.

    Raises:
        ValueError: it is none, or holds what is not taken; the message names the line and shows nothing of the text.
    """
    try:
        loader = _Loader(text)
        try:
            return loader.get_single_data()
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise ValueError(f"line {mark.line + 1}: {error.problem}" if mark else str(error.problem)) from None
    except (yaml.YAMLError, RecursionError, OverflowError) as error:
        raise ValueError(f"it is not YAML ({type(error).__name__})") from None
