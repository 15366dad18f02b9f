"""Every intrinsic of the profile `prompted`, asked of a real language model through one of three doors.

    RAG_INTRINSICS_MODELS=FOLDER python -m benchmarks.real_models --door DOOR --model NAME [--items N] [--only NAME ...]
        [--set SET] [--band SET] [--base-url URL] [--keep FILE]

DOOR is `llama_cpp` (llama.cpp's own server in a process of its own, by the package `xllamacpp`, or any server that
`--base-url` names), `vllm` or `transformers` (both in this process). NAME is one of `benchmarks.fetch_models`, which
fetches the files. SET is a set of `benchmarks.quality_everyday`, or `mtrag`: conversations of the development half of
MT-RAG, whose passages the gate and relevance are asked about. `transformers` works in bfloat16 where the processor
multiplies it faster, else in float32.

Each table has the model by the intrinsic, the same model by the plainest question that can be answered with yes or no,
and the embedded default, on the same items: AUROC with a 95% interval of a bootstrap over texts, and the share of the
label that is given most often. A judge that says one thing of all has 1.00 there. How many labels are right is told
twice: where a score of .5 divides, and where a threshold does that was fitted on the other texts, as `calibrate` fits
one. Half of the items of a table are right and half are wrong, as far as there are as many. The cascade asks the
default first, and the model where the default is unsure: AUROC, and the shares of the model's own requests, tokens and
seconds that it needed. With `--band`, a calibration of the default on that set says where it is unsure. Of what writes
texts and lists there is no truth: malformed replies, repeats, tokens and seconds alone.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import exp
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from benchmarks.fetch_models import FOLDER, MODELS, folder
from benchmarks.quality_everyday import read, told, with_interval
from intrinsics_core import INTRINSICS, Call, IntrinsicsError, MalformedReply, as_runtime, compare, run_many
from intrinsics_core.bench.folder import DataFolder
from intrinsics_core.bench.mtrag import passages
from intrinsics_core.calibration.fitting import auroc, calibrate
from intrinsics_core.profiles.cascaded import JUDGED
from intrinsics_core.protocol.requests import Generate, Generated, Outcome, Request, TokenLogprob
from intrinsics_core.protocol.task import Message
from intrinsics_core.runtimes.base import BlockingRuntime, Runtime
from intrinsics_core.runtimes.cascade import Cascade
from intrinsics_core.training.working_type import working_type

DOORS = ("llama_cpp", "vllm", "transformers")
_ABOUT = "Document: {document}\n\nQuestion: {question}\n\n"
GATE = _ABOUT + "Does the document contain the answer to the question? Answer yes or no."
SUPPORT = _ABOUT + "Answer: {answer}\n\nDoes the document support all of the answer? Answer yes or no."
DIRECT = "Question: {question}\n\nAnswer: {answer}\n\nDoes the answer answer the question? Answer yes or no."
"""The gate, detection and answer relevance as the plainest question."""
SEED = 0
ENGINE = {"enforce_eager": True, "block_size": 32, "distributed_executor_backend": "uni"}
"""Of vLLM on a CPU: compiling costs the first request more than all others."""


@dataclass(frozen=True)
class Item:
    """What is judged: a question to documents, or an answer to it. truth: None where nobody knows.

    before: the turns of the conversation before the question.
    """

    text: int
    documents: tuple[str, ...]
    question: str
    answer: str = ""
    truth: bool | None = None
    before: tuple[Mapping[str, str], ...] = ()

    @property
    def turns(self) -> list[Mapping[str, str]]:
        """The conversation up to the question."""
        return [*self.before, {"role": "user", "content": self.question}]

    @property
    def asked(self) -> str:
        """The question as text, with the turns before it where there are any."""
        return "\n".join(f"{turn['role']}: {turn['content']}" for turn in self.turns) if self.before else self.question


@dataclass(frozen=True)
class Table:
    """An intrinsic on some items. plainest: the same, asked to be answered with yes or no."""

    name: str
    items: Sequence[Item]
    call: Callable[[Item], Call[Any]]
    score: Callable[[Any], float | None] | None = None
    label: Callable[[Any], str] = lambda result: str(getattr(result, "label", None))
    plainest: str | None = None


class Kept(BlockingRuntime):
    """Another runtime, and what it was asked: requests, repeats of malformed replies, tokens, seconds.

    Replies are kept in a file, where one is named. What was asked before is answered from there, with the seconds that
    it took: a run that was ended goes on, more items cost only what is new, and a cascade asks nothing again.
    """

    def __init__(self, other: Runtime, file: Path | None, *, free: bool = False) -> None:
        self.free = free  # requests go out without their constraints
        self.other, self.profile, self.concurrency, self.file = other, other.profile, 16, file
        self.known = dict(replies(file)) if file and file.exists() else {}
        self.begin()

    def begin(self) -> None:
        """Count from nothing."""
        self.requests = self.repeats = 0
        self.tokens = (0, 0)
        self.seconds = 0.0

    def handle(self, requests: Sequence[Request]) -> list[Outcome]:
        """What is known, and the rest asked together: a runtime in this process reads what they share once."""
        if self.free:
            requests = [replace(r, constraint=None) if isinstance(r, Generate) else r for r in requests]
        keys = [hashlib.sha256(repr(request).encode()).hexdigest() for request in requests]
        new = {key: request for key, request in zip(keys, requests, strict=True) if key not in self.known}
        begun = time.perf_counter()
        outcomes = dict(zip(new, self.other.handle(list(new.values())), strict=True)) if new else {}
        seconds = (time.perf_counter() - begun) / max(1, len(new))
        for key, outcome in outcomes.items():
            if not isinstance(outcome, IntrinsicsError):
                self.known[key] = outcome, seconds
                self._keep(key, outcome, seconds)
        for key, request in zip(keys, requests, strict=True):
            self._count(request, *self.known.get(key, (None, 0.0)))
        return [self.known[key][0] if key in self.known else outcomes[key] for key in keys]

    def _keep(self, key: str, outcome: Outcome, seconds: float) -> None:
        if self.file and isinstance(outcome, Generated):
            with self.file.open("ab") as file:
                file.write(_LINE.dump_json((key, outcome, seconds)) + b"\n")

    def _count(self, request: Request, outcome: Outcome | None, seconds: float) -> None:
        self.requests += 1
        self.repeats += isinstance(request, Generate) and request.attempt > 0
        self.seconds += seconds
        if isinstance(outcome, Generated):
            read, written = self.tokens
            self.tokens = (read + outcome.usage.prompt_tokens, written + outcome.usage.completion_tokens)


_LINE = TypeAdapter(tuple[str, Generated, float])


def replies(path: Path) -> Iterator[tuple[str, tuple[Outcome, float]]]:
    """Kept replies and their seconds, by what was asked."""
    for line in path.read_bytes().splitlines():
        key, reply, seconds = _LINE.validate_json(line)
        yield key, (reply, seconds)


@dataclass
class Told:
    """What a judge said of the items."""

    results: list[Any]
    seconds: float
    requests: int = 0
    repeats: int = 0
    tokens: tuple[int, int] = field(default=(0, 0))


def tables(name: str, count: int) -> list[Table]:
    """The tables on a set, each on at most so many items."""
    rng, data = random.Random(SEED), Path(os.environ.get("RAG_INTRINSICS_DATA", ""))

    def drawn(items: Iterable[Item]) -> list[Item]:
        """As many right ones as wrong ones."""
        mixed = list(items)
        rng.shuffle(mixed)
        right, wrong = ([item for item in mixed if item.truth is truth] for truth in (True, False))
        half = min(max(1, count // 2), len(right), len(wrong))
        found = right[:half] + wrong[:half]
        rng.shuffle(found)
        return found

    if name == "mtrag":
        questions, relevant = (drawn(items) for items in mtrag(data))
        judged: list[Item] = []
    else:
        answers, asked = read(name, data)
        questions = drawn(Item(row.text, (row.document,), row.question, truth=row.answerable) for row in asked)
        relevant = questions
        judged = drawn(Item(r.text, (r.documents[0]["text"],), r.question, r.answer, r.supported) for r in answers)
    direct = drawn(Item(row.text, ("",), row.question, row.answer, row.direct) for row in told("customers"))
    written = judged or questions
    few = written[: max(2, count // 4)]

    def of(intrinsic: str, *given: str, **more: Any) -> Callable[[Item], Call[Any]]:
        made = INTRINSICS[intrinsic]

        def call(item: Item) -> Call[Any]:
            whole = [*item.turns, {"role": "assistant", "content": item.answer}]
            kinds = {"question": item.turns, "answer": whole, "documents": list(item.documents)}
            return made(*(kinds[name] for name in given), **more)  # type: ignore[no-any-return]

        return call

    found = [
        Table("answerability", questions, of("answerability", "question", "documents"), lambda r: r.probability,
              plainest=GATE),
        Table("context-relevance", relevant, of("context-relevance", "question", "documents"),
              lambda r: r.judgements[0].score, lambda r: r.judgements[0].label, GATE),
        Table("hallucination-detection", judged, of("hallucination-detection", "answer", "documents"),
              lambda r: r.score, plainest=SUPPORT),
        Table("fact-check", judged, of("fact-check", "answer", "documents"), lambda r: r.score,
              lambda r: str(r.score is not None and r.score >= 0.5), SUPPORT),
        Table("audit", judged, of("audit", "answer", "documents"), lambda r: r.score, plainest=SUPPORT),
        Table("uncertainty", judged, of("uncertainty", "answer", "documents"),
              lambda r: r.expected or r.certainty, lambda r: str(r.certainty), SUPPORT),
        Table("answer-relevance", direct, of("answer-relevance", "answer", rewrite=False), lambda r: r.score,
              plainest=DIRECT),
        *(Table(name, few, of(name, "answer", "documents")) for name in ("citations", "evaluate", "revise")),
        Table("self-consistency", few, of("self-consistency", "question", "documents")),
        *(Table(name, few, of(name, "question")) for name in ("query-rewrite", "query-expansion", "hyde")),
        Table("compare", few, lambda item: compare(item.turns, item.answer, "I do not know.")),
        Table("reranking", few, lambda item: INTRINSICS["reranking"](item.turns, among(item, written)),
              label=lambda r: r.ranking[0].document_id),
    ]  # fmt: skip
    return [table for table in found if table.items]


def mtrag(data: Path, most: int = 6000) -> tuple[list[Item], list[Item]]:
    """Conversations with their passages, answerable or not, and with one passage each, relevant or not.

    Args:
        most: characters of a question's passages together. What has more is left out: the model reads them slowly.
    """
    pool, whole, apart = passages(folder := DataFolder(data)), [], []
    for i, row in enumerate(folder.rows("mtrag_tasks")):
        before = tuple({"role": turn["role"], "content": turn["content"]} for turn in row["history"])
        shown = tuple(pool[found["id"]] for found in row["contexts"])
        given = {"question": row["question"], "answer": row["answer"], "before": before}
        if row["answerability"] in ("ANSWERABLE", "UNANSWERABLE") and sum(map(len, shown)) <= most:
            whole.append(Item(i, shown, truth=row["answerability"] == "ANSWERABLE", **given))
        apart += [
            Item(i, (text,), truth=found["relevant"], **given)
            for found, text in zip(row["contexts"], shown, strict=True) if found["relevant"] is not None
        ]  # fmt: skip
    return whole, apart


# --- doors --------------------------------------------------------------------------------------------------------

_SERVE = """
import sys, time, xllamacpp
made = xllamacpp.CommonParams()
made.model.path, made.hostnames, made.port = sys.argv[1], ["127.0.0.1"], int(sys.argv[2])
made.n_ctx, made.n_parallel, made.cpuparams.n_threads, made.cpuparams_batch.n_threads = 8192, 1, *[int(sys.argv[3])] * 2
server = xllamacpp.Server(made)
while True:
    time.sleep(1)
