"""The page in a real browser: Debian's chromium, driven by Playwright. One service and one browser for each file."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from intrinsics_core.profiles.asking import data_of
from tests.service.running import in_thread

HERE = Path(__file__).parent
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
QUIET = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
SAMPLES = json.loads((HERE.parents[2] / "intrinsics_core/service/page/samples.json").read_text(encoding="utf-8"))


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Without the extra [serve] there is no page."""
    if collection_path.parent == HERE and collection_path.name.startswith("test_"):
        try:
            import fastapi  # noqa: F401
        except ImportError:
            return True
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    """The address of a service with four runtimes; two of them fail in their own ways."""
    from intrinsics_core.runtimes import Scripted
    from intrinsics_core.service.app import create_app

    nowhere = {"kind": "server", "base_url": "http://127.0.0.1:9/v1", "max_retries": 0}
    runtimes = {
        "default": None,
        "fast": {"kind": "embedded", "reader": False},
        "forgetful": Scripted(_without_the_last),
        "away": nowhere,
    }
    with in_thread(create_app(runtimes)) as url:
        yield url


def _without_the_last(request: Any) -> Any:
    """A judge that leaves the last sentence out, of whatever it is asked; it knows nothing but audits."""
    if request.intrinsic != "audit":
        return "I would rather not."
    asked = data_of(request.messages[-1].content)
    sentences = [
        {"id": name, "reason": "It stands there.", "faithfulness": "faithful", "sources": ["c0"]}
        for name in list(asked["response"])[:-1]
    ]
    return {"answerability": "answerable", "confidence": 0.9, "sentences": sentences, "answers_question": "yes",
            "correct": "yes", "certainty": 0.85}  # fmt: skip


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no chromium")
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield found
        found.close()


Opened = Callable[..., Any]


@contextmanager
def opening(browser: Any) -> Iterator[Opened]:
    """A function that opens a page as somebody has it; at the end none has done what it must not."""
    contexts, wrong = [], []

    def opened(url: str, *, width: int = 1280, height: int = 900, example: bool = False, **how: Any) -> Any:
        context = browser.new_context(viewport={"width": width, "height": height}, **how)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.sent = []
        # Told by the browser itself, also where a script of the page would be stopped.
        page.add_init_script(
            "addEventListener('securitypolicyviolation', e => console.error('VIOLATION', e.effectiveDirective))"
        )
        page.on("pageerror", lambda error: wrong.append(f"a script failed: {error}"))
        page.on("dialog", lambda dialog: (wrong.append(f"a dialog: {dialog.message}"), dialog.dismiss()))
        page.on("popup", lambda other: wrong.append(f"another page: {other.url}"))
        page.on("console", lambda said: wrong.append(said.text) if _about_policy(said.text) else None)

        def requested(request: Any) -> None:
            page.sent.append(request)
            address = urlsplit(request.url)
            if address.scheme != "blob" and address.netloc != urlsplit(url).netloc:
                wrong.append(f"a request to {request.url[:200]}")

        context.on("request", requested)
        page.goto(url if example else f"{url}/#own")
        page.locator("#samples button").first.wait_for()
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not wrong


def _about_policy(words: str) -> bool:
    return words.startswith("VIOLATION") or "Content Security Policy" in words or "Trusted" in words


@pytest.fixture
def opened(browser: Any) -> Iterator[Opened]:
    with opening(browser) as function:
        yield function


@pytest.fixture
def page(opened: Opened, service: str) -> Any:
    """The page at a desk."""
    return opened(service)


def load(page: Any, name: str) -> dict[str, Any]:
    """Load a sample by a click, and wait until it is judged; the sample."""
    sample = next(sample for sample in SAMPLES if sample["name"] == name)
    page.get_by_role("button", name=name).click()
    judged(page)
    return sample


def judged(page: Any) -> None:
    """Wait until nothing is being judged."""
    page.locator('#results[aria-busy="false"]').wait_for()


def write(page: Any, *, conversation: str | None = None, answer: str | None = None, documents: Any = ()) -> None:
    """Write into the fields as a person does: by what they are called."""
    if conversation is not None:
        page.get_by_label("Question or conversation").fill(conversation)
    if answer is not None:
        page.get_by_label("Answer", exact=True).fill(answer)
    for i, (name, text) in enumerate(documents, start=1):
        if page.get_by_label(f"Name of document {i}").count() == 0:
            judged(page)  # verdicts that arrive move the button
            page.get_by_role("button", name="Add a document").click()
        page.get_by_label(f"Name of document {i}").fill(name)
        page.get_by_label(f"Text of document {i}").fill(text)
    judged(page)


def verdicts(page: Any) -> list[tuple[str, str]]:
    """Each sentence as it is underlined, and its tone."""
    return [
        (mark.inner_text(), mark.get_attribute("class"))
        for mark in page.locator(".panel").first.locator(".sentence mark").all()
    ]
