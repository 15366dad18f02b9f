"""Citations in four modes: what is written is read back, and the fullest mode holds the citations themselves."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from intrinsics_core import Document, InvalidInput, citations, evaluate, run
from intrinsics_core.protocol.results import Citation, Citations
from intrinsics_core.render.citations import (
    MODES,
    STYLES,
    Reference,
    View,
    as_json,
    from_json,
    labelled,
    metric_view,
    parse,
    restored,
    view,
    write,
)
from intrinsics_core.replies.statements import sources
from tests.drawing import drawn
from tests.scripted import Scripted

MILL = Document("The tide mill was built in 1911 by the engineer Ada Brink. It ground flour until 1958.", id="mill")
SAID = "Ada Brink built the tide mill in 1911. She painted it gold. It ground flour until 1958."

# What a text can hold that looks like what the modes write.
PIECES = [
    "It is red.", " ", "\n", "\n\n", "\r\n", "[1]", "[12]", "[^1]", "[1 ←3]", "[^1]<!--3-->", "<!--5-->", "\\", "\\\\",
    "[", "]", "1", "^", "←", "None", "Sources:", "\n\nCitations, quoted:\n", "\n\n<!-- citations: inline -->\n",
    "[1] a: \"b\"", "[^1]: a", "{", "}", '"', "“It is,” he said.", "红。", "真的吗？", "🌾", "👩\u200d👧", "e\u0301",
    "\u2028", "\x85", "\x00", "\ud83d", "Dr. A. Moreau", "a", "aa", "#2", "(1)",
]  # fmt: skip
texts = st.lists(st.sampled_from(PIECES), max_size=8).map("".join) | st.text(max_size=12)
ids = st.sampled_from(["a", "b", "mill x", "a: b", "1", "", "[1]", "None", "documents[0]", 'q"', "é", "\n"]) | texts


@st.composite
def views(draw: st.DrawFn) -> View:
    mode = draw(st.sampled_from(MODES))
    response = draw(texts)
    references = []
    for _ in range(draw(st.integers(0, 4))):
        snippet = draw(texts) if mode.endswith("snippet") else None
        nth = draw(st.sampled_from([1, 1, 2, 10])) if snippet is not None else 1
        begin = end = None
        if mode.startswith("inline"):
            begin, end = sorted(draw(st.tuples(*[st.integers(0, len(response))] * 2)))
        references.append(Reference(draw(ids), snippet, nth, begin, end))
    return View(mode, response, tuple(references))


@pytest.mark.parametrize("style", STYLES)
@settings(derandomize=True, deadline=None, max_examples=drawn(600))
@given(shown=views())
@example(shown=View("inline", "[^1]<!--3--> a", (Reference("a", begin=0, end=4), Reference("a", begin=1, end=4))))
@example(shown=View("inline", "\\[1]\\", (Reference("a", begin=0, end=5), Reference("b", begin=0, end=1))))
@example(shown=View("inline", "x[1]", (Reference("a", begin=0, end=3),)))
@example(shown=View("postfix", "x\n\n[^1]", (Reference("a"),)))
@example(shown=View("postfix", "", ()))
def test_what_is_written_is_read_back(style: Any, shown: View) -> None:
    assert parse(write(shown, style)) == shown


@st.composite
def cited(draw: st.DrawFn) -> tuple[str, list[Document], Citations]:
    """Documents whose ids and words repeat, and citations anywhere in them, for claims anywhere in the response."""
    response = draw(texts)
    documents = [
        Document(draw(texts), id=draw(st.sampled_from(["a", "b", None]))) for _ in range(draw(st.integers(1, 3)))
    ]
    rows = []
    for _ in range(draw(st.integers(0, 4))):
        begin, end = sorted(draw(st.tuples(*[st.integers(0, len(response))] * 2)))
        index = draw(st.integers(0, len(documents) - 1))
        text = documents[index].text
        first, last = sorted(draw(st.tuples(*[st.integers(0, len(text))] * 2)))
        rows.append(
            Citation(
                response_begin=begin, response_end=end, response_text=response[begin:end], document_index=index,
                document_id=documents[index].id or str(index), document_begin=first, document_end=last,
                document_text=text[first:last],
            )
        )  # fmt: skip
    rows.sort(key=lambda c: c.response_end)
    return response, documents, Citations(citations=tuple(dict.fromkeys(rows)))


@pytest.mark.parametrize("style", STYLES)
@settings(derandomize=True, deadline=None, max_examples=drawn(300))
@given(drawn=cited())
def test_the_fullest_mode_restores_the_citations(style: Any, drawn: tuple[str, list[Document], Citations]) -> None:
    response, documents, found = drawn
    assert restored(parse(write(view(found, response, documents), style)), documents) == found


def test_the_four_modes_of_a_judged_answer() -> None:
    messages = [{"role": "user", "content": "Who built it?"}, {"role": "assistant", "content": SAID}]
    found = run(citations(messages, [MILL]))
    shown = {mode: write(view(found, SAID, [MILL], mode)) for mode in MODES}
    assert shown["postfix"] == f"{SAID}\n\nSources:\n[1] mill"
    assert shown["postfix-snippet"] == (
        f'{SAID}\n\nSources, quoted:\n[1] mill: "{MILL.text[:58]}"\n[2] mill: "It ground flour until 1958."'
    )
    marked = "Ada Brink built the tide mill in 1911.[1] She painted it gold. It ground flour until 1958."
    assert shown["inline"] == f"{marked}[1]\n\nCitations:\n[1] mill"
    assert shown["inline-snippet"] == (
        f'{marked}[2]\n\nCitations, quoted:\n[1] mill: "{MILL.text[:58]}"\n[2] mill: "It ground flour until 1958."'
    )
    assert restored(parse(shown["inline-snippet"]), [MILL]) == found
    footnotes = write(view(found, SAID, [MILL], "inline"), "markdown")
    assert footnotes == f"{marked.replace('[1]', '[^1]')}[^1]\n\n<!-- citations: inline -->\n[^1]: mill"
    assert write(view(found, SAID, [MILL], "postfix"), "markdown").startswith(f"{SAID}\n\n[^1]\n\n")


def test_the_papers_json() -> None:
    messages = [{"role": "user", "content": "Who built it?"}, {"role": "assistant", "content": SAID}]
    found = run(citations(messages, [MILL]))
    claim, snippet = SAID[:38], MILL.text[:58]
    rows = {mode: as_json(view(found, SAID, [MILL], mode))["citations"] for mode in MODES}
    assert rows["postfix"] == [{"context_id": "mill"}]
    assert rows["postfix-snippet"][0] == {"context_id": "mill", "snippet": snippet}
    assert rows["inline"][0] == {"claim": claim, "context_id": "mill"}
    assert rows["inline-snippet"][0] == {"claim": claim, "context_id": "mill", "snippet": snippet}
    none = as_json(View("inline", SAID))
    assert none["citations"] == "None" and from_json(none) == View("inline", SAID)
    # The paper's own object holds neither the mode nor the response.
    own = {"citations": rows["inline-snippet"]}
    assert from_json(own, SAID) == parse(json.dumps(own), SAID) == view(found, SAID, [MILL])


def test_a_repeated_snippet_says_which() -> None:
    documents = [Document("Tea. Tea. Tea.", id="a"), Document("Tea.", id="a")]
    rows = [
        Citation(response_begin=0, response_end=4, response_text="Tea.", document_id="a", document_index=index,
                 document_begin=begin, document_end=begin + 4, document_text="Tea.")
        for index, begin in ((0, 5), (1, 0))
    ]  # fmt: skip
    found = Citations(citations=tuple(rows))
    text = write(view(found, "Tea.", documents))
    assert text.splitlines()[-2:] == ['[1] a #2: "Tea."', '[2] a #4: "Tea."']
    assert restored(parse(text), documents) == found


def test_a_claim_that_is_no_sentence_says_where_it_begins() -> None:
    shown = View("inline", "It is red. It is old.", (Reference("a", begin=0, end=21), Reference("a", begin=17, end=20)))
    assert write(shown).startswith("It is red. It is old[1 ←3].[1 ←21]\n")


def test_what_was_cited_from_a_text_that_changed_is_dropped_and_counted() -> None:
    shown = View("inline-snippet", "Tea.", (Reference("a", "hot", begin=0, end=4), Reference("b", "x", begin=0, end=4)))
    found = restored(shown, [Document("Tea is cold.", id="a")])
    assert (found.citations, found.dropped) == ((), 2)


def test_an_evaluation_shows_its_statements_with_what_they_cite() -> None:
    messages = [{"role": "user", "content": "Who built it?"}, {"role": "assistant", "content": SAID}]
    reply = {"explanation": "Mostly.", "statements": [
        {"text": "The year is right.", "citations": [{"source": "d0", "quote": "built in 1911"},
                                                     {"source": "response", "quote": "in 1911"}]},
        {"text": "Gold is not.", "citations": []},
    ], "rating": "no", "confidence": 0.9}  # fmt: skip
    call = evaluate(messages, [MILL], metrics=["faithfulness"])
    (rated,) = run(call, Scripted([reply])).metrics
    shown = metric_view(rated, sources(call.task))
    assert write(shown) == (
        "Mostly.\nThe year is right.[1][2]\nGold is not.\n\nCitations, quoted:\n"
        '[1] documents[0]: "built in 1911"\n[2] response: "in 1911"'
    )
    assert parse(write(shown)) == shown


BROKEN = [
    ("no list at all", "no list"),
    ("It is.[2]\n\nCitations:\n[1] a", "mark 2"),
    ("It is.\n\nCitations:\n1. a", "line 0"),
    ('It is.\n\nCitations:\n[1] "a', "line 0"),
    ("It is.[1 ←99]\n\nCitations:\n[1] a", "claim"),
    ('It is.[1]\n\nCitations:\n[1] a: "b"', "snippet"),
    ("It is.[1]\n\nCitations:\n[1] a #0", "nth"),
    ('{"citations": 3, "response": ""}', "json"),
    ('{"citations": [{"context_id": 3}], "response": ""}', r"citations\[0\]"),
    ('{"citations": [{"context_id": "a", "claim": "b"}], "response": "c"}', r"citations\[0\]\.claim"),
    ('{"citations": [{"context_id": "a"}]}', "response"),
    ('{"citations": [], "response": "", "mode": "footnotes"}', "mode"),
]


@pytest.mark.parametrize(("text", "named"), BROKEN)
def test_what_is_no_such_text_is_an_error_that_says_where(text: str, named: str) -> None:
    with pytest.raises(InvalidInput, match=named):
        parse(text)


def test_views_that_cannot_be_are_refused() -> None:
    with pytest.raises(InvalidInput, match="mode"):
        View("footnotes", "a")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="style"):
        write(View("inline", "a"), "html")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match=r"references\[0\].*claim"):
        View("inline", "a", (Reference("x"),))
    with pytest.raises(InvalidInput, match="inline-snippet"):
        restored(View("inline", "a"), [])
    found = run(citations([{"role": "assistant", "content": SAID}], [MILL]))
    with pytest.raises(InvalidInput, match="not from these"):
        view(found, SAID, [Document("Another text.", id="mill")])
    with pytest.raises(InvalidInput, match="not from these documents"):
        view(found, SAID, [Document(MILL.text, id="kiln")])


CODE = "```\nmill = 1911\n```"


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (f"So:\n{CODE}\nIt is old.", f"So:\n{CODE}\n[1 ←16]It is old."),
        (f"So:\n{CODE}\n", f"So:\n{CODE}\n[1 ←16]"),
        (f"So:\n{CODE}", f"So:[1]\n{CODE}"),
        (f"{CODE}\n{CODE}", f"{CODE}\n{CODE}"),
        (f"So:\n{CODE}\n\n{CODE}", f"So:\n{CODE}\n[1]\n{CODE}"),
        (CODE, CODE),
        ("So:\n```\nmill = 1911", "So:[1]\n```\nmill = 1911"),
        ("mill = 1911", "mill = 1911[1]"),
    ],
)
def test_no_mark_stands_in_a_block_of_code(said: str, shown: str) -> None:
    begin = said.rindex("mill = 1911")
    row = Citation(
        response_begin=begin, response_end=begin + 11, response_text="mill = 1911", document_id="mill",
        document_index=0, document_begin=0, document_end=8, document_text="The tide",
    )  # fmt: skip
    view_of = view(Citations(citations=(row,)), said, [MILL], "inline")
    assert write(view_of).partition("\n\nCitations:")[0] == shown
    assert parse(write(view_of)) == view_of


def test_a_list_for_people_shows_titles_and_addresses_and_is_left_out_where_nothing_is_cited() -> None:
    documents = [
        {
            "id": "9f86d081884c7d65",
            "text": "Fog is common.",
            "metadata": {"title": "Weather", "url": "https://x.org/w"},
        },
        {
            "id": "60303ae22b998861",
            "text": "The tide mill was built in 1911 by the engineer Ada Brink and ground flour.",
        },
    ]
    references = (Reference("9f86d081884c7d65", begin=0, end=4), Reference("60303ae22b998861", begin=5, end=11))
    shown = write(View("inline", "Fog. Mills.", references), label=labelled(documents))
    assert shown.splitlines()[-2:] == [
        "[1] Weather, https://x.org/w",
        "[2] The tide mill was built in 1911 by the engineer Ada Brink …",
    ]
    assert write(View("postfix", "Hello!"), label=labelled(documents)) == "Hello!"
    assert write(View("inline", "Fog. Mills.", references), label=str.upper).endswith("60303AE22B998861")
