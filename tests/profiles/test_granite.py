"""The Granite 3.2 and 3.3 profiles on small texts of our own: prompts to the byte, replies to the sentence."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest

from intrinsics_core import run
from intrinsics_core.intrinsics import (
    answer_relevance,
    citations,
    fact_check,
    hyde,
    query_expansion,
    query_rewrite,
    reranking,
    self_consistency,
)
from intrinsics_core.profiles import io_yaml, profile
from intrinsics_core.profiles.granite import granite_3_2, granite_3_3
from intrinsics_core.protocol.errors import InvalidInput, MalformedReply, UnsupportedIntrinsic
from intrinsics_core.protocol.profile import Profile
from intrinsics_core.protocol.requests import Choice, Generate, Generated, JsonSchema, TokenLogprob
from intrinsics_core.protocol.task import Task, check
from tests.scripted import Scripted

OLD, NEW = granite_3_2.PROFILE, granite_3_3.PROFILE
BOTH = pytest.mark.parametrize("family", [OLD, NEW], ids=lambda family: family.name)

HEAD = "<|start_of_role|>system<|end_of_role|>Knowledge Cutoff Date: April 2024.\nToday's Date: May 5, 2031.\n"
PLAIN = HEAD + "You are Granite, developed by IBM. You are a helpful AI assistant.<|end_of_text|>\n"
RULE = (
    "Write the response to the user's input by strictly aligning with the facts in the provided documents. If the "
    "information needed to answer the question is not available in the documents, inform the user that the question "
    "cannot be answered based on the available data.<|end_of_text|>\n"
)
OLD_DOCUMENTS = (
    f"{HEAD}You are Granite, developed by IBM.{RULE}"
    "<|start_of_role|>documents<|end_of_role|>Document 0\nTea is hot.  Ice is not.\n\nDocument 1\nSnow melts."
    "<|end_of_text|>\n"
)
NEW_DOCUMENTS = (
    f"{HEAD}You are Granite, developed by IBM. {RULE}"
    '<|start_of_role|>document {"document_id": "tea"}<|end_of_role|>\nTea is hot.  Ice is not.<|end_of_text|>\n'
    '<|start_of_role|>document {"document_id": "1"}<|end_of_role|>\nSnow melts.<|end_of_text|>\n'
)
USER = "<|start_of_role|>user<|end_of_role|>Is tea hot?<|end_of_text|>\n"
SAID = "<|start_of_role|>assistant<|end_of_role|>Yes. Ice is cold.<|end_of_text|>\n"

ASKED = [{"role": "user", "content": "Is tea hot?"}]
ANSWERED = [*ASKED, {"role": "assistant", "content": "Yes.\n\nIce is cold."}]
DOCUMENTS = [{"text": "Tea is hot.  Ice is not.", "id": "tea"}, "Snow melts."]


def task(intrinsic: str, messages: Any = ASKED, documents: Any = DOCUMENTS) -> Task:
    return check(intrinsic, messages, documents, ends_with=["user", "assistant"], date="May 5, 2031")


def asked(family: Profile, name: str, about: Task) -> Generate:
    (request,) = family.formats[name].render(about)
    assert isinstance(request, Generate)
    return request


def prompt(family: Profile, name: str, about: Task) -> str:
    return asked(family, name, about).prompt or ""


def understood(family: Profile, name: str, about: Task, text: str) -> Any:
    return family.formats[name].parse(about, [Generated(text)])


# --- prompts ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "role"), [("answerability", "answerability"), ("uncertainty", "certainty")])
def test_roles_after_documents(name: str, role: str) -> None:
    end = f"{USER}<|start_of_role|>{role}<|end_of_role|>"
    assert prompt(OLD, name, task(name)) == OLD_DOCUMENTS + end
    assert prompt(NEW, name, task(name)) == NEW_DOCUMENTS + end


@BOTH
def test_uncertainty_after_an_answer_without_documents(family: Profile) -> None:
    said = "<|start_of_role|>assistant<|end_of_role|>Yes.\n\nIce is cold.<|end_of_text|>\n"
    about = task("uncertainty", ANSWERED, [])
    assert prompt(family, "uncertainty", about) == f"{PLAIN}{USER}{said}<|start_of_role|>certainty<|end_of_role|>"


@BOTH
def test_answer_is_opened_for_the_assistant(family: Profile) -> None:
    documents = OLD_DOCUMENTS if family is OLD else NEW_DOCUMENTS
    opening = "<|start_of_role|>assistant<|end_of_role|>"
    assert prompt(family, "answer", task("answer")) == documents + USER + opening
    assert prompt(family, "sample-answer", task("query-expansion")) == PLAIN + USER + opening
    assert asked(family, "answer", task("answer")).adapter is None


@BOTH
def test_sentences_are_numbered_through_all_documents(family: Profile) -> None:
    text = prompt(family, "citations", task("citations", ANSWERED))
    assert "\n<c0> Tea is hot. <c1> Ice is not." in text and "\n<c2> Snow melts.<|end_of_text|>" in text
    assert "<|end_of_role|><r0> Yes. <r1> Ice is cold.<|end_of_text|>\n<|start_of_role|>system" in text
    assert text.endswith("document sentence IDs." + ("" if family is OLD else " The output must be a json structure.")
                         + "<|end_of_text|>")  # fmt: skip


@BOTH
def test_only_the_response_is_numbered_for_hallucinations(family: Profile) -> None:
    text = prompt(family, "hallucination-detection", task("hallucination-detection", ANSWERED))
    tag = "r" if family is OLD else "i"
    assert f"<|end_of_role|><{tag}0> Yes. <{tag}1> Ice is cold.<|end_of_text|>" in text
    assert "\nTea is hot.  Ice is not." in text and text.endswith("The output must be a json structure.<|end_of_text|>")


def test_rewrite_asks_in_a_role_of_its_own() -> None:
    old, new = (prompt(family, "query-rewrite", task("query-rewrite")) for family in (OLD, NEW))
    assert old.startswith(PLAIN + USER + "<|start_of_role|>rewrite: Reword the final utterance from the USER")
    assert old.endswith('{ "rewritten_question": <REWRITE> }<|end_of_role|>')
    assert "rather output the last user utterance as is" in old
    repeated = "<|start_of_role|>query_to_rewrite<|end_of_role|>Is tea hot?<|end_of_text|>\n"
    assert new.startswith(PLAIN + USER + repeated + "<|start_of_role|>rewrite: Given the conversation history above")


def test_context_relevance_calls_its_document_one() -> None:
    about = task("context-relevance", ANSWERED).only(0)
    text = prompt(NEW, "context-relevance", about)
    final = "<|start_of_role|>final_user_query<|end_of_role|>Is tea hot?<|end_of_text|>\n"
    document = (
        '<|start_of_role|>document {"document_id": "1"}<|end_of_role|>\nTea is hot.  Ice is not.<|end_of_text|>\n'
    )
    assert text.startswith(PLAIN + USER + final + document + "<|start_of_role|>context_relevance: Analyze")
    assert understood(NEW, "context-relevance", about, '{"context_relevance": "irrelevant"}').document_id == "tea"


@BOTH
def test_comparison_shows_two_passages(family: Profile) -> None:
    about = task("reranking")
    text = prompt(family, "comparison", about)
    assert text.startswith(PLAIN + "<|start_of_role|>user<|end_of_role|>You are a smart and helpful AI assistant")
    assert text.endswith(
        "more relevant information.\n\n passage A: Tea is hot.  Ice is not. \n passage B: Snow melts. \n"
        "             query: Is tea hot?\n preferred passage: <|end_of_text|>\n"
        "<|start_of_role|>assistant<|end_of_role|>"
    )


@BOTH
def test_expansion_prompts_are_plain_text(family: Profile) -> None:
    about = task("query-expansion", ANSWERED)
    assert prompt(family, "synonym-query", about).endswith(
        "Only output the rewritten query.\n\n[[Input]]\n"
        "user: Is tea hot?\nassistant: Yes.\n\nIce is cold.\n\n[[Output]]\n"
    )
    indent = "\n" + " " * 8
    assert prompt(family, "reverse-question", about) == indent.join(
        ["Generate a single question for the given answer.", "[[Answer]]", "Albert Einstein was born in Germany.",
         "[[Question]]", "Where was Albert Einstein born?", "[[Answer]]", "Yes.\n\nIce is cold.", "[[Question]]", ""]
    )  # fmt: skip


@BOTH
def test_a_system_turn_takes_the_place_of_the_default(family: Profile) -> None:
    about = task("uncertainty", [{"role": "system", "content": "Be brief."}, *ASKED], [])
    expected = f"<|start_of_role|>system<|end_of_role|>Be brief.<|end_of_text|>\n{USER}"
    assert prompt(family, "uncertainty", about) == expected + "<|start_of_role|>certainty<|end_of_role|>"


def test_paper_spelling_is_an_option() -> None:
    paper = granite_3_2.profile(spelling="paper")
    text = prompt(paper, "query-rewrite", task("query-rewrite"))
    assert "rather output the last utterance as is" in text and "last user utterance" not in text
    assert "developed by IBM. Write the response" in prompt(paper, "answerability", task("answerability"))
    constraint = asked(paper, "uncertainty", task("uncertainty")).constraint
    assert isinstance(constraint, Choice) and constraint.options[0] == "05%" and constraint.options[-1] == "95%"
    with pytest.raises(InvalidInput, match="spelling"):
        granite_3_2.profile(spelling="book")  # type: ignore[arg-type]


def test_explanations_of_comparisons_can_be_left_out() -> None:
    for module in (granite_3_2, granite_3_3):
        assert asked(module.profile(explain=False), "comparison", task("reranking")).max_tokens == 2


@BOTH
def test_sentence_ends_are_those_of_the_training_data(family: Profile) -> None:
    """The untrained splitter ends a sentence after an abbreviation, and the adapters expect it to."""
    about = task("citations", [*ASKED, {"role": "assistant", "content": "It says Dr. Moreau."}], ["By Dr. A. Moreau."])
    text = prompt(family, "citations", about)
    assert "<r0> It says Dr. <r1> Moreau." in text and "<c0> By Dr. <c1> A. Moreau." in text


# --- replies ------------------------------------------------------------------------------------------------------


def test_old_hallucination_ranges() -> None:
    about = task("hallucination-detection", ANSWERED)
    result = understood(OLD, "hallucination-detection", about, '"{\\"<r0>\\": \\"0.4-0.5\\", \\"<r1>\\": \\"0.1-0\\"}"')
    assert [(s.label, s.score, s.text) for s in result.sentences] == [
        ("partial", 0.45, "Yes."), ("unfaithful", 0.05, "Ice is cold."),
    ]  # fmt: skip
    assert (result.label, result.score) == ("unfaithful", 0.05)
    answer = ANSWERED[-1]["content"]
    assert all(answer[s.begin : s.end] == s.text for s in result.sentences)


def test_old_hallucination_words() -> None:
    about = task("hallucination-detection", ANSWERED)
    result = understood(OLD, "hallucination-detection", about, '{"<r0>": "unanswerable", "<r1>": "NA"}')
    assert [s.label for s in result.sentences] == ["NA", "NA"] and result.score is None
    assert "cannot be answered" in result.sentences[0].explanation
    for wrong in ("0.5", "1.5-1.6", "high", 3, None):
        with pytest.raises(MalformedReply):
            understood(OLD, "hallucination-detection", about, f'{{"<r0>": {wrong!r}}}'.replace("'", '"'))


def test_ids_that_do_not_exist_or_come_twice_are_dropped_and_counted() -> None:
    about = task("hallucination-detection", ANSWERED)
    result = understood(OLD, "hallucination-detection", about,
                        '{"<r1>": "0.9-1.0", "<r1>": "0.0-0.1", "<r7>": "0.0-0.1", "x": "NA"}')  # fmt: skip
    assert [s.label for s in result.sentences] == ["NA", "unfaithful"] and result.dropped == 3
    rows = '[{"i": 1, "r": "why", "f": "faithful"}, {"i": 1, "r": "", "f": "NA"}, {"i": -1, "r": "", "f": "NA"}]'
    result = understood(NEW, "hallucination-detection", about, rows)
    assert [(s.label, s.explanation) for s in result.sentences] == [("NA", None), ("faithful", "why")]
    assert result.dropped == 2


@pytest.mark.parametrize(
    ("family", "reply"),
    [(OLD, '{"<r0>": ["<c0>", "<c1>", "<c9>"], "<r1>": ["<c2>", "<c2>"]}'),
     (NEW, '[{"r": 0, "c": [0, 1, 9]}, {"r": 1, "c": [2, 2]}]')],
    ids=["3.2", "3.3"],
)  # fmt: skip
def test_citations_are_exact_spans(family: Profile, reply: str) -> None:
    result = understood(family, "citations", task("citations", ANSWERED), reply)
    found = [(c.response_text, c.document_id, c.document_begin, c.document_end, c.document_text)
             for c in result.citations]  # fmt: skip
    assert found == [("Yes.", "tea", 0, 24, "Tea is hot.  Ice is not."), ("Ice is cold.", "1", 0, 11, "Snow melts.")]
    assert result.dropped == 2


@BOTH
def test_a_truncated_list_is_no_shorter_list(family: Profile) -> None:
    reply = '{"<r0>": ["<c0>"], "<r1>": [' if family is OLD else '[{"r": 0, "c": []}, {"r": 1, "c": ['
    with pytest.raises(MalformedReply) as caught:
        understood(family, "citations", task("citations", ANSWERED), reply)
    assert caught.value.raw == reply


@BOTH
def test_escaped_quotes_in_a_rewrite(family: Profile) -> None:
    reply = '```json\n{\n    "rewritten_question": "Is \\"tea\\" hot?"\n}\n```'
    result = understood(family, "query-rewrite", task("query-rewrite"), reply)
    assert (result.query, result.changed) == ('Is "tea" hot?', True)


def test_a_path_in_a_rewrite_keeps_its_backslashes() -> None:
    """The adapter's grammar allows any character but a quotation mark, so also what JSON would have escaped."""
    reply = '```json\n{\n    "rewritten_question": "What is in C:\\Users,\tand why?"\n}\n```'
    found = run(query_rewrite([{"role": "user", "content": "what is in it"}]), Scripted([reply]), profile="granite-3.3")
    assert found.query == "What is in C:\\Users,\tand why?" and found.changed


