"""Other ways of saying what a sentence says: the true half of a pair, by rules that keep the meaning.

Each rule is a function of (sentence, title, rng) to a new sentence, or None where it does not apply. What is left out
by a rule (a bracket, a clause, an adverb) leaves a weaker sentence that the source still supports.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

from intrinsics_core.embedded.words import word_set
from training.reader.edits import replaced
from training.reader.wordnet import WordNet
from training.reader.words import MONTHS, NUMBERS, PASSIVE, SAME

Rule = Callable[[str, str, Random], str | None]

_MONTH = "|".join(MONTHS)
FRAMES = (
    "According to the text, {}", "The text says that {}", "The passage states that {}", "It is stated that {}",
    "Based on the documents, {}", "As far as the sources say, {}", "Yes, {}", "In short, {}", "Note that {}",
    "According to the source, {}",
)  # fmt: skip


def without_brackets(sentence: str, title: str, rng: Random) -> str | None:
    new = re.sub(r" ?\([^()]*\)", "", sentence)
    return new if new != sentence and len(new.split()) >= 4 else None


def without_opening(sentence: str, title: str, rng: Random) -> str | None:
    """`In 1998, he left.` becomes `He left.`"""
    match = re.match(
        r"(?:In|On|At|After|Before|During|By|Since|From|However|Also|Later|Then|Today|Moreover|For|Following)\b"
        r"[^,]{0,40}, (?=[a-zA-Z])",
        sentence,
    )
    if match is None:
        return None
    rest = sentence[match.end() :]
    return rest[0].upper() + rest[1:] if len(rest.split()) >= 4 else None


def opening_last(sentence: str, title: str, rng: Random) -> str | None:
    """`In 1998, he left.` becomes `He left in 1998.`"""
    match = re.match(r"((?:In|On|At|After|During|By|Since|From) [^,]{2,40}), (?=[a-zA-Z])", sentence)
    if match is None or "," in sentence[match.end() :] or not sentence.endswith("."):
        return None
    opening, rest = match.group(1), sentence[match.end() : -1]
    return f"{rest[0].upper()}{rest[1:]} {opening[0].lower()}{opening[1:]}."


def place_first(sentence: str, title: str, rng: Random) -> str | None:
    """`He left in 1998.` becomes `In 1998, he left.`"""
    match = re.search(
        r" (in (?:\d{4}|" + _MONTH + r")[^,;]{0,12}|on \d{1,2} (?:" + _MONTH + r")[^,;]{0,8})\.$", sentence
    )
    if match is None or not re.match(r"(?:The|He|She|It|They|This|A|An|His|Her|Its|Their)\b", sentence):
        return None
    when, rest = match.group(1), sentence[: match.start()]
    return f"{when[0].upper()}{when[1:]}, {rest[0].lower()}{rest[1:]}."


def without_relative(sentence: str, title: str, rng: Random) -> str | None:
    """A clause between commas, or after the last one, is left out."""
    new = re.sub(
        r", (?:which|who|whose|where|when|including|such as|although|though|while|with|as well as)\b[^,;]*(?=[.;]$)",
        "",
        sentence,
    )
    if new == sentence:
        new = re.sub(
            r", (?:which|who|whose|where|an?|the|formerly|known|also)\b[^,;]{3,60}, (?=(?:is|was|are|were|has|had)\b)",
            " ",
            sentence,
        )
    return new if new != sentence and len(new.split()) >= 4 else None


def without_end(sentence: str, title: str, rng: Random) -> str | None:
    """What follows `, and`, `; ` or `, but` is left out."""
    match = re.search(
        r"(?:, (?:and|but|so) (?=(?:the|a|he|she|it|they|was|were|is|in|his|her|its|this)\b)|; )", sentence
    )
    if match is None or len(sentence[: match.start()].split()) < 5:
        return None
    return sentence[: match.start()] + "."


def second_half(sentence: str, title: str, rng: Random) -> str | None:
    """What stands before `, and he` is left out."""
    match = re.search(
        r"(?:, (?:and|but) (?=(?:the|he|she|it|they|his|her|its|this|these|there)\b)|; (?=[a-z]))", sentence
    )
    if match is None or len(sentence[match.end() :].split()) < 5:
        return None
    rest = sentence[match.end() :]
    return rest[0].upper() + rest[1:]


_CHANGING = word_set(
    """
    only early nearly rarely hardly barely supposedly allegedly possibly reportedly family likely partly mainly mostly
    usually generally reply apply supply ally assembly monthly weekly daily yearly elderly previously formerly
    potentially probably apparently originally scarcely seemingly approximately roughly virtually practically
    """
)
"""What may not be left out: it makes the sentence say less, or it is no adverb."""


def without_adverbs(sentence: str, title: str, rng: Random) -> str | None:
    found = [m for m in re.finditer(r" ([a-z]{3,}ly)(?= [a-z])", sentence) if m.group(1) not in _CHANGING]
    if not found:
        return None
    match = rng.choice(found)
    return sentence[: match.start()] + sentence[match.end() :]


def pronoun_named(sentence: str, title: str, rng: Random) -> str | None:
    """`He was born` becomes `Bergman was born`, where the article is about one thing that has a short name."""
    if (
        not title
        or len(title.split()) > 4
        or not re.match(r"(?:He|She|It) (?:is|was|has|had|also|[a-z]+ed)\b", sentence)
    ):
        return None
    plain = re.sub(r" \(.*\)", "", title)
    if sentence.startswith("It ") and rng.random() < 0.5:
        plain = f"The {plain[0].lower()}{plain[1:]}" if plain.split()[-1][0].islower() else plain
    return plain + sentence[2 if not sentence.startswith("She") else 3 :]


def named_pronoun(sentence: str, title: str, rng: Random) -> str | None:
    """The title, where a sentence begins with it, becomes a pronoun."""
    plain = re.sub(r" \(.*\)", "", title)
    if not plain or not re.match(rf"(?:The )?{re.escape(plain)} (?:is|was|has|had)\b", sentence):
        return None
    return "It" + sentence[sentence.index(plain) + len(plain) :]


_COUNTS = re.compile(r"(?<![\w.,$£€-])(?:[2-9]|1[0-9]|20)(?= [a-z])|\b(?:" + "|".join(NUMBERS[2:]) + r")(?= [a-z])")


def number_form(sentence: str, title: str, rng: Random) -> str | None:
    """`three` and `3`, `12,000` and `12000`, `50%` and `50 percent`."""
    found = list(_COUNTS.finditer(sentence))
    if found and rng.random() < 0.7:
        match = rng.choice(found)
        old = match.group()
        new = NUMBERS[int(old)] if old.isdigit() else str(NUMBERS.index(old))
        return sentence[: match.start()] + new + sentence[match.end() :]
    for pattern, by in ((r"(?<=\d),(?=\d{3}\b)", ""), (r"(?<=\d)%", " percent"), (r" per ?cent\b", "%")):
        if re.search(pattern, sentence):
            return re.sub(pattern, by, sentence)
    return None


def date_form(sentence: str, title: str, rng: Random) -> str | None:
    """`14 October 1066`, `October 14, 1066`, `October 1066`, `1066`."""
    match = re.search(rf"\b(?:(\d{{1,2}}) ({_MONTH})|({_MONTH}) (\d{{1,2}}))\b(?:,? (\d{{4}})\b)?", sentence)
    if match is None:
        return None
    day, month, year = match[1] or match[4], match[2] or match[3], match[5]
    end = f" {year}" if year else ""
    options = [f"{day} {month}{end}", f"{month} {day}{',' if year else ''}{end}"]
    new = rng.choice([o for o in options if o != match.group()] or options)
    if year and rng.random() < 0.3 and sentence[: match.start()].endswith(("on ", "On ")):
        head = sentence[: match.start() - 3] + ("in " if sentence[match.start() - 3] == "o" else "In ")
        return head + rng.choice((f"{month} {year}", year)) + sentence[match.end() :]
    return sentence[: match.start()] + new + sentence[match.end() :]


def turned(sentence: str, title: str, rng: Random) -> str | None:
    """`X was written by Y.` becomes `Y wrote X.`"""
    match = re.match(
        r"(?P<x>(?:The |A |An )?[\w'’ -]{2,60}?) (?:was|were) (?P<verb>[a-z]+) by "
        r"(?P<y>(?:the )?[A-Z][\w'’ -]{2,50}?)(?P<rest>(?: in \d{4})?\.)$",
        sentence,
    )
    if match is None or match["verb"] not in PASSIVE:
        return None
    x = (
        match["x"][0].lower() + match["x"][1:]
        if match["x"].split()[0] in ("The", "A", "An", "It", "He", "She", "They")
        else match["x"]
    )
    x = {"it": "it", "he": "him", "she": "her", "they": "them"}.get(x, x)
    return f"{match['y'][0].upper()}{match['y'][1:]} {PASSIVE[match['verb']]} {x}{match['rest']}"


def contracted(sentence: str, title: str, rng: Random) -> str | None:
    new = re.sub(r"\b(is|are|was|were|does|do|did|has|have|had|could|would|should) not\b", r"\1n't", sentence)
    new = (
        new
        if new != sentence
        else re.sub(r"\b(is|are|was|were|does|do|did|has|have|had|could|would|should)n['’]t\b", r"\1 not", sentence)
    )
    new = new if new != sentence else sentence.replace("cannot", "can't")
    return new if new != sentence else None


def framed(sentence: str, frame: str) -> str:
    """`According to the text, ...`; put on last, over the true and the edited form alike."""
    first = sentence.split()[0]
    small = first.lower() in ("the", "a", "an", "it", "he", "she", "they", "this", "these", "in", "there", "his", "its")
    inner = sentence[0].lower() + sentence[1:] if small else sentence
    return frame.format(inner)


def synonym(sentence: str, title: str, rng: Random) -> str | None:
    return replaced(sentence, SAME, "", rng)


RULES: dict[str, tuple[float, Rule]] = {
    "brackets": (2.0, without_brackets),
    "opening": (1.0, without_opening),
    "opening_last": (1.0, opening_last),
    "place_first": (1.0, place_first),
    "relative": (1.5, without_relative),
    "end": (1.5, without_end),
    "second_half": (1.5, second_half),
    "adverbs": (0.7, without_adverbs),
    "pronoun_named": (2.0, pronoun_named),
    "named_pronoun": (1.0, named_pronoun),
    "number_form": (1.5, number_form),
    "date_form": (1.0, date_form),
    "turned": (3.0, turned),
    "contracted": (0.7, contracted),
    "synonym": (2.0, synonym),
}
"""Every rule, with its weight in the draw."""


def true_twin(sentence: str, title: str, net: WordNet, rng: Random, most: int = 3) -> tuple[str, int]:
    """The sentence after up to ``most`` rules, and how many took hold (0: it is as it was)."""
    order = sorted(RULES, key=lambda k: rng.random() ** (1 / RULES[k][0]), reverse=True)
    wanted, done = rng.randint(0, most), 0
    for label in order:
        if done >= wanted:
            break
        new = RULES[label][1](sentence, title, rng)
        if new and new != sentence:
            sentence, done = new, done + 1
    if rng.random() < 0.15:
        new = replaced(sentence, net.same, "", rng)
        sentence, done = (new, done + 1) if new else (sentence, done)
    if rng.random() < 0.08 and sentence.endswith("."):
        sentence = sentence[:-1]
    return sentence, done