"""


@contextmanager
def door(name: str, model: str, url: str | None, port: int = 8090) -> Iterator[Runtime]:
    """The runtime behind a door, and for a while the server that it asks."""
    to = folder()
    if to is None and url is None:
        raise SystemExit(f"{FOLDER} names no folder: see benchmarks.fetch_models")
    if name != "llama_cpp":
        assert to is not None
        given = {"kind": name, "model": str(MODELS[model].safetensors(to)), "context_length": 4096}
        yield as_runtime({**given, "dtype": fastest_type()} | ({"engine": ENGINE} if name == "vllm" else {}))
        return
    own = None
    if url is None:
        assert to is not None
        own = subprocess.Popen(
            [sys.executable, "-c", _SERVE, str(MODELS[model].gguf(to)), str(port), str(os.cpu_count() or 1)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        url = f"http://127.0.0.1:{port}/v1"
    try:
        _wait(url)
        yield as_runtime({"kind": "server", "base_url": url, "model": model, "timeout": 600, "max_retries": 0})
    finally:
        if own is not None:
            own.terminate()


def fastest_type() -> str:
    """The type that this process multiplies fastest."""
    import torch

    kind = "cuda" if torch.cuda.is_available() else "cpu"
    return str(working_type(torch.device(kind))).removeprefix("torch.")


def _wait(url: str, most: int = 600) -> None:
    """Until a server lists its models."""
    for _ in range(most):
        try:
            with urllib.request.urlopen(f"{url}/models") as told:
                if told.status == 200:
                    return
        except OSError:
            time.sleep(1)
    raise SystemExit(f"{url} does not answer")


# --- judges -------------------------------------------------------------------------------------------------------


def among(item: Item, items: Sequence[Item]) -> list[dict[str, str]]:
    """The document of a question among two others, each time at another place."""
    place = items.index(item)
    others = sorted({other.documents[0] for other in items} - {item.documents[0]})
    shown = [{"id": "another", "text": others[(place + i) % len(others)]} for i in range(2)]
    shown.insert(place % 3, {"id": "its own", "text": item.documents[0]})
    return shown


def by_intrinsic(table: Table, asked: Kept, runtime: Runtime | None = None) -> Told:
    """What a runtime says (`asked` itself where none is named), and what ``asked`` had to do for it."""
    asked.begin()
    results = run_many([table.call(item) for item in table.items], runtime or asked)
    return Told(results, asked.seconds, asked.requests, asked.repeats, asked.tokens)


def plainest(table: Table, runtime: Runtime) -> list[float | None]:
    """How likely the model begins with yes rather than no."""
    words = [
        (table.plainest or "").format(document="\n\n".join(item.documents), question=item.asked, answer=item.answer)
        for item in table.items
    ]
    return first_tokens([Generate(table.name, messages=(Message("user", text),)) for text in words], runtime)


def first_tokens(requests: Sequence[Generate], runtime: Runtime) -> list[float | None]:
    """How likely each reply begins with yes rather than no."""
    short = [replace(request, constraint=None, max_tokens=1, logprobs=True) for request in requests]
    return [_yes(reply.logprobs) for reply in generated(short, runtime)]


def generated(requests: Sequence[Generate], runtime: Runtime) -> list[Generated]:
    """The reply to each request. Raises the error that one of them ended in."""
    found: list[Generated] = []
    for at in range(0, len(requests), runtime.concurrency):
        for outcome in runtime.handle(requests[at : at + runtime.concurrency]):
            if isinstance(outcome, IntrinsicsError):
                raise outcome
            assert isinstance(outcome, Generated)
            found.append(outcome)
    return found


def _yes(tokens: Sequence[TokenLogprob] | None) -> float | None:
    """How likely the first token is a yes among those that are yes or no; None where none of them is."""
    if not tokens:
        return None
    shares = {"yes": 0.0, "no": 0.0}
    for text, logprob in {tokens[0].token: tokens[0].logprob, **dict(tokens[0].top)}.items():
        if (word := text.strip().lower()) in shares:
            shares[word] += exp(logprob)
    total = sum(shares.values())
    return shares["yes"] / total if total else None


# --- what is printed ------------------------------------------------------------------------------------------------


def ranked(table: Table, scores: Sequence[float | None]) -> str:
    """AUROC with its interval. Where there is no score, the judge has no opinion; how many these are is told."""
    truth = [bool(item.truth) for item in table.items]
    if len(set(truth)) < 2:
        return "one class"
    known = [0.5 if score is None else score for score in scores]
    without = f", {scores.count(None)} without a score" if None in scores else ""
    return with_interval(auroc, known, truth, [item.text for item in table.items]) + without


def right(table: Table, scores: Sequence[float | None]) -> str:
    """The shares of labels that are right: where .5 divides the scores, and where a threshold does that was fitted on
    the other texts."""
    rows = [
        (item.text, 0.5 if score is None else score, bool(item.truth))
        for item, score in zip(table.items, scores, strict=True)
    ]

    def share(of: Sequence[tuple[int, float, bool]], threshold: float) -> float:
        return sum((score >= threshold) == truth for _, score, truth in of) / len(of)

    by_fit = 0.0
    for text in {text for text, _, _ in rows}:
        own, others = ([row for row in rows if (row[0] == text) is same] for same in (True, False))
        known = sorted({score for _, score, _ in others})
        between = [(low + high) / 2 for low, high in pairwise(known)]
        fitted = max([0.5, *between], key=lambda threshold: share(others, threshold)) if others else 0.5
        by_fit += share(own, fitted) * len(own) / len(rows)
    return f"{share(rows, 0.5):.2f}, {by_fit:.2f}"


def scores_of(table: Table, results: Sequence[Any]) -> list[float | None]:
    assert table.score is not None
    return [None if isinstance(result, IntrinsicsError) else table.score(result) for result in results]


def commonest(table: Table, results: Sequence[Any]) -> str:
    labels = Counter(table.label(result) for result in results if not isinstance(result, IntrinsicsError))
    if not labels:
        return ""
    ((label, count),) = labels.most_common(1)
    return f"{label}: {count / labels.total():.2f}"


def cascaded(table: Table, alone: Told, asked: Kept, default: Runtime) -> str:
    """AUROC of a cascade, and the shares of requests, tokens and seconds that it has of those of the model alone."""
    if table.name not in (*JUDGED, "fact-check", "audit"):
        return ""
    told = by_intrinsic(table, asked, Cascade(default, asked))
    requests, tokens = told.requests / alone.requests, sum(told.tokens) / max(1, sum(alone.tokens))
    return (f"{ranked(table, scores_of(table, told.results))}, {requests:.2f} of the requests, {tokens:.2f} of the "
            f"tokens, {told.seconds / max(alone.seconds, 1e-9):.2f} of the seconds")  # fmt: skip


def banded(name: str) -> Runtime:
    """The default with calibrations of its judges that were fitted to a set, as many right items as wrong ones."""
    default, fitted = as_runtime({"kind": "embedded", "threads": 1}), {}
    for table in tables(name, sys.maxsize):
        if table.name in (*JUDGED, "fact-check"):
            results = run_many([table.call(item) for item in table.items], default)
            pairs = zip(scores_of(table, results), table.items, strict=True)
            known = [(score, bool(item.truth)) for score, item in pairs if score is not None]
            fitted[table.name] = calibrate(*zip(*known, strict=True))
    return as_runtime({"kind": "embedded", "threads": 1, "calibrations": fitted})


def show(table: Table, runtime: Kept, default: Kept, first: Runtime) -> None:
    told = by_intrinsic(table, runtime)
    n = len(table.items)
    errors = Counter(type(result).__name__ for result in told.results if isinstance(result, IntrinsicsError))
    malformed = errors.pop(MalformedReply.__name__, 0)
    cells = [table.name, str(n), f"{malformed / n:.2f}", f"{told.repeats / max(1, told.requests):.2f}",
             f"{told.tokens[0] / n:.0f} + {told.tokens[1] / n:.0f}", f"{told.seconds / n:.1f}"]  # fmt: skip
    if table.score is not None:
        scores = scores_of(table, told.results)
        cells += [commonest(table, told.results), right(table, scores), ranked(table, scores),
                  ranked(table, plainest(table, runtime)),
                  ranked(table, scores_of(table, by_intrinsic(table, default).results)),
                  cascaded(table, told, runtime, first)]  # fmt: skip
    else:
        cells += [commonest(table, told.results), *[""] * 5]
    print(f"| {' | '.join(cells)} |{f' {dict(errors)}' if errors else ''}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--door", choices=DOORS, required=True)
    parser.add_argument("--model", default="qwen", help="a name of benchmarks.fetch_models, or the server's own")
    parser.add_argument("--items", type=int, default=60)
    parser.add_argument("--only", nargs="*", help="names of tables")
    parser.add_argument("--set", default="plain")
    parser.add_argument("--band", help="a set that says where the first judge of the cascade is unsure")
    parser.add_argument("--free", action="store_true", help="without constraints, as on a server that has none")
    parser.add_argument("--base-url", help="of a server that runs already")
    parser.add_argument("--keep", type=Path, help="a file of the model's replies: what is there is not asked again")
    options = parser.parse_args()
    default = Kept(as_runtime({"kind": "embedded", "threads": 1}), None)
    first = banded(options.band) if options.band else default
    with door(options.door, options.model, options.base_url) as served:
        runtime = Kept(served, options.keep, free=options.free)
        print(f"{options.model} by {options.door}, set {options.set}\n")
        print("| intrinsic | items | malformed | repeats | tokens: read + written | seconds | commonest label "
              "| labels right: at .5, fitted | AUROC | yes or no, same model | the default | cascade |")  # fmt: skip
        print("|" + "---|" * 12, flush=True)
        for table in tables(options.set, options.items):
            if not options.only or table.name in options.only:
                show(table, runtime, default, first)


if __name__ == "__main__":
    main()
