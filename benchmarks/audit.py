"""What an audit costs beside the four calls it replaces, and what a verdict costs while the answer is being written.

    python -m benchmarks.audit [--documents 10 --characters 800 --sentences 5 --rounds 5]

*Requests and tokens*: a scripted model, so the counts are exact; 4 characters count as a token. *Seconds*: a server on
the loopback interface that takes ``--prefill`` seconds a thousand tokens of prompt, one prompt after another as a GPU
does, and then ``--decode`` seconds a token of reply, all replies side by side. What it remembers of a prompt that began
alike (a prefix cache) is not imitated: with one, the four calls read less of the second prompt on where their prompts
begin alike, which those of ``prompted`` do not.

*Streaming*: the embedded default on this machine's CPU. ``a sentence``: from the word that closes it to its verdict and
citations; the first one waits for the documents to be encoded, which the others find in the cache. ``close``: from the
last word to the audit of the whole. ``the whole at the end``: the same for who judged nothing before. Medians over the
rounds, each with a runtime of its own that has seen nothing but is warm.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from intrinsics_core import (
    Call,
    StreamChecker,
    answerability,
    arun,
    audit,
    citations,
    hallucination_detection,
    run,
    uncertainty,
)
from intrinsics_core.embedded.runtime import EmbeddedRuntime
from intrinsics_core.profiles.asking import data_of
from intrinsics_core.protocol.requests import Generate
from intrinsics_core.runtimes.scripted import Scripted
from intrinsics_core.runtimes.server import ServerRuntime
from tests.contract.judge import judge
from tests.loopback import Loopback, Received, Reply, completion

_CHARACTERS_A_TOKEN = 4
_AT_ONCE = 8
_NAMES = ("Arden", "Brink", "Corin", "Dorset", "Ellery", "Fenwick", "Garrow", "Harrow", "Ivor", "Jarrow")


def material(documents: int, characters: int, sentences: int) -> tuple[list[dict[str, str]], list[str], str]:
    """A question, documents of so many characters, and an answer from them."""
    texts = []
    for n in range(documents):
        name = _NAMES[n % len(_NAMES)]
        facts = (f"The mill of {name} was built in {1800 + 7 * n + i} by {_NAMES[i % 10]} and has {i + 2} wheels. "
                 for i in range(1_000))  # fmt: skip
        text = ""
        while len(text) < characters:
            text += next(facts)
        texts.append(text.strip())
    said = [
        f"The mill of {_NAMES[i % len(_NAMES)]} was built in {1800 + 7 * (i % documents) + i} and is well kept."
        for i in range(sentences)
    ]
    return [{"role": "user", "content": "Which mills are there, and when were they built?"}], texts, " ".join(said)


def four(question: list[dict[str, str]], texts: list[str], answer: str) -> list[Call[Any]]:
    answered = [*question, {"role": "assistant", "content": answer}]
    return [
        answerability(question, texts),
        hallucination_detection(answered, texts),
        citations(answered, texts),
        uncertainty(answered, texts),
    ]


def counting(judge: Callable[[Generate], str]) -> tuple[Scripted, dict[str, int]]:
    """A scripted judge, and the characters that went in and came out so far."""
    spent = {"in": 0, "out": 0}

    def script(request: Generate) -> str:
        reply = judge(request)
        spent["in"] += sum(len(message.content) for message in request.messages or ())
        spent["out"] += len(reply)
        return reply

    return Scripted(script), spent


def counted(calls: Sequence[Call[Any]]) -> tuple[int, int, int]:
    """Requests, tokens in, tokens out."""
    runtime, spent = counting(lambda request: json.dumps(judge(request)))
    for call in calls:
        run(call, runtime)
    return len(runtime.requests), spent["in"] // _CHARACTERS_A_TOKEN, spent["out"] // _CHARACTERS_A_TOKEN


class Machine:
    """A server that reads one prompt after another and writes all replies side by side."""

    def __init__(self, prefill: float, decode: float) -> None:
        self.prefill, self.decode, self.free = prefill, decode, 0.0

    def answer(self, received: Received) -> Reply:
        if received.body is None:
            return Reply({"object": "list", "data": [{"id": "judge", "object": "model", "parent": None}]})
        messages = received.body["messages"]
        schema = received.body["structured_outputs"]["json"]
        shown = data_of(messages[-1]["content"])
        from tests.contract.judge import _REPLIES

        reply = json.dumps(_REPLIES[schema["title"]](shown))
        now = time.perf_counter()
        begun = max(now, self.free)
        self.free = begun + self.prefill * sum(len(m["content"]) for m in messages) / _CHARACTERS_A_TOKEN / 1000
        return Reply(completion(reply), delay=self.free - now + self.decode * len(reply) / _CHARACTERS_A_TOKEN)


async def timed(url: str, work: dict[str, Callable[[ServerRuntime], Awaitable[Any]]], rounds: int) -> dict[str, float]:
    seconds: dict[str, list[float]] = {name: [] for name in work}
    async with ServerRuntime(url, model="judge", constraints="structured_outputs", concurrency=64) as engine:
        for round_ in range(-1, rounds):
            for name, one in work.items():
                begun = time.perf_counter()
                await one(engine)
                if round_ >= 0:
                    seconds[name].append(time.perf_counter() - begun)
    return {name: statistics.median(times) for name, times in seconds.items()}


def on_a_server(given: Any, options: argparse.Namespace) -> dict[str, float]:
    question, texts, answer = given
    answered = {"role": "assistant", "content": answer}

    def asked(n: int) -> Any:  # identical requests would share one reply
        return [{"role": "user", "content": f"{question[0]['content']} ({n})"}], texts, answer

    async def one_by_one(engine: ServerRuntime, n: int = 0) -> None:
        for call in four(*asked(n)):
            await arun(call, engine)

    async def side_by_side(engine: ServerRuntime, n: int = 0) -> None:
        await asyncio.gather(*(arun(call, engine) for call in four(*asked(n))))

    async def at_once(engine: ServerRuntime, n: int = 0) -> None:
        await arun(audit([*asked(n)[0], answered], texts), engine)

    async def many(one: Callable[..., Awaitable[None]], engine: ServerRuntime) -> None:
        await asyncio.gather(*(one(engine, n) for n in range(_AT_ONCE)))

    work: dict[str, Callable[[ServerRuntime], Awaitable[Any]]] = {
        "four calls, one after another": one_by_one,
        "four calls, side by side": side_by_side,
        "audit": at_once,
        f"four calls, {_AT_ONCE} answers at once": partial(many, side_by_side),
        f"audit, {_AT_ONCE} answers at once": partial(many, at_once),
    }
    with Loopback(Machine(options.prefill, options.decode).answer) as server:
        return asyncio.run(timed(server.url, work, options.rounds))


def streamed(given: Any, rounds: int) -> dict[str, float]:
    question, texts, answer = given
    found: dict[str, list[float]] = {
        name: []
        for name in ("the first sentence", "each other", "a chunk without one", "close", "the whole at the end")
    }
    for round_ in range(-1, rounds):
        times: dict[str, list[float]] = {name: [] for name in found}
        with EmbeddedRuntime() as runtime:
            runtime.warm_up()
            checker, before = StreamChecker(question, texts, runtime=runtime), 0
            for word in answer.split(" "):
                begun = time.perf_counter()
                judged = checker.feed(word + " ")
                name = "a chunk without one" if not judged else "each other" if before else "the first sentence"
                times[name].append(time.perf_counter() - begun)
                before += len(judged)
            begun = time.perf_counter()
            checker.close()
            times["close"].append(time.perf_counter() - begun)
        with EmbeddedRuntime() as runtime:
            runtime.warm_up()
            begun = time.perf_counter()
            run(audit([*question, {"role": "assistant", "content": answer}], texts), runtime)
            times["the whole at the end"].append(time.perf_counter() - begun)
        for name, each in times.items():
            found[name] += each if round_ >= 0 else []
    return {name: statistics.median(each) for name, each in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--documents", type=int, default=10)
    parser.add_argument("--characters", type=int, default=800)
    parser.add_argument("--sentences", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--prefill", type=float, default=0.1, help="seconds a thousand tokens of prompt")
    parser.add_argument("--decode", type=float, default=0.005, help="seconds a token of reply")
    options = parser.parse_args()
    given = material(options.documents, options.characters, options.sentences)
    question, texts, answer = given
    answered = [*question, {"role": "assistant", "content": answer}]
    seconds = on_a_server(given, options)
    calls, once = counted(four(*given)), counted([audit(answered, texts)])
    print(f"{options.documents} documents of {options.characters} characters, {options.sentences} sentences\n")
    print("| | requests | tokens in | tokens out | seconds |\n|---|---:|---:|---:|---:|")
    for name, value in seconds.items():
        requests, into, out = (once if name.startswith("audit") else calls) if "at once" not in name else ("", 0, 0)
        tokens = (f"{into:,}", f"{out:,}") if into else ("", "")
        print(f"| {name} | {requests} | {' | '.join(tokens)} | {value:.2f} |")
    print("\n| streaming, embedded | ms |\n|---|---:|")
    for name, value in streamed(given, options.rounds).items():
        print(f"| {name} | {1000 * value:.2f} |")


if __name__ == "__main__":
    main()
