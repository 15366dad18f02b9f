"""JSON out of replies: the documented repairs, and nothing more."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from intrinsics_core import answerability, run
from intrinsics_core.profiles.io_yaml import places
from intrinsics_core.protocol.errors import MalformedReply
from intrinsics_core.protocol.requests import Generated
from intrinsics_core.replies import json_reply
from intrinsics_core.runtimes.scripted import Scripted


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ('{"a": 1}', dict, {"a": 1}),
        ('Sure! {"a": 1} Anything else?', dict, {"a": 1}),
        ('```json\n{"a": 1}\n```', dict, {"a": 1}),
        (r'"{\"<r0>\": \"0.9-1.0\"}"', dict, {"<r0>": "0.9-1.0"}),
        ('see {this}: {"a": "}"}', dict, {"a": "}"}),
        ("[1, 2]", list, [1, 2]),
        ('{"a": "\\ud83e\\udd16"}', dict, {"a": "🤖"}),
        ('As asked [sic]: [{"r": 0}]', list, [{"r": 0}]),
        ("{'a': True, 'b': None, 'c': [1, -2.5e3,],}", dict, {"a": True, "b": None, "c": [1, -2500.0]}),
        (
            "Sure: {'a': \"Ada's\", 'b': 'say \"hi\"', 'c': 'it\\'s'} so",
            dict,
            {"a": "Ada's", "b": 'say "hi"', "c": "it's"},
        ),
        ('[{"r": 0,},\n {"r": 1},\n]', list, [{"r": 0}, {"r": 1}]),
        ("[{'r': 0, 'notes': []}]", list, [{"r": 0, "notes": []}]),
        ('{} or rather {"a": 1}', dict, {"a": 1}),
        ("{}", dict, {}),
        ("[] and [1]", list, []),  # nothing is an answer too
        (r'{"q": "What is C:\Users?"}', dict, {"q": r"What is C:\Users?"}),
        (r'{"q": "\u00e9, \u, \u12 and \uZZZZ"}', dict, {"q": r"é, \u, \u12 and \uZZZZ"}),
        (r'{"q": "C:\new, C:\\new and \"a\d\""}', dict, {"q": 'C:\new, C:\\new and "a\\d"'}),  # \n is valid JSON
        ('{"q": "two\nlines,\ta tab\r\nand \\\n"}', dict, {"q": "two\nlines,\ta tab\r\nand \\\n"}),
        ("{'q': 'a\ttab', \"r\": \"and\nhere\",}", dict, {"q": "a\ttab", "r": "and\nhere"}),
        ('So:\n```json\n[{"i": 0, "r": "as it\nsays \\d"}]\n```', list, [{"i": 0, "r": "as it\nsays \\d"}]),
    ],
)
def test_repairs(text: str, kind: type, value: Any) -> None:
    assert json_reply.parse(text, kind, "JSON") == value


YES, NO = '{"label": "yes", "sure": 0.6}', '{"label": "no", "sure": 0.9}'


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        (f"It could be {YES} or {NO}. My judgement:\n```json\n{NO}\n```\n", dict, "no"),
        (f"Draft: {{'label': 'yes'}}\nFinal: {NO}", dict, "no"),
        ('Either [{"label": "yes"}] or rather\n[{"label": "no"}]', list, "no"),
        # one answer, whatever stands around it
        (f"{YES} Anything else?", dict, "yes"),
        (f"Once more: {YES}\n```json\n{YES}\n```", dict, "yes"),
        (f'{YES} The reason: {{"reason": "no mill"}}', dict, "yes"),
        (f"{YES} as [1] and {{}} say", dict, "yes"),
        (f'{{"id": "d0", "text": "a mill"}} {YES}', dict, None),
        ('[{"label": "yes"}] as in [1], [2]', list, "yes"),
        (f"{YES} {{'label': 'no'", dict, "yes"),
    ],
)
def test_the_answer_that_a_reply_ends_with_counts_and_not_its_drafts(text: str, kind: type, value: Any) -> None:
    found = json_reply.parse(text, kind, "JSON")
    assert (found if kind is dict else found[0]).get("label") == value


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (f"{YES}\n\nThe document speaks of fog without a date:\n{NO}", dict),
        (f"{YES}\nWait, that is another mill. Corrected:\n{NO}", dict),
        (f"{YES}\n\nIf the documents were empty it would be: {NO}", dict),
        (f"{YES}\n{NO}", dict),
        ('["d1", "d0", "d2"] The best: ["d0", "d1"]', list),
        (f"Either {YES} or {NO}, I cannot tell.", dict),
        ('["d1", "d0"] or ["d0", "d1"]?', list),
    ],
)
def test_a_reply_that_contradicts_itself_is_malformed(text: str, kind: type) -> None:
    with pytest.raises(MalformedReply, match="contradicts itself"):
        json_reply.parse(text, kind, "JSON")


@pytest.mark.parametrize(
    "text",
    [f"Okay. I might say {YES}. But wait, the", f"Sure. <think>Or {YES}? Hm", f"So {YES} is",
     f"Okay, who built it. Ada did:\n{YES}\nThe", f"It is late.\n\nMy verdict:\n{YES}\nThe"],
)  # fmt: skip
def test_a_draft_in_thoughts_that_were_cut_off_is_no_answer(text: str) -> None:
    assert json_reply.parse(text, dict, "JSON")["label"] == "yes"
    with pytest.raises(MalformedReply, match="cut off"):
        json_reply.parse(text, dict, "JSON", cut_off=True)


@pytest.mark.parametrize(
    "text",
    [YES, f"```json\n{YES}\n```", f"It is {YES}", f"So:\n```\n{YES}```\n\n", f"{YES}\n\nThe document says that",
     f"Here is my verdict:\n```json\n{YES}\n```\nThe document says that", f"**Result:**\n{YES}\n\nI chose this because",
     f"Sure, here it is\n```\n{YES}\n```\nDocument 1"],
)  # fmt: skip
def test_an_answer_that_ends_or_opens_a_reply_was_not_cut_off(text: str) -> None:
    assert json_reply.parse(text, dict, "JSON", cut_off=True)["label"] == "yes"
    assert not json_reply.cut_off_before(text, dict)


@pytest.mark.parametrize(
    ("text", "before"),
    [("Okay, who built it? The", True), (f"Hm, {YES}? No", True), ("{'label': 'y", False), ("```json\n{", False),
     ("", False), (f"So {YES}", False)],
)  # fmt: skip
def test_prose_alone_was_cut_off_before_its_answer(text: str, before: bool) -> None:
    assert json_reply.cut_off_before(text, dict) is before


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", dict),
        ("no JSON here", dict),
        ('{"a": 1', dict),
        ('{"a": "unfinished', dict),
        ("[]", dict),
        ("{}", list),
        ('[{"r": 0, "c": []}, {"r": 1', list),  # the empty list inside is not the list that was asked for
        ('[{"i": 0, "r": "see [] there", "f": "faith', list),
        ("[" * 100_000, list),
        ("9" * 10_000, dict),
        ('{"a": ' * 5_000, dict),
        ("{'a': [], 'b': [{'r': 1}, {'r'", list),
        ("[{'r': 0, 'c': []}, {'r': 1", list),
        ('[{"r": 0, "c": []},', list),
        ("{'a': 'it's'}", dict),
        ("{'a': b}", dict),
        ("{'a' 1}", dict),
        ("{,}", dict),
        ("{'a': 1,,}", dict),
        ("[1}", list),
        ("{'a': '\\ud800'}", dict),
        ('{"a": "\\ud800"}', dict),
        ('{"a": "one\ntwo', dict),  # cut off within a string
        ('{"a": "one\ntwo", "b": "C:\\U', dict),
        ('[{"a": []}, {"b": "one\ntwo [1]', list),
        (r'{"a": "C:\"}', dict),  # the backslash belongs to the quotation mark
        ("{'a': 'one\ntwo'}", dict),
        ('{"a": "\\uDFFF"}', dict),
        ('{"a": "\ud800"}', dict),
    ],
)
def test_what_is_no_such_json_is_malformed(text: str, kind: type) -> None:
    with pytest.raises(MalformedReply) as caught:
        json_reply.parse(text, kind, "JSON")
    assert caught.value.raw[:20_000] == text[:20_000] and caught.value.expected == "JSON"


def test_a_label_is_found_where_it_stands_behind_a_repaired_text() -> None:
    text = '{"why": "as\nit\\says", \'because\': \'"so"\', "score": "8"}'
    found = json_reply.parse(text, dict, "JSON", places.Decoder())
    assert (found["score"], found["score"].begin) == ("8", text.index('"8"'))


def test_a_bool_is_no_number() -> None:
    with pytest.raises(MalformedReply):
        json_reply.field({"n": True}, "n", int, "a number", "raw")
    assert json_reply.field({"n": True}, "n", bool, "a flag", "raw") is True


@pytest.mark.parametrize(
    "text", ["Answerable", " 'answerable'. ", '"ANSWERABLE"', "`answerable`\n", "**Answerable**\r\n"]
)
def test_labels_are_known_by_their_letters(text: str) -> None:
    assert json_reply.label(text, ("answerable", "unanswerable"), text) == "answerable"


@pytest.mark.parametrize("text", ["partially_relevant", "Partially-Relevant", "'partially  relevant'\xa0"])
def test_words_of_a_label_may_be_joined(text: str) -> None:
    assert json_reply.label(text, ("relevant", "partially relevant"), text) == "partially relevant"


@pytest.mark.parametrize("text", ["NA", "n/a", "N/A.", "*N/A*"])
def test_not_applicable_is_spelled_with_a_slash_too(text: str) -> None:
    assert json_reply.label(text, ("faithful", "NA"), text) == "NA"


@pytest.mark.parametrize("text", ["", "n/a", "answer", "not answerable", "answerable or unanswerable"])
def test_other_words_are_no_labels(text: str) -> None:
    with pytest.raises(MalformedReply):
        json_reply.label(text, ("answerable", "unanswerable"), text)


@pytest.mark.parametrize(
    "text",
    [
        '{"i": 0, "f": "unfaithful", "notes": []}',
        '{"error": {"details": []}}',
        'Sorry: {"error": {"details": []}} as I said.',
        '```json\n{"c": [1, 2]}\n```',
    ],
)
def test_a_list_inside_an_object_is_not_the_list(text):
    with pytest.raises(MalformedReply):
        json_reply.parse(text, list, "a list")


def test_an_object_inside_a_list_is_not_the_object():
    with pytest.raises(MalformedReply):
        json_reply.parse('[{"a": 1}]', dict, "an object")
    assert json_reply.parse('As [1] says: {"a": 1}', dict, "an object") == {"a": 1}


@pytest.mark.parametrize("depth", range(940, 1000, 3))
def test_values_nested_as_deeply_as_can_be_read_are_compared(depth: int) -> None:
    one, other = ('{"a":' * depth + value + "}" * depth for value in ("1", "2"))
    with suppress(MalformedReply):
        json_reply.parse(f"Either {one} or {other}", dict, "JSON")


def test_a_judge_that_explains_itself_is_asked_once() -> None:
    ask = [{"role": "user", "content": "When does the lido open?"}]
    verdict = '{"answerability": "answerable", "confidence": 0.9}'
    other = '{"answerability": "unanswerable", "confidence": 0.9}'
    for said in (
        f"{verdict}\n\nDocument 1 says when it opens.",
        f"It might be {other}, but document 1 says when it opens: {verdict}",
        Generated(f"Here is my verdict:\n{verdict}\n\nDocument 1 says that the lido", finish_reason="length"),
    ):
        runtime = Scripted([said])
        assert run(answerability(ask, ["The lido opens at 7 am."]), runtime).probability == 0.9
        assert len(runtime.requests) == 1
