"""Amounts: numbers with units, by a table of a few dozen everyday units.

Libraries for units (pint, quantulum3) read expressions, not running text, or bring models of their own; what is needed
here is equality of keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from intrinsics_core.embedded.scoring.numbers import DIGITS, PARTS, SCALE, SCALES, WORDS, values_of
from intrinsics_core.embedded.scoring.quantity import Quantity


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
