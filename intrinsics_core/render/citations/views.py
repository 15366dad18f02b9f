"""What is cited for what: a text with its references, as one of four modes shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from intrinsics_core.protocol.errors import InvalidInput

Mode = Literal["postfix", "postfix-snippet", "inline", "inline-snippet"]
Style = Literal["text", "markdown", "json"]
MODES: tuple[Mode, ...] = get_args(Mode)
STYLES: tuple[Style, ...] = get_args(Style)


@dataclass(frozen=True, slots=True)
class Reference:
    """What is cited, and for what.

    Attributes:
        context_id: the id of the document, or the name of another text (``"response"``, ``"messages[0]"``).
        snippet: its words that are cited; None in a mode without them.
        nth: which of the places where they stand, from 1, through all documents of that id in order.
        begin, end: the claim, in characters of the response; None in a postfix mode.
    """

    context_id: str
    snippet: str | None = None
    nth: int = 1
    begin: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class View:
    """A text and its references, as a mode shows them; inline ones in order of the ends of their claims.

    Raises:
        InvalidInput: a reference has more, or less, than the mode shows, or lies outside the response.
    """

    mode: Mode
    response: str
    references: tuple[Reference, ...] = ()

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise InvalidInput("mode is unknown", expected=f"one of {', '.join(MODES)}", got=repr(self.mode))
        for i, reference in enumerate(self.references):
            if why := self._wrong(reference):
                raise InvalidInput(f"references[{i}]: {why}", expected=f"what mode {self.mode!r} shows",
                                   got=repr(reference))  # fmt: skip
        if self.inline:
            object.__setattr__(self, "references", tuple(sorted(self.references, key=lambda r: r.end or 0)))

    @property
    def inline(self) -> bool:
        return self.mode.startswith("inline")

    @property
    def quoted(self) -> bool:
        return self.mode.endswith("snippet")

    def _wrong(self, reference: Reference) -> str | None:
        if (reference.snippet is not None) != self.quoted:
            return "has a snippet" if reference.snippet is not None else "has no snippet"
        if reference.nth < 1 or (reference.nth > 1 and not self.quoted):
            return "nth is out of range"
        begin, end = reference.begin, reference.end
        if not self.inline:
            return None if begin is None and end is None else "has a claim"
        if begin is None or end is None or not 0 <= begin <= end <= len(self.response):
            return "has no claim within the response"
        return None
