"""Whether a small adapter beats the prompt, on a base model that is here: rows, training, serving and the table.

    RAG_INTRINSICS_MODELS=FOLDER RAG_INTRINSICS_DATA=FOLDER python -m benchmarks.adapters_table --base smollm
        [--rows 400] [--test 100] [--intrinsics answerability context-relevance] [--kinds lora alora] [--work FOLDER]
        [--set customers]

Rows are those of `intrinsics train --rows`. Whole groups of them (articles, conversations) are held out before anything
is trained: a fifth of all rows. With `--set`, the gate and relevance are trained on the questions of our written texts
(the part that the reader is trained on), detection and uncertainty on their answers, and all are measured on a set of
`benchmarks.quality_everyday`, which nothing is trained on. Rows above `--characters` are left out of both parts, so
that a CPU comes to an end.
The base model is asked by the profile `prompted`; each adapter by the file that was written beside it; the embedded
default and word coverage judge the same cases. All intervals are 95%, of a bootstrap over cases. What lies in `--work`
is not made again: a run that was ended goes on. Needs the extras `[train,transformers]`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.fetch_models import FOLDER, MODELS, folder
from benchmarks.quality_everyday import read
from benchmarks.real_models import GATE, SUPPORT, Item, fastest_type, plainest
from benchmarks.real_models import Table as Asked
from intrinsics_core import as_runtime
from intrinsics_core.bench import table as table_of
from intrinsics_core.bench.base import Case, Observed, Table
from intrinsics_core.bench.intervals import difference, interval, pooled
from intrinsics_core.bench.reporting import Number, shown
from intrinsics_core.bench.running import run_cases, seen
from intrinsics_core.calibration.truths import truth
from intrinsics_core.protocol.results import (
    Answerability,
    ContextRelevance,
    HallucinationDetection,
    Judgement,
    Uncertainty,
)
from intrinsics_core.protocol.task import check
from intrinsics_core.replies import sentence_ids
from intrinsics_core.replies.readers import ANSWERABLE
from intrinsics_core.training import train
from intrinsics_core.training.rows_from import build
from intrinsics_core.training.split import split
from training.reader.written import texts

SEED = 7
HELD = 0.2
_JUDGED = ("weighted F1", "AUROC")
SHOWN = {
    "answerability": ("question", _JUDGED),
    "context-relevance": ("passage", _JUDGED),
    "hallucination-detection": ("response", ("F1", "AUROC")),
    "uncertainty": ("answer", ("ECE", "AUROC")),
}
"""By intrinsic, the level of its table and the measures that are printed."""
OF_QUESTIONS = ("answerability", "context-relevance")
"""What is asked of a question; all others of an answer."""


@dataclass(frozen=True)
class Grouped:
    """A row, and the group that is held out as one."""

    row: Mapping[str, Any]
    group: str


def rows_of(intrinsic: str, data: Path, count: int, test: int, characters: int) -> tuple[list[Any], list[Any]]:
    """(rows to train on, rows to measure on), half of each class: no group has rows in both."""
    found, _ = build(intrinsic, data)
    grouped = [Grouped(row, str(row.get("group", row["id"]))) for row in found for row in judgements(intrinsic, row)]
    learned, held = split(grouped, HELD, SEED)  # type: ignore[arg-type]  # rows have groups as examples do
    return (
        balanced(intrinsic, [one.row for one in learned], count, characters),
        balanced(intrinsic, [one.row for one in held], test, characters),
    )


def balanced(intrinsic: str, rows: Sequence[Mapping[str, Any]], most: int, characters: int) -> list[Mapping[str, Any]]:
    """So many of the short rows, half of each class as far as there are as many."""
    short = [row for row in rows if len(json.dumps([row["messages"], row["documents"]])) <= characters]
    random.Random(SEED).shuffle(short)
    chosen = []
    for true in (True, False):  # short rows are mostly of one class
        chosen += [row for row in short if truth(row["result"], intrinsic) == true][: most // 2]
    random.Random(SEED).shuffle(chosen)
    return chosen


def everyday_rows(
    intrinsic: str, name: str, data: Path, count: int, test: int, characters: int
) -> tuple[list[Any], list[Any]]:
    """(questions or answers of written texts to train on, those of an everyday set to measure on)."""
    answers, asked = read(name, data)
    if intrinsic in OF_QUESTIONS:
        learned = question_rows(intrinsic, [
            (text.key, question, answerable)
            for text in texts("train")
            for answerable, some in ((True, [one[0] for one in text.asked]), (False, text.unanswered))
            for question in some
        ])  # fmt: skip
        held = question_rows(intrinsic, [(one.document, one.question, one.answerable) for one in asked])
    else:
        learned = [
            answer_row(intrinsic, text.key, question, answer, supported)
            for text in texts("train")
            for question, right, wrong in text.asked
            for answer, supported in ((right, True), (wrong, False))
        ]
        held = [answer_row(intrinsic, one.documents[0]["text"], one.question, one.answer, one.supported)
                for one in answers]  # fmt: skip
    return balanced(intrinsic, learned, count, characters), balanced(intrinsic, held, test, characters)


def question_rows(intrinsic: str, asked: Sequence[tuple[str, str, bool]]) -> list[dict[str, Any]]:
    """Rows of questions to documents; the group is the document.

    Relevance is asked of every second unanswered question with the document before, which is of something else.
    """
    rows, before, last = [], asked[-1][0], ""
    for i, (document, question, holds) in enumerate(asked):
        if document != last:
            before, last = last or before, document
        shown = before if intrinsic == "context-relevance" and not holds and i % 2 else document
        rows.append(everyday_row(shown, [question], dumped(verdict_of(intrinsic, float(holds)))))
    return rows


def answer_row(intrinsic: str, document: str, question: str, answer: str, supported: bool) -> dict[str, Any]:
    """A row of an answer; for detection each sentence has the label of the whole."""
    row = everyday_row(document, [question, answer], {})
    if intrinsic == "uncertainty":
        return row | {"result": {"certainty": 0.95 if supported else 0.05}}
    task = check(intrinsic, row["messages"], [document], ends_with=["assistant"], date="")
    label = "faithful" if supported else "unfaithful"
    said = [(i, (label, float(supported), None)) for i in range(len(task.response_sentences))]
    return row | {"result": dumped(sentence_ids.hallucination(task, said))}  # type: ignore[arg-type]


def dumped(result: Any) -> dict[str, Any]:
    return dict(result.model_dump(mode="json"))


def verdict_of(intrinsic: str, share: float) -> Any:
    """The result of an intrinsic that has this probability of its good label."""
    good = share >= 0.5
    if intrinsic == "answerability":
        return Answerability(label=ANSWERABLE[not good], probability=share)
    if intrinsic == "context-relevance":
        label: Any = "relevant" if good else "irrelevant"
        return ContextRelevance(judgements=(Judgement(index=0, document_id="0", label=label, score=share),))
    if intrinsic == "uncertainty":
        return Uncertainty(certainty=share, expected=share)
    return HallucinationDetection(label="faithful" if good else "unfaithful", score=share, sentences=())


def everyday_row(document: str, turns: Sequence[str], result: Mapping[str, Any]) -> dict[str, Any]:
    messages = [{"role": role, "content": turn} for role, turn in zip(("user", "assistant"), turns, strict=False)]
    return {"id": "\n".join([document, *turns]), "messages": messages, "documents": [document], "result": result,
            "group": document}  # fmt: skip


def judgements(intrinsic: str, row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A row of several judged documents as a row for each."""
    if intrinsic != "context-relevance":
        return [dict(row)]
    judged = row["result"]["judgements"]
    return [
        {**row, "id": f"{row['id']}-{i}", "documents": [document],
         "result": {"judgements": [{**one, "index": 0, "document_id": "0"}]}}
        for i, (document, one) in enumerate(zip(row["documents"], judged, strict=True))
    ]  # fmt: skip