FLED = [{"role": "user", "content": "Which of my pets have fleas?"}, {"role": "assistant", "content": "The cat fled."}]


def classified(category: str, judgment: bool) -> dict[str, Any]:
    return {
        "answer_relevance_analysis": "It says so.",
        "answer_relevance_category": category,
        "answer_relevance_judgment": judgment,
    }


@pytest.mark.parametrize(
    ("category", "correction"),
    [
        ("Excessive unnecessary information", "removing the excessive information"),
        ("Unduly restrictive", "providing answer without the unwarranted restriction"),
        ("Too vague or generic", "providing more crisp and to-the-point answer"),
        ("Contextual misalignment", "taking into account the context of the conversation"),
        ("Misinterpreted inquiry", "only to the correct interpretation"),
        ("misinterpreted question", "only to the correct interpretation"),
        ("No attempt", "a short response if the last user utterance contains no inquiry"),
        ("Rude", "by fixing the defect.  Your response"),
    ],
)
def test_an_answer_is_rewritten_for_what_is_wrong_with_it(category: str, correction: str) -> None:
    runtime = Scripted([classified(category, False), '{"answer_relevance_rewrite": "Your dog."}'])
    found = run(answer_relevance(FLED, ["My dog has fleas."]), runtime, profile="granite-3.3")
    assert (found.label, found.score, found.category, found.rewrite) == ("irrelevant", 0.0, category, "Your dog.")
    assert [request.adapter for request in runtime.requests] == ["answer-relevance", "answer-rewrite"]
    assert [request.models for request in runtime.requests] == [
        ("answer_relevance_classifier", "answer_relevance_classifier_lora"),
        ("answer_relevance_rewriter", "answer_relevance_rewriter_lora"),
    ]
    shown, asked = (request.prompt for request in runtime.requests)
    assert "My dog" not in shown and shown.endswith("user<|end_of_role|>answer_relevance<|end_of_text|>")
    assert "My dog" in asked and f"due to {category}: It says so.\n" in asked and correction in asked


