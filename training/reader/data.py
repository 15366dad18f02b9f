"""The rows that pairs are made from, one reader a set, each cut to one part of its split (`training.reader.splits`).

Licences are those of the data folder's README. Rows keep their own shape here; `training.reader.makers` turns them into
pairs.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from intrinsics_core.bench.datasets import CLAIMS as LABELLED
from intrinsics_core.bench.datasets import QUESTIONS as ASKED
from intrinsics_core.bench.datasets import REWRITES, QuestionRow, whole, wikipedia
from intrinsics_core.bench.folder import DataFolder
from training.reader.prose import sentences, untokenised
from training.reader.splits import Part, part
from training.reader.written import (
    HARD,
    Asked,
    Said,
    conversations,
    questions,
    said_at_length,
    said_of,
)
from training.support_data import halueval_once

LICENCES = {
    "wikipedia_passages": "CC BY-SA (Wikipedia)",
    "squad2_dev_b": "CC BY-SA 4.0",
    "clapnq_dev": "Apache-2.0 (text: Wikipedia CC BY-SA)",
    "summedits": "Apache-2.0",
    "wice": "ODC-BY; CC BY-SA",
    "begin": "CC BY 4.0; CDLA-Sharing-1.0",
    "expertqa_claims": "MIT",
    "halueval": "MIT",
    "fm2": "Apache-2.0; CC BY-SA",
    "policyqa": "MIT",
    "pubmedqa": "MIT",
    "fever_dev_nli": "CC BY-SA 3.0",
    "snli_devtest": "CC BY-SA 4.0",
    "cad_nli": "Apache-2.0; CC BY-SA 4.0",
    "mnli_dev": "OANC and other permissive licences",
    "med": "CC BY-SA 4.0",
    "help": "CC BY-SA 4.0",
    "qr_canard_dev": "CC BY-SA 4.0",
    "qr_cast_ikat": "MIT",
    "everyday_frames": "Apache-2.0 (written for this project: training/reader/everyday_frames.txt)",
    "ranges": "Apache-2.0 (written for this project: training/reader/ranges.txt)",
    "fictional": "Apache-2.0 (written for this project: training/reader/fictional.txt)",
    "turned": "Apache-2.0 (written for this project: training/reader/turned.txt)",
    "conversations": "Apache-2.0 (written for this project: training/reader/conversations)",
    "written": "Apache-2.0 (written for this project: training/reader/written)",
    "written_rules": "Apache-2.0 (written for this project: training/reader/written, the files rules-*)",
    "written_hard": "Apache-2.0 (written for this project: training/reader/written, the files hard-* and roles-*)",
    "written_long": "Apache-2.0 (written for this project: training/reader/long_answers)",
}


@dataclass(frozen=True)
class Passage:
    """Sentences of one passage, its article's title, and the set it comes from."""

    set: str
    title: str
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class Claim:
    """A claim beside source sentences: 1.0 supported, 0.0 not. ``gold``: indices known to hold the support.
    ``titles``: of each sentence its passage's, where there are several.
    """

    set: str
    sources: tuple[str, ...]
    claim: str
    label: float
    question: str = ""
    gold: tuple[int, ...] = ()
    titles: tuple[str, ...] = ()


@dataclass(frozen=True)
class Question:
    """A question beside the sentences of a passage, and what of them answers it (empty: nothing does)."""

    set: str
    sentences: tuple[str, ...]
    question: str
    answerable: bool
    answers: tuple[str, ...] = ()
    gold: tuple[int, ...] = ()
    title: str = ""


@dataclass(frozen=True)
class Turn:
    """A last question, the turns before it, and a person's rewrite that stands alone.

    dialog: the same turns as (role, text), the question last. wrong: readings that a person wrote down as not meant.
    """

    set: str
    history: tuple[str, ...]
    question: str
    rewrite: str
    conversation: str
    dialog: tuple[tuple[str, str], ...] = ()
    wrong: tuple[str, ...] = ()


def passages(folder: Path, wanted: Part) -> list[Passage]:
    """Wikipedia, privacy policies and abstracts: text to edit."""
    data = DataFolder(folder)
    found: list[Passage] = []
    for row in wikipedia(data):
        title, _, body = row.text.partition("\n")
        if part("wikipedia_passages", title) == wanted and not title.startswith(("Wikipedia:", "Talk:", "User")):
            found.append(Passage("wikipedia_passages", title, tuple(sentences(untokenised(body)))))
    for text in dict.fromkeys(whole(q.documents[0]) for q in ASKED["policyqa"](data)):
        if part("policyqa", text) == wanted:
            found.append(Passage("policyqa", "", tuple(sentences(text))))
    for asked in ASKED["pubmedqa"](data):
        if part("pubmedqa", asked.identity) == wanted:
            found.extend(Passage("pubmedqa", "", tuple(sentences(whole(text)))) for text in asked.documents)
    seen: set[str] = set()
    for asked in ASKED["squad2"](data):
        text = whole(asked.documents[0])
        if part("squad2_dev_b", asked.title) == wanted and text not in seen:
            seen.add(text)
            found.append(Passage("squad2_dev_b", asked.title.replace("_", " "), tuple(sentences(text))))
    return [p for p in found if p.sentences]


