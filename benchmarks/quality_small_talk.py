"""How far small talk is told from claims: what ships, beside the list of phrases alone.

    python -m benchmarks.quality_small_talk

First the held half of `training/small_talk`: of each kind the share of small talk that is NA, and of look-alikes that
are kept as claims. *Words* is what is said where there is no vector of the shipped encoder. A report is judged with the
tool calls that stand beside it. Then whole replies to a user's turn (`benchmarks/everyday/replies.jsonl`), each of one
sentence at most. Then the sentences of the everyday sets whose verdict changes between claim and NA, judged beside
their documents without a reader; nothing was fitted on any of those. The set `dev` needs `RAG_INTRINSICS_DATA`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import patch

from benchmarks.quality_everyday import OWN, Answered, detected, read
from intrinsics_core.embedded.models.bi_encoder import BiEncoder
from intrinsics_core.embedded.runtime import EmbeddedRuntime
from intrinsics_core.embedded.scoring import claims
from intrinsics_core.embedded.scoring.reports import CallsMade
from intrinsics_core.protocol.results import SentenceVerdict
from intrinsics_core.protocol.task import check
from training.small_talk import REPORTS, TALK, Row, rows

BY_PHRASES = patch.object(claims, "is_small_talk", lambda text, listed, *rest: listed)
METHODS = ("phrases", "words", "vector")


def is_claim(encoder: BiEncoder, method: str, row: Row) -> bool:
    vectors = encoder.encode([row.text])[0] if method == "vector" else None
    if method == "phrases":
        with BY_PHRASES:
            return claims.makes_claim(row.text)
    if row.calls:
        said = {"role": "assistant", "content": row.text, "tool_calls": row.calls}
        task = check(
            "hallucination-detection", [{"role": "user", "content": "Please do."}, said], (), ends_with=("assistant",)
        )
        if CallsMade(task).reported_alone(row.text, vectors):
            return False
    return claims.makes_claim(row.text, vectors)


def judged(answers: Sequence[Answered], runtime: EmbeddedRuntime) -> list[SentenceVerdict]:
    return [sentence for result in detected(answers, runtime) for sentence in result.sentences]


def show_everyday(name: str, data: str | None) -> None:
    answers, runtime = read(name, Path(data) if data else None)[0], EmbeddedRuntime(reader=False)
    now = judged(answers, runtime)
    with BY_PHRASES:
        before = judged(answers, runtime)
    changed = [(b, n) for b, n in zip(before, now, strict=True) if (b.label == "NA") is not (n.label == "NA")]
    print(f"\n{name}: {len(changed)} of {len(now)} sentences change between claim and NA")
    for b, n in changed:
        print(f"  {b.label} -> {n.label}: {n.text}")


def show_replies() -> None:
    rows = [json.loads(line) for line in (OWN / "replies.jsonl").read_text("utf-8").splitlines()]
    document = [{"text": "The hut is open from May to October. Nothing else is told of the village."}]
    found = detected(
        [Answered(i, document, row["question"], row["answer"], row["claims"]) for i, row in enumerate(rows)],
        EmbeddedRuntime(reader=False),
    )
    wrong = [(row, one.label) for row, one in zip(rows, found, strict=True) if (one.label == "NA") is row["claims"]]
    print("\nwhole replies")
    for claim, told in ((True, "claims are judged"), (False, "others are NA")):
        some, missed = (sum(row["claims"] is claim for row in each) for each in (rows, [row for row, _ in wrong]))
        print(f"{some - missed} of {some} {told}")
    for row, label in wrong:
        print(f"  {label}: {row['question']} | {row['answer']}")


def main() -> None:
    encoder = BiEncoder()
    print("| held half | " + " | ".join(f"{m}: small talk NA | claims kept" for m in METHODS) + " |")
    print("|---|" + "---|" * 2 * len(METHODS))
    whole: dict[tuple[str, bool], list[bool]] = {}
    for kind in (*TALK, REPORTS):
        cells = []
        for method in METHODS:
            for claim in (False, True):
                some = [row for row in rows(kind, held=True) if row.claims is claim]
                right = [is_claim(encoder, method, row) is claim for row in some]
                whole.setdefault((method, claim), []).extend(right)
                cells.append(f"{sum(right) / len(right):.3f} ({len(right)})")
        print(f"| {kind} | " + " | ".join(cells) + " |")
    print("| all | " + " | ".join(f"{sum(r) / len(r):.3f} ({len(r)})" for r in whole.values()) + " |")

    show_replies()
    data = os.environ.get("RAG_INTRINSICS_DATA")
    for name in ("plain", "hard", "long", *(["dev"] if data else [])):
        show_everyday(name, data)


if __name__ == "__main__":
    main()
