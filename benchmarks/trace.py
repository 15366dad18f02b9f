"""How many modules and functions one call crosses: a detection of two sentences, a LangChain rerank of two documents.

    python -m benchmarks.trace

With the embedded default, and through a chat model that is scripted. Loading and first calls are not counted.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, NamedTuple

from intrinsics_core import hallucination_detection, run
from intrinsics_core.runtimes.scripted import Scripted

EMBEDDED = {"kind": "embedded", "threads": 1}
DOCUMENT = "The tide mill at Port Ellery was built in 1911 by the engineer Ada Brink. It ground flour until 1958."
OTHER = "The harbour of Port Ellery has two cranes."
QUESTION = "Who built the tide mill, and when?"
TURNS = [
    {"role": "user", "content": QUESTION},
    {"role": "assistant", "content": "Ada Brink built it in 1911. It ground flour until 1968."},
]
REPLY = json.dumps({"sentences": [{"id": f"r{i}", "reason": "it says so", "faithfulness": "faithful"} for i in (0, 1)]})
WORK = ("embedded", "text", "calibration")
"""The rooms of the embedded models, and of how texts are read for them."""


class Crossed(NamedTuple):
    modules: int
    functions: int


def crossed(call: Callable[[str], Any], *, left_out: tuple[str, ...] = ()) -> Crossed:
    """The modules and functions of ours that a call crosses, after one with another text that loads what it needs.

    Args:
        call: what is done with a document's text.
        left_out: rooms of the core that do not count.
    """
    modules, functions = set[str](), set[tuple[str, str]]()

    def note(frame: FrameType, event: str, _argument: object) -> None:
        package, _, path = (module := frame.f_globals.get("__name__", "")).partition(".")
        named = "<" not in frame.f_code.co_name
        ours = package in ("intrinsics_core", "langchain_rag_intrinsics") and path.partition(".")[0] not in left_out
        if event == "call" and named and ours:
            modules.add(module)
            functions.add((module, frame.f_code.co_qualname))

    call(DOCUMENT)
    sys.setprofile(note)
    try:
        call(DOCUMENT.replace("1911", "1912"))
    finally:
        sys.setprofile(None)
    return Crossed(len(modules), len(functions))


def detection(runtime: object = EMBEDDED) -> Callable[[str], Any]:
    """A detection of hallucinations in two sentences."""
    return lambda text: run(hallucination_detection(TURNS, [text]), runtime)


def langchain_rerank() -> Callable[[str], Any]:
    """A rerank of two documents by LangChain's adapter."""
    from langchain_core.documents import Document
    from langchain_rag_intrinsics import IntrinsicsReranker

    reranker = IntrinsicsReranker(runtime=EMBEDDED)
    return lambda text: reranker.invoke({"query": QUESTION, "documents": [Document(OTHER), Document(text)]})


def main() -> None:
    print("| call | modules | functions |\n|---|---|---|")
    rerank = langchain_rerank()
    for name, found in (
        ("detection, embedded", crossed(detection())),
        ("detection, scripted chat", crossed(detection(Scripted([REPLY] * 2)))),
        ("LangChain rerank, embedded", crossed(rerank)),
        (f"the same without {', '.join(WORK)}", crossed(rerank, left_out=WORK)),
    ):
        print(f"| {name} | {' | '.join(map(str, found))} |")


if __name__ == "__main__":
    main()
