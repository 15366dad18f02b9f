"""What a person does with the page: write, load, drop, hover, tab, edit, compare, take away."""

from __future__ import annotations

import json
from functools import cache

import pytest

from intrinsics_core import audit, run
from intrinsics_core.embedded.runtime import EmbeddedRuntime
from intrinsics_core.protocol.results import Audit
from tests.service.page.conftest import SAMPLES, judged, load, verdicts, write

MILL = ("mill", "The tide mill was built in 1911 by the engineer Ada Brink. It ground flour until 1958.")
HOLDS = {  # of each sample, which sentences of its answer its documents hold
    "A made-up sentence": [True, True, False],
    "A wrong number": [False, True],
    "A question that leans on the last one": [True],
    "No answer in the documents": [],
    "The right words, the wrong way round": [False, True],
}
TONES = {"faithful": "ok", "partial": "warn", "unfaithful": "bad", "NA": "na"}
ROLES = {"User": "user", "Assistant": "assistant"}


@cache
def audited(name: str, *, reader: bool | None = None) -> Audit:
    """What the core says of a sample."""
    sample = next(sample for sample in SAMPLES if sample["name"] == name)
    turns = [line.partition(": ") for line in sample["conversation"].splitlines()]
    messages = [{"role": ROLES[who], "content": text} for who, _, text in turns if who in ROLES]
    messages = messages or [{"role": "user", "content": sample["conversation"]}]
    messages.append({"role": "assistant", "content": sample["answer"]})
    return run(audit(messages, sample["documents"]), EmbeddedRuntime(reader=reader))


def test_samples_load_with_a_click_and_show_what_they_say(page):
    assert [sample["name"] for sample in SAMPLES] == list(HOLDS)
    for name, holds in HOLDS.items():
        sample = load(page, name)
        tones = [tone for _, tone in verdicts(page)]
        assert tones == [TONES[sentence.label] for sentence in audited(name).sentences]
        assert [tone == "ok" for tone in tones] == holds
        assert page.get_by_label("Question or conversation").input_value() == sample["conversation"]
        assert page.locator(".document").count() == len(sample["documents"])


def test_a_question_without_an_answer_is_judged_by_the_gate_alone(page):
    load(page, "No answer in the documents")
    assert page.locator('[data-part="gate"] .tag').inner_text() == "unanswerable"
    assert "do not hold an answer" in page.locator('[data-part="gate"]').inner_text()
    assert page.locator('[data-part="answer"]').is_hidden()
    assert page.locator("#summary").inner_text() == "The question is unanswerable from these documents."


def test_what_is_written_by_hand_is_judged_and_said_in_words(page):
    write(page, conversation="Who built the tide mill?", documents=[MILL, ("", "Fog is common in May.")],
          answer="Ada Brink built the tide mill in 1911. She painted it gold. Hello!")  # fmt: skip
    assert [tone for _, tone in verdicts(page)] == ["ok", "bad", "na"]
    assert page.locator("#summary").inner_text() == "1 of 2 claims is not fully supported."
    card = page.locator(".why").inner_text()  # of the worst sentence, before anything is pointed at
    assert "unfaithful" in card and "do not support" in card and "gold" in card


def test_editing_a_word_changes_the_verdict_and_asks_for_nothing_else_again(page):
    load(page, "A wrong number")
    page.sent.clear()
    answer = page.get_by_label("Answer", exact=True)
    answer.focus()
    answer.evaluate("field => field.setSelectionRange(field.value.indexOf('6'), field.value.indexOf('6') + 1)")
    page.keyboard.type("4")
    judged(page)
    assert answer.input_value().startswith("On Sundays the museum closes at 4 pm.")
    assert [tone for _, tone in verdicts(page)] == ["ok", "ok"]
    assert page.locator("#summary").inner_text() == "All claims are supported."
    assert {request.url.rpartition("/")[2] for request in page.sent} == {"audit"}


