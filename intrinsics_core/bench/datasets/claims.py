"""Sets of claims and answers that people, or models watched by people, labelled."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from intrinsics_core.bench.datasets.questions import clapnq as clapnq_questions
from intrinsics_core.bench.datasets.records import ClaimRow, Page, claim_set
from intrinsics_core.bench.folder import DataFolder, Row

_CHECK = "fact-check"
_DETECT = "hallucination-detection"
_CITE = "citations"
_ENTAILED = ("entailment", "ENTAILMENT", 1, "1", "SUPPORTED", "SUPPORTS", "Supports")


@claim_set("everyday", _CHECK, _DETECT)
def everyday(folder: DataFolder) -> Iterator[ClaimRow]:
    for row in folder.rows("everyday_dev"):
        said = [(row["q"], answer, True) for answer in row["true"]] + [(row["q"], a, False) for a in row["false"]]
        for question, answer, supported in [*said, *row["other_a"]]:
            yield ClaimRow(answer, (row["doc"],), bool(supported), question)


@claim_set("lfqa", _DETECT, f"{_CITE}, ALCE")
def lfqa(folder: DataFolder) -> Iterator[ClaimRow]:
    """Long answers of six systems over some four web passages, each sentence labelled."""
    documents: dict[tuple[Any, str], tuple[str, ...]] = {}
    questions: dict[Any, str] = {}
    parts: dict[tuple[Any, str, str], list[Row]] = defaultdict(list)
    for row in folder.rows("lfqa_verification"):
        if row.get("docs"):
            documents[row["id"], row["docs_set"]] = tuple(d["text"] for d in row["docs"])
            questions[row["id"]] = row["question"]
        parts[row["id"], row["docs_set"], row["system"]].append(row)
    for (identity, docs, system), found in parts.items():
        found.sort(key=lambda row: row["n"])
        sentences = tuple((row["sentence"], row["label"] == "supported") for row in found)
        answer, supported = " ".join(text for text, _ in sentences), all(yes for _, yes in sentences)
        yield ClaimRow(answer, documents[identity, docs], supported, questions[identity], sentences=sentences,
                    group=str(identity), system=system)  # fmt: skip


@claim_set("begin", _CHECK, _DETECT)
def begin(folder: DataFolder) -> Iterator[ClaimRow]:
    values = {"Fully attributable": True, "Not fully attributable": False}  # "Generic" makes no claim
    for row in folder.rows("begin"):
        yield ClaimRow(row["hypothesis"], (row["premise"],), values.get(row["label"]), row["message"])


def pairs(file: str, source: str = "premise", claim: str = "hypothesis") -> Callable[[DataFolder], Iterator[ClaimRow]]:
    """A reader of a file with one source (or several texts), one claim and one ``label`` a row."""

    def read(folder: DataFolder) -> Iterator[ClaimRow]:
        for row in folder.rows(file):
            texts = row[source]
            yield ClaimRow(row[claim], tuple(texts) if isinstance(texts, list) else (texts,), row["label"] in _ENTAILED)

    return read


fever = claim_set("fever", _CHECK)(pairs("fever_dev_nli"))


@claim_set("halueval", _CHECK, _DETECT)
def halueval(folder: DataFolder) -> Iterator[ClaimRow]:
    for row in folder.rows("halueval"):
        yield ClaimRow(row["answer"], (row["knowledge"],), not row["hallucinated"], row["question"])


@claim_set("summedits", _CHECK, _DETECT)
def summedits(folder: DataFolder) -> Iterator[ClaimRow]:
    """Summaries, some with one edit that the document does not support."""
    documents = {row["doc_id"]: row["doc"] for row in folder.rows("summedits") if row.get("doc")}
    for row in folder.rows("summedits"):
        yield ClaimRow(row["summary"], (documents[row["doc_id"]],), bool(row["label"]), group=row["doc_id"])


healthver = claim_set("healthver", _CHECK)(pairs("healthver", "evidence", "claim"))
climate_fever = claim_set("climate-fever", _CHECK)(pairs("climate_fever", "evidence", "claim"))
covid_fact = claim_set("covid-fact", _CHECK)(pairs("covidfact", "evidence", "claim"))


@claim_set("fm2", _CHECK)
def fm2(folder: DataFolder) -> Iterator[ClaimRow]:
    """Claims of a game, with the sentences that settle them first and what was retrieved beside them behind."""
    for row in folder.rows("fm2"):
        sentences = (*row["gold"], *(s for s in row["retrieved"] if s not in row["gold"]))
        gold = tuple(range(len(row["gold"])))
        yield ClaimRow(row["claim"], (sentences,), row["label"] == "SUPPORTS", gold=(gold,), group=row["gold"][0])


@claim_set("expertqa", _CHECK)
def expertqa(folder: DataFolder) -> Iterator[ClaimRow]:
    """Claims of language models that experts checked against the evidence given for them."""
    values = {"Complete": True, "Partial": False, "Incomplete": False}
    for row in folder.rows("expertqa_claims"):
        texts = tuple(re.sub(r"\A\[\d+\] \S+\s*", "", text) for text in row["evidence"])
        if max(map(len, texts), default=0) > 80:  # a bare link is no evidence
            yield ClaimRow(
                row["claim"], texts, values.get(row["support"]), row["question"], system=row.get("system", "")
            )


def scifact_pages(folder: DataFolder) -> dict[str, Page]:
    """SciFact's abstracts by id."""
    return {str(row["id"]): Page(row["title"], tuple(row["sentences"])) for row in folder.rows("scifact_corpus")}


@claim_set("scifact", _CHECK, _CITE)
def scifact(folder: DataFolder) -> Iterator[ClaimRow]:
    pages = scifact_pages(folder)
    for row in folder.rows("scifact_claims"):
        for document, evidence in row["evidence"].items():
            gold = tuple(tuple(e["sentences"]) for e in evidence)
            yield ClaimRow(row["claim"], (pages[document].sentences,), evidence[0]["label"] == "SUPPORT", gold=gold)


@claim_set("wice", _CHECK, _CITE)
def wice(folder: DataFolder) -> Iterator[ClaimRow]:
    """Claims of Wikipedia beside the sentences of the cited page; ``train_tokens`` holds partly supported ones only."""
    for row in folder.rows("wice"):
        gold = tuple(tuple(alternative) for alternative in row["supporting"] or [] if alternative)
        supported = row["label"] == "supported"
        yield ClaimRow(row["claim"], (tuple(row["evidence"]),), supported, gold=gold, part=row["split"],
                    group=row["evidence"][0] + row["evidence"][-1])  # fmt: skip


snli = claim_set("snli", _CHECK)(pairs("snli_devtest"))
mnli = claim_set("mnli", _CHECK)(pairs("mnli_dev"))
cad = claim_set("cad")(pairs("cad_nli"))
med = claim_set("med")(pairs("med"))
help_ = claim_set("help")(pairs("help"))
lingnli = claim_set("lingnli")(pairs("lingnli"))


@claim_set("clapnq", _CITE, f"{_CITE}, ALCE")
def clapnq(folder: DataFolder) -> Iterator[ClaimRow]:
    """The long answers to CLAPNQ's questions, with the sentences that they were written from."""
    for row in clapnq_questions(folder):
        if row.answerable:
            yield ClaimRow(row.answers[0], row.documents, True, row.text, gold=(row.gold,) if row.gold else ())
