"""The tiny cross-encoder that vLLM scores with: ``python tests/vllm/score/build.py OUT PAIRS``, in vLLM's environment.

What torch says to the pairs, given as JSON, is written beside it: ``OUT/expected.json``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))  # nothing of the project is installed in that environment

from tests.encoders import tiny

if __name__ == "__main__":
    import torch
    from tokenizers import Tokenizer
    from transformers import AutoModelForSequenceClassification

    torch.set_num_threads(1)
    # One head of 32: vLLM on a CPU knows none of 16.
    folder = tiny.classifier(Path(sys.argv[1]), ["LABEL_0"], role="relevance", length=160, words=120, heads=1)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.inference_mode():
        logits = [float(model(**tiny._tensors([tokenizer.encode(*pair)])).logits) for pair in json.loads(sys.argv[2])]
    (folder / "expected.json").write_text(json.dumps(logits))