def test_it_asks_after_a_pause_and_gives_up_what_it_asked_before(opened, service):
    page = opened(service)
    load(page, "A wrong number")
    page.clock.install()
    page.clock.pause_at(page.evaluate("Date.now()") + 1000)
    page.sent.clear()
    page.route("**/v1/intrinsics/audit", lambda route: None)  # a judge that takes for ever
    answer = page.get_by_label("Answer", exact=True)
    for text in ("The museum is red.", "The museum is red. It is old."):
        answer.fill(text)
        page.clock.run_for(200)
    assert not page.sent
    with page.expect_request("**/v1/intrinsics/audit"):
        page.clock.run_for(50)
    assert [json.loads(r.post_data)["messages"][-1]["content"] for r in page.sent] == ["The museum is red. It is old."]
    with page.expect_event("requestfailed", lambda r: r is page.sent[0]) as gone:
        answer.fill("The museum is blue.")
        page.clock.run_for(250)
    assert "ABORTED" in gone.value.failure
    page.unroute("**/v1/intrinsics/audit")


def test_what_is_written_before_the_runtimes_are_known_waits_for_them(page):
    held = []
    page.route("**/v1/models", lambda route: held.append(route))  # Playwright takes no method of a list
    page.reload()
    page.clock.install()
    page.get_by_label("Question or conversation").fill("Who built it?")
    page.get_by_label("Answer", exact=True).fill("Ada Brink built it.")
    page.clock.run_for(1000)
    assert page.locator("#results").get_attribute("aria-busy") == "true"
    held[0].continue_()
    judged(page)
    assert verdicts(page) == [("Ada Brink built it.", "na unjudged")]


@pytest.mark.parametrize("by", ["drop", "choose"])
def test_files_become_documents(page, tmp_path, by):
    text = "🙂 Windows wrote this.\r\nThe mill is blue. The mill stands on the north pier."
    files = [("notes.txt", text.encode()), ("photo.jpg", b"\xff\xd8\xff\xe0\x00"), ("nul.bin", b"a\x00b")]
    if by == "drop":
        page.evaluate(
            """files => {
                const carried = new DataTransfer();
                for (const [name, bytes] of files) carried.items.add(new File([new Uint8Array(bytes)], name));
                const place = document.querySelector("footer");  // anywhere on the page
                const how = {dataTransfer: carried, bubbles: true, cancelable: true};
                for (const name of ["dragover", "drop"]) place.dispatchEvent(new DragEvent(name, how));
            }""",
            [[name, list(content)] for name, content in files],
        )
    else:
        for name, content in files:
            (tmp_path / name).write_bytes(content)
        page.get_by_label("Add text files").set_input_files([tmp_path / name for name, _ in files])
    page.get_by_text("notes.txt was added").wait_for()
    told = page.locator("#files-told").inner_text()
    assert "photo.jpg was not added" in told and "nul.bin was not added" in told
    assert page.locator(".document").count() == 1  # the empty one made room
    write(page, conversation="Where does the mill stand?", answer="The mill stands on the north pier.")
    assert page.locator("mark.cited").inner_text() == "The mill stands on the north pier."


def test_pointing_at_a_sentence_scrolls_the_documents_to_its_place(page):
    filler = "Nothing of note happened that day. " * 60
    write(page, conversation="What does a ticket cost?",
          documents=[("long", f"{filler}A ticket costs 8 euros. {filler}The museum is shut on Mondays.")],
          answer="A ticket costs 8 euros. The museum is shut on Mondays.")  # fmt: skip
    for i, words in enumerate(("A ticket costs 8 euros.", "The museum is shut on Mondays.")):
        page.locator(".sentence").nth(i).hover()
        assert page.locator("mark.cited").inner_text() == words
        assert _in_sight(page)
        page.locator(".sources").evaluate("box => { box.scrollTop = 0 }")
        assert not _in_sight(page)
    # The same by keyboard: the sentences are links, one after the other.
    page.locator(".sentence").first.focus()
    assert page.locator("mark.cited").inner_text() == "A ticket costs 8 euros."
    page.keyboard.press("Tab")
    assert page.locator("mark.cited").inner_text() == "The museum is shut on Mondays."
    assert _in_sight(page)
    page.keyboard.press("Enter")  # to what is said of it, and the places it rests on
    assert page.evaluate("document.activeElement.classList.contains('why')")
    assert "faithful" in page.locator(".why").inner_text()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent").startswith("[2] long, characters ")


