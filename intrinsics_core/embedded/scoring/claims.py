"""Which sentences of an answer claim something that sources could support: by English phrases and a small head."""

from __future__ import annotations

import re

from intrinsics_core.embedded.query.nothing_asked import asks_nothing
from intrinsics_core.embedded.scoring.small_talk import is_small_talk
from intrinsics_core.embedded.scoring.verbs import FINITE, HAS_VERB
from intrinsics_core.embedded.short_answers import is_bare, is_question
from intrinsics_core.embedded.words import Floats, claim, keys_of
from intrinsics_core.text.courtesy import BEGINS, CLOSING, GOODBYE, GREETING, SIGNS, SURELY, THANKS
from intrinsics_core.text.fences import is_fence
from intrinsics_core.text.layout import ends_in_question, is_item, laid_out

_GREETING = rf"(?:{SURELY}|great\squestion|{THANKS}|{GREETING})"
# Sentences that say something about the answer instead of claiming something about the world. Each run of spaces is one
# by then (see `_SPACES`): patterns with many stretches of optional spaces try every way to share them out.
_NO_CLAIM = re.compile(
    rf"^{_GREETING}\b.{{0,60}}$|^(?:{GOODBYE})\W*$|^{CLOSING}\b,?[^.?:]{{0,40}}$|^(?:{SIGNS}),(?:\s\w+)?\W*$"
    r"""
    | ^(?:enjoy|safe\stravels|see\syou|hope\syou|happy\s\w+ing
        |have\s(?:fun|an?\s(?:great|nice|lovely|good|wonderful|safe|pleasant|fantastic)))\b
        (?:[^\d:]{0,60}!|(?:\s\w+){1,3}\.?)\W*$
    | ^dear\b[^.?!:\d]{0,60},$
    | ^(?:you(?:['’]re|\sare)\s(?:very\s|most\s)?welcome|welcome|my\spleasure|no\sproblem|any\s?time)\W*$
    | ^(?:\W*|(?:this|the)\s(?:\w+\s)?is\s)AI[- ]generated(?:\s(?:answer|response|text|content|summary))?
        \W*(?:$|\bit\b|and\smay\b|may\b)
    | ^confidence\s?:|^last\supdated\b|^references?\s?:\s?(?:\[|\(|https?:|\d{1,3}[.)\]]|$)
    | ^(?:this|that|it)\sis\s(?:stated|mentioned|said|written|found|described)\s(?:in|by)\s(?:the\s)?
        (?:document|passage|source|context|text|section|page)s?(?:\s\[?\d{1,3}\]?)?\W*$
    | ^\W*(?:not\s(?:stated|mentioned|specified|given|found|known)(?:\s(?:in|by)\s.{0,40})?|n/a|unknown
        |(?:it|they)\s(?:does|do)(?:\snot|n['’]t)\ssay)\W*$
    | \b(?:document|passage|source|context|text|article|excerpt)s?\s(?:contain|provide|give|offer|ha(?:ve|s))s?\sno
        \s(?:information|mention|details?)\b
    | ^(?:\w+,?\s){0,4}?(?:i|we)(?:\sam|\swas|\swere|\sare|'m|’m|'re|\sdo|\shave)?\s?(?:
        un(?:able|aware|sure|certain)\b
        |sorry\b|apologi[sz]e|can(?:not|['’]t|\snot)\b|could(?:\snot|n['’]t)\b|(?:not|n['’]t)\s(?:able|aware|sure
        |certain|know(?!\sof\san?(?:y)?\b)|have|find|see)\b|don['’]t\s(?:know(?!\sof\san?(?:y)?\b)|have|find|see
        |think)\b|couldn['’]t\b|only\shave\b
        |(?:have|found|see|saw)\s(?:no\s(?:\w+\s)?(?:information|details?|knowledge|idea|data|mention|answers?)\b|nothing\b))
    | ^(?:sorry|unfortunately)?,?\s?unable\sto\s(?:answer|find|determine|provide)
    | ^(?:this|the|your)?\s?(?:question|query)?\s?(?:can\s?not|can['’]t)\sbe\s(?:answered|determined)\b
    | \b(?:document|passage|source|context|excerpt|paragraph
        |(?:the|this|that|such|given|provided|available)\sinformation)s?\b
        (?:\s\S+){0,4}?\s(?:do(?:es)?|did|is|are|was|were|has|have)(?:\snot\b|n['’]t\b)(?:\s\w+){0,2}?
        \s(?:mention|provide|specif|contain|include|state|say|explain|give|discuss|indicate|address|describe|cover
        |enough|sufficient|offer|clarif|answer|list|refer|detail|available|known|clear)
    # "The policy does not cover frost" is a claim, "... does not mention frost" is none.
    | \b(?:text|article|data|material|report|polic(?:y|ies)|contract|agreement|lease|terms|rules|manual|guide|handbook
        |instructions|leaflet|notice|page|website|faq|description|e-?mail|letter|minutes|table|author|writer)s?\b
        (?:\s\S+){0,4}?\s(?:do(?:es)?|did)(?:\snot\b|n['’]t\b)(?:\s\w+){0,2}?
        \s(?:mention|specif|state|say|explain|indicate|discuss|clarif|tell|address|describe
        |(?:contain|include|provide|give|offer)\s(?:\w+\s){0,3}?(?:information|details?|mention|answers?|references?)\b)
    | \b(?:no|not\senough|insufficient|limited)\s(?:\w+\s){0,2}(?:information|details?|data|mention|evidence)\b
        .{0,40}\b(?:document|passage|source|context|text|article|excerpt|provided|given|available|here)
    | ^(?:here(?:\sis|\sare|['’]s)|below\s(?:is|are)|the\sfollowing\s(?:is|are))\b.{0,120}:\s?$
    | ^(?:here(?:\sis|\sare|['’]s)|below\s(?:is|are))\s(?:a|an|the|some|your)\s(?:\w+\s){0,2}
        (?:summary|overview|comparison|breakdown|differences|similarities|points|facts|details|steps|options)\b[^:\d]{0,60}$
    | ^(?:which|what)\b[^:\d]{0,40}\b(?:better|best|right|suits|choose)\b[^:\d]{0,30}
        \bdepends\son\s(?:your|what\syou|how\syou)\b[^:\d]{0,60}$
    | ^(?:\W*(?:summary|answer|response|output|conclusion|note|overview|introduction))\W*$
    """,
    re.IGNORECASE | re.VERBOSE,
)

