"""Text that is not ours must not act as markup: it can neither forge a turn nor shift a citation.

Queries, documents and answers go into prompts as data. Special tokens of chat templates and our own sentence tags in
them are broken with a space after their first character, which tokenizers no longer take for the token and readers
hardly see. The caller's text is never changed: offsets are counted in it, not in the prompt.

Broken are: anything that starts like ``<|``; the tokens without a bar that Granite (StarCoder's, too), Llama, Gemma,
Mistral, Qwen and Command models give a meaning to; sentence tags; and the same spelled with full-width or invisible
characters, which some tokenizers fold into the plain ones before they look for special tokens. HTML stays as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable

_INVISIBLE = (
    "[\u00ad\u034f\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufe00-\ufe0f\ufff9-\ufffb"
    "\U000e0000-\U000e007f\U000e0100-\U000e01ef]*"
)
_LESS = "[<\uff1c\ufe64]"
_SQUARE = "[\\[\uff3b]"
_BAR = "[|\uff5c]"
_WORDS = (
    "s|bos|eos|pad|unk|mask|cls|sep|eot|eod|"
    r"[a-z]+_of_[a-z_]+|[a-z]+_token|unused\d+|extra_id_\d+|reserved_special_token_\d+|"
    r"documents?|tools?|tool_[a-z]+|available_tools|think|thinking|response|co|"
    r"fim_[a-z]+|(?:issue|jupyter|commit)_[a-z]+|empty_output|filename|reponame|gh_stars|"
    r"im_[a-z]+|function_[a-z]+|"
    r"[a-z]+_(?:start|end)"
)
_MISTRAL = "INST|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|SYSTEM_PROMPT|gMASK"

Defuse = Callable[[str], str]


def defuser(tags: Iterable[str] = "cri", literals: Iterable[str] = ()) -> Defuse:
    """A function that puts a space into every special token and sentence tag of a text.

    Args:
        tags: prefixes of the sentence tags in use: ``"c"`` stands for ``<c0>``, ``<c1>`` …
        literals: further texts to break, such as an adapter's own invocation token.
    """
    prefixes = "|".join(sorted(map(re.escape, tags), key=len, reverse=True))
    # Each alternative matches up to the character before which the space goes.
    patterns = [
        f"{_LESS}(?={_INVISIBLE}{_BAR})",
        f"{_LESS}(?={_INVISIBLE}(?:/{_INVISIBLE})?(?:{_WORDS}){_INVISIBLE}[>\uff1e\ufe65])",
        f"{_LESS}(?={_LESS}/?SYS>>)",
        f"{_SQUARE}(?={_INVISIBLE}/?(?:{_MISTRAL})[\\]\uff3d])",
    ]
    if prefixes:
        patterns.append(f"{_LESS}(?={_INVISIBLE}(?:{prefixes}){_INVISIBLE}\\s?\\d+\\s?{_INVISIBLE}[>\uff1e\ufe65])")
    patterns += [f"{re.escape(text[0])}(?={re.escape(text[1:])})" for text in literals if len(text) > 1]
    pattern = re.compile("|".join(patterns), re.IGNORECASE)
    starters = frozenset("<\uff1c\ufe64[\uff3b") | {text[0].casefold() for text in literals if text}
    plain = starters <= frozenset("<\uff1c\ufe64[\uff3b")

    def defused(text: str) -> str:
        if plain and not any(starter in text for starter in starters):
            return text  # almost all text: a few scans for a character are cheaper than the pattern
        return pattern.sub(lambda match: match[0] + " ", text)

    return defused


defuse: Defuse = defuser()


def header(text: str, defused: Defuse = defuse) -> str:
    """A text for use between quotes in a role header, e.g. a document id: no markup, no quote, no line break."""
    return json.dumps(defused(text), ensure_ascii=False)[1:-1].replace("\u2028", " ").replace("\u2029", " ")
