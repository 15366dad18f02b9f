"""Every recorded exchange of the Granite 3.2 and 3.3 adapters: rebuilt, rendered and compared byte for byte."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml

from intrinsics_core import answer_relevance, run
from intrinsics_core.profiles import io_yaml, profile
from intrinsics_core.profiles.io_yaml import results
from intrinsics_core.protocol.requests import Choice, Generate, Generated, JsonSchema, Regex
from intrinsics_core.protocol.task import Document, Message, Task
from intrinsics_core.runtimes.scripted import Scripted
from tests.profiles.recordings import Recording, io_yamls, needed, rebuilt, recordings, untagged
from tests.profiles.recordings import answer_relevance as answer_relevance_exchanges

_INTRINSIC = {
    "answerability": "answerability",
    "certainty": "uncertainty",
    "citations": "citations",
    "hallucination_detection": "hallucination-detection",
    "query_rewrite": "query-rewrite",
    "context_relevance": "context-relevance",
}
_CONSTRAINTS: dict[str, Any] = {
    "guided_choice": lambda value: Choice(tuple(value)),
    "guided_regex": Regex,
    "guided_json": JsonSchema,
}
_OURS = {"model", "n", *_CONSTRAINTS}  # which adapter is asked is the runtime's to name

pytestmark = needed()


def _task(recording: Recording) -> tuple[str, Task]:
    """(format name, task) of a recording."""
    if recording.name == "query_expansion":
        return _expansion(recording)
    if recording.name == "rerank":
        return "comparison", _pair(recording)
    intrinsic = _INTRINSIC[recording.name]
    return intrinsic, rebuilt(recording, intrinsic)


def _expansion(recording: Recording) -> tuple[str, Task]:
    if recording.prompt.startswith("Generate a single question"):
        answer = recording.prompt.split("[[Answer]]\n        ")[2].split("\n        [[Question]]")[0]
        return "reverse-question", Task("query-expansion", (Message("user", "?"), Message("assistant", answer)))
    if recording.prompt.startswith("You are given a multi-turn"):
        history = recording.prompt.split("[[Input]]\n")[1].split("\n\n[[Output]]")[0]
        turns = [Message(*line.split(": ", 1)) for line in history.split("\n")]
        return "synonym-query", Task("query-expansion", tuple(turns))
    name = "query-rewrite" if recording.params["model"] == "query_rewrite" else "sample-answer"
    return name, rebuilt(recording, "query-expansion")


def _pair(recording: Recording) -> Task:
    shown = recording.turns[1][1]
    match = re.fullmatch(
        r".*?\n\n passage A: (.*) \n passage B: (.*) \n +query: (.*)\n preferred passage: ", shown, re.DOTALL
    )
    assert match
    a, b, query = match.groups()
    documents = (Document(a, "0"), Document(b, "1"))
    return Task("reranking", (Message("user", query),), documents, recording.date)


def _rendered(recording: Recording) -> tuple[Generate, Any, Task]:
    name, task = _task(recording)
    chosen = profile(f"granite-{recording.family}").formats[name]
    (request,) = chosen.render(task)
    assert isinstance(request, Generate)
    return request, chosen, task


@pytest.mark.parametrize("recording", recordings(), ids=str)
def test_prompt_is_the_recorded_one(recording: Recording) -> None:
    request, _, _ = _rendered(recording)
    assert request.prompt == recording.prompt
    assert request.messages is None and not request.documents


@pytest.mark.parametrize("recording", recordings(), ids=str)
def test_parameters_are_the_recorded_ones(recording: Recording) -> None:
    request, _, _ = _rendered(recording)
    ours = {
        "max_tokens": request.max_tokens, "temperature": request.temperature, "top_p": request.top_p,
        "seed": request.seed, "stop": list(request.stop) or None,
    }  # fmt: skip
    theirs = {key: value for key, value in recording.params.items() if key not in _OURS}
    assert {key: value for key, value in ours.items() if value is not None} == theirs
    guided = [make(recording.params[key]) for key, make in _CONSTRAINTS.items() if key in recording.params]
    assert request.constraint == (guided[0] if guided else None)


@pytest.mark.parametrize("recording", recordings(), ids=str)
def test_adapter_is_asked_where_one_answered(recording: Recording) -> None:
    request, _, _ = _rendered(recording)
    base = recording.params["model"].startswith(("ibm-granite/", "granite3"))
    assert (request.adapter is None) == base


@pytest.mark.parametrize("recording", recordings(), ids=str)
def test_reply_is_understood(recording: Recording) -> None:
    _, chosen, task = _rendered(recording)
    value = chosen.parse(task, [Generated(recording.reply)])
    _EXPECTED[recording.name](recording, task, value)


def _is_label(recording: Recording, task: Task, value: Any) -> None:
    assert value.label == recording.reply


def _is_digit(recording: Recording, task: Task, value: Any) -> None:
    assert value.certainty == pytest.approx(0.05 + 0.1 * int(recording.reply))


def _is_relevant(recording: Recording, task: Task, value: Any) -> None:
    assert (value.label, value.document_id) == ("relevant", task.documents[0].id)


def _is_citation(recording: Recording, task: Task, value: Any) -> None:
    (citation,) = value.citations
    first = task.documents[0]
    assert citation.document_id == first.id
    assert first.text[citation.document_begin : citation.document_end] == citation.document_text
    tagged = recording.prompt.split("<c7> ")[1].split(" <c8>")[0]
    assert citation.document_text == tagged
    assert citation.response_text == task.response and value.dropped == 0


def _is_verdict(recording: Recording, task: Task, value: Any) -> None:
    (sentence,) = value.sentences
    assert task.response[sentence.begin : sentence.end] == sentence.text
    if recording.family == "3.2":
        assert (sentence.label, sentence.score) == ("faithful", 0.95)
    else:
        (row,) = json.loads(recording.reply)
        assert (sentence.label, sentence.explanation) == (row["f"], row["r"])


def _is_rewrite(recording: Recording, task: Task, value: Any) -> None:
    assert value.query in recording.reply and value.changed and value.original == task.query


def _is_expansion(recording: Recording, task: Task, value: Any) -> None:
    text = value if isinstance(value, str) else value.query
    assert text == text.strip() and text in recording.reply
    assert "rex" in text.casefold() and text[-1] in ".?"


def _is_b(recording: Recording, task: Task, value: Any) -> None:
    assert value < 0.5


_EXPECTED: dict[str, Any] = {
    "answerability": _is_label,
    "certainty": _is_digit,
    "context_relevance": _is_relevant,
    "citations": _is_citation,
    "hallucination_detection": _is_verdict,
    "query_rewrite": _is_rewrite,
    "query_expansion": _is_expansion,
    "rerank": _is_b,
}


_REPLIES_4 = {
    "answerability": '"answerable"',
    "citations": '[{"r": 0, "c": [0, 1]}]',
    "context-attribution": '[{"r": 0, "c": [2, 0]}]',
    "context_relevance": '{"context_relevance": "irrelevant"}',
    "hallucination_detection": '[{"r": 0, "f": "faithful", "e": "said"}]',
    "query_clarification": '{"clarification": "Which?"}',
    "query_rewrite": '{"rewritten_question": "Is tea hot?"}',
    "requirement_check": '{"score": "yes"}',
    "uncertainty": '{"score": "9"}',
}


@pytest.mark.parametrize("name", io_yamls())
def test_the_files_of_4_are_read_and_used(name: str) -> None:
    intrinsic = io_yaml.location.intrinsic_of(name)
    spec = io_yaml.parse(yaml.safe_load(io_yamls()[name]), intrinsic, f"{name}.yaml")
    made = io_yaml.from_specs({intrinsic: spec})
    arguments = {"requirement": "Be brief."} if intrinsic == "requirement-check" else {}
    task = Task(intrinsic, (Message("user", "Is tea hot?"), Message("assistant", "Yes.")),
                (Document("Tea is hot.  Ice is not.", "a"),), arguments=arguments)  # fmt: skip
    for chosen in (intrinsic, f"io.yaml:{intrinsic}"):
        (request,) = made.formats[chosen].render(task)
        assert isinstance(request, Generate)
        assert request.constraint == JsonSchema(spec.schema or {}) and request.adapter == intrinsic
        assert made.formats[chosen].parse(task, [Generated(_REPLIES_4[name])]) is not None


def test_the_spans_of_4_are_exact() -> None:
    spec = io_yaml.parse(yaml.safe_load(io_yamls()["citations"]), "citations", "citations.yaml")
    task = Task("citations", (Message("user", "Is tea hot?"), Message("assistant", "Yes.")),
                (Document("Tea is hot.\n\n Ice is not.", "a"),))  # fmt: skip
    found = results.output(spec, task, Generated(_REPLIES_4["citations"]))
    assert found.value == [
        {"response_begin": 0, "response_end": 4, "response_text": "Yes.", "citation_doc_id": "a", "citation_begin": 0,
         "citation_end": 25, "citation_text": "Tea is hot.\n\n Ice is not."},
    ]  # fmt: skip


def test_answer_relevance_is_asked_and_understood_as_it_was_recorded() -> None:
    """Both adapters, one after the other: the classifier's words are in the rewriter's prompt."""
    judged, rewritten = answer_relevance_exchanges()
    turns = [
        {"role": "assistant", "content": "Welcome to pet questions!"},
        {"role": "user", "content": "Which of my pets have fleas?"},
        {"role": "assistant", "content": "The cat fled."},
    ]
    documents = ["My dog has fleas. My cat does not have fleas.", "My cat ran away."]
    documents = [{"id": str(i), "text": text} for i, text in enumerate(documents, start=1)]
    runtime = Scripted([judged[3], rewritten[3]])
    call = answer_relevance(turns, documents, date="April 1, 2025")
    found = run(call, runtime, profile="granite-3.3")
    assert [request.prompt for request in runtime.requests] == [judged[2], rewritten[2]]
    for request, (model, parameters, _, _) in zip(runtime.requests, (judged, rewritten), strict=True):
        assert model in request.models and (request.max_tokens, request.temperature) == (1024, 0.0)
        guided = json.dumps(request.constraint.schema)
        assert guided.startswith(parameters.split('"guided_json": ')[1].removesuffix("}"))
    reply = json.loads(judged[3])
    assert (found.label, found.score, found.category) == ("irrelevant", 0.0, "No attempt")
    assert found.analysis == reply["answer_relevance_analysis"]
    assert found.rewrite == "Your dog has fleas. Your cat does not have fleas."


def test_all_recordings_are_read() -> None:
    found = recordings()
    assert [sum(r.family == family for r in found) for family in ("3.2", "3.3")] == [9, 11]


def test_sentences_are_joined_by_one_space() -> None:
    """The tagged documents of a citation prompt are the plain ones of the hallucination prompt, split and numbered."""
    by_name = {(r.family, r.name): r for r in recordings()}
    for family in ("3.2", "3.3"):
        plain = rebuilt(by_name[family, "hallucination_detection"], "citations")
        tags = rebuilt(by_name[family, "citations"], "citations")
        assert [d.text for d in plain.documents] == [d.text for d in tags.documents]
        number = sum(map(len, plain.document_sentences))
        prompt = by_name[family, "citations"].prompt
        assert f"<c{number - 1}> " in prompt and f"<c{number}> " not in prompt
        assert untagged(prompt).count(plain.documents[0].text) == 1
