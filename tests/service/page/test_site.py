"""The site of the documentation in the same browser, as `python docs/build.py` left it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

SITE = Path(__file__).parents[3] / "build/site"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Keep the lines of requests."""


@pytest.fixture(scope="module")
def site(browser: Any) -> Iterator[tuple[str, Any]]:
    """The site's address, and a page that has gone wrong nowhere."""
    if not SITE.is_dir():
        pytest.skip("python docs/build.py has not run")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=SITE)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page, wrong = browser.new_page(), []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("response", lambda told: wrong.append(told.url) if told.status >= 400 else None)
        yield f"http://127.0.0.1:{server.server_port}", page
        page.close()
        server.shutdown()
    assert not wrong


@pytest.mark.parametrize("name", ["langchain", "llamaindex", "haystack"])
def test_a_notebook_shows_its_pictures(site: tuple[str, Any], name: str) -> None:
    url, page = site
    page.goto(f"{url}/notebook_{name}/")
    widths = page.evaluate("[...document.querySelectorAll('article img')].map(image => image.naturalWidth)")
    assert len(widths) >= 3 and min(widths) > 300
    assert "Figure size" not in page.locator("article").inner_text()


def test_the_search_finds_without_small_words(site: tuple[str, Any]) -> None:
    url, page = site
    found = []
    for words in ("reranker", "for the reranker"):
        page.goto(url)
        page.locator(".md-search__button").click()
        page.get_by_placeholder("Search").fill(words)
        page.locator("ol a").first.wait_for()
        found.append(page.locator("ol a").all_inner_texts())
    assert len(found[0]) > 4 and found[0] == found[1]