def _in_sight(page):
    return page.evaluate(
        """() => {
            const box = document.querySelector(".sources").getBoundingClientRect();
            const place = document.querySelector("mark.cited").getBoundingClientRect();
            return place.top >= box.top && place.bottom <= box.bottom;
        }"""
    )


def test_places_are_exact_behind_characters_of_two_units(page):
    write(page, conversation="Who built the tide mill?",
          documents=[("mill", "👩‍🔧🌊 A page. The tide mill was built in 1911 by the engineer Ada Brink. 🎉")],
          answer="🙂🙂 Hello! Ada Brink built the tide mill in 1911. 𝔖he painted it gold for sailors.")  # fmt: skip
    assert [text for text, _ in verdicts(page)][-2:] == [
        "Ada Brink built the tide mill in 1911.",
        "𝔖he painted it gold for sailors.",
    ]
    page.locator(".sentence", has_text="Ada Brink").hover()
    assert page.locator("mark.cited").inner_text() == "The tide mill was built in 1911 by the engineer Ada Brink."
    joined = page.locator(".said").evaluate(
        "said => [...said.querySelectorAll('sup, .unseen')].forEach(one => one.remove()) ?? said.textContent"
    )
    assert joined == page.get_by_label("Answer", exact=True).input_value()


TURNS = [
    {"role": "user", "content": "Is there a tide mill?"},
    {"role": "assistant", "content": "Yes, in Ellery."},
    {"role": "user", "content": [{"type": "text", "text": "Who built\nit?"}]},
]
CONVERSATIONS = {
    "lines": "User: Is there a tide mill?\nAssistant: Yes, in Ellery.\nHuman: Who built\nit?\n",
    "json": json.dumps(TURNS),
    "object": json.dumps({"messages": TURNS}),
}


@pytest.mark.parametrize("form", CONVERSATIONS)
def test_a_conversation_is_read_in_any_of_its_forms(page, form):
    write(page, conversation=CONVERSATIONS[form], documents=[MILL])
    assert page.get_by_text("Read as 3 turns: user, assistant, user.").is_visible()
    asked = next(r for r in page.sent if r.url.endswith("/query-rewrite"))
    assert [m["content"] for m in json.loads(asked.post_data)["messages"]] == [
        "Is there a tide mill?", "Yes, in Ellery.", "Who built\nit?"]  # fmt: skip


def test_what_only_looks_like_a_conversation_is_a_question(page):
    write(page, conversation='[{"role": "user"', documents=[MILL])
    assert page.locator("#conversation-read").inner_text() == ""
    assert page.locator("#summary").inner_text() != ""


def test_an_answer_at_the_end_of_the_conversation_is_judged(page):
    write(page, conversation="User: Who built it?\nAssistant: Ada Brink built the tide mill in 1911.", documents=[MILL])
    assert [text for text, _ in verdicts(page)] == ["Ada Brink built the tide mill in 1911."]


def test_the_ranking_has_new_and_old_places_and_the_search_its_question(page):
    load(page, "A question that leans on the last one")
    first = page.locator('[data-part="ranking"] tbody tr').first.inner_text().split("\t")
    assert [cell.strip() for cell in first[:3]] == ["1", "3 ↑ up 2", "timetable relevant"]
    search = page.locator('[data-part="search"]').inner_text()
    assert "How often does the Saltholm ferry sail in winter?" in search and "rewritten" in search
    assert "keywords" in search