_REVISED = {"snli_devtest": "snli", "cad_nli": "cad"}


def _key(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


@cache
def _revisions(folder: Path) -> dict[str, str]:
    """Text to the name of its family: premises and hypotheses that stand together in a row of SNLI or of CAD.

    CAD revises one text of a row of SNLI and keeps the other, so families, not premises, are kept on one side. A
    hypothesis of few words ("A man is outside.") stands beside many premises and ties nothing.
    """
    up: dict[str, str] = {}

    def top(text: str) -> str:
        up.setdefault(text, text)
        while up[text] != text:
            up[text] = up[up[text]]
            text = up[text]
        return text

    for file, name in _REVISED.items():
        for row in LABELLED[name].read(DataFolder(folder)):
            premise, hypothesis = _key(whole(row.documents[0])), _key(row.text)
            one = top(premise)
            if file == "cad_nli" and len(hypothesis.split()) >= 7:
                other = top(hypothesis)
                up[max(one, other)] = min(one, other)
    return {text: top(text) for text in up}


_NLI = {**_REVISED, "mnli_dev": "mnli", "med": "med", "help": "help", "fever_dev_nli": "fever"}


def nli(file: str) -> Callable[[Path, Part], Iterator[Claim]]:
    """A set of premise, hypothesis and label."""

    def read(folder: Path, wanted: Part) -> Iterator[Claim]:
        for row in LABELLED[_NLI[file]].read(DataFolder(folder)):
            given = whole(row.documents[0])
            premise, claim = untokenised(given), untokenised(row.text)
            if file in _REVISED:
                here = part("snli_devtest", _revisions(folder)[_key(given)]) == wanted
            else:
                here = part(file, given if file != "fever_dev_nli" else given[:60]) == wanted
            if here and claim:
                yield Claim(file, tuple(sentences(premise)), claim, float(bool(row.supported)))

    return read


def begin(folder: Path, wanted: Part) -> Iterator[Claim]:
    for row in LABELLED["begin"].read(DataFolder(folder)):
        given = whole(row.documents[0])
        if row.supported is not None and part("begin", given) == wanted:
            yield Claim("begin", tuple(sentences(untokenised(given))), untokenised(row.text), float(row.supported))


def expertqa(folder: Path, wanted: Part) -> Iterator[Claim]:
    for row in LABELLED["expertqa"].read(DataFolder(folder)):
        if row.supported is not None and part("expertqa_claims", row.question) == wanted:
            sources = tuple(s for text in row.documents for s in sentences(whole(text)))
            yield Claim("expertqa_claims", sources, re.sub(r" ?\[\d+\]", "", row.text), float(row.supported))


def wice(folder: Path, wanted: Part) -> Iterator[Claim]:
    for row in LABELLED["wice"].read(DataFolder(folder)):
        if part("wice", row.group) == wanted:
            gold = min(row.gold, key=len, default=())
            yield Claim("wice", tuple(row.documents[0]), row.text, float(bool(row.supported)), gold=gold)


def fm2(folder: Path, wanted: Part) -> Iterator[Claim]:
    for row in LABELLED["fm2"].read(DataFolder(folder)):
        if part("fm2", row.group) == wanted:
            yield Claim("fm2", tuple(row.documents[0]), row.text, float(bool(row.supported)), gold=row.gold[0])


def halueval(folder: Path, wanted: Part) -> Iterator[Claim]:
    for row in halueval_once(folder):
        if part("halueval", row.question) == wanted:
            sources = tuple(sentences(whole(row.documents[0])))
            yield Claim("halueval", sources, row.text, float(bool(row.supported)), question=row.question)


def summedits_whole(folder: Path, wanted: Part) -> Iterator[Claim]:
    """Summaries as they were labelled, as a whole."""
    documents: dict[str, tuple[str, ...]] = {}
    for row in LABELLED["summedits"].read(DataFolder(folder)):
        if part("summedits", row.group) == wanted:
            documents[row.group] = documents.get(row.group) or tuple(sentences(whole(row.documents[0])))
            yield Claim("summedits", documents[row.group], row.text, float(bool(row.supported)))


def summedits(folder: Path, wanted: Part) -> Iterator[Claim]:
    """Sentences of summaries: those of consistent ones, and the one that an inconsistent one does not share."""
    documents: dict[tuple[str, ...], list[Claim]] = defaultdict(list)
    for summary in summedits_whole(folder, wanted):
        documents[summary.sources].append(summary)
    for sources, summaries in documents.items():
        right = dict.fromkeys(s for w in summaries if w.label for s in sentences(w.claim))
        yield from (Claim("summedits", sources, s, 1.0) for s in right)
        for summary in summaries:
            changed = [s for s in sentences(summary.claim) if s not in right]
            if not summary.label and len(changed) == 1:
                yield Claim("summedits", sources, changed[0], 0.0)


CLAIMS: dict[str, Callable[[Path, Part], Iterator[Claim]]] = {
    **{file: nli(file) for file in _NLI},
    "begin": begin,
    "expertqa_claims": expertqa,
    "wice": wice,
    "fm2": fm2,
    "halueval": halueval,
    "summedits": summedits,
}
"""Sets of claims that people, or models watched by people, labelled."""


def squad(folder: Path, wanted: Part) -> Iterator[Question]:
    parts: dict[str, tuple[str, ...]] = {}
    for row in ASKED["squad2"](DataFolder(folder)):
        if part("squad2_dev_b", row.title) == wanted:
            text = whole(row.documents[0])
            parts[text] = parts.get(text) or tuple(sentences(text))
            yield Question("squad2_dev_b", parts[text], row.text, row.answerable, row.answers,
                           title=row.title.replace("_", " "))  # fmt: skip


def clapnq(folder: Path, wanted: Part) -> Iterator[Question]:
    for row in ASKED["clapnq"](DataFolder(folder)):
        if part("clapnq_dev", row.title) == wanted:
            plain = tuple(untokenised(s) for s in row.documents[0])
            yield Question("clapnq_dev", plain, row.text, row.answerable, row.answers, row.gold, row.title)


def policyqa(folder: Path, wanted: Part) -> Iterator[Question]:
    grouped: dict[str, list[QuestionRow]] = defaultdict(list)
    for row in ASKED["policyqa"](DataFolder(folder)):
        if part("policyqa", whole(row.documents[0])) == wanted:
            grouped[whole(row.documents[0])].append(row)
    for context, asked in grouped.items():
        parts = tuple(sentences(context))
        for row in asked:
            yield Question("policyqa", parts, row.text, True, row.answers)


def pubmedqa(folder: Path, wanted: Part) -> Iterator[Question]:
    for row in ASKED["pubmedqa"](DataFolder(folder)):
        if part("pubmedqa", row.identity) == wanted:
            parts = tuple(s for text in row.documents[-2:] for s in sentences(whole(text)))
            yield Question("pubmedqa", parts, row.text, True, row.answers)


QUESTIONS: dict[str, Callable[[Path, Part], Iterator[Question]]] = {
    "squad2_dev_b": squad,
    "clapnq_dev": clapnq,
    "policyqa": policyqa,
    "pubmedqa": pubmedqa,
}
"""Sets of questions beside passages."""


def turns(folder: Path, wanted: Part) -> list[Turn]:
    """Conversations with rewrites written by people."""
    found: list[Turn] = []
    for file, name in (("qr_canard_dev", "canard"), ("qr_cast_ikat", "cast-ikat")):
        for row in REWRITES[name](DataFolder(folder)):
            conversation = row.identity.rsplit("_", 1)[0]
            if part(file, conversation) == wanted and row.history:
                history = tuple(text for _, text in row.history)
                spoken = (*row.history, ("user", row.question))
                found.append(Turn(file, history, row.question, row.rewrite, conversation, spoken))
    for topic, spoken, meant, *wrong in conversations():
        history, (_, question) = tuple(text for _, text in spoken[:-1]), spoken[-1]
        conversation = f"{topic} {history[0]}"
        if part("conversations", conversation) == wanted:
            found.append(Turn("conversations", history, question, meant, conversation, spoken, tuple(wrong)))
    return found


def written_claims(folder: Path, wanted: Part) -> Iterator[Claim]:
    """Claims and answers about the plain texts written for this; ``folder`` is not read."""
    return _twins("written", said_of(wanted, "plain"))


def rules_claims(folder: Path, wanted: Part) -> Iterator[Claim]:
    """Those about the texts of hours, prices and rules; ``folder`` is not read."""
    return _twins("written_rules", said_of(wanted, "rules"))


def hard_claims(folder: Path, wanted: Part) -> Iterator[Claim]:
    """Those about the hard texts; ``folder`` is not read."""
    return _twins("written_hard", said_of(wanted, *HARD))


def long_claims(folder: Path, wanted: Part) -> Iterator[Claim]:
    """The sentences of the long answers over several passages; ``folder`` is not read."""
    return _twins("written_long", said_at_length(wanted))


def _twins(name: str, rows: Iterable[Said]) -> Iterator[Claim]:
    for row in rows:
        for text, label in ((row.true, 1.0), (row.false, 0.0)):
            yield Claim(name, row.sentences, text, label, row.question, titles=row.titles)


def written_questions(folder: Path, wanted: Part) -> Iterator[Question]:
    """Questions about the texts written for this that are not hard, answered or left open; ``folder`` is not read."""
    return _asked("written", questions(wanted, "plain", "rules"))


def hard_questions(folder: Path, wanted: Part) -> Iterator[Question]:
    """Those about the hard texts; ``folder`` is not read."""
    return _asked("written_hard", questions(wanted, *HARD))


def _asked(name: str, rows: Iterable[Asked]) -> Iterator[Question]:
    for row in rows:
        answers = (row.answer,) if row.answer else ()
        yield Question(name, row.sentences, row.question, bool(row.answer), answers, title="")
