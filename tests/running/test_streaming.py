"""Verdicts while an answer is written: sentence by sentence, and at last the same as without a stream."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intrinsics_core import InvalidInput, RuntimeUnavailable, StreamChecker, audit, run
from intrinsics_core.embedded.answers import leans
from intrinsics_core.profiles.asking import data_of
from intrinsics_core.protocol.requests import Generate
from intrinsics_core.running.leaning import leans_by_form, shortened
from intrinsics_core.running.streaming import AnswerStream, StreamEvent
from intrinsics_core.runtimes.base import AsyncRuntime
from intrinsics_core.text.layout import laid_out
from intrinsics_core.text.sentences import punkt
from tests.contract.judge import judge
from tests.drawing import drawn, listed
from tests.scripted import AsyncScripted, Scripted
from tests.steps import LINEAR, growth

ASKED = [{"role": "user", "content": "Who built the tide mill, and what became of it?"}]
DOCUMENTS = [
    {"id": "mill", "text": "Ada Brink built the tide mill in 1911. It ground flour until 1958."},
    {"id": "fog", "text": "Fog is common in May. 🌾 磨坊由艾达建造。"},
]
ANSWER = "Ada Brink built the tide mill in 1911. 🌾 It ground flour until 1958!  She painted it gold. Ask me more?"
PIECES = [
    "Ada Brink built the mill.", "It ground flour until 1958!", 'She said "no." Then', "Dr. B. Moreau", "$4.50", "…",
    "茶很烫。", "冰不烫！", "🌾", "\u0301", "- one", "1. First.", "“Quoted,” she said.", "e.g. fog", "?!", "(See 3.)",
]  # fmt: skip
SPACES = ["", " ", "  ", "\n", "\r\n", "\n\n", "\t"]
answers = st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(SPACES)), max_size=12).map(
    lambda parts: "".join(piece + space for piece, space in parts)
)


def chunked(text: str, cuts: Sequence[int]) -> list[str]:
    places = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    return [text[a:b] for a, b in pairwise(places)]


def whole(text: str, runtime: Any = None) -> Any:
    return run(audit([*ASKED, {"role": "assistant", "content": text}], DOCUMENTS), runtime)


@settings(derandomize=True, deadline=None, max_examples=drawn(150))
@given(text=answers, cuts=st.lists(st.integers(0, 400), max_size=30))
def test_the_last_is_the_whole_under_any_chunking(text: str, cuts: list[int]) -> None:
    checker = StreamChecker(ASKED, DOCUMENTS)
    early = [sentence for chunk in chunked(text, cuts) for sentence in checker.feed(chunk)]
    assert checker.close() == whole(text)
    for sentence in early:
        assert text[sentence.begin : sentence.end] == sentence.text
        for cited in sentence.citations:
            assert text[cited.response_begin : cited.response_end] == cited.response_text
            assert DOCUMENTS[cited.document_index]["text"][cited.document_begin : cited.document_end] == (
                cited.document_text
            )
    assert all(a.end <= b.begin for a, b in pairwise(early))


@settings(derandomize=True, deadline=None, max_examples=drawn(300))
@given(text=answers, cuts=st.lists(st.integers(0, 400), max_size=30))
def test_what_closes_early_begins_and_ends_as_sentences_of_the_whole(text: str, cuts: list[int]) -> None:
    stream, spans = AnswerStream(ASKED, DOCUMENTS), punkt(text)
    begins, ends = {span.begin for span in spans}, {span.end for span in spans}
    for chunk in chunked(text, cuts):
        stream.push(chunk)
        if (taken := stream.take()) is not None:
            begin, said = taken[0], taken[1].task.response
            assert text[begin : begin + len(said)] == said
            assert begin in begins and begin + len(said) in ends


def test_verdicts_come_as_sentences_close_and_are_those_of_the_whole() -> None:
    checker, seen = StreamChecker(ASKED, DOCUMENTS), []
    for character in ANSWER:
        for sentence in checker.feed(character):
            seen.append((checker.text, sentence))
    last = checker.close()
    assert [sentence for _, sentence in seen] == list(last.sentences[:-1])  # the last one closes with the answer
    assert [sentence.label for _, sentence in seen] == ["faithful", "faithful", "unfaithful"]
    for said, sentence in seen:  # told when the word behind is whole, not later
        assert said[sentence.end :].split() and not said[sentence.end :].strip().count(" ")


def test_a_sentence_is_about_what_the_one_before_it_was() -> None:
    hotels = [
        {"title": "Harbour Hotel", "text": "Check-in is from 3 p.m. There is a pool."},
        {"title": "Garden Hotel", "text": "Check-in is from 2 p.m. There is a sauna."},
    ]
    checker = StreamChecker([{"role": "user", "content": "Tell me about the hotels."}], hotels)
    said = ["The Garden Hotel has a sauna. ", "Its check-in is from 3 p.m. ", "That is all there is to say."]
    judged = [sentence for chunk in said for sentence in checker.feed(chunk)]
    labels = [sentence.label for sentence in judged]
    assert labels == [sentence.label for sentence in checker.close().sentences[:2]]
    assert labels[0] == "faithful" and labels[1] != "faithful"  # the Harbour Hotel's


@pytest.mark.parametrize(
    "interim",
    [
        "Let me look that up.",
        "Let me compare it with the Harbour Hotel first.",
        "I will check the Harbour Hotel, too.",
        "Searching for the Harbour Hotel ...",
        "First the Harbour Hotel, then the Garden Hotel. The Harbour Hotel is done.",
    ],
)
def test_a_turn_between_the_calls_of_an_agent_is_no_beginning_of_its_answer(interim: str) -> None:
    hotels = [
        {"title": "Garden Hotel", "text": "Breakfast costs 9 euros. Check-in is from 3 p.m."},
        {"title": "Harbour Hotel", "text": "Breakfast costs 14 euros. Check-in is from 2 p.m."},
    ]
    asked = [{"role": "user", "content": "How much is breakfast at the Garden Hotel?"}]
    between = {"role": "assistant", "content": interim}
    for price, right in ((9, True), (14, False)):
        answer = {"role": "assistant", "content": f"It costs {price} euros."}
        assert (run(audit([*asked, between, answer], hotels)).label == "faithful") is right


def test_an_item_of_a_stream_is_read_behind_its_heading() -> None:
    tariffs = [
        {"title": "Tariff Lumo Basic", "text": "It includes 5 GB of data. The connection fee is €20."},
        {"title": "Tariff Lumo Flex", "text": "It includes 12 GB of data. There is no connection fee."},
    ]
    asked = [{"role": "user", "content": "What should I know about the tariffs?"}]
    for fee, right in (("€20", True), ("€90", False)):
        answer = f"**Connection fee**\n\n- Tariff Lumo Basic: {fee}\n"
        checker = StreamChecker(asked, tariffs)
        seen = [sentence for chunk in answer.splitlines(keepends=True) for sentence in checker.feed(chunk)]
        last = [*seen, *checker.close().sentences][-1]
        whole = run(audit([*asked, {"role": "assistant", "content": answer}], tariffs)).sentences[-1]
        assert (last.label == "faithful") == right == (whole.label == "faithful")


def test_a_language_model_sees_what_was_said_before_and_judges_what_is_new() -> None:
    script = Scripted(judge)
    checker = StreamChecker(ASKED, DOCUMENTS, runtime=script)
    labels = [s.label for chunk in (ANSWER[:60], ANSWER[60:]) for s in checker.feed(chunk)]
    assert len(labels) == 3 and len(script.requests) == 2  # what closes together is one request
    first, second = (_shown(request) for request in script.requests)
    assert [turn["role"] for turn in second["conversation"]] == ["user", "assistant"]
    assert list(first["response"].values()) == ["Ada Brink built the tide mill in 1911."]
    assert set(second) == {"documents", "conversation", "response"}
    assert checker.close() == whole(ANSWER, Scripted(judge))
    assert len(script.requests) == 3


def _shown(request: Generate) -> Any:
    return data_of(request.messages[-1].content)  # type: ignore[index]


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_no_sentence_closes_in_the_reasoning_before_an_answer(size: int) -> None:
    text = f"<think>Otto Lang built it. Or was it in 1950?  Let me see.</think>\n\n{ANSWER}"
    checker, early = StreamChecker(ASKED, DOCUMENTS), []
    for chunk in chunked(text, range(0, len(text), size)):
        early += checker.feed(chunk)
    last = checker.close()
    assert last == whole(text) and early
    assert [*early, *checker.left(last)] == list(last.sentences)
    assert last.sentences[0].text == "Ada Brink built the tide mill in 1911."


def test_sync_equals_async() -> None:
    async def fed() -> Any:
        checker = StreamChecker(ASKED, DOCUMENTS, runtime=AsyncScripted(judge))
        return [s for c in chunked(ANSWER, range(0, 100, 7)) for s in await checker.afeed(c)], await checker.aclose()

    checker = StreamChecker(ASKED, DOCUMENTS, runtime=Scripted(judge))
    assert ([s for c in chunked(ANSWER, range(0, 100, 7)) for s in checker.feed(c)], checker.close()) == asyncio.run(
        fed()
    )


def test_a_whole_stream_of_events() -> None:
    events = list(StreamChecker(ASKED, DOCUMENTS).check(chunked(ANSWER, range(0, 100, 9))))
    assert "".join(event.text for event in events) == ANSWER
    judged = [s for event in events for s in event.sentences]
    assert [s.label for s in judged] == ["faithful", "faithful", "unfaithful", "NA"]
    assert [s.text for s in judged] == [s.text for s in whole(ANSWER).sentences]  # each once, the last one too
    assert [event.audit for event in events if event.audit] == [whole(ANSWER)] and events[-1].audit


class Held(AsyncRuntime):
    """The judge, who does not answer before he is let go."""

    profile = Scripted.profile

    def __init__(self) -> None:
        self.free, self.asked = asyncio.Event(), 0

    async def ahandle(self, requests: Any) -> Any:
        self.asked += 1
        await self.free.wait()
        return Scripted(judge).handle(requests)


def test_chunks_are_passed_on_while_a_verdict_is_waited_for() -> None:
    async def chunks() -> AsyncIterator[str]:
        for chunk in chunked(ANSWER, range(0, 100, 9)):
            yield chunk
            await asyncio.sleep(0)

    async def watch() -> list[StreamEvent]:
        runtime, events = Held(), []
        async for event in StreamChecker(ASKED, DOCUMENTS, runtime=runtime).acheck(chunks()):
            events.append(event)
            if event.text and "".join(e.text for e in events) == ANSWER:
                assert runtime.asked == 1  # the first sentence is still being judged
                runtime.free.set()
        return events

    events = asyncio.run(watch())
    assert [bool(event.text) for event in events].index(False) == sum(1 for e in events if e.text)
    assert events[-1].audit == whole(ANSWER, Scripted(judge))
    assert events[-2].sentences


def test_a_stream_that_is_left_leaves_nothing_behind() -> None:
    async def chunks() -> AsyncIterator[str]:
        yield ANSWER
        await asyncio.Event().wait()

    async def leave() -> int:
        stream = StreamChecker(ASKED, DOCUMENTS, runtime=Held()).acheck(chunks())
        async for _ in stream:
            break
        await stream.aclose()  # type: ignore[attr-defined]
        await asyncio.sleep(0)
        return len(asyncio.all_tasks()) - 1

    assert asyncio.run(leave()) == 0


def test_a_judge_that_is_down() -> None:
    down = Scripted(lambda request: RuntimeUnavailable("down"))
    with pytest.raises(RuntimeUnavailable):
        StreamChecker(ASKED, DOCUMENTS, runtime=down).feed(ANSWER)
    checker = StreamChecker(ASKED, DOCUMENTS, runtime=down, on_error="fallback")
    told = checker.feed(ANSWER)
    assert {s.label for s in told} == {"NA"} and all("down" in (s.explanation or "") for s in told)
    assert "down" in (checker.close().degraded or "")


def test_empty_is_normal() -> None:
    assert StreamChecker(ASKED, DOCUMENTS).close().reason == "nothing said"
    checker = StreamChecker(ASKED, [])
    assert [s.label for s in checker.feed("Fog is thick there. It is. Three")] == ["NA"]
    assert checker.close().reason == "nothing retrieved"


def test_what_is_wrong_is_told_at_once() -> None:
    with pytest.raises(InvalidInput, match="messages"):
        StreamChecker(None, DOCUMENTS)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="messages ends with an answer"):
        StreamChecker([*ASKED, {"role": "assistant", "content": "Ada."}], DOCUMENTS)
    with pytest.raises(InvalidInput, match="on_error"):
        StreamChecker(ASKED, DOCUMENTS, on_error="shrug")  # type: ignore[arg-type]
    checker = StreamChecker(ASKED, DOCUMENTS)
    with pytest.raises(InvalidInput, match="chunk"):
        checker.feed(None)  # type: ignore[arg-type]
    checker.close()
    with pytest.raises(InvalidInput, match="closed"):
        checker.feed("More.")


def test_two_answers_at_once_do_not_mix() -> None:
    results: list[Any] = [None, None]

    def work(n: int) -> None:
        checker = StreamChecker(ASKED, DOCUMENTS)
        text = [ANSWER, "Fog is common in May. It is."][n]
        results[n] = ([s for c in text for s in checker.feed(c)], checker.close())

    threads = [threading.Thread(target=work, args=(n,)) for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results[0][1] == whole(ANSWER) and len(results[0][0]) == 3 and len(results[1][0]) == 1


def test_a_long_answer_takes_time_in_proportion_to_its_length() -> None:
    counted = [0]

    def split(text: str) -> Any:
        counted[0] += len(text)
        return punkt(text)

    for text in ("A word, another " * 2_000, "Ada built it. " * 2_000):
        counted[0] = 0
        stream = AnswerStream(ASKED, DOCUMENTS, split=split)
        for at in range(0, len(text), 5):
            stream.push(text[at : at + 5])
            stream.take()
        assert counted[0] < 5 * len(text)


# --- proportion -----------------------------------------------------------------------------------------------------

# Tails that never close: nothing follows an end, or what follows shows that it was none.
OPEN_TAILS = {"newlines": "\n", "brackets": "(", "quotes": '"', "dots": ".", "words": "a ", "abbreviations": "e.g. a ",
              "bracketed words": "( a ", "one word": "a", "spaces": " ", "commas": ", b"}  # fmt: skip


@pytest.mark.parametrize("unit", listed(OPEN_TAILS, "dots", "words", "abbreviations"))
@pytest.mark.parametrize("begin", listed(["", "It is so. "], ""))
def test_a_tail_that_stays_open_costs_work_in_proportion(unit: str, begin: str) -> None:
    def work(n: int) -> Any:
        def feed() -> None:
            stream = AnswerStream(ASKED, DOCUMENTS)
            for chunk in [begin, *[unit] * n]:
                stream.push(chunk)
                stream.take()

        return feed

    assert growth(work, 150) < LINEAR


@pytest.mark.parametrize(
    "unit", ["Yes. ", *(pytest.param(t, marks=pytest.mark.slow) for t in ("It is so:\n", "# So\n", "|-|-|\n"))]
)
def test_lines_that_all_lean_on_the_next_cost_work_in_proportion(unit: str) -> None:
    def work(n: int) -> Any:
        def feed() -> None:
            stream = AnswerStream(ASKED, DOCUMENTS, split=laid_out)
            for chunk in [f"{n} words.\n\n", *[unit] * n]:  # no text that was split before, and is remembered
                stream.push(chunk)
                stream.take()

        return feed

    assert growth(work, 50) < LINEAR


def test_splitting_an_open_tail_reads_few_times_what_is_written() -> None:
    for unit in ("( a ", "e.g. a "):
        read = 0

        def counting(text: str) -> Any:
            nonlocal read
            read += len(text)
            return punkt(text)

        stream = AnswerStream(ASKED, DOCUMENTS, split=counting)
        for _ in range(5_000):
            stream.push(unit)
            stream.take()
        assert read < 12 * 5_000 * len(unit)


def test_a_long_answer_costs_as_much_late_as_early() -> None:
    """What a sentence is judged with does not grow with the answer."""
    stream = AnswerStream(ASKED, DOCUMENTS)
    longest = 0
    for i in range(400):
        stream.push(f"Ada Brink built mill number {i} by the sea. ")
        if taken := stream.take():
            begin, call = taken
            messages = call.task.messages
            longest = max(longest, sum(len(m.content) for m in messages))
            assert stream.text[begin:].startswith(messages[-1].content)
            assert len(messages) == 2 or stream.text[:begin].endswith(messages[-2].content)
    assert 2_000 < longest < 2_300


# --- held back until judged ---------------------------------------------------------------------------------------


def events_of(text: str, cuts: Sequence[int], asynchronous: bool, **settings: Any) -> list[StreamEvent]:
    checker = StreamChecker(ASKED, DOCUMENTS, hold=True, **settings)

    async def written() -> AsyncIterator[str]:
        for chunk in chunked(text, cuts):
            yield chunk

    async def main() -> list[StreamEvent]:
        return [event async for event in checker.acheck(written())]

    return asyncio.run(main()) if asynchronous else list(checker.check(chunked(text, cuts)))


@settings(derandomize=True, deadline=None, max_examples=drawn(40))
@given(text=answers, cuts=st.lists(st.integers(0, 400), max_size=20), asynchronous=st.booleans())
def test_a_sentence_that_is_held_back_is_seen_after_its_verdict(text: str, cuts: list[int], asynchronous: bool) -> None:
    shown, judged = "", 0
    events = events_of(text, cuts, asynchronous)
    for event in events:
        for sentence in event.sentences:
            assert len(shown) < sentence.end, "its text was seen before its verdict"
            judged = max(judged, sentence.end)
        shown += event.text
        assert not text[judged : len(shown)].strip()
    assert shown == text and events[-1].audit == whole(text)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_reader_that_stops_at_an_invention_has_not_shown_it(asynchronous: bool) -> None:
    shown = ""
    for event in events_of(ANSWER, range(0, len(ANSWER), 5), asynchronous):
        if any(sentence.label == "unfaithful" for sentence in event.sentences):
            break
        shown += event.text
    assert "1911." in shown and "gold" not in shown


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_judge_that_is_down_holds_nothing_back_for_good(asynchronous: bool) -> None:
    down = Scripted(lambda request: RuntimeUnavailable("refused"))
    events = events_of(ANSWER, range(0, len(ANSWER), 9), asynchronous, runtime=down, on_error="fallback")
    assert "".join(event.text for event in events) == ANSWER
    sentences = [sentence for event in events for sentence in event.sentences]
    assert {sentence.label for sentence in sentences} == {"NA"}
    assert any("refused" in (sentence.explanation or "") for sentence in sentences)


# --- lines that say nothing without the next one --------------------------------------------------------------------

LIDO = [
    "The lido is open from 9 a.m. to 8 p.m. A day ticket costs 6 euros for adults and 3 euros for children under 14. "
    "The water slide is closed on Mondays. Dogs are not admitted. The cafe sells pizza and ice cream."
]
TERMS = "What does it cost and when is it open?"
LEANING = {
    "a heading": (TERMS, "## Prices\n\n- Adults: 6 euros\n- Children under 14: 3 euros\n\n## Opening hours\n\n"
                  "The lido is open from 9 a.m. to 8 p.m.\n"),
    "a name above a list": (TERMS, "Prices\n- Adults: 6 euros\n- Children under 14: 3 euros\n"),
    "a line in bold": (TERMS, "**Prices**\n- Adults: 6 euros\n- Children under 14: 3 euros\n"),
    "a numbered line in bold": (TERMS, "**1. Hours**\nThe lido is open from 9 a.m. to 8 p.m.\n\n**2. Slide**\n"
                                "The water slide is closed on Mondays.\n"),
    "an introduction": ("What do they sell?", "The cafe sells:\n- Pizza\n- Ice cream\n"),
    "a table": (TERMS, "| Who | Price |\n|---|---|\n| Adults | 6 euros |\n| Children under 14 | 3 euros |\n"),
    "a table of numbered rows": ("What is decided?", "| No. | What |\n|---|---|\n| 1 | Dogs are not admitted |\n"
                                 "| 2 | The water slide is closed on Mondays |\n| 3 | The cafe sells pizza |\n"),
    "a bare no": ("Can I swim at ten in the evening?", "No. The lido is open from 9 a.m. to 8 p.m. Dogs stay out."),
    "a bare no later on": (TERMS, "The lido opens at 9 a.m. Dogs? No. They are not admitted. Enjoy your day!"),
    "of course": ("Can dogs come along?", "Of course. Dogs are not admitted, though. The cafe sells pizza."),
    "sure": ("Does the lido have a restaurant?", "Sure! The cafe sells pizza and ice cream. Dogs are not admitted."),
    "sure later on": ("Can dogs come along?", "The slide is shut on Mondays. Sure! Dogs are not admitted. It is open."),
    "a name above a list later on": (TERMS, "Dogs are not admitted.\nPrices\n- Adults: 6 euros\n- Children: 3 euros\n"),
    "a number": (TERMS, "The lido is open from 9 a.m. to 8 p.m.\n1\nDogs are not admitted.\n"),
}  # fmt: skip


def asks(question: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": question}]


def words_of(text: str) -> list[str]:
    return re.findall(r"\S+\s*|\s+", text)


@pytest.mark.parametrize(("question", "answer"), LEANING.values(), ids=LEANING)
def test_a_line_that_leans_on_the_next_is_judged_with_it(question: str, answer: str) -> None:
    checker = StreamChecker(asks(question), LIDO)
    seen = [sentence for chunk in words_of(answer) for sentence in checker.feed(chunk)]
    whole = checker.close()
    assert [(s.text, s.label) for s in seen] == [(s.text, s.label) for s in whole.sentences[: len(seen)]]
    assert seen and len(checker.left(whole)) <= 2  # nothing waits for the end that need not


def test_a_guard_shows_a_right_answer_that_begins_with_a_heading() -> None:
    question, answer = LEANING["a heading"]
    shown = ""
    for event in StreamChecker(asks(question), LIDO, hold=True).check(words_of(answer)):
        if any(sentence.label == "unfaithful" for sentence in event.sentences):
            break
        shown += event.text
    assert shown == answer


def test_a_heading_is_asked_about_when_the_line_below_it_has_closed() -> None:
    stream, taken = AnswerStream(ASKED, DOCUMENTS, split=laid_out), list[str]()
    for chunk in ("# Mill\n\n## Who built it\n", "\nAda Brink built ", "it in 1911. ", "It ground ", "flour."):
        stream.push(chunk)
        if (found := stream.take()) is not None:
            taken.append(found[1].task.response)
    assert taken == ["# Mill\n\n## Who built it\n\nAda Brink built it in 1911."]


HOTELS = [
    {"title": "Garden Hotel", "text": "The Garden Hotel is 2 km from the station. A double room costs 80 euros a "
     "night. Breakfast costs 9 euros. Check-in is from 3 p.m. Dogs are welcome."},
    {"title": "Harbour Hotel", "text": "The Harbour Hotel is 300 m from the station. A double room costs 95 euros a "
     "night. Breakfast costs 14 euros. Check-in is from 2 p.m. Dogs are not allowed."},
]  # fmt: skip
ITEMS = "- A double room costs 80 euros a night.\n- Check-in is from 3 p.m.\n- Dogs are welcome.\n"


@pytest.mark.parametrize("times", [1, pytest.param(40, marks=pytest.mark.slow)])
@pytest.mark.parametrize("heading", ["**Garden Hotel**", "## Garden Hotel\n\n### Prices", "- Garden Hotel"])
def test_a_long_list_is_read_under_its_heading_to_its_end(heading: str, times: int) -> None:
    answer = f"{heading}\n{ITEMS * times}- Breakfast costs 14 euros.\n- Breakfast costs 9 euros.\n- Check-in"
    checker = StreamChecker(asks("Tell me about the Garden Hotel and the Harbour Hotel."), HOTELS)
    labels = {s.text: s.label for chunk in answer.splitlines(keepends=True) for s in checker.feed(chunk)}
    assert labels["- Breakfast costs 14 euros."] != "faithful"  # the Harbour Hotel's
    assert labels["- Breakfast costs 9 euros."] == "faithful"


TITLES = ["Garden Hotel", "Harbour Hotel"]
ROWS = "| Monday | 9 | 8 |\n" * 150
PROSE = "Ada Brink built it by the sea. " * 100


@pytest.mark.parametrize(
    ("above", "between", "kept"),
    [
        ("**Garden Hotel**\n", ITEMS * 30, "**Garden Hotel**\n\n- "),
        ("Prices\n", ITEMS * 30, "Prices\n\n- "),
        ("- Garden Hotel\n", ITEMS * 30, "- Garden Hotel\n\n- "),
        ("# Rooms\n## Old\n**Gone**\n## New\n", PROSE, "# Rooms\n\n## New\n\n"),
        ("# Old\n\n# New\n\n", PROSE, "# New\n\n"),
        ("## Garden Hotel\n", ITEMS + PROSE, ""),  # prose behind a list is not under its heading
        ("| Day | From | To |\n|---|---|---|\n", ROWS, "| Day | From | To |\n|---|---|---|\n| M"),
        ("# Hours\n\n| Day | From | To |\n|---|---|---|\n", ROWS, "# Hours\n\n| Day | From | To |\n|---|---|---|\n| M"),
        ("Day | From | To\nMonday | 9 | 8\n", ROWS, "Day | From | To\n| M"),
        ("| Day | From | To |\n|---|---|---|\n", ROWS + PROSE, ""),
        (f"# {'long ' * 50}\n", PROSE, ""),
    ],
)
def test_what_is_said_further_down_keeps_what_it_stands_under(above: str, between: str, kept: str) -> None:
    def leans_on(sentence: str, following: str, before: str) -> bool:
        return leans_by_form(sentence, before) or leans(sentence, following, before, TITLES)

    said = above + between
    for size in (2_000, 1_200):  # what was shortened is shortened again
        said = shortened(said, size, leans_on)
        assert said.startswith(kept) and len(said) < size + 200
        assert (above + between).endswith(said[len(kept) :])
    assert kept or said[0].isalpha()
    assert shortened("# Short\n", 2_000, leans_on) == "# Short\n"


# --- blocks of code, and what the whole cuts otherwise ----------------------------------------------------------------

MANUAL = [
    "To restart the server run:\n\n```bash\nsudo systemctl restart alba. # not reload\nalba --check\n```\n"
    "The port is 8010. Backups are kept for 30 days. The log is /var/log/alba.log."
]
CODE = {
    "in the middle": "Run this:\n\n```bash\nsudo systemctl restart alba. # not reload\nalba --check\n```\n\n"
                     "The port is 8010.",
    "tildes": "Run this:\n~~~\nsudo systemctl restart alba. # not reload\nalba --check. Done.\n~~~\nThe port is 8010.",
    "at the end": "The port is 8010.\n\n```\nsudo systemctl restart alba. # it was painted gold by forty sailors\n```",
    "all of it": "```bash\nsudo systemctl restart alba. # not reload\n```",
    "not closed": "Run this:\n\n```bash\nsudo systemctl restart alba. # gold. The port is 8010.",
    "two blocks": "First:\n```\nalba --check. # fine\n```\nThe port is 8010. Then:\n```\nalba --stop. # Or\n```\nBye.",
    "in an item": "1. Run this:\n   ```sh\n   sudo systemctl restart alba. # not reload\n   ```\n2. The port is 8010.",
    "with prose": "Set x=1\n```\nThe server is restarted by this.\nIt waits. It stops.\n```\nThe port is 8010. Is it?",
    "line ends of Windows": "Run this:\r\n\r\n```\r\nalba --check. # fine\r\n```\r\n\r\nThe port is 8010. Is it?",
    "none": "Run `sudo systemctl restart alba.` and then `alba --check`. The port is 8010. Is it?",
    "a mark in prose": "The mark ``` begins a block. The port is 8010. Backups are kept for 30 days.",
}  # fmt: skip
MANUALS_QUESTION = "What does the manual say?"


@pytest.mark.parametrize("size", listed([1, 5, 17, 1000], 5))
@pytest.mark.parametrize("answer", CODE.values(), ids=CODE)
def test_code_is_judged_as_in_the_whole_answer_wherever_chunks_are_cut(answer: str, size: int) -> None:
    told, shown = list[Any](), 0
    checker = StreamChecker(asks(MANUALS_QUESTION), MANUAL, hold=True)
    for event in checker.check(chunked(answer, range(0, len(answer), size))):
        told += event.sentences
        shown += len(event.text)
        assert not answer[told[-1].end if told else 0 : shown].strip()
        if event.audit:
            assert [(s.text, s.label, s.begin) for s in told] == [
                (s.text, s.label, s.begin) for s in event.audit.sentences
            ]
    assert shown == len(answer)


def test_the_lines_of_a_block_of_code_close_when_it_ends() -> None:
    stream, taken = AnswerStream(ASKED, DOCUMENTS, split=laid_out), list[str]()
    for chunk in words_of(
        "Ada Brink built the mill. Do:\n```\na = 1. b = 2.\n\nc = 3.\n```\nFog is common. It ends. Good "
    ):
        stream.push(chunk)
        if (found := stream.take()) is not None:
            taken.append(found[1].task.response)
    assert taken == [
        "Ada Brink built the mill.",
        "Do:\n```\na = 1. b = 2.\n\nc = 3.\n```",
        "Fog is common.",
        "It ends.",
    ]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_sentence_that_goes_on_behind_what_was_judged_is_told_before_its_end_is_shown(asynchronous: bool) -> None:
    text = "It ground flour until 1958. <!-- Fog is common in May. It was painted gold by forty sailors -->"
    told, shown = list[Any](), ""
    for event in events_of(text, range(0, len(text), 5), asynchronous):
        told += event.sentences
        shown += event.text
        assert not text[max((s.end for s in told), default=0) : len(shown)].strip()
    assert told[-1] == whole(text).sentences[-1] and told[-1].text.startswith("<!-- Fog") and shown == text


@pytest.mark.parametrize("unit", listed(["x = 1;\n", "a. b. ", "```\n", "~~~ a. b\n"], "a. b. "))
def test_a_block_of_code_costs_work_in_proportion(unit: str) -> None:
    def work(n: int) -> Any:
        def feed() -> None:
            stream = AnswerStream(ASKED, DOCUMENTS, split=laid_out)
            for chunk in [f"{n} words.\n\n```\n", *[unit] * n]:
                stream.push(chunk)
                stream.take()

        return feed

    assert growth(work, 100) < LINEAR


# --- lines that ran out of room ---------------------------------------------------------------------------------------

HOTEL = [
    "Dogs are welcome in all rooms for 12 euros a night. Parking is free of charge. The sauna opens at noon. "
    "Breakfast is served from 7 a.m. to 10 a.m. on weekdays. The pool is closed in winter. "
    "To restart the lift: lift --reset # twice."
]
WRAPPED = {
    "a short end of a line": "Dogs are welcome in all of the rooms of the hotel. Parking is\nfree of charge. "
                             "The sauna opens\nat noon. The pool is closed in winter.",
    "line ends of Windows": "Dogs are welcome in all rooms for 12 euros a night. Parking is\r\nfree of charge. The "
                            "sauna opens at noon. Breakfast is\r\nserved from 7 a.m. to 10 a.m. on weekdays. Bye.",
    "items": "- Dogs are welcome for 12 euros a night. Parking is\n  free of charge. The sauna opens at noon.\n"
             "- The pool is closed in winter. Breakfast is served from\n  7 a.m. to 10 a.m. on weekdays.",
    "a word that is cut": "Dogs are welcome for 12 euros a night. Break-\nfast is served from 7 a.m. to 10 a.m. on "
                          "weekdays. Park-\ning is free.",
    "code by indentation": "Do:\n\n    lift --reset the lift now. # twice\n    lift --check. Fine.\n\nParking is free.",
    "lines of their own": "Parking is free. No fee\nDogs are welcome. 12 euros\nThe pool is closed. Winter\nGood. Bye",
    "a verse": "Parking is free. Dogs bark\nLoud is the sea\nThe sauna opens at noon. Gold\nIs the pool.",
    "a list of times": "Breakfast: 7 a.m.\nSauna: noon\nPool: closed. In winter\nDogs: 12 euros",
    "one line": "Dogs are welcome in all rooms. Parking is free of charge. The sauna opens at noon. It is so.",
    "two paragraphs": "Dogs are welcome. Parking is free\n\nof charge there. The sauna opens at noon.\n\nIt is so.",
}  # fmt: skip


@pytest.mark.parametrize("size", listed([1, 5, 17], 5))
@pytest.mark.parametrize("answer", WRAPPED.values(), ids=WRAPPED)
def test_a_line_that_is_judged_in_part_is_read_as_in_the_whole_answer(answer: str, size: int) -> None:
    checker = StreamChecker(asks("Tell me about the hotel."), HOTEL)
    told = [s for chunk in chunked(answer, range(0, len(answer), size)) for s in checker.feed(chunk)]
    last = checker.close()
    told += checker.left(last)
    assert [(s.begin, s.text, s.label) for s in told] == [(s.begin, s.text, s.label) for s in last.sentences]
    for cited in (citation for s in told for citation in s.citations):
        assert cited.response_text == answer[cited.response_begin : cited.response_end]


@pytest.mark.parametrize(
    "unit", ["It is {}\n", *(pytest.param(t, marks=pytest.mark.slow) for t in ("a {}. # b ", "It is so. It\nis {}. "))]
)
def test_lines_that_go_on_cost_work_in_proportion(unit: str) -> None:
    def work(n: int) -> Any:
        def feed() -> None:
            stream = AnswerStream(ASKED, DOCUMENTS, split=laid_out)
            for i in range(n):  # no two lines alike, as what was split before is remembered
                stream.push(unit.format(f"{n}/{i}"))
                stream.take()

        return feed

    assert growth(work, 60) < LINEAR


# --- a judge that changes its mind ---------------------------------------------------------------------------------


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("whole_answer", ["unfaithful", "faithful"])
def test_a_sentence_whose_label_turned_is_named(whole_answer: str, asynchronous: bool) -> None:
    def reply(request: Any) -> Any:
        rows = list(judge(request)["sentences"])  # type: ignore[index]
        alone = len(rows) == 1
        for row in rows:
            row["faithfulness"] = "faithful" if alone else whole_answer
        return {**judge(request), "sentences": rows}  # type: ignore[dict-item]

    checker = StreamChecker(ASKED, DOCUMENTS, runtime=Scripted(reply))
    chunks = ("Ada Brink built the tide mill in 1911. ", "It ", "ground flour.")
    told = [s for c in chunks for s in (asyncio.run(checker.afeed(c)) if asynchronous else checker.feed(c))]
    assert [s.label for s in told] == ["faithful"]
    last = asyncio.run(checker.aclose()) if asynchronous else checker.close()
    turned = [line for line in last.disagreements if "while it was written" in line]
    expected = ["the sentence at 0 was faithful while it was written, and is unfaithful now"]
    assert turned == (expected if whole_answer == "unfaithful" else [])


# --- a judge that fails once ------------------------------------------------------------------------------------------


def failing(times: int) -> Any:
    left = [times]

    def reply(request: Any) -> Any:
        left[0] -= 1
        return RuntimeUnavailable("busy") if left[0] >= 0 else judge(request)

    return reply


@pytest.mark.parametrize("times", [0, 1, 2])
@pytest.mark.parametrize("asynchronous", [False, True])
def test_sentences_that_could_not_be_judged_are_judged_with_the_next_chunk(times: int, asynchronous: bool) -> None:
    checker = StreamChecker(ASKED, DOCUMENTS, runtime=Scripted(failing(times)), hold=True)
    told, released = list[Any](), ""

    def feed(chunk: str) -> Any:
        return asyncio.run(checker.afeed(chunk)) if asynchronous else checker.feed(chunk)

    for chunk in ("She painted it gold. ", "", "Ada Brink built the tide mill in 1911. ", "And it ", "ground flour."):
        try:
            told += feed(chunk)
        except RuntimeUnavailable:
            assert checker.release() == ""
        released += checker.release()
        assert not checker.text[told[-1].end if told else 0 : len(released)].strip()
    last = checker.close()
    assert [*told, *checker.left(last)] == list(last.sentences)
    assert len(told) == 2 and released + checker.release() == checker.text


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_judge_that_stays_down_is_asked_as_much_as_the_answer_is_long(asynchronous: bool) -> None:
    """An application that catches the error and feeds on, word by word: not one request for each word."""

    def asked(sentences: int) -> tuple[int, int]:
        runtime = Scripted(failing(10_000))
        checker = StreamChecker(ASKED, DOCUMENTS, runtime=runtime)
        for word in re.findall(r"\S+ ", "The mill ground flour for the town. " * sentences):
            with suppress(RuntimeUnavailable):
                asyncio.run(checker.afeed(word)) if asynchronous else checker.feed(word)
        read = sum(len(str(request.messages)) for request in runtime.requests if isinstance(request, Generate))
        return len(runtime.requests), read

    (few, read), (more, read_of_more) = asked(20), asked(80)
    assert few < 40 and more < 60  # of 140 and 560 words
    assert read_of_more < 5 * read


def test_a_judge_that_is_back_tells_all_sentences_once() -> None:
    checker = StreamChecker(ASKED, DOCUMENTS, runtime=Scripted(failing(3)), hold=True)
    told, released = list[Any](), ""
    for word in re.findall(r"\S+ ?", "The mill ground flour for the town. " * 6):
        with suppress(RuntimeUnavailable):
            told += checker.feed(word)
        released += checker.release()
    assert len(told) == 5 and released == checker.text[: told[-1].end]
    last = checker.close()
    assert [*told, *checker.left(last)] == list(last.sentences)


def test_an_empty_chunk_asks_again_at_once() -> None:
    checker = StreamChecker(ASKED, DOCUMENTS, runtime=Scripted(failing(1)))
    with pytest.raises(RuntimeUnavailable):
        checker.feed("The mill ground flour for the town. It was red. In")
    assert checker.feed(" a") == []  # too little to ask again for
    assert len(checker.feed("")) == 2 and checker.feed("") == []


def test_a_close_that_failed_releases_nothing_and_can_be_tried_again() -> None:
    checker = StreamChecker(ASKED, DOCUMENTS, runtime=Scripted(failing(1)))
    checker.feed("She painted")
    with pytest.raises(RuntimeUnavailable):
        checker.close()
    assert checker.release() == ""
    assert [s.text for s in checker.left(checker.close())] == [checker.release()]


def test_what_a_cancelled_feed_took_is_taken_again() -> None:
    async def main() -> None:
        runtime = Held()
        checker = StreamChecker(ASKED, DOCUMENTS, runtime=runtime)
        feeding = asyncio.create_task(checker.afeed(ANSWER))
        await asyncio.wait([feeding], timeout=0.1)
        assert runtime.asked
        feeding.cancel()
        await asyncio.gather(feeding, return_exceptions=True)
        runtime.free.set()
        assert [s.text for s in await checker.afeed("")] == [s.text for s in whole(ANSWER).sentences[:-1]]

    asyncio.run(main())


@pytest.mark.parametrize("steps", range(8))
def test_what_was_taken_when_the_event_loop_ended_is_not_released_unjudged(steps: int) -> None:
    """The loop may end before the task that judges has begun. An application may go on in another loop."""

    async def chunks() -> AsyncIterator[str]:
        yield ANSWER
        await asyncio.Event().wait()

    async def left(checker: StreamChecker) -> None:
        stream = aiter(checker.acheck(chunks()))
        reading = asyncio.create_task(anext(stream))  # type: ignore[arg-type]
        for _ in range(steps):
            await asyncio.sleep(0)
        assert not reading.done()

    checker = StreamChecker(ASKED, DOCUMENTS, runtime=(runtime := Held()), hold=True)
    asyncio.run(left(checker))
    runtime.free.set()
    told = asyncio.run(checker.afeed("" if checker.text else ANSWER))
    assert [s.text for s in told] == [s.text for s in whole(ANSWER).sentences[:-1]]
    assert checker.release() == checker.text[: told[-1].end]
