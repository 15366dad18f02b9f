"""How good the embedded query rewrite is: for retrieval, and beside rewrites by people.

    python -m benchmarks.quality_rewrite --data "$RAG_INTRINSICS_DATA" [--leave-out] [--reader READER]

Retrieval: BM25 (the ``bm25s`` library, Lucene's formula, k1 1.5, b .75) over the passages of each MT-RAG domain, and
over the evidence passages of INSCIT hidden among MT-RAG's Wikipedia passages; queries are the last turn, the rewrite,
its retrieval forms, and recorded language-model rewrites; with a reader also what it picks. Text: token F1, ROUGE-L and
BLEU-4 against the reference rewrites of CANARD, CAsT, iKAT and Alexa CQR, with the last turn itself ("copy") as the
floor.

The shipped heads are fitted on these sets (INSCIT excepted); ``--leave-out`` refits them without the set measured. The
reader was trained on parts of CANARD, CAsT and iKAT, and so was the head that picks, which is not refitted; neither saw
MT-RAG, INSCIT or Alexa CQR.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import bm25s
import numpy as np

from intrinsics_core.bench.folder import rows
from intrinsics_core.embedded.heads import LinearHead
from intrinsics_core.embedded.models.cross_encoder import CrossEncoder
from intrinsics_core.embedded.rewrite import keywords, readings, salience, standing_alone
from intrinsics_core.embedded.rewrite.keywords import expand
from intrinsics_core.embedded.turns import Turn
from intrinsics_core.embedded.words import terms, tokens
from training.rewrite import Example, fit, load, question_rows, term_rows

CUTS = (5, 10, 20)
Query = str | Sequence[tuple[str, float]]


class Corpus:
    """A ``bm25s`` index over one domain, either over our stems or over ``bm25s``'s own unstemmed tokens."""

    def __init__(self, passages: dict[str, str], tokenizer: str) -> None:
        self.ids = list(passages)
        self.passages = passages
        self.split: Callable[[str], list[str]] = terms if tokenizer == "stems" else plain_tokens
        self.index = bm25s.BM25()
        self.index.index([self.split(text) for text in passages.values()], show_progress=False)
        self.known = set(self.index.vocab_dict)

    def search(self, query: Query) -> list[str]:
        weights = Counter(self.split(query)) if isinstance(query, str) else dict(query)
        scores = np.zeros(len(self.ids))
        for term, weight in weights.items():
            if term in self.known:
                scores += weight * self.index.get_scores([term])
        best = np.argsort(-scores, kind="stable")[: max(CUTS)]
        return [self.ids[i] for i in best if scores[i] > 0]


def plain_tokens(text: str) -> list[str]:
    split = bm25s.tokenize([text], stopwords="en", return_ids=False, show_progress=False)
    return list(split[0])


def recall(found: list[str], wanted: Iterable[str], cut: int) -> float:
    gold = set(wanted)
    return len(gold & set(found[:cut])) / len(gold)


def fused(corpus: Corpus, conversation: Sequence[Turn]) -> list[str]:
    """Results of every expansion of a question, by reciprocal rank fusion (k = 60); feedback from the rewrite's."""
    made = keywords.rewrite(conversation, standing_alone.choice(conversation).by_rules)
    first = corpus.search(made.query)
    score: Counter[str] = Counter()
    for text, _ in expand(made, conversation, [corpus.passages[name] for name in first]):
        for rank, name in enumerate(corpus.search(text), 1):
            score[name] += 1.0 / (60 + rank)  # type: ignore[assignment]
    return [name for name, _ in score.most_common(max(CUTS))]


class Dialog:
    """A conversation with the passages that answer its last turn, and recorded rewrites by language models."""

    def __init__(self, conversation: list[Turn], gold: set[str], recorded: dict[str, str]) -> None:
        self.conversation = conversation
        self.gold = gold
        self.recorded = recorded


def mtrag(folder: Path) -> tuple[dict[str, list[Dialog]], dict[str, dict[str, str]]]:
    tasks = {row["id"]: row for row in rows(folder, "mtrag_tasks")}
    dialogs: defaultdict[str, list[Dialog]] = defaultdict(list)
    for row in rows(folder, "mtrag_queries"):
        history = [(turn["role"], turn["content"]) for turn in tasks[row["id"]]["history"]]
        recorded = {key: row[key] for key in ("rewrite_mixtral", "rewrite_sonnet")}
        dialogs[row["domain"]].append(Dialog([*history, ("user", row["last_turn"])], set(row["qrels"]), recorded))
    passages: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for row in rows(folder, "mtrag_pool"):
        passages[row["domain"]][row["id"]] = row["text"]
    return dict(dialogs), dict(passages)


