"""Text of strangers is text: it runs nothing, loads nothing, and reads as it is written. Tokens stay where they are."""

from __future__ import annotations

import re

import httpx
import pytest

from intrinsics_core.render import html, text
from tests.service.page.conftest import judged, load, write
from tests.service.running import in_thread

ATTACKS = [
    '<img src=x onerror="alert(1)">',
    "</script><script>alert(1)</script>",
    '"><svg onload=alert(1)><a href="javascript:alert(1)">x</a>',
    "' onmouseover='alert(1)' \" autofocus onfocus=alert(1) `${alert(1)}` {{7*7}} </textarea></template>",
    "<iframe src=https://evil.example></iframe><link rel=stylesheet href=//evil.example/x.css>",
    "\u202eevil\u202c \u2066text\u2069 \u200f\u061c <b dir=rtl>\x07",
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_in_every_field_is_text(page, attack):
    before = page.evaluate("document.querySelectorAll('script, img, svg, iframe, link, style').length")
    said = f"Ada built it in 1911. {attack} is what she said. {attack}."
    write(page, conversation=f"User: {attack}\nAssistant: {attack}\nUser: Who built it? {attack}", answer=said,
          documents=[(attack, f"Ada built it in 1911. {attack}"), (attack, attack)])  # fmt: skip
    page.get_by_label("Compare with").select_option("fast")
    judged(page)
    for sentence in page.locator(".sentence").all():
        sentence.hover()
    for name in ("Python", "LangChain", "LlamaIndex", "Haystack", "curl"):
        page.get_by_role("button", name=name).click()
    shown = page.locator(".said").first.evaluate(
        "said => [...said.querySelectorAll('sup, .unseen')].forEach(one => one.remove()) ?? said.textContent"
    )
    assert shown == text.clean(said)
    assert page.evaluate("document.querySelectorAll('script, img, svg, iframe, link, style').length") == before
    assert page.locator("[onerror], [onload], [onmouseover], [autofocus], a[href^=javascript]").count() == 0
    with page.expect_download() as got:
        page.get_by_role("button", name="Download the report").click()
    assert "<img" not in got.value.path().read_text() and "<iframe" not in got.value.path().read_text()


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_in_the_name_or_the_text_of_a_file_is_text(page, attack):
    name = attack.replace("/", "").replace("\x07", "")
    page.get_by_label("Add text files").set_input_files(
        [{"name": name, "mimeType": "text/html", "buffer": attack.encode()}]
    )
    page.locator("#files-told", has_text="was added").wait_for()
    assert page.locator("#files-told *").count() == 0
    assert text.clean(name) in page.locator("#files-told").text_content()
    assert page.get_by_label("Text of document 1").input_value() == attack


def test_an_attack_in_an_error_is_text(page):
    attack = ATTACKS[0].replace('"', "'")
    write(
        page,
        conversation=f'[{{"role": "{attack}", "content": "x"}}, {{"role": "user", "content": "x"}}]',
        documents=[("a", "b")],
    )
    assert attack in page.locator('[data-part="gate"]').inner_text().replace("\\'", "'")


def test_the_browser_would_stop_what_we_forgot(service, browser):
    """The policy holds by itself: a script that writes text as markup, one of another place, a style, a form."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(service)
    page.locator("#samples button").first.wait_for()
    assert (
        page.evaluate(
            "() => { try { document.body.innerHTML = '<b>x</b>'; return 'done' } catch (e) { return e.name } }"
        )
        == "TypeError"
    )
    stopped = page.evaluate(
        """async () => {
            const seen = [];
            addEventListener("securitypolicyviolation", e => seen.push(e.effectiveDirective));
            const made = (tag, set) => document.body.append(Object.assign(document.createElement(tag), set));
            try { made("script", {textContent: "window.ran = 1"}) } catch {}
            made("img", {src: "https://evil.example/x.png"});
            made("style", {textContent: "body { display: none }"});
            made("iframe", {src: "https://evil.example/"});
            try { await fetch("https://evil.example/") } catch {}
            await new Promise(done => setTimeout(done, 100));
            return [window.ran ?? 0, [...new Set(seen)].sort()];
        }"""
    )
    assert stopped[0] == 0
    assert {"img-src", "style-src-elem", "frame-src", "connect-src"} <= set(stopped[1])
    context.close()


def test_the_policy_names_nothing_but_this_service(service):
    told = httpx.get(service, trust_env=False)
    policy = dict(part.strip().partition(" ")[::2] for part in told.headers["content-security-policy"].split(";"))
    assert policy["default-src"] == policy["base-uri"] == policy["form-action"] == policy["frame-ancestors"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert "unsafe" not in told.headers["content-security-policy"]
    assert not re.findall(
        r"""<script(?![^>]* src=)|<style|\son\w+=|\sstyle=|(?:src|href)=["'](?:https?:)?//""", told.text
    )


def test_what_it_loads_is_its_own_and_there(service, page):
    load(page, "A wrong number")
    page.get_by_role("button", name="Python").click()
    loaded = {request.url.removeprefix(service) for request in page.sent}
    assert {"/", "/page/main.js", "/page/report/style.css", "/page/report/tones.json", "/page/samples.json"} <= loaded
    for path in loaded:
        if path.startswith("/page"):
            assert httpx.get(service + path, trust_env=False).status_code == 200


def test_it_looks_and_cleans_as_the_report_does(page):
    """The page has no table of tones of its own; what it does to text is what the report does."""
    labels = [*html.TONES, "another"]
    assert _of_the_page(page, "look.js", "tone", labels) == [html.tone(label) for label in labels]
    points = [*range(0x300), *range(0x600, 0x620), *range(0x2000, 0x2070), 0xFFFD, 0x1F642]
    words = "".join(map(chr, points)).replace("\r", "")
    assert _of_the_page(page, "dom.js", "shown", [words]) == [text.clean(words)]


def _of_the_page(page, module, function, values):
    """What a function of the page makes of some values."""
    script = "async ([module, name, all]) => { const {[name]: of} = await import(module); return all.map(of) }"
    return page.evaluate(script, [f"/page/{module}", function, values])


TOKEN = "a-token-of-some-length"


@pytest.fixture(scope="module")
def guarded():
    from intrinsics_core.service.app import create_app

    with in_thread(create_app(token=TOKEN)) as url:
        yield url


def test_a_token_is_asked_for_and_kept_in_memory_alone(opened, guarded):
    page = opened(guarded)
    field = page.get_by_label("This service asks for a token")
    field.wait_for()
    assert page.evaluate("document.activeElement.id") == "token"
    field.fill("wrong")
    page.keyboard.press("Enter")
    page.get_by_text("The service refused this token.").wait_for()
    field.fill(TOKEN)
    page.keyboard.press("Enter")
    field.wait_for(state="hidden")
    load(page, "A wrong number")
    with page.expect_download():
        page.get_by_role("button", name="Download the report").click()
    page.get_by_role("button", name="curl").click()
    assert '"Authorization: Bearer $TOKEN"' in page.locator("#code").inner_text()
    assert TOKEN not in page.content() and TOKEN not in page.url and field.input_value() == ""
    kept = page.evaluate("[localStorage.length, sessionStorage.length, document.cookie, history.state]")
    assert kept == [0, 0, "", None] and page.context.cookies() == []
    page.reload()
    page.get_by_label("This service asks for a token").wait_for()
