"""Rendering plus parsing one citations request of 100 documents of 100 sentences, beside granite-io 0.5.3.

    pip install granite-io==0.5.3     # in an environment of its own: it brings torch
    python -m benchmarks.citations_overhead

Both make the prompt of the Granite 3.3 citations adapter and turn the same reply into citations with offsets, in one
process, taking turns. Nothing is kept between rounds: our cache of split texts is emptied before each.
"""

from __future__ import annotations

import json
import platform
import random
import statistics
import time

from intrinsics_core import citations
from intrinsics_core.profiles import profile
from intrinsics_core.protocol.requests import Generated
from intrinsics_core.text.sentences import punkt

DOCUMENTS, SENTENCES, RESPONSE, ROUNDS = 100, 100, 20, 7
# fmt: off
WORDS = [
    "the", "ferry", "leaves", "harbour", "at", "noon", "and", "a", "keeper", "lights", "lamp", "on", "cape", "when",
    "storm", "comes", "with", "Moreau", "3.5", "metres",
]
# fmt: on


def texts(seed: int = 0) -> tuple[list[str], str]:
    """Documents and a response of made-up sentences."""
    draw = random.Random(seed)

    def sentence() -> str:
        return " ".join(draw.choices(WORDS, k=draw.randint(8, 22))).capitalize() + draw.choice(
            [".", ".", ".", "!", "?"]
        )

    documents = [" ".join(sentence() for _ in range(SENTENCES)) for _ in range(DOCUMENTS)]
    return documents, " ".join(sentence() for _ in range(RESPONSE))


def reply(count: int) -> str:
    """What a model would cite: three document sentences per response sentence."""
    draw = random.Random(1)
    return json.dumps([{"r": r, "c": sorted(draw.sample(range(count), 3))} for r in range(RESPONSE)])


def ours(documents: list[str], response: str, text: str) -> int:
    punkt.cache_clear()  # type: ignore[attr-defined]
    call = citations(
        [{"role": "user", "content": "When does it leave?"}, {"role": "assistant", "content": response}], documents
    )
    program = call.start(profile("granite-3.3"))
    next(program)
    try:
        program.send([Generated(text)])
    except StopIteration as stop:
        return len(stop.value.citations)
    raise AssertionError("the reply was not understood")


def theirs(processor: object, documents: list[str], response: str, text: str) -> int:
    from granite_io.io.granite_3_3.input_processors.granite_3_3_input_processor import Granite3Point3Inputs
    from granite_io.types import GenerateResult, GenerateResults

    inputs = Granite3Point3Inputs.model_validate(
        {
            "messages": [
                {"role": "user", "content": "When does it leave?"},
                {"role": "assistant", "content": response},
            ],
            "documents": [{"doc_id": str(i), "text": d} for i, d in enumerate(documents)],
        }
    )
    processor.inputs_to_generate_inputs(inputs)  # type: ignore[attr-defined]
    output = GenerateResults(results=[GenerateResult(completion_string=text, completion_tokens=[], stop_reason="stop")])
    result = processor.output_to_result(output, inputs)  # type: ignore[attr-defined]
    return len(result.results[0].next_message.citations)


def main() -> None:
    documents, response = texts()
    text = reply(sum(len(punkt(d)) for d in documents))
    runs = {"ours": lambda: ours(documents, response, text)}
    try:
        from granite_io.io.citations import CitationsIOProcessor
    except ImportError as error:
        print(f"granite-io is not installed ({error}): ours alone, no ratio")
    else:
        processor = CitationsIOProcessor(None)
        runs["granite-io 0.5.3"] = lambda: theirs(processor, documents, response, text)
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    found = {}
    for _ in range(ROUNDS):
        for name, once in runs.items():
            start = time.perf_counter()
            found[name] = once()
            seconds[name].append(time.perf_counter() - start)
    print(f"{DOCUMENTS} documents of {SENTENCES} sentences, Python {platform.python_version()}, median of {ROUNDS}\n")
    print("| | ms | citations |\n|---|---|---|")
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    for name, median in medians.items():
        print(f"| {name} | {median * 1000:.0f} | {found[name]} |")
    if len(medians) > 1:
        print(f"\nratio: {medians['granite-io 0.5.3'] / medians['ours']:.1f} times faster (aim: 4)")


if __name__ == "__main__":
    main()
