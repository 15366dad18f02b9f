"""What Haystack adds to a call of the core: ``python -m benchmarks.overhead_haystack [--calls N]``.

The judge is a constant scorer, so that nothing but conversion and the drivers is timed. Each row: the core called
directly; a component of Haystack's kind that does nothing, on the same input; ours; and what ours adds to the two
together. The lower rows run the same components inside a pipeline. Medians, in milliseconds.
"""

import argparse
import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from haystack import Document, Pipeline, component
from haystack_integrations.components.rankers.rag_intrinsics import RagIntrinsicsRanker
from haystack_integrations.components.routers.rag_intrinsics import RagIntrinsicsAnswerabilityRouter

from intrinsics_core import BlockingRuntime, Format, Profile, answerability, arun, reranking, run
from intrinsics_core.conversation import Task
from intrinsics_core.exchange import Embed, Embedded, Outcome, Request
from intrinsics_core.results import Answerability

QUESTION = "Who built the tide mill at Port Ellery?"
PASSAGES = 50
TEXT = "Passage {0} tells of the harbour, of its cranes and of the fog that comes from March to May. " * 4


def _one(name: str) -> Callable[[Task], list[Embed]]:
    return lambda task: [Embed(name, (task.query,))]


CONSTANT = Profile(
    "constant",
    {
        "pointwise": Format(_one("reranking"), lambda task, replies: [0.5] * len(task.documents)),
        "answerability": Format(
            _one("answerability"), lambda task, replies: Answerability(label="answerable", probability=0.5)
        ),
    },
)


class Constant(BlockingRuntime):
    """Answers at once; the profile's scores do not depend on the answer."""

    profile = CONSTANT

    def handle(self, requests: Sequence[Request]) -> list[Outcome]:
        return [Embedded(()) for _ in requests]


@component
class NoOp:
    """Gives the documents that it got."""

    @component.output_types(documents=list[Document])
    def run(self, query: str, documents: list[Document]) -> dict[str, Any]:
        return {"documents": documents}

    @component.output_types(documents=list[Document])
    async def run_async(self, query: str, documents: list[Document]) -> dict[str, Any]:
        return {"documents": documents}


def median_ms(work: Callable[[], Any], calls: int) -> float:
    times = []
    for number in range(calls + 5):
        started = time.perf_counter()
        work()
        if number >= 5:
            times.append(time.perf_counter() - started)
    return statistics.median(times) * 1000


async def amedian_ms(work: Callable[[], Awaitable[Any]], calls: int) -> float:
    times = []
    for number in range(calls + 5):
        started = time.perf_counter()
        await work()
        if number >= 5:
            times.append(time.perf_counter() - started)
    return statistics.median(times) * 1000


def piped(part: Any) -> Callable[..., Any]:
    pipeline = Pipeline()
    pipeline.add_component("part", part)
    return lambda **data: pipeline.run({"part": data})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=300)
    calls: int = parser.parse_args().calls

    runtime = Constant()
    messages = [{"role": "user", "content": QUESTION}]
    many = [Document(id=str(i), content=TEXT.format(i), score=0.5) for i in range(PASSAGES)]
    few = many[:5]
    plain = [{"id": d.id, "text": d.content} for d in many]
    ranker, router, nothing = RagIntrinsicsRanker(runtime), RagIntrinsicsAnswerabilityRouter(runtime), NoOp()

    def rank() -> Any:
        return run(reranking(messages, plain), runtime)

    def judge() -> Any:
        return run(answerability(messages, plain[:5]), runtime)

    rows: list[tuple[str, Callable[[], Any], Callable[..., Any], Callable[..., Any], list[Document]]] = [
        (f"ranker, {PASSAGES} passages", rank, nothing.run, ranker.run, many),
        ("answerability router, 5 passages", judge, nothing.run, router.run, few),
        ("the same ranker in a pipeline", rank, piped(NoOp()), piped(RagIntrinsicsRanker(runtime)), many),
        ("the same router in a pipeline", judge, piped(NoOp()), piped(RagIntrinsicsAnswerabilityRouter(runtime)), few),
    ]
    print("| | the core | a no-op component | ours | beyond both |\n|---|--:|--:|--:|--:|")
    for name, core, noop, ours, documents in rows:
        given: dict[str, Any] = {"query": QUESTION, "documents": documents}
        _show(name, [median_ms(core, calls), median_ms(lambda n=noop, g=given: n(**g), calls),  # type: ignore[misc]
                     median_ms(lambda o=ours, g=given: o(**g), calls)])  # type: ignore[misc]  # fmt: skip

    async def asynchronously() -> None:
        core = await amedian_ms(lambda: arun(reranking(messages, plain), runtime), calls)
        noop = await amedian_ms(lambda: nothing.run_async(query=QUESTION, documents=many), calls)
        ours = await amedian_ms(lambda: ranker.run_async(query=QUESTION, documents=many), calls)
        _show("the same ranker, awaited", [core, noop, ours])

    asyncio.run(asynchronously())


def _show(name: str, times: Sequence[float]) -> None:
    core, noop, ours = times
    print(f"| {name} | {core:.2f} | {noop:.2f} | {ours:.2f} | {ours - core - noop:+.2f} |")


if __name__ == "__main__":
    main()
