"""Text that is not ours costs work in proportion to its length, whatever it is made of.

Counted are steps, never seconds: lines, calls and characters handed to patterns where a function is asked,
places looked at where a pattern is. What four times the text may cost stands in `tests.steps.LINEAR`. How long it
takes on this machine `python -m benchmarks.growth` and `python -m benchmarks.patterns` say.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from contextlib import suppress

import numpy as np
import pytest

from intrinsics_core import BlockingRuntime, check_citations, run
from intrinsics_core.embedded import words
from intrinsics_core.intrinsics import INTRINSICS, TABLE
from intrinsics_core.profiles import profile
from intrinsics_core.profiles.granite.granite_3_3 import PROFILE as GRANITE_3_3
from intrinsics_core.protocol.errors import MalformedReply
from intrinsics_core.protocol.requests import Embed, Embedded, Generate, Generated, Outcome, Request, TokenLogprob
from intrinsics_core.protocol.results import Citation, SentenceVerdict
from intrinsics_core.render import html, text
from intrinsics_core.replies import json_reply, readers, reasoning
from intrinsics_core.replies.quoted_words import quoted
from intrinsics_core.text.citation_marks import blank_marks
from intrinsics_core.text.cited_documents import marks_in
from tests import patterns
from tests.steps import LINEAR, Matcher, growth


def test_the_patterns_of_the_package_are_found():
    found = set(patterns.patterns())
    assert {"intrinsics_core.embedded.words._TOKEN", "intrinsics_core.replies.json_reply._OPENER"} <= found
    assert any(name.startswith("intrinsics_core.text.markup.defuse") for name in found)  # in a closure


@pytest.mark.slow
def test_no_pattern_takes_more_than_linear_time():
    found = {name: patterns.worst(pattern, (300,), quick=True) for name, pattern in patterns.patterns().items()}
    steep = {name: worst for name, worst in found.items() if worst.ratio >= LINEAR}
    assert not steep, steep


@pytest.mark.parametrize("quadratic", [r"^\s*x", r"\s*;\s*but", r"(?:a|a b)*?c", r"(?>\s*)x"])
def test_the_measure_finds_quadratic_patterns(quadratic):
    assert patterns.worst(re.compile(quadratic, re.MULTILINE), (100,), quick=True).ratio > 9


@pytest.mark.slow
def test_the_measure_finds_quadratic_work():
    assert growth(lambda n: lambda: [min(i, j) for i in range(n) for j in range(n)], 30) > 9  # calls
    pattern = words._TOKEN
    assert growth(lambda n: lambda: [words._TOKEN.search("a" * n) for _ in range(n)], 300) > 9  # characters handed
    assert words._TOKEN is pattern  # the counting is over


@pytest.mark.slow
def test_steps_are_counted_on_the_matches_that_re_finds():
    for pattern in list(patterns.patterns().values())[::20]:
        matcher = Matcher(pattern, patterns.MOST)
        for begin, unit in list(patterns.texts(pattern))[::15]:
            sample = f"{begin}{unit * (24 // len(unit))}\x00 {unit}\n{begin}."
            assert matcher.over(sample) == [found.span() for found in pattern.finditer(sample)], (pattern, sample)


SHAPES = {
    "prose": "The mill was built in 1911 by Ada, and it ground flour for the river. ",
    "list": "- The mill opens at 9 on Monday\n",
    "table": "| mill | 28 euros | 4 hours |\n",
    "JSON": '{"mill": "Ada", "built": 1911}, ',
    "code": "for i in range(10): mill[i] = river(i, 2)\n",
    "names": "Ada Brink, Otto mill and Mona river. ",
    "addresses": "https://example.org/mill/river?c=1 ",
    "dates": "12 May 1911, 13.06.1912, June 3, 2001. ",
    "sums": "1,200.50 euros + 3.5 = $4,000. ",
    "combining marks": "mill e\u0301a\u0308o\u0302 ",
    "times of day": "9:30 am, 17:45, 8 pm. ",
    "ranges": "10-12, 3 to 5, 1990–1995. ",
    "citation marks": "It is the mill [1][2] (Passage 3) [river](https://mill.org/b)¹. ",
    "HTML": "<p>It is <b>mill</b>.</p><tr><td>river</td></tr>",
    "base64": "iVBOR+/01234",
}
WORDS = ["pool", "river", "garden", "ticket", "museum", "harbour", "tandem", "deposit", "station", "orchard", "kettle"]


def varied(unit: str, length: int) -> str:
    """A text of such units with other words and digits each time: what is remembered of one helps with no other."""
    rng, made, size = random.Random(length), [], 0
    while size < length:
        made.append(re.sub(r"mill|river|\d", lambda found: other(found[0], rng), unit))
        size += len(made[-1])
    return "".join(made)[:length]


def other(told: str, rng: random.Random) -> str:
    return str(rng.randint(1, 9)) if told.isdigit() else rng.choice(WORDS) + rng.choice(WORDS)


@pytest.mark.parametrize(
    ("shape", "length"),
    [
        *((shape, 600) for shape in ("prose", "table", "JSON", "citation marks", "HTML")),
        *(pytest.param(shape, 4_800, marks=pytest.mark.slow) for shape in SHAPES),
    ],
)
def test_a_whole_call_costs_work_in_proportion(shape, length):
    def work(n):
        return lambda: run(
            call("hallucination-detection", answer=varied(SHAPES[shape], n), document=varied(SHAPES[shape], n + 1)),
            Vectors(),
        )

    assert growth(work, length) < LINEAR


@pytest.mark.parametrize("count", [20, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["hallucination-detection", "answerability", "query-rewrite"])
def test_a_long_conversation_costs_work_in_proportion(name, count):
    def work(n):
        rng = random.Random(n)
        turns = [
            turn
            for i in range(n)
            for turn in (
                {"role": "user", "content": f"What is told of mill {n * i} and {other('mill', rng)}?"},
                {"role": "assistant", "content": f"It is number {n * i}."},
            )
        ]
        turns.append({"role": "user", "content": "When was it built?"})
        if TABLE[name].ends_with == ("assistant",):
            turns.append({"role": "assistant", "content": f"It was built in {n}."})
        given = (turns,) if name == "query-rewrite" else (turns, ["The mill was built in 1911."])
        return lambda: run(INTRINSICS[name](*given), Vectors())

    assert growth(work, count) < LINEAR


SOURCES = [
    {"id": "mill-1", "title": "Mill guide", "text": "The mill was built in 1911. It ground flour until 1958.",
     "metadata": {"file_name": "mill.pdf", "url": "https://mill.org/a"}},
    "Fog is common.",
]  # fmt: skip
NEARLY_MARKS = ["[[1](http://a", "【1†", "<cite>1", "<sup>1, ", "(source: a.pdf", "\ue2001", "[doc 1, ", "¹˒", "“a b ",
                '"', "[mill-1", "[1] ", "```\n[1]\n", "[x](", "[1]: mill.pdf\n", "<ref"]  # fmt: skip


@pytest.mark.parametrize("count", [2, pytest.param(25, marks=pytest.mark.slow)])
def test_the_check_of_citations_costs_work_in_proportion(count):
    cites = "It is the mill of river [1][2]. It says “ground flour, so river” [1].\n```\n[1] river\n```\n"

    def work(n):
        answer = "".join(cites.replace("river", f"river{1_000 * n + i}") for i in range(n))
        return lambda: run(check_citations([{"role": "assistant", "content": answer}], SOURCES), Vectors())

    assert growth(work, count) < LINEAR


@pytest.mark.parametrize("unit", NEARLY_MARKS)
def test_marks_are_found_in_proportion(unit):
    names = [["mill-1", "Mill guide", "mill.pdf"], ["fog"]]

    def work(n):
        said = ugly(unit, n)
        return lambda: (marks_in(said, ["a", "b"], names), list(quoted(said)), blank_marks(said, ["a"], names[0]))

    assert growth(work, 300) < LINEAR


UGLY = {
    "newlines": "\n",
    "spaces": " \t",
    "dots": ".",
    "dotted": "e.g. ",
    "initials": "A. ",
    "brackets": "[",
    "closing brackets": ")] ",
    "punctuation": ",;:-?! ",
    "CJK": "文字",
    "CJK sentences": "文字。",
    "one word": "a",
    "invisible": "<\u200b",
    "numbers": "1,1.1 ",
    "quotes": "\"'”",
    "capitals": "Ab ",
    "Devanagari": "नि",
}
# Pairs of characters show at a hundred of them, pairs of sentences at a thousand.
SHORT, LONG = 100, 1_500
FEW = ("newlines", "numbers")


def lengths(of: Sequence[str]) -> list:
    """Every ugly text at length in the slow run, and some in short in every run."""
    return [
        *(pytest.param(made, SHORT, id=f"{made} in short") for made in of),
        *(pytest.param(made, LONG, id=made, marks=pytest.mark.slow) for made in UGLY),
    ]


def ugly(unit: str, length: int) -> str:
    return (unit * (length // len(unit) + 1))[:length] + "x"


class Vectors(BlockingRuntime):
    """Answers as an encoder would, at no cost: what is measured is the rest."""

    profile = profile("embedded")

    def handle(self, requests: Sequence[Request]) -> list[Outcome]:
        row = np.ones((1, 4), np.float32) / 2
        return [Embedded(tuple(row for _ in r.texts)) for r in requests if isinstance(r, Embed)]


class Mute(BlockingRuntime):
    """Answers every prompt with the same text."""

    def __init__(self, profile, said: str) -> None:
        self.profile, self.said = profile, said

    def handle(self, requests: Sequence[Request]) -> list[Outcome]:
        return [Generated(self.said) for r in requests if isinstance(r, Generate)]


def call(name: str, *, question="Who built the tide mill?", answer="Ada Brink built it.", document="Ada Brink."):
    messages = [{"role": "user", "content": "Tell me of mills."}, {"role": "assistant", "content": answer}]
    messages.append({"role": "user", "content": question})
    if TABLE[name].ends_with == ("assistant",):
        messages.append({"role": "assistant", "content": answer})
    if name in ("query-rewrite", "query-expansion", "hyde"):
        return INTRINSICS[name](messages)
    return INTRINSICS[name](messages, [document, "It ground flour until 1958."])


@pytest.mark.parametrize(("made_of", "length"), lengths(FEW))
@pytest.mark.parametrize("name", [name for name, record in TABLE.items() if not record.needs_model])
def test_every_intrinsic_on_ugly_text(name, made_of, length):
    engine = Vectors()
    for where in ("question", "answer", "document"):

        def work(n, where=where):
            hard = f"{ugly(UGLY[made_of], n)} {name} {where}"  # no other case has left it in a memory
            return lambda: run(call(name, **{where: hard}), engine)

        found = growth(work, length)
        assert found < LINEAR, f"{where}: {found:.1f} times the steps for four times {made_of}"


@pytest.mark.parametrize(("made_of", "length"), lengths([]))
@pytest.mark.parametrize("family", ["granite-3.2", "granite-3.3", "prompted"])
def test_prompts_and_replies_of_every_family_on_ugly_text(family, made_of, length):
    for name in INTRINSICS:
        for shown in ("{}", "[{}]", "document", "question"):  # said, said in brackets, in a document, in the question

            def work(n, name=name, shown=shown):
                hard = ugly(UGLY[made_of], n)
                said = shown.replace("{}", hard) if "{}" in shown else "1"
                engine = Mute(profile(family), said)
                given = {shown: hard} if "{}" not in shown else {"document": "Ada."}

                def attempt():
                    try:
                        run(call(name, **given), engine)
                    except Exception as error:  # what a mute model says is mostly malformed: the work is the matter
                        assert type(error).__module__.startswith("intrinsics_core"), repr(error)

                return attempt

            found = growth(work, length)
            assert found < LINEAR, f"{name}, {shown}: {found:.1f} times the steps"


def test_what_the_attack_found():
    engine = Vectors()
    assert growth(lambda n: lambda: run(call("citations", document="\n" * n + "x"), engine), 2_000) < LINEAR
    asked = [{"role": "user", "content": "Who?"}]

    def ranked(n):
        return lambda: run(INTRINSICS["reranking"](asked, ["\n" * n + "x", "b"]), Mute(GRANITE_3_3, "A"))

    assert growth(ranked, 2_000) < LINEAR
    assert growth(lambda n: lambda: readers.sentence_number(" " * n + "x", "r"), 2_000) < LINEAR


def test_who_answers_is_read_once_for_all_sentences():
    def work(n):
        turns = [
            {"role": "system", "content": "You are Luna, the assistant of the lido. " * (9 * n)},
            {"role": "user", "content": "Who are you?"},
            {"role": "assistant", "content": "I am Luna, a helper of the lido. " * n},
        ]
        return lambda: run(INTRINSICS["citations"](turns, ["Ada Brink."]), Vectors())

    assert growth(work, 25) < LINEAR


def test_calls_are_read_once_for_all_sentences():
    call = {"id": "1", "function": {"name": "send_mail", "arguments": '{"to": "Anna"}'}}

    def work(n):
        mailed = [
            {"role": "user", "content": "Mail it to Anna."},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "content": "The mail to Anna is sent."},
        ]
        answer = {"role": "assistant", "content": "I have sent the email to Bob. " * n}
        turns = [*mailed * n, {"role": "user", "content": "Did you send it?"}, answer]
        return lambda: run(INTRINSICS["citations"](turns, ["Ada Brink."]), Vectors())

    assert growth(work, 40) < LINEAR


@pytest.mark.parametrize("shape", ['{"a": "{}"}', '[1, "{}" so]', '{"a": "{}'])
@pytest.mark.parametrize("unit", ["\\U\n", '"\n'])
def test_json_with_raw_characters_is_repaired_in_proportion(shape, unit):
    def work(n):
        said = shape.replace("{}", ugly(unit, n))

        def attempt():
            with suppress(MalformedReply):
                json_reply.parse(said, dict, "an object")

        return attempt

    assert growth(work, 400) < LINEAR


@pytest.mark.parametrize("unit", ['{"a": 1} ', '{"a": 1}, {"b": [', "[{}] ", "` ", "<|channel|>final", "[THINK]",
                                  "if ", "\n", ". "])  # fmt: skip
@pytest.mark.parametrize("before", ["So ", "", "Here it is:\n"])
def test_the_answer_among_drafts_is_found_in_proportion(unit, before):
    def work(n):
        said = before + '{"a": 2} ' + unit * n + ' {"a": 3}'

        def attempt():
            with suppress(MalformedReply):
                readers.parsed(reasoning.answer(Generated(said, finish_reason="length")), dict, "an object")
            with suppress(MalformedReply):
                readers.value_start(Generated(said, (TokenLogprob("{", 0.0),)), "a")

        return attempt

    assert growth(work, 400) < LINEAR


# --- HTML ---------------------------------------------------------------------------------------------------------


def verdict(begin: int, end: int, source: str) -> SentenceVerdict:
    return SentenceVerdict(begin=begin, end=end, text=source[begin:end], label="partial", score=0.5, explanation=None)


def cited(begin: int, end: int, source: str, document: int) -> Citation:
    return Citation(
        response_begin=begin, response_end=end, response_text=source[begin:end], document_id=str(document),
        document_index=document, document_begin=0, document_end=1, document_text="d",
    )  # fmt: skip


def test_a_long_answer_is_drawn_in_one_pass():
    def work(n):
        source = "It is so. " * n
        spans = [(10 * i, 10 * i + 9) for i in range(n)]
        verdicts = [verdict(*span, source) for span in spans]
        citations = [cited(*span, source, i) for i, span in enumerate(spans)]

        def draw():
            assert html.answer(source, verdicts, citations).count("<mark") == n

        return draw

    assert growth(work, 200) < LINEAR


def test_pieces_are_those_of_looking_at_every_verdict_for_every_piece():
    rng = random.Random(13)
    for _ in range(500):
        source = "abcdefghij" * 3
        ends = [sorted(rng.sample(range(34), 2)) for _ in range(rng.randint(0, 6))]
        verdicts = [verdict(b, e, source) for b, e in ends]
        citations = [cited(b, e, source, i) for i, (b, e) in enumerate(ends[:3])]
        found = text.pieces(source, verdicts, citations)
        assert "".join(piece.text for piece in found) == source
        at = 0
        for piece in found:
            begin, end = at, at + len(piece.text)
            assert piece.verdict == next((v for v in verdicts if v.begin <= begin and end <= v.end), None)
            numbers = text.numbered(citations)
            assert piece.cited == tuple(sorted({numbers[text.spot(c)] for c in citations if c.response_end == end}))
            at = end
