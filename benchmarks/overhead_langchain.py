"""What LangChain adds to a call of the core: ``python -m benchmarks.overhead_langchain [--calls N] [--cpu]``.

The judge is a constant scorer, so that nothing but conversion, callbacks and the drivers is timed. Each row: the core
called directly; a Runnable that does nothing, on the same input; ours; and what ours adds to the two together. Medians,
in milliseconds; with ``--cpu`` of the process's CPU time, all threads, which other work on the machine changes little.
"""

from typing import Any

from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from langchain_rag_intrinsics import AnswerabilityGate, IntrinsicsReranker

from benchmarks.overhead import PASSAGES, QUESTION, TEXT, Constant, of_the_core, table


def main() -> None:
    runtime = Constant()
    documents = [Document(TEXT.format(i), id=str(i)) for i in range(PASSAGES)]
    plain = [{"id": d.id, "text": d.page_content} for d in documents]
    many: dict[str, Any] = {"query": QUESTION, "documents": documents}
    few: dict[str, Any] = {"question": QUESTION, "documents": documents[:5]}
    nothing: RunnableLambda[Any, Any] = RunnableLambda(lambda given: given["documents"])
    reranker, gate = IntrinsicsReranker(runtime=runtime), AnswerabilityGate(runtime=runtime)

    rank, judge, arank = of_the_core(runtime, plain)
    rows = [
        (f"reranker, {PASSAGES} passages", rank, lambda: nothing.invoke(many), lambda: reranker.invoke(many)),
        ("answerability gate, 5 passages", judge, lambda: nothing.invoke(few), lambda: gate.invoke(few)),
    ]
    awaited = (lambda: nothing.ainvoke(many), lambda: reranker.ainvoke(many))
    table(__doc__, "a no-op Runnable", rows, ("the same reranker, awaited", arank, *awaited))


if __name__ == "__main__":
    main()