# What is offered. A claim may follow: "I'm glad to tell you that it closes at eight."
_OFFERS = re.compile(
    r"\b(?:i\shope|hope\s(?:this|that|it)\shelps|let\sme\sknow|happy\sto\shelp|glad\sto"
    r"|feel\sfree\sto\s(?:ask|contact|reach|get|let|call|write|e-?mail|message|share|come\sback|follow|tell))\b"
    r"|\bfor\s(?:more|further|additional)\s(?:\w+\s)?(?:information|details?|help|assistance)\b"
    r".{0,80}?\b(?:consult|contact|refer|visit|see|check)\b",
    re.IGNORECASE,
)
_FOLLOWS = re.compile(r"[,:–—]\s|\bthat\b")

# "We can't say" is a refusal, "we can't take dogs" is what a firm tells of itself.
_WE = re.compile(r"\bwe\b", re.IGNORECASE)
_OF_KNOWING = re.compile(
    r"\b(?:information|details?|data|answers?|find|found|see|say|tell|know|help|assist|mention|determine|confirm|sure|aware"
    r"|certain|idea|documents?|passages?|context|texts?|sources?|topic|questions?)\b",
    re.IGNORECASE,
)

# The same without a word for the documents. Where a source says just this of a thing, it is a claim: "Towels are not
# provided."
_LACKS = re.compile(
    r"\b(?:is|are|was|were)(?:\snot|n['’]t)\s(?:\w+\s)?(?:(?:mentioned|specified|stated|discussed)\b"
    r"(?!\s(?:with|back|up|away|out|the|an?|to)\b)|(?:provided|given)(?=\W*\Z|\s(?:in|by)\s(?:the|this|these|any)\b))",
    re.IGNORECASE,
)

