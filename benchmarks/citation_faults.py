"""Precision and recall of each verdict of `check_citations` on 200 answers with known faults.

    python -m benchmarks.citation_faults [--runtime JSON] [--write]

The answers are made by rule from the texts of `everyday/plain.jsonl`, and stand in `citation_faults.jsonl`. Each has
four documents, a right sentence with a right mark, and a sentence whose mark or quote has one fault or none. Marks have
ten forms. ``--write`` makes the file anew, ``--wrong`` prints the answers that went wrong.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from intrinsics_core import check_citations, run_many

HERE = Path(__file__).parent
FILE = HERE / "citation_faults.jsonl"
FORMS = ("[{n}]", "[{z}]", "[^{n}]", "【{n}†source】", "[{id}]", "({title})", "[{file}]", "[{n}]({url})",
         "<cite>{n}</cite>", "[doc {n}]")  # fmt: skip
FAULTS = ("none", "misattributed", "unsupported", "no_document", "quote", "altered quote", "misattributed quote",
          "made-up quote", "stitched quote", "wrong answer quoted")  # fmt: skip
VERDICTS = ("supported", "unsupported", "misattributed", "not_found", "no_document")
_EACH = 20


def made() -> Iterator[dict[str, Any]]:
    """The answers, each with the verdict that is right for each of its marks and quotes, in order."""
    texts = [json.loads(line) for line in (HERE / "everyday" / "plain.jsonl").read_text("utf-8").splitlines()]
    draw = random.Random(7)
    for i in range(_EACH * len(FAULTS)):
        fault, form = FAULTS[i % len(FAULTS)], FORMS[(i // len(FAULTS) + i) % len(FORMS)]
        fitting = [text for text in texts if _fits(text, fault != "unsupported")]
        own = 0 if form == "[{z}]" else draw.randrange(4)  # numbers from 0 are known by a 0
        about = draw.choice(fitting)
        chosen = draw.sample([text for text in texts if text is not about], 3)
        chosen.insert(own, about)
        other = draw.choice([at for at in range(4) if at != own])
        documents = [_document(text, at) for at, text in enumerate(chosen)]
        marked = Marked(form, documents)
        before, after = _answers(draw, about, fault != "unsupported")
        said, expected = _faulty(fault, draw, about, after, marked, own, other)
        answer = f"{_sentence(before, marked.of(own))} {said}"
        question = f"{before['q']} {after['q']}"
        yield {"fault": fault, "form": form, "question": question, "documents": documents, "answer": answer,
               "verdicts": ["supported", *expected]}  # fmt: skip


class Marked:
    """Writes marks of one form."""

    def __init__(self, form: str, documents: list[dict[str, Any]]) -> None:
        self.form, self.documents = form, documents

    def of(self, at: int) -> str:
        """The mark of the document at a position; one that is not there for a position behind the last."""
        known = at < len(self.documents)
        document = self.documents[at] if known else _document({"topic": f"{at} lost things"}, at)
        form = self.form if known or self.form != "({title})" else "[{file}]"
        return form.format(n=at + 1, z=at, id=document["id"], title=document["title"], **document["metadata"])


def _faulty(
    fault: str, draw: random.Random, text: Any, about: Any, marked: Marked, own: int, other: int
) -> tuple[str, list[str]]:
    """The second sentence, and the verdicts on its quote and its mark."""
    words = _words(draw, text["doc"])
    if fault == "none":
        return _sentence(about, marked.of(own)), ["supported"]
    if fault == "misattributed":
        return _sentence(about, marked.of(other)), ["misattributed"]
    if fault == "unsupported":
        return _sentence(about, marked.of(own)), ["unsupported"]
    if fault == "no_document":
        return _sentence(about, marked.of(5 + draw.randrange(3))), ["no_document"]
    if fault == "quote":
        return f"It says “{words}” {marked.of(own)}.", ["supported", "supported"]
    if fault == "altered quote":
        parts = words.split()
        kept = f"{' '.join(parts[:3])} … {' '.join(parts[-3:])}".replace("-", " ").upper().strip()
        return f'It says "{kept}," {marked.of(own)}.', ["supported", "supported"]
    if fault == "misattributed quote":
        return f"It says “{words}” {marked.of(other)}.", ["misattributed", "misattributed"]
    if fault == "made-up quote":
        return f"It says “{_other(draw, words)}” {marked.of(own)}.", ["not_found", "not_found"]
    if fault == "stitched quote":
        parts = [one for one in text["doc"].split() if one.isalpha()]
        return f"It says “{' '.join(parts[:4] + parts[-4:])}” {marked.of(own)}.", ["not_found", "not_found"]
    wrong = next(one for one in text["answers"] if not one["supported"])["a"].rstrip(".")
    return f"It says “{wrong}” {marked.of(own)}.", ["not_found", "not_found"]


def _document(text: dict[str, Any], at: int) -> dict[str, Any]:
    name = "-".join(re.findall(r"\w+", text["topic"].lower()))
    url = f"https://docs.example.com/{name}"
    return {"id": f"{name.split('-')[0]}-{100 + at}", "title": text["topic"].capitalize(), "text": text.get("doc", ""),
            "metadata": {"file": f"{name}.pdf", "file_name": f"{name}.pdf", "url": url}}  # fmt: skip


def _answers(draw: random.Random, text: dict[str, Any], supported: bool) -> list[dict[str, Any]]:
    """A right answer to one question on a text, and one, right or wrong, to another."""
    right = [one for one in text["answers"] if one["supported"] and _stands_alone(one["a"])]
    second = [one for one in text["answers"] if one["supported"] is supported and _stands_alone(one["a"])]
    first = draw.choice(right)
    return [first, draw.choice([one for one in second if one is not first])]


def _fits(text: dict[str, Any], supported: bool) -> bool:
    right = sum(one["supported"] and _stands_alone(one["a"]) for one in text["answers"])
    wrong = any(not one["supported"] and _stands_alone(one["a"]) for one in text["answers"])
    return right >= 2 if supported else right >= 1 and wrong


def _stands_alone(answer: str) -> bool:
    return len(answer.split()) >= 6 and not answer.lower().startswith(("yes", "no", "not", "because"))


def _sentence(answer: dict[str, Any], mark: str) -> str:
    """The answer with a mark before its stop."""
    return f"{answer['a'].rstrip('.')} {mark}."


def _words(draw: random.Random, text: str) -> str:
    """Nine words of one sentence of a text, or as many as it has."""
    sentences = [one for one in re.split(r"(?<=[.!?])\s+|\n+", text) if len(one.split()) >= 7 and '"' not in one]
    words = draw.choice(sentences).rstrip(".!?").split()
    begin = draw.randrange(max(1, len(words) - 8))
    return " ".join(words[begin : begin + 9]).strip("“”\"'‘’")


def _other(draw: random.Random, words: str) -> str:
    """The words with one of them exchanged."""
    parts = words.split()
    at = draw.choice([i for i, part in enumerate(parts) if len(part) > 3] or [0])
    return " ".join([*parts[:at], draw.choice(["copper", "never", "Tuesday", "borrowed", "eleven"]), *parts[at + 1 :]])


def rows() -> list[dict[str, Any]]:
    """The answers of the file."""
    return [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]


def table(runtime: Any = None) -> tuple[str, list[tuple[dict[str, Any], list[Any]]]]:
    """The table, and each answer with what was found of its citations."""
    asked = rows()
    calls = [
        check_citations(
            [{"role": "user", "content": row["question"]}, {"role": "assistant", "content": row["answer"]}],
            row["documents"],
        )
        for row in asked
    ]
    told = [list(result.citations) for result in run_many(calls, runtime)]
    counted: dict[str, list[int]] = {verdict: [0, 0, 0] for verdict in VERDICTS}  # expected, told, both
    missed = 0
    for row, found in zip(asked, told, strict=True):
        if len(found) != len(row["verdicts"]):
            missed += 1
            continue
        for one, expected in zip(found, row["verdicts"], strict=True):
            counted[expected][0] += 1
            if one.verdict:
                counted[one.verdict][1] += 1
            counted[expected][2] += one.verdict == expected
    lines = ["| verdict | citations | precision | recall |", "|---|---|---|---|"]
    for verdict, (expected, said, both) in counted.items():
        lines.append(f"| {verdict} | {expected} | {both / max(said, 1):.2f} | {both / max(expected, 1):.2f} |")
    lines.append(f"\nanswers whose marks and quotes were not all found, or too many: {missed} of {len(asked)}")
    return "\n".join(lines), list(zip(asked, told, strict=True))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runtime", type=json.loads)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--wrong", action="store_true", help="print the answers that went wrong")
    options = parser.parse_args()
    if options.write:
        FILE.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in made()), encoding="utf-8")
    printed, each = table(options.runtime)
    print(printed)
    for row, found in each if options.wrong else ():
        verdicts = [one.verdict for one in found]
        if verdicts != row["verdicts"]:
            print(row["fault"], row["form"], repr(row["answer"]), row["verdicts"], [(o.text, o.verdict) for o in found])
