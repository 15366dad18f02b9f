"""Which of several titled documents each sentence of an answer is about, and what a comparison says of each of them.

What one document says of its subject is no support for a claim on a rival's. A sentence is about the title that it
names. One that names none is about its heading's ("**Harbour Hotel**" above a list), about what the sentences before it
were where it goes on with "It", "However, they" or "This plan", about the first of two named before where it says "the
former", or about what its question names.

"The Harbour Hotel has a pool, while the Garden Hotel has a sauna." rests on two documents and is true of neither alone.
Cut between the titles that it names, each clause is judged beside the documents that it is about. "Both
hotels have a pool." and "Neither has a pool." say something of each title.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, pairwise
from typing import NamedTuple

from intrinsics_core.embedded.sources import Sources
from intrinsics_core.embedded.words import Token, Unit, claim, idf, is_unheard_of, keys_of, stem, tokens, told_apart
from intrinsics_core.text.lines import heading_level
from intrinsics_core.text.words import AUXILIARY

_OPENED = r"\A\W*(?:[^\W\d]+(?: [^\W\d]+){0,4}, )?(?:(?:and|but|so) )?"  # "However, ", "And "
_STANDS_FOR = re.compile(
    _OPENED + r"(?:it|its|he|she|his|her|they|their|there|this|that|these|those|the)\b"
    r"|\bthere\b(?! (?:is|are|was|were|will|has|have)\b)",
    re.IGNORECASE,
)
_ONE_OF_TWO = re.compile(
    r"\bthe (?:(?P<first>former|first)|latter|second)\b(?! (?:of|day|week|month|year|floor|time)\b)", re.IGNORECASE
)
_SMALL_NUMBER = re.compile(r"\A[?#]{0,2}\d{1,3}\Z")
_ALL = frozenset[int]()


class _Above(NamedTuple):
    """What the lines of a list or a section are about, and the level of the heading that says so."""

    about: frozenset[int] = _ALL
    level: int = 9


def subjects(
    sentences: Sequence[str], sources: Sources, question: str = "", turns: Sequence[str] = ()
) -> list[frozenset[int]]:
    """For each sentence the indices of the documents that may tell of what it is about; empty where all may.

    Args:
        sentences: those of an answer, in order (`view.read_answer`).
        sources: with a title for each document.
        question: what was asked. Its names count, other words do not.
        turns: those before it, the newest first. They count where the question names no title.
    """
    apart = sources.told_apart
    if sources.documents is None or len(apart) < 2:
        return [_ALL] * len(sentences)
    asked = _of(_titles_asked(question, apart, turns), sources)
    found, above, before, last, in_list = list[frozenset[int]](), _Above(), asked, list[str](), False
    for sentence in sentences:
        units = claim(sentence).units
        own = _about(units, sources)  # None where it names no title
        level = heading_level(sentence)
        if level or (own and (sentence.endswith(":") or only_names_one(sentence, apart))):
            if own or level <= above.level:
                above = _Above(own or _ALL, level or above.level)
        elif in_list and not sentence.startswith("- "):
            above = _Above()
        in_list = sentence.startswith("- ")
        if own is not None:
            found.append(own)
            named = list(_names_first(units, apart))
            last = (named if named[1:] else [title for title in last if title != named[0]] + named)[-2:]
            before = own or _of_title(named[0], sources)
        elif len(last) > 1 and (one := _ONE_OF_TWO.search(sentence)):
            found.append(_of_title(last[0 if one["first"] else -1], sources))
        else:
            found.append(above.about or (before if _STANDS_FOR.search(sentence) else asked))
    return found


def _titles_asked(
    question: str, apart: Mapping[str, frozenset[str]], before: Sequence[str]
) -> dict[str, frozenset[str]]:
    """The titles that a question names, or the newest turn ``before`` it that names one, with the keys that name them.

    A question that names a title in plain words alone is about another thing than the turn was.
    """
    units = claim(question).units
    named = _named(_details(units), apart)
    if named or _named(units, apart):
        return named
    return next((found for turn in before if (found := _named(_details(claim(turn).units), apart))), {})


def _details(units: Sequence[Unit]) -> list[Unit]:
    """The names and numbers, and the word before a number ("chapter 4")."""
    before_number = [two.is_number for two in units[1:]]
    return [unit for unit, before in zip(units, [*before_number, False], strict=False) if unit.is_detail or before]


def only_names_one(sentence: str, apart: Mapping[str, frozenset[str]]) -> bool:
    """Whether a line is nothing but the name of a title ("- Garden Hotel"): what follows is about it.

    Args:
        apart: of each title the keys that no other title has (`told_apart`).
    """
    units = claim(sentence).units
    named = _names_first(units, apart)
    ended = sentence.rstrip().endswith((".", "!", "?"))
    return len(named) == 1 and not ended and all(unit.keys & keys_of(title) for title in named for unit in units)


def passages_about(
    question: str, titles: Sequence[str], texts: Sequence[str], before: Sequence[str] = ()
) -> frozenset[int]:
    """The passages that may answer a question which names one of their titles; empty where all may.

    Where it names none, it is about the title that the newest of the user's turns before it names.

    Args:
        question: the question as it stands alone. Its names count.
        titles: of each passage, "" for none.
        texts: of each passage.
        before: the user's earlier turns, the newest first. Their names count.
    """
    named = _titles_asked(question, told_apart(titles), before)
    if len(named) != 1:
        return _ALL
    ((title, keys),) = named.items()
    return _without_rivals(title, keys, titles, {i: keys & keys_of(text) for i, text in enumerate(texts)})


def _about(units: Sequence[Unit], sources: Sources) -> frozenset[int] | None:
    """The documents that may tell of the one title that these words name (`_of`); None where they name none."""
    named = _names_first(units, sources.told_apart)
    return _of(named, sources) if named else None


def _of(named: Mapping[str, frozenset[str]], sources: Sources) -> frozenset[int]:
    """The documents that may tell of a title, by the keys that name it; empty where all may, or it is not one."""
    if len(named) != 1 or sources.documents is None:
        return _ALL
    ((title, keys),) = named.items()
    said: dict[int, set[str]] = defaultdict(set)
    for key in keys:
        for i in sources.postings.get(key, ()):
            said[sources.documents[i]].add(key)
    return _without_rivals(title, keys, sources.titles, said)


def _of_title(title: str, sources: Sources) -> frozenset[int]:
    return _about(claim(title).units, sources) or _ALL


def _names_first(units: Sequence[Unit], apart: Mapping[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    """The titles that words name, in their order. Names come before other words: "Meridel insures luggage" is about
    Meridel, and not about "Corvia Insurance", too.
    """
    named = _named([unit for unit in units if unit.is_name], apart) or _named(units, apart)
    order = sorted(named, key=lambda title: next(i for i, unit in enumerate(units) if unit.keys & named[title]))
    return {title: named[title] for title in order}


def _named(units: Iterable[Unit], apart: Mapping[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    """The titles of which these words have a key that no other title has, with those keys.

    A small number names a title only behind the word that stands before it there: "two years" is not "part 2".
    """
    words = list(units)
    said = {key for unit in words for key in unit.keys}
    behind = {(before, key) for one, two in pairwise(words) for before in one.keys for key in two.keys}
    found = dict[str, frozenset[str]]()
    for title, keys in apart.items():
        if both := frozenset(
            key for key in keys & said if not _SMALL_NUMBER.match(key) or behind & _before(title, key)
        ):
            found[title] = both
    return found


@lru_cache(maxsize=4096)
def _before(title: str, key: str) -> frozenset[tuple[str, str]]:
    """The keys of the word before a number of a title, each with the number's."""
    return frozenset((word, key) for one, two in pairwise(claim(title).units) if key in two.keys for word in one.keys)