@pytest.mark.parametrize("category", ["Pertinent", "Pertinent with relevant extra", "Relevant but not complete"])
def test_a_relevant_answer_is_not_rewritten(category: str) -> None:
    runtime = Scripted([classified(category, True)])
    found = run(answer_relevance(FLED, ["My dog has fleas."]), runtime, profile="granite-3.3")
    assert (found.label, found.score, found.rewrite, found.category) == ("relevant", 1.0, None, category)


def test_without_documents_there_is_nothing_to_rewrite_from() -> None:
    runtime = Scripted([classified("No attempt", False)])
    found = run(answer_relevance(FLED), runtime, profile="granite-3.3")
    assert (found.label, found.rewrite) == ("irrelevant", None) and len(runtime.requests) == 1


def test_a_classifier_is_read_by_its_log_probabilities_and_a_rewriter_as_plain_text() -> None:
    text = json.dumps(classified("No attempt", False))
    at = text.index("false")
    top = (("false", math.log(0.75)), ("true", math.log(0.25)))
    tokens = (TokenLogprob(text[:at], 0.0), TokenLogprob("false", math.log(0.75), top), TokenLogprob("}", 0.0))
    runtime = Scripted([Generated(text, tokens), "Your dog has."])
    found = run(answer_relevance(FLED, ["My dog has fleas."]), runtime, profile="granite-3.3")
    assert (found.score, found.rewrite) == (pytest.approx(0.25), "Your dog has.")
    cut = Generated("Your dog", finish_reason="length")
    for bad in (cut, '{"answer_relevance_rewrite": "Your', '{"answer_relevance_judgment": "no"}', "{}"):
        with pytest.raises(MalformedReply):
            run(answer_relevance(FLED, ["My dog."]), Scripted([text, bad, bad]), profile="granite-3.3")


