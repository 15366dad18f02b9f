"""A data folder of our own text, in the files and fields that the tables read: small, everyday, with odd rows in it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

MILL = "The tide mill was built in 1911 by Ada Brink. It ground flour until 1958. Entry costs four euros."
FERRY = "Ferries to Brink leave at nine and at noon. A bicycle costs two euros. No ferry runs on Mondays."
LAKE = "The lake is 40 metres deep. Swimming is forbidden in May, when the toads spawn."

FILES: dict[str, list[dict[str, Any]]] = {
    "everyday_dev": [
        {
            "doc": MILL,
            "q": "Who built the tide mill?",
            "true": ["Ada Brink built the tide mill in 1911."],
            "false": ["Karl Holm painted the tide mill in 1844."],
            "other_q": [["How much is the entry?", True], ["Which king of Norway owned a submarine?", False]],
            "other_a": [["Until when did it grind flour?", "It ground flour until 1958.", True]],
        },
        {
            "doc": FERRY,
            "q": "When do ferries leave?",
            "true": ["Ferries leave at nine and at noon."],
            "false": ["Helicopters depart every midnight from Oslo."],
            "other_q": [["What does a bicycle cost?", True]],
            "other_a": [["Does a ferry run on Mondays?", "No ferry runs on Mondays.", True]],
        },
    ],
    "lfqa_verification": [
        {"id": 1, "docs_set": "a", "system": "s", "n": 1, "sentence": "Pigs fly to Mars.", "label": "not_supported"},
        {
            "id": 1,
            "docs_set": "a",
            "system": "s",
            "n": 0,
            "sentence": "The tide mill was built in 1911.",
            "label": "supported",
            "question": "Tell me about the mill.",
            "docs": [{"text": MILL}, {"text": LAKE}],
        },
    ],
    "wice": [
        {
            "split": "test",
            "claim": "The mill ground flour until 1958.",
            "evidence": ["The tide mill was built in 1911 by Ada Brink.", "It ground flour until 1958.", "It is free."],
            "supporting": [[1]],
            "label": "supported",
        },
        {"split": "train_tokens", "claim": "Left out.", "evidence": ["x"], "supporting": [], "label": "supported"},
    ],
    "mtrag_pool": [
        {"id": "mill", "domain": "brink", "text": MILL},
        {"id": "ferry", "domain": "brink", "text": FERRY},
        {"id": "lake", "domain": "brink", "text": LAKE},
    ],
    "mtrag_queries": [
        {
            "id": "1",
            "domain": "brink",
            "last_turn": "Who built the tide mill?",
            "qrels": {"mill": 1},
            "rewrite_mixtral": "Who built the tide mill?",
        },
        {
            "id": "2",
            "domain": "brink",
            "last_turn": "And how deep is it?",
            "qrels": {"lake": 1},
            "rewrite_mixtral": "How deep is the lake?",
        },
    ],
    "mtrag_tasks": [
        {
            "id": "1",
            "history": [],
            "question": "Who built the tide mill?",
            "answer": "Ada Brink built it.",
            "contexts": [
                {"id": "mill", "relevant": True},
                {"id": "lake", "relevant": False},
                {"id": "lost", "relevant": True},
            ],
        },
        {
            "id": "2",
            "history": [
                {"role": "user", "content": "May I swim in the lake?", "extra": 1},
                {"role": "assistant", "content": "Not in May."},
            ],
            "question": "And how deep is it?",
            "answer": "The lake is 40 metres deep.",
            "contexts": [{"id": "lake", "relevant": None}],
        },
    ],
    "expertqa_claims": [
        {"question": "Who built it?", "claim": claim, "evidence": ["[1] https://mill " + MILL], "support": support}
        for claim, support in (("The mill was built by Ada Brink.", "Complete"), ("Oslo sank gold.", "Incomplete"))
    ],
    "prometheus_vicuna": [
        {"scores": scores, "instruction": f"###The instruction to evaluate:\nTell me of mills.\n\n"
         f"###Response to evaluate:\n{answer}\n\n###Reference Answer (Score 5):\nMills grind."}
        for scores, answer in (([5, 5, 4], "Mills grind grain between stones."), ([1, None, 2], "No."))
    ],
    "mtrag_runs": [
        {"id": turn, "retriever": "elser", "query": query, "docs": docs, "scores": [3.0, 2.0, 1.0][: len(docs)],
         "hit5": hit}
        for turn, query, docs, hit in (
            ("1", "rewrite", ["ferry", "mill", "gone"], True),
            ("2", "rewrite", ["ferry", "mill"], False),
            ("2", "lastturn", ["lake"], True),
        )
    ],
}  # fmt: skip


def write_folder(folder: Path, names: Iterable[str] = FILES) -> Path:
    """Write the files, one of them plain, the others gzipped."""
    folder.mkdir(exist_ok=True)
    for name in names:
        text = "".join(json.dumps(row) + "\n" for row in FILES[name])
        if name == "everyday_dev":
            (folder / f"{name}.jsonl").write_text(text + "\n", encoding="utf-8")
        else:
            (folder / f"{name}.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    return folder