def trained(intrinsic: str, base: Path, rows: Sequence[Any], out: Path, alora: bool, options: Any) -> dict[str, Any]:
    """An adapter in ``out``, and what it cost: from the last checkpoint on, where there is one."""
    cost = out / "cost.json"
    if not cost.exists():
        steps = max((int(one.name.rpartition("-")[2]) for one in out.glob("checkpoints/checkpoint-*")), default=0)
        with tempfile.TemporaryDirectory() as place:
            data = Path(place) / "rows.jsonl"
            data.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
            wall, cpu = time.perf_counter(), time.process_time()
            done = train(intrinsic, base=str(base), data=data, out=out, alora=alora, epochs=options.epochs, held=0,
                         batch=options.batch, rank=options.rank, learning_rate=options.learning_rate,
                         dropout=options.dropout, grouped=True, resume=out.exists(),
                         invocation=options.invocation if alora else None)  # fmt: skip
        losses = [step["loss"] for step in done.log if "loss" in step]
        few = max(1, len(losses) // 5)
        read = max(1, done.counts["trained"] * options.epochs - steps * options.batch)
        cost.write_text(json.dumps({
            "rows": done.counts["trained"], "read": read,
            "seconds": time.perf_counter() - wall, "cpu": time.process_time() - cpu,
            "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
            "first": sum(losses[:few]) / few, "last": sum(losses[-few:]) / few,
        }))  # fmt: skip
    return dict(json.loads(cost.read_text()))


def told(cases: Sequence[Case], runtime: Any, kept: Path, profile: str | None = None) -> tuple[list[Any], float]:
    """What a runtime says of the cases (None: an error), and CPU seconds a case; kept in a file."""
    if not kept.exists():
        rows: dict[int, Any] = {}
        begun = time.process_time()
        run_cases(cases, runtime, lambda number, row, _: rows.update({number: row}), profile=profile)
        kept.write_text(json.dumps([(time.process_time() - begun) / len(cases), [rows[i] for i in range(len(cases))]]))
    seconds, found = json.loads(kept.read_text())
    return [one.observed for one in seen(found)], seconds


def plain_verdicts(
    intrinsic: str, rows: Sequence[Mapping[str, Any]], cases: Sequence[Case], runtime: Any, kept: Path
) -> list[Any]:
    """What the base model says to the plainest question, yes or no; kept in a file."""
    gate = intrinsic in OF_QUESTIONS
    if not kept.exists():
        turns = [[turn["content"] for turn in row["messages"]][-1 if gate else -2 :] for row in rows]
        items = [Item(i, (row["documents"][0],), *said) for i, (row, said) in enumerate(zip(rows, turns, strict=True))]
        asked = Asked(intrinsic, items, lambda item: cases[item.text].call(), plainest=GATE if gate else SUPPORT)
        kept.write_text(json.dumps(plainest(asked, runtime)))
    shares = json.loads(kept.read_text())
    return [
        None if share is None else case.observe(verdict_of(intrinsic, share))
        for share, case in zip(shares, cases, strict=True)
    ]


def line(
    name: str, table: Table, intrinsic: str, found: Sequence[Observed | None], base: Sequence[Any], cost: str
) -> str:
    """A line of the table: each measure with its interval, and the gain over the base's AUROC on the same cases."""
    level, measures = SHOWN[intrinsic]
    observed = [one if one is not None else Observed() for one in found]  # an error judges nothing
    cells = []
    for measure in measures:
        statistic = pooled(level, table.measures[level][measure])
        value = statistic(observed)
        cells.append("" if value is None else shown(Number(value, *(interval(observed, statistic) or (None, None)))))
    both = [i for i, one in enumerate(found) if one is not None and base[i] is not None]
    gain = difference(
        [observed[i] for i in both], [base[i] for i in both], pooled(level, table.measures[level]["AUROC"])
    )
    cells.append("" if found is base or gain is None else shown(Number(*gain), signed=True))
    return f"| {name} | {sum(one is None for one in found)} | {' | '.join(cells)} | {cost} |"


def show(intrinsic: str, base: Path, options: Any) -> None:
    work = options.work / f"{base.name}-{intrinsic}-{options.set or 'rows'}-{options.rows}"
    work.mkdir(parents=True, exist_ok=True)
    sizes = options.rows, options.test, options.characters
    if options.set:
        rows, test = everyday_rows(intrinsic, options.set, options.data, *sizes)
    else:
        rows, test = rows_of(intrinsic, options.data, *sizes)
    table = table_of(intrinsic)
    assert table.own is not None
    cases = [table.own(row) for row in test]
    level, measures = SHOWN[intrinsic]
    costs = {kind: trained(intrinsic, base, rows, work / kind, kind == "alora", options) for kind in options.kinds}
    model = {"kind": "transformers", "model": str(base), "context_length": 4096, "dtype": fastest_type()}
    prompted, seconds = told(cases, as_runtime(model), work / "prompted.json", "prompted")
    print(f"\n## {intrinsic}: {base.name}, {len(rows)} rows, {len(cases)} held-out cases\n")
    print(f"| judge | errors | {' | '.join(f'{name}, {level}' for name in measures)} | AUROC, less the base's "
          "| CPU seconds a case |\n|---|--:|---|---|---|--:|")  # fmt: skip

    def put(name: str, found: Sequence[Any], cost: float | None) -> None:
        print(line(name, table, intrinsic, found, prompted, "" if cost is None else f"{cost:.2f}"), flush=True)

    put("base, prompted", prompted, seconds)
    if options.set:
        found = plain_verdicts(intrinsic, test, cases, as_runtime(model), work / "plainest.json")
        put("base, yes or no", found, None)
    for kind in options.kinds:
        runtime = as_runtime({**model, "adapters": {intrinsic: str(work / kind)}})
        found, seconds = told(cases, runtime, work / f"{kind}.json", f"io.yaml:{work / kind}")
        put({"lora": "LoRA", "alora": "aLoRA"}[kind], found, seconds)
    put("embedded default", *told(cases, as_runtime({"kind": "embedded", "threads": 1}), work / "embedded.json"))
    put("word coverage", [case.baselines["word coverage"]() for case in cases], None)
    for kind, cost in costs.items():
        each = cost["cpu"] / cost.get("read", cost["rows"])
        print(f"\n{kind}: {cost['rows']} examples, {options.epochs} epochs, {each:.2f} CPU seconds a row, "
              f"{cost['seconds'] / 60:.0f} minutes, {cost['gigabytes']:.1f} GB, "
              f"loss {cost['first']:.3f} at first, {cost['last']:.3f} at last")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--base", default="smollm", help="a name of benchmarks.fetch_models, or a folder of safetensors"
    )
    parser.add_argument("--intrinsics", nargs="*", choices=SHOWN, help="default: two, or the gate with --set")
    parser.add_argument("--kinds", nargs="*", choices=("lora", "alora"), default=["lora", "alora"])
    parser.add_argument("--rows", type=int, default=400)
    parser.add_argument("--test", type=int, default=100)
    parser.add_argument("--set", choices=("plain", "hard", "customers"), help="what is measured on")
    parser.add_argument("--characters", type=int, default=900, help="of question and documents")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--dropout", type=float, default=0.05, help="0 saves a CPU a fifth to a third of the time")
    parser.add_argument("--invocation", help="text from which on an aLoRA is active; by default what opens the reply")
    parser.add_argument("--learning-rate", type=float, default=5e-4)
    parser.add_argument("--data", type=Path, default=os.environ.get("RAG_INTRINSICS_DATA"))
    parser.add_argument(
        "--work", type=Path, default=Path("build/adapters"), help="where adapters and verdicts are kept"
    )
    options = parser.parse_args()
    base = Path(options.base)
    if options.base in MODELS:
        models = folder()
        if models is None:
            parser.error(f"{FOLDER} names no folder: see benchmarks.fetch_models")
        base = MODELS[options.base].safetensors(models)
    if options.data is None:
        parser.error("RAG_INTRINSICS_DATA names no folder: see docs/data.md")
    chosen = options.intrinsics or (["answerability"] if options.set else ["answerability", "context-relevance"])
    if not options.set and "uncertainty" in chosen:
        parser.error("uncertainty has rows with --set alone")
    for intrinsic in chosen:
        show(intrinsic, base, options)


if __name__ == "__main__":
    main()
