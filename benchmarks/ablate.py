"""What each named decision of the embedded default is worth: it is switched off, and what changes is printed.

    python -m benchmarks.ablate [NAME ...] [--no-cases] [--verbose]

One decision at a time, then all of them together. A decision is a function of the default and what stands in its place
where it is off: `DECISIONS` names them. A function that is not there any more is an error that names it. Vectors
and logits are remembered (`.floor/models.sqlite`), so a decision costs what its rules cost and what is read anew.

Changed labels are counted over the answers and the gate's questions of the everyday sets. `below` names what falls: an
AUROC or a share of small talk by more than a standard error of the paired difference, the rate of a kind of case by
more than .05.
"""

from __future__ import annotations

import argparse
import pkgutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np

import intrinsics_core
from benchmarks.floor import Drawn, Table, draws, everyday, of_cases, small_talk
from benchmarks.outcomes import MEMORY, Job, Outcome, folder, key_of, remembering, run_jobs

COUNTED = ("AUROC", "claims judged", "others NA", "rate")
EVERYDAY = ("plain", "hard", "hard_dev", "long", "comparisons")
Function = Callable[..., Any]


def same(text: Any, *_: Any, **__: Any) -> Any:
    """The first argument, as it is."""
    return text


def nothing(*_: Any, **__: Any) -> Any:
    return None


def no(*_: Any, **__: Any) -> bool:
    return False


def empty(*_: Any, **__: Any) -> tuple[()]:
    return ()


def each(texts: Any, *_: Any, **__: Any) -> list[Any]:
    """The first argument's items, as they are."""
    return list(texts)


EMBEDDED, TEXT = "intrinsics_core.embedded", "intrinsics_core.text"
DECISIONS: dict[str, dict[str, Function]] = {
    # Of a claim about one titled document the others are no evidence.
    "subjects": {f"{EMBEDDED}.about:subjects": lambda claims, *_: [frozenset()] * len(claims)},
    # A comparison is judged clause by clause.
    "clauses": {f"{EMBEDDED}.clauses:clauses": lambda sentence, *_: [sentence]},
    # Numbers, amounts, times and dates are compared as values.
    "quantities": {f"{EMBEDDED}.values:quantities": empty},
    # A number of another subject keeps a claim below faithful.
    "numbers of another": {f"{EMBEDDED}.evidence:_foreign": lambda *_: ()},
    # A short answer is read behind its question; a bare yes or no is weighed against its opposite.
    "short answers": {
        f"{EMBEDDED}.short_answers:in_context": same,
        f"{EMBEDDED}.short_answers:stated_each": each,
        f"{EMBEDDED}.short_answers:contrary": nothing,
        f"{EMBEDDED}.short_answers:leads": nothing,
    },
    # A yes that nobody asked for is left out; "Of course." is a yes.
    "polite yes": {f"{EMBEDDED}.short_answers:plainly": each},
    # What claims nothing; what was done, who answers and what the user told; what a turn asks: each told by a head.
    "claims head": {f"{EMBEDDED}.claims:claims_nothing": no},
    "spoken": {f"{EMBEDDED}.claims:Spoken.tells": no},
    "turn head": {f"{EMBEDDED}.turns:_kind": lambda *_: "asks"},
    "names of the user": {f"{EMBEDDED}.claims:unaddressed": same},
    "several messages": {f"{EMBEDDED}.turns:as_one_turn": lambda turns: tuple(turns)},
    # A fragment takes the place of a part of the question before it; what another name took the place of is past.
    "fragments": {f"{EMBEDDED}.rewrite.readings:framed": lambda *_: ""},
    "replaced": {f"{EMBEDDED}.rewrite.readings:replaced": lambda *_: frozenset()},
    # An answer as it is read: without marks, items behind what they stand under. Its parts below.
    "view of answers": {f"{EMBEDDED}.view:read_answer": each},
    "loops": {f"{EMBEDDED}.view:without_loops": same},
    "citation marks": {f"{TEXT}.citation_marks:unmarked": each},
    "only names": {f"{EMBEDDED}.view:only_names": no},
    # A document as it is read: without tags, rows with their columns, items behind what introduces them.
    "cleaning": {f"{TEXT}.cleaning:cleaned": each, f"{TEXT}.cleaning:as_meant": same},
    "tables": {f"{TEXT}.tables:in_words": each},
    "boxes": {f"{TEXT}.reading:_without_boxes": each},
    "what stands above": {f"{TEXT}.reading:_places": lambda sentences, *_: [("", 0, False)] * len(sentences)},
    "questions in documents": {f"{TEXT}.reading:asked": lambda *_: ""},
}


def modules() -> list[Any]:
    """All modules of the core that the default goes through, imported."""
    for room in (EMBEDDED, TEXT):
        for found in pkgutil.walk_packages(import_module(room).__path__, f"{room}."):
            import_module(found.name)
    return [module for name, module in sys.modules.items() if name.startswith("intrinsics_core")]


