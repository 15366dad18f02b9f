"""The tiny Granite that vLLM serves in the tests: ``python tests/vllm/build.py OUT``, in vLLM's own environment.

One LoRA adapter under each name that the two families' adapters are listed by, and one aLoRA, which vLLM refuses.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # nothing of the project is installed in that environment

from tests.tiny_granite import Adapter, build

NAMES = (
    "query_rewrite",
    "answerability",
    "answerability_prediction",
    "certainty",
    "citations",
    "citation_generation",
    "context_relevancy",
    "hallucinations",
    "hallucination_detection",
    "answer_relevance_classifier",
    "answer_relevance_rewriter",
)
ADAPTERS = {f"{name}_lora": Adapter(seed) for seed, name in enumerate(NAMES, start=1)} | {
    "certainty_alora": Adapter(50, "<|start_of_role|>certainty<|end_of_role|>")
}

if __name__ == "__main__":
    print(build(sys.argv[1], adapters=ADAPTERS, context=8192))
