"""Each distribution builds, passes the registry's check, and its wheel works alone: installed as from a registry, by
the extra of its framework, into a clean environment, from a wheelhouse and nothing else.

Minutes of installing: runs where RAG_INTRINSICS_WHEELS names a folder to work in (`.ci/run` does).
"""

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

WORK = os.environ.get("RAG_INTRINSICS_WHEELS")
pytestmark = pytest.mark.skipif(not WORK, reason="RAG_INTRINSICS_WHEELS names no folder to build and install in")
ROOT = Path(__file__).parent.parent.parent
FRAMEWORKS = {"langchain_core", "llama_index.core", "haystack"}

# distribution -> (its folder, what importing it must bring, the framework it is for, a neighbour in its namespace)
DISTRIBUTIONS = {
    "rag-intrinsics": (".", ["intrinsics_core"], None, None),
    "langchain-rag-intrinsics": ("integrations/langchain", ["langchain_rag_intrinsics"], "langchain_core", None),
    "llama-index-rag-intrinsics": (
        "integrations/llamaindex",
        ["llama_index.postprocessor.rag_intrinsics", "llama_index.evaluation.rag_intrinsics",
         "llama_index.response_synthesizers.rag_intrinsics", "llama_index.embeddings.rag_intrinsics"],
        "llama_index.core",
        ("llama-index-retrievers-bm25", "llama_index.retrievers.bm25"),
    ),
    "rag-intrinsics-haystack": (
        "integrations/haystack",
        ["haystack_integrations.components.rankers.rag_intrinsics",
         "haystack_integrations.components.routers.rag_intrinsics"],
        "haystack",
        ("jina-haystack", "haystack_integrations.components.rankers.jina"),
    ),
}  # fmt: skip


EXTRAS = {
    "langchain-rag-intrinsics": "rag-intrinsics[langchain]",
    "llama-index-rag-intrinsics": "rag-intrinsics[llamaindex]",
    "rag-intrinsics-haystack": "rag-intrinsics[haystack]",
}


def from_wheelhouse(python, wheels, requirement):
    """Fetch all wheels that a requirement needs, then install it with no index at all."""
    house = Path(str(WORK)) / "wheelhouse"
    fetch = [sys.executable, "-m", "pip", "download", "-q", "--only-binary=:all:", "-d", str(house)]
    subprocess.run([*fetch, "--find-links", str(wheels), requirement], check=True)
    offline = [python, "-m", "pip", "install", "-q", "--no-index", "--find-links", str(house)]
    subprocess.run([*offline, requirement], check=True)


@pytest.fixture(scope="module")
def wheels():
    folder = Path(str(WORK)) / "wheels"
    sources = [str(ROOT / place) for place, *_ in DISTRIBUTIONS.values()]
    subprocess.run([sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(folder), *sources], check=True)
    return folder


def test_the_wheel_holds_the_notice_and_every_licence(wheels):
    (wheel,) = wheels.glob("rag_intrinsics-*.whl")
    names = [name.rpartition(".dist-info/")[2] for name in zipfile.ZipFile(wheel).namelist()]
    encoder = "intrinsics_core/data/encoder"
    for file in ("LICENSE", "NOTICE", f"{encoder}/NOTICE", f"{encoder}/LICENSE.MiniLM"):
        assert f"licenses/{file}" in names


def test_the_wheel_holds_the_whole_page_and_the_style_sheets_that_it_shares(wheels):
    (wheel,) = wheels.glob("rag_intrinsics-*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    page = {file.relative_to(ROOT).as_posix() for file in (ROOT / "intrinsics_core/service/page").iterdir()}
    sheets = {file.relative_to(ROOT).as_posix() for file in (ROOT / "intrinsics_core/render").glob("*.css")}
    assert {"intrinsics_core/service/page/index.html", "intrinsics_core/service/page/main.js"} <= page and len(
        sheets
    ) > 2
    assert page | sheets <= names


def test_wheels_and_sources_pass_the_registry_s_check(wheels):
    folder = Path(str(WORK)) / "dist"
    for place, *_ in DISTRIBUTIONS.values():
        subprocess.run([sys.executable, "-m", "build", "-s", "-o", str(folder), str(ROOT / place)], check=True,
                       capture_output=True)  # fmt: skip
    files = sorted(map(str, [*wheels.glob("*rag_intrinsics*.whl"), *folder.glob("*.tar.gz")]))
    assert len(files) == 8
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *files], check=True)


@pytest.mark.parametrize("pip", ["23.2.1", "newest"])  # that of Python 3.11, and what the README fetches
def test_the_demo_runs_from_a_wheelhouse(wheels, pip):
    home = Path(str(WORK)) / "demo"
    venv.create(home, with_pip=True, clear=True)
    wanted = ["-U", "pip"] if pip == "newest" else [f"pip=={pip}"]
    subprocess.run([str(home / "bin" / "python"), "-m", "pip", "install", "-q", *wanted], check=True)
    from_wheelhouse(str(home / "bin" / "python"), wheels, "rag-intrinsics[demo]")
    command = [str(home / "bin" / "intrinsics"), "demo", "--html", str(home / "page.html")]
    told = subprocess.run(command, capture_output=True, text=True, check=True, cwd=home).stdout
    assert "unfaithful" in told
    assert "<html" in (home / "page.html").read_text("utf-8")


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_a_wheel_alone(wheels, name):
    _, modules, framework, neighbour = DISTRIBUTIONS[name]
    home = Path(str(WORK)) / f"alone-{name}"
    venv.create(home, with_pip=True, clear=True)
    python = str(home / "bin" / "python")
    install = [python, "-m", "pip", "install", "-q", "--find-links", str(wheels)]
    from_wheelhouse(python, wheels, EXTRAS.get(name, name))
    check = f"""
import importlib, importlib.util
for module in {modules!r}:
    importlib.import_module(module)
def there(module):
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False
print([f for f in {sorted(FRAMEWORKS)!r} if there(f)])
from intrinsics_core import answerability, run
print(run(answerability([{{"role": "user", "content": "Who built it?"}}], ["Ada Brink built it."])).probability > 0)
"""
    seen = subprocess.run([python, "-c", check], capture_output=True, text=True, check=True, cwd=home).stdout
    assert seen.splitlines() == [str([framework] if framework else []), "True"]
    if neighbour:
        package, module = neighbour
        if subprocess.run([*install, package]).returncode:
            pytest.skip(f"{package} cannot be installed here")
        both = "; ".join(f"import {m}" for m in [*modules, module])
        subprocess.run([python, "-c", both], check=True, cwd=home)
