"""Sentences as they are read, from documents as retrievers return them: PDFs, web pages, quoted mails."""

import pytest

from intrinsics_core.embedded.words import is_known
from intrinsics_core.text.cleaning import as_meant, cleaned, cleaned_answer, without_runs
from intrinsics_core.text.layout import laid_out
from intrinsics_core.text.tables import in_words


def read(text: str) -> list[str]:
    return [" ".join(said.split()) for said in cleaned([span.text for span in laid_out(text)], is_known)]


CUT = {
    "The reser-\nvation is held for two days.": ["The reservation is held for two days."],
    "Visit our self-\nservice laundry in the cellar.": ["Visit our self-service laundry in the cellar."],
    "Sofia Grif-\r\nfin bakes the bread.": ["Sofia Griffin bakes the bread."],
    "It was founded in 18-\n72 by monks.": ["It was founded in 1872 by monks."],
    "It is done in 18-\n20 days.": ["It is done in 18- 20 days."],  # a range
    "Phone 555-\n0199 is the desk.": ["Phone 555- 0199 is the desk."],
    "Grades: A-\nPhysics: B": ["Grades: A-", "Physics: B"],
    "- one-\n- two": ["- one-", "- two"],
    "The of\ufb01ce was re\ufb02ected.": ["The office was reflected."],
    "It has 64 m² and costs ½ of it.": ["It has 64 m² and costs ½ of it."],
}
PAGES = {
    "The deposit is paid back.\n\nPage 7\n\nIt is seen.": ["The deposit is paid back.", "Page 7", "It is seen."],
    "Our services for schools and groups\n\nGuided tours\n\nvisits of the mill": [
        "Our services for schools and groups", "Guided tours", "visits of the mill"
    ],
    "It is explained in the book on\npage 4\nof the annex.": ["It is explained in the book on page 4", "of the annex."],
    "The number of rooms is\n12\nrooms": ["The number of rooms is", "12", "rooms"],
}  # fmt: skip
WEB = {
    "<ul><li>Dogs are welcome.</li><li>Cats are not.</li></ul>": ["Dogs are welcome.", "Cats are not."],
    "Open daily<br>Closed on Monday<br/>Ring the bell": ["Open daily", "Closed on Monday", "Ring the bell"],
    "<h2>Deposit</h2><p>It is <b>200</b> euros. It is paid back.</p>": [
        "Deposit", "It is 200 euros.", "It is paid back."
    ],
    "<style>p {color: red}</style><p>We are open.</p>": ["", "We are open."],
    "<p>Open.</p><!-- Closed.\n\nNever open. --><p>Yes.</p>": ["Open.", "", "Yes."],
    "<p hidden>Closed.</p><p>Open.</p>": ["", "Open."],
    '<div style="display:none">Old price: 5</div><div>New price: 6</div>': ["", "New price: 6"],
    "The soup <!-- the old one --> costs 9 euros.": ["The soup costs 9 euros."],
    '<span aria-hidden="true">x</span> <div style="overflow:hidden">Shown.</div>': ["x Shown."],
    "Use `<!-- x -->` for a comment. Then save.": ["Use `<!-- x -->` for a comment.", "Then save."],
    "It stands between <script> and </script> there.": ["It stands between <script> and </script> there."],
    "The tag </p> ends a paragraph, and <br> a line.": ["The tag </p> ends a paragraph, and <br> a line."],
    "If a<b and c>d, a List<String> holds x.": ["If a<b and c>d, a List<String> holds x."],
    "An arrow --> here, and <!-- is never closed.": ["An arrow --> here, and <!-- is never closed."],
    'Write to <a href="mailto:a@b.org">us</a> or see <a href="/map">the map</a>.': [
        'Write to <a href="mailto:a@b.org">us or see the map.'
    ],
    "H<sub>2</sub>O, 64 m<sup>2</sup>, 20<sup>1</sup> euros": ["H2O, 64 m2, 20^1 euros"],
    "The caf&eacute; costs &#8364;9, &#x20AC;8&nbsp;at noon.": ["The café costs €9, €8 at noon."],
    "AT&T, Kolb &amp; Sons, a&b;c, &notanentity;": ["AT&T, Kolb & Sons, a&b;c, &notanentity;"],
}  # fmt: skip
MAIL = {
    "5 pm instead.\n\n> The meeting of the whole group is at three in the\n> afternoon, in the large room.": [
        "5 pm instead.", "The meeting of the whole group is at three in the afternoon, in the large room."
    ],
    "> > older\n> newer\nanswer": ["older", "newer", "answer"],
    "> - one\n> - two": ["- one", "- two"],
    "> 5 kg: 10 euros\n> 10 kg: 20 euros": ["> 5 kg: 10 euros", "> 10 kg: 20 euros"],
}  # fmt: skip


@pytest.mark.parametrize(("text", "sentences"), [pair for some in (CUT, PAGES, WEB, MAIL) for pair in some.items()])
def test_sentences_as_they_are_read(text: str, sentences: list[str]) -> None:
    assert read(text) == sentences


@pytest.mark.parametrize(
    "head", ["<thead><tr><th>Bike</th><th>Day</th></tr></thead>\n<tbody>", "<tr><th>Bike<th>Day</tr>"]
)
def test_a_table_of_a_page_has_columns(head: str) -> None:
    table = f"<table>{head}<tr><td>City bike</td>\n<td>€<b>8</b></td></tr><tr><td>Tandem</td><td>€28</td></tr></table>"
    assert list(filter(None, in_words(read(table)))) == ["Bike: City bike; Day: €8.", "Bike: Tandem; Day: €28."]


HTML = [
    "Put this into your page:",
    "```html",
    '<script src="/js/app.js"></script>',
    "<div hidden>Menu &amp; more</div>",
    "<!-- remove in version 4 -->",
    "```",
    "It needs <b>jQuery</b>.",
]


def test_code_between_fences_is_read_whole() -> None:
    assert cleaned(HTML, is_known) == [*HTML[:-1], "It needs jQuery."]
    assert as_meant("\n".join(HTML)) == "\n".join([*HTML[:-1], "It needs jQuery."])
    assert cleaned([HTML[3]], is_known) == [""]


@pytest.mark.parametrize(
    "text", ["Run deploy <address> <time> to deploy.", "Set --name=<label> first.", "Press <select> twice.",
             "Write to <address>.", "Open <title> and <section>."],
)  # fmt: skip
def test_a_placeholder_is_no_tag(text: str) -> None:
    assert cleaned([text], is_known) == [text]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("It costs <code>9</code> euros.", "It costs 9 euros."),
        ("<section> We open at nine.", "We open at nine."),
        ("<p>Hi.</p> <section>We open.", "Hi.   We open."),
        ("The menu <table class='a'>is here.", "The menu  is here."),
        ("<div><address>1 Quay Street", "1 Quay Street"),
    ],
)
def test_a_tag_without_its_end_is_none_among_words_alone(text: str, said: str) -> None:
    assert cleaned([text], is_known) == [said]


def test_what_a_page_would_hide_is_a_part_of_an_answer() -> None:
    answer = ["It has a <b>pool</b> <span hidden>and a casino</span> &amp; more.", 'Add <script src="/a.js"></script>.']
    assert cleaned_answer(answer, is_known) == ["It has a pool and a casino & more.", answer[1]]


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
