"""Labelled (response, sources) examples from public data sets, in one shape, for fitting and measuring support.

Only the files are read here; which sets may be fitted on is written down in `SETS` (the licence column of the data
folder's README), so that a script cannot fit on a measuring set by accident.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

import numpy as np

from intrinsics_core.bench.datasets import CLAIMS, ClaimRow, Document, whole
from intrinsics_core.bench.folder import DataFolder
from intrinsics_core.embedded.evidence import CitationRule, Evidence, look_up, to_read
from intrinsics_core.embedded.models.cross_encoder import CrossEncoder
from intrinsics_core.embedded.short_answers import in_context, stated_each
from intrinsics_core.embedded.sources import Sources
from intrinsics_core.embedded.support import beside, load_head, of_readings
from intrinsics_core.embedded.words import Floats
from intrinsics_core.text.layout import laid_out


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
    titles: list[str] = field(default_factory=list)  # one a document, or none

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


def split(text: str) -> list[str]:
    """Sentences as the product splits them."""
    return [span.text for span in laid_out(text)]


def _sentences(claim: ClaimRow) -> list[list[str]]:
    return [split(d) if isinstance(d, str) else list(d) for d in claim.documents]


def of_claim(name: str, claim: ClaimRow) -> Example:
    """A claim that is judged as one sentence, however many it has."""
    label, gold = float(bool(claim.supported)), [list(alternative) for alternative in claim.gold]
    return Example(name, [claim.text], _sentences(claim), [label], label, claim.question, gold, claim.group)


def claims(name: str, every: int = 1) -> Callable[[Path], Iterator[Example]]:
    """The labelled claims of a set; ``every``: each of that many rows alone."""

    def read(folder: Path) -> Iterator[Example]:
        for claim in islice(CLAIMS[name].read(DataFolder(folder)), 0, None, every):
            if claim.supported is not None:
                yield of_claim(name, claim)

    return read


def begin(folder: Path) -> Iterator[Example]:
    for claim in CLAIMS["begin"].read(DataFolder(folder)):
        if claim.supported is not None:
            label, sentences = float(claim.supported), split(claim.text)
            labels: list[float | None] = [label if label or len(sentences) == 1 else None] * len(sentences)
            yield Example("begin", sentences, _sentences(claim), labels, label, question=claim.question)


def summedits(folder: Path) -> Iterator[Example]:
    documents: dict[str, list[list[str]]] = {}
    for claim in CLAIMS["summedits"].read(DataFolder(folder)):
        documents[claim.group] = documents.get(claim.group) or _sentences(claim)
        sentences = split(claim.text)
        labels: list[float | None] = [1.0 if claim.supported else None] * len(sentences)
        label = float(bool(claim.supported))
        yield Example("summedits", sentences, documents[claim.group], labels, label, group=claim.group)


def expertqa(folder: Path) -> Iterator[Example]:
    for claim in CLAIMS["expertqa"].read(DataFolder(folder)):
        if claim.supported is not None:
            texts = tuple(text for text in claim.documents if text)
            yield of_claim("expertqa", replace(claim, documents=texts, group=claim.question + claim.system))


def halueval_once(folder: Path) -> Iterator[ClaimRow]:
    """HaluEval's answers, each once, with the blanks between sentences of the knowledge that the file lost."""
    seen: set[tuple[str, str]] = set()
    for claim in CLAIMS["halueval"].read(DataFolder(folder)):
        if (key := (claim.question, claim.text)) not in seen:
            seen.add(key)
            knowledge = re.sub(r"(?<=[a-z)\]\"][.!?])(?=[A-Z])", " ", whole(claim.documents[0]))
            yield replace(claim, documents=(knowledge,), group=claim.question)


def halueval(folder: Path) -> Iterator[Example]:
    return (of_claim("halueval", claim) for claim in halueval_once(folder))


def lfqa_seen(folder: Path) -> Iterator[ClaimRow]:
    """The answers whose model saw the documents: the nearest thing here to the output of a RAG chain."""
    return (c for c in CLAIMS["lfqa"].read(DataFolder(folder)) if c.system not in ("gpt3", "alpaca"))


def _lfqa(name: str, claims: Iterator[ClaimRow]) -> Iterator[Example]:
    documents: dict[tuple[Document, ...], list[list[str]]] = {}
    for claim in claims:
        documents[claim.documents] = documents.get(claim.documents) or _sentences(claim)
        labels: list[float | None] = [float(supported) for _, supported in claim.sentences]
        label = float(bool(claim.supported))
        yield Example(name, [text for text, _ in claim.sentences], documents[claim.documents], labels, label,
                      question=claim.question, group=claim.group)  # fmt: skip


