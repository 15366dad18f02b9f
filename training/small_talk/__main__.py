"""Fit the heads that tell what a sentence of an answer claims, what a user's turn asks, and what a tool call has done.

    python -m training.small_talk --data $RAG_INTRINSICS_DATA [--out FOLDER] [--wrong]

writes `claims.json`, `turn.json` and `calls.json`: multinomial logistic regressions over hashed n-grams. `claims.json`
has a second set of numbers beside the vector of the encoder that ships. Beside the rows of this folder that are not
held out stand claims and questions of the texts written for the reader (`training/reader/written`), sentences of real
answers (`REAL`), and pairs of sentences in one ("I don't know, but the rent is 900 euros."). The tables are of the
held third, with other texts of the reader; `--wrong` prints what is called something else.
"""

from __future__ import annotations

import argparse
import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack
from sklearn.linear_model import LogisticRegression

from intrinsics_core.embedded.claims import places_of_call
from intrinsics_core.embedded.heads import PLACES, TextHead, places
from intrinsics_core.embedded.models.bi_encoder import BiEncoder
from intrinsics_core.embedded.turns import KINDS
from intrinsics_core.text.layout import laid_out
from training.reader.data import CLAIMS, LICENCES
from training.reader.written import texts
from training.small_talk import Row, calls, sentences, turns

Array = NDArray[np.float64]
RIDGE = {"claims": 30.0, "turn": 30.0, "calls": 10.0}
SHARE = 1.2  # by how much a vector's numbers count more than the others, against the ridge
WEIGHTS = {"nothing": 1.5, "self": 2.0, "command": 2.0, "report": 1.5, "done": 2.0}
OF_OTHERS = 0.5
CLAIMS_OF_TEXTS, QUESTIONS_OF_TEXTS = 2500, 3000
REAL, ANSWERS = ("expertqa_claims", "begin"), 1000  # sets of real answers, and how many sentences of each
LEAST = 7  # words of them: shorter ones may be small talk
JOINED = 1000
JOINS = (", but ", "; ", ", and ", ". But ", " – ", ", so ", ", though ", ", because ")
THRESHOLDS = {
    "claims, words": {"nothing": 0.6, "report": 0.3, "self": 0.4, "command": 0.5},
    "claims, vector": {"nothing": 0.6, "report": 0.3, "self": 0.4, "command": 0.5},
    "turn, words": {kind: 0.5 for kind in KINDS if kind != "asks"},
    "calls, words": {"done": 0.4},
}