@contextmanager
def without(decisions: Mapping[str, Function]) -> Iterator[None]:
    """Functions replaced wherever a module holds them by name; what the core remembers of them is forgotten."""
    put_back: list[tuple[Any, str, Function]] = []
    try:
        for place, instead in decisions.items():
            module, _, name = place.partition(":")
            try:
                owner: Any = import_module(module)
                *classes, last = name.split(".")
                for each in classes:
                    owner = getattr(owner, each)
                old = getattr(owner, last)
            except (ImportError, AttributeError):
                raise SystemExit(f"there is no {place} any more: mend DECISIONS in benchmarks/ablate.py") from None
            for holder in [owner] if classes else modules():
                for key in [key for key, value in vars(holder).items() if value is old]:
                    put_back.append((holder, key, old))
                    setattr(holder, key, instead)
        forget()
        yield
    finally:
        for holder, key, old in put_back:
            setattr(holder, key, old)
        forget()


def forget() -> None:
    for module in modules():
        for value in list(vars(module).values()):
            if hasattr(value, "cache_clear") and getattr(value, "__module__", "").startswith("intrinsics_core"):
                value.cache_clear()


def told(jobs: Sequence[Job], runtime: Any) -> list[Outcome]:
    distinct = {key_of(one): one for one in jobs}
    found = dict(zip(distinct, run_jobs(intrinsics_core, list(distinct.values()), runtime), strict=True))
    return [found[key_of(one)] for one in jobs]


def changed(tables: Sequence[Table], before: Sequence[Outcome], after: Sequence[Outcome], end: str) -> str:
    """How many labels of the everyday sets changed, of how many."""
    pairs: dict[str, tuple[str, str]] = {}
    at = 0
    for table in tables:
        for one, b, a in zip(table.jobs, before[at:], after[at:], strict=False):
            if one["intrinsic"] == end and not table.name.startswith(("cases", "small", "whole")):
                pairs[key_of(one)] = (b["label"], a["label"])
        at += len(table.jobs)
    return f"{sum(b != a for b, a in pairs.values())} of {len(pairs)}"


def compared(table: Table, before: list[Outcome], after: list[Outcome]) -> Iterator[tuple[str, str, bool]]:
    """The numbers of a table that move without a decision: name, both values, and whether that is worse."""
    b, a = table.items(before), table.items(after)
    for measure, of in table.measures.items():
        old, new = Drawn(b, of), Drawn(a, of)
        if measure not in COUNTED or new.value == old.value:
            continue
        name = table.name if measure in ("AUROC", "rate") else f"{table.name}, {measure}"
        told = f"{old.value:.3f} → {new.value:.3f}"
        if measure == "rate":
            yield name, told, new.value < old.value - 0.05
            continue
        drawn = draws(tuple(item.group for item in b))
        error = float(np.nanstd([new.of(rows) - old.of(rows) for rows in drawn]))
        yield name, f"{told} ±{error:.3f}", new.value < old.value - error


def show(name: str, tables: Sequence[Table], before: list[Outcome], after: list[Outcome], verbose: bool) -> None:
    found, at = [], 0
    for table in tables:
        part = slice(at, at := at + len(table.jobs))
        found += compared(table, before[part], after[part])
    labels = (changed(tables, before, after, end) for end in ("hallucination-detection", "answerability"))
    told = "; ".join(f"{key} {numbers}" for key, numbers, worse in found if worse or verbose)
    print(f"| {name} | {' | '.join(labels)} | {told or 'nothing'} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"decisions: {', '.join(DECISIONS)}; none: each, and all"
    )
    parser.add_argument("--no-cases", dest="cases", action="store_false", help="the everyday sets and small talk alone")
    parser.add_argument("--verbose", action="store_true", help="all numbers that move, not only those that fall")
    args = parser.parse_args()
    if unknown := set(args.names) - DECISIONS.keys():
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known are {', '.join(DECISIONS)}")
    tables = [table for name in EVERYDAY for table in everyday(name)] + small_talk(None)
    tables += of_cases(None) if args.cases else []
    jobs = [one for table in tables for one in table.jobs]
    names = args.names or list(DECISIONS)
    runtime = remembering(folder() / MEMORY, reader=True)
    before = told(jobs, runtime)
    print(f"| switched off | answers' labels | gate's labels | {'what moves' if args.verbose else 'below'} |")
    print("|---|---|---|---|")
    for some in [[name] for name in names] + ([names] if len(names) > 1 else []):
        off = {place: instead for name in some for place, instead in DECISIONS[name].items()}
        with without(off):
            after = told(jobs, runtime)
        show(" + ".join(some) if len(some) < 4 else "all of these", tables, before, after, args.verbose)


if __name__ == "__main__":
    main()
