"""What LangChain adds to a call of the core: ``python -m benchmarks.overhead_langchain [--calls N] [--cpu]``.

The judge is a constant scorer, so that nothing but conversion, callbacks and the drivers is timed. Each row: the core
called directly; a Runnable that does nothing, on the same input; ours; and what ours adds to the two together. Medians,
in milliseconds; with ``--cpu`` of the process's CPU time, all threads, which other work on the machine changes little.
"""

import asyncio
from typing import Any

from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from langchain_rag_intrinsics import AnswerabilityGate, IntrinsicsReranker

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


def main() -> None:
    calls, clock = options(__doc__)
    runtime = Constant()
    documents = [Document(TEXT.format(i), id=str(i)) for i in range(PASSAGES)]
    plain = [{"id": d.id, "text": d.page_content} for d in documents]
    many: dict[str, Any] = {"query": QUESTION, "documents": documents}
    few: dict[str, Any] = {"question": QUESTION, "documents": documents[:5]}
    nothing: RunnableLambda[Any, Any] = RunnableLambda(lambda given: given["documents"])
    reranker, gate = IntrinsicsReranker(runtime=runtime), AnswerabilityGate(runtime=runtime)

    rank, judge = of_the_core(runtime, plain)
    rows = [
        (f"reranker, {PASSAGES} passages", rank, lambda: nothing.invoke(many), lambda: reranker.invoke(many)),
        ("answerability gate, 5 passages", judge, lambda: nothing.invoke(few), lambda: gate.invoke(few)),
    ]
    print("| | the core | a no-op Runnable | ours | beyond both |\n|---|--:|--:|--:|--:|")
    for name, *works in rows:
        show(name, [median_ms(work, calls, clock) for work in works])

    async def asynchronously() -> None:
        core = await amedian_ms(lambda: arun(reranking(MESSAGES, plain), runtime), calls, clock)
        noop = await amedian_ms(lambda: nothing.ainvoke(many), calls, clock)
        show("the same reranker, awaited", [core, noop, await amedian_ms(lambda: reranker.ainvoke(many), calls, clock)])

    asyncio.run(asynchronously())


if __name__ == "__main__":
    main()