def _without_rivals(
    title: str,
    keys: frozenset[str],
    titles: Sequence[str],
    said: Mapping[int, Collection[str]],
) -> frozenset[int]:
    """All documents but the rivals of a title that do not tell of it; empty where there are none.

    A document tells of it where its text has half of the words that name it, weighed by how rare they are: "house"
    alone is not the Glass House Museum, and "1" not the Trek 1.

    Args:
        keys: of the title, those that name it.
        said: of the documents, the keys that their texts have.
    """
    names = {key for key in keys if not _SMALL_NUMBER.match(key)}
    half = sum(map(idf, names)) / 2
    tells = {i for i, some in said.items() if names & set(some) and sum(map(idf, names & set(some))) >= half}
    others = [i for i, each in enumerate(titles) if each and each != title and i not in tells]
    rivals = {i for i in others if is_rival(titles[i], title)}
    return frozenset(range(len(titles))) - rivals if rivals else frozenset()


@lru_cache(maxsize=4096)
def is_rival(title: str, other: str) -> bool:
    """Whether a title is of another thing of the same kind ("Garden Hotel" beside "Harbour Hotel"), or holds a name.

    "Prices" beside "Harbour Hotel" may be a part of what is told of the hotel.
    """
    return shares_a_word(title, other) or any(
        token.is_capitalised and is_unheard_of(token.term) for token in tokens(title)
    )


def shares_a_word(title: str, other: str) -> bool:
    """Whether two titles name things of one kind by their words: "Garden Hotel", "Harbour Hotel"."""
    return any(len(key) > 3 for key in keys_of(title) & keys_of(other))


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


def clauses(sentence: str, titles: Sequence[str], question: str = "") -> list[str]:
    """The claims on one title each, as sentences; the sentence as it stands where it makes no such claims.

    Args:
        sentence: one of an answer.
        titles: of each document, "" for none.
        question: what was asked. Its words may say what kind of thing the titles name.
    """
    apart = told_apart(titles)
    if len(apart) < 2:
        return [sentence]
    runs = _runs(sentence, apart)
    if len({title for title, _, _ in runs}) < 2:
        return _of_each(sentence, list(apart), question) if not runs else [sentence]
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


def _of_each(sentence: str, titles: Sequence[str], question: str) -> list[str]:
    """What "both", "each" or "neither" says of each title; the sentence where the titles are of no one kind."""
    kinds = {token.term for text in (*titles, question) for token in _content(text)}
    said = _EACH.match(sentence)
    about = {title for title, _, _ in _runs(question, told_apart(titles))}
    if said is None or len(about) == 1 or len(titles) > _MOST:
        return [sentence]
    if len(about) < len(titles) and not all(is_rival(one, two) for one, two in combinations(titles, 2)):
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
    """The titles that a sentence names, in order, with where the words for each begin and end. Names come first."""
    words = [token for token in tokens(sentence) if not token.is_number]
    found = [(title, token) for token in words for title, keys in apart.items() if token.term in keys]
    if any(token.is_capitalised for _, token in found):
        found = [(title, token) for title, token in found if token.is_capitalised]
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
    breaks = _BREAKS if _content_beside(sentence[end:begin], kinds) else _BREAKS[:1]
    found = [match for pattern in breaks for match in pattern.finditer(sentence, end, begin)]
    before = (match for match in found if _ONLY_ARTICLE.fullmatch(sentence, match.end(), begin))
    return next(before, next(iter(found), None))


def _content(text: str) -> list[Token]:
    return [token for token in tokens(text) if not token.is_stop]


def _content_beside(text: str, kinds: Collection[str]) -> list[Token]:
    return [token for token in _content(text) if token.term not in kinds]


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
