import subprocess
import sys

HEAVY = ["torch", "transformers", "onnxruntime", "langchain", "langchain_core", "llama_index", "haystack", "sklearn",
         "numpy", "nltk", "snowballstemmer", "openai", "typer"]  # fmt: skip


def test_importing_the_core_loads_nothing_heavy():
    code = f"import sys, intrinsics_core; print([m for m in {HEAVY!r} if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_the_default_runs_without_libraries_that_are_slow_to_import():
    code = f"""
import sys, intrinsics_core as ic
ic.run(ic.answerability([{{"role": "user", "content": "Who built the mill?"}}], ["Ada built the mills."]))
print([m for m in {["nltk", "scipy", "sklearn", "torch", "transformers"]!r} if m in sys.modules])
"""
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"
