"""The question, answer and documents that many tests ask about. In the answer one sentence is supported, one is not."""

from __future__ import annotations

ASKED = [{"role": "user", "content": "Who built the tide mill?"}]
DOCUMENTS = ["Ada Brink built the tide mill in 1911.", "Fog is common in May."]
WITH_IDS = [
    {"id": "mill", "text": "The tide mill was built in 1911 by the engineer Ada Brink. It ground flour until 1958."},
    {"id": "fog", "text": "Fog is common in May."},
]


def answered(answer: str) -> list[dict[str, str]]:
    return [*ASKED, {"role": "assistant", "content": answer}]


ANSWERED = answered("Ada Brink built the tide mill in 1911. She painted it gold.")
