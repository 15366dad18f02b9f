"""Sets that say whether a text is supported by sources, in one shape."""

from __future__ import annotations

import operator
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from intrinsics_core.bench.folder import DataFolder, Row


@dataclass(frozen=True)
class Answered:
    """An answer to ``question`` over ``sources``; ``supported`` as a whole, and by sentence where that is known.

    ``sentences`` are (begin, end, supported or None) in the answer; ``gold`` the (source, begin, end) that the answer
    rests on, in alternatives, any one of which is enough.
    """

    answer: str
    sources: tuple[str, ...]
    supported: bool | None
    question: str = ""
    sentences: tuple[tuple[int, int, bool | None], ...] = ()
    gold: tuple[tuple[tuple[int, int, int], ...], ...] = field(default=())

    @property
    def messages(self) -> list[dict[str, str]]:
        asked = self.question or "What do the documents say?"
        return [{"role": "user", "content": asked}, {"role": "assistant", "content": self.answer}]


def _yes(*labels: Any) -> Callable[[Any], bool | None]:
    return lambda label: label in labels


@dataclass(frozen=True)
class PairFile:
    """Where a file of (source, claim, label) rows keeps them."""

    file: str
    source: str
    claim: str
    supported: Callable[[Any], bool | None]
    label: str = "label"
    question: str = ""


_ENTAILED = _yes("entailment", "ENTAILMENT", 1, "1", "SUPPORTED", "SUPPORTS", "Supports")

# name -> how its rows are read: files of one source and one claim a row.
PAIRS: dict[str, PairFile] = {
    "begin": PairFile("begin", "premise", "hypothesis",
                   {"Fully attributable": True, "Not fully attributable": False}.get, question="message"),
    "fever": PairFile("fever_dev_nli", "premise", "hypothesis", bool),
    "healthver": PairFile("healthver", "evidence", "claim", _ENTAILED),
    "climate-fever": PairFile("climate_fever", "evidence", "claim", _ENTAILED),
    "covid-fact": PairFile("covidfact", "evidence", "claim", _ENTAILED),
    "snli": PairFile("snli_devtest", "premise", "hypothesis", _ENTAILED),
    "mnli": PairFile("mnli_dev", "premise", "hypothesis", _ENTAILED),
    "halueval": PairFile("halueval", "knowledge", "answer", operator.not_, label="hallucinated", question="question"),
}  # fmt: skip


def pairs(name: str) -> Callable[[DataFolder], Iterator[Answered]]:
    """The reader of one of :data:`PAIRS`."""

    def read(folder: DataFolder) -> Iterator[Answered]:
        how = PAIRS[name]
        for row in folder.rows(how.file):
            supported = how.supported(row[how.label])
            source = row[how.source]
            sources = tuple(source) if isinstance(source, list) else (source,)
            if supported is not None and row[how.claim].strip() and any(s.strip() for s in sources):
                yield Answered(row[how.claim], sources, supported, row.get(how.question) or "")

    return read


def summedits(folder: DataFolder) -> Iterator[Answered]:
    documents = {row["doc_id"]: row["doc"] for row in folder.rows("summedits") if row.get("doc")}
    for row in folder.rows("summedits"):
        yield Answered(row["summary"], (documents[row["doc_id"]],), bool(row["label"]))


def everyday(folder: DataFolder) -> Iterator[Answered]:
    for row in folder.rows("everyday_dev"):
        for supported in (True, False):
            for answer in row["true" if supported else "false"]:
                yield Answered(answer, (row["doc"],), supported, row["q"])
        for question, answer, supported in row["other_a"]:
            yield Answered(answer, (row["doc"],), supported, question)


def lfqa(folder: DataFolder) -> Iterator[Answered]:
    """Long answers of six systems over some four web passages, each sentence labelled."""
    documents: dict[tuple[Any, str], tuple[str, ...]] = {}
    questions: dict[Any, str] = {}
    parts: dict[tuple[Any, str, str], list[Row]] = defaultdict(list)
    for row in folder.rows("lfqa_verification"):
        if row.get("docs"):
            documents[row["id"], row["docs_set"]] = tuple(d["text"] for d in row["docs"])
            questions[row["id"]] = row["question"]
        parts[row["id"], row["docs_set"], row["system"]].append(row)
    for (identity, docs, _), found in parts.items():
        found.sort(key=lambda row: row["n"])
        answer, sentences = "", []
        for row in found:
            answer += " " if answer else ""
            sentences.append((len(answer), len(answer) + len(row["sentence"]), row["label"] == "supported"))
            answer += row["sentence"]
        yield Answered(
            answer, documents[identity, docs], all(s[2] for s in sentences), questions[identity], tuple(sentences)
        )


def wice(folder: DataFolder) -> Iterator[Answered]:
    """Claims of Wikipedia with the sentences of the cited page that support them."""
    for row in folder.rows("wice"):
        if row["split"] == "train_tokens":
            continue
        page, spans = joined(row["evidence"])
        gold = tuple(
            tuple((0, *spans[i]) for i in alternative) for alternative in row["supporting"] or [] if alternative
        )
        yield Answered(row["claim"], (page,), row["label"] == "supported", gold=gold)


def clapnq(folder: DataFolder) -> Iterator[Answered]:
    """Long answers to real questions with the sentences that they were written from."""
    for row in folder.rows("clapnq_dev"):
        if row["answerable"] and row["answer"]:
            page, spans = joined(row["sentences"])
            gold = tuple(
                (0, *span) for span, s in zip(spans, row["sentences"], strict=True) if s in row["selected_sentences"]
            )
            yield Answered(row["answer"], (page,), True, row["question"], gold=(gold,) if gold else ())


def expertqa(folder: DataFolder) -> Iterator[Answered]:
    """Claims of language models that experts checked against the evidence given for them."""
    for row in folder.rows("expertqa_claims"):
        texts = tuple(text for text in (re.sub(r"\A\[\d+\] \S+\s*", "", t) for t in row["evidence"]) if len(text) > 80)
        if texts and row["support"] in ("Complete", "Partial", "Incomplete"):
            yield Answered(row["claim"], texts, row["support"] == "Complete", row["question"])


def fm2(folder: DataFolder) -> Iterator[Answered]:
    for row in folder.rows("fm2"):
        texts = (*row["gold"], *(s for s in row["retrieved"] if s not in row["gold"]))
        yield Answered(row["claim"], texts, row["label"] == "SUPPORTS")


def scifact(folder: DataFolder) -> Iterator[Answered]:
    corpus = {row["id"]: row["sentences"] for row in folder.rows("scifact_corpus")}
    for row in folder.rows("scifact_claims"):
        for document, evidence in row["evidence"].items():
            page, spans = joined(corpus[document])
            gold = tuple(tuple((0, *spans[i]) for i in e["sentences"]) for e in evidence)
            yield Answered(row["claim"], (page,), evidence[0]["label"] == "SUPPORT", gold=gold)


def joined(sentences: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
    """Sentences as one text, and where each of them is in it."""
    text, spans = "", []
    for sentence in sentences:
        text += " " if text else ""
        spans.append((len(text), len(text) + len(sentence)))
        text += sentence
    return text, spans


SUPPORT: Mapping[str, Callable[[DataFolder], Iterator[Answered]]] = {
    **{name: pairs(name) for name in PAIRS},
    "everyday": everyday,
    "lfqa": lfqa,
    "summedits": summedits,
    "wice": wice,
    "clapnq": clapnq,
    "expertqa": expertqa,
    "fm2": fm2,
    "scifact": scifact,
}
