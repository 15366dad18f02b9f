"""Labelled (response, sources) examples from public data sets, in one shape, for fitting and measuring support.

Only the files are read here; which sets may be fitted on is written down in `SETS` (the licence column of the data
folder's README), so that a script cannot fit on a measuring set by accident.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from intrinsics_core.embedded.models.cross_encoder import CrossEncoder
from intrinsics_core.embedded.scoring.evidence import Evidence, Floats, Sources
from intrinsics_core.embedded.scoring.short_answers import in_context, stated
from intrinsics_core.embedded.scoring.support import CitationRule, beside, look_up, to_read
from intrinsics_core.text.layout import laid_out

Row = dict[str, Any]


@dataclass(frozen=True)
class Example:
    """One response with the sources it was written from.

    labels: per sentence 1.0 supported, 0.0 not, None unknown; `label` is the same for the whole response.
    gold: alternatives of source-sentence indices (into the flat list) that support sentence 0, where known.
    """

    set: str
    sentences: list[str]
    documents: list[list[str]]
    labels: list[float | None]
    label: float | None
    question: str = ""
    gold: list[list[int]] = field(default_factory=list)
    group: str = ""

    @property
    def sources(self) -> list[str]:
        return [sentence for document in self.documents for sentence in document]


@dataclass(frozen=True)
class DataSet:
    """Where a set comes from, and whether shipped numbers may be fitted on it."""

    read: Callable[[Path], Iterator[Example]]
    file: str
    licence: str
    fit: bool
    level: str  # what is labelled: "claim" (one sentence), "response" (several), or "citations"


def rows(folder: Path, name: str) -> list[Row]:
    """The rows of one gzipped JSON Lines file of the data folder."""
    with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def split(text: str) -> list[str]:
    """Sentences as the product splits them."""
    return [span.text for span in laid_out(text)]


def _claim(name: str, text: str, documents: list[list[str]], label: float | None, **more: Any) -> Example:
    return Example(name, [text], documents, [label], label, **more)


def begin(folder: Path) -> Iterator[Example]:
    values = {"Fully attributable": 1.0, "Not fully attributable": 0.0}  # "Generic" makes no claim
    for row in rows(folder, "begin"):
        if row["label"] in values:
            label, sentences = values[row["label"]], split(row["hypothesis"])
            labels: list[float | None] = [label if label or len(sentences) == 1 else None] * len(sentences)
            yield Example("begin", sentences, [split(row["premise"])], labels, label, question=row["message"])


def summedits(folder: Path) -> Iterator[Example]:
    documents: dict[str, list[str]] = {}
    for row in rows(folder, "summedits"):
        if row.get("doc"):
            documents[row["doc_id"]] = split(row["doc"])
        sentences = split(row["summary"])
        labels: list[float | None] = [1.0 if row["label"] else None] * len(sentences)
        yield Example(
            "summedits", sentences, [documents[row["doc_id"]]], labels, float(row["label"]), group=row["doc_id"]
        )


def expertqa(folder: Path) -> Iterator[Example]:
    values = {"Complete": 1.0, "Partial": 0.0, "Incomplete": 0.0}
    for row in rows(folder, "expertqa_claims"):
        texts = [re.sub(r"^\[\d+\] \S+\s*", "", text) for text in row["evidence"]]
        if row["support"] in values and max(map(len, texts), default=0) > 80:  # a bare link is no evidence
            documents = [split(text) for text in texts if text]
            yield _claim(
                "expertqa",
                row["claim"],
                documents,
                values[row["support"]],
                question=row["question"],
                group=row["question"] + row["system"],
            )


def halueval(folder: Path) -> Iterator[Example]:
    seen: set[tuple[str, str]] = set()
    for row in rows(folder, "halueval"):
        key = (row["question"], row["answer"])
        if key not in seen:
            seen.add(key)
            knowledge = re.sub(r"(?<=[a-z)\]\"][.!?])(?=[A-Z])", " ", row["knowledge"])
            yield _claim(
                "halueval",
                row["answer"],
                [split(knowledge)],
                1.0 - row["hallucinated"],
                question=row["question"],
                group=row["question"],
            )


def lfqa(folder: Path, with_documents_only: bool = False) -> Iterator[Example]:
    values = {"supported": 1.0, "partially": 0.0, "not_supported": 0.0}
    documents: dict[tuple[int, str], list[list[str]]] = {}
    questions: dict[int, str] = {}
    responses: dict[tuple[int, str, str], list[Row]] = defaultdict(list)
    for row in rows(folder, "lfqa_verification"):
        if row.get("docs"):
            documents[row["id"], row["docs_set"]] = [split(d["text"]) for d in row["docs"]]
            questions[row["id"]] = row["question"]
        responses[row["id"], row["docs_set"], row["system"]].append(row)
    for (key, source, system), parts in responses.items():
        if with_documents_only and system in ("gpt3", "alpaca"):
            continue
        parts.sort(key=lambda row: row["n"])
        labels: list[float | None] = [values[row["label"]] for row in parts]
        label = min(v for v in labels if v is not None)
        yield Example(
            "lfqa_rag" if with_documents_only else "lfqa",
            [row["sentence"] for row in parts],
            documents[key, source],
            labels,
            label,
            question=questions[key],
            group=str(key),
        )


def lfqa_rag(folder: Path) -> Iterator[Example]:
    """The answers whose model saw the documents: the nearest thing here to the output of a RAG chain."""
    return lfqa(folder, with_documents_only=True)


def wice(folder: Path) -> Iterator[Example]:
    for row in rows(folder, "wice"):
        label = float(row["label"] == "supported")
        gold = [g for g in row["supporting"] or [] if g]
        if row["split"] != "train_tokens":  # those hold partially supported claims only
            yield _claim("wice", row["claim"], [row["evidence"]], label, gold=gold)


def clapnq(folder: Path) -> Iterator[Example]:
    for row in rows(folder, "clapnq_dev"):
        if row["answerable"]:
            gold = [i for i, s in enumerate(row["sentences"]) if s in row["selected_sentences"]]
            yield Example(
                "clapnq",
                split(row["answer"]),
                [row["sentences"]],
                [1.0] * len(split(row["answer"])),
                1.0,
                question=row["question"],
                gold=[gold],
            )


def fm2(folder: Path) -> Iterator[Example]:
    for row in rows(folder, "fm2"):
        sentences = [s for s in row["retrieved"] if s not in row["gold"]]
        sentences = row["gold"] + sentences
        gold = list(range(len(row["gold"])))
        yield _claim("fm2", row["claim"], [sentences], float(row["label"] == "SUPPORTS"), gold=[gold])


def fever(folder: Path) -> Iterator[Example]:
    for row in rows(folder, "fever_dev_nli")[::8]:
        yield _claim("fever", row["hypothesis"], [split(row["premise"])], float(row["label"]))


def snli(folder: Path) -> Iterator[Example]:
    for row in rows(folder, "snli_devtest")[::8]:
        yield _claim("snli", row["hypothesis"], [[row["premise"]]], float(row["label"] == "entailment"))


def cad(folder: Path) -> Iterator[Example]:
    for row in rows(folder, "cad_nli")[::10]:
        yield _claim("cad", row["hypothesis"], [[row["premise"]]], float(row["label"] == "entailment"))


def scifact(folder: Path) -> Iterator[Example]:
    corpus = {row["id"]: row["sentences"] for row in rows(folder, "scifact_corpus")}
    for row in rows(folder, "scifact_claims"):
        for document, evidence in row["evidence"].items():
            gold = [e["sentences"] for e in evidence]
            yield _claim(
                "scifact", row["claim"], [corpus[document]], float(evidence[0]["label"] == "SUPPORT"), gold=gold
            )


SETS: dict[str, DataSet] = {
    "lfqa_rag": DataSet(lfqa_rag, "lfqa_verification", "none stated", False, "response"),
    "lfqa": DataSet(lfqa, "lfqa_verification", "none stated", False, "response"),
    "summedits": DataSet(summedits, "summedits", "Apache-2.0", True, "response"),
    "expertqa": DataSet(expertqa, "expertqa_claims", "MIT", True, "claim"),
    "begin": DataSet(begin, "begin", "CC BY 4.0; CDLA-Sharing-1.0", True, "response"),
    "wice": DataSet(wice, "wice", "ODC-BY; CC BY-SA", True, "claim"),
    "halueval": DataSet(halueval, "halueval", "MIT", True, "claim"),
    "fm2": DataSet(fm2, "fm2", "Apache-2.0; CC BY-SA", True, "claim"),
    "fever": DataSet(fever, "fever_dev_nli", "CC BY-SA 3.0", True, "claim"),
    "snli": DataSet(snli, "snli_devtest", "CC BY-SA 4.0", True, "claim"),
    "cad": DataSet(cad, "cad_nli", "Apache-2.0; CC BY-SA 4.0", True, "claim"),
    "scifact": DataSet(scifact, "scifact_claims", "CC BY 4.0; corpus ODC-By (measure only)", False, "claim"),
    "clapnq": DataSet(clapnq, "clapnq_dev", "Apache-2.0; CC BY-SA", True, "citations"),
}


def load(folder: Path, name: str, limit: int | None = None) -> list[Example]:
    """The examples of one set in file order, at most ``limit`` of them evenly spaced; none without sources."""
    examples = [e for e in SETS[name].read(folder) if e.sources and e.sentences]
    step = max(1.0, len(examples) / limit) if limit else 1.0
    return [examples[int(i * step)] for i in range(int(len(examples) / step))]


class Vectors:
    """Sentence vectors, encoded once and kept in an ``.npz`` file between runs (None: for this run only)."""

    def __init__(self, cache: Path | None = None) -> None:
        self.cache = cache
        self.known: dict[str, Floats] = {}
        if cache is not None and cache.exists():
            with np.load(cache, allow_pickle=False) as stored:
                pieces = np.split(stored["rows"], np.cumsum(stored["counts"])[:-1])
                self.known = dict(zip(stored["keys"].tolist(), pieces, strict=True))

    @staticmethod
    def _key(text: str) -> str:
        return hashlib.sha1(text.encode("utf-8", "replace")).hexdigest()

    def learn(self, texts: Iterable[str]) -> None:
        """Encode the texts not seen before."""
        new = {self._key(text): text for text in texts}
        new = {key: text for key, text in new.items() if key not in self.known}
        if not new:
            return
        from intrinsics_core.embedded.models.bi_encoder import BiEncoder

        self.known |= dict(zip(new, BiEncoder().encode(list(new.values())), strict=True))
        if self.cache is not None:
            rows = np.concatenate(list(self.known.values())).astype(np.float16)
            counts = [len(piece) for piece in self.known.values()]
            np.savez(self.cache, keys=np.array(list(self.known)), counts=counts, rows=rows)

    def __getitem__(self, text: str) -> Floats:
        return self.known[self._key(text)].astype(np.float32)


@dataclass(frozen=True)
class Measured:
    """An example with the evidence of each of its sentences, and a reader's logits where one was asked."""

    example: Example
    evidence: list[Evidence]
    logits: list[float | None]

    @property
    def read(self) -> bool:
        """Whether a reader was asked."""
        return any(z is not None for z in self.logits)

    @property
    def features(self) -> Floats:
        """(sentences, features): the columns of a head that reads where there are logits."""
        rows = [e.features if z is None else beside(e, z) for e, z in zip(self.evidence, self.logits, strict=True)]
        return np.array(rows, dtype=np.float32)


