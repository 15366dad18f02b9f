"""What the reader is measured on: examples with a label, from held halves and from sets that nothing is trained on.

An example is a list of pairs to be scored and how their scores become one: the weakest sentence of an answer, the best
window of a passage. Beside each stands plain word coverage, the score to beat: the idf-weighed share of the claim's (or
question's) words that the whole source (or the best window) holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from random import Random
from typing import Literal

from intrinsics_core.bench.datasets import CLAIMS as LABELLED
from intrinsics_core.bench.datasets import QUESTIONS as ASKED
from intrinsics_core.bench.datasets import ClaimRow, whole
from intrinsics_core.bench.folder import DataFolder
from training.reader.data import (
    CLAIMS,
    QUESTIONS,
    Claim,
    Passage,
    Question,
    hard_claims,
    hard_questions,
    long_claims,
    passages,
    summedits_whole,
    turns,
    written_claims,
    written_questions,
)
from training.reader.edits import EDITS
from training.reader.everyday_facts import Facts, Frame, frames
from training.reader.makers import EVIDENCE, WINDOW, Meant, Support, before, scene
from training.reader.pairs import Task, Unit
from training.reader.paraphrases import true_twin
from training.reader.prose import content, found, sentence_like, sentences, weight, windows
from training.reader.splits import Part
from training.reader.wordnet import WordNet
from training.support_data import lfqa_seen


@dataclass(frozen=True)
class Example:
    """One judgement with its true label, the pairs to score for it, and its word coverage in 0..1.

    join: how the scores of several pairs become one: `min` (sentences of an answer), `max` (windows of a passage).
    """

    task: Task
    pairs: tuple[tuple[str, str], ...]
    label: float
    coverage: float
    join: Literal["min", "max"] = "min"
    kind: str = ""


def covered(claim: str, source: str) -> float:
    """Idf-weighed share of a claim's words that the source holds; 1 for a claim without content words."""
    wanted = content(claim)
    total = weight(wanted)
    return weight(wanted & content(source)) / total if total else 1.0


def sources_for(claim: str, sources: Sequence[str], count: int = 2) -> str:
    """The text that a claim is read beside: a short source whole, else its few sentences with most of the words."""
    if sum(len(s.split()) for s in sources) <= 60:
        return " ".join(sources)
    words = " ".join(sources[i] for i in found(claim, sources, count)).split()
    return " ".join(words[: EVIDENCE + 20])


def supported(
    sources: Sequence[str], answer: Sequence[str], label: float, question: str = "", kind: str = ""
) -> Example:
    """An answer of several sentences, each beside its own evidence."""
    whole = " ".join(sources)
    ask = f"{question} " if question else ""
    pairs = tuple((sources_for(ask + s, sources), ask + s) for s in answer)
    return Example("support", pairs, label, min(covered(s, whole) for s in answer), "min", kind)


def answering(parts: Sequence[str], question: str, label: float, title: str = "") -> Example:
    """A question beside all windows of a passage."""
    head = f"{title}: " if title else ""
    texts = [head + " ".join(parts[b:e]) for b, e in windows(parts, WINDOW)]
    return Example(
        "answers", tuple((t, question) for t in texts), label, max(covered(question, t) for t in texts), "max"
    )


def labelled(name: str, part: Part = "held") -> Callable[[Path, WordNet], Iterator[Example]]:
    """The held rows of a set of claims."""

    def read(folder: Path, net: WordNet) -> Iterator[Example]:
        read_rows = summedits_whole if name == "summedits" else CLAIMS[name]
        for row in read_rows(folder, part):
            if row.sources:
                yield _claim(row)

    return read


def _claim(row: Claim) -> Example:
    answer = sentences(row.claim) if row.set == "summedits" else [row.claim]
    return supported(row.sources, answer or [row.claim], row.label, row.question)


def asked(name: str) -> Callable[[Path, WordNet], Iterator[Example]]:
    """The held questions of a set."""

    def read(folder: Path, net: WordNet) -> Iterator[Example]:
        for row in QUESTIONS[name](folder, "held"):
            yield _question(row)

    return read


def _question(row: Question) -> Example:
    return answering(row.sentences, row.question, float(row.answerable), row.title)


