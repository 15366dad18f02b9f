"""A data folder of our own text, a few rows a set, in the shapes of the public sets that the reader is trained on."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

PLACES = (
    ("Port Ellery", "harbour", "Ada Brink", "1911", "flour", "forty"),
    ("Marlow Quay", "lighthouse", "Tomas Reed", "1874", "timber", "sixty"),
    ("Saint Orsolo", "observatory", "Ingrid Vale", "1932", "copper", "twelve"),
    ("North Harrow", "library", "Peter Okafor", "1956", "wool", "ninety"),
    ("Kell Bridge", "aqueduct", "Lena Sorbo", "1848", "salt", "fifteen"),
    ("Dunmore Hill", "theatre", "Carl Hendry", "1925", "glass", "thirty"),
    ("Vessel Rock", "museum", "Rosa Tamm", "1969", "amber", "eleven"),
    ("Upper Brae", "brewery", "Iain Scobie", "1803", "barley", "twenty"),
    ("Linden Fields", "stadium", "Maud Perrin", "1988", "paper", "fifty"),
    ("Tarn Valley", "hospital", "Oskar Bly", "1917", "slate", "seven"),
    ("Cape Solent", "cannery", "Nora Quist", "1899", "herring", "eighty"),
    ("Wick Moor", "mine", "Hugh Palmer", "1861", "tin", "seventeen"),
)
"""Invented, so that nothing here is in a public set."""


def article(place: tuple[str, ...]) -> list[str]:
    """Six sentences about a place."""
    town, house, person, year, trade, count = place
    return [
        f"The {house} of {town} was built in {year} by the engineer {person} , who lived nearby .",
        f"It employed {count} people and produced {trade} for the whole province .",
        f"In {int(year) + 20} , the {house} was closed because the demand for {trade} had decreased .",
        f"{person} defeated Martin Gale in the election of 14 October {int(year) + 5} .",
        f"Visitors may enter the {house} on Monday , but they must not climb the old tower .",
        f"More than {int(year) // 10} documents about the {house} are kept in the archive of {town} .",
    ]


def plain(text: str) -> str:
    return text.replace(" ,", ",").replace(" .", ".")


def write(folder: Path) -> Path:
    """Write every file that `training.reader` reads. Returns the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    sets: dict[str, list[dict[str, Any]]] = {}

    def add(name: str, **row: Any) -> None:
        sets.setdefault(name, []).append(row)

    for i, place in enumerate(PLACES):
        town, house, person, _, trade, count = place
        text = [plain(s) for s in article(place)]
        body = " ".join(text)
        add("wikipedia_passages", id=f"{i}a", text=f"{town}\n" + " ".join(article(place)[:3]))
        add("wikipedia_passages", id=f"{i}b", text=f"{town}\n" + " ".join(article(place)[3:]))
        right, wrong = f"{person} built the {house}.", f"{person} closed the {house} at once."
        for name in ("snli_devtest", "cad_nli", "mnli_dev", "med", "help"):
            add(name, split="dev", premise=text[0], hypothesis=right, label="entailment", genre="")
            add(name, split="dev", premise=text[0], hypothesis=wrong, label="neutral", genre="")
        add("fever_dev_nli", premise=text[1], hypothesis=f"{count} people worked there.", label=1)
        add("fever_dev_nli", premise=text[1], hypothesis=f"{trade} was imported.", label=0)
        for claim, label in ((right, "Fully attributable"), (wrong, "Not fully attributable")):
            add("begin", split="wow_dev", premise=text[0], message="Tell me more.", hypothesis=claim, label=label)
        evidence = [f"[1] https://example.org/{i}\n\n{body}"]
        common = {"split": "dev", "question": f"Who built the {house} of {town}?", "system": "x", "n": 0}
        add("expertqa_claims", **common, claim=right, evidence=evidence, support="Complete")
        add("expertqa_claims", **common, claim=wrong, evidence=evidence, support="Incomplete")
        add("wice", split="dev", claim=right, evidence=text, supporting=[[0]], label="supported")
        add("wice", split="dev", claim=wrong, evidence=text, supporting=[], label="not_supported")
        add("fm2", split="dev", claim=right, gold=[text[0]], retrieved=text[1:], label="SUPPORTS")
        add("fm2", split="dev", claim=wrong, gold=[text[0]], retrieved=text[1:], label="REFUTES")
        asked = f"Who built the {house} of {town}?"
        add("halueval", set="qa", knowledge=body, question=asked, answer=person, hallucinated=0)
        add("halueval", set="qa", knowledge=body, question=asked, answer="Martin Gale built it.", hallucinated=1)
        add("summedits", domain="x", doc_id=f"d{i}", summary=f"{right} {text[1]}", label=1, edits=[], doc=body)
        add("summedits", domain="x", doc_id=f"d{i}", summary=f"{wrong} {text[1]}", label=0, edits=["x"])
        squad = {"title": town.replace(" ", "_"), "context": body}
        add("squad2_dev_b", id=f"{i}a", **squad, question=asked, answerable=True, answers=[person])
        add("squad2_dev_b", id=f"{i}b", **squad, question=f"Who sold the {house}?", answerable=False, answers=[])
        clap = {"split": "dev", "title": town, "sentences": article(place)}
        add("clapnq_dev", id=f"{i}a", **clap, question=asked, answerable=True, answer=right,
            selected_sentences=[article(place)[0]])  # fmt: skip
        add("clapnq_dev", id=f"{i}b", **clap, question="how deep is it", answerable=False, answer="",
            selected_sentences=[])  # fmt: skip
        add("policyqa", split="dev", context=body, question="When may visitors come?", answers=["on Monday"])
        add("pubmedqa", id=str(i), question=f"Did demand for {trade} fall?", contexts=[body, text[2]],
            answer=f"Demand for {trade} fell.", label="yes")  # fmt: skip
        talk = {"split": "train", "history": [town, f"Tell me about the {house} of {town}."]}
        add("qr_canard_dev", id=f"C{i}_1", **talk, question="Who built it?", rewrite=asked)
        turns = [{"role": "user", "content": f"Where is {town}?"}]
        add("qr_cast_ikat", id=f"cast:{i}_2", split="train", source="cast", history=turns,
            question="How old is it?", rewrite=f"How old is {town}?")  # fmt: skip
    for name, some in sets.items():
        with gzip.open(folder / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in some)
    return folder
