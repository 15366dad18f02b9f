"""Numbers in digits and in words, as patterns and as values."""

from __future__ import annotations

import re

ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"  # noqa: E501
ORDINALS = "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"  # noqa: E501
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
CARDINAL_VALUES = {word: float(i) for i, word in enumerate(ONES.split())} | {
    word: 10.0 * i for i, word in enumerate(_TENS.split(), 2)
}
ORDINAL_VALUES = {word: float(i) for i, word in enumerate(ORDINALS.split())}
# By how much a word or an abbreviation behind a number multiplies it.
SCALES: dict[str, float] = {
    "hundred": 1e2, "thousand": 1e3, "k": 1e3, "million": 1e6, "m": 1e6, "mn": 1e6, "billion": 1e9, "bn": 1e9,
    "b": 1e9, "trillion": 1e12, "dozen": 12.0,
}  # fmt: skip
PARTS = {
    "½": 0.5, "¼": 0.25, "¾": 0.75, "⅓": 1 / 3, "⅔": 2 / 3, "⅛": 0.125, "⅜": 0.375, "⅝": 0.625, "⅞": 0.875,
}  # fmt: skip

CARDINALS = frozenset(CARDINAL_VALUES) - {"zero", "one"} | {name for name in SCALES if len(name) > 2}
"""Words that say how many, in lower case. "One" is a pronoun as often."""
NUMBER_WORDS = CARDINALS | frozenset(ORDINAL_VALUES) | {"zero", "one"} | frozenset(PARTS)
"""Words that spell a number, in lower case, and the signs of fractions."""

_SMALL = rf"(?:(?:{'|'.join(_TENS.split())})(?:[ -]+(?:{'|'.join(ONES.split()[1:10])}))?|{'|'.join(sorted(ONES.split(), key=len, reverse=True))})"  # noqa: E501
_CENTURIES = "fifteen sixteen seventeen eighteen nineteen twenty"
# "Nineteen forty-five". "Eighteen twenty-year-olds" are no year.
_YEAR = (
    rf"(?:(?:{'|'.join(_CENTURIES.split())}) +"
    rf"(?:oh[ -](?:{'|'.join(ONES.split()[1:10])})|(?:{'|'.join(_TENS.split())})(?:[ -](?:{'|'.join(ONES.split()[1:10])}))?"  # noqa: E501
    rf"|{'|'.join(ONES.split()[10:])})(?![\w-]))"
)
_HUNDREDS = rf"(?:(?:{_SMALL}|an?)[ -]+hundred(?:(?: +and)? +{_SMALL})?)"
WORDS = (
    rf"(?:{_YEAR}|(?:{_HUNDREDS}|{_SMALL}|an?) +thousand(?:(?: +and)? +(?:{_HUNDREDS}|{_SMALL}))?|{_HUNDREDS}"
    rf"|half +a +dozen|(?:{_SMALL}|a) +dozen|{_SMALL})"
)
DIGITS = (
    r"\d{1,3}(?:[,'’ ]\d{3})+(?:\.\d+)?(?!\d)|\d{1,3}(?:\.\d{3})+,\d{1,2}(?!\d)|\d{1,3}(?:\.\d{3}){2,}(?:,\d+)?(?!\d)"
    r"|\d+(?:[.,]\d+)?(?!\d)"
)
SCALE = r"(?: ?(?:thousand|million|billion|trillion|mn|bn)(?!\w)| ?[kKmMbB](?![\w]))"
# What stands between the two numbers of a range.
RANGE = r" ?(?:-|–|—|to|and|or|until|till) ?"


def _digits(text: str) -> frozenset[float]:
    """The values that digits may stand for: "1.500" is 1500 in some countries."""
    plain = re.sub(r"['’\s]|[.,]?[-–—]+", "", text)
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", plain):
        return frozenset({float(plain.replace(",", ""))})
    if re.fullmatch(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?", plain):
        whole = float(plain.replace(".", "").replace(",", "."))
        return frozenset({whole} if plain.count(".") > 1 or "," in plain else {whole, float(plain)})
    return frozenset({float(plain.replace(",", "."))})


def value_of_words(text: str) -> float:
    """The value of a number in words."""
    if re.fullmatch(_YEAR, text, re.IGNORECASE):
        century, *rest = re.findall(r"[a-z]+", text.casefold())
        return 100 * CARDINAL_VALUES[century] + sum(CARDINAL_VALUES.get(word, 0.0) for word in rest)
    total = current = 0.0
    for word in re.findall(r"[a-z]+", text.casefold()):
        if word in ("a", "an"):
            current = current or 1.0
        elif word in CARDINAL_VALUES:
            current += CARDINAL_VALUES[word]
        elif word == "half":
            current += 0.5
        elif word == "thousand":
            total, current = total + (current or 1.0) * 1e3, 0.0
        elif word in ("hundred", "dozen"):
            current = 6.0 if current == 1.5 and word == "dozen" else (current or 1.0) * SCALES[word]
    return total + current


def values_of(text: str) -> frozenset[float]:
    """The values of a number in digits, in words, or with a fraction."""
    text = text.strip()
    if "/" in text:
        *whole, fraction = text.split()
        above, below = fraction.split("/")
        return frozenset({float(whole[0] if whole else 0) + float(above) / float(below)} if float(below) else ())
    part = PARTS.get(text[-1], 0.0)
    body = text[:-1].strip() if part else text
    if not body:
        return frozenset({part})
    if not body[0].isdigit():
        return frozenset({value_of_words(body)})
    return frozenset(value + part for value in _digits(body))


def value_key(value: float) -> str:
    """The key of a number without a unit."""
    return "#" + format(value, ".10g")
