"""Verbatim quotes: found where they stand, whatever was straightened on the way, and never where they do not."""

from __future__ import annotations

import random
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from intrinsics_core.replies.quotes import locate, locate_all
from tests.drawing import drawn
from tests.steps import LINEAR, growth

FAMILY = "\U0001f469\u200d\U0001f467"

FOUND = [
    ("Tea is hot.", "Cold? Tea is hot.", "Tea is hot."),
    ("  Tea is hot.\n", "Cold? Tea is hot.", "Tea is hot."),
    ("TEA IS HOT", "Cold? Tea is hot.", "Tea is hot"),
    ("Tea is hot.", "Cold? Tea\r\n   is\u00a0hot.", "Tea\r\n   is\u00a0hot."),
    ('She said "no".', "Then: She said “no”. Twice.", "She said “no”."),
    ("She said 'no'.", 'Then: She said "no". Twice.', 'She said "no".'),
    ("“Tea is hot”", "All tea is hot today.", "tea is hot"),
    ("... tea is hot …", "All tea is hot today.", "tea is hot"),
    ('"… tea is hot."', "All tea is hot.", "tea is hot."),
    ("well... yes", "Oh well… yes.", "well… yes"),
    ("3-4 days", "takes 3–4 days", "3–4 days"),
    ("so - it - goes", "so -- it — goes", "so -- it — goes"),
    ("don't", "I don’t.", "don’t"),
    ("the finest flour", "the ﬁnest ﬂour", "the ﬁnest ﬂour"),
    ("STRASSE", "Lange Straße 5", "Straße"),
    ("caf\u00e9", "cafe\u0301 au lait", "cafe\u0301"),
    ("cafe\u0301", "caf\u00e9 au lait", "caf\u00e9"),
    ("General Settings page", "On the **General Settings **page, click", "General Settings **page"),
    ("**Save** changes", "Click Save changes.", "Save changes"),
    ("one two", "* one\n* two", "one\n* two"),
    ("one - two", "- one\n- two", "one\n- two"),
    ("Title text", "# Title\n\n> text", "Title\n\n> text"),
    ("run pip now", "run `pip` now", "run `pip` now"),
    ("2 * 3", r"2 \* 3", r"2 \* 3"),
    ("coop", "a co\u00adop", "co\u00adop"),
    ("热的", "茶是热的。", "热的"),
    ("ABC", "全角ABC。", "ABC"),
    ("한국", "\u1112\u1161\u11ab\u1100\u116e\u11a8 mal", "\u1112\u1161\u11ab\u1100\u116e\u11a8"),
    (f"ok {FAMILY}", f"all OK {FAMILY}!", f"OK {FAMILY}"),
    ("I ❤ tea", "I ❤\ufe0f tea", "I ❤\ufe0f tea"),
    ("❤", "I ❤\ufe0f tea", "❤\ufe0f"),
    ("½ cup", "add ½ CUP", "½ CUP"),
    ("he", "The cat. Then he ran.", "he"),
]


@pytest.mark.parametrize(("quote", "text", "expected"), FOUND)
def test_found_as_it_stands_in_the_text(quote: str, text: str, expected: str) -> None:
    found = locate(quote, text)
    assert found is not None
    assert text[slice(*found)] == expected


MISSING = [
    ("", "tea"), (" \r\n", "tea \r\n"), ("tea", ""), ("…", "a..."), ('""', "a"), ("**", "a"), ("“…”", "'...'"),
    ("Tea is cold.", "Tea is hot."), ("hot … sweet", "hot and sweet"), ("snake_case", "snakecase"),
    ("cafe", "caf\u00e9"), ("cafe", "cafe\u0301"), ("e\u0301", "e"), ("1", "½ cup"), ("f", "ﬁ"), ("10 2", "10 - 2"),
    ("하", "한"), ("하", "\u1112\u1161\u11ab"), ("\U0001f469", FAMILY), ("\U0001f467", FAMILY), ("-5", "5"),
    ("a b", "ab"), ("\u0301", "e\u0301"),
]  # fmt: skip


@pytest.mark.parametrize(("quote", "text"), MISSING)
def test_not_there_is_none(quote: str, text: str) -> None:
    assert locate(quote, text) is None and locate_all(quote, text) == []


def test_all_places_of_a_repeated_quote() -> None:
    text = "Tea. TEA. tea. Tea."
    assert locate_all("Tea", text) == [(0, 3), (15, 18)]  # literal ones, where there are any
    assert locate_all("tEa", text) == [(0, 3), (5, 8), (10, 13), (15, 18)]
    assert locate("tEa", text) == (0, 3)
    assert locate("he", "The cat. Then he") == (14, 16)


def test_places_do_not_overlap() -> None:
    assert locate_all("aa", "aaaaa") == [(0, 2), (2, 4)]


def test_quotes_within_quotes_keep_their_place() -> None:
    text = "“He wrote: ‘Ice is not hot.’ Twice.” So he said: “Ice is not hot.”"
    inner = locate("'Ice is not hot.'", text)
    assert inner is not None and text[slice(*inner)] == "‘Ice is not hot.’"
    whole = locate("\"He wrote: 'Ice is not hot.' Twice.\"", text)
    assert whole == (0, text.index(" So he"))


# --- properties -------------------------------------------------------------------------------------------------------