def of_texts(part: str, questions: bool, count: int) -> list[str]:
    """Claims and answers, or questions, of the texts written for the reader. Some questions are as typed in haste."""
    every = texts("train") if part == "fit" else [*texts("dev"), *texts("held")]
    if questions:
        said = {question for t in every for question, *_ in t.asked}
    else:
        said = {claim for t in every for pair in t.claims for claim in pair}
        said |= {answer for t in every for _, *answers in t.asked for answer in answers if not answer.endswith("?")}
    known = sorted(said)
    Random(0).shuffle(known)
    if questions:
        return [text.lower().rstrip("?") if i % 4 == 0 else text for i, text in enumerate(known[:count])]
    short = [text for text in known if len(text.split()) <= 4]
    return [*short[: count // 3], *[text for text in known if len(text.split()) > 4]][:count]


def real(folder: Path, name: str) -> list[str]:
    """Sentences of answers that language models gave. Some of them claim nothing (see `sure`)."""
    said = [row.claim for part in ("train", "dev", "held") for row in CLAIMS[name](folder, part)]
    some = sorted({span.text for text in said for span in laid_out(text) if len(span.text.split()) >= LEAST})
    Random(0).shuffle(some)
    return [text for text in some if not text.endswith(("?", ":"))][:ANSWERS]


def joined(fit: Sequence[Row]) -> list[Row]:
    """Pairs of sentences in one: what claims something beside what does not claims something."""
    some = Random(0)
    nothing = [
        row.text.rstrip(" .!") for row in fit if row.label == "nothing" and not row.text.endswith(("?", ":", ","))
    ]
    claims = [row.text for row in fit if row.label == "claim" and len(row.text.split()) > 2]

    def behind(text: str) -> str:
        return text if text.split()[0] in ("I", "I'm", "I'd", "I'll") else text[:1].lower() + text[1:]

    found = []
    for _ in range(JOINED):
        text = f"{some.choice(nothing)}{some.choice(JOINS)}{behind(some.choice(claims))}"
        found.append(Row(text, "claim", "joined"))
        text = f"{some.choice(nothing)}{some.choice(JOINS[:5])}{behind(some.choice(nothing))}."
        found.append(Row(text, "nothing", "joined"))
    return found


def behind_questions(fit: Sequence[Row]) -> list[Row]:
    """Turns behind other questions of the assistant than their own."""
    some = Random(0)
    asked = [r.text for r in sentences() if not r.held and r.label == "nothing" and r.text.endswith("?")]
    offers = [text for text in asked if text.startswith(("Shall I", "Should I", "Do you want me", "Would you like me"))]
    found = []
    for row in fit:
        if row.label == "accepts":
            found += [replace(row, before=text) for text in some.sample(offers, 3)]
        elif not row.before and row.label in ("asks", "again", "nothing") and some.random() < 0.3:
            found.append(replace(row, before=some.choice(asked)))
    return found


Places = Callable[[Row], Sequence[int]]


class Fitted:
    """One part of a head. ``vectors``: of each text, where the part has them."""

    def __init__(self, rows: Sequence[Row], ridge: float, of: Places, vectors: dict[str, Array] | None = None):
        self.vectors, self.of = vectors, of
        weights = [WEIGHTS.get(r.label, 1.0) * (OF_OTHERS if r.kind == "others" else 1.0) for r in rows]
        found = LogisticRegression(C=ridge, max_iter=2000).fit(self.matrix(rows), [r.label for r in rows], weights)
        self.kinds, coef, bias = [str(kind) for kind in found.classes_], found.coef_, found.intercept_
        if len(coef) == 1:  # of two kinds there are the numbers of the second alone
            coef, bias = np.vstack([0 * coef, coef]), np.array([0.0, *bias])
        self.coef, self.bias = coef, bias

    def matrix(self, rows: Sequence[Row]) -> Any:
        some = [self.of(row) for row in rows]
        ends = np.cumsum([0, *map(len, some)])
        values = np.concatenate([np.full(len(each), max(1, len(each)) ** -0.5) for each in some])
        grams = csr_matrix((values, np.concatenate([np.array(each, int) for each in some]), ends), (len(rows), PLACES))
        if self.vectors is None:
            return grams
        return hstack([grams, csr_matrix(SHARE * np.array([self.vectors[row.text] for row in rows]))]).tocsr()

    def json(self, thresholds: dict[str, float]) -> dict[str, Any]:
        found: dict[str, Any] = {"bias": [round(float(b), 4) for b in self.bias], "thresholds": thresholds}
        for name, weights in (("by_place", self.coef[:, :PLACES]), ("by_vector", SHARE * self.coef[:, PLACES:])):
            step = float(np.abs(weights).max()) / 127 if weights.size else 1.0
            found[name] = base64.b64encode(np.round(weights / step).astype(np.int8).tobytes()).decode()
            found[f"{name}_step"] = round(step, 7)
        return found


def show(name: str, head: TextHead, fitted: Fitted, rows: Sequence[Row], wrong: bool) -> dict[str, list[float]]:
    """Print, of each kind of the rows, the share that is called what it is, and how many there are; give it back."""
    vectors = fitted.vectors
    said = []
    for row in rows:
        vector = None if vectors is None else vectors[row.text].astype(np.float32)
        p = head.probabilities(fitted.of(row), vector)
        said.append((head.kind(fitted.of(row), vector), p))
    table: dict[str, list[float]] = {}
    for names in ([f"{row.label}: {row.kind}" for row in rows], [row.label for row in rows]):
        for key in sorted(set(names)):
            some = [kind == row.label for (kind, _), row, own in zip(said, rows, names, strict=True) if own == key]
            table[key] = [round(sum(some) / len(some), 3), len(some)]
            print(f"| {name} | {key} | {table[key][0]:.3f} | {len(some)} |")
    if "nothing" in head.kinds and "claim" in head.kinds:
        for at in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
            high = [p["nothing"] >= at for _, p in said]
            talk, own, far = (
                [h for h, row in zip(high, rows, strict=True) if test(row)]
                for test in (
                    lambda row: row.label == "nothing",
                    lambda row: row.label == "claim" and row.kind != "others",
                    lambda row: row.kind == "others",
                )
            )
            print(f"  {at}: {np.mean(talk):.3f} called so; kept {1 - np.mean(own):.3f}, {1 - np.mean(far):.4f}")
    for (kind, p), row in zip(said, rows, strict=True):
        if wrong and kind != row.label:
            print(f"   {row.label} -> {kind} {p[kind]:.2f} ({p[row.label]:.2f}): {row.text} | {row.before}{row.calls}")
    return table


def halves(rows: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """The rows that are fitted, and those that are held out."""
    return [row for row in rows if not row.held], [row for row in rows if row.held]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("intrinsics_core/data/heads"))
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--wrong", action="store_true", help="print what is called something else than it is")
    parser.add_argument("--only", nargs="*", default=["calls", "claims", "turn"], help="heads")
    args = parser.parse_args()

    def write(name: str, parts: dict[str, Fitted], rows: Sequence[Row], sets: list[dict[str, Any]]) -> None:
        about: dict[str, Any] = {"name": name, "version": 1, "kinds": next(iter(parts.values())).kinds}
        about["trained_on"] = [
            {"set": "small_talk", "licence": "Apache-2.0 (written for this project: training/small_talk)"},
            {"set": "written", "licence": "Apache-2.0 (written for this project: training/reader/written)"},
            *sets,
        ]
        about["method"] = (
            "logistic regression; of each kind of the held rows the share that is called so, and their number"
        )
        about["validation"] = {}
        for part, fitted in parts.items():
            about[part] = fitted.json(THRESHOLDS[f"{name}, {part}"])
            head = TextHead.from_json(fitted.kinds, about[part])
            about["validation"][part] = show(f"{name}, {part}", head, fitted, rows, args.wrong)
        (args.out / f"{name}.json").write_text(json.dumps(about, ensure_ascii=False) + "\n", "utf-8")

    def of_text(row: Row) -> Sequence[int]:
        return places(row.text, row.before)

    if "turn" in args.only:
        fit, held = halves(turns())
        asked = [Row(text, "asks", "others") for text in of_texts("fit", True, QUESTIONS_OF_TEXTS)]
        far = [Row(text, "asks", "others") for text in of_texts("held", True, QUESTIONS_OF_TEXTS)]
        rows = [*fit, *behind_questions(fit), *asked]
        write("turn", {"words": Fitted(rows, RIDGE["turn"], of_text)}, [*held, *far], [])
    if "calls" in args.only:
        fit, held = halves(calls())

        def of_call(row: Row) -> Sequence[int]:
            return places_of_call(row.text, row.calls[0]["name"], str(row.calls[0].get("arguments", "")))

        write("calls", {"words": Fitted(fit, RIDGE["calls"], of_call)}, held, [])
    if "claims" in args.only:
        fit, held = halves(sentences())
        plain = [Row(text, "claim", "others") for text in of_texts("fit", False, CLAIMS_OF_TEXTS)]
        far = [Row(text, "claim", "others") for text in of_texts("held", False, CLAIMS_OF_TEXTS)]
        pairs, sets = joined(fit), []
        first = Fitted([*fit, *pairs, *plain], RIDGE["claims"], of_text)
        sure = TextHead.from_json(first.kinds, first.json(THRESHOLDS["claims, words"]))
        for name in REAL:  # those that a first head takes for no claims are left out
            some = [Row(text, "claim", "others") for text in real(args.data, name)]
            kept = [row for row in some if sure.kind(of_text(row)) == "claim"]
            print(f"{name}: {len(kept)} of {len(some)} kept")
            plain += kept
            sets.append({"set": name, "licence": LICENCES[name], "rows": len(kept)})
        rows = [*fit, *pairs, *plain]
        every, encoder = sorted({row.text for row in (*rows, *held, *far)}), BiEncoder()
        vectors = {text: each[0].astype(float) for text, each in zip(every, encoder.encode(every), strict=True)}
        parts = {
            "words": Fitted(rows, RIDGE["claims"], of_text),
            "vector": Fitted(rows, RIDGE["claims"], of_text, vectors),
        }
        write("claims", parts, [*held, *far], [*sets, {"encoder": encoder.name}])


if __name__ == "__main__":
    main()