def inscit(folder: Path) -> tuple[list[Dialog], dict[str, str]]:
    passages: dict[str, str] = {}
    gold: defaultdict[str, set[str]] = defaultdict(set)
    messages: dict[str, list[Turn]] = {}
    for row in rows(folder, "inscit_dev"):
        turn = row["id"].rsplit("_", 1)[0]
        messages[turn] = [(m["role"], m["content"]) for m in row["messages"]]
        for item in row["evidence"]:
            passages[item["id"]] = item["text"]
            gold[turn].add(item["id"])
    return [Dialog(messages[turn], wanted, {}) for turn, wanted in gold.items()], passages


def use_heads(data: dict[str, list[Example]], held: str) -> None:
    """Put heads fitted without one set in place of the shipped ones."""

    def refit(name: str, labelled: dict[str, Any]) -> LinearHead:
        shipped = original_load(name)
        weights, bias = fit([rows for key, rows in labelled.items() if key != held])
        return LinearHead(shipped.features, tuple(map(float, weights)), bias, shipped.thresholds)

    answered = {key: data[key] for key in ("canard", "ikat", "mtrag")}
    asked = {key: data[key] for key in ("canard", "cast", "ikat", "mtrag")}
    heads = {
        "rewrite": refit("rewrite", {k: term_rows(v, lambda e: e.rewrites) for k, v in data.items()}),
        "rewrite_terms": refit(
            "rewrite_terms",
            {k: term_rows(v, lambda e: [e.answer] if e.answer else []) for k, v in answered.items()},
        ),
        "rewrite_dependence": refit("rewrite_dependence", {k: question_rows(v) for k, v in asked.items()}),
    }
    for module in (salience, keywords, readings, standing_alone):
        module.load_head = lambda name, *features: heads.get(name) or original_load(name, *features)  # type: ignore[attr-defined]


original_load = salience.load_head


@dataclass(frozen=True)
class Made:
    """The rewrites of one question: by rules, and as the reader picks (the same without one)."""

    by_rules: keywords.Rewrite
    read: keywords.Rewrite


def rewritten(conversation: Sequence[Turn], reader: CrossEncoder | None) -> Made:
    asked = standing_alone.choice(conversation)
    by_rules = keywords.rewrite(conversation, asked.by_rules)
    if reader is None or not asked.pairs:
        return Made(by_rules, by_rules)
    return Made(by_rules, keywords.rewrite(conversation, asked.meant(reader.logits("meant", asked.pairs))))


def is_changed(made: keywords.Rewrite) -> bool:
    return made.query != made.original


def retrieval_table(
    name: str, corpora: dict[str, Corpus], dialogs: dict[str, list[Dialog]], reader: CrossEncoder | None
) -> None:
    rewrites = {d: [rewritten(item.conversation, reader) for item in dialogs[d]] for d in dialogs}
    systems: dict[str, Callable[[Dialog, Made], Query]] = {
        "last turn": lambda item, _: item.conversation[-1][1],
        "rewrite: question (pronouns only)": lambda _, r: r.by_rules.question,
        "**rewrite: query**": lambda _, r: r.by_rules.query,
        "rewrite: retrieval_query": lambda _, r: r.by_rules.retrieval_query,
    }
    if reader:
        systems["read: question"] = lambda _, r: r.read.question
        systems["**read: query**"] = lambda _, r: r.read.query
        systems["read: retrieval_query"] = lambda _, r: r.read.retrieval_query
    if corpora[next(iter(corpora))].split is terms:
        systems["rewrite: weighted terms"] = lambda _, r: r.by_rules.terms
    for key in next(iter(dialogs.values()))[0].recorded:
        systems[f"language model: {key}"] = lambda item, _, key=key: item.recorded[key]  # type: ignore[misc]
    cells = [f"{d} R@{cut}" for d in (*dialogs, *(["mean"] if len(dialogs) > 1 else [])) for cut in CUTS]
    changed = fmean(is_changed(r.by_rules) for d in rewrites for r in rewrites[d])
    print(f"\n### {name}: {sum(map(len, dialogs.values()))} turns, {changed:.0%} rewritten by rules\n")
    print("| query | " + " | ".join(cells) + " |\n|---|" + "---:|" * len(cells))
    for system, ask in {**systems, "expansion: all queries, fused": None}.items():
        per_domain: list[list[float]] = []
        for domain, items in dialogs.items():
            corpus = corpora[domain]
            found = [
                corpus.search(ask(i, r)) if ask else fused(corpus, i.conversation)
                for i, r in zip(items, rewrites[domain], strict=True)
            ]
            per_domain.append(
                [fmean(recall(f, i.gold, cut) for f, i in zip(found, items, strict=True)) for cut in CUTS]
            )
        if len(per_domain) > 1:
            weights = [len(items) for items in dialogs.values()]
            per_domain.append([float(np.average(c, weights=weights)) for c in zip(*per_domain, strict=True)])
        print(f"| {system} | " + " | ".join(f"{v:.3f}" for part in per_domain for v in part) + " |")


