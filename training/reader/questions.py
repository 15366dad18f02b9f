"""Questions made from statements: who, what, when, how many, and yes or no, with the answer taken out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random

from training.reader.words import MONTHS

_MONTH = "|".join(MONTHS)
_WHEN = re.compile(
    rf",? ?\b(?:in|on|since|until) (?:(?:early|late|mid-) ?)?(?:\d{{1,2}} )?"
    rf"(?:(?:{_MONTH})(?: \d{{1,2}},?)? ?)?(?:\d{{4}})\b,?"
    rf"|,? ?\bon \d{{1,2}} (?:{_MONTH})\b,?",
    re.IGNORECASE,
)
_WHERE = re.compile(r",? ?\b(?:in|at) (?:the )?[A-Z][a-z]+(?: [A-Z][a-z]+)*(?=[.,]|$)")
_AUX = re.compile(
    r"^(?P<subject>(?:The |A |An |In )?[\w'’,() -]{2,70}?) "
    r"(?P<aux>is|are|was|were|can|could|will|would|must|should|may|has been|have been|had been) "
    r"(?P<rest>[a-z].{5,160}?)\.?$"
)
_PAST = re.compile(
    r"^(?P<subject>(?:[A-Z][\w'’-]+ ?){1,4}|He |She |It |They |The [a-z]+ )"
    r"(?P<verb>[a-z]{3,}ed) (?P<rest>.{5,140}?)\.?$"
)
_COUNT = re.compile(
    r"\b(?P<number>\d[\d,.]*|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve) "
    r"(?P<noun>(?!and|or|of|in|to|was|were|is|are|has|had|with|for|by|as|at|on|that)(?:[a-z]+ )?"
    r"(?!was|is|has|as|its|his|this)[a-z]+s)\b"
)
_PEOPLE = re.compile(
    r"\b(?:born|died|he|she|his|her|married|actor|actress|singer|writer|president|king|queen|player|politician)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and the answer that was taken out of the statement (`Yes` for a closed question)."""

    question: str
    answer: str
    kind: str


def _base(verb: str) -> str:
    """The plain form of a regular past: a good guess is enough for a question."""
    if verb.endswith("ied"):
        return verb[:-3] + "y"
    if re.search(
        r"(?:at|iz|is|uc|ov|iv|os|us|ur|ir|ag|ang|eng|as|ak|in|ar|av|ag|id|ud|at|rc|nc|uir|erv|olv)ed$", verb
    ) and not verb.endswith(("ained", "eated", "eared", "oined", "urned", "assed", "ossed", "issed")):
        return verb[:-1]
    if re.search(r"([bdgmnprt])\1ed$", verb):
        return verb[:-3]
    return verb[:-2]


def _lowered(subject: str) -> str:
    first = subject.split()[0]
    small = first in (
        "The",
        "A",
        "An",
        "He",
        "She",
        "It",
        "They",
        "This",
        "These",
        "His",
        "Her",
        "Its",
        "Their",
        "There",
        "Some",
        "Many",
        "Most",
        "Other",
    )
    return subject[0].lower() + subject[1:] if small else subject


def _inverted(statement: str) -> tuple[str, str] | None:
    """(`was the church built`, subject) of `The church was built ...`."""
    match = _AUX.match(statement)
    if match and match["subject"].count(",") < 2 and not match["subject"].startswith("In "):
        aux, rest = match["aux"], match["rest"]
        first, _, more = aux.partition(" ")
        return f"{first} {_lowered(match['subject'])} {more + ' ' if more else ''}{rest}", match["subject"]
    match = _PAST.match(statement)
    if match:
        return f"did {_lowered(match['subject']).strip()} {_base(match['verb'])} {match['rest']}", match[
            "subject"
        ].strip()
    return None


def asked(statement: str, rng: Random) -> list[Asked]:
    """All questions that the patterns find in a statement, in random order."""
    found: list[Asked] = []
    when = _WHEN.search(statement)
    if when:
        rest = (statement[: when.start()] + statement[when.end() :]).strip().rstrip(".") + "."
        rest = rest[0].upper() + rest[1:]
        turned = _inverted(rest)
        if turned:
            word = rng.choice(("When", "When", "In what year", "In which year"))
            if not re.search(r"\d{4}", when.group()):
                word = "When"
            found.append(Asked(f"{word} {turned[0]}?", when.group().strip(" ,"), "when"))
    where = _WHERE.search(statement)
    if where and not when:
        rest = (statement[: where.start()] + statement[where.end() :]).strip().rstrip(".") + "."
        turned = _inverted(rest)
        if turned:
            found.append(Asked(f"Where {turned[0]}?", where.group().strip(" ,"), "where"))
    match = _AUX.match(statement) or _PAST.match(statement)
    if (
        match
        and re.match(r"(?:The )?[A-Z]", match["subject"])
        and match["subject"] not in ("He ", "She ", "It ", "They ")
    ):
        subject = match["subject"].strip()
        if subject.split()[0] not in ("In", "On", "At", "It", "He", "She", "They", "This", "There", "These", "However"):
            word = "Who" if _PEOPLE.search(statement) and re.fullmatch(r"(?:[A-Z][\w'’-]+ ?)+", subject) else "What"
            word = (
                "Which " + subject.split()[-1]
                if subject.startswith("The ") and subject.split()[-1].islower() and rng.random() < 0.4
                else word
            )
            found.append(Asked(f"{word} {statement[match.end('subject') :].strip().rstrip('.')}?", subject, "subject"))
    count = _COUNT.search(statement)
    if count:
        turned = _inverted(statement[: count.start()] + "COUNTED" + statement[count.end() :])
        if turned and "COUNTED" in turned[0]:
            body = re.sub(r" ?COUNTED", "", turned[0])
            found.append(Asked(f"How many {count['noun']} {body}?", f"{count['number']} {count['noun']}", "count"))
    closed = _inverted(statement)
    if closed:
        text = closed[0]
        found.append(Asked(f"{text[0].upper()}{text[1:]}?", "Yes", "closed"))
    found = [
        Asked(re.sub(r"\s+", " ", a.question), a.answer, a.kind) for a in found if 4 <= len(a.question.split()) <= 30
    ]
    rng.shuffle(found)
    return found
