import subprocess
import sys

HEAVY = ["torch", "transformers", "onnxruntime", "langchain", "langchain_core", "llama_index", "haystack", "sklearn",
         "numpy", "nltk", "openai", "typer"]  # fmt: skip


def test_importing_the_core_loads_nothing_heavy():
    code = f"import sys, intrinsics_core; print([m for m in {HEAVY!r} if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