@BOTH
def test_certainty_is_a_digit_or_its_percentage(family: Profile) -> None:
    about = task("uncertainty")
    for reply in ("0", "0\n", "05%", "5%"):
        assert understood(family, "uncertainty", about, reply).certainty == 0.05
    assert understood(family, "uncertainty", about, "9").certainty == 0.95
    assert understood(family, "uncertainty", about, "95%").expected is None
    for reply in ("", "10", "90%", "105%", "high", "8 of 9", "-1", "٣"):
        with pytest.raises(MalformedReply):
            understood(family, "uncertainty", about, reply)


@BOTH
def test_scores_come_from_log_probabilities(family: Profile) -> None:
    about = task("answerability")
    place = TokenLogprob(
        "un", math.log(0.6), (("un", math.log(0.6)), ("answer", math.log(0.3)), ("ans", math.log(0.1)))
    )
    reply = Generated("unanswerable", (place, TokenLogprob("answerable", 0.0)))
    result = family.formats["answerability"].parse(about, [reply])
    assert result.label == "unanswerable" and result.probability == pytest.approx(0.4)
    digits = TokenLogprob("7", math.log(0.5), (("7", math.log(0.5)), ("9", math.log(0.5))))
    result = family.formats["uncertainty"].parse(task("uncertainty"), [Generated("7", (digits,))])
    assert result.certainty == 0.75 and result.expected == pytest.approx(0.85)


