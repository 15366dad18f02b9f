"""Rows to train on for every intrinsic that an adapter serves, small enough for the tiny Granite."""

from __future__ import annotations

from typing import Any

QUESTION = "Who built bridge {}?"
DOCUMENTS = [
    {"id": "a", "text": "Ada Brink built the bridge in 1911. It spans the Lys."},
    {"id": "b", "text": "The harbour froze."},
]
ANSWER = "Ada Brink built it. It is blue."
SENTENCES = ((0, 19, "Ada Brink built it."), (20, 31, "It is blue."))


def row(intrinsic: str, number: int = 0) -> dict[str, Any]:
    """The row of a number; targets take turns."""
    odd = bool(number % 2)
    question = QUESTION.format(number)
    asked = [{"role": "user", "content": question}]
    told = [*asked, {"role": "assistant", "content": ANSWER}]
    made: dict[str, Any] = {"id": f"{intrinsic}-{number}", "messages": asked, "documents": DOCUMENTS}
    match intrinsic:
        case "query-rewrite":
            result = {"query": f"{question[:-1]} of Lys?", "original": question, "changed": True}
        case "answerability":
            result = {"label": "unanswerable" if odd else "answerable", "probability": float(not odd)}
        case "context-relevance":
            result = {"judgements": [
                {"document_id": "a", "index": 0, "label": "relevant", "score": 1.0},
                {"document_id": "b", "index": 1, "label": "irrelevant", "score": 0.0},
            ]}  # fmt: skip
        case "uncertainty":
            made["messages"], result = told, {"certainty": 0.25 if odd else 0.85}
        case "hallucination-detection":
            verdicts = [
                {"begin": begin, "end": end, "text": text, "label": label, "score": score, "explanation": None}
                for (begin, end, text), label, score in zip(
                    SENTENCES, ("faithful", "unfaithful"), (1.0, 0.0), strict=True
                )
            ]
            made["messages"], result = told, {"label": "unfaithful", "score": 0.0, "sentences": verdicts}
        case "citations":
            begin, end, text = SENTENCES[0]
            link = {"response_begin": begin, "response_end": end, "response_text": text, "document_id": "a",
                    "document_index": 0, "document_begin": 0, "document_end": 35,
                    "document_text": DOCUMENTS[0]["text"][:35]}  # fmt: skip
            made["messages"], result = told, {"citations": [link]}
    return made | {"result": result}


def rows(intrinsic: str, count: int = 8) -> list[dict[str, Any]]:
    return [row(intrinsic, number) for number in range(count)]


INTRINSICS = ("query-rewrite", "answerability", "context-relevance", "uncertainty", "hallucination-detection",
              "citations")  # fmt: skip