def test_what_does_not_go_together_is_said(page):
    load(page, "A wrong number")
    trust, said = page.locator('[data-part="trust"]'), audited("A wrong number")
    assert said.disagreements
    assert f"do not go together: {said.disagreements[0]}" in trust.inner_text()
    assert trust.locator(f'.bar[aria-label="certainty {said.certainty:.2f}"]').count() == 1


def test_two_runtimes_side_by_side(page):
    name = "The right words, the wrong way round"
    load(page, name)
    page.get_by_label("Compare with").select_option("fast")
    page.locator("#differences li").wait_for()
    labels = [audited(name, reader=reader).sentences[0].label for reader in (None, False)]
    assert labels[0] != labels[1] == "faithful"
    assert f"{labels[0]} by default, {labels[1]} by fast" in page.locator("#differences").inner_text()
    one, other = (panel.bounding_box() for panel in page.locator(".panel").all())
    assert one["y"] == other["y"] and one["x"] + one["width"] <= other["x"]
    assert page.locator("#summary").inner_text() == (
        "default: 1 of 2 claims is not fully supported. fast: All claims are supported."
    )
    page.get_by_label("Compare with").select_option("")
    judged(page)
    assert page.locator(".panel").count() == 1 and page.locator("#differences").is_hidden()


def test_a_sentence_that_was_left_out_is_never_shown_as_supported(page):
    page.get_by_label("Judge", exact=True).select_option("forgetful")
    write(page, conversation="Who built it?", documents=[MILL], answer="Ada Brink built it. It is gold.")
    assert verdicts(page)[1] == ("It is gold.", "na unjudged")
    assert page.locator("#summary").inner_text() == "1 sentence has no verdict. The verdict is degraded."
    page.locator(".sentence").nth(1).hover()
    assert "no verdict on this sentence: nothing is known of it" in page.locator(".why").inner_text()
    said = page.locator('[data-part="answer"]').inner_text()
    assert "1 entry has no verdict." in said and "Degraded:" in said
    # What this judge cannot do at all is told where it would stand.
    assert "reply could not be read" in page.locator('[data-part="ranking"]').inner_text()


def test_without_documents_nothing_is_called_supported(page):
    write(page, conversation="Who built it?", answer="Ada Brink built it.")
    assert verdicts(page) == [("Ada Brink built it.", "na unjudged")]
    assert page.locator("#summary").inner_text().startswith("No verdict: ")


def test_a_runtime_that_is_down_is_told_in_words_and_asked_again(page):
    write(page, conversation="Who built it?", documents=[MILL], answer="Ada Brink built it.")
    page.get_by_label("Judge", exact=True).select_option("away")
    page.locator("#summary", has_text="cannot be reached").wait_for()
    part = page.locator('[data-part="answer"]')
    assert "The judge cannot be reached, or is busy." in part.inner_text() and not verdicts(page)
    page.sent.clear()
    part.get_by_role("button", name="Ask again").click()
    judged(page)
    assert any(request.url.endswith("/audit") for request in page.sent)


def test_what_the_service_refuses_is_told_in_its_own_words(page):
    write(
        page,
        conversation='[{"role": "wizard", "content": "Who?"}, {"role": "user", "content": "Who built it?"}]',
        documents=[MILL],
    )
    assert page.locator("#summary").inner_text() == "The service cannot use this."
    assert "messages[0].role is unknown" in page.locator('[data-part="gate"]').inner_text()


def test_a_service_that_has_gone_is_told(page):
    load(page, "A wrong number")
    page.context.set_offline(True)
    page.get_by_label("Answer", exact=True).fill("The museum is red.")
    page.locator("#summary", has_text="The service does not answer.").wait_for()
    assert not verdicts(page)
    page.context.set_offline(False)
    page.locator('[data-part="answer"]').get_by_role("button", name="Ask again").click()
    page.locator(".sentence").wait_for()