def test_relevance_score_comes_from_log_probabilities() -> None:
    about = task("context-relevance").only(0)
    places = [TokenLogprob('```json\n{"context_relevance": "', 0.0),
              TokenLogprob("partially", math.log(0.5), (("partially", math.log(0.5)), ("relevant", math.log(0.3)),
                                                        ("ir", math.log(0.2)))),
              TokenLogprob(' relevant"}\n```', 0.0)]  # fmt: skip
    reply = Generated("".join(place.token for place in places), tuple(places))
    result = NEW.formats["context-relevance"].parse(about, [reply])
    assert (result.label, result.score) == ("partially relevant", pytest.approx(0.3 + 0.25))


@BOTH
def test_comparison_is_read_from_its_first_letter(family: Profile) -> None:
    about = task("reranking")
    for reply in (
        "A",
        "a\n\nExplanation: B is worse",
        " Passage A is better",
        "The preferred passage is A.",
        "**A**",
        "1",
    ):
        assert understood(family, "comparison", about, reply) >= 0.5, reply
    for reply in ("B", "B\n\nExplanation", "passage B", "Preferred passage: B", "2."):
        assert understood(family, "comparison", about, reply) < 0.5, reply
    for reply in ("Neither.", "None of the passages", "Both are good", "preferred passage: neither"):
        assert understood(family, "comparison", about, reply) == 0.5, reply
    for reply in ("", "C", "Absolutely not", "Nonetheless"):
        with pytest.raises(MalformedReply):
            understood(family, "comparison", about, reply)
    place = TokenLogprob("B", math.log(0.8), (("B", math.log(0.8)), ("A", math.log(0.2))))
    assert family.formats["comparison"].parse(about, [Generated("B", (place,))]) == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("reply", "first"),
    [("A because it names the builder.", True), ("A, because B is about fog.", True), ("A is better", True),
     ("A - it names her", True), ("a\nIt names her.", True), ('"A"', True), ("Passage B is preferred.", False),
     ("2", False), ("B. A direct answer stands there.", False), ("Preferred passage: B\nA is fog.", False),
     ("A direct answer stands in passage B.", None), ("A 1911 date is named in passage B.", None),
     ("1. Passage B answers the query.", None), ("1) B\n2) A", None), ("A and B are alike.", None), ("A/B", None),
     ("B and A", None), ("A, B", None), ("Passage A does not name her, but passage B does.", None),
     ("A is not better", None), ("Absolutely", None)],
)  # fmt: skip
def test_a_comparison_is_read_from_its_first_letter_and_from_no_article(reply: str, first: bool | None) -> None:
    about = task("reranking")
    if first is None:
        with pytest.raises(MalformedReply):
            understood(NEW, "comparison", about, reply)
    else:
        share = understood(NEW, "comparison", about, reply)
        assert (share > 0.5) == first and share != 0.5