PIECES = [
    "tea", "Tea", "is", "hot", ".", "!", "…", "...", "“", "”", '"', "'", "’", "-", "–", "—", " ", "  ", "\n", "\r\n",
    "\t", "\u00a0", "茶", "热", "한", "\u1112\u1161\u11ab", "e\u0301", "\u00e9", "e", "\u0301", "\u0323", "ß", "SS",
    "ﬁ", "f", "½", "1", "2", "🙂", FAMILY, "\U0001f469", "❤\ufe0f", "\u200d", "\u200b", "*", "**", "_", "`", "# ", "> ",
    "- ", "\\", "~~", "İ", "ǰ", "ͅ", "\ufdfa", "¨", "\u2028",
]  # fmt: skip
written = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)
anything = written | st.text(max_size=20)


def letters(text: str) -> str:
    """What must be the same, whatever is straightened: letters and digits in any of their forms."""
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return "".join(character for character in folded if character.isalnum())


@settings(derandomize=True, max_examples=drawn(1500), deadline=None)
@given(quote=anything, text=anything)
@example("1", "½")
@example("e", "e\u0301")
def test_nothing_is_invented(quote: str, text: str) -> None:
    places = locate_all(quote, text)
    for begin, end in places:
        assert 0 <= begin < end <= len(text)
        assert letters(text[begin:end]) == letters(quote)
        assert text[begin:end].strip()
    assert all(first[1] <= second[0] for first, second in pairwise(places))
    assert locate(quote, text) in (places or [None])


def nearest(quote: str, text: str, begin: int) -> tuple[int, int] | None:
    """Of all places of a quote the one that begins closest to here."""
    return min(locate_all(quote, text), key=lambda place: abs(place[0] - begin), default=None)


@settings(derandomize=True, max_examples=drawn(800), deadline=None)
@given(parts=st.lists(st.sampled_from(PIECES), min_size=1, max_size=14), data=st.data())
def test_every_part_of_a_text_is_found_in_it(parts: list[str], data: st.DataObject) -> None:
    begin = data.draw(st.integers(0, len(parts) - 1))
    end = data.draw(st.integers(begin + 1, len(parts)))
    text, quote = "".join(parts), "".join(parts[begin:end]).strip()
    at = len("".join(parts[:begin]))
    following = "".join(parts[end:])[:1]
    if not quote or unicodedata.category(quote[0])[0] == "M" or quote[0] in "\u200d\u1161":
        return
    if "\u200d" in (following, "".join(parts[:begin])[-1:]) or (
        following and unicodedata.category(following)[0] == "M"
    ):
        return  # a part of a character, which is no part of the text
    found = nearest(quote, text, at)
    assert found is not None
    assert text[slice(*found)] == quote or letters(text[slice(*found)]) == letters(quote)


WORDS = ["Tea", "hot", "“no”", "don't", "Ice—cold", "3–4", "茶热", "caf\u00e9", "ﬁne", "🙂", "Straße", "well…", "(two)"]


@settings(derandomize=True, max_examples=drawn(500), deadline=None)
@given(
    before=st.lists(st.sampled_from(["alpha", "beta,", "* gamma", "伽马", "🤖"]), max_size=4),
    said=st.lists(st.sampled_from(WORDS), min_size=2, max_size=7),
    after=st.lists(st.sampled_from(["delta", "epsilon.", "\r\n- zeta"]), max_size=4),
    seed=st.integers(0, 1000),
)
def test_a_disguised_quote_is_found_where_it_stood(
    before: list[str], said: list[str], after: list[str], seed: int
) -> None:
    chance = random.Random(seed)
    spaces = [" ", "  ", "\n", "\r\n", "\u00a0", "\u3000"]
    passage = "".join(word + chance.choice(spaces) for word in said).strip()
    begin = len(head := "".join(f"{word}\n" for word in before))
    text = head + passage + "".join(f" {word}" for word in after)
    quote = " ".join(passage.split())
    straight = str.maketrans({"“": '"', "”": '"', "—": "-", "–": "-", "'": "’"})
    disguises = [
        lambda q: q.translate(straight), str.upper, str.casefold, lambda q: unicodedata.normalize("NFKD", q),
        lambda q: unicodedata.normalize("NFKC", q), lambda q: f'"{q}"', lambda q: f"… {q} ...",
        lambda q: q.replace(" ", "\n"), lambda q: f"**{q}**", lambda q: q.replace(" ", " *", 1) + "*",
    ]  # fmt: skip
    for disguise in chance.sample(disguises, 3):
        quote = disguise(quote)
    found = nearest(quote, text, begin)
    assert found is not None, quote
    assert letters(text[slice(*found)]) == letters(passage)
    # Quotation marks and dots around a quote are no part of it, unless they stand in the text.
    assert text[slice(*found)].strip("“”…\"'. ") == passage.strip("“”…\"'. ") and abs(found[0] - begin) <= 1


@pytest.mark.parametrize("length", [60, pytest.param(100_000, marks=pytest.mark.slow)], ids=["counted", "at length"])
@pytest.mark.parametrize(
    "unit", ["a", "½", "e\u0301", "\u0301\u0323", "* ", "#", "word “x” ", "\u200d", "."], ids=lambda unit: ascii(unit)
)
@pytest.mark.parametrize("quote", ["a" * 2_000 + "b", "1⁄21", "E" * 900, 'word "x" ' * 2_000 + "z", "#" * 999])
def test_long_texts_take_linear_time(quote: str, unit: str, length: int) -> None:
    """Steps are counted in short; at length, quadratic work would be minutes to hours and the test would not end."""
    if length < 1_000:
        assert growth(lambda n: lambda: locate(quote[-300:], unit * n), length) < LINEAR
    else:
        text = unit * length
        assert locate(quote, text) is None or quote in text
