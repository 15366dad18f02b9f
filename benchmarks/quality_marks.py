"""How many right answers are still called faithful with the marks that models write, and whether `revise` keeps them.

    python -m benchmarks.quality_marks [--every N]

The answers are the 100 right ones of `everyday/plain.jsonl`. No form of mark lowers their rate: a mark claims nothing.
``--every`` takes every Nth answer alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.quality_everyday import Answered, read
from intrinsics_core import hallucination_detection, revise, run_many
from intrinsics_core.embedded.runtime import EmbeddedRuntime

SHAPES = {
    "none": "{}",
    "[1]": "{said} [1]{stop}",
    "[1] behind the stop": "{} [1]",
    "[[1]]": "{said} [[1]]{stop}",
    "¹": "{said}¹{stop}",
    "¹ behind the stop": "{}¹",
    "<sup>1</sup>": "{said}<sup>1</sup>{stop}",
    "[^1]": "{said}[^1]{stop}",
    "[^1^]": "{said} [^1^]{stop}",
    "[1](url)": "{said} [1](https://docs.example.com/a/page-7){stop}",
    "([site](url))": "{said} ([docs.example.com](https://docs.example.com/a/page-7)){stop}",
    "[site](url)": "{said} [docs.example.com](https://docs.example.com/a/page-7){stop}",
    "[citation:1]": "{said} [citation:1]{stop}",
    "[cite: 1]": "{said} [cite: 1]{stop}",
    "[ID:0]": "{said} [ID:0]{stop}",
    "[doc1]": "{said} [doc1]{stop}",
    "[Document 1]": "{said} [Document 1]{stop}",
    "(Passage 1)": "{said} (Passage 1){stop}",
    "(Source: file)": "{said} (Source: guide.pdf, p. 2){stop}",
    "[source: file]": "{said} [source: guide.pdf]{stop}",
    "[file]": "{said} [guide.pdf]{stop}",
    "[id]": "{said} [guide-7]{stop}",
    "(id)": "{said} (guide-7){stop}",
    "[title]": "{said} [Visitor guide]{stop}",
    "(file's path)": "{said} (/srv/docs/guide_7.html){stop}",
    "(address)": "{said} (https://docs.example.com/a/page-7){stop}",
    "【1†source】": "{said}【1†source】{stop}",
    "【4:0†file】": "{}【4:0†guide.pdf】",
    "private characters": "{} \ue200cite\ue202turn0search1\ue201",
    "<cite>1</cite>": "{said} <cite>1</cite>{stop}",
    '<cite index="0">': '<cite index="0-1">{}</cite>',
    "<co: 0>": "<co: 0>{said}</co: 0>{stop}",
    "**bold**": "**{}**",
    "*emphasis*": "*{}*",
    "__bold__": "__{}__",
    "> quoted": "> {}",
    "</think>": "The user asks about it. I look at the guide.\n</think>\n\n{}",
    "<|im_end|>": "{}<|im_end|>",
    "</s>": "{}</s>",
    "<|eot_id|>": "{} <|eot_id|>",
    "<end_of_turn>": "{}<end_of_turn>\n",
    "Sources:": "{}\n\nSources:\n- guide.pdf",
    "[1] file": "{} [1]\n\n[1] guide.pdf",
    "[^1]: file": "{}[^1]\n\n[^1]: guide.pdf, p. 2",
}
"""By name, an answer with a mark: ``{}`` is the answer, ``{said}`` that without its stop, ``{stop}`` the stop."""
DOCUMENT = {
    "id": "guide-7",
    "title": "Visitor guide",
    "metadata": {"file_path": "/srv/docs/guide_7.html", "url": "https://docs.example.com/a/page-7"},
}


def marked(shape: str, answer: str) -> str:
    stop = answer[-1] if answer[-1:] in ".!?" else ""
    return shape.replace("{said}", answer.removesuffix(stop)).replace("{stop}", stop).replace("{}", answer)


def asked(row: Answered, shape: str) -> tuple[list[dict[str, str]], list[dict[str, Any]]]:
    """A conversation that ends with the marked answer, and its document."""
    turns = [{"role": "user", "content": row.question}, {"role": "assistant", "content": marked(shape, row.answer)}]
    return turns, [{**DOCUMENT, **row.documents[0]}]


def right(every: int = 1) -> list[Answered]:
    return [row for row in read("plain", None)[0] if row.supported][::every]


def rates(
    answers: Sequence[Answered], runtime: EmbeddedRuntime, names: Sequence[str]
) -> Iterator[tuple[str, int, int]]:
    """Of each form how many answers are called faithful, and how many `revise` leaves as they are."""
    for name in names:
        calls = [asked(row, SHAPES[name]) for row in answers]
        found = list(run_many([hallucination_detection(*call) for call in calls], runtime))
        revised = run_many(
            [revise(*call, verdicts=verdicts) for call, verdicts in zip(calls, found, strict=True)], runtime
        )
        kept = sum(one.answer == call[0][-1]["content"] for one, call in zip(revised, calls, strict=True))
        yield name, sum(one.label == "faithful" for one in found), kept


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--every", type=int, default=1)
    answers = right(parser.parse_args().every)
    print(f"| mark: {len(answers)} right answers | faithful | kept by revise |\n|---|---|---|")
    for name, faithful, kept in rates(answers, EmbeddedRuntime(), list(SHAPES)):
        print(f"| {name.replace('|', chr(92) + '|')} | {faithful} | {kept} |", flush=True)


if __name__ == "__main__":
    main()
