"""Numbers, amounts, times and dates of a text as values: equal ones share a key, however they are written.

"1.5 kg" and "1500 g" are both ``kg:1.5``, "9 p.m." and "21:00" ``clock:1260`` (minutes of the day), "25 December" and
"Christmas Day" ``date:12-25``. A number without a unit has its value alone, ``#12``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from intrinsics_core.text.memory import remembered
from intrinsics_core.text.months import MONTHS, SHORT_MONTHS


class Quantity(NamedTuple):
    """A quantity and where it stands: ``text[begin:end]``.

    keys: its values with their units; any of them may be meant. Empty for a number without a unit.
    values: of a number, ``1200000`` for "1.2 million"; of a time, its hour on a clock of twelve.
    written: the number before a "million", ``1.2``: a table may say elsewhere that it is in millions.
    implied: what it is a case of, ``part:evening`` of "9 p.m.".
    loose: the unit was taken from another number of a list ("5, 10 or 15 minutes"), so the number may be without one.
    """

    begin: int
    end: int
    keys: frozenset[str]
    values: frozenset[float] = frozenset()
    written: frozenset[float] = frozenset()
    implied: frozenset[str] = frozenset()
    loose: bool = False


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


def _table(lines: str) -> dict[str, tuple[tuple[str, float], ...]]:
    units: dict[str, tuple[tuple[str, float], ...]] = {}
    for line in lines.split("\n"):
        if line.strip():
            dimension, factor, *names = line.split()
            for name in names:
                spelled = name.replace("_", " ")
                units[spelled] = (*units.get(spelled, ()), (dimension, float(factor)))
    return units


# The base of a dimension, how many of it one unit is, and the unit's names. A name in two lines may be either.
_UNITS = _table("""
    kg 1e-6 mg milligram milligrams milligramme milligrammes
    kg 1e-3 g gr gram grams gramme grammes
    kg 1 kg kgs kilo kilos kilogram kilograms kilogramme kilogrammes
    kg 1e3 t tonne tonnes ton tons
    kg 0.45359237 lb lbs pound pounds
    kg 0.028349523125 oz ounce ounces
    m 1e-3 mm millimeter millimeters millimetre millimetres
    m 1e-2 cm centimeter centimeters centimetre centimetres
    m 1 m meter meters metre metres
    m 1e3 km kilometer kilometers kilometre kilometres
    m 0.0254 inch inches
    m 0.3048 ft foot feet
    m 0.9144 yd yard yards
    m 1609.344 mi mile miles
    m2 1e-4 cm2 cm² square_centimeters square_centimetres
    m2 1 m2 m² sqm sq_m qm square_meter square_meters square_metre square_metres
    m2 1e4 ha hectare hectares
    m2 1e6 km2 km² square_kilometer square_kilometers square_kilometre square_kilometres
    m2 0.09290304 ft2 ft² sqft sq_ft square_foot square_feet
    m2 4046.8564224 acre acres
    l 1e-3 cm3 cm³ cubic_centimeter cubic_centimeters cubic_centimetre cubic_centimetres
    l 1e3 m3 m³ cbm cubic_meter cubic_meters cubic_metre cubic_metres
    l 1e-3 ml milliliter milliliters millilitre millilitres cc
    l 1e-2 cl centiliter centiliters centilitre centilitres
    l 0.1 dl deciliter deciliters decilitre decilitres
    l 1 l liter liters litre litres
    s 1e-3 ms millisecond milliseconds
    s 1 s sec secs second seconds
    s 60 min mins minute minutes
    s 3600 h hr hrs hour hours
    s 86400 day days
    s 604800 week weeks wk wks
    s 1209600 fortnight fortnights
    month 1 month months
    month 12 year years yr yrs
    month 120 decade decades
    month 1200 century centuries
    percent 1 % percent per_cent pct percentage_points
    promille 1 ‰
    celsius 1 °c celsius degrees_celsius centigrade degrees_centigrade degrees_c degrees degree °
    fahrenheit 1 °f fahrenheit degrees_fahrenheit degrees_f degrees degree °
    EUR 1 € eur euro euros
    EUR 0.01 cent cents
    USD 1 $ us$ usd dollar dollars
    USD 0.01 cent cents
    GBP 1 £ gbp pound pounds quid
    GBP 0.01 penny pence
    CHF 1 chf franc francs
    JPY 1 ¥ jpy yen
    byte 1 byte bytes
    byte 1e3 kb kilobyte kilobytes
    byte 1e6 mb megabyte megabytes
    byte 1e9 gb gigabyte gigabytes
    byte 1e12 tb terabyte terabytes
    byte 1024 kb kilobyte kilobytes kib
    byte 1048576 mb megabyte megabytes mib
    byte 1073741824 gb gigabyte gigabytes gib
    byte 1099511627776 tb terabyte terabytes tib
    W 1 w watt watts
    W 1e3 kw kilowatt kilowatts
    V 1 v volt volts
    km/h 1 km/h kmh kph
    km/h 1.609344 mph
