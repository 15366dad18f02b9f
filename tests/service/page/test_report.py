"""The report of the demo and a result in a notebook, in a real browser: contrast, a phone, the notebook's own rules."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from intrinsics_core import audit, run
from intrinsics_core.demo import langchain as telling
from intrinsics_core.demo.story import passages, story
from intrinsics_core.render.report import report
from intrinsics_core.runtimes import as_runtime
from tests.service.page.conftest import HERE

CONTRASTS = (HERE / "contrasts.js").read_text(encoding="utf-8")
STICKING_OUT = """() => [...document.querySelectorAll("body *")]
    .filter(one => one.checkVisibility() && !one.closest("svg *"))
    .filter(one => one.getBoundingClientRect().right > innerWidth + 1 || one.scrollWidth > one.clientWidth + 1
                   && getComputedStyle(one).overflowX != "visible").map(one => one.outerHTML.slice(0, 80))"""
# What JupyterLab says of tables in an output.
NOTEBOOK = """<style>.out table { margin-left: auto; font-size: 12px } .out td, .out th, .out tr { text-align: right;
padding: 0.5em; border: none } .out tbody tr:nth-child(odd) { background: #f5f5f5 }</style>"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    turns = list(telling.play(story(), story().questions, passages(), as_runtime(None)))
    file = tmp_path_factory.mktemp("report") / "report.html"
    file.write_text(report(story().title, story().lead, turns, notes=["At the foot."]), encoding="utf-8")
    return file


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    found: list[Any] = []

    def opened(width: int, scheme: str) -> Any:
        found.append(browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme))
        return found[-1].new_page()

    yield opened
    for context in found:
        context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_report_is_read_on_a_phone_and_on_a_desk(page: Any, told: Path, width: int, scheme: str) -> None:
    shown = page(width, scheme)
    shown.goto(told.as_uri())
    texts = shown.evaluate(CONTRASTS)
    assert len(texts) > 100
    assert [text for text in texts if text["ratio"] < text["least"]] == []
    assert shown.evaluate(STICKING_OUT) == []
    assert shown.locator("svg").first.is_visible() is (width > 640)  # a phone has a list in place of the picture
    assert shown.locator(".ranks").first.is_visible() is (width < 640)


def test_a_result_in_a_notebook_is_set_to_the_left(page: Any) -> None:
    turns = [{"role": "user", "content": "Who built it?"}, {"role": "assistant", "content": "Ada did. It is gold."}]
    found = run(audit(turns, ["Ada Brink built the mill in 1911."]))
    shown = page(1280, "light")
    shown.set_content(f"{NOTEBOOK}<div class='out'>{found._repr_html_()}</div>")
    cells = shown.locator("td, th")
    assert cells.count() > 2
    assert set(cells.evaluate_all("all => all.map(one => getComputedStyle(one).textAlign)")) <= {"left", "start"}
    assert [text for text in shown.evaluate(CONTRASTS) if text["ratio"] < text["least"]] == []
