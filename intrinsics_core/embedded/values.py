"""Numbers, amounts, times and dates of a text as values: equal ones share a key, however they are written.

"1.5 kg" and "1500 g" are both ``kg:1.5``, "9 p.m." and "21:00" ``clock:1260`` (minutes of the day), "25 December" and
"25.12." ``date:12-25``. A number without a unit has its value alone, ``#12``.

Libraries for units (pint, quantulum3) read expressions, not running text, or bring models of their own; what is needed
here is equality of keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from intrinsics_core.text.memory import remembered
from intrinsics_core.text.words import MONTHS, SHORT_MONTHS


class Quantity(NamedTuple):
    """A quantity and where it stands: ``text[begin:end]``.

    keys: its values with their units; any of them may be meant. Empty for a number without a unit.
    values: of a number, ``1200000`` for "1.2 million"; of a time, its hour on a clock of twelve.
    written: the number before a "million", ``1.2``: a table may say elsewhere that it is in millions.
    implied: what it is a case of, ``part:evening`` of "9 p.m.".
    loose: it may be another quantity: "2h30" is a time or how long it takes.
    """

    begin: int
    end: int
    keys: frozenset[str]
    values: frozenset[float] = frozenset()
    written: frozenset[float] = frozenset()
    implied: frozenset[str] = frozenset()
    loose: bool = False


# --- numbers ------------------------------------------------------------------------------------------------------

_ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()  # noqa: E501, SIM905
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()  # noqa: SIM905
_CARDINAL = {word: float(i) for i, word in enumerate(_ONES)} | {word: 10.0 * i for i, word in enumerate(_TENS, 2)}
# By how much a word or an abbreviation behind a number multiplies it.
_SCALES = {
    "hundred": 1e2, "thousand": 1e3, "k": 1e3, "million": 1e6, "m": 1e6, "mn": 1e6, "billion": 1e9, "bn": 1e9,
    "b": 1e9, "trillion": 1e12, "dozen": 12.0,
}  # fmt: skip
_PARTS = {"½": 1 / 2, "¼": 1 / 4, "¾": 3 / 4, "⅓": 1 / 3, "⅔": 2 / 3, "⅛": 1 / 8, "⅜": 3 / 8, "⅝": 5 / 8, "⅞": 7 / 8}

CARDINALS = frozenset(_CARDINAL) - {"zero", "one"} | {name for name in _SCALES if len(name) > 2}
"""Words that say how many, in lower case. "One" is a pronoun as often."""
NUMBER_WORDS = CARDINALS | {"zero", "one"} | frozenset(_PARTS)
"""Words that spell a number, in lower case, and the signs of fractions."""

_DIGIT = "|".join(_ONES[1:10])
_TY = "|".join(_TENS)
_SMALL = rf"(?:(?:{_TY})(?:[ -]+(?:{_DIGIT}))?|{'|'.join(sorted(_ONES, key=len, reverse=True))})"
# "Nineteen forty-five". "Eighteen twenty-year-olds" are no year.
_YEAR = (
    rf"(?:(?:{'|'.join([*_ONES[15:], 'twenty'])}) +"
    rf"(?:oh[ -](?:{_DIGIT})|(?:{_TY})(?:[ -](?:{_DIGIT}))?|{'|'.join(_ONES[10:])})(?![\w-]))"
)
_HUNDREDS = rf"(?:(?:{_SMALL}|an?)[ -]+hundred(?:(?: +and)? +{_SMALL})?)"
_WORDS = (
    rf"(?:{_YEAR}|(?:{_HUNDREDS}|{_SMALL}|an?) +thousand(?:(?: +and)? +(?:{_HUNDREDS}|{_SMALL}))?|{_HUNDREDS}"
    rf"|half +a +dozen|(?:{_SMALL}|a) +dozen|{_SMALL})"
)
_DIGITS = (
    r"\d{1,3}(?:[,'’ ]\d{3})+(?:\.\d+)?(?!\d)|\d{1,3}(?:\.\d{3})+,\d{1,2}(?!\d)|\d{1,3}(?:\.\d{3}){2,}(?:,\d+)?(?!\d)"
    r"|\d+(?:[.,]\d+)?(?!\d)"
)
_SCALE = r"(?: ?(?:thousand|million|billion|trillion|mn|bn)(?!\w)| ?[kKmMbB](?![\w]))"
_RANGE = r" ?(?:-|–|—|to|and|or|until|till) ?"  # between the two numbers of a range


def _value_of_digits(text: str) -> frozenset[float]:
    """The values that digits may stand for: "1.500" is 1500 in some countries."""
    plain = re.sub(r"['’\s]|[.,]?[-–—]+", "", text)
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", plain):
        return frozenset({float(plain.replace(",", ""))})
    if re.fullmatch(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?", plain):
        whole = float(plain.replace(".", "").replace(",", "."))
        return frozenset({whole} if plain.count(".") > 1 or "," in plain else {whole, float(plain)})
    return frozenset({float(plain.replace(",", "."))})


def _value_of_words(text: str) -> float:
    words = re.findall(r"[a-z]+", text.casefold())
    if re.fullmatch(_YEAR, text, re.IGNORECASE):
        return 100 * _CARDINAL[words[0]] + sum(_CARDINAL.get(word, 0.0) for word in words[1:])
    total = current = 0.0
    for word in words:
        if word == "thousand":
            total, current = (current or 1.0) * 1e3, 0.0
        elif word in _SCALES:
            current = (current or 1.0) * _SCALES[word]
        else:
            current += 0.5 if word == "half" else _CARDINAL.get(word, 0.0)
    return total + current


def _values_of(text: str) -> frozenset[float]:
    """The values of a number in digits, in words, or with a fraction."""
    text = text.strip()
    if "/" in text:
        *whole, fraction = text.split()
        above, below = map(float, fraction.split("/"))
        return frozenset({float(whole[0] if whole else 0) + above / below} if below else ())
    part = _PARTS.get(text[-1], 0.0)
    body = text[:-1].strip() if part else text
    if not body:
        return frozenset({part})
    values = _value_of_digits(body) if body[0].isdigit() else {_value_of_words(body)}
    return frozenset(value + part for value in values)


def value_key(value: float) -> str:
    """The key of a number without a unit."""
    return "#" + format(value, ".10g")


# --- amounts ------------------------------------------------------------------------------------------------------

# A line a dimension: how many of its base one unit is, and the unit's names. A name that stands twice may be either.
# A name of three letters and more has its plural with "s" and its British spelling, too.
_TABLE = """
kg: 1e-6 mg milligram milligramme, 1e-3 g gr gram gramme, 1 kg kgs kilo kilogram kilogramme, 1e3 t tonne ton tons, 0.45359237 lb lbs pound, 0.028349523125 oz ounce
m: 1e-3 mm millimeter, 1e-2 cm centimeter, 1 m meter, 1e3 km kilometer, 0.0254 inch inches, 0.3048 ft foot feet, 0.9144 yd yard, 1609.344 mi mile
m2: 1e-4 cm2 cm² square_centimeter, 1 m2 m² sqm sq_m qm square_meter, 1e4 ha hectare, 1e6 km2 km² square_kilometer, 0.09290304 ft2 ft² sqft sq_ft square_foot square_feet, 4046.8564224 acre
l: 1e-3 cm3 cm³ cubic_centimeter ml milliliter cc, 1e3 m3 m³ cbm cubic_meter, 1e-2 cl centiliter, 0.1 dl deciliter, 1 l liter
s: 1e-3 ms millisecond, 1 s sec secs second, 60 min mins minute, 3600 h hr hrs hour, 86400 day days, 604800 week wk wks, 1209600 fortnight
month: 1 month, 12 year yr yrs, 120 decade, 1200 century centuries
percent: 1 % percent per_cent pct percentage_points
promille: 1 ‰
celsius: 1 °c celsius degrees_celsius centigrade degrees_centigrade degrees_c degree °
fahrenheit: 1 °f fahrenheit degrees_fahrenheit degrees_f degree °
EUR: 1 € eur euro, 0.01 cent
USD: 1 $ us$ usd dollar, 0.01 cent
GBP: 1 £ gbp pound quid, 0.01 penny pence
CHF: 1 chf franc
JPY: 1 ¥ jpy yen
byte: 1 byte, 1e3 kb kilobyte, 1e6 mb megabyte, 1e9 gb gigabyte, 1e12 tb terabyte
byte: 1024 kb kilobyte kib, 1048576 mb megabyte mib, 1073741824 gb gigabyte gib, 1099511627776 tb terabyte tib
W: 1 w watt, 1e3 kw kilowatt
V: 1 v volt
km/h: 1 km/h kmh kph, 1.609344 mph
"""  # noqa: E501
_NO_PLURAL = "feet foot inch penny pence quid century percent centigrade fahrenheit sqft".split()  # noqa: SIM905


def _units() -> dict[str, tuple[tuple[str, float], ...]]:
    units: dict[str, tuple[tuple[str, float], ...]] = {}
    for line in _TABLE.strip().split("\n"):
        base, _, rest = line.partition(": ")
        for each in rest.split(", "):
            factor, *names = each.split()
            for name in names:
                spelled = name.replace("_", " ")
                forms = [spelled, re.sub(r"(?:(?<=met)|(?<=lit))er\b", "re", spelled)]
                word = name.removeprefix("square_").removeprefix("cubic_")
                plural = len(word) > 3 and word.isalpha() and word[-1] != "s" and word not in _NO_PLURAL
                for form in dict.fromkeys([*forms, *(f"{form}s" for form in forms if plural)]):
                    units[form] = (*units.get(form, ()), (base, float(factor)))
    return units


_UNITS = _units()
_SYMBOLS = r"(?:US)?\$|[€£¥]|\b(?:EUR|USD|GBP|CHF|JPY)(?= ?\d)"
_BY_LENGTH = sorted(_UNITS, key=len, reverse=True)
_UNIT = r"(?:" + "|".join(re.escape(name).replace(r"\ ", " +") for name in _BY_LENGTH) + r")(?!\w)"
_SIGN = r"(?:%|‰|€|£|¥|\$|°(?: ?[CF]\b)?)"
_NOT_COUNTED = ("second", "percent", "degree", "cent")
_COUNTABLE = "|".join(
    name for name in _BY_LENGTH if name.isalpha() and len(name) > 3 and name[-1] != "s" and name not in _NOT_COUNTED
)
_NO_CENTS = r"(?:[.,][-–—]{1,2}(?!\w))"  # "1200,- €"
_PART = rf"[{''.join(_PARTS)}]"
_GLUED = rf"(?!s\b){_UNIT}"  # "120m2", but not "the 1990s"
_NUMBER = (
    rf"(?:(?<![\w.,])(?:\d+ +)?\d/\d(?![\w/])"
    rf"|(?<![\w.,])(?:{_DIGITS})(?:{_NO_CENTS}| ?{_PART})?(?:(?!\w)|(?={_GLUED}))(?![.,]\d)|{_PART}"
    rf"|(?<!\w)(?:{_WORDS})(?:(?: +and +a +half)|)(?!\w))"
)
_AMOUNT = re.compile(
    rf"(?P<symbol>(?:{_SYMBOLS}) ?)?(?P<number>{_NUMBER})(?P<scale>{_SCALE})?"
    rf"(?:(?:(?: {{0,3}}|-)(?P<worded>{_UNIT})| ?(?P<sign>{_SIGN})))?"
    r"(?P<half> +and +a +half(?!\w))?",
    re.IGNORECASE,
)
_ONE = re.compile(
    rf"(?<!\w)(?P<share>half +an?|(?:a +)?quarter +of +an?|three[ -]quarters +of +an?|an?) +"
    rf"(?P<unit>{_COUNTABLE})(?!\w)(?P<half> +and +a +half(?!\w))?",
    re.IGNORECASE,
)
_HALF = re.compile(rf"\bhalf +an?(?= +(?!dozen|{_COUNTABLE})[^\W\d_])", re.IGNORECASE)
_JOINED = re.compile(r",? ?(?:and +)?", re.IGNORECASE)


def _keys(values: frozenset[float], unit: str) -> frozenset[str]:
    named = _UNITS[re.sub(r"\s+", " ", unit.strip().casefold())]
    return frozenset(f"{base}:{value * factor:.10g}" for value in values for base, factor in named)


def _amounts(text: str) -> Iterator[Quantity]:
    """The numbers of a text, with their units where they have one."""
    before: tuple[bool, Quantity] = False, Quantity(0, 0, frozenset())
    for match in _AMOUNT.finditer(text):
        values, scale = _values_of(match["number"]), (match["scale"] or "").strip().casefold()
        unit = match["symbol"] or match["worded"] or match["sign"] or ""
        if match["half"] and match["worded"]:
            values = frozenset(value + 0.5 for value in values)
        meant, written = values, frozenset[float]()
        if scale == "m" and not unit:
            unit = "m"  # "5 m" are metres, "$5 m" millions
        elif scale:
            meant, written = frozenset(value * _SCALES[scale] for value in values), values
        here = Quantity(*match.span(), _keys(meant, unit) if unit else frozenset(), meant, written)
        yield here
        worded, last = before
        if worded and match["worded"] and _JOINED.fullmatch(text[last.end : here.begin]):  # "1 hour 30 minutes"
            first, second = (dict(key.split(":") for key in each.keys) for each in (last, here))
            bases = [base for base in first if float(second.get(base, "inf")) < float(first[base])]
            keys = frozenset(f"{base}:{float(first[base]) + float(second[base]):.10g}" for base in bases)
            yield from [Quantity(last.begin, here.end, keys)] if keys else ()
        before = bool(match["worded"]), here


def _singles(text: str) -> Iterator[Quantity]:
    """ "An hour", "half a litre", "a year and a half"; the "half a" of "half a cup"."""
    for match in _HALF.finditer(text):
        yield Quantity(*match.span(), frozenset(), frozenset({0.5}))
    for match in _ONE.finditer(text):
        share = match["share"].casefold()
        value = 0.5 if "half" in share else 0.75 if "three" in share else 0.25 if "quarter" in share else 1.0
        values = frozenset({value + (0.5 if match["half"] else 0.0)})
        yield Quantity(*match.span(), _keys(values, match["unit"]), loose=True)


# --- times of the day ---------------------------------------------------------------------------------------------

PARTS_OF_THE_DAY = frozenset({"morning", "afternoon", "evening", "night"})
_TIMES_OF_DAY = (("morning", 4, 12), ("afternoon", 12, 18), ("evening", 17, 24), ("night", 20, 24), ("night", 0, 6))
_HOUR_WORD = "|".join(_ONES[1:13])
_IN_PART = r"in +the +(?:morning|afternoon|evening)|at +night"
_HALF_DAY = rf"(?P<half_day>[ap]\.? ?m\b\.?|o['’]?clock(?: +(?:{_IN_PART}))?|{_IN_PART})"
_CLOCK = re.compile(
    rf"(?<![\w.,:])(?:(?:(?P<other>\d{{1,2}}(?:[:.]\d\d)?){_RANGE})?(?P<hour>\d{{1,2}})"
    rf"(?:(?P<colon>[:.h])(?P<minute>\d\d)(?![\d]|[.:]\d))?|(?P<word>{_HOUR_WORD})) ?"
    rf"(?:{_HALF_DAY}|(?P<on_clock>(?:h|hrs?|Uhr)\b))?",
    re.IGNORECASE,
)
_PAST = re.compile(
    rf"\b(?P<minutes>half|(?:a +)?quarter|five|ten|twenty(?:[ -]five)?)(?: +minutes)? +(?P<way>past|to) +"
    rf"(?P<hour>{_HOUR_WORD}|\d{{1,2}})\b(?: ?{_HALF_DAY})?",
    re.IGNORECASE,
)
_DAY = 24 * 60


def _minutes(hour: int, minute: int, half_day: str) -> frozenset[int]:
    """The minutes of the day that a time may be: "nine o'clock" is one of two."""
    said = re.sub(r"[. ]", "", half_day.casefold())
    if hour > 24 or minute > 59:
        return frozenset()
    if hour > 12 or (hour == 0 and not said):
        return frozenset({(hour * 60 + minute) % _DAY})
    morning = (hour % 12) * 60 + minute
    if said == "am" or "morning" in said:
        return frozenset({morning})
    if said == "pm" or "afternoon" in said or "evening" in said or ("night" in said and 5 < hour < 12):
        return frozenset({morning + _DAY // 2})
    return frozenset({morning, morning + _DAY // 2})


def _at(begin: int, end: int, minutes: frozenset[int], loose: bool = False) -> Iterator[Quantity]:
    if minutes:
        parts = [{part for part, since, till in _TIMES_OF_DAY if since <= minute / 60 < till} for minute in minutes]
        implied = frozenset(f"part:{part}" for part in set.intersection(*parts))
        hours = frozenset(float(minute // 60 % 12 or 12) for minute in minutes)
        keys = frozenset(f"clock:{minute}" for minute in minutes)
        yield Quantity(begin, end, keys, hours, implied=implied, loose=loose)


def _hour(text: str) -> int:
    return int(text) if text.isdigit() else int(_CARDINAL[text.casefold()])


def _clocks(text: str) -> Iterator[Quantity]:
    """The times of the day that a text has: "9 p.m.", "half past nine"."""
    for match in _CLOCK.finditer(text):
        half_day, colon = match["half_day"] or "", (match["colon"] or "").casefold()
        if not half_day and colon not in (":", "h") and not (colon and match["on_clock"]):
            continue  # a number
        hour, minute = _hour(match["word"] or match["hour"]), int(match["minute"] or 0)
        start = match.start("word" if match["word"] else "hour")
        yield from _at(start, match.end(), _minutes(hour, minute, half_day))
        if colon == "h":  # "2h30" may be how long it takes
            yield Quantity(start, match.end(), frozenset({f"s:{3600 * hour + 60 * minute}"}), loose=True)
        if match["other"]:
            other = [int(part) for part in re.split(r"[:.]", f"{match['other']}:0")]
            yield from _at(match.start("other"), match.end("other"), _minutes(other[0], other[1], ""), loose=True)
    for match in _PAST.finditer(text):
        said, hour = match["minutes"].casefold(), _hour(match["hour"])
        minutes = 30 if said == "half" else 15 if "quarter" in said else int(_value_of_words(said))
        if match["way"].casefold() == "to":
            hour, minutes = (hour - 1) or 12, 60 - minutes
        yield from _at(*match.span(), _minutes(hour, minutes, match["half_day"] or ""))


# --- days of the year ---------------------------------------------------------------------------------------------

_MONTH = rf"(?P<month>{'|'.join((*MONTHS, *sorted(SHORT_MONTHS, reverse=True)))})\b\.?"
_DAY_OF = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_DATES = (
    re.compile(rf"(?<![\w.,:]){_DAY_OF}(?: +of)?[ -]+{_MONTH}", re.IGNORECASE),
    re.compile(rf"\b{_MONTH} +(?:the +)?{_DAY_OF}(?![\w:]|[.,]\d)", re.IGNORECASE),
)
_YEAR_BEHIND = re.compile(r"(?:,? {1,3}(?:of {1,3})?|-)([12]\d{3})(?!\w|[.,]\d)")
_NUMERIC = re.compile(
    r"(?<![\w./-])(?:(?P<first>[12]\d{3})(?P<mark>[./-])(?P<month>\d\d?)(?P=mark)(?P<day>\d\d?)"
    r"|(?P<one>\d{1,2})(?P<dot>[./-])(?P<two>\d{1,2})(?P=dot)(?P<last>\d{4}|\d\d)?)(?![\w/-])"
)


class _Day(NamedTuple):
    """A date, ``text[begin:end]``; where its day and month stand; those that its year may be, and where that stands."""

    begin: int
    end: int
    keys: frozenset[str]
    at: tuple[int, int]
    years: frozenset[int] = frozenset()
    year_at: tuple[int, int] = (0, 0)
    in_digits: bool = False


def _days_of(text: str) -> Iterator[_Day]:
    """The dates of a text. In digits the day is first between dots, and either may be between slashes or dashes."""
    for match in (match for pattern in _DATES for match in pattern.finditer(text)):
        if match["month"] not in ("may", "mar", "march") and int(match["day"]) <= 31:  # verbs in lower case
            month = next(i for i, name in enumerate(MONTHS, 1) if name.startswith(match["month"].casefold()[:3]))
            keys, end = frozenset({f"date:{month}-{int(match['day'])}"}), match.end() - match[0].endswith(".")
            behind = _YEAR_BEHIND.match(text, match.end())
            told = (frozenset({int(behind[1])}), behind.span(1)) if behind else ()
            yield _Day(match.start(), behind.end() if behind else end, keys, (match.start(), end), *told)
    for match in _NUMERIC.finditer(text):
        one, two, year = ("day", "month", "first") if match["first"] else ("one", "two", "last")
        orders = [(int(match[one]), int(match[two])), (int(match[two]), int(match[one]))]  # day, month
        valid = [(day, month) for day, month in orders if 1 <= month <= 12 and 1 <= day <= 31]
        keys = frozenset(f"date:{month}-{day}" for day, month in (valid if match["dot"] in ("/", "-") else valid[:1]))
        at = min(match.start(one), match.start(two)), max(match.end(one), match.end(two))
        number = int(match[year] or 0)
        years = {number, *(() if number > 99 else (number + 1900, number + 2000))} if match[year] else ()
        if keys and (match["dot"] != "-" or number > 99):
            yield _Day(*match.span(), keys, at, frozenset(years), match.span(year), in_digits=True)


def _days(text: str) -> Iterator[Quantity]:
    """The days of the year that a text has: "3 May", "2025-05-03"."""
    for day in _days_of(text):
        yield Quantity(*day.at, day.keys)
        if day.in_digits and day.years:
            yield Quantity(*day.year_at, frozenset(), frozenset(map(float, day.years)))


# --- of a text ----------------------------------------------------------------------------------------------------

_SPACES = dict.fromkeys(map(ord, "\u00a0\u2007\u2009\u200a\u200b\u202f\u2060\ufeff"), " ") | {ord("\u2044"): "/"}
# "20¹ euros" has a footnote, "10⁶" a power.
_FOOTNOTE = re.compile(r"(?<=\d)(?<!\b10)[¹²³⁰⁴-⁹]++(?!\w)")


def _evened(text: str) -> str:
    """A text of the same length, with plain spaces and without the footnotes behind numbers."""
    return text if text.isascii() else _FOOTNOTE.sub(lambda found: " " * len(found[0]), text.translate(_SPACES))


_PIECE = re.compile(rf"[^\W\d_]+|[\d{''.join(_PARTS)}]")


@remembered(4096)
def quantities(text: str) -> tuple[Quantity, ...]:
    """The quantities of a text. They may overlap: "1 hour 30 minutes" is three of them."""
    plain = _evened(text)
    pieces = set(_PIECE.findall(plain.casefold()))
    if NUMBER_WORDS.isdisjoint(pieces) and not any(map(str.isdigit, pieces)):
        return tuple(_singles(plain))  # most sentences
    return tuple(q for find in (_amounts, _singles, _clocks, _days) for q in find(plain))


_NOT_PLAIN = re.compile(r"\d[.,'’\s]\d{3}(?!\d)|[^\w\s.,-]|[^\W\d_a-z]|[²³¹⁰-⁹]|[^\W\d_][\s-]+[^\W\d_]", re.IGNORECASE)


def spelled_as_in(source: str, text: str) -> str:
    """The text with each amount, time or date in the source's spelling, where the source has an equal one.

    A small model does not know that "9 p.m." is "21:00" and "€28" 28 euros. (`benchmarks/cases/quantities.jsonl`: .44
    right without it.)
    """
    changes = sorted([*_amounts_as_in(source, text), *_days_as_in(source, text)], key=lambda each: (each[0], -each[1]))
    parts, at = list[str](), 0
    for begin, end, spelling in changes:
        if begin >= at:
            parts += [text[at:begin], spelling]
            at = end
    return "".join(parts) + text[at:]


def _amounts_as_in(source: str, text: str) -> Iterator[tuple[int, int, str]]:
    theirs = {key: each for each in reversed(quantities(source)) for key in _compared(each)}
    spellings = {source[each.begin : each.end] for each in quantities(source)}
    for mine in quantities(text) if theirs else ():
        own = text[mine.begin : mine.end]
        same = next((theirs[key] for key in sorted(_compared(mine)) if key in theirs), None)
        if same and own not in spellings:
            spelling = source[same.begin : same.end]
            if mine.keys or _NOT_PLAIN.search(spelling) or _NOT_PLAIN.search(own):
                yield mine.begin, mine.end, spelling


def _compared(each: Quantity) -> set[str]:
    """The keys of an amount or a time; of a number without a unit its values."""
    return {key for key in each.keys if not key.startswith("date:")} if each.keys else set(map(value_key, each.values))


def _days_as_in(source: str, text: str) -> Iterator[tuple[int, int, str]]:
    """Dates of which one is in digits and the other in words, or both in digits in another order."""
    theirs, mine = (list(filter(_is_whole, _days_of(_evened(each)))) for each in (source, text))
    for own in mine:
        for day in theirs:
            agree = not day.years or not own.years or day.years & own.years
            if day.keys & own.keys and agree and (day.in_digits or own.in_digits):
                year = " " + text[slice(*own.year_at)] if own.years and not day.years else ""
                yield own.begin, own.end, source[day.begin : day.end] + year
                break


def _is_whole(day: _Day) -> bool:
    """Whether it is no fraction and no price: in words, with a year, or with one order alone."""
    return not day.in_digits or bool(day.years) or any(int(key.rpartition("-")[2]) > 12 for key in day.keys)
