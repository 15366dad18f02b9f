"""A question's slips of the pen, read as the words of the documents that they were meant to be."""

from __future__ import annotations

from collections.abc import Sequence

from intrinsics_core.embedded.lexical import Token, is_unheard_of, tokens

_SHORTEST = 4  # letters: of shorter words too many are one letter apart


def without_slips(documents: Sequence[str], question: str) -> str:
    """The question, each word that nobody knows read as one of the documents' with the same first letter that is one
    letter, or two letters exchanged, away ("chiken" as "chicken"). A word that the documents have stays as it is.
    A name is meant only where two letters are exchanged, and a word that is hardly known not where one is another.
    """
    unknown = [
        token
        for token in tokens(question)
        if len(token.text) >= _SHORTEST and token.text.isalpha() and not token.is_stop and is_unheard_of(token.term)
    ]
    if not unknown:
        return question
    known = [(token, text) for text in documents for token in tokens(text) if token.text.isalpha()]
    words = sorted({token.text.casefold() for token, _ in known})
    common = {t.text.casefold(): is_unheard_of(t.term) for t, text in known if not _is_name(t, text)}
    have, plain = set(words), sorted(word for word in common if len(word) >= _SHORTEST)
    read, at = "", 0
    for token in unknown:
        mine = token.text.casefold()
        if not have.isdisjoint((mine, mine + "s", mine.removesuffix("s"))):
            continue
        # "Petersen" may be another one than "Peterson", and "ethene" is another gas than "ethane".
        near = [word for word in words if _exchanged(mine, word)]
        if not (token.is_capitalised and token.begin):
            slips = [word for word in plain if _one_slip(mine, word)]
            near += [word for word in slips if not common[word] or len(word) != len(mine)]
        if meant := next(iter(near), ""):
            read += question[at : token.begin] + (meant.capitalize() if token.is_capitalised else meant)
            at = token.end
    return read + question[at:]


def _is_name(token: Token, text: str) -> bool:
    """Whether a word is capitalised, and not because a sentence begins with it."""
    before = text[max(0, token.begin - 3) : token.begin].rstrip()
    return token.is_capitalised and (
        is_unheard_of(token.term) or (token.begin > 0 and before[-1:] not in (*".!?:|-", ""))
    )


def _one_slip(one: str, two: str) -> bool:
    """Whether two words with the same first letter differ by one letter more, less or other, or by two exchanged."""
    if one[0] != two[0] or abs(len(one) - len(two)) > 1:
        return False
    same = next((i for i, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))
    mine, theirs = one[same:], two[same:]
    return mine[1:] == theirs[1:] or mine[1:] == theirs or mine == theirs[1:] or _exchanged(one, two)


def _exchanged(one: str, two: str) -> bool:
    """Whether two words differ by two neighbouring letters in the other order, not the first one."""
    other = [i for i, (a, b) in enumerate(zip(one, two, strict=False)) if a != b]
    return (
        len(one) == len(two)
        and len(other) == 2
        and 0 < other[0] == other[1] - 1
        and (one[other[0]] == two[other[1]] and one[other[1]] == two[other[0]])
    )