def everyday(with_question: bool) -> Callable[[Path, WordNet], Iterator[Example]]:
    """Right and slightly wrong answers to everyday questions; alone, or behind their question."""

    def read(folder: Path, net: WordNet) -> Iterator[Example]:
        for row in LABELLED["everyday"].read(DataFolder(folder)):
            yield judged(row, row.question if with_question else "")

    return read


def judged(row: ClaimRow, question: str = "") -> Example:
    """A claim as one sentence, beside the sentences of its documents, read as one text."""
    text = " ".join(whole(document) for document in row.documents)
    return supported(sentences(text), [row.text], float(bool(row.supported)), question)


def everyday_gate(folder: Path, net: WordNet) -> Iterator[Example]:
    return gate("everyday", folder)


def gate(name: str, folder: Path) -> Iterator[Example]:
    for row in ASKED[name](DataFolder(folder)):
        yield answering(sentences(whole(row.documents[0])), row.text, float(row.answerable))


def _held(folder: Path, seed: str) -> Iterator[tuple[Passage, list[str], Random]]:
    """Held passages of articles, their whole sentences, and a generator for each; ``seed`` tells generators apart."""
    for passage in passages(folder, "held"):
        stated = [s for s in passage.sentences if sentence_like(s)]
        if passage.set == "wikipedia_passages" and stated:
            yield passage, stated, Random(seed + passage.sentences[0])


def one_word(folder: Path, net: WordNet) -> Iterator[Example]:
    """A sentence of a held article as it stands, and with one word replaced: Breaking-NLI's kind of test."""
    for passage, stated, rng in _held(folder, ""):
        sentence, label = rng.choice(stated), rng.choice(("kind", "opposite", "number", "number_word", "name"))
        new = EDITS[label][1](sentence, scene(sentence, net, " ".join(passage.sentences)), rng)
        if new:
            yield supported(passage.sentences, [sentence], 1.0, kind=label)
            yield supported(passage.sentences, [new], 0.0, kind=label)


def twins(folder: Path, net: WordNet) -> Iterator[Example]:
    """Every kind of edit beside a reworded true form, from held articles."""
    for passage, stated, rng in _held(folder, "twins/"):
        true, _ = true_twin(rng.choice(stated), passage.title, net, rng)
        label = rng.choice(list(EDITS))
        new = EDITS[label][1](true, scene("", net, " ".join(passage.sentences)), rng)
        if new:
            yield supported(passage.sentences, [true], 1.0, kind=label)
            yield supported(passage.sentences, [new], 0.0, kind=label)


def plausible(folder: Path, net: WordNet) -> Iterator[Example]:
    """A sentence of a held passage, reworded, and one of the same article that the passage does not hold."""
    texts = passages(folder, "held")
    maker = Support(net, texts)
    for passage in texts:
        if passage.set == "wikipedia_passages":
            unit = maker.plausible(passage, Random(f"plausible/{passage.sentences[0]}"))
            for pair in unit:
                yield supported(passage.sentences, sentences(pair.query), pair.label)


def lfqa(level: Literal["sentence", "answer"]) -> Callable[[Path, WordNet], Iterator[Example]]:
    """Sentences (or whole answers) of models that saw the documents, labelled by people. Never trained on."""

    def read(folder: Path, net: WordNet) -> Iterator[Example]:
        for row in lfqa_seen(folder):
            sources = [s for document in row.documents for s in sentences(whole(document))]
            if level == "sentence":
                for text, label in row.sentences:
                    yield supported(sources, [text], float(label))
            else:
                yield supported(sources, [text for text, _ in row.sentences], float(bool(row.supported)))

    return read


def evidence_pairs(name: str) -> Callable[[Path, WordNet], Iterator[Example]]:
    """Sets of claim and evidence whose licence allows measuring only."""

    def read(folder: Path, net: WordNet) -> Iterator[Example]:
        return map(judged, LABELLED[name].read(DataFolder(folder)))

    return read


def cast(folder: Path, net: WordNet) -> Iterator[Example]:
    """Conversational questions with passages that hold an answer or do not. Never trained on."""
    return gate("cast", folder)


