"""Answerability and context relevance from sets of questions on passages.

Half of the unanswerable rows are the sets' own (asked about a passage that does not say it), half are made: passages
of the same article that lack the answer, which is what a retriever brings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from intrinsics_core.bench.datasets import QUESTIONS, QuestionRow, whole
from intrinsics_core.bench.folder import DataFolder, Row

_OTHERS = 2  # passages beside the one that a question was asked about


def _asked(question: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": question}]


def _gate(name: str, question: str, documents: Sequence[Any], answerable: bool, group: str) -> Row:
    result = {"label": "answerable" if answerable else "unanswerable", "probability": float(answerable)}
    return {"id": name, "messages": _asked(question), "documents": list(documents), "result": result, "group": group}


def _articles(rows: Sequence[QuestionRow]) -> dict[str, list[str]]:
    """Passages of each article, in order, each once."""
    found: dict[str, dict[str, None]] = {}
    for row in rows:
        found.setdefault(row.title, {})[whole(row.documents[0])] = None
    return {title: list(passages) for title, passages in found.items()}


def lacking(passages: Sequence[str], own: str, answers: Sequence[str], start: int) -> list[str]:
    """Other passages of the article that spell none of the answers; ``start`` says where to begin to look."""
    turned = [passages[(start + i) % len(passages)] for i in range(len(passages))]
    spelled = [answer.casefold() for answer in answers]
    return [text for text in turned if text != own and not any(word in text.casefold() for word in spelled)]


def answerability_of_squad(folder: DataFolder) -> Iterator[Row]:
    rows = list(QUESTIONS["squad2"](folder))
    articles = _articles(rows)
    for number, row in enumerate(rows):
        context = whole(row.documents[0])
        others = lacking(articles[row.title], context, row.answers, number)[:_OTHERS]
        name, group = f"squad2-{row.identity}", row.title
        if not row.answerable:
            yield _gate(name, row.text, [context], False, group)
            continue
        shown = [*others[: number % 2], context, *others[number % 2 :]]  # the answer is not always first
        yield _gate(name, row.text, shown, True, group)
        if number % 2 and others:
            yield _gate(f"{name}-lacking", row.text, others, False, group)


def answerability_of_clapnq(folder: DataFolder) -> Iterator[Row]:
    for row in QUESTIONS["clapnq"](folder):
        document = {"text": whole(row.documents[0]), "title": row.title}
        yield _gate(f"clapnq-{row.identity}", row.text, [document], row.answerable, row.title)


def relevance_of_squad(folder: DataFolder) -> Iterator[Row]:
    """Relevant: the passage answers. Partially: it was asked about, and does not. Irrelevant: another article's."""
    rows = list(QUESTIONS["squad2"](folder))
    articles = _articles(rows)
    titles = sorted(articles)
    for number, row in enumerate(rows):
        elsewhere = titles[(titles.index(row.title) + 1 + number % (len(titles) - 1)) % len(titles)] \
            if len(titles) > 1 else None  # fmt: skip
        label, score = ("relevant", 1.0) if row.answerable else ("partially relevant", 0.5)
        shown, judged = [whole(row.documents[0])], [(label, score)]
        if elsewhere is not None:
            passages = articles[elsewhere]
            shown.append(passages[number % len(passages)])
            judged.append(("irrelevant", 0.0))
        verdicts = [{"document_id": str(i), "index": i, "label": each, "score": value}
                    for i, (each, value) in enumerate(judged)]  # fmt: skip
        yield {"id": f"squad2-{row.identity}", "messages": _asked(row.text), "documents": shown,
               "result": {"judgements": verdicts}, "group": row.title}  # fmt: skip
