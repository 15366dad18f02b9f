"""Revise: flagged sentences are mended or dropped, no other is touched, and the result is judged again."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intrinsics_core import InvalidInput, MalformedReply, arun, audit, hallucination_detection, revise, run
from intrinsics_core.intrinsics._dropping import applied, changed
from intrinsics_core.intrinsics.revise import NOTHING_LEFT
from intrinsics_core.profiles.asking import data_of
from intrinsics_core.protocol.requests import Generate
from intrinsics_core.text.sentences import punkt
from tests.contract.judge import judge
from tests.drawing import drawn
from tests.scripted import AsyncScripted, Scripted
from tests.tide_mill import WITH_IDS as DOCUMENTS
from tests.tide_mill import answered

ANSWER = "Ada Brink built the tide mill in 1911. She painted it gold for forty sailors. It ground flour until 1999."


def turns(answer: str = ANSWER) -> list[dict[str, str]]:
    return answered(answer)


def test_the_reasoning_before_an_answer_is_kept() -> None:
    thought = "<think>Otto Lang built it. She painted it gold.</think>"
    for said, left in ((ANSWER, "Ada Brink built the tide mill in 1911."), (ANSWER[:38], ANSWER[:38])):
        told = run(revise(turns(f"{thought} {said}"), DOCUMENTS))
        assert told.answer == f"{thought} {left}" == applied(f"{thought} {said}", told.changes)
    assert run(revise(turns(f"{thought} {ANSWER}"), [])).answer == f"{thought} {ANSWER}"


def writer(**mended: str) -> Scripted:
    """A model that finds r1 and r2 wrong at first, and nothing wrong that says 1958."""

    def script(request: Generate) -> Any:
        shown = data_of(request.messages[-1].content)  # type: ignore[index]
        if request.intrinsic == "revise":
            assert set(shown["flagged"]) == {"r1", "r2"}
            return {"mended": [{"id": name, "text": text} for name, text in mended.items()]}
        bad = {name for name, text in shown["response"].items() if "gold" in text or "1999" in text}
        labels = {name: "unfaithful" if name in bad else "faithful" for name in shown["response"]}
        return {"sentences": [{"id": n, "reason": f"{n} is so", "faithfulness": f} for n, f in labels.items()]}

    return Scripted(script)


def test_a_model_mends_one_sentence_and_drops_another() -> None:
    model = writer(r1="", r2="It ground flour until 1958.")
    told = run(revise(turns(), DOCUMENTS), model)
    assert told.answer == "Ada Brink built the tide mill in 1911. It ground flour until 1958."
    dropped, mended = told.changes
    assert (dropped.before, dropped.after, dropped.why) == ("She painted it gold for forty sailors. ", "", "r1 is so")
    assert (mended.before, mended.after) == ("It ground flour until 1999.", "It ground flour until 1958.")
    assert ANSWER[mended.begin : mended.end] == mended.before
    assert told.unsupported == ()
    assert [r.intrinsic for r in model.requests] == ["hallucination-detection", "revise", "hallucination-detection"]


def test_what_stays_unsupported_is_told_by_its_place_in_the_new_answer() -> None:
    told = run(revise(turns(), DOCUMENTS), writer(r1="She painted it red-gold.", r2=""))
    assert told.answer == "Ada Brink built the tide mill in 1911. She painted it red-gold."
    (left,) = told.unsupported
    assert told.answer[left.begin : left.end] == "She painted it red-gold." and left.label == "unfaithful"


@pytest.mark.parametrize(
    "text",
    ["None", "none.", "null", "N/A", "NA", "[dropped]", "(removed)", "<empty>", "[Sentence removed.]", "*deleted*",
     '""', "—", "...", "(This sentence was dropped.)", "The sentence has been removed.", "empty string", "r1: None",
     "[r1]"],
)  # fmt: skip
def test_a_word_that_stands_for_no_text_drops_the_sentence(text: str) -> None:
    told = run(revise(turns(), DOCUMENTS), writer(r1=text, r2="It ground flour until 1958."))
    assert told.answer == "Ada Brink built the tide mill in 1911. It ground flour until 1958."
    assert [change.after for change in told.changes] == ["", "It ground flour until 1958."]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("r2: It ground flour until 1958.", "It ground flour until 1958."),
        ("[r2] It ground flour until 1958.", "It ground flour until 1958."),
        ("(r2): It ground flour until 1958.", "It ground flour until 1958."),
        ("r2 - It ground flour until 1958.", "It ground flour until 1958."),
        ("r1: It ground flour until 1958.", "r1: It ground flour until 1958."),  # of another sentence: it is a text
        ("None of it was ground after 1958.", "None of it was ground after 1958."),
        ("The wheel was removed in 1958.", "The wheel was removed in 1958."),
        ("(It was removed.)", "(It was removed.)"),
        ("Nobody knows.", "Nobody knows."),
        ("N/A is what the log says until 1958.", "N/A is what the log says until 1958."),
    ],
)
def test_a_new_text_is_taken_without_its_id_alone(text: str, left: str) -> None:
    told = run(revise(turns(), DOCUMENTS), writer(r1="", r2=text))
    assert told.answer == f"Ada Brink built the tide mill in 1911. {left}"


@pytest.mark.parametrize("said", ["None.", "Removed.", "None"])
def test_a_short_answer_may_be_none(said: str) -> None:
    assert labelled("Gold wheels.", "Gold", mended=said).answer == said
    assert labelled("Gold wheels.", "Gold", mended="[none]").answer == ""


def test_a_text_that_begins_as_the_sentence_did_keeps_its_name() -> None:
    assert labelled("r0: the gold port of the router.", "gold", mended="r0: the port.").answer == "r0: the port."


def test_other_sentences_cannot_be_touched() -> None:
    told = run(revise(turns(), DOCUMENTS), writer(r0="Zed built it.", r9="More.", r2="It ground flour until 1958."))
    assert told.answer.startswith("Ada Brink built the tide mill in 1911. She painted") and told.dropped == 2
    assert [s.text for s in told.unsupported] == ["She painted it gold for forty sailors."]  # left out of the reply


def test_without_a_language_model_what_is_unfaithful_is_dropped() -> None:
    told = run(revise(turns(), DOCUMENTS))
    assert "gold" not in told.answer and told.answer.startswith("Ada Brink built the tide mill in 1911.")
    assert all(change.after == "" for change in told.changes)
    assert "not in the passages kept" in told.changes[0].why
    again = run(hallucination_detection(turns(told.answer), DOCUMENTS))
    assert told.unsupported == tuple(s for s in again.sentences if s.label in ("partial", "unfaithful"))


def test_dropping_alone_is_a_choice() -> None:
    model = writer(r1="not asked for")
    told = run(revise(turns(), DOCUMENTS, mend=False), model)
    assert told.answer == "Ada Brink built the tide mill in 1911."
    assert {r.intrinsic for r in model.requests} == {"hallucination-detection"}


def test_verdicts_that_are_there_are_used() -> None:
    model = writer(r1="", r2="")
    verdicts = run(hallucination_detection(turns(), DOCUMENTS), writer())
    for judged in (verdicts, run(audit(turns(), DOCUMENTS))):
        run(revise(turns(), DOCUMENTS, verdicts=judged, mend=False), model)
    assert len(model.requests) == 2  # each time only the new answer
    with pytest.raises(InvalidInput, match=r"verdicts\.sentences\[0\]"):
        revise(turns("Something else was said."), DOCUMENTS, verdicts=verdicts)


def test_an_answer_that_holds_is_not_changed() -> None:
    model = Scripted(judge)
    told = run(revise(turns("Ada Brink built the tide mill in 1911."), DOCUMENTS), model)
    assert (told.answer, told.changes, len(model.requests)) == ("Ada Brink built the tide mill in 1911.", (), 1)


def test_nothing_left_is_said() -> None:
    told = run(revise(turns("She painted it gold for forty sailors."), DOCUMENTS))
    assert (told.answer, told.reason) == ("", NOTHING_LEFT) and len(told.changes) == 1


@pytest.mark.parametrize(
    ("said", "left"),
    [
        (
            "Sure! She painted it gold for forty sailors. Let me know if you need more.",
            "Sure! Let me know if you need more.",
        ),
        ("She sells:\n- Beer\n- Burgers\n", ""),
        (
            "Sure! She sells:\n- Beer\n- Burgers\n\nLet me know if you need more.",
            "Sure!\n\nLet me know if you need more.",
        ),
    ],
)
def test_an_answer_that_says_nothing_any_more_has_a_reason(said: str, left: str) -> None:
    told = run(revise(turns(said), DOCUMENTS))
    assert (told.answer, told.reason, told.unsupported) == (left, NOTHING_LEFT, ())
    assert applied(said, told.changes).strip() == left


def test_courtesy_alone_is_no_answer_that_was_emptied() -> None:
    told = run(revise(turns("Sure! Let me know if you need more."), DOCUMENTS))
    assert (told.changes, told.reason) == ((), None)


MILL = "- Ada Brink built the tide mill in 1911."
GOLD = "- She painted it gold for forty sailors."
TABLE = "| Year | What |\n|---|---|\n"


@pytest.mark.parametrize(
    ("said", "left"),
    [
        (f"## Mill\n\n{MILL}\n\n## Paint\n\n{GOLD}\n", f"## Mill\n\n{MILL}"),
        (f"# Mill\n\n## Paint\n\n{GOLD}\n\n## Built\n\n{MILL}", f"# Mill\n\n## Built\n\n{MILL}"),
        (f"## Mill\n\n{MILL}\n{GOLD}", f"## Mill\n\n{MILL}"),  # something is left below it
        (f"**Paint**\n{GOLD}\n\n{MILL[2:]}", MILL[2:]),  # a line above a list is over with the list
        (f"Paint\n{GOLD}\n\n{MILL[2:]}", MILL[2:]),
        (f"## Paint\n{GOLD}\n\n{MILL[2:]}", f"## Paint\n\n{MILL[2:]}"),  # a section is not
        (f"{MILL[2:]}\n\n## Paint\n{GOLD}\n\nLet me know.", f"{MILL[2:]}\n\nLet me know."),
        (f"{MILL[2:]}\n\n{TABLE}| 1850 | forty gilded sailors |\n", MILL[2:]),
        (f"## Empty\n\n## Mill\n\n{MILL}\n{GOLD}", f"## Empty\n\n## Mill\n\n{MILL}"),  # as it was written
    ],
)
def test_a_heading_goes_with_all_that_stands_below_it(said: str, left: str) -> None:
    told = run(revise(turns(said), DOCUMENTS))
    assert (told.answer, told.unsupported, told.reason) == (left, (), None)
    assert applied(said, told.changes) == left


def test_a_model_that_mends_keeps_the_heading_of_what_it_mended() -> None:
    def script(request: Generate) -> Any:
        if request.intrinsic == "revise":
            return {"mended": [{"id": "r2", "text": ""}, {"id": "r4", "text": MILL}]}
        shown = data_of(request.messages[-1].content)["response"]  # type: ignore[index]
        labels = {n: "NA" if "#" in t else "unfaithful" if "gold" in t else "faithful" for n, t in shown.items()}
        return {"sentences": [{"id": n, "reason": "so", "faithfulness": label} for n, label in labels.items()]}

    said = f"{MILL[2:]}\n\n## Paint\n{GOLD}\n## Built\n{GOLD}"
    told = run(revise(turns(said), DOCUMENTS), Scripted(script))
    assert told.answer == f"{MILL[2:]}\n\n## Built\n{MILL}" and told.reason is None
    assert [change.why for change in told.changes] == ["nothing is left of what it introduces", "so", "so"]


def test_a_model_that_cannot_write_json() -> None:
    bad = Scripted(lambda r: "No." if r.intrinsic == "revise" else judge(r))
    with pytest.raises(MalformedReply, match="revise"):
        run(revise(turns(), DOCUMENTS), bad)
    told = run(revise(turns(), DOCUMENTS, on_error="fallback"), bad)
    assert (told.answer, told.changes) == (ANSWER, ()) and "MalformedReply" in told.degraded


def test_sync_equals_async() -> None:
    for call in (revise(turns(), DOCUMENTS), revise(turns(), DOCUMENTS, mend=False)):
        assert run(call, Scripted(judge)) == asyncio.run(arun(call, AsyncScripted(judge)))


# --- what one result hands to the next --------------------------------------------------------------------------------


def test_verdicts_of_a_judge_that_failed_are_as_good_as_none() -> None:
    gone = Scripted([RuntimeError("gone")] * 9)
    failed = run(hallucination_detection(turns(), DOCUMENTS, on_error="fallback"), gone)
    nothing = run(hallucination_detection(turns(), []))
    for verdicts in (failed, nothing, run(audit(turns(), DOCUMENTS, on_error="fallback"), gone)):
        told = run(revise(turns(), DOCUMENTS, verdicts=verdicts))
        assert "gold" not in told.answer and told == run(revise(turns(), DOCUMENTS))


def test_verdicts_on_a_part_of_the_answer_are_refused() -> None:
    begun = run(hallucination_detection(turns("Ada Brink built the tide mill in 1911."), DOCUMENTS))
    with pytest.raises(InvalidInput, match=r"says nothing of a part of this answer.*gold"):
        revise(turns("Ada Brink built the tide mill in 1911. She painted it gold."), DOCUMENTS, verdicts=begun)
    whole = run(hallucination_detection(turns(), DOCUMENTS))
    middle = whole.model_copy(update={"sentences": (whole.sentences[0], whole.sentences[2])})
    with pytest.raises(InvalidInput, match=r"part of this answer.*gold"):
        revise(turns(), DOCUMENTS, verdicts=middle)
    thought = "<think>Was it Otto?</think> Ada Brink built the tide mill in 1911.\n"
    revise(turns(thought), DOCUMENTS, verdicts=run(hallucination_detection(turns(thought), DOCUMENTS)))


def labelled(said: str, *bad: str, mended: str = "") -> Any:
    """The answer revised by a judge that finds wrong what holds one of these words, and a model that writes this."""

    def script(request: Generate) -> Any:
        shown = data_of(request.messages[-1].content)  # type: ignore[index]
        if request.intrinsic == "revise":
            return {"mended": [{"id": name, "text": mended} for name in shown["flagged"]]}
        labels = {n: "unfaithful" if any(w in t for w in bad) else _kind(t) for n, t in shown["response"].items()}
        return {"sentences": [{"id": n, "reason": "so", "faithfulness": label} for n, label in labels.items()]}

    return run(revise(turns(said), DOCUMENTS), Scripted(script))


def _kind(text: str) -> str:
    return "NA" if text.endswith(":") or text.startswith(("```", "[", "}")) else "faithful"


@pytest.mark.parametrize(
    ("said", "left"),
    [
        (
            "The mill is old. Run this:\n\n```bash\nrm gold\nls gold\n```\n\nIt is open.",
            "The mill is old.\n\nIt is open.",
        ),
        ("Use:\n\n```\nopen(gold)\n}\n```\nIt is open.", "It is open."),  # a line that claims nothing
        ("Use:\n\n```\nopen(gold)\nshut(mill)\n```\nIt is open.", None),  # of a program no line is taken
        ("It is open. It is gold.\n\n```\nopen(mill)\n```", "It is open.\n\n```\nopen(mill)\n```"),
        ("```\nopen(mill)\n```\nIt is gold. It is open.", "```\nopen(mill)\n```\nIt is open."),
    ],
)
def test_a_block_of_code_goes_whole_or_stays_whole(said: str, left: str | None) -> None:
    told = labelled(said, "gold")
    assert told.answer == (said if left is None else left)
    assert bool(told.unsupported) == (left is None)


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("- Mills:\n  - Ada built it.\n- Gold rules:\n  - No dogs.", None),
        ("- **Gold rules:**\n  - No dogs.\n  - No gold.", "- **Gold rules:**\n  - No dogs."),
        ("- Mills:\n  - Ada built it.\n- Gold rules:\n  - No gold.", "- Mills:\n  - Ada built it."),
        ("- Gold rules:\n- No dogs.", "- No dogs."),  # nothing stands below it
        ("- It is gold.\n- No dogs.", "- No dogs."),
    ],
)
def test_an_item_that_introduces_what_stays_stays(said: str, left: str | None) -> None:
    assert labelled(said, "old").answer == (said if left is None else left)


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("Ada built it.[^1] It is gold.[^2]\n\n[^1]: Mill book\n[^2]: Paint", "Ada built it.[^1]\n\n[^1]: Mill book"),
        ("Ada built it. It is gold.[2]\n\nSources:\n[2] Paint list", "Ada built it."),
        ("Ada built it [1]. It is gold [1][2].\n\n[1] Mill book\n[2] Paint", "Ada built it [1].\n\n[1] Mill book"),
        ("Ada built it.[^1] It is gold.[^1]\n\n[^1]: Mill book", "Ada built it.[^1]\n\n[^1]: Mill book"),
        ("Ada built it.\n\n[^1]: Mill book", "Ada built it.\n\n[^1]: Mill book"),  # called by nothing before
    ],
)
def test_a_footnote_goes_with_the_sentences_that_call_it(said: str, left: str) -> None:
    assert labelled(said, "gold").answer == left


@pytest.mark.parametrize(
    ("said", "mended", "left"),
    [
        ("It has:\n- A gold wheel.\n- A door.", "A wheel.", "It has:\n- A wheel.\n- A door."),
        ("2. A gold wheel.\n3. A door.", "A wheel.", "2. A wheel.\n3. A door."),
        ("> It is gold. It is old.", "It is red.", "> It is red. It is old."),
        ("## A gold wheel\n\nIt is old.", "The wheel", "## The wheel\n\nIt is old."),
        ("- [x] A gold wheel.\n- [ ] A door.", "A wheel.", "- [x] A wheel.\n- [ ] A door."),
        ("- A gold wheel.\n- A door.", "* A wheel.", "* A wheel.\n- A door."),  # as the model wrote it
        ("It is gold. It is old.", "It is red.", "It is red. It is old."),
        ("| gold | 1 |\n| red | 2 |", "| blue | 1 |", "| blue | 1 |\n| red | 2 |"),
    ],
)
def test_a_mended_sentence_keeps_the_mark_of_its_item(said: str, mended: str, left: str) -> None:
    assert labelled(said, "gold", mended=mended).answer == left


def test_no_prose_stands_for_a_row_of_a_table() -> None:
    said = "| a | b |\n|---|---|\n| wheel | gold |\n| door | red |"
    told = labelled(said, "gold", mended="The wheel is blue.")
    assert (told.answer, told.dropped) == (said, 1)
    assert [s.text for s in told.unsupported] == ["| wheel | gold |"]


PIECES = ["One is so.", "Two?", "三。", "🌾 Four!", "- five", "“Six.”", "e.g. seven", "e\u0301."]
answers = st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(["", " ", "\r\n", "\n\n"])), max_size=8).map(
    lambda parts: "".join(piece + space for piece, space in parts)
)


@settings(derandomize=True, deadline=None, max_examples=drawn(300))
@given(answer=answers, data=st.data())
def test_changes_are_exact_and_make_the_new_answer(answer: str, data: st.DataObject) -> None:
    spans = punkt(answer)
    numbers = st.sampled_from(range(len(spans))) if spans else st.nothing()
    texts = data.draw(st.dictionaries(numbers, st.sampled_from(["", " ", "New.", "Neu 🌾!"])))
    changes = changed(answer, [(s.begin, s.end) for s in spans], texts, {})
    assert all(answer[c.begin : c.end] == c.before != c.after for c in changes)
    assert all(a.end <= b.begin for a, b in pairwise(changes))
    made = applied(answer, changes)
    for i, span in enumerate(spans):  # what was kept is still there, what was dropped takes no other along
        if i not in texts:
            assert span.text.strip() in made
    if not texts:
        assert made == answer
    if spans and all(not texts.get(i, "kept").strip() for i in range(len(spans))):
        assert made.strip() == ""
