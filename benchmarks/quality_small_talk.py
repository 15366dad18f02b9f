"""How far the heads tell what a sentence of an answer claims, and what a user's turn asks.

    python -m benchmarks.quality_small_talk [--wrong]

First the held third of `training/small_talk`: of each kind the share of sentences that are judged as they should be:
what claims something is a claim, what claims nothing is none, and a report is none beside its tool call and one without
it. *Words* is what is said where there is no vector of the shipped encoder. Then the turns. Then whole replies to a
user's turn (`benchmarks/everyday/replies.jsonl`), each of one sentence at most; nothing was fitted on those.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable

from benchmarks.quality_everyday import OWN, Answered, detected
from intrinsics_core.embedded.claims import Spoken, makes_claim
from intrinsics_core.embedded.models.bi_encoder import BiEncoder
from intrinsics_core.embedded.runtime import EmbeddedRuntime
from intrinsics_core.embedded.turns import kind_of
from intrinsics_core.protocol.task import check
from training.small_talk import Row, sentences, turns

DOCUMENT = [{"text": "The hut is open from May to October. Nothing else is told of the village."}]


def is_claim(encoder: BiEncoder | None, row: Row) -> bool:
    """Whether a sentence is judged, behind "Please do." and its tool calls. ``encoder``: None for words alone."""
    vectors = encoder.encode([row.text])[0] if encoder else None
    said = {"role": "assistant", "content": row.text, "tool_calls": row.calls}
    asked = {"role": "user", "content": "Please do."}
    task = check("hallucination-detection", [asked, said], (), ends_with=("assistant",))
    return makes_claim(row.text, vectors) and not Spoken(task).tells(row.text, "", vectors)


def should_be(row: Row) -> bool:
    return row.label in ("claim", "command") or (row.label == "report" and not row.told)


def show(name: str, found: Iterable[tuple[str, bool, str]], wrong: bool) -> None:
    """Print the share of each kind that is right, and with ``wrong`` the others. ``found``: kind, right, text."""
    kinds: dict[str, list[bool]] = {}
    for kind, right, text in found:
        kinds.setdefault(kind, []).append(right)
        if wrong and not right:
            print(f"   {kind}: {text}")
    for kind, some in sorted(kinds.items()):
        print(f"| {name} | {kind} | {sum(some) / len(some):.3f} | {len(some)} |")


def replies() -> Iterable[tuple[str, bool, str]]:
    rows = [json.loads(line) for line in (OWN / "replies.jsonl").read_text("utf-8").splitlines()]
    asked = [Answered(i, DOCUMENT, row["question"], row["answer"], row["claims"]) for i, row in enumerate(rows)]
    for row, found in zip(rows, detected(asked, EmbeddedRuntime(reader=False)), strict=True):
        said = "claims" if row["claims"] else "claims nothing"
        yield said, (found.label != "NA") is row["claims"], f"{row['question']} | {row['answer']}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--wrong", action="store_true", help="print what is not told right")
    wrong = parser.parse_args().wrong
    held = [row for row in sentences() if row.held and row.label != "self"]
    for name, encoder in (("words", None), ("vector", BiEncoder())):
        found = [(should_be(row), is_claim(encoder, row), row) for row in held]
        whole = [
            ("all: claims kept" if should else "all: others NA", should is said, "") for should, said, row in found
        ]
        show(name, [(f"{row.label}: {row.kind}", should is said, row.text) for should, said, row in found], wrong)
        show(name, whole, False)
    asked = [row for row in turns() if row.held]
    said = [(row, kind_of([("assistant", row.before), ("user", row.text)])) for row in asked]
    show("turns", [(row.label, kind == row.label, f"{row.text} -> {kind}") for row, kind in said], wrong)
    show("whole replies", replies(), wrong)


if __name__ == "__main__":
    main()
