"""What Haystack adds to a call of the core: ``python -m benchmarks.overhead_haystack [--calls N]``.

The judge is a constant scorer, so that nothing but conversion and the drivers is timed. Each row: the core called
directly; a component of Haystack's kind that does nothing, on the same input; ours; and what ours adds to the two
together. The lower rows run the same components inside a pipeline. Medians, in milliseconds.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from haystack import Document, Pipeline, component
from haystack_integrations.components.rankers.rag_intrinsics import RagIntrinsicsRanker
from haystack_integrations.components.routers.rag_intrinsics import RagIntrinsicsAnswerabilityRouter

from benchmarks.overhead import (
    MESSAGES,
    PASSAGES,
    QUESTION,
    TEXT,
    Constant,
    amedian_ms,
    median_ms,
    of_the_core,
    options,
    show,
)
from intrinsics_core import arun, reranking


@component
class NoOp:
    """Gives the documents that it got."""

    @component.output_types(documents=list[Document])
    def run(self, query: str, documents: list[Document]) -> dict[str, Any]:
        return {"documents": documents}

    @component.output_types(documents=list[Document])
    async def run_async(self, query: str, documents: list[Document]) -> dict[str, Any]:
        return {"documents": documents}


def piped(part: Any) -> Callable[..., Any]:
    pipeline = Pipeline()
    pipeline.add_component("part", part)
    return lambda **data: pipeline.run({"part": data})


def main() -> None:
    calls, clock = options(__doc__)
    runtime = Constant()
    many = [Document(id=str(i), content=TEXT.format(i), score=0.5) for i in range(PASSAGES)]
    few = many[:5]
    plain = [{"id": d.id, "text": d.content} for d in many]
    ranker, router, nothing = RagIntrinsicsRanker(runtime), RagIntrinsicsAnswerabilityRouter(runtime), NoOp()

    rank, judge = of_the_core(runtime, plain)
    rows: list[tuple[str, Callable[[], Any], Callable[..., Any], Callable[..., Any], list[Document]]] = [
        (f"ranker, {PASSAGES} passages", rank, nothing.run, ranker.run, many),
        ("answerability router, 5 passages", judge, nothing.run, router.run, few),
        ("the same ranker in a pipeline", rank, piped(NoOp()), piped(RagIntrinsicsRanker(runtime)), many),
        ("the same router in a pipeline", judge, piped(NoOp()), piped(RagIntrinsicsAnswerabilityRouter(runtime)), few),
    ]
    print("| | the core | a no-op component | ours | beyond both |\n|---|--:|--:|--:|--:|")
    for name, core, noop, ours, documents in rows:
        given: dict[str, Any] = {"query": QUESTION, "documents": documents}
        show(name, [median_ms(core, calls, clock), median_ms(lambda n=noop, g=given: n(**g), calls, clock),  # type: ignore[misc]
                     median_ms(lambda o=ours, g=given: o(**g), calls, clock)])  # type: ignore[misc]  # fmt: skip

    async def asynchronously() -> None:
        core = await amedian_ms(lambda: arun(reranking(MESSAGES, plain), runtime), calls, clock)
        noop = await amedian_ms(lambda: nothing.run_async(query=QUESTION, documents=many), calls, clock)
        ours = await amedian_ms(lambda: ranker.run_async(query=QUESTION, documents=many), calls, clock)
        show("the same ranker, awaited", [core, noop, ours])

    asyncio.run(asynchronously())


if __name__ == "__main__":
    main()