def meant(folder: Path, net: WordNet) -> Iterator[Example]:
    talk = turns(folder, "held")
    maker = Meant(talk)
    for i, row in enumerate(talk):
        for pair in maker.rewritten(row, Random(f"meant/{i}")):
            yield Example("meant", ((pair.text, pair.query),), pair.label, covered(pair.query, before(row)))


def written(read: Callable[[Path, Part], Iterator[Claim]]) -> Callable[[Path, WordNet], Iterator[Example]]:
    """Claims and answers about texts written by hand, those never trained on."""

    def held(folder: Path, net: WordNet) -> Iterator[Example]:
        for row in read(folder, "held"):
            yield replace(_claim(row), kind="answer" if row.question else "claim")

    return held


def written_gate(read: Callable[[Path, Part], Iterator[Question]]) -> Callable[[Path, WordNet], Iterator[Example]]:
    """Questions about them, answered or left open."""
    return lambda folder, net: map(_question, read(folder, "held"))


def framed(
    make: Callable[[Facts, Frame, Random], Unit], each: int = 120
) -> Callable[[Path, WordNet], Iterator[Example]]:
    """Texts of frames never trained on; the data folder is not read."""

    def held(folder: Path, net: WordNet) -> Iterator[Example]:
        for frame in frames("held"):
            for i in range(each):
                for pair in make(Facts(), frame, Random(f"{frame.name}/{i}")):
                    yield Example(pair.task, ((pair.text, pair.query),), pair.label, covered(pair.query, pair.text))

    return held


TABLES: dict[str, tuple[Callable[[Path, WordNet], Iterator[Example]], str]] = {
    "everyday, answer alone": (everyday(False), "never"),
    "everyday, behind its question": (everyday(True), "never"),
    "everyday, gate": (everyday_gate, "never"),
    "LFQA sentences": (lfqa("sentence"), "never"),
    "LFQA answers": (lfqa("answer"), "never"),
    "Climate-FEVER": (evidence_pairs("climate-fever"), "never"),
    "HealthVer": (evidence_pairs("healthver"), "never"),
    "COVID-Fact": (evidence_pairs("covid-fact"), "never"),
    "LingNLI": (evidence_pairs("lingnli"), "never"),
    "CAsT answerability": (cast, "never"),
    "written texts, claims": (written(written_claims), "held texts"),
    "written texts, gate": (written_gate(written_questions), "held texts"),
    "hard texts, claims": (written(hard_claims), "held texts"),
    "hard texts, gate": (written_gate(hard_questions), "held texts"),
    "long answers, sentences": (written(long_claims), "held texts"),
    "everyday facts": (framed(Facts.claimed), "held frames"),
    "everyday facts, gate": (framed(Facts.asked), "held frames"),
    "SummEdits": (labelled("summedits"), "held half"),
    "WiCE": (labelled("wice"), "held half"),
    "BEGIN": (labelled("begin"), "held half"),
    "ExpertQA claims": (labelled("expertqa_claims"), "held half"),
    "HaluEval QA": (labelled("halueval"), "held half"),
    "FM2": (labelled("fm2"), "held half"),
    "FEVER": (labelled("fever_dev_nli"), "held part"),
    "MNLI": (labelled("mnli_dev"), "held part"),
    "SNLI": (labelled("snli_devtest"), "held part"),
    "CAD": (labelled("cad_nli"), "held part"),
    "MED": (labelled("med"), "held part"),
    "one word replaced": (one_word, "held articles"),
    "edits beside true twins": (twins, "held articles"),
    "plausible additions": (plausible, "held articles"),
    "SQuAD 2.0": (asked("squad2_dev_b"), "held half"),
    "CLAPNQ": (asked("clapnq_dev"), "held half"),
    "rewrites (meant)": (meant, "held part"),
}
"""Every table: its examples, and how far from the training they are."""


def examples(name: str, folder: Path, net: WordNet, limit: int) -> list[Example]:
    """At most ``limit`` examples of one table, evenly spaced; twins stay together."""
    every = list(islice(TABLES[name][0](folder, net), 60_000))
    step = max(1, -(-len(every) // limit))
    return [e for i, e in enumerate(every) if (i // 2) % step == 0]