def test_a_letter_behind_other_words_has_its_own_probability() -> None:
    places = [
        TokenLogprob("The preferred passage is", 0.0, (("The preferred passage is", 0.0),)),
        TokenLogprob(" B", math.log(0.6), ((" B", math.log(0.6)), (" A", math.log(0.4)))),
        TokenLogprob(".", 0.0, ()),
    ]
    reply = Generated("".join(place.token for place in places), tuple(places))
    assert NEW.formats["comparison"].parse(task("reranking"), [reply]) == pytest.approx(0.4)


# --- whole intrinsics ----------------------------------------------------------------------------------------------


@BOTH
def test_expansion_asks_the_adapter_once_and_the_base_model_thrice(family: Profile) -> None:
    seen: list[Generate] = []

    def script(request: Generate) -> str:
        seen.append(request)
        if request.adapter == "query-rewrite":
            return '{"rewritten_question": "Is green tea hot?"}'
        sampled = {"[[Input]]": "🤖\nIs tea warm?", "[[Answer]]": " What is hot?\n   "}
        return sampled.get("".join(request.stop), "Tea is hot.")

    result = run(query_expansion(ASKED), Scripted(script), profile=family)
    assert [q.text for q in result.queries] == [
        "Is tea hot?", "Is green tea hot?", "Is tea warm?", "What is hot?", "Tea is hot.",
    ]  # fmt: skip
    assert sorted(r.adapter or "" for r in seen) == ["", "", "", "query-rewrite"]
    assert all(r.max_tokens == 512 for r in seen if r.adapter is None)


@BOTH
def test_reranking_runs_over_the_base_model(family: Profile) -> None:
    documents = [f"Text {i}." for i in range(5)]

    def script(request: Generate) -> str:
        assert request.adapter is None and request.prompt
        a, b = (request.prompt.split(f"passage {x}: Text ")[1][0] for x in "AB")
        return "A" if a > b else "B\n\nExplanation: higher."

    result = run(reranking(ASKED, documents), Scripted(script), profile=family)
    assert [d.document_id for d in result.ranking] == ["4", "3", "2", "1", "0"]


def test_fact_check_over_3_3() -> None:
    def script(request: Generate) -> str:
        if request.adapter == "context-relevance":
            return '{"context_relevance": "relevant"}'
        assert request.adapter == "hallucination-detection" and request.prompt
        label = "faithful" if "Tea" in request.prompt.split("<|start_of_role|>document")[1] else "unfaithful"
        return f'[{{"i": 0, "r": "x", "f": "{label}"}}]'  # one claim at a time

    result = run(fact_check(ANSWERED, DOCUMENTS), Scripted(script), profile="granite-3.3")
    assert [s.score for s in result.sources] == [1.0, 0.0] and result.score == 1.0


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        ([], "without a verdict"),
        ([{"i": 1, "r": "", "f": "unfaithful"}], "numbered from 1"),
        ([{"i": 7, "r": "", "f": "faithful"}], "without a verdict"),
    ],
)
def test_a_fact_check_of_a_reply_without_a_verdict_has_no_score(reply: list[dict[str, Any]], told: str) -> None:
    def script(request: Generate) -> Any:
        return {"context_relevance": "relevant"} if request.adapter == "context-relevance" else reply

    with pytest.raises(MalformedReply, match=told):
        run(fact_check(ANSWERED, DOCUMENTS), Scripted(script), profile="granite-3.3")
    found = run(fact_check(ANSWERED, DOCUMENTS, on_error="fallback"), Scripted(script), profile="granite-3.3")
    assert found.score is None and told in (found.degraded or "")