def measured(
    examples: Sequence[Example], vectors: Vectors, rule: CitationRule, reader: CrossEncoder | None = None
) -> list[Measured]:
    """Look every sentence of every example up in its sources, and have it read; the question counts as given."""
    said = [[stated(s, e.question) for s in e.sentences] for e in examples]
    vectors.learn(text for e, texts in zip(examples, said, strict=True) for text in (*texts, *e.sources))
    ready: dict[str, Sources] = {}
    found: list[tuple[Example, list[Evidence], list[list[tuple[str, str]]]]] = []
    for example, texts in zip(examples, said, strict=True):
        key = "\n\n".join("\n".join(document) for document in example.documents)
        if key not in ready:
            owner = [i for i, document in enumerate(example.documents) for _ in document]
            ready = {key: Sources(example.sources, [vectors[s] for s in example.sources], owner)}
        evidence = look_up(example.sentences, [vectors[s] for s in texts], ready[key], example.question)
        shown = [in_context(s, example.question) for s in example.sentences]
        pairs = [to_read(s, e, ready[key], rule) if reader else [] for s, e in zip(shown, evidence, strict=True)]
        found.append((example, evidence, pairs))
    asked = list(dict.fromkeys(pair for _, _, pairs in found for some in pairs for pair in some))
    logits = dict(zip(asked, reader.logits("entailment", asked), strict=True)) if reader else {}
    return [
        Measured(example, evidence, [max(map(logits.__getitem__, some)) if some else None for some in pairs])
        for example, evidence, pairs in found
    ]