# Where a sentence that claims nothing may go on with a claim: "I don't know; the rent is 900 euros".
_PARTS = re.compile(
    rf"\s?[;–—(]\s?|:\s|,?\s(?:and|so|because|although|though|since)\s(?=(?:\S+\s){{1,5}}{FINITE})"
    rf"|,\s(?!(?:which|who|whose|that|where|what|when)\b)(?=(?:\S+\s){{1,5}}?{FINITE})"
    r"|,\s(?:and\s|so\s)?(?=(?:let\sme\sknow|feel\sfree|i\shope)\b)",
    re.IGNORECASE,
)
# A claim in the form of a question.
_TOLD = re.compile(
    r"\A(?:did you know (?:that )?(?P<told>.{8,})|(?!(?:so |and |but )?(?:do |did )?you\b|shall\b|would\b)"
    r"(?P<tagged>.+), (?:right|ok|okay|correct|(?:is|are|does|do)n['’]t (?:it|they)))\?\W*\Z",
    re.IGNORECASE,
)
# The answer tells the user what the user said.
_SAID_BACK = re.compile(
    r"\A\W*(?:so,? )?you (?:(?:said|mentioned|asked|told (?:me|us)|wrote)(?: that| about)?"
    r"|want|would like|are|have|plan)\b",
    re.IGNORECASE,
)
# A turn without a question mark that asks for something.
_TELLS = re.compile(
    rf"(?:\A\W*(?:(?:{BEGINS}),? )?|\b(?:please|you|now|and|but|then|{GREETING}|{THANKS}),? )"
    r"(?:tell|give|show|list|explain|describe|find|look up)\b"
    r"|\bi (?:want|need|would like) to know\b",
    re.IGNORECASE,
)
# Of these phrases the one that claims often begin with, too: "Sure, it opens at nine."
_GREETS = re.compile(rf"^{_GREETING}\b", re.IGNORECASE)
_AGREES = re.compile(rf"^(?:{SURELY}),\s(?:\S+\s+){{2}}\S", re.IGNORECASE)

# What a claim may stand behind: "I'm sorry, but there is no cafe."
_APOLOGISES = re.compile(
    r"\A\W*(?:(?:(?:i|we)(?:['’]m|['’]re| am| are) (?:(?:very|so|really|terribly|truly) )?)?sorry"
    r"(?: (?:about|for|to hear)\b[^,.:;]{0,60})?|(?:my )?(?:apologies|regrets)|(?:i|we) (?:regret|apologi[sz]e)"
    r"|i(?:['’]m| am) afraid|unfortunately)"
    r"(?:,? but|[,:;–—-]|,? to (?:say|tell you|inform you)(?: that)?|(?<=afraid)(?: that)?|(?<=unfortunately))\s+",
    re.IGNORECASE,
)
_OF_THE_TALKERS = re.compile(
    r"\b(?:i|me|my|i['’]\w+)\b|\A(?:you (?:had|have|feel|felt|are|were)|th(?:is|at))\b", re.IGNORECASE
)

# What a list or a layout puts between claims: "[1]", "(Passage 2)", "Page 3 of 10", "a)".
_MARKER = re.compile(
    r"\A\W*+(?:(?:passage|document|doc|source|page|chunk|section|figure|fig|table|item|ref|citation|step)s?\b\W*+)?"
    r"(?:\d{1,4}|[a-zA-Z])?+(?:\W++(?:(?:of|and|to)\W++)?\d{1,4}\b)*+\W*+\Z",
    re.IGNORECASE,
)
NUMBERING = re.compile(r"\A\W*+\d{1,3}\W*+\Z")

_PIECES = re.compile(r"[^.!?。！？]*[.!?。！？]+[\"'”’)*\s]*|[^.!?。！？]+$")
_BUT = re.compile(r"\b(?:but|however|though|although|yet)\b", re.IGNORECASE)
# A run of spaces counts as one, or as a line end where it holds one.
_SPACES = re.compile(r"\s+")
_DENIES = re.compile(
    r"\b(?:not?|never|none|nor|neither|without|cannot|except|unless|instead)\b|n['\u2019]t\b", re.IGNORECASE
)


def _one_space(run: re.Match[str]) -> str:
    return "\n" if "\n" in run[0] else " "