""")
_SYMBOLS = r"(?:US)?\$|[€£¥]|\b(?:EUR|USD|GBP|CHF|JPY)(?= ?\d)"
_BY_LENGTH = sorted(_UNITS, key=len, reverse=True)
_UNIT = r"(?:" + "|".join(re.escape(name).replace(r"\ ", " +") for name in _BY_LENGTH) + r")(?!\w)"
_SIGN = r"(?:%|‰|€|£|¥|\$|°(?: ?[CF]\b)?)"
_COUNTABLE = "|".join(
    name
    for name in _BY_LENGTH
    if name.isalpha()
    and len(name) > 3
    and not name.endswith("s")
    and name not in ("second", "percent", "degree", "cent")
)
_NO_CENTS = r"(?:[.,][-–—]{1,2}(?!\w))"  # "1200,- €"
_PART = rf"[{''.join(PARTS)}]"
_GLUED = rf"(?!s\b){_UNIT}"  # "120m2", but not "the 1990s"
_NUMBER = (
    rf"(?:(?<![\w.,])(?:\d+ +)?\d/\d(?![\w/])"
    rf"|(?<![\w.,])(?:{DIGITS})(?:{_NO_CENTS}| ?{_PART})?(?:(?!\w)|(?={_GLUED}))(?![.,]\d)|{_PART}"
    rf"|(?<!\w)(?:{WORDS})(?:(?: +and +a +half)|)(?!\w))"
)
_LISTED = r" ?(?:,|-|–|—|/|to|and|or) ?"
_AMOUNT = re.compile(
    rf"(?P<symbol>(?:{_SYMBOLS}) ?)?(?P<number>{_NUMBER})(?P<scale>{SCALE})?"
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
_BETWEEN = re.compile(_LISTED, re.IGNORECASE)
_JOINED = re.compile(r",? ?(?:and +)?", re.IGNORECASE)


def _keys(values: frozenset[float], unit: str) -> frozenset[str]:
    named = _UNITS[re.sub(r"\s+", " ", unit.strip().casefold())]
    return frozenset(f"{base}:{value * factor:.10g}" for value in values for base, factor in named)


def _unit(match: re.Match[str]) -> str | None:
    return match["symbol"] or match["worded"] or match["sign"]


def amounts(text: str) -> Iterator[Quantity]:
    """The numbers of a text, with their units where they have one."""
    found: list[tuple[re.Match[str], Quantity]] = []
    for match in _AMOUNT.finditer(text):
        values = values_of(match["number"])
        scale = (match["scale"] or "").strip().casefold()
        unit = _unit(match)
        if match["half"] and match["worded"]:
            values = frozenset(value + 0.5 for value in values)
        meant, written = values, frozenset[float]()
        if scale == "m" and not unit:
            unit = "m"  # "5 m" are metres, "$5 m" millions
        elif scale:
            meant, written = frozenset(value * SCALES[scale] for value in values), values
        found.append((match, Quantity(*match.span(), _keys(meant, unit) if unit else frozenset(), meant, written)))
    for i in range(len(found) - 2, -1, -1):
        _, here = found[i]
        if not here.keys:  # the unit stands behind the last number of a list
            after, following = found[i + 1]
            if (unit := _unit(after)) and _BETWEEN.fullmatch(text[here.end : following.begin]):
                found[i] = after, here._replace(keys=_keys(here.values, unit), loose=True)
    yield from (here for _, here in found)
    for (one, here), (two, there) in pairwise(found):  # "1 hour 30 minutes"
        if one["worded"] and two["worded"] and not here.loose and _JOINED.fullmatch(text[here.end : there.begin]):
            yield from _sum(here, there)


def _sum(one: Quantity, two: Quantity) -> Iterator[Quantity]:
    first = dict(key.split(":") for key in one.keys)
    second = dict(key.split(":") for key in two.keys)
    bases = [base for base in first if base in second and float(second[base]) < float(first[base])]
    if bases:
        keys = frozenset(f"{base}:{float(first[base]) + float(second[base]):.10g}" for base in bases)
        yield Quantity(one.begin, two.end, keys)


def singles(text: str) -> Iterator[Quantity]:
    """ "An hour", "half a litre", "a year and a half"; the "half a" of "half a cup"."""
    for match in _HALF.finditer(text):
        yield Quantity(*match.span(), frozenset(), frozenset({0.5}))
    for match in _ONE.finditer(text):
        share = match["share"].casefold()
        value = 0.5 if "half" in share else 0.75 if "three" in share else 0.25 if "quarter" in share else 1.0
        values = frozenset({value + (0.5 if match["half"] else 0.0)})
        yield Quantity(*match.span(), _keys(values, match["unit"]), loose=True)


_HOUR_WORD = "|".join(ONES.split()[1:13])
_HALF_DAY = r"(?P<half_day>[ap]\.? ?m\b\.?|o['’]?clock(?: +in +the +(?:morning|afternoon|evening)| +at +night)?|in +the +(?:morning|afternoon|evening)|at +night)"  # noqa: E501
_CLOCK = re.compile(
    rf"(?<![\w.,:])(?:(?:(?P<other>\d{{1,2}}(?:[:.]\d\d)?){RANGE})?(?P<hour>\d{{1,2}})(?:(?P<colon>[:.h])(?P<minute>\d\d)(?![\d]|[.:]\d))?|(?P<word>{_HOUR_WORD})) ?"  # noqa: E501
    rf"(?:{_HALF_DAY}|(?P<on_clock>(?:h|hrs?|Uhr)\b))?",
    re.IGNORECASE,
)
_PAST = re.compile(
    rf"\b(?P<minutes>half|(?:a +)?quarter|five|ten|twenty(?:[ -]five)?)(?: +minutes)? +(?P<way>past|to) +"
    rf"(?P<hour>{_HOUR_WORD}|\d{{1,2}})\b(?: ?{_HALF_DAY})?",
    re.IGNORECASE,
)
_NAMED_TIME = re.compile(r"\b(?P<name>noon|midday|midnight)\b", re.IGNORECASE)
_DAY = 24 * 60


def _minutes(hour: int, minute: int, half_day: str) -> frozenset[int]:
    """The minutes of the day that a time may be: "nine o'clock" is one of two."""
    said = half_day.casefold().replace(".", "").replace(" ", "")
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


PARTS_OF_THE_DAY = frozenset({"morning", "afternoon", "evening", "night"})
_TIMES_OF_DAY = (("morning", 4, 12), ("afternoon", 12, 18), ("evening", 17, 24), ("night", 20, 24), ("night", 0, 6))


def _at(begin: int, end: int, minutes: frozenset[int], loose: bool = False) -> Iterator[Quantity]:
    if minutes:
        keys = frozenset(f"clock:{minute}" for minute in minutes)
        parts = [{part for part, since, till in _TIMES_OF_DAY if since <= minute / 60 < till} for minute in minutes]
        implied = frozenset(f"part:{part}" for part in set.intersection(*parts))
        hours = frozenset(float(minute // 60 % 12 or 12) for minute in minutes)
        yield Quantity(begin, end, keys, hours, implied=implied, loose=loose)


def clocks(text: str) -> Iterator[Quantity]:
    """The times of the day that a text has: "9 p.m.", "half past nine", "noon"."""
    for match in _CLOCK.finditer(text):
        half_day = match["half_day"] or ""
        on_clock = match["colon"] in (":", "h", "H") or (match["colon"] and match["on_clock"])
        if not half_day and not on_clock:
            continue  # a number
        hour = int(CARDINAL_VALUES[match["word"].casefold()]) if match["word"] else int(match["hour"])
        start = match.start("word") if match["word"] else match.start("hour")
        yield from _at(start, match.end(), _minutes(hour, int(match["minute"] or 0), half_day))
        if match["colon"] in ("h", "H"):  # "2h30" may be how long it takes
            yield Quantity(start, match.end(), frozenset({f"s:{3600 * hour + 60 * int(match['minute'])}"}), loose=True)
        if match["other"]:
            other = [int(part) for part in re.split(r"[:.]", match["other"])]
            meant = _minutes(other[0], other[1] if other[1:] else 0, "")
            yield from _at(match.start("other"), match.end("other"), meant, loose=True)
    for match in _PAST.finditer(text):
        word, said = match["hour"].casefold(), match["minutes"].casefold()
        hour = int(word) if word.isdigit() else int(CARDINAL_VALUES[word])
        minutes = 30 if said == "half" else 15 if "quarter" in said else int(value_of_words(said))
        if match["way"].casefold() == "to":
            hour, minutes = (hour - 1) or 12, 60 - minutes
        yield from _at(*match.span(), _minutes(hour, minutes, match["half_day"] or ""))
    for match in _NAMED_TIME.finditer(text):
        yield from _at(*match.span(), frozenset({0 if match["name"].casefold() == "midnight" else _DAY // 2}))


_MONTH = rf"(?P<month>{'|'.join((*MONTHS, *sorted(SHORT_MONTHS, reverse=True)))})\b\.?"
_DAY_OF = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_OTHER_DAY = rf"(?:(?P<first>\d{{1,2}})(?:st|nd|rd|th)?{RANGE})?"
_DATES = (
    re.compile(rf"(?<![\w.,:]){_OTHER_DAY}{_DAY_OF}(?: +of)?[ -]+{_MONTH}", re.IGNORECASE),
    re.compile(rf"\b{_MONTH} +(?:the +)?{_OTHER_DAY}{_DAY_OF}(?![\w:]|[.,]\d)", re.IGNORECASE),
)
_YEAR_BEHIND = re.compile(r"(?:,? {1,3}(?:of {1,3})?|-)(?P<year>[12]\d{3})(?!\w|[.,]\d)")
_NUMERIC = re.compile(
    r"(?<![\w./-])(?:(?P<year>\d{4})(?P<mark>[./-])(?P<month>\d\d?)(?P=mark)(?P<day>\d\d?)"
    r"|(?P<one>\d{1,2})(?:(?P<dot>[./])(?P<two>\d{1,2})(?P=dot)(?P<last>\d{4}|\d\d)?"
    r"|-(?P<dashed>\d{1,2})-(?P<full>[12]\d{3})))(?![\w/-])"
)
_HOLIDAYS = {
    "new year's day": "1-1", "valentine's day": "2-14", "halloween": "10-31", "christmas eve": "12-24",
    "christmas day": "12-25", "boxing day": "12-26", "new year's eve": "12-31",
}  # fmt: skip
_HOLIDAY = re.compile(r"\b(?:" + "|".join(_HOLIDAYS).replace("'", "['’]?") + r")\b", re.IGNORECASE)
_DAYS_A_MONTH = 31
MONTHS_A_YEAR = 12


class Day(NamedTuple):
    """A date and where it stands, with its year: ``text[begin:end]``.

    parts: where its day and its month stand. years: those that its year may be, and none where it has none.
    """

    begin: int
    end: int
    keys: frozenset[str]
    parts: tuple[tuple[int, int], ...]
    years: frozenset[int] = frozenset()
    year_at: tuple[int, int] = (0, 0)
    in_digits: bool = False
    loose: bool = False


def worded_days(text: str) -> Iterator[Day]:
    """Dates in words, and holidays."""
    for pattern in _DATES:
        for match in pattern.finditer(text):
            if match["month"] in ("may", "mar", "march"):
                continue  # a verb
            month = next(i for i, name in enumerate(MONTHS, 1) if name.startswith(match["month"].casefold()[:3]))
            behind = _YEAR_BEHIND.match(text, match.end())
            years, at = (
                (frozenset({int(behind["year"])}), behind.span("year")) if behind else (frozenset[int](), (0, 0))
            )
            end = behind.end() if behind else match.end() - match[0].endswith(".")
            for name in ("day", "first"):
                if match[name] and int(match[name]) <= _DAYS_A_MONTH:
                    parts = match.span(name), match.span("month")
                    keys = frozenset({f"date:{month}-{int(match[name])}"})
                    yield Day(match.start(), end, keys, parts, years, at, loose=match["first"] is not None)
    for match in _HOLIDAY.finditer(text):
        keys = frozenset({"date:" + _HOLIDAYS[match[0].casefold().replace("’", "'")]})
        yield Day(*match.span(), keys, (match.span(),))


def _either_first(match: re.Match[str]) -> bool:
    """Whether a date in digits may begin with its day or with its month."""
    return bool(match["full"] or (match["dot"] == "/" and match["last"]))


def numeric_days(text: str) -> Iterator[Day]:
    """Dates in digits. Between dots the day is first; between slashes or dashes another date may say which one is."""
    found = list(_NUMERIC.finditer(text))
    either = list(filter(_either_first, found))
    days_first = any(int(match["one"]) > MONTHS_A_YEAR for match in either)
    months_first = any(int(match["two"] or match["dashed"]) > MONTHS_A_YEAR for match in either)
    for match in found:
        one, two = ("day", "month") if match["year"] else ("one", "two" if match["two"] else "dashed")
        first, second = int(match[one]), int(match[two])
        orders = [(first, second), (second, first)]  # day, month
        if _either_first(match) and months_first != days_first:
            orders = orders[months_first:][:1]
        valid = [(day, month) for day, month in orders if 1 <= month <= MONTHS_A_YEAR and 1 <= day <= _DAYS_A_MONTH]
        if match["year"] or match["dot"] == ".":
            valid = valid[:1]
        keys = frozenset(f"date:{month}-{day}" for day, month in valid)
        name = next((name for name in ("year", "last", "full") if match[name]), None)
        years = frozenset({int(match[name])} if name else ())
        if match["last"] and len(match["last"]) == 2:
            years = frozenset({int(match["last"]) + century for century in (0, 1900, 2000)})
        begin, end = min(match.start(one), match.start(two)), max(match.end(one), match.end(two))
        yield Day(*match.span(), keys, ((begin, end),), years, match.span(name) if name else (0, 0), in_digits=True)


def days(text: str) -> Iterator[Quantity]:
    """The days of the year that a text has: "3 May", "2025-05-03", "Halloween"."""
    for day in (*worded_days(text), *numeric_days(text)):
        for i, part in enumerate(day.parts):
            if day.keys:
                yield Quantity(*part, day.keys, loose=day.loose and i == 0)
        if day.in_digits and day.years:
            yield Quantity(*day.year_at, frozenset(), frozenset(map(float, day.years)))


_ORDINAL = re.compile(rf"(?<!\w)(?:(?P<digits>\d+)(?:st|nd|rd|th)|(?P<word>{'|'.join(ORDINALS.split())}))(?!\w)", re.I)


def _ordinals(text: str) -> Iterator[Quantity]:
    for match in _ORDINAL.finditer(text):
        value = float(match["digits"]) if match["digits"] else ORDINAL_VALUES[match["word"].casefold()]
        yield Quantity(*match.span(), frozenset(), frozenset({value}))


_SPACES = dict.fromkeys(map(ord, "\u00a0\u2007\u2009\u200a\u200b\u202f\u2060\ufeff"), " ") | {ord("\u2044"): "/"}
# "20¹ euros" has a footnote, "10⁶" a power.
_FOOTNOTE = re.compile(r"(?<=\d)(?<!\b10)[¹²³⁰⁴-⁹]++(?!\w)")


def evened(text: str) -> str:
    """A text of the same length, with plain spaces and without the footnotes behind numbers."""
    if text.isascii():
        return text
    return _FOOTNOTE.sub(lambda match: " " * len(match[0]), text.translate(_SPACES))


@remembered(4096)
def quantities(text: str) -> tuple[Quantity, ...]:
    """The quantities of a text. They may overlap: "1 hour 30 minutes" is three of them."""
    plain = evened(text)
    return tuple(q for find in (amounts, singles, clocks, days, _ordinals) for q in find(plain))
