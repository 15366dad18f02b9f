"""The rows that pairs are made from, one reader a set, each cut to one part of its split (`training.reader.splits`).

Licences are those of the data folder's README. Rows keep their own shape here; `training.reader.makers` turns them into
pairs.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from training.reader.prose import sentences, untokenised
from training.reader.splits import Part, part
from training.reader.written import conversations, questions, said
from training.rewrite import dialog
from training.support_data import rows

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
    "fictional": "Apache-2.0 (written for this project: training/reader/fictional.txt)",
    "conversations": "Apache-2.0 (written for this project: training/reader/conversations)",
    "written": "Apache-2.0 (written for this project: training/reader/written)",
}


@dataclass(frozen=True)
class Passage:
    """Sentences of one passage, its article's title, and the set it comes from."""

    set: str
    title: str
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class Claim:
    """A claim beside source sentences: 1.0 supported, 0.0 not. ``gold``: indices known to hold the support."""

    set: str
    sources: tuple[str, ...]
    claim: str
    label: float
    question: str = ""
    gold: tuple[int, ...] = ()


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
    found: list[Passage] = []
    for row in rows(folder, "wikipedia_passages"):
        title, _, body = row["text"].partition("\n")
        if part("wikipedia_passages", title) == wanted and not title.startswith(("Wikipedia:", "Talk:", "User")):
            found.append(Passage("wikipedia_passages", title, tuple(sentences(untokenised(body)))))
    for text in dict.fromkeys(row["context"] for row in rows(folder, "policyqa")):
        if part("policyqa", text) == wanted:
            found.append(Passage("policyqa", "", tuple(sentences(text))))
    for row in rows(folder, "pubmedqa"):
        if part("pubmedqa", row["id"]) == wanted:
            found.extend(Passage("pubmedqa", "", tuple(sentences(text))) for text in row["contexts"])
    seen: set[str] = set()
    for row in rows(folder, "squad2_dev_b"):
        if part("squad2_dev_b", row["title"]) == wanted and row["context"] not in seen:
            seen.add(row["context"])
            title = row["title"].replace("_", " ")
            found.append(Passage("squad2_dev_b", title, tuple(sentences(row["context"]))))
    return [p for p in found if p.sentences]


_REVISED = ("snli_devtest", "cad_nli")


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

    for name in _REVISED:
        for row in rows(folder, name):
            premise, hypothesis = _key(row["premise"]), _key(row["hypothesis"])
            one = top(premise)
            if name == "cad_nli" and len(hypothesis.split()) >= 7:
                other = top(hypothesis)
                up[max(one, other)] = min(one, other)
    return {text: top(text) for text in up}


def nli(name: str) -> Callable[[Path, Part], Iterator[Claim]]:
    """A set of premise, hypothesis and label."""

    def read(folder: Path, wanted: Part) -> Iterator[Claim]:
        for row in rows(folder, name):
            premise, claim = untokenised(row["premise"]), untokenised(row["hypothesis"])
            if name in _REVISED:
                here = part("snli_devtest", _revisions(folder)[_key(row["premise"])]) == wanted
            else:
                here = part(name, row["premise"] if name != "fever_dev_nli" else row["premise"][:60]) == wanted
            if here and claim:
                label = float(row["label"] in ("entailment", 1))
                yield Claim(name, tuple(sentences(premise)), claim, label)

    return read


def begin(folder: Path, wanted: Part) -> Iterator[Claim]:
    values = {"Fully attributable": 1.0, "Not fully attributable": 0.0}
    for row in rows(folder, "begin"):
        if row["label"] in values and part("begin", row["premise"]) == wanted:
            premise = tuple(sentences(untokenised(row["premise"])))
            yield Claim("begin", premise, untokenised(row["hypothesis"]), values[row["label"]])


def expertqa(folder: Path, wanted: Part) -> Iterator[Claim]:
    values = {"Complete": 1.0, "Partial": 0.0, "Incomplete": 0.0}
    for row in rows(folder, "expertqa_claims"):
        texts = [re.sub(r"^\[\d+\] \S+\s*", "", text) for text in row["evidence"]]
        here = part("expertqa_claims", row["question"]) == wanted
        if here and row["support"] in values and max(map(len, texts), default=0) > 80:  # a bare link is no evidence
            sources = tuple(s for text in texts for s in sentences(text))
            yield Claim("expertqa_claims", sources, re.sub(r" ?\[\d+\]", "", row["claim"]), values[row["support"]])


def wice(folder: Path, wanted: Part) -> Iterator[Claim]:
    for row in rows(folder, "wice"):
        if part("wice", row["evidence"][0] + row["evidence"][-1]) == wanted:
            gold = tuple(min((g for g in row["supporting"] or [] if g), key=len, default=()))
            yield Claim("wice", tuple(row["evidence"]), row["claim"], float(row["label"] == "supported"), gold=gold)


def fm2(folder: Path, wanted: Part) -> Iterator[Claim]:
    for row in rows(folder, "fm2"):
        sources = (*row["gold"], *(s for s in row["retrieved"] if s not in row["gold"]))
        if part("fm2", row["gold"][0]) == wanted:
            gold = tuple(range(len(row["gold"])))
            yield Claim("fm2", sources, row["claim"], float(row["label"] == "SUPPORTS"), gold=gold)


