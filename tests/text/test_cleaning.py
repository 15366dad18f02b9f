"""Sentences as they are read, from documents as retrievers return them: PDFs, web pages, quoted mails."""

import pytest

from intrinsics_core.embedded.words import is_known
from intrinsics_core.text.cleaning import as_meant, cleaned, without_runs
from intrinsics_core.text.layout import laid_out


def read(text: str) -> list[str]:
    return [" ".join(said.split()) for said in cleaned([span.text for span in laid_out(text)], is_known)]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("The reser-\nvation is held for two days.", ["The reservation is held for two days."]),
        ("Visit our self-\nservice laundry in the cellar.", ["Visit our self-service laundry in the cellar."]),
        ("It was founded in 18-\n72 by monks.", ["It was founded in 1872 by monks."]),
        ("- one-\n- two", ["- one-", "- two"]),
        ("The of\ufb01ce has 64 m² and ½ of it.", ["The office has 64 m² and ½ of it."]),
        ("<ul><li>Dogs are welcome.</li><li>Cats are not.</li></ul>", ["Dogs are welcome.", "Cats are not."]),
        ("Open daily<br>Closed on Monday<br/>Ring the bell", ["Open daily", "Closed on Monday", "Ring the bell"]),
        ("<style>p {color: red}</style><p>We are <b>open</b>.</p>", ["", "We are open."]),
        ("<p>Open.</p><!-- Closed.\n\nNever open. --><p>Yes.</p>", ["Open.", "", "Yes."]),
        ('<div style="display:none">Old price: 5</div><div>New price: 6</div>', ["", "New price: 6"]),
        ("The soup <!-- the old one --> costs 9 euros.", ["The soup costs 9 euros."]),
        ("Use `<!-- x -->` or `<br>`. Then save.", ["Use `<!-- x -->` or `<br>`.", "Then save."]),
        ("If a<b and c>d, a List<String> holds x.", ["If a<b and c>d, a List<String> holds x."]),
        ("An arrow --> here, and <!-- is never closed.", ["An arrow --> here, and <!-- is never closed."]),
        ("H<sub>2</sub>O, 64 m<sup>2</sup>, 20<sup>1</sup> euros", ["H2O, 64 m2, 20^1 euros"]),
        ("The caf&eacute; costs &#8364;9. AT&T, &notanentity;", ["The café costs €9.", "AT&T, &notanentity;"]),
        ("> > older\n> newer\nanswer", ["older", "newer", "answer"]),
        ("> 5 kg: 10 euros\n> 10 kg: 20 euros", ["> 5 kg: 10 euros", "> 10 kg: 20 euros"]),
    ],
)
def test_sentences_as_they_are_read(text: str, sentences: list[str]) -> None:
    assert read(text) == sentences


HTML = [
    "Put this into your page:",
    "```html",
    '<script src="/js/app.js"></script>',
    "<div hidden>Menu &amp; more</div>",
    "```",
    "It needs <b>jQuery</b>.",
]


def test_code_between_fences_is_read_whole() -> None:
    assert cleaned(HTML, is_known) == [*HTML[:-1], "It needs jQuery."]
    assert as_meant("\n".join(HTML)) == "\n".join([*HTML[:-1], "It needs jQuery."])
    assert cleaned([HTML[3]], is_known) == [""]


def test_what_a_page_would_hide_is_a_part_of_an_answer() -> None:
    answer = ["It has a <b>pool</b> <span hidden>and a casino</span> &amp; more.", 'Add <script src="/a.js"></script>.']
    assert cleaned(answer, is_known, hidden=True) == ["It has a pool and a casino & more.", answer[1]]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("A data:image/png;base64," + "iVBOR+/0" * 2_000 + " map", "A data:image/png;base64,iVBOR+/0iVBOR+/0iVBO map"),
        ("The key:\n" + ("Ab3d" * 19 + "\n") * 9 + "Keep it.", "The key:\nAb3dAb3dAb3dAb3dAb3dKeep it."),
        ("文字" * 400, "文字" * 400),
        ("word " * 100 + "https://example.org/" + "a" * 99, "word " * 100 + "https://example.org/" + "a" * 99),
    ],
    ids=["picture", "lines", "Chinese", "address"],
)  # fmt: skip
def test_long_runs_without_spaces_are_not_read(text: str, read: str) -> None:
    assert without_runs(text) == read
