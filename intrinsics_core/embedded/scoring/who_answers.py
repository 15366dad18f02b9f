"""Whether a sentence of an answer says who answers: "My name is Luna.", "I am an AI assistant."

No document tells that, so such a sentence claims nothing that documents could support. What it says must stand in the
system's turn ("You are Luna, the assistant of the lido.") or be what any assistant may say of itself: that it is a
program, what it is there for, or a mere name where no system's turn gives another. "I am Luna, and the lido was built
in 1911." claims something.
"""

from __future__ import annotations

import re
from functools import cached_property

from intrinsics_core.embedded.query.asking_the_bot import true_answer
from intrinsics_core.embedded.scoring.addressing import NAME, in_capitals
from intrinsics_core.embedded.scoring.verbs import HAS_VERB
from intrinsics_core.embedded.short_answers import is_question, yes_or_no
from intrinsics_core.embedded.words import claim, keys_of
from intrinsics_core.protocol.task import Task
from intrinsics_core.text.courtesy import BEGINS, GREETING, NO, SURELY, YES
from intrinsics_core.text.layout import ends_in_question, laid_out

_AHEAD = rf"(?:(?:{GREETING}|{YES}|{NO}|{SURELY}|{BEGINS})\b[,.!]?\s)"
_OPENS = re.compile(
    rf"\A\W*{_AHEAD}{{0,2}}(?:(?:i['’]m|i\sam)(?:\s(?:called|named|actually|just|only))?|my\sname(?:['’]s|\sis)"
    r"|you(?:\scan|\smay)\scall\sme|you(?:['’]re|\sare)\s(?:talking|speaking|chatting|writing)\s(?:to|with))\s",
    re.IGNORECASE,
)
_NAME = re.compile(rf"\A(?P<name>{NAME})(?=\W*\Z|,\s|\sand\s(?:I|i)\b)")
_NO_PERSON = re.compile(
    r"\bnot\s(?:(?:actually|really)\s)?an?\s(?:real\s|actual\s)?(?:human(?:\sbeing)?|person|man|woman|robot)\b",
    re.IGNORECASE,
)
_OF_ITS_OWN = re.compile(r"\b(?:and|but|so|which|that|who|i)\s(?:(?:i|am|can|will|is)\s)*|\bi['’]m\s", re.IGNORECASE)
_OTHERWISE = re.compile(rf"\b(?:not|no|never|none)\b|{HAS_VERB.pattern}|\d", re.IGNORECASE)
_OF_A_PROGRAM = keys_of(
    "AI artificial intelligence virtual digital automated automatic chat language large model assistant bot chatbot"
    " robot voice program computer software agent machine helper trained help helping assist answer answering questions"
    " support happy glad ready here"
)
_SENTENCE_END = re.compile(r"[.!?]\s")
_GIVES_A_ROLE = re.compile(
    r"\b(?:you(?:['’]re|\sare)|your\sname|act\sas|call\syourself|your\s(?:role|job))\b", re.IGNORECASE
)
_WORKS_FOR = re.compile(
    r"\b(?:assistant|bot|chatbot|agent|helper|program|questions|help(?:\syou)?)\s(?:of|for|at|from|with|about|on)\s"
    r"(?P<whom>[^,;.:]{1,60})",
    re.IGNORECASE,
)


class WhoAnswers:
    """What a conversation and its documents tell of who answers. It is read once for all sentences of a response."""

    def __init__(self, task: Task) -> None:
        self._task = task

    @cached_property
    def _role(self) -> str:
        """The sentences of the system's turns that tell the assistant who it is."""
        told = [span.text for m in self._task.messages if m.role == "system" for span in laid_out(m.content)]
        return " ".join(sentence for sentence in told if _GIVES_A_ROLE.search(sentence))

    @cached_property
    def _of_the_role(self) -> frozenset[str]:
        return keys_of(self._role)

    @cached_property
    def _role_has_a_name(self) -> bool:
        return any(unit.is_name for unit in claim(self._role).units)

    @cached_property
    def _of_the_documents(self) -> frozenset[str]:
        return keys_of(" ".join(f"{document.title or ''} {document.text}" for document in self._task.documents))

    def says(self, sentence: str, question: str) -> bool:
        """Whether a sentence of the response says no more than who answers. ``question``: what it answers."""
        opened = _OPENS.match(sentence)
        if opened is None:
            return _says_what_it_is(sentence, question)
        told = sentence[opened.end() :]
        named = _NAME.match(told)
        name = in_capitals(named["name"]) if named else []
        if named and len(name) == len(named["name"].split()) and not self._is_somebody_else(name):
            told = told[named.end() :]
        else:
            name = []
        told = _OF_ITS_OWN.sub("", _NO_PERSON.sub("", told))
        units = claim(told).units
        if _OTHERWISE.search(told) or not (name or units or _NO_PERSON.search(sentence)):
            return False
        unknown = [unit.keys for unit in units if not (unit.keys & _OF_A_PROGRAM or unit.keys & self._of_the_role)]
        whom = _WORKS_FOR.search(told) if unknown else None
        known = keys_of(whom["whom"]) & self._of_the_documents if whom else frozenset()
        return all(keys & known for keys in unknown)

    def _is_somebody_else(self, name: list[str]) -> bool:
        """Whether the system's turn gives another name, or a document has this one."""
        if keys_of(" ".join(name)) <= self._of_the_role:
            return False
        return self._role_has_a_name or any(word in document.text for word in name for document in self._task.documents)


def _says_what_it_is(sentence: str, question: str) -> bool:
    """Whether a bare yes or no tells truly whether a program answers: "Yes." to "Are you a bot?"."""
    said = yes_or_no(sentence)
    if said is None or not ends_in_question(question):
        return False
    text = " ".join(question.replace("’", "'").split()).rstrip("?!. ")
    lead, _, asked = _SENTENCE_END.split(text)[-1].rpartition(", ")
    return not is_question(lead) and true_answer(asked) == said