def halueval(folder: Path, wanted: Part) -> Iterator[Claim]:
    seen: set[tuple[str, str]] = set()
    for row in rows(folder, "halueval"):
        key = row["question"], row["answer"]
        if part("halueval", row["question"]) == wanted and key not in seen:
            seen.add(key)
            knowledge = re.sub(r"(?<=[a-z)\]\"][.!?])(?=[A-Z])", " ", row["knowledge"])
            sources = tuple(sentences(knowledge))
            yield Claim("halueval", sources, row["answer"], 1.0 - row["hallucinated"], question=row["question"])


def summedits_whole(folder: Path, wanted: Part) -> Iterator[Claim]:
    """Summaries as they were labelled, as a whole."""
    documents: dict[str, tuple[str, ...]] = {}
    for row in rows(folder, "summedits"):
        if row.get("doc"):
            documents[row["doc_id"]] = tuple(sentences(row["doc"]))
        if part("summedits", row["doc_id"]) == wanted:
            yield Claim("summedits", documents[row["doc_id"]], row["summary"], float(row["label"]))


def summedits(folder: Path, wanted: Part) -> Iterator[Claim]:
    """Sentences of summaries: those of consistent ones, and the one that an inconsistent one does not share."""
    documents: dict[tuple[str, ...], list[Claim]] = defaultdict(list)
    for whole in summedits_whole(folder, wanted):
        documents[whole.sources].append(whole)
    for sources, summaries in documents.items():
        right = dict.fromkeys(s for w in summaries if w.label for s in sentences(w.claim))
        yield from (Claim("summedits", sources, s, 1.0) for s in right)
        for whole in summaries:
            changed = [s for s in sentences(whole.claim) if s not in right]
            if not whole.label and len(changed) == 1:
                yield Claim("summedits", sources, changed[0], 0.0)


CLAIMS: dict[str, Callable[[Path, Part], Iterator[Claim]]] = {
    **{name: nli(name) for name in ("snli_devtest", "cad_nli", "mnli_dev", "med", "help", "fever_dev_nli")},
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
    for row in rows(folder, "squad2_dev_b"):
        if part("squad2_dev_b", row["title"]) == wanted:
            text = row["context"]
            parts[text] = parts.get(text) or tuple(sentences(text))
            yield Question("squad2_dev_b", parts[text], row["question"], row["answerable"], tuple(row["answers"]),
                           title=row["title"].replace("_", " "))  # fmt: skip


def clapnq(folder: Path, wanted: Part) -> Iterator[Question]:
    for row in rows(folder, "clapnq_dev"):
        if part("clapnq_dev", row["title"]) == wanted:
            gold = tuple(i for i, s in enumerate(row["sentences"]) if s in (row["selected_sentences"] or ()))
            answers = (row["answer"],) if row["answerable"] else ()
            plain = tuple(untokenised(s) for s in row["sentences"])
            yield Question("clapnq_dev", plain, row["question"], row["answerable"], answers, gold, row["title"])


def policyqa(folder: Path, wanted: Part) -> Iterator[Question]:
    grouped: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows(folder, "policyqa"):
        if part("policyqa", row["context"]) == wanted:
            grouped[row["context"]].append(row)
    for context, asked in grouped.items():
        parts = tuple(sentences(context))
        for row in asked:
            yield Question("policyqa", parts, row["question"], True, tuple(row["answers"]))


def pubmedqa(folder: Path, wanted: Part) -> Iterator[Question]:
    for row in rows(folder, "pubmedqa"):
        if part("pubmedqa", row["id"]) == wanted:
            parts = tuple(s for text in row["contexts"][-2:] for s in sentences(text))
            yield Question("pubmedqa", parts, row["question"], True, (row["answer"],))


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
    for name in ("qr_canard_dev", "qr_cast_ikat"):
        for row in rows(folder, name):
            conversation = row["id"].rsplit("_", 1)[0]
            if part(name, conversation) == wanted and row["history"]:
                spoken = dialog(row["history"], row["question"])
                history = tuple(text for _, text in spoken[:-1])
                found.append(Turn(name, history, row["question"], row["rewrite"], conversation, tuple(spoken)))
    for topic, spoken, meant, *wrong in conversations():
        history, (_, question) = tuple(text for _, text in spoken[:-1]), spoken[-1]
        conversation = f"{topic} {history[0]}"
        if part("conversations", conversation) == wanted:
            found.append(Turn("conversations", history, question, meant, conversation, spoken, tuple(wrong)))
    return found


def written_claims(folder: Path, wanted: Part) -> Iterator[Claim]:
    """Claims and answers about the texts written for this; ``folder`` is not read."""
    for row in said(wanted):
        for text, label in ((row.true, 1.0), (row.false, 0.0)):
            yield Claim("written", row.sentences, text, label, row.question)


def written_questions(folder: Path, wanted: Part) -> Iterator[Question]:
    """Questions about the texts written for this, answered or left open; ``folder`` is not read."""
    for row in questions(wanted):
        answers = (row.answer,) if row.answer else ()
        yield Question("written", row.sentences, row.question, bool(row.answer), answers, title="")
