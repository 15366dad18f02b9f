"""Text that is not ours costs CPU time in proportion to its length, whatever it is made of.

Measured is CPU time of this process, never the wall clock. The bounds lie far above what linear work needs and far
below what quadratic work cannot do without: at 40,000 characters a pattern that looks at every pair of them takes
seconds, one that looks at each takes at most some hundredths.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence

import numpy as np
import pytest

from intrinsics_core import BlockingRuntime, run
from intrinsics_core.embedded import evidence
from intrinsics_core.intrinsics import INTRINSICS, TABLE
from intrinsics_core.profiles import profile
from intrinsics_core.profiles.granite.granite_3_3 import PROFILE as GRANITE_3_3
from intrinsics_core.profiles.prompted import PROFILE as PROMPTED
from intrinsics_core.render import html, text
from intrinsics_core.replies import readers
from intrinsics_core.requests import Embed, Embedded, Generate, Generated, Outcome, Request
from intrinsics_core.results import Citation, SentenceVerdict
from tests import patterns

ALL = patterns.patterns()


def cpu(work) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def test_the_patterns_of_the_package_are_found():
    assert {"embedded.lexical._TOKEN", "embedded.support._NO_CLAIM", "replies.json_reply._OPENER"} <= {
        name.removeprefix("intrinsics_core.") for name in ALL
    }
    assert any(name.startswith("intrinsics_core.text.markup.defuse") for name in ALL)  # in a closure


@pytest.mark.parametrize("name", ALL)
def test_no_pattern_takes_more_than_linear_time(name):
    found = patterns.worst(ALL[name], 40_000)
    assert found.four < 0.4, f"{found.how} of {found.text}: {found.four:.2f} s for 40,000 characters"


def test_the_measure_finds_what_it_looks_for():
    import re

    for quadratic in (r"^\s*x", r"\s*;\s*but"):
        small = patterns.worst(re.compile(quadratic, re.MULTILINE), 8_000)
        assert small.ratio > 9, (quadratic, small)


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
LENGTH = 30_000


def ugly(unit: str) -> str:
    return (unit * (LENGTH // len(unit) + 1))[:LENGTH] + "x"


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


@pytest.mark.parametrize("made_of", UGLY)
@pytest.mark.parametrize("name", [name for name, record in TABLE.items() if not record.needs_model])
def test_every_intrinsic_on_ugly_text(name, made_of):
    hard = ugly(UGLY[made_of])
    engine = Vectors()
    run(call(name), engine)  # heads and tables are loaded
    for where in ("question", "answer", "document"):
        spent = cpu(lambda where=where: run(call(name, **{where: hard}), engine))
        assert spent < 9, f"{where}: {spent:.1f} s of CPU time for {LENGTH} characters of {made_of}"


@pytest.mark.parametrize("made_of", UGLY)
@pytest.mark.parametrize("family", ["granite-3.2", "granite-3.3", "prompted"])
def test_prompts_and_replies_of_every_family_on_ugly_text(family, made_of):
    hard = ugly(UGLY[made_of])
    for name in INTRINSICS:
        for said, where in (("1", "document"), ("1", "question"), (hard, "document"), ("[" + hard + "]", "document")):
            engine = Mute(profile(family), said)
            document = hard if said == "1" else "Ada."
            given = {where: document if where == "document" else hard}

            def work(name=name, engine=engine, given=given):
                try:
                    run(call(name, **given), engine)
                except Exception as error:  # what a mute model says is mostly malformed: how fast is the matter
                    assert type(error).__module__.startswith("intrinsics_core"), repr(error)

            spent = cpu(work)
            assert spent < 5, f"{name}, {where}: {spent:.1f} s of CPU time"


def test_what_the_attack_found():
    documents = ["\n" * 40_000 + "x"]
    assert cpu(lambda: run(call("citations", document=documents[0]), Vectors())) < 3  # was 25 s
    ranking = INTRINSICS["reranking"]([{"role": "user", "content": "Who?"}], ["\n" * 20_000 + "x", "b"])
    assert cpu(lambda: run(ranking, Mute(GRANITE_3_3, "A"))) < 2  # was 9 s
    assert cpu(lambda: readers.sentence_number(" " * 40_000 + "x", "r")) < 0.3
    assert PROMPTED is profile("prompted")


def test_words_that_begin_alike_are_not_all_compared_with_all(monkeypatch):
    others = " ".join(f"abc{letters(i)}qqqq" for i in range(6_000))
    sources = evidence.Sources([others], [np.ones((1, 4), np.float32) / 2])
    compared = []
    monkeypatch.setattr(evidence, "_trigrams", lambda term: compared.append(term) or set())
    sources.similar("abcxyzw")
    assert len(compared) <= 1_001


def letters(number: int) -> str:
    return "".join(chr(97 + number // 26**k % 26) for k in range(4))


# --- HTML ---------------------------------------------------------------------------------------------------------


def verdict(begin: int, end: int, source: str) -> SentenceVerdict:
    return SentenceVerdict(begin=begin, end=end, text=source[begin:end], label="partial", score=0.5, explanation=None)


def cited(begin: int, end: int, source: str, document: int) -> Citation:
    return Citation(
        response_begin=begin, response_end=end, response_text=source[begin:end], document_id=str(document),
        document_index=document, document_begin=0, document_end=1, document_text="d",
    )  # fmt: skip


def test_a_long_answer_is_drawn_in_one_pass():
    source = "It is so. " * 20_000
    spans = [(10 * i, 10 * i + 9) for i in range(20_000)]
    verdicts = [verdict(*span, source) for span in spans]
    citations = [cited(*span, source, i) for i, span in enumerate(spans)]
    drawn = ""

    def work():
        nonlocal drawn
        drawn = html.answer(source, verdicts, citations)

    assert cpu(work) < 10  # 4,000 sentences took 8.6 s; 20,000 would have taken 25 times that
    assert drawn.count("<mark") == 20_000


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