def words(text: str) -> list[str]:
    return [token.text.casefold() for token in tokens(text)]


def token_f1(candidate: str, reference: str) -> float:
    a, b = Counter(words(candidate)), Counter(words(reference))
    common = sum((a & b).values())
    return 2 * common / max(1, sum(a.values()) + sum(b.values()))


def rouge_l(candidate: str, reference: str) -> float:
    a, b = words(candidate), words(reference)
    row = [0] * (len(b) + 1)
    for x in a:
        previous = 0
        for j, y in enumerate(b, 1):
            previous, row[j] = row[j], previous + 1 if x == y else max(row[j], row[j - 1])
    return 2 * row[-1] / max(1, len(a) + len(b))


def bleu_4(pairs: Sequence[tuple[str, str]]) -> float:
    """Corpus BLEU-4 with one reference, brevity penalty, no smoothing."""
    match, total, short, long = [0] * 4, [0] * 4, 0, 0
    for candidate, reference in pairs:
        a, b = words(candidate), words(reference)
        short, long = short + len(a), long + len(b)
        for n in range(4):
            mine = Counter(tuple(a[i : i + n + 1]) for i in range(len(a) - n))
            theirs = Counter(tuple(b[i : i + n + 1]) for i in range(len(b) - n))
            match[n] += sum((mine & theirs).values())
            total[n] += sum(mine.values())
    if not all(match):
        return 0.0
    penalty = min(0.0, 1.0 - long / short)
    return math.exp(penalty + fmean(math.log(m / t) for m, t in zip(match, total, strict=True)))


def text_table(data: dict[str, list[Example]], leave_out: bool, reader: CrossEncoder | None) -> None:
    print("\n### Beside the reference rewrites (turns with a history)\n")
    print("| set | turns | rewritten | form | token F1 | ROUGE-L | BLEU-4 |\n|---|---:|---:|---|---:|---:|---:|")
    for name in ("canard", "cast", "ikat", "alexa"):
        if leave_out:
            use_heads(data, name)
        examples = data[name]
        both = [rewritten(e.conversation, reader) for e in examples]
        made = [each.read for each in both]
        forms = {
            "copy": [r.original for r in made],
            "question": [each.by_rules.question for each in both],
            "query": [each.by_rules.query for each in both],
        }
        if reader:
            forms |= {"question, read": [r.question for r in made], "query, read": [r.query for r in made]}
        shares = {False: fmean(is_changed(each.by_rules) for each in both), True: fmean(map(is_changed, made))}
        for form, texts in forms.items():
            changed = shares["read" in form]
            pairs = [(text, e.rewrites[0]) for text, e in zip(texts, examples, strict=True)]
            print(
                f"| {name} | {len(pairs)} | {changed:.0%} | {form} | {fmean(token_f1(*p) for p in pairs):.3f} "
                f"| {fmean(rouge_l(*p) for p in pairs):.3f} | {bleu_4(pairs):.3f} |"
            )
        alone = [r for r, e in zip(made, examples, strict=True) if words(e.rewrites[0]) == words(r.original)]
        if alone:
            kept = fmean(not is_changed(r) for r in alone)
            same = fmean(r.question == r.original for r in alone)
            print(
                f"| {name} | {len(alone)} | | *reference equals the last turn* | kept as is: {kept:.0%}"
                f" | `question` as is: {same:.0%} | |"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with the .jsonl.gz sets")
    parser.add_argument("--leave-out", action="store_true", help="heads fitted without the set measured")
    parser.add_argument("--reader", type=Path, help="a reader's folder: what it picks is measured, too")
    arguments = parser.parse_args()

    reader = CrossEncoder(arguments.reader) if arguments.reader else None
    data = load(arguments.data)
    dialogs, passages = mtrag(arguments.data)
    questions, evidence = inscit(arguments.data)
    for tokenizer in ("stems", "bm25s"):
        if arguments.leave_out:
            use_heads(data, "mtrag")
        corpora = {domain: Corpus(passages[domain], tokenizer) for domain in dialogs}
        retrieval_table(f"MT-RAG, tokens: {tokenizer}", corpora, dialogs, reader)
        if arguments.leave_out:
            use_heads(data, "none: INSCIT is never fitted on")
        haystack = {"inscit": Corpus(evidence | passages["clapnq"], tokenizer)}
        retrieval_table(f"INSCIT, tokens: {tokenizer}", haystack, {"inscit": questions}, reader)
    text_table(data, arguments.leave_out, reader)


if __name__ == "__main__":
    main()