def lfqa(folder: Path) -> Iterator[Example]:
    return _lfqa("lfqa", CLAIMS["lfqa"].read(DataFolder(folder)))


def lfqa_rag(folder: Path) -> Iterator[Example]:
    return _lfqa("lfqa_rag", lfqa_seen(folder))


def wice(folder: Path) -> Iterator[Example]:
    for claim in CLAIMS["wice"].read(DataFolder(folder)):
        if claim.part != "train_tokens":  # those hold partially supported claims only
            yield of_claim("wice", replace(claim, group=""))


def clapnq(folder: Path) -> Iterator[Example]:
    for claim in CLAIMS["clapnq"].read(DataFolder(folder)):
        sentences, gold = split(claim.text), [list(alternative) for alternative in claim.gold] or [[]]
        yield Example("clapnq", sentences, _sentences(claim), [1.0] * len(sentences), 1.0, claim.question, gold)


def fm2(folder: Path) -> Iterator[Example]:
    return (of_claim("fm2", replace(claim, group="")) for claim in CLAIMS["fm2"].read(DataFolder(folder)))


def _unsplit(name: str, every: int) -> Callable[[Path], Iterator[Example]]:
    """Premises that are one sentence each, as captions are."""

    def read(folder: Path) -> Iterator[Example]:
        for claim in islice(CLAIMS[name].read(DataFolder(folder)), 0, None, every):
            yield of_claim(name, replace(claim, documents=tuple((whole(d),) for d in claim.documents)))

    return read


SETS: dict[str, DataSet] = {
    "lfqa_rag": DataSet(lfqa_rag, "lfqa_verification", "none stated", False, "response"),
    "lfqa": DataSet(lfqa, "lfqa_verification", "none stated", False, "response"),
    "summedits": DataSet(summedits, "summedits", "Apache-2.0", True, "response"),
    "expertqa": DataSet(expertqa, "expertqa_claims", "MIT", True, "claim"),
    "begin": DataSet(begin, "begin", "CC BY 4.0; CDLA-Sharing-1.0", True, "response"),
    "wice": DataSet(wice, "wice", "ODC-BY; CC BY-SA", True, "claim"),
    "halueval": DataSet(halueval, "halueval", "MIT", True, "claim"),
    "fm2": DataSet(fm2, "fm2", "Apache-2.0; CC BY-SA", True, "claim"),
    "fever": DataSet(claims("fever", 8), "fever_dev_nli", "CC BY-SA 3.0", True, "claim"),
    "snli": DataSet(_unsplit("snli", 8), "snli_devtest", "CC BY-SA 4.0", True, "claim"),
    "cad": DataSet(_unsplit("cad", 10), "cad_nli", "Apache-2.0; CC BY-SA 4.0", True, "claim"),
    "scifact": DataSet(claims("scifact"), "scifact_claims", "CC BY 4.0; corpus ODC-By (measure only)", False, "claim"),
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
    said = [stated_each(e.sentences, e.question) for e in examples]
    vectors.learn(text for e, texts in zip(examples, said, strict=True) for text in (*texts, *e.sources))
    ready: dict[str, Sources] = {}
    found: list[tuple[Example, list[Evidence], list[list[tuple[str, str]]]]] = []
    for example, texts in zip(examples, said, strict=True):
        key = "\n\n".join("\n".join(document) for document in (*example.documents, example.titles))
        if key not in ready:
            owner = [i for i, document in enumerate(example.documents) for _ in document]
            ready = {key: Sources(example.sources, [vectors[s] for s in example.sources], owner, example.titles)}
        evidence = look_up(example.sentences, [vectors[s] for s in texts], ready[key], example.question)
        shown = [in_context(s, example.question, whole=ready[key].seen == 1.0) for s in example.sentences]
        pairs = [to_read(s, e, ready[key], rule) if reader else [] for s, e in zip(shown, evidence, strict=True)]
        found.append((example, evidence, pairs))
    asked = list(dict.fromkeys(pair for _, _, pairs in found for some in pairs for pair in some))
    logits = dict(zip(asked, reader.logits("entailment", asked), strict=True)) if reader else {}

    shipped = load_head(reads=True)

    def said_of(pairs: list[tuple[str, str]], found: Evidence) -> float | None:
        """As the runtime reads a claim, but for a "No.", of which it always reads all parts."""
        some = [logits[pair] for pair in pairs]
        enough = (n for n in range(1, len(some)) if shipped.settles(found, some[:n], len(some) - n))
        return of_readings(some[: next(enough, len(some))], found.seen)

    # Of sources that only ask, nothing is read: no head is fitted to them.
    return [
        Measured(example, evidence, [said_of(some, e) for some, e in zip(pairs, evidence, strict=True)])
        for example, evidence, pairs in found
        if all(pairs) or not reader
    ]