def makes_claim(sentence: str, vectors: Floats | None = None, found: bool = False, alone: bool = False) -> bool:
    """Whether a sentence asserts something that sources could support.

    Questions, courtesy, offers of help, announcements ("Here is a summary:"), refusals and remarks on what the
    documents do not say make none, nor does a yes or no by itself, the fence of a block of code or text without content
    words. Told from English phrases and by `is_small_talk`; a sentence in another language counts as a claim unless it
    is a question or has no words.

    Args:
        sentence: one sentence of an answer.
        vectors: its vectors by the encoder that ships; None: it is told from its words alone.
        found: whether all content of it stands in the sources, or it begins with a yes or a no to a question, see
            `is_small_talk`.
        alone: whether it is all that a question was answered with. "1.50" is a price then and no number of a list.
    """
    text = sentence.strip()
    if len(text.split()) == 1 and is_fence(text):
        return False
    if is_bare(text) or not claim(text).units or (not alone and _MARKER.match(text) and not NUMBERING.match(text)):
        return False
    if told := _TOLD.match(text):
        text = f"{told['told'] or told['tagged']}."
    if ends_in_question(text):
        pieces = _PIECES.findall(text)
        while pieces and ends_in_question(pieces[-1]):
            pieces.pop()
        text, vectors = "".join(pieces), None  # "It is red. And yours?" claims something before it asks
        if len(claim(text).units) < 2:
            return False
    if rest := _behind_an_apology(text):
        text, vectors = rest, None
    known = listed(text, found)
    greets = _GREETS.search(text) is not None
    if greets and (found or any(map(str.isdigit, text)) or _AGREES.match(text)):
        known = False  # "Sure, it opens at nine."
    return not ((known and not greets) or is_small_talk(text, known, vectors, found, alone))


def without_apology(sentence: str) -> str:
    """A sentence of an answer without the apology before its claim, which would draw a reader towards "supported"."""
    rest = _behind_an_apology(sentence)
    return f"{'- ' if is_item(sentence) else ''}{rest[:1].upper()}{rest[1:]}" if rest else sentence


def _behind_an_apology(text: str) -> str:
    """What a sentence says of other things behind an apology ("I'm sorry, but there is no cafe."), or ""."""
    apology = _APOLOGISES.match(text)
    rest = text[apology.end() :] if apology else ""
    of_the_talk = _OF_THE_TALKERS.search(rest) or _OF_KNOWING.search(rest)
    tells = HAS_VERB.search(rest) and claim(rest).units and not of_the_talk
    return rest if tells and not listed(rest) else ""


def says_back(sentence: str, question: str) -> bool:
    """Whether a sentence tells the user what the user said: "You mentioned that you arrive at 5 p.m."."""
    said = _SAID_BACK.match(sentence)
    if said is None or _DENIES.search(sentence):
        return False
    told = [span.text for span in laid_out(question) if not (is_question(span.text) or _TELLS.search(span.text))]
    units, known = claim(sentence[said.end() :]).units, keys_of(" ".join(told))
    return bool(units) and all(unit.keys & known for unit in units)


def asks(turn: str) -> bool:
    """Whether a user's turn asks for something: it is not empty, and it does not surely ask nothing ("Thanks!")."""
    return bool(turn.strip()) and not asks_nothing(turn)


def tells(turn: str) -> bool:
    """Whether a user's turn asks for something without a question mark: "Tell me when it opens."."""
    return _TELLS.search(turn) is not None


def claims_nothing(text: str) -> bool:
    """Whether the phrases or the head say, of a text that does not ask, that it claims nothing."""
    return surely_none(text) or is_small_talk(text, listed(text))


def surely_none(text: str) -> bool:
    """Whether the phrases say for sure that a sentence claims nothing: all but those that greet."""
    return listed(text) and not _GREETS.search(text)


def listed(sentence: str, found: bool = False) -> bool:
    """Whether the phrases of `_NO_CLAIM`, or those of `_LACKS` if it was not ``found``, say that it claims nothing.

    So must each part of it that says something: "I don't know about dogs, and the rent is 900 euros." claims something.
    """
    text = _SPACES.sub(_one_space, sentence).strip("*_ ")
    if not _listed(text, found):
        return False
    parts = [part for part in _PARTS.split(text.strip(" .!)")) if part]
    return len(parts) < 2 or all(_listed(part, found) or _is_little(part) for part in parts)


def _is_little(text: str) -> bool:
    return len(claim(text).units) <= 2 and not any(map(str.isdigit, text))


def _listed(text: str, found: bool) -> bool:
    match = _NO_CLAIM.search(text) or (None if found else _LACKS.search(text))
    if match is not None and _WE.search(match[0]) and not _OF_KNOWING.search(text):
        match = None
    offer = None if match else _OFFERS.search(text)
    if match is None and offer is None:
        return False
    # "I am not sure, but it was built in 1889" claims something after all.
    turn = _BUT.search(text, (match or offer).end())  # type: ignore[union-attr]  # there is one of them
    if turn is None and offer is not None:
        turn = _FOLLOWS.search(text, offer.end())
    if turn is None:
        return True
    rest = text[turn.end() :].lstrip(" ,")
    return _is_little(rest) or bool(_NO_CLAIM.search(rest) or _LACKS.search(rest) or _OFFERS.search(rest))
