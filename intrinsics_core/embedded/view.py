"""The sentences of an answer as they are read: without marks that say nothing of what they claim.

Numbers of items and steps, emojis and citation marks (`text.citation_marks`) are left out. A row of a table is put in
words. An item is read behind its heading where the documents have the heading's words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from intrinsics_core.embedded.words import is_known, keys_of
from intrinsics_core.text.citation_marks import unmarked
from intrinsics_core.text.cleaning import cleaned
from intrinsics_core.text.lines import BOLD, EMOJI_CHARACTERS, behind, heading, heading_level, is_item
from intrinsics_core.text.lines import unmarked as without_bullet
from intrinsics_core.text.tables import in_words

_EMOJI = rf"[{EMOJI_CHARACTERS}]\ufe0f?"
_EMOJIS = re.compile(rf"\A(?:{_EMOJI}\s?)++|(?:(?<=\s){_EMOJI})++\Z|{_EMOJI}\Z")
_EMPHASIS = re.compile(r"(?<![\w*_])(\*{1,3}|_{1,3})(?=[^\s*_])([^*_\n]{1,400})(?<=[^\s*_])\1(?![\w*_])")
_SHORT = 6  # words of a line that names what follows
_REPEATED = 8  # words of what is said over and over, at most
_TIMES = 3  # that it may stand in a row


def read_answer(sentences: Sequence[str], documents: Sequence[str] = (), names: Iterable[str] = ()) -> list[str]:
    """As many texts as sentences. Items begin with "- ", headings are in bold; "" where nothing is said.

    Args:
        sentences: those of an answer, in order (`layout.laid_out`).
        documents: the texts of the documents, whose numbers may be cited.
        names: their ids, titles and addresses, which may be cited.
    """
    said = in_words(cleaned(unmarked(sentences, documents, names), is_known, hidden=True))
    written: frozenset[str] | None = None  # the keys of the documents, made where a heading asks for them
    found, above = list[str](), ""
    for i, text in enumerate(said):
        following = next(filter(None, said[i + 1 :]), "")
        name = _named(text, following)
        if name:
            if written is None:
                written = frozenset[str]().union(*map(keys_of, documents))
            above = name if keys_of(name) <= written else ""
            level = heading_level(text)
            found.append(f"{'#' * level} {name}" if 0 < level < BOLD else f"**{name}**")
            continue
        item = is_item(text)
        bare = _plain(text)
        above = above if item else ""
        found.append(f"- {behind(above, bare)}" if item and bare else bare)
    return found


def only_names(text: str, following: str) -> bool:
    """Whether a text of `read_answer` is a heading and names what follows."""
    return bool(following) and heading(text) is not None


def without_loops(text: str) -> str:
    """The text with at most three of the same words, up to eight of them, in a row: the loop of a small model. The
    reader calls "zebra zebra zebra ..." supported by anything.
    """
    words = text.split()
    if len(words) - len(set(words)) < _TIMES:  # too few are said again
        return text
    kept = words
    for length in range(1, min(_REPEATED, len(words) // (_TIMES + 1)) + 1):
        run, shorter = 0, list[str]()
        for at, word in enumerate(kept):
            run = run + 1 if at >= length and word == kept[at - length] else 0
            if run <= (_TIMES - 1) * length:
                shorter.append(word)
        kept = shorter
    return text if len(kept) == len(words) else " ".join(kept)


def _plain(text: str) -> str:
    """A sentence without its marker, its emphasis and its emojis."""
    bare = _EMPHASIS.sub(r"\2", without_bullet(text))
    return _EMOJIS.sub("", bare).strip() or bare


def _named(text: str, following: str) -> str:
    """What a line names that stands above other text: a heading, a line in bold, a few words above a list."""
    plain = _EMOJIS.sub("", without_bullet(text)).strip()
    if above := heading(plain):
        name = without_bullet(above.name).rstrip(":").strip()
        return name if following and len(name.split()) <= 2 * _SHORT else ""
    if is_item(text) or not following or len(plain.split()) > _SHORT:
        return ""
    return plain.rstrip(":").strip() if is_item(following) and (plain.endswith(":") or plain[-1:].isalnum()) else ""
