from __future__ import annotations

import math

import pytest

from intrinsics_core import MalformedReply, answerability
from intrinsics_core.profiles import profile
from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.protocol.requests import Generated, JsonSchema, TokenLogprob
from intrinsics_core.replies import reasoning

DRAFT = '{"answerability": "answerable", "confidence": 1.0}'
VERDICT = '{"answerability": "unanswerable", "confidence": 0.9}'


def judged(text, **more):
    """The gate's result for replies in a list: no runtime."""
    program = answerability([{"role": "user", "content": "Who?"}], ["Ada."]).start(profile("prompted"))
    next(program)
    try:
        program.send([Generated(text, **more)])
    except StopIteration as stop:
        return stop.value
    program.close()
    return "asked again"


@pytest.mark.parametrize(
    "text",
    [
        f"<think>It could be {DRAFT}</think>{VERDICT}",
        f"It could be {DRAFT}, but no.\n</think>\n\n{VERDICT}",  # the template opened the tag
        f"<think>one</think><think>{DRAFT}</think> {VERDICT}",
    ],
)
def test_a_verdict_is_read_after_the_last_reasoning(text):
    assert judged(text).label == "unanswerable"


def test_a_draft_alone_is_no_verdict():
    assert judged(f"<think>{DRAFT}") == "asked again"
    assert judged("", finish_reason="length", reasoning=DRAFT) == "asked again"
    with pytest.raises(MalformedReply, match="inside its reasoning") as caught:
        reasoning.answer(Generated(f"<think>{DRAFT}"))
    assert "reasoning_tokens" in caught.value.expected
    assert not isinstance(caught.value, InvalidInput)


def test_a_tag_quoted_in_json_ends_nothing():
    reply = Generated('{"answerability": "answerable", "note": "it says </think> there"}')
    assert reasoning.answer(reply) is reply


def test_log_probabilities_are_those_of_the_verdict():
    """The draft's label is likely, the verdict's less so: its own tokens count."""
    half = math.log(0.75), math.log(0.25)
    tokens = (
        TokenLogprob("<think>", 0.0),
        TokenLogprob("answerable", 0.0, (("answerable", 0.0),)),
        TokenLogprob("</think>", 0.0),
        TokenLogprob('\n{"answerability": "', 0.0),
        TokenLogprob("unanswerable", half[0], (("unanswerable", half[0]), ("answerable", half[1]))),
        TokenLogprob('"}', 0.0),
    )
    whole = "".join(token.token for token in tokens)
    assert judged(whole, logprobs=tokens).probability == pytest.approx(0.25)
    text = '{"answerability": "unanswerable"}'  # as a server gives it that takes the reasoning out
    assert judged(text, logprobs=reasoning.of_text(tokens, text)).probability == pytest.approx(0.25)


def test_harmony_tokens_before_the_final_channel_are_passed_over():
    spelled = ["<|channel|>", "analysis", "<|message|>", "yes", "<|end|>", "<|start|>", "assistant", "<|channel|>",
               "final", "<|message|>", '{"score": "', "yes", '"}', "<|return|>"]  # fmt: skip
    tokens = tuple(TokenLogprob(text, -float(i)) for i, text in enumerate(spelled))
    found = reasoning.of_text(tokens, '{"score": "yes"}')
    assert [token.token for token in found] == ['{"score": "', "yes", '"}', "<|return|>"]
    assert found[1].logprob == -11.0
    assert reasoning.of_text(tokens, "another text") is None


@pytest.mark.parametrize(
    ("spelled", "text", "kept"),
    [
        (["e", "<|end_of_text|>"], "e", ["e", "<|end_of_text|>"]),  # not the letter of the end
        (["<think>", "e", "</think>", "\n", "e", "<|end|>"], "e", ["e", "<|end|>"]),
        (["so e", ", ", "e", "<|end|>"], "e", ["e", "<|end|>"]),  # taken out with its tags
        (["x", "</think>", "y"], "x</think>y", ["x", "</think>", "y"]),  # nothing was taken out
        (["<think>", "a long way", "</think>", "no"], "yes", None),
        (["yes"], "", ["yes"]),
    ],
)
def test_tokens_are_those_that_spell_the_text(spelled, text, kept):
    found = reasoning.of_text([TokenLogprob(token, -1.0) for token in spelled], text)
    assert (found and [token.token for token in found]) == kept


def test_tokens_that_spell_the_text_otherwise_stay():
    """Half a character each: servers show a replacement for it."""
    tokens = (TokenLogprob("\ufffd", -0.1), TokenLogprob("\ufffd", -0.2))
    assert reasoning.of_text(tokens, "é") == tokens


@pytest.mark.parametrize("tag", ["think", "thinking", "THINKING", "reasoning"])
@pytest.mark.parametrize("before", ["", "\n", "<think>one</think>"])
def test_every_tag_of_reasoning_may_be_cut_off(tag, before):
    """It was known of `<think>` alone: of the others the server's next reply got no room to reason in."""
    assert reasoning.unfinished(Generated(f"{before}\n<{tag}>The…", finish_reason="length"))
    assert not reasoning.unfinished(Generated(f"{VERDICT}\n<{tag}>The…", finish_reason="length"))
    assert not reasoning.unfinished(Generated(f"<{tag}>The…</{tag}>", finish_reason="length"))


@pytest.mark.parametrize(
    ("text", "constraint", "told"),
    [
        ("Okay, who built it? The", JsonSchema({"type": "object"}), True),
        (f"Okay. Perhaps {DRAFT}? But", JsonSchema({"type": "object"}), True),
        ("Okay, who built it? The", None, False),  # an answer in plain text
        (VERDICT, JsonSchema({"type": "object"}), False),
        (VERDICT[:20], JsonSchema({"type": "object"}), False),
        (f"It is {VERDICT}", JsonSchema({"type": "object"}), False),
    ],
)
def test_prose_that_was_cut_off_before_its_json_is_reasoning(text, constraint, told):
    assert reasoning.unfinished(Generated(text, finish_reason="length"), constraint) is told
    assert not reasoning.unfinished(Generated(text, finish_reason="stop"), constraint)
