"""Sets of questions beside passages, and passages alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from intrinsics_core.bench.datasets.records import PassageRow, QuestionRow, RecordedAnswer
from intrinsics_core.bench.folder import DataFolder


def everyday(folder: DataFolder) -> Iterator[QuestionRow]:
    for row in folder.rows("everyday_dev"):
        for question, answerable in [(row["q"], True), *row["other_q"]]:
            yield QuestionRow(question, (row["doc"],), bool(answerable))


def squad(folder: DataFolder) -> Iterator[QuestionRow]:
    """SQuAD 2.0: questions on paragraphs of Wikipedia; some ask what the paragraph does not say."""
    for row in folder.rows("squad2_dev_b"):
        answers = tuple(a if isinstance(a, str) else a["text"] for a in row["answers"])
        yield QuestionRow(row["question"], (row["context"],), bool(row["answerable"]), answers, title=row["title"],
                       identity=row["id"])  # fmt: skip


def clapnq(folder: DataFolder) -> Iterator[QuestionRow]:
    """Real questions, with long answers written from some of a passage's sentences."""
    for row in folder.rows("clapnq_dev"):
        chosen = row.get("selected_sentences") or ()
        gold = tuple(i for i, sentence in enumerate(row["sentences"]) if sentence in chosen)
        answers = (row["answer"],) if row["answerable"] else ()
        yield QuestionRow(row["question"], (tuple(row["sentences"]),), bool(row["answerable"]), answers, gold,
                       row["title"], row["id"])  # fmt: skip


def cast(folder: DataFolder) -> Iterator[QuestionRow]:
    """Conversational questions with passages that hold an answer or do not, graded 0 to 4."""
    for row in folder.rows("cast_answerability"):
        yield QuestionRow(row["question"], (row["passage"],), bool(row["answerable"]), grade=row["grade"])


def policyqa(folder: DataFolder) -> Iterator[QuestionRow]:
    """Questions on privacy policies, all of them answered."""
    for row in folder.rows("policyqa"):
        yield QuestionRow(row["question"], (row["context"],), True, tuple(row["answers"]))


def pubmedqa(folder: DataFolder) -> Iterator[QuestionRow]:
    """Questions on the sections of an abstract, which its conclusion answers."""
    for row in folder.rows("pubmedqa"):
        yield QuestionRow(row["question"], tuple(row["contexts"]), True, (row["answer"],), identity=row["id"])


QUESTIONS: Mapping[str, Callable[[DataFolder], Iterator[QuestionRow]]] = {
    "everyday": everyday,
    "squad2": squad,
    "clapnq": clapnq,
    "cast": cast,
    "policyqa": policyqa,
    "pubmedqa": pubmedqa,
}


def wikipedia(folder: DataFolder) -> Iterator[PassageRow]:
    """Passages of Wikipedia, in a tokenised spelling, under the titles of their articles."""
    for row in folder.rows("wikipedia_passages"):
        yield PassageRow(str(row["id"]), row["text"])


def recorded_answers(folder: DataFolder) -> Iterator[RecordedAnswer]:
    """Answers of four models to TruthfulQA, with their log-probabilities."""
    for row in folder.rows("uq_recorded"):
        yield RecordedAnswer(row["question"], row["answer"], tuple(row["logprobs"]), bool(row["truthful"]))
