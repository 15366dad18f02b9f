"""An adapter's instruction: text with ``{name}`` for an argument and ``{{``, ``}}`` for braces. Nothing else.

Not :meth:`str.format`: a file from elsewhere could reach attributes and items through it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from intrinsics_core.protocol.errors import InvalidInput

_PIECE = re.compile(r"(?P<open>\{\{)|(?P<close>\}\})|\{(?P<name>[^{}]*)\}|(?P<stray>[{}])")
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


@dataclass(frozen=True)
class Template:
    """Literal texts and argument names, by turns: a literal, a name, a literal …"""

    pieces: tuple[str, ...]

    @classmethod
    def parse(cls, text: str, where: str) -> Template:
        """From an instruction.

        Raises:
            InvalidInput: a brace stands alone, or holds anything but a plain name.
        """
        pieces, at = [""], 0
        for match in _PIECE.finditer(text):
            pieces[-1] += text[at : match.start()]
            at = match.end()
            if match["open"] or match["close"]:
                pieces[-1] += match[0][0]
            elif match["name"] is not None and _NAME.fullmatch(match["name"]):
                pieces += [match["name"], ""]
            else:
                raise InvalidInput(f"{where} has a brace that does not enclose an argument", got=repr(match[0]),
                                   expected="{name}, or {{ and }} for braces")  # fmt: skip
        pieces[-1] += text[at:]
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
