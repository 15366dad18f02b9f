"""How many modules and functions of the core one detection of two sentences crosses.

    python -m benchmarks.trace

With the embedded default, and through a chat model that is scripted. Loading and first calls are not counted.
"""

from __future__ import annotations

import json
import sys
from types import FrameType
from typing import NamedTuple

from intrinsics_core import hallucination_detection, run
from intrinsics_core.runtimes.scripted import Scripted

DOCUMENT = "The tide mill at Port Ellery was built in 1911 by the engineer Ada Brink. It ground flour until 1958."
TURNS = [
    {"role": "user", "content": "Who built the tide mill, and when?"},
    {"role": "assistant", "content": "Ada Brink built it in 1911. It ground flour until 1968."},
]
REPLY = json.dumps({"sentences": [{"id": f"r{i}", "reason": "it says so", "faithfulness": "faithful"} for i in (0, 1)]})


class Crossed(NamedTuple):
    modules: int
    functions: int


def crossed(runtime: object) -> Crossed:
    """The modules and functions of the core that a detection crosses, after one that loads what it needs."""
    modules, functions = set[str](), set[tuple[str, str]]()

    def note(frame: FrameType, event: str, _argument: object) -> None:
        module = frame.f_globals.get("__name__", "")
        named = "<" not in frame.f_code.co_name
        if event == "call" and named and module.startswith("intrinsics_core"):
            modules.add(module)
            functions.add((module, frame.f_code.co_qualname))

    run(hallucination_detection(TURNS, [DOCUMENT]), runtime)
    sys.setprofile(note)
    try:
        run(hallucination_detection(TURNS, [DOCUMENT.replace("1911", "1912")]), runtime)
    finally:
        sys.setprofile(None)
    return Crossed(len(modules), len(functions))


def main() -> None:
    print("| runtime | modules | functions |\n|---|---|---|")
    for name, runtime in (("embedded", {"kind": "embedded", "threads": 1}), ("scripted chat", Scripted([REPLY] * 2))):
        print(f"| {name} | {' | '.join(map(str, crossed(runtime)))} |")


if __name__ == "__main__":
    main()