def test_the_report_is_downloaded_and_stands_by_itself(page, opened, tmp_path, browser):
    load(page, "A made-up sentence")
    with page.expect_download() as got:
        page.get_by_role("button", name="Download the report").click()
    assert got.value.suggested_filename == "report.html"
    file = tmp_path / "report.html"
    got.value.save_as(file)
    context = browser.new_context()
    kept = context.new_page()
    kept.goto(file.as_uri())
    assert "A technician visits you for free every spring." in kept.locator(".note.bad").first.inner_text()
    assert kept.evaluate("performance.getEntriesByType('resource').length") == 0
    context.close()


def test_removing_a_document_keeps_the_focus_near(page):
    load(page, "A wrong number")
    page.get_by_role("button", name="Remove document 1").click()
    assert page.evaluate("document.activeElement.value") == "visit"
    page.get_by_role("button", name="Remove document 1").click()
    assert page.evaluate("document.activeElement.id") == "add-document"
    judged(page)
    assert page.locator("#summary").inner_text().startswith("No verdict: ")


def test_an_empty_page_asks_nothing(page):
    page.get_by_text("Nothing is judged yet").wait_for()
    assert not [request.url for request in page.sent if request.method == "POST"]
    load(page, "A wrong number")
    write(page, conversation="", answer="")
    assert page.get_by_text("Nothing is judged yet").is_visible() and page.locator("#panels").is_hidden()


def test_a_slow_runtime_does_not_keep_the_other_waiting(page):
    load(page, "A wrong number")
    page.get_by_label("Compare with").select_option("fast")
    judged(page)
    page.route(
        "**/v1/intrinsics/audit", lambda route: None if '"fast"' in route.request.post_data else route.continue_()
    )
    page.get_by_label("Answer", exact=True).fill("On Sundays the museum closes at 4 pm.")
    page.locator("#summary", has_text="default: The one claim is supported.").wait_for()
    assert page.locator("#results").get_attribute("aria-busy") == "true"  # the other is still awaited
    page.unroute("**/v1/intrinsics/audit")


def test_words_at_fault_are_marked_exactly(page):
    """Checkers that tell the very words give their places in the answer, also in code points."""
    spans = [{"begin": 9, "end": 16, "text": "painted", "probability": 0.9}]
    sentence = {"begin": 3, "end": 19, "text": "🙂 She painted it", "label": "unfaithful", "score": 0.1, "spans": spans,
                "citations": []}  # fmt: skip
    marked = page.evaluate(
        """async sentence => {
            const {answerView} = await import("/page/answer.js");
            const made = answerView({sentences: [sentence]}, {answer: "🙂🙂 🙂 She painted it.", documents: []}, "x");
            return made[0].querySelector(".fault").textContent;
        }""",
        sentence,
    )
    assert marked == "painted"


def test_a_mark_that_does_not_hold_is_underlined_and_told(page):
    write(page, conversation="Who built the tide mill?", documents=[MILL, ("", "Fog is common in May.")],
          answer="Ada Brink built the tide mill in 1911 [2]. Fog is common in May [7].")  # fmt: skip
    assert page.locator("u.fault").all_inner_texts() == ["[2]", "[7]"]
    told = " ".join(page.locator(".note.bad").all_inner_texts())
    assert "[2]: another document says it" in told and "[7]: there is no such document" in told


def test_the_page_opens_with_an_example_that_can_be_taken_away(opened, service):
    page = opened(service, example=True)
    page.locator("#summary:not(:empty)").wait_for()
    assert page.get_by_label("Answer", exact=True).input_value() == SAMPLES[0]["answer"] and verdicts(page)
    page.get_by_role("link", name="Start empty").click()
    judged(page)
    assert page.get_by_label("Answer", exact=True).input_value() == ""
    assert page.locator("#panels").is_hidden()
