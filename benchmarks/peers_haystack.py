"""Haystack's own components beside ours: ``python -m benchmarks.peers_haystack``.

Each pair is given the same chat generator. Its replies are those that models are seen to give: clean, fenced, thought
about, with an id that names nothing or comes twice, in nearly JSON. Printed are the calls, and after how many of the
replies the order or the verdict that they held was lost.
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Callable, Mapping
from typing import Any

from haystack import Document, component
from haystack.components.evaluators import FaithfulnessEvaluator
from haystack.components.rankers import LLMRanker
from haystack.dataclasses import ChatMessage
from haystack_integrations.components.evaluators.rag_intrinsics import RagIntrinsicsEvaluator
from haystack_integrations.components.rankers.rag_intrinsics import RagIntrinsicsRanker

QUESTION = "Who built the mill?"


@component
class Saying:
    """A chat generator that gives one reply."""

    def __init__(self, text: str) -> None:
        self.text, self.calls = text, 0

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
        self.calls += 1
        return {"replies": [ChatMessage.from_assistant(self.text)]}


def texts(good: Any, draft: Any, odd: Any, twice: Any, quoted: str) -> dict[str, str]:
    """One reply in the ways in which models give it."""
    plain = json.dumps(good)
    return {
        "clean": plain,
        "in a fence": f"```json\n{plain}\n```",
        "prose around it": f"Here you are:\n{plain}\nI hope that helps.",
        "a draft in thoughts": f"<think>first {json.dumps(draft)}</think>{plain}",
        "{} in thoughts": f"<think>{{}} no</think>{plain}",
        "an id too many": json.dumps(odd),
        "an id twice": json.dumps(twice),
        "Python's quotes": quoted,
        "a trailing comma": plain.replace("]}", ",]}"),
    }


def ranked(ranker: Callable[[Saying], Any], order: Callable[[list[int]], Any], replies: Mapping[str, str]) -> list[str]:
    """The names of the replies after which the third document is not the first."""
    lost = []
    for name, text in replies.items():
        documents = [Document(id=str(i), content=f"Text {i}.") for i in range(5)]
        try:
            found = ranker(Saying(text)).run(query=QUESTION, documents=documents)["documents"]
        except Exception:
            found = []
        if [d.id for d in found[:2]] != ["2", "0"]:
            lost.append(name)
    return lost


def ours_ranked(generator: Saying) -> Any:
    return RagIntrinsicsRanker(generator)


def theirs_ranked(generator: Saying) -> Any:
    return LLMRanker(chat_generator=generator, top_k=50)


def calls(ranker: Callable[[Saying], Any], text: Callable[[int], str], count: int) -> int:
    generator = Saying(text(count))
    documents = [Document(id=str(i), content=f"Text {i}.") for i in range(count)]
    ranker(generator).run(query=QUESTION, documents=documents)
    return generator.calls


def our_order(rows: list[int]) -> dict[str, Any]:
    return {"ranking": [f"d{i}" for i in rows]}


def their_order(rows: list[int]) -> dict[str, Any]:
    return {"documents": [{"index": i + 1} for i in rows]}


def order_replies(order: Callable[[list[int]], Any]) -> dict[str, str]:
    good = order([2, 0, 1, 3, 4])
    quoted = repr(good)
    return texts(good, order([4, 3, 2, 1, 0]), order([2, 0, 98, 1, 3, 4]), order([2, 0, 2, 1, 3, 4]), quoted)


def kept(ranker: Callable[[Saying], Any], order: Callable[[list[int]], Any]) -> tuple[bool, bool]:
    """Whether two texts of one id both come out, and the scores that documents came with."""

    def found(*ids: str) -> list[Document]:
        given = [Document(id=name, content=f"Text {i}.", score=0.9 - i / 2) for i, name in enumerate(ids)]
        ranked: list[Document] = ranker(Saying(json.dumps(order([1, 0])))).run(query=QUESTION, documents=given)[
            "documents"
        ]
        return ranked

    scores = [d.meta.get("retrieval_score", d.score) for d in found("a", "b")]
    return len(found("report.pdf", "report.pdf")) == 2, scores == [0.4, 0.9]


ROWS: dict[str, list[Any]] = {
    "questions": [QUESTION],
    "contexts": [["Ada Brink built the mill."]],
    "predicted_answers": ["Ada Brink built it."],
}


def judged(evaluator: Callable[[Saying], Any], replies: Mapping[str, str]) -> tuple[list[str], int]:
    """The names of the replies whose verdict was lost, and the calls for one row."""
    lost, made = [], 0
    for name, text in replies.items():
        generator = Saying(text)
        try:
            score = evaluator(generator).run(**ROWS)["individual_scores"][0]
        except Exception:
            score = math.nan
        made = max(made, generator.calls) if name == "clean" else made
        if score != 1.0:
            lost.append(name)
    return lost, made


def our_verdict(label: str, *names: str) -> dict[str, Any]:
    return {"sentences": [{"id": name, "reason": "it says so", "faithfulness": label} for name in names]}


def their_verdict(score: int, *names: str) -> dict[str, Any]:
    return {"statements": ["Ada Brink built it."], "statement_scores": [score]}


def row(*cells: object) -> None:
    print(f"| {' | '.join(map(str, cells))} |")


def main() -> None:
    logging.disable(logging.WARNING)  # what the peers log of replies that they give up on
    row("", "calls for 10, 20, 50 documents", "replies read", "lost", "two texts of one id", "retriever's scores kept")
    row("---", "---", "---", "---", "---", "---")
    for name, ranker, order in (
        ("Haystack's `LLMRanker`", theirs_ranked, their_order),
        ("`RagIntrinsicsRanker`", ours_ranked, our_order),
    ):
        replies = order_replies(order)
        lost = ranked(ranker, order, replies)
        made = [calls(ranker, lambda count, o=order: json.dumps(o(list(range(count)))), n) for n in (10, 20, 50)]
        ids, scores = kept(ranker, order)
        row(name, ", ".join(map(str, made)), f"{len(replies) - len(lost)} of {len(replies)}", ", ".join(lost) or "none",
            "yes" if ids else "no", "yes" if scores else "no")  # fmt: skip
    print()
    row("", "calls a row", "replies read", "lost", "of a row that failed")
    row("---", "---", "---", "---", "---")
    theirs = texts(their_verdict(1), their_verdict(0), their_verdict(1), their_verdict(1), repr(their_verdict(1)))
    ours = texts(our_verdict("faithful", "r0"), our_verdict("unfaithful", "r0"), our_verdict("faithful", "r0", "r9"),
                 our_verdict("faithful", "r0", "r0"), repr(our_verdict("faithful", "r0")))  # fmt: skip
    for name, evaluator, replies, failed in (
        ("Haystack's `FaithfulnessEvaluator`",
         lambda g: FaithfulnessEvaluator(chat_generator=g, raise_on_failure=False, progress_bar=False), theirs,
         "NaN, or all rows are lost"),
        ("`RagIntrinsicsEvaluator`", lambda g: RagIntrinsicsEvaluator("hallucination-detection", g), ours,
         "NaN, with its reason"),
    ):  # fmt: skip
        lost, made = judged(evaluator, replies)
        row(name, made, f"{len(replies) - len(lost)} of {len(replies)}", ", ".join(lost) or "none", failed)


if __name__ == "__main__":
    main()
