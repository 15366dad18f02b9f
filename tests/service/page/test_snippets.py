"""What "copy as" copies is a program that runs, and says what the page says."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys

import httpx
import pytest

from tests.service.page.conftest import SAMPLES, judged, load, write

# Each framework in an environment that has it: this one, or the Python that a variable names.
FRAMEWORKS = {
    "Python": ("intrinsics_core", None),
    "LangChain": ("langchain_rag_intrinsics", None),
    "LlamaIndex": ("llama_index.core", "RAG_INTRINSICS_LLAMAINDEX_PYTHON"),
    "Haystack": ("haystack", "RAG_INTRINSICS_HAYSTACK_PYTHON"),
}
RUNNER = """
import contextlib, io, json, sys
said = []
for code in json.load(sys.stdin):
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(code, "snippet", "exec"), {"__name__": "__main__"})
    said.append(printed.getvalue())
print("SAID " + json.dumps(said))
"""
# What breaks out of quotes, of here-documents, of f-strings; and text that reads as it is not written.
HARD = {
    "name": "hard",
    "conversation": "User: What's \"it\"?\nAssistant: $(touch x) `id` ${HOME} \\ \\n 'JSON'\n"
    "User: Who built the 'mill' %s {0}?",
    "answer": '🙂 Ada Brink built the mill. It\'s "gold" \\u0041 \u202egnp.\u202c\nJSON\n\'\'\'""" It has $HOME.',
    "documents": [
        {"id": "a\"b'c", "text": "Ada Brink built the mill in 1911.\nJSON\n"},
        {"id": "", "text": "Fog \u2028 is common."},
    ],
}
BARE = {"name": "bare", "conversation": "", "answer": "Ada Brink built it.", "documents": HARD["documents"]}
LONE = {"name": "lone", "conversation": "Who built it?", "answer": "", "documents": []}


def python_with(framework: str) -> str:
    module, variable = FRAMEWORKS[framework]
    try:
        if importlib.util.find_spec(module):
            return sys.executable
    except ModuleNotFoundError:  # not even the package above it
        pass
    if variable and (named := os.environ.get(variable)):
        return named
    pytest.skip(f"{framework} is not in this environment, and {variable} names no Python that has it")


def copied(page, sample, name):
    """What the button of that name copies for a sample, and the row that the page asked about."""
    if sample not in SAMPLES:
        page.reload()
        written = [(document["id"], document["text"]) for document in sample["documents"]]
        write(page, conversation=sample["conversation"], answer=sample["answer"], documents=written)
    else:
        load(page, sample["name"])
    page.get_by_role("button", name=name, exact=True).click()
    judged(page)
    intrinsic = "audit" if sample["answer"] else "answerability"
    row = next(r for r in reversed(page.sent) if r.url.endswith(f"/{intrinsic}"))
    return page.locator("#code").text_content(), json.loads(row.post_data)


def expected(service, row):
    """What a program for this row prints."""

    def of(intrinsic):
        told = httpx.post(f"{service}/v1/intrinsics/{intrinsic}", json=row, timeout=120, trust_env=False)
        return told.raise_for_status().json()["result"]

    if row["messages"][-1]["role"] == "assistant":
        return "".join(f"{sentence['label']} {sentence['text']}\n" for sentence in of("audit")["sentences"])
    ranked = "".join(f"{one['rank']} {one['document_id']}\n" for one in of("reranking")["ranking"])
    return f"{ranked}{of('answerability')['label']}\n"


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_program_runs_as_it_is_copied_and_says_what_the_page_says(page, service, framework):
    python = python_with(framework)
    asked = [copied(page, sample, framework) for sample in (*SAMPLES, HARD, BARE, LONE)]
    codes = [code for code, _ in asked]
    assert all(code.isprintable() for code in "".join(codes).split("\n"))  # nothing in it reads as it is not written
    ran = subprocess.run([python, "-c", RUNNER], input=json.dumps(codes), capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr
    said = json.loads(next(line for line in ran.stdout.splitlines() if line.startswith("SAID ")).removeprefix("SAID "))
    assert said == [expected(service, row) for _, row in asked]


@pytest.mark.skipif(shutil.which("curl") is None or shutil.which("bash") is None, reason="there is no curl, or no bash")
def test_curl_asks_this_service_for_the_same(page, service, tmp_path):
    for sample in (*SAMPLES, HARD, BARE, LONE):
        code, row = copied(page, sample, "curl")
        ran = subprocess.run(["bash", "-c", code], capture_output=True, timeout=120, cwd=tmp_path,
                             env={**os.environ, "NO_PROXY": "127.0.0.1"})  # fmt: skip
        told = json.loads(ran.stdout)["result"]
        intrinsic = "audit" if sample["answer"] else "answerability"
        url = f"{service}/v1/intrinsics/{intrinsic}"
        assert told == httpx.post(url, json=row, timeout=120, trust_env=False).json()["result"]
    assert list(tmp_path.iterdir()) == []


def test_it_is_in_the_clipboard_or_selected(opened, service):
    page = opened(service, permissions=["clipboard-read", "clipboard-write"])
    load(page, "A wrong number")
    page.get_by_role("button", name="Python", exact=True).click()
    page.get_by_text("Copied as Python.").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == page.locator("#code").text_content()
    page.context.clear_permissions()
    page.evaluate(
        "Object.defineProperty(navigator, 'clipboard', {value: undefined})"
    )  # as over http from another machine
    page.get_by_role("button", name="curl", exact=True).click()
    page.get_by_text("The code is selected").wait_for()
    assert page.evaluate("getSelection().toString()").strip() == page.locator("#code").text_content().strip()


def test_the_code_follows_what_is_written(page):
    load(page, "A wrong number")
    page.get_by_role("button", name="Python", exact=True).click()
    page.get_by_label("Answer", exact=True).fill("It is blue.")
    judged(page)
    assert '"It is blue."' in page.locator("#code").text_content()
