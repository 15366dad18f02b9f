"""What a model thinks aloud is not read for its answer, and its answer is read with the right probabilities."""

from __future__ import annotations

import math
from typing import Any

import pytest

from intrinsics_core import InvalidInput, MalformedReply, answerability, query_rewrite, run
from intrinsics_core.profiles import prompted
from intrinsics_core.protocol.requests import Generated, TokenLogprob
from intrinsics_core.replies import reasoning
from intrinsics_core.runtimes.scripted import Scripted

ASK = [{"role": "user", "content": "Who built the mill?"}]
DOCUMENTS = ["Ada Brink built the mill."]
NO = '{"answerability": "unanswerable", "confidence": 1}'
YES = '{"answerability": "answerable", "confidence": 0.9}'


def judged(*replies: Any) -> Any:
    given = iter(replies)
    return run(answerability(ASK, DOCUMENTS), Scripted(lambda request: next(given)))


@pytest.mark.parametrize(
    "reply",
    [
        f"<think>first idea: {NO}</think>{YES}",
        f"<think>\n{NO}\n</think>\n\n{YES}",
        f"<THINKING>{NO}</thinking >```json\n{YES}\n```",
        f"<reasoning>{{}} and {{it}}: {NO}</reasoning>{YES}",
        f"{NO} was my draft.</think>{YES}",  # the template had opened the reasoning
        f"{NO}</think>{YES}",
        f"<think>a</think><think>{NO}</think>{YES}",
        f"[THINK]Maybe {NO}? No.[/THINK]{YES} So it is.",
        f"<thought>Maybe {NO}?</thought>{YES} So it is.",
        f"<seed:think>Maybe {NO}?</seed:think>{YES} So it is.",
        f"\u25c1think\u25b7{NO}\u25c1/think\u25b7{YES} So it is.",
        f"<|START_THINKING|>{NO}<|END_THINKING|>{YES} So it is.",
        f"<|channel|>analysis<|message|>{NO}<|end|><|start|>assistant<|channel|>final<|message|>{YES}<|return|>",
        f"<|channel|>final <|constrain|>json<|message|>{YES}<|end|>",
        YES.replace("}", ', "note": "[THINK] <|channel|>final<|message|>"}'),
        f"{YES}\n<think>was it right? {NO}",  # reasoning after the answer, cut off
        f"I looked for {{}} first. {YES}",
        YES.replace("}", ', "note": "not <think> nor </think>"}'),
        "<think>hm</think>" + YES.replace("}", ', "note": "the tag </think>"}'),
        YES.replace('"', "'"),
        YES.replace("}", ",}"),
        f"Here: {YES.replace(chr(34), chr(39)).replace('}', ',' + chr(10) + '}')} Anything else?",
    ],
)
def test_the_answer_is_read_and_not_the_draft(reply: str) -> None:
    found = judged(reply)
    assert (found.label, found.probability) == ("answerable", pytest.approx(0.9))


@pytest.mark.parametrize(
    "reply",
    [
        f"[THINK]Or {NO}?",
        f"<|channel|>analysis<|message|>{NO}<|end|>",
        f"<think>{NO}",
        f"<think>a</think><think>{NO}",
        f"<think>{NO}</think>",
        "<think>",
    ],
)
def test_reasoning_without_an_answer_are_malformed_and_told_whole(reply: str) -> None:
    with pytest.raises(MalformedReply) as caught:
        judged(reply, reply)
    assert caught.value.raw == reply
    assert judged(reply, YES).label == "answerable"  # asked again


@pytest.mark.parametrize("cut", [f"Okay. Perhaps {NO}. But wait, the", f"Sure. <think>Perhaps {NO}? But"])
def test_thoughts_that_were_cut_off_are_asked_for_again(cut: str) -> None:
    at_the_limit = Generated(cut, finish_reason="length")
    assert judged(at_the_limit, YES).label == "answerable"
    with pytest.raises(MalformedReply, match="token limit"):
        judged(at_the_limit, at_the_limit)
    assert judged(Generated(YES, finish_reason="length")).label == "answerable"


def test_texts_are_without_their_reasoning() -> None:
    draft = '<think>{"rewritten_question": "draft"}</think>{"rewritten_question": "Who built the mill?"}'
    assert run(query_rewrite(ASK), Scripted([draft])).query == "Who built the mill?"
    task = query_rewrite(ASK).task
    parse = prompted.PROFILE.formats["sample-answer"].parse
    assert parse(task, [Generated("<think>Who?</think>\n\nAda Brink.")]) == "Ada Brink."


@pytest.mark.parametrize("pieces", [["<think>", NO, "</think>"], ["<think>" + NO + "</thi", "nk>"]])
@pytest.mark.parametrize("glued", [False, True])
def test_log_probabilities_are_those_of_the_answer(pieces: list[str], glued: bool) -> None:
    """The draft was certain of the other label; the answer's own token counts, also where it starts within a token."""
    answer = ['{"answerability": "', "answerable", '"}']
    if glued:
        pieces, answer = [*pieces[:-1], pieces[-1] + answer[0]], answer[1:]
    tokens = [TokenLogprob(piece, 0.0, ((piece, 0.0),)) for piece in [*pieces, *answer]]
    place = -2
    likely = ((("answerable"), math.log(0.7)), ("unanswerable", math.log(0.3)))
    tokens[place] = TokenLogprob("answerable", math.log(0.7), likely)
    reply = Generated("".join(token.token for token in tokens), tuple(tokens))
    assert judged(reply).probability == pytest.approx(0.7)


def test_a_reply_without_reasoning_is_itself() -> None:
    for text in (YES, "a < b", '"<think>"', '["</think>"]', "in <think> or so"):
        reply = Generated(text)
        assert reasoning.answer(reply) is reply


@pytest.mark.parametrize("unit", ["<think>", "</think>", "<think>{</think>", "{'a': ", "['", "[1,", '{"a":1,}</think>'])
def test_many_tags_and_brackets_are_read_in_linear_time(unit: str) -> None:
    """Counted in steps and not in seconds: sixteen times the text must not look at it sixteen times as often."""

    def steps(times: int) -> int:
        import sys

        count = 0

        def tick(frame: Any, event: str, arg: Any) -> Any:
            nonlocal count
            count += 1
            return tick

        request = Generated(unit * times)
        old = sys.gettrace()
        sys.settrace(tick)
        try:
            with pytest.raises((MalformedReply, InvalidInput)):
                prompted.PROFILE.formats["answerability"].parse(answerability(ASK, DOCUMENTS).task, [request])
        finally:
            sys.settrace(old)
        return count

    few, many = steps(100), steps(1600)
    assert many <= 17 * few + 1000
