"""Whether everybody can read and reach it: contrast, the order of the focus, names, a phone. All of it computed."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.service.page.conftest import HERE, judged, load, write

CONTRASTS = (HERE / "contrasts.js").read_text(encoding="utf-8")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_the_contrast_that_it_needs(opened, service, scheme):
    page = opened(service, color_scheme=scheme)
    # One of every kind of verdict, remark and error is on the page.
    beside = page.get_by_label("Compare with")
    states = {
        "a sample": lambda: load(page, "A wrong number"),
        "an error": lambda: (load(page, "The right words, the wrong way round"), beside.select_option("away")),
        "no verdict": lambda: beside.select_option("forgetful"),
        "code": lambda: page.get_by_role("button", name="curl").click(),
        "every tone": lambda: write(page, answer="Maria sold it in 1994. Erik sold it to Maria. It was gold. Hello!"),
    }
    for name, reach in states.items():
        reach()
        judged(page)
        found = page.evaluate(CONTRASTS)
        assert len(found) > 30
        low = [one for one in found if one["ratio"] < one["least"]]
        assert low == [], name


def test_verdicts_differ_by_more_than_their_colour(page):
    page.get_by_label("Judge", exact=True).select_option("forgetful")
    write(page, conversation="Who?", documents=[("a", "Ada.")], answer="It is Ada. It is gold.")
    seen = page.locator("#legend mark").evaluate_all(
        "all => all.map(mark => getComputedStyle(mark)).map(s => s.textDecorationStyle + s.backgroundColor)"
    )
    assert len(set(seen)) == 5
    unseen = page.locator(".sentence .unseen").all_text_contents()  # read out with the sentence
    assert unseen[0].strip().startswith("(faithful: The documents support")
    assert unseen[1].strip().startswith("(no verdict: The judge gave no verdict")


def test_the_focus_goes_through_the_page_as_it_is_read(page):
    load(page, "A wrong number")
    page.locator(".sentence").first.wait_for()
    page.locator(".skip").focus()
    page.keyboard.press("Shift+Tab")  # before the first
    stops = []
    for _ in range(60):
        page.keyboard.press("Tab")
        stop = page.evaluate(
            """() => {
                const at = document.activeElement, seen = at.id === "files" ? at.previousElementSibling : at;
                const {outlineStyle, outlineWidth} = getComputedStyle(seen);
                return {name: at.id || at.className || at.tagName, outline: outlineStyle, width: outlineWidth, label:
                        at.getAttribute("aria-label") ?? at.labels?.[0]?.textContent ?? at.textContent.trim()};
            }"""
        )
        if stop["name"] in ("BODY", "skip") and stops:  # at the end, or at the beginning again
            break
        stops.append(stop)
    else:
        pytest.fail("the focus never came to an end")
    names = [stop["name"] for stop in stops]
    order = [
        "skip",
        "conversation",
        "answer",
        "add-document",
        "files",
        "runtime",
        "beside",
        "sentence selected",
        "sources",
        "report",
    ]
    places = [names.index(name) for name in order]
    assert places == sorted(places)
    assert names.count("INPUT") == names.count("TEXTAREA") == 2  # both documents
    assert all(stop["label"] for stop in stops)
    assert all(stop["outline"] != "none" and float(stop["width"].removesuffix("px")) >= 2 for stop in stops)


def test_everything_that_takes_the_focus_has_a_name_and_a_role(page):
    load(page, "A made-up sentence")
    page.get_by_role("button", name="Python").click()
    tree = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    focusable = [node for node in tree if not node["ignored"] and _has(node, "focusable")]
    assert len(focusable) > 20
    nameless = [
        n["role"]["value"]
        for n in focusable
        if not n.get("name", {}).get("value") and n["role"]["value"] != "RootWebArea"
    ]
    assert nameless == ["generic"] or nameless == []  # what is said of the sentence is its own name
    roles = {node["role"]["value"] for node in tree}
    assert {"main", "heading", "region", "status", "table"} <= roles
    heads = page.locator("h1, h2, h3, h4").evaluate_all(
        "all => all.filter(h => h.checkVisibility()).map(h => Number(h.tagName[1]))"
    )
    assert heads[0] == 1 and all(after - before <= 1 for before, after in pairwise(heads))


def test_the_verdict_is_read_out_and_only_when_it_changes(page):
    load(page, "A wrong number")
    status = page.locator("#summary")
    assert status.get_attribute("role") == "status"
    page.evaluate(
        """() => {
            window.changes = 0;
            const all = {childList: true, characterData: true, subtree: true};
            new MutationObserver(() => window.changes++).observe(document.getElementById("summary"), all);
        }"""
    )
    answer = page.get_by_label("Answer", exact=True)
    answer.fill("On Sundays the museum closes at 7 pm. Children under twelve pay nothing.")
    judged(page)
    assert page.evaluate("window.changes") == 0
    answer.fill("On Sundays the museum closes at 4 pm. Children under twelve pay nothing.")
    judged(page)
    assert page.evaluate("window.changes") == 1


def _has(node, name):
    return any(one["name"] == name and one["value"]["value"] for one in node.get("properties", ()))


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_nothing_sticks_out_at_any_width(opened, service, width):
    page = opened(service, width=width, height=844)
    load(page, "The right words, the wrong way round")
    page.get_by_label("Compare with").select_option("fast")
    page.get_by_role("button", name="LangChain").click()
    judged(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    out = page.evaluate(
        """() => [...document.querySelectorAll("main *")]
            .filter(one => one.checkVisibility() && !one.closest("#code, .wide, .unseen"))
            .filter(one => one.getBoundingClientRect().right > innerWidth + 1).map(one => one.outerHTML.slice(0, 80))"""
    )
    assert out == []
    if width < 1280:  # one below the other, and a finger finds each control
        one, other = (panel.bounding_box() for panel in page.locator(".panel").all())
        assert one["y"] + one["height"] <= other["y"]
        sizes = page.locator("button, select, textarea, input[type=text]").evaluate_all(
            "all => all.filter(one => one.checkVisibility()).map(one => one.getBoundingClientRect().height)"
        )
        assert min(sizes) >= 24  # WCAG 2.2, 2.5.8


def test_a_resize_moves_the_verdicts_and_loses_nothing(page):
    load(page, "A made-up sentence")
    before = page.locator("#panels").inner_text().split()
    beside = page.locator("#results").bounding_box()["x"]
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.locator("#results").bounding_box()["x"] < beside
    assert page.locator("#panels").inner_text().split() == before
    page.get_by_role("link", name="See why").click()
    assert page.evaluate("document.activeElement.id") == "results"
