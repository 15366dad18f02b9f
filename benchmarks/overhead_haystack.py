"""What Haystack adds to a call of the core: ``python -m benchmarks.overhead_haystack [--calls N]``.

The judge is a constant scorer, so that nothing but conversion and the drivers is timed. Each row: the core called
directly; a component of Haystack's kind that does nothing, on the same input; ours; and what ours adds to the two
together. The lower rows run the same components inside a pipeline. Medians, in milliseconds.
"""

from collections.abc import Callable
from typing import Any

from haystack import Document, Pipeline, component
from haystack_integrations.components.rankers.rag_intrinsics import RagIntrinsicsRanker
from haystack_integrations.components.routers.rag_intrinsics import RagIntrinsicsAnswerabilityRouter

from benchmarks.overhead import PASSAGES, QUESTION, TEXT, Constant, Work, measure


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
    ranker, router, nothing = RagIntrinsicsRanker(runtime), RagIntrinsicsAnswerabilityRouter(runtime), NoOp()
    given: dict[str, Any] = {"query": QUESTION, "documents": many}
    few = {**given, "documents": many[:5]}
    piped_ranker, piped_router = piped(RagIntrinsicsRanker(runtime)), piped(RagIntrinsicsAnswerabilityRouter(runtime))
    piped_nothing = piped(NoOp())
    rows: list[tuple[str, str, Work, Work]] = [
        (f"ranker, {PASSAGES} passages", "rank", lambda: nothing.run(**given), lambda: ranker.run(**given)),
        ("answerability router, 5 passages", "judge", lambda: nothing.run(**few), lambda: router.run(**few)),
        ("the same ranker in a pipeline", "rank", lambda: piped_nothing(**given), lambda: piped_ranker(**given)),
        ("the same router in a pipeline", "judge", lambda: piped_nothing(**few), lambda: piped_router(**few)),
    ]
    awaited = ("the same ranker, awaited", lambda: nothing.run_async(**given), lambda: ranker.run_async(**given))
    measure(__doc__, [(d.id, d.content) for d in many], "a no-op component", rows, awaited)


if __name__ == "__main__":
    main()
