"""The sentences of an answer without the marks of their form, which say nothing of what they claim.

Numbers of items and steps, emojis, what says where something stands (`references`) and signatures are left out. A row
of a table is put in words. A line in bold or above a list is a heading, however it is numbered. "✅ Lunch" is "Lunch:
yes". An item is read behind its heading.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from intrinsics_core.embedded.scoring.references import without_references
from intrinsics_core.embedded.scoring.verbs import AUXILIARY
from intrinsics_core.embedded.words import is_known
from intrinsics_core.text.cleaning import cleaned_answer
from intrinsics_core.text.courtesy import CLOSING, SIGNS
from intrinsics_core.text.headings import BOLD, EMOJI_CHARACTERS, heading, heading_level
from intrinsics_core.text.items import BULLET, NUMBERED, behind, unmarked
from intrinsics_core.text.layout import is_item
from intrinsics_core.text.months import MONTHS, SHORT_MONTHS
from intrinsics_core.text.tables import NO, YES, in_words

_EMOJI = rf"[{EMOJI_CHARACTERS}]\ufe0f?"
_EMOJIS = re.compile(rf"\A(?:{_EMOJI}\s?)++|(?:(?<=\s){_EMOJI})++\Z|{_EMOJI}\Z")
_YES, _NO = (re.compile(rf"\A[{marks}]|\s[{marks}]\ufe0f?\Z") for marks in (YES, NO))
_CLOSES = re.compile(rf"\A\W*(?:{CLOSING}[,.!]?|(?:{SIGNS}),)\Z", re.IGNORECASE)
_LABEL = re.compile(r"\A(?:\*\*tl;?dr:\*\*|(?:tl;?dr|(?:short|final|quick) answer|answer)\s*:)\s+", re.IGNORECASE)
_DENIES = re.compile(r"\A(?:not?|don['’]t|do not|never|without|exclu\w+)\b", re.IGNORECASE)
_SAYS = re.compile(rf"\d|\b(?:{AUXILIARY}|be|not?|never|without)\b|n['’]t\b", re.IGNORECASE)
# Words at the end of a heading that say something of a thing without a verb: "Breakfast included".
_STATES = re.compile(
    r"\w \b(?:free|included|excluded|welcome|allowed|forbidden|prohibited|available|unavailable|required|closed|open"
    r"|refundable|sold out)\W*\Z",
    re.IGNORECASE,
)
# Headings that say nothing of their items.
_VAGUE = re.compile(
    r"\?\Z|\b(?:key|main|differences?|summary|overview|conclusion|comparison|details?|features?|options?"
    r"|recommendations?|notes?|points?|decisions?|answer|facts?|information|steps?|example|sources?)\b",
    re.IGNORECASE,
)
_MONTH = f"(?:{'|'.join((*MONTHS, *SHORT_MONTHS))})"
_DATE = re.compile(
    rf"\b\d{{1,2}}(?:st|nd|rd|th)? {_MONTH}\b(?: (?:19|20)\d\d\b)?|\b{_MONTH} \d{{1,2}}\b(?:,? (?:19|20)\d\d\b)?",
    re.IGNORECASE,
)
_SIGNED = 3  # lines of a signature, and words of a name
_SHORT = 6  # words of a line that names what follows


def without_form(sentences: Sequence[str], documents: Sequence[str] = ()) -> list[str]:
    """As many texts as sentences. Items begin with "- ", headings are in bold; "" where nothing is said.

    Args:
        sentences: those of an answer, in order (`layout.laid_out`).
        documents: the texts of the documents, whose numbers may be cited.
    """
    said = _without_signature(in_words(cleaned_answer(without_references(sentences, documents), is_known)))
    found, above, introduced = list[str](), "", ""
    for i, text in enumerate(said):
        following = next(filter(None, said[i + 1 :]), "")
        name = _named(text, following)
        if name:
            above = "" if _VAGUE.search(name) or len(name.split()) > _SHORT else name
            level = heading_level(text)
            found.append(f"{'#' * level} {name}" if 0 < level < BOLD else f"**{name}**")
            continue
        item = is_item(text) or NUMBERED.match(text) is not None
        plain = _plain(text)
        above = above if item else ""
        introduced = introduced if item else plain[:-1] if plain.endswith(":") else ""
        if item and introduced and plain and not any(map(str.isalpha, plain)):  # "Bus 12 leaves at:", "- 3:15"
            plain = f"{introduced} {plain}"
        found.append(f"- {behind(above, plain)}" if item and plain else plain)
    return found


def _without_signature(sentences: Sequence[str]) -> list[str]:
    """Texts without the names below "Kind regards," at the end."""
    for i in range(max(1, len(sentences) - 1 - _SIGNED), len(sentences)):
        if _CLOSES.match(sentences[i]) and all(map(_may_be_a_name, sentences[i + 1 :])):
            return [*sentences[: i + 1], *[""] * (len(sentences) - i - 1)]
    return list(sentences)


def _may_be_a_name(line: str) -> bool:
    few = len(line.split()) <= _SIGNED or (len(line.split()) <= _SHORT and line.startswith(("The ", "Your ")))
    return few and not _SAYS.search(line) and line[:1].isupper() and line[-1:].isalpha()


def only_names(text: str, following: str) -> bool:
    """Whether a text of `without_form` names what follows and says nothing of it."""
    found = heading(text)
    if found is None or not following:
        return False
    denies = following.startswith("- ") and _DENIES.match(found.name)
    states = not following.startswith("- ") and _STATES.search(found.name)
    return bool(denies) or not (states or _SAYS.search(_DATE.sub("", found.name)))


def _plain(text: str) -> str:
    """A sentence without its marker, its label and its emojis."""
    bare = _LABEL.sub("", unmarked(text))
    yes, no = _YES.search(bare), _NO.search(bare)
    shown = _EMOJIS.sub("", bare).strip()
    if (yes or no) and shown and not _SAYS.search(shown) and len(shown.split()) <= _SHORT:
        return f"{shown.rstrip('.!:')}: {'yes' if yes else 'no'}."
    return shown or bare


def _named(text: str, following: str) -> str:
    """What a line names that stands above other text: a heading, a line in bold, a few words above a list."""
    plain = _EMOJIS.sub("", unmarked(text)).strip()
    if _is_bold_item(text) and _is_bold_item(following):
        return ""  # one of a list of items in bold
    if above := heading(plain):
        name = NUMBERED.sub("", above.name).rstrip(":").strip()
        return name if following and len(name.split()) <= 2 * _SHORT else ""
    if is_item(text) or not following or len(plain.split()) > _SHORT:
        return ""
    in_list = is_item(following) or NUMBERED.match(following) is not None
    if plain.endswith(":") and (not _SAYS.search(plain) or (in_list and _DENIES.match(plain))):
        return plain.rstrip(":").strip()
    return plain if in_list and plain and plain[-1].isalnum() else ""


def _is_bold_item(text: str) -> bool:
    return BULLET.match(text) is not None and heading_level(_EMOJIS.sub("", BULLET.sub("", text)).strip()) == BOLD