@pytest.mark.parametrize(("label", "score"), [("faithful", 1.0), ("partial", 0.5), ("unfaithful", 0.0), ("NA", 0.5)])
def test_a_fact_check_reads_every_verdict_that_is_given(label: str, score: float) -> None:
    def script(request: Generate) -> Any:
        said = [{"i": 0, "r": "", "f": label}, {"i": 4, "r": "", "f": "unfaithful"}]  # a row too many is dropped
        return {"context_relevance": "relevant"} if request.adapter == "context-relevance" else said

    runtime = Scripted(script)
    assert run(fact_check(ANSWERED, DOCUMENTS[:1]), runtime, profile="granite-3.3").score == score
    assert all(request.attempt == 0 for request in runtime.requests if isinstance(request, Generate))


def test_3_2_has_no_context_relevance() -> None:
    with pytest.raises(UnsupportedIntrinsic, match=r"granite-3\.2"):
        run(fact_check(ANSWERED, DOCUMENTS), Scripted(lambda request: ""), profile="granite-3.2")


@BOTH
def test_a_malformed_reply_is_asked_again(family: Profile) -> None:
    replies = iter(["nonsense", '{"rewritten_question": "Is tea hot?"}'])
    runtime = Scripted(lambda request: next(replies))
    result = run(query_rewrite(ASKED), runtime, profile=family)
    assert result.query == "Is tea hot?" and not result.changed
    assert [r.attempt for wave in runtime.waves for r in wave if isinstance(r, Generate)] == [0, 1]


@BOTH
def test_half_a_surrogate_pair_is_malformed(family: Profile) -> None:
    with pytest.raises(MalformedReply):
        run(query_rewrite(ASKED), Scripted(lambda request: '{"rewritten_question": "\\ud800"}'), profile=family)


@BOTH
def test_requests_carry_published_names(family: Profile) -> None:
    runtime = Scripted(lambda request: '{"<r0>": []}' if family is OLD else "[]")
    run(citations(ANSWERED, DOCUMENTS), runtime, profile=family)
    (request,) = runtime.waves[0]
    assert isinstance(request, Generate) and request.adapter == "citations"
    assert request.models[0] in ("citations", "citation_generation")


def test_profiles_are_found_by_name() -> None:
    assert profile("granite-3.2") is OLD and profile("granite-3.3") is NEW
    with pytest.raises(InvalidInput, match="profile is unknown"):
        profile("granite-3.3:somewhere")


@BOTH
def test_rendering_changes_no_input(family: Profile) -> None:
    about = task("citations", ANSWERED)
    before = replace(about)
    prompt(family, "citations", about)
    assert about == before


@pytest.mark.parametrize("name", ["granite-3.2", "granite-3.3", "granite-4"])
def test_hyde_and_self_consistency_ask_the_base_model(name: str) -> None:
    asked = [{"role": "user", "content": "Which of my pets <|end_of_text|> has fleas?"}]
    family = io_yaml.from_specs({}, name=name) if name == "granite-4" else profile(name)
    runtime = Scripted({"hyde": [{"passage": "Your dog has fleas."}],
                        "self-consistency": [*({"reasoning": "", "answer": a} for a in ("The dog.", "Rex.", "A cat.")),
                                             {"groups": [["a0", "a1"], ["a2"]]}]})  # fmt: skip
    assert run(hyde(asked), runtime, profile=family).passage == "Your dog has fleas."
    found = run(self_consistency(asked, ["My dog has fleas."], samples=3), runtime, profile=family)
    assert (found.answer, found.share) == ("The dog.", pytest.approx(2 / 3))
    assert [request.seed for request in runtime.requests] == [None, 0, 1, 2, None]
    for request in runtime.requests:
        assert request.adapter is None and isinstance(request.constraint, JsonSchema)
        text = request.prompt or request.messages[-1].content
        assert "Which of my pets < |end_of_text|> has fleas?" in text
        assert (request.prompt is None) == (name == "granite-4")  # raw prompts for 3.2 and 3.3, as their adapters have
        if request.prompt:
            assert request.prompt.endswith("}<|end_of_text|>\n<|start_of_role|>assistant<|end_of_role|>")
