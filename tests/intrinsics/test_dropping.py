"""An answer keeps its form where sentences are dropped: line ends, marks of items, marks that come in pairs."""

from __future__ import annotations

import pytest

from intrinsics_core.intrinsics._dropping import applied, changed
from intrinsics_core.text.layout import laid_out

DOGS, GONE, COIN = "Dogs stay out.", "GONE is this.", "Lockers need a coin."


def without(answer: str) -> str:
    spans = laid_out(answer)
    texts = {i: "" for i, span in enumerate(spans) if "GONE" in span.text}
    changes = changed(answer, [(span.begin, span.end) for span in spans], texts, {})
    assert all(answer[change.begin : change.end] == change.before for change in changes)
    assert len(changes) == len(texts)
    return applied(answer, changes)


@pytest.mark.parametrize(
    ("said", "left"),
    [
        (f"- {DOGS} {GONE}\n- {COIN}", f"- {DOGS}\n- {COIN}"),
        (f"1. {DOGS} {GONE} {GONE}\n2. {COIN}", f"1. {DOGS}\n2. {COIN}"),
        (f"{DOGS} {GONE}\n\n## Lockers\n\n{COIN}", f"{DOGS}\n\n## Lockers\n\n{COIN}"),
        (f"{DOGS} {GONE}\n\n| a | b |\n|---|---|\n| c | 6 |", f"{DOGS}\n\n| a | b |\n|---|---|\n| c | 6 |"),
        (f"{DOGS} {GONE}\n\n{COIN}", f"{DOGS}\n\n{COIN}"),
        (f"{DOGS} {GONE}\r\n\r\n{COIN}", f"{DOGS}\r\n\r\n{COIN}"),
        (f"{DOGS}\n\n{GONE}\n\n{COIN}", f"{DOGS}\n\n{COIN}"),
        (f"- {DOGS}\n- {GONE}\n\n{COIN}", f"- {DOGS}\n\n{COIN}"),
        (f"{DOGS}\n\n- {GONE}\n- {COIN}", f"{DOGS}\n\n- {COIN}"),
        (f"- {DOGS}\n  - {GONE}\n- {COIN}", f"- {DOGS}\n- {COIN}"),
        (f"- {DOGS}\n  - {GONE}\n  - {COIN}", f"- {DOGS}\n  - {COIN}"),
        (f"| a | b |\n|---|---|\n| c | 6 |\n| GONE | 7 |\n\n{COIN}", f"| a | b |\n|---|---|\n| c | 6 |\n\n{COIN}"),
        (f"{DOGS} {GONE}\n```\nls\n```", f"{DOGS}\n```\nls\n```"),
        # as before
        (f"{DOGS} {GONE} {COIN}", f"{DOGS} {COIN}"),
        (f"- {DOGS}\n- {GONE}\n- {COIN}", f"- {DOGS}\n- {COIN}"),
        (f"{GONE}\n\n{DOGS}", DOGS),
        (f"{DOGS}\n\n{GONE}\n", DOGS),
        (f"{GONE} {GONE}", ""),
    ],
)
def test_line_ends_stay(said: str, left: str) -> None:
    assert without(said) == left


@pytest.mark.parametrize(
    ("said", "left"),
    [
        (f"- {GONE} {DOGS}\n- {COIN}", f"- {DOGS}\n- {COIN}"),
        (f"1) {GONE} {GONE} {DOGS}", f"1) {DOGS}"),
        (f"> {GONE} {DOGS}\n> {COIN}", f"> {DOGS}\n> {COIN}"),
        (f"- [x] {GONE} {DOGS}", f"- [x] {DOGS}"),
        (f"> - {GONE} {DOGS}", f"> - {DOGS}"),
        (f"- {GONE}\n  {DOGS}\n- {COIN}", f"- {DOGS}\n- {COIN}"),  # a further line of the item
        (f"- {GONE}\n  - {DOGS}\n- {COIN}", f"  - {DOGS}\n- {COIN}"),  # an item of its own
        (f"- {GONE}\n\n{DOGS}", DOGS),  # a paragraph
    ],
)
def test_the_mark_of_an_item_that_goes_on_stays(said: str, left: str) -> None:
    assert without(said) == left


@pytest.mark.parametrize(
    ("said", "left"),
    [
        (f"**{DOGS} {GONE}** {COIN}", f"**{DOGS}** {COIN}"),
        (f"**{GONE} {DOGS}** {COIN}", f"**{DOGS}** {COIN}"),
        (f'He said: "{DOGS} {GONE}" {COIN}', f'He said: "{DOGS}" {COIN}'),
        (f'GONE said: "He knows. {DOGS}" {COIN}', f'"{DOGS}" {COIN}'),
        (f"({DOGS} {GONE} {GONE}) {COIN}", f"({DOGS}) {COIN}"),
        (f"“{DOGS} {GONE}”\n\n{COIN}", f"“{DOGS}”\n\n{COIN}"),
        (f"- __{GONE} {DOGS}__ {COIN}", f"- __{DOGS}__ {COIN}"),
        (f"{DOGS} ({GONE} {COIN})", f"{DOGS} ({COIN})"),
        (f'"{GONE} {DOGS} {GONE}" {COIN}', f"{DOGS} {COIN}"),  # both halves go
        (f"<p>{DOGS} {GONE}</p><p>{COIN}</p>", f"<p>{DOGS}</p> <p>{COIN}</p>"),
        (f"<ul><li>{GONE}</li><li>{DOGS}</li></ul>", f"<ul><li>{DOGS}</li></ul>"),
        (f"<ul><li>{DOGS}</li><li>{GONE}</li></ul>", f"<ul><li>{DOGS}</li></ul>"),
        (f"{DOGS}<br>{GONE}<br>{COIN}", f"{DOGS}<br>{COIN}"),
        # nothing is left open
        (f"{DOGS} **{GONE}** {COIN}", f"{DOGS} {COIN}"),
        (f"{DOGS} ({GONE}) {COIN}", f"{DOGS} {COIN}"),
        (f'A 5" pipe. {GONE} {COIN}', f'A 5" pipe. {COIN}'),
        (f'{DOGS} A GONE 5" pipe. {COIN}', f"{DOGS} {COIN}"),
        (f"{DOGS} GONE a) or b). {COIN}", f"{DOGS} {COIN}"),
    ],
)
def test_a_mark_whose_partner_stays_is_left(said: str, left: str) -> None:
    assert without(said) == left


def test_many_sentences_on_one_line_take_work_in_proportion() -> None:
    said = " ".join([f'"{DOGS} {GONE}"'] * 2000)
    assert without(said) == " ".join([f'"{DOGS}"'] * 2000)
