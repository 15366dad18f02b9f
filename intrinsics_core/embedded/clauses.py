"""What a sentence that compares titled documents says of each of them.

"The Harbour Hotel has a pool, while the Garden Hotel has a sauna." rests on two documents and is true of neither alone.
Cut between the titles that it names, each clause is judged beside the documents that it is about. "Both hotels have a
pool." and "Neither has a pool." say something of each title.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

from intrinsics_core.embedded.words import Token, keys_of, stem, tokens
from intrinsics_core.text.words import AUXILIARY

_AUXILIARY = re.compile(AUXILIARY, re.IGNORECASE)


def denied(words: Sequence[str]) -> str:
    """A predicate with its negation: "has a pool" as "has no pool", "costs more" as "does not cost more"."""
    verb, rest = words[0], " ".join(words[1:])
    if verb.casefold() in ("has", "have") and words[1:2] and words[1].casefold() in ("a", "an", "any"):
        return f"{verb} no {' '.join(words[2:])}"
    if _AUXILIARY.fullmatch(verb) and verb.casefold() not in ("has", "have"):
        return f"{verb} not {rest}"
    return f"does not {'have' if verb.casefold() == 'has' else verb.removesuffix('s')} {rest}"


Run = tuple[str, int, int]
"""A title, and where the words of a sentence that name it begin and end."""

# Where a sentence may be cut, the likeliest places first.
_BREAKS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"[,;]?\s(?:while|whilst|whereas|but)\b|;\s(?:(?:in|by) contrast\b,?|however\b,?)?",
        r",?\sand\b",
        r",\s",
    )
)
_BOTH = re.compile(r"\b(?:both|each|all)\b\s*", re.IGNORECASE)
_ARTICLE = re.compile(r"\bthe\s+\Z", re.IGNORECASE)
_ONLY_ARTICLE = re.compile(r"\s*+(?:the\s)?", re.IGNORECASE)
_ONLY_JOINS = re.compile(r"(?:,? ?and|,)(?: the)?", re.IGNORECASE)
_RESPECTIVELY = re.compile(r",?\srespectively\b", re.IGNORECASE)
_VALUE = r"(?:\d[^\s,]*+(?:\s[ap]\.?m\b\.?)?|[^\s,]++)"
_PAIR = re.compile(rf"(?<!\S)(?P<one>{_VALUE}) and (?P<two>{_VALUE})", re.IGNORECASE)
_EACH = re.compile(
    r"\A\W*(?P<all>both|neither|either|each|every|all|none)\b(?P<more>(?:\s+of\b)?(?:\s+(?:the|these|those)\b)?)"
    r"(?:\s+(?:two|three|four|five|[2-5])\b)?(?:\s+(?P<kind>\w+))?",
    re.IGNORECASE,
)
_TWO_OTHERS = re.compile(r"\A\W*(?:way\b|\w+ (?:and|nor|or)\b)", re.IGNORECASE)  # "both pool and sauna", "either way"
_MOST = 5  # titles of which something is said in one sentence
_WORD = re.compile(r"\s(?P<word>\w+)")


def clauses(sentence: str, apart: Mapping[str, frozenset[str]], question: str = "") -> list[str]:
    """The claims on one title each, as sentences; the sentence as it stands where it makes no such claims.

    Args:
        sentence: one of an answer.
        apart: of each title the keys that no other title has (`told_apart`).
        question: what was asked. Its words may say what kind of thing the titles name.
    """
    runs = _runs(sentence, apart)
    if len({title for title, _, _ in runs}) < 2:
        return _of_each(sentence, apart, question) if not runs else [sentence]
    kinds = {key for title in apart for key in keys_of(title)}
    return _of_joined(sentence, runs, kinds) or _cut_between(sentence, runs, kinds) or [sentence]


def _cut_between(sentence: str, runs: Sequence[Run], kinds: Collection[str]) -> list[str]:
    """The clauses of a sentence; none where it cannot be cut between its titles."""
    cuts = [_cut(sentence, one[2], two[1], kinds) for one, two in pairwise(runs)]
    if None in cuts:
        return []
    begins = [0, *(cut.end() for cut in cuts if cut)]
    ends = [*(cut.start() for cut in cuts if cut), len(sentence)]
    parts = [sentence[begin:end] for begin, end in zip(begins, ends, strict=True)]
    named = [keys_of(title) for title, _, _ in runs]
    if not all(_says(part, keys) for part, keys in zip(parts, named, strict=True)):
        return []
    return [_as_sentence(part) for part in parts]


def _of_joined(sentence: str, runs: Sequence[Run], kinds: Collection[str]) -> list[str]:
    """What is said of each of the titles that "and" joins; none where the sentence names them otherwise."""
    begin, end = runs[0][1], runs[-1][2]
    while (more := _WORD.match(sentence, end)) and stem(more["word"]) in kinds:
        end = more.end()
    between = [sentence[one[2] : two[1]] for one, two in pairwise(runs)]
    joined = all(_ONLY_JOINS.fullmatch(_without(part, kinds)) for part in between) and "and" in between[-1]
    head, tail = _BOTH.sub("", sentence[:begin]), _BOTH.sub("", sentence[end:])
    tails = _dealt_out(tail) or [tail] * len(runs)
    before = _ARTICLE.sub("", head)
    apposed = before.rstrip().endswith((",", ":")) and not _content(tail)  # "There are two choices, A and B."
    if not joined or apposed or not _content(head + tail) or len(tails) != len(runs):
        return []
    article = "the " if _ARTICLE.search(head) else ""
    return [_as_sentence(f"{before}{article}{run[0]}{rest}") for run, rest in zip(runs, tails, strict=True)]


def _dealt_out(text: str) -> list[str]:
    """What "charge 110 and 85 euros, respectively" says of the first and of the second."""
    said, times = _RESPECTIVELY.subn("", text)
    pairs = list(_PAIR.finditer(said)) if times else []
    return [said[: pair.start()] + pair[i] + said[pair.end() :] for pair in pairs[-1:] for i in ("one", "two")]


def _of_each(sentence: str, apart: Mapping[str, frozenset[str]], question: str) -> list[str]:
    """What "both", "each" or "neither" says of each title; the sentence where the titles are of no one kind."""
    titles, kinds = list(apart), {token.term for text in (*apart, question) for token in _content(text)}
    said = _EACH.match(sentence)
    about = {title for title, _, _ in _runs(question, apart)}
    if said is None or len(about) == 1 or len(titles) > _MOST:
        return [sentence]
    kind = said["kind"] and (said["kind"] in ("them", "these", "those") or stem(said["kind"]) in kinds)
    two = said["all"].casefold() in ("both", "neither", "either")
    rest = sentence[said.end("kind") if kind else said.end("all") :].strip()
    if (two and len(titles) != 2) or not (kind or (two and not said["more"])) or not _content(rest):
        return [sentence]
    if _TWO_OTHERS.match(rest):
        return [sentence]
    if said["all"].casefold() in ("neither", "none"):
        rest = denied(rest.split())
    return [_as_sentence(f"{title} {rest}") for title in titles]


def _runs(sentence: str, apart: Mapping[str, frozenset[str]]) -> list[Run]:
    """The titles that a sentence names, in order, with where the words for each begin and end."""
    words = [token for token in tokens(sentence) if not token.is_number]
    found = [(title, token) for token in words for title, keys in apart.items() if token.term in keys]
    runs = list[Run]()
    for title, token in found:
        if runs and runs[-1][0] == title:
            runs[-1] = title, runs[-1][1], token.end
        else:
            runs.append((title, token.begin, token.end))
    return runs


def _cut(sentence: str, end: int, begin: int, kinds: Collection[str]) -> re.Match[str] | None:
    """The place to cut between two titles: that before the second one, or the likeliest. None where there is none, or
    where both titles have one predicate ("A and B").
    """
    breaks = _BREAKS if any(token.term not in kinds for token in _content(sentence[end:begin])) else _BREAKS[:1]
    found = [match for pattern in breaks for match in pattern.finditer(sentence, end, begin)]
    before = (match for match in found if _ONLY_ARTICLE.fullmatch(sentence, match.end(), begin))
    return next(before, next(iter(found), None))


def _content(text: str) -> list[Token]:
    return [token for token in tokens(text) if not token.is_stop]


def _without(text: str, kinds: Collection[str]) -> str:
    """A text without the words of these terms."""
    for token in reversed(tokens(text)):
        if token.term in kinds:
            text = text[: token.begin] + text[token.end :]
    return " ".join(text.split())


def _says(part: str, keys: frozenset[str]) -> bool:
    """Whether a clause has a word beside its title."""
    return any(token.term not in keys for token in _content(part)) or " no" in part


def _as_sentence(part: str) -> str:
    plain = part.strip(" ,;")
    return plain[:1].upper() + plain[1:].rstrip(".") + "."
