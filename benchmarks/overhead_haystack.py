"""What Haystack adds to a call of the core: ``python -m benchmarks.overhead_haystack [--calls N]``.

The judge is a constant scorer, so that nothing but conversion and the drivers is timed. Each row: the core called
directly; a component of Haystack's kind that does nothing, on the same input; ours; and what ours adds to the two
together. The lower rows run the same components inside a pipeline. Medians, in milliseconds.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from haystack import Document, Pipeline, component
from haystack_integrations.components.rankers.rag_intrinsics import RagIntrinsicsRanker
from haystack_integrations.components.routers.rag_intrinsics import RagIntrinsicsAnswerabilityRouter

from benchmarks.overhead import PASSAGES, QUESTION, TEXT, Constant, of_the_core, table


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
    runtime = Constant()
    many = [Document(id=str(i), content=TEXT.format(i), score=0.5) for i in range(PASSAGES)]
    few = many[:5]
    plain = [{"id": d.id, "text": d.content} for d in many]
    ranker, router, nothing = RagIntrinsicsRanker(runtime), RagIntrinsicsAnswerabilityRouter(runtime), NoOp()

    rank, judge, arank = of_the_core(runtime, plain)
    rows: list[tuple[str, Callable[[], Any], Callable[..., Any], Callable[..., Any], list[Document]]] = [
        (f"ranker, {PASSAGES} passages", rank, nothing.run, ranker.run, many),
        ("answerability router, 5 passages", judge, nothing.run, router.run, few),
        ("the same ranker in a pipeline", rank, piped(NoOp()), piped(RagIntrinsicsRanker(runtime)), many),
        ("the same router in a pipeline", judge, piped(NoOp()), piped(RagIntrinsicsAnswerabilityRouter(runtime)), few),
    ]
    timed = [
        (name, core, partial(noop, query=QUESTION, documents=docs), partial(ours, query=QUESTION, documents=docs))
        for name, core, noop, ours, docs in rows
    ]
    given: dict[str, Any] = {"query": QUESTION, "documents": many}
    awaited = (lambda: nothing.run_async(**given), lambda: ranker.run_async(**given))
    table(__doc__, "a no-op component", timed, ("the same ranker, awaited", arank, *awaited))


if __name__ == "__main__":
    main()
