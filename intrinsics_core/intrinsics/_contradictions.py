"""Whether another document contradicts what an answer cites: the same sentence, word for word, with another amount.

Told are prices, lengths, periods and the like: a number behind "costs", "is", "within" or a word like them, and before
what it counts. A year, a time of the day or the number of a room may differ without a contradiction. Two documents may
speak of different things: nothing is told where each has a name that the other lacks, where their titles differ in more
than numbers, or where the question has a number that only one of them has.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache, partial
from itertools import zip_longest

from intrinsics_core.protocol.results import Citation
from intrinsics_core.protocol.task import Task
from intrinsics_core.text.layout import laid_out

_WORD = re.compile(r"\d++(?:[.,:]\d++)*+|[^\W\d_]++|[$€£%]")
_SPELLED = """
    two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty sixty ninety
""".split()  # noqa: SIM905
_BEFORE = """
    is are was were be cost costs charge charges pay pays weigh weighs measure measures take takes last lasts has have
    hold holds within after under over of to by for up about only least most $ € £
""".split()  # noqa: SIM905
_STANDS_FOR = ("it", "he", "she", "they", "this", "that", "these", "those", "there")
_FEWEST = 4  # words of a sentence that says of what its number is
_NAME = re.compile(r"(?<=[^\W\d_A-Z] )[A-Z][^\W\d_]+")


def says_otherwise(task: Task, citations: Iterable[Citation]) -> bool:
    """Whether another document has a cited sentence with another amount than the answer has."""
    if len(task.documents) < 2:
        return False
    ids = [task.document_id(i) for i in range(len(task.documents))]
    of_length = _sentences(task)
    of_one_thing = cache(partial(_of_one_thing, task))
    for citation in citations:
        cited, said = _words(citation.document_text), _words(citation.response_text)
        if citation.document_id not in ids or not any(map(_is_number, cited)):
            continue
        own = ids.index(citation.document_id)
        for other, words in of_length.get(len(cited), ()):
            if other != own and _contradicts(cited, words, said) and of_one_thing(own, other):
                return True
    return False


def _sentences(task: Task) -> dict[int, list[tuple[int, list[str]]]]:
    """The words of each sentence with the index of its document, by how many they are."""
    found: dict[int, list[tuple[int, list[str]]]] = defaultdict(list)
    for i, document in enumerate(task.documents):
        for sentence in laid_out(document.text):
            words = _words(sentence.text)
            found[len(words)].append((i, words))
    return found


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _is_number(word: str) -> bool:
    return word[0].isdigit() or word in _SPELLED


def _contradicts(cited: Sequence[str], other: Sequence[str], said: Sequence[str]) -> bool:
    if len(cited) < _FEWEST or cited[0] in _STANDS_FOR:
        return False
    differ = [i for i, (one, two) in enumerate(zip(cited, other, strict=True)) if one != two]
    if len(differ) != 1:
        return False
    (at,) = differ
    before, after = cited[at - 1] if at else "", (*cited, "", "")[at + 1]
    counts = before in ("$", "€", "£") or (before in _BEFORE and (after.isalpha() or after in ("€", "£", "%")))
    return counts and _is_number(cited[at]) and _is_number(other[at]) and cited[at] in said


def _of_one_thing(task: Task, one: int, other: int) -> bool:
    """Whether two documents may speak of the same, as far as names, titles and the question's numbers tell."""
    first, second = task.documents[one], task.documents[other]
    names, others = (set(_NAME.findall(document.text)) for document in (first, second))
    if names - others and others - names:
        return False
    titles = zip_longest(_words(first.title or ""), _words(second.title or ""), fillvalue="")
    if any(a != b and not (a[:1].isdigit() and b[:1].isdigit()) for a, b in titles):
        return False
    there, elsewhere = (set(_words(f"{document.title or ''} {document.text}")) for document in (first, second))
    return not any(_is_number(word) and (word in there) != (word in elsewhere) for word in _words(task.query))
