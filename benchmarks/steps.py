"""The steps that a call takes, counted: ``python -m benchmarks.steps``.

First the requests and the Python calls of `context_relevance` and of pointwise `reranking`, of 50 documents and a
question that leans on its conversation, on the embedded runtime. Then the modules and the functions of ours that one
rerank of 10 documents enters, by LangChain's component. "Again" is the same call a second time: all that was read is
remembered, and what is left is the way there and back.

Python calls are all of the process, those of LangChain and of the standard library too. Functions are code objects;
before Python 3.12 each comprehension is one more, so those with a name of their own are told beside them. All runs in
one thread and is counted by `sys.setprofile`: nothing is timed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import langchain_rag_intrinsics
from langchain_core.documents import Document
from langchain_rag_intrinsics import IntrinsicsReranker

import intrinsics_core
from benchmarks.overhead import QUESTION, TEXT
from intrinsics_core import context_relevance, reranking, run
from intrinsics_core.embedded.runtime import EmbeddedRuntime
from intrinsics_core.protocol.requests import Outcome, Request

MANY, FEW = 50, 10
TALK = [
    {"role": "user", "content": QUESTION},
    {"role": "assistant", "content": "Ada Brink built it in 1911."},
    {"role": "user", "content": "When did it stop?"},
]
OURS = tuple(str(Path(module.__file__ or "").parent) for module in (intrinsics_core, langchain_rag_intrinsics))


class Counting(EmbeddedRuntime):
    """The embedded runtime; counts the requests that it is asked."""

    asked = 0

    def handle(self, requests: Sequence[Request]) -> list[Outcome]:
        self.asked += len(requests)
        return super().handle(requests)


def counted(work: Callable[[], Any]) -> tuple[int, set[CodeType]]:
    """How many Python functions were called, and which of ours."""
    calls, entered = 0, set()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal calls
        if event == "call":
            calls += 1
            if frame.f_code.co_filename.startswith(OURS):
                entered.add(frame.f_code)

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls, entered


def texts(count: int, name: str) -> list[str]:
    return [TEXT.format(f"{i} of {name}") for i in range(count)]


def main() -> None:
    runtime = Counting(threads=1)
    print(f"| over {MANY} documents | requests | Python calls | again |\n|---|--:|--:|--:|")
    for name, call in (("context_relevance", context_relevance), ("reranking", partial(reranking, mode="pointwise"))):
        run(call(TALK, texts(MANY, f"{name}, before")), runtime)  # what is loaded at first use
        runtime.asked = 0
        work = partial(run, call(TALK, texts(MANY, name)), runtime)
        first, _ = counted(work)
        asked, (again, _) = runtime.asked, counted(work)
        print(f"| {name} | {asked} | {first:,} | {again:,} |")
    reranker = IntrinsicsReranker(runtime=runtime)
    lists = [[Document(text) for text in texts(FEW, name)] for name in ("langchain, before", "langchain")]
    reranker.compress_documents(lists[0], QUESTION)
    print(f"\n| a rerank of {FEW} by LangChain | modules | functions | named | Python calls |\n|---|--:|--:|--:|--:|")
    for name in ("first", "again"):
        calls, entered = counted(partial(reranker.compress_documents, lists[1], QUESTION))
        named = sum(not code.co_name.startswith("<") for code in entered)
        modules = {code.co_filename for code in entered}
        print(f"| {name} | {len(modules)} | {len(entered)} | {named} | {calls:,} |")


if __name__ == "__main__":
    main()
