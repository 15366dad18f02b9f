"""Text that is not ours must not act as markup: it can neither forge a turn nor shift a citation.

Queries, documents and answers go into prompts as data. Special tokens of chat templates and our own sentence tags in
them are broken with a space after their first character, which tokenizers no longer take for the token and readers
hardly see. The caller's text is never changed: offsets are counted in it, not in the prompt.

Broken are: anything that starts like ``<|`` or ends like ``|>`` behind one word; the tokens of :data:`WORDS` and
:data:`SQUARES`; sentence tags; and the same with full-width letters or invisible characters in it, which some
tokenizers fold into the plain ones before they look for special tokens. HTML stays as it is.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable

# What families of models give a meaning to, where it neither starts like "<|" nor ends like "|>": patterns of what
# stands between "<" (or "</") and ">", in any case.
WORDS: dict[str, tuple[str, ...]] = {
    # SentencePiece's control symbols; BERT's and T5's tokenizers (vocab files of google-bert, google-t5)
    "any": ("s", "bos", "eos", "pad", "unk", "mask", "cls", "sep", "eot", "eod", "[a-z]+_of_[a-z_]+", "[a-z]+_token",
            r"unused\d+", r"extra_id_\d+", r"reserved_special_token_\d+", "response", "co", "[a-z]+_(?:start|end)"),
    # tokenizer_config.json of ibm-granite/granite-3.3-8b-instruct and of bigcode/starcoder2-3b
    "granite": ("fim_[a-z]+", "(?:issue|jupyter|commit)_[a-z]+", "empty_output", "filename", "reponame", "gh_stars",
                "documents?", "available_tools"),
    # tokenizer_config.json of Qwen/Qwen3-8B
    "qwen": ("tools?", "tool_[a-z]+", "think", "thinking", "im_[a-z]+", "function_[a-z]+"),
    # ai.google.dev/gemma/docs/formatting (to Gemma 3) and /gemma/docs/core/prompt-formatting-gemma4
    "gemma": ("start_of_[a-z]+", "end_of_[a-z]+"),
}  # fmt: skip
# What stands between "[" (or "[/") and "]", spelled exactly.
SQUARES: dict[str, tuple[str, ...]] = {
    # mistral_common.tokens.tokenizers.base.SpecialTokens
    "mistral": ("INST", "AVAILABLE_TOOLS", "TOOL_CALLS", "TOOL_RESULTS", "TOOL_CONTENT", "SYSTEM_PROMPT", "THINK",
                "ARGS", "CALL_ID", "IMG", "IMG_BREAK", "IMG_END", "PREFIX", "MIDDLE", "SUFFIX", "AUDIO", "BEGIN_AUDIO",
                "TRANSCRIBE", "MODEL_SETTINGS"),
    "glm": ("gMASK", "MASK", "sMASK"),  # tokenizer_config.json of zai-org/GLM-4.5
}  # fmt: skip

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufe00-\ufe0f\ufff9-\ufffb"
    "\U000e0000-\U000e007f\U000e0100-\U000e01ef]+"
)
_WORDS, _SQUARES = ("|".join(word for words in of.values() for word in words) for of in (WORDS, SQUARES))


class _PlainCharacters(dict[int, int]):
    """Each character as NFKC has it, where that is one character: full-width letters become plain ones."""

    def __missing__(self, code: int) -> int:
        plain = unicodedata.normalize("NFKC", chr(code))
        self[code] = folded = ord(plain) if len(plain) == 1 else code
        return folded


_FOLDED, _STARTERS = _PlainCharacters(), frozenset("<[")

Defuse = Callable[[str], str]


def defuser(tags: Iterable[str] = "cri", literals: Iterable[str] = ()) -> Defuse:
    """A function that puts a space into every special token and sentence tag of a text.

    Args:
        tags: prefixes of the sentence tags in use: ``"c"`` stands for ``<c0>``, ``<c1>`` …
        literals: further texts to break, such as an adapter's own invocation token.
    """
    prefixes = "|".join(sorted(map(re.escape, tags), key=len, reverse=True))
    # Each alternative matches the character behind which the space goes.
    patterns = [
        r"<(?=\||/?(?:" + _WORDS + r")>|/?[a-z0-9_-]{1,40}\||</?SYS>>)",
        r"\[(?=/?(?-i:" + _SQUARES + r")\]|/?INST\])",
    ]
    if prefixes:
        patterns.append(f"<(?=(?:{prefixes})\\s?\\d+\\s?>)")
    patterns += [f"{re.escape(text[0])}(?={re.escape(text[1:])})" for text in literals if len(text) > 1]
    pattern = re.compile("|".join(patterns), re.IGNORECASE)
    starters = _STARTERS | {text[0].casefold() for text in literals if text}

    def defused(text: str) -> str:
        # Special tokens are looked for in the plain text, character for character, and broken in the text as it is.
        plain = text if text.isascii() else text.translate(_FOLDED)
        if starters <= _STARTERS and "<" not in plain and "[" not in plain:
            return text  # almost all text: a few scans for a character are cheaper than the pattern
        places: list[int] | range = range(len(text))
        if not text.isascii() and _INVISIBLE.search(plain):
            places = [i for i, c in enumerate(plain) if not _INVISIBLE.match(c)]
            plain = "".join([plain[i] for i in places])
        pieces, begin = [], 0
        for found in pattern.finditer(plain):
            end = places[found.start()] + 1
            pieces.append(text[begin:end])
            begin = end
        return " ".join([*pieces, text[begin:]])

    return defused


defuse: Defuse = defuser()


def header(text: str, defused: Defuse = defuse) -> str:
    """A text for use between quotes in a role header, e.g. a document id: no markup, no quote, no line break."""
    return json.dumps(defused(text), ensure_ascii=False)[1:-1].replace("\u2028", " ").replace("\u2029", " ")
