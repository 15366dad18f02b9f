"""Adapters driven by their own ``io.yaml``: the file checked, the request rendered, the reply transformed."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
import yaml

from intrinsics_core import run
from intrinsics_core.intrinsics import (
    adapter,
    answerability,
    citations,
    context_relevance,
    fact_check,
    hallucination_detection,
    query_expansion,
    query_rewrite,
    reranking,
    uncertainty,
)
from intrinsics_core.profiles import io_yaml
from intrinsics_core.profiles import profile as named
from intrinsics_core.profiles.io_yaml import results
from intrinsics_core.profiles.io_yaml.spec import Template
from intrinsics_core.protocol.errors import InvalidInput, MalformedReply, RuntimeUnavailable, UnsupportedIntrinsic
from intrinsics_core.protocol.requests import Generate, Generated, TokenLogprob
from intrinsics_core.protocol.task import Message, Task, check
from tests.profiles import adapters
from tests.scripted import Scripted

PROFILE = adapters.profile()
ASKED = [{"role": "user", "content": "Is tea hot? Tell me."}]
ANSWERED = [*ASKED, {"role": "assistant", "content": "Yes.\n\nIce is cold."}]
DOCUMENTS = [{"text": "Tea is hot.\n\n Ice is not.\tSo it goes.", "id": "tea"}, {"text": "Snow melts. <c1> End."}]


def asked(call: Any, reply: Any, profile: Any = PROFILE) -> tuple[Any, list[Generate]]:
    """(result, requests) of a call whose every request is answered alike."""
    runtime = Scripted(lambda request: reply if isinstance(reply, str | Generated) else json.dumps(reply))
    result = run(call, runtime, profile=profile)
    return result, [request for wave in runtime.waves for request in wave if isinstance(request, Generate)]


def spec(**content: Any) -> io_yaml.Spec:
    return io_yaml.parse(content, "mine", "mine")


def output(
    reply: str, *, logprobs: Any = None, messages: Any = ANSWERED, documents: Any = DOCUMENTS, **content: Any
) -> Any:
    task = check("mine", messages, documents, ends_with=["user", "assistant"])
    return results.output(spec(**content), task, Generated(reply, logprobs))


def rule(**content: Any) -> dict[str, Any]:
    return {"transformations": [content]}


def decoding(source: str, **names: str) -> dict[str, Any]:
    return rule(type="decode_sentences", source=source, input_path=["r"], output_names=names)


# --- the file -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "named_key"),
    [
        (["not", "a", "mapping"], "mine/io.yaml is not a mapping"),
        ({"instruction": 5}, "instruction has the wrong type"),
        ({"instruction": "{a.b}"}, "instruction has a brace"),
        ({"instruction": "{0}"}, "instruction has a brace"),
        ({"instruction": "{x!r}"}, "instruction has a brace"),
        ({"instruction": "{x:>10}"}, "instruction has a brace"),
        ({"instruction": "{x[0]}"}, "instruction has a brace"),
        ({"instruction": "} alone"}, "instruction has a brace"),
        ({"response_format": "not json"}, "response_format is not JSON"),
        ({"response_format": "[1]"}, "response_format is not a schema"),
        ({"response_format": {"type": "thing"}}, "response_format is not a valid JSON schema"),
        ({"response_format": {"$ref": "https://example.org/schema"}}, "response_format refers to another file"),
        ({"response_format": {"items": {"$ref": "#/$defs/gone"}}}, "response_format refers to a part that does not"),
        ({"response_format": {"items": {"$ref": "#name"}}}, "response_format refers to an anchor"),
        ({"response_format": {"pattern": "("}}, "response_format is not a valid JSON schema"),
        ({"name": 5}, "name has the wrong type"),
        ({"parameters": {"top_k": "many"}}, "parameters.top_k has the wrong type"),
        ({"parameters": {"response_format": "not json"}}, "parameters.response_format is not JSON"),
        ({"parameters": [1]}, "parameters is not a mapping"),
        ({"parameters": {"max_completion_tokens": "many"}}, "parameters.max_completion_tokens has the wrong type"),
        ({"parameters": {"n": 2}}, "parameters.n is not supported"),
        ({"parameters": {"temperature": True}}, "parameters.temperature has the wrong type"),
        ({"parameters": {"extra_body": {"guided_json": {}}}}, "parameters.extra_body.guided_json is an unknown key"),
        ({"sentence_boundaries": {"first_message": "c"}}, "sentence_boundaries.first_message is an unknown key"),
        ({"sentence_boundaries": {"documents": "<c"}}, "sentence_boundaries.documents is not a tag prefix"),
        ({"sentence_boundaries": ["c"]}, "sentence_boundaries is not a mapping"),
        ({"docs_as_message": "xml"}, "docs_as_message has an unknown value"),
        ({"transformations": {}}, "transformations has the wrong type"),
        (rule(type="shuffle"), r"transformations\[0\].type is an unknown transformation"),
        (rule(type="explode"), r"transformations\[0\].target_field is missing"),
        (rule(type="explode", target_field="c", x=1), r"transformations\[0\].x is an unknown key"),
        (rule(type="nest", field_name="a", input_path="b"), r"transformations\[0\].input_path is not a path"),
        (rule(type="nest", field_name="a", input_path=[1.5]), r"transformations\[0\].input_path is not a path"),
        (rule(type="likelihood", categories_to_values={"a": "b"}), r"transformations\[0\].categories_to_values"),
        (decoding("title", begin="b"), r"transformations\[0\].source is an unknown location"),
        (decoding("documents", begin="b"), r"transformations\[0\].source names sentences that are not numbered"),
        (decoding("documents", start="b") | {"sentence_boundaries": {"documents": "c"}}, r"output_names.start is"),
        (rule(type="project", retained_fields=[]), r"retained_fields is not a list of names"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_refused_by_its_key(content: Any, named_key: str) -> None:
    with pytest.raises(InvalidInput, match=named_key):
        io_yaml.parse(content, "mine", "mine")


@pytest.mark.parametrize(
    ("content", "known"),
    [
        (rule(type="explode", target_field="c", x=1), "one of input_path, type, target_field"),
        ({"parameters": {"extra_body": {"top": 1}}}, "one of chat_template_kwargs"),
        ({"sentence_boundaries": {"first": "c"}}, "one of last_message, documents, all_but_last_message"),
        (decoding("documents", start="b") | {"sentence_boundaries": {"documents": "c"}}, "one of begin, end, text, "),
        (rule(type="shuffle"), "'likelihood', 'decode_sentences'"),
    ],
)
def test_an_unknown_key_is_told_with_what_is_known(content: Any, known: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        io_yaml.parse(content, "mine", "mine")
    assert known in str(caught.value.expected)


def test_an_empty_file_wants_the_conversation_as_it_is() -> None:
    result, (request,) = asked(adapter("mine", ASKED), "any text", io_yaml.from_specs({"mine": spec()}))
    assert request.messages == (Message("user", "Is tea hot? Tell me."),) and request.constraint is None
    assert result.value == "any text"


def test_files_are_data(tmp_path: Path) -> None:
    (tmp_path / "io.yaml").write_text("instruction: !!python/object/apply:os.system ['true']\n")
    with pytest.raises(InvalidInput, match="cannot be read"):
        io_yaml.profile(tmp_path)
    (tmp_path / "io.yaml").write_text("instruction: [unclosed\n")
    with pytest.raises(InvalidInput, match=r"/io\.yaml cannot be read: line"):
        io_yaml.profile(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidInput, match=r"there is no io\.yaml in .*empty; expected a folder with TASK"):
        io_yaml.profile(tmp_path / "empty")


def test_aliases_are_refused(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 10)]
    (tmp_path / "io.yaml").write_text("\n".join(lines))
    with pytest.raises(InvalidInput, match="an alias"):
        io_yaml.profile(tmp_path)
    (tmp_path / "io.yaml").write_text("response_format: &own {items: *own}\n")
    with pytest.raises(InvalidInput, match="cannot be read"):
        io_yaml.profile(tmp_path)
    (tmp_path / "io.yaml").write_text("# " + "x" * (1 << 20))
    with pytest.raises(InvalidInput, match="too large"):
        io_yaml.profile(tmp_path)


# --- where files lie ----------------------------------------------------------------------------------------------


def test_a_folder_of_adapters(tmp_path: Path) -> None:
    profile = io_yaml.profile(adapters.write(tmp_path))
    assert set(profile.specs) == {
        "query-rewrite", "answerability", "context-relevance", "uncertainty", "hallucination-detection", "citations",
        "query-clarification", "requirement-check", "context-attribution",
    }  # fmt: skip
    assert profile.specs["citations"].source == f"{tmp_path}/citations"
    assert "io.yaml:citations" in profile and "comparison" in profile and "entailment" in profile
    assert profile.models["query-rewrite"][0] == "query_rewrite"


def test_folders_by_base_model_and_technology(tmp_path: Path) -> None:
    for base in ("granite-4.0-micro", "granite-4.0-tiny"):
        for technology in ("lora", "alora"):
            adapters.write(tmp_path, inside=f"{base}/{technology}", citations=adapters.FILES["citations"])
    with pytest.raises(InvalidInput, match="several adapters for 'citations'"):
        io_yaml.profile(tmp_path)
    profile = io_yaml.profile(tmp_path, base="micro", technology="alora")
    assert profile.specs["citations"].source.endswith("citations/granite-4.0-micro/alora")
    assert profile.models[None] == ("ibm-granite/granite-4.0-micro",)
    with pytest.raises(InvalidInput, match=r"no io\.yaml for this base model"):
        io_yaml.profile(tmp_path, base="large")
    with pytest.raises(InvalidInput, match="technology"):
        io_yaml.profile(tmp_path, technology="qlora")  # type: ignore[arg-type]


def test_one_adapter_is_named_by_its_folder(tmp_path: Path) -> None:
    folder = adapters.write(tmp_path, certainty=adapters.FILES["uncertainty"]) / "certainty"
    assert set(io_yaml.profile(folder).specs) == {"uncertainty"}
    assert set(io_yaml.profile(folder / "io.yaml").specs) == {"uncertainty"}


def test_the_first_place_counts(tmp_path: Path) -> None:
    own = adapters.write(tmp_path / "own", citations="instruction: Mine.")
    profile = io_yaml.profile(own, adapters.write(tmp_path / "all"))
    assert profile.specs["citations"].instruction == Template(("Mine.",)) and "answerability" in profile


def test_profiles_by_name_and_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    adapters.write(tmp_path)
    assert named(f"granite-4:{tmp_path}").name == "granite-4" and "citations" in named(f"io.yaml:{tmp_path}")
    monkeypatch.delenv("RAG_INTRINSICS_ADAPTERS", raising=False)
    for name in ("granite-4", "io.yaml"):
        with pytest.raises(InvalidInput, match="where its adapters are"):
            named(name)
    monkeypatch.setenv("RAG_INTRINSICS_ADAPTERS", str(tmp_path))
    assert "citations" in named("granite-4")
    with pytest.raises(InvalidInput, match="no adapters at this location"):
        named("granite-4:/no/such/folder")


@pytest.mark.parametrize("place", ["owner/name", "owner/name@main", "owner/name@v1.0", f"owner/name@{'a' * 39}", "x"])
def test_the_hub_needs_a_pinned_commit(place: str) -> None:
    with pytest.raises(InvalidInput, match="40 digits"):
        io_yaml.profile(place)


def test_from_the_hub_at_a_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hub's own client, offline, over a cache as it lays one out."""
    constants = pytest.importorskip("huggingface_hub.constants")
    commit = "0123456789abcdef0123456789abcdef01234567"
    adapters.write(tmp_path / "models--owner--adapters" / "snapshots" / commit)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    profile = named(f"granite-4:owner/adapters@{commit}")
    assert isinstance(profile, io_yaml.AdapterProfile)
    assert profile.specs["citations"].source == f"owner/adapters@{commit}/citations"
    with pytest.raises(RuntimeUnavailable, match="cannot be downloaded from the hub"):
        named(f"granite-4:owner/adapters@{'f' * 40}")


# --- requests -----------------------------------------------------------------------------------------------------


def test_sentences_are_numbered_and_inputs_left_alone() -> None:
    messages, documents = [dict(m) for m in ANSWERED], [dict(d) for d in DOCUMENTS]
    _, (request,) = asked(citations(messages, documents), "[]")
    assert request.messages is not None
    assert [m.content for m in request.messages[:2]] == ["Is tea hot? Tell me.", "<r0> Yes. <r1> Ice is cold."]
    assert request.messages[2].role == "user" and request.messages[2].content.startswith("For each sentence")
    assert [(d.id, d.text) for d in request.documents] == [
        ("tea", "<c0> Tea is hot. <c1> Ice is not. <c2> So it goes."), ("1", "<c3> Snow melts. <c4> < c1> End."),
    ]  # fmt: skip
    assert request.adapter == "citations" and request.prompt is None
    assert (messages, documents) == (ANSWERED, DOCUMENTS)


def test_numbers_go_on_from_documents_to_conversation() -> None:
    _, (request,) = asked(adapter("context-attribution", ANSWERED, DOCUMENTS), "[]")
    assert request.messages is not None
    assert [m.content for m in request.messages[:2]] == [
        "<c5> Is tea hot? <c6> Tell me.",
        "<r0> Yes. <r1> Ice is cold.",
    ]
    assert request.messages[2].content == 'Say what each sentence came from, such as [{"r": 0, "c": [2]}].'


def test_arguments_fill_the_instruction_and_are_checked() -> None:
    hostile = "{last_message} {0.__class__} <|end_of_text|>"
    _, (request,) = asked(adapter("requirement-check", ANSWERED, arguments={"requirement": hostile}), {"score": "yes"})
    assert request.messages is not None
    expected = 'Requirement: {last_message} {0.__class__} < |end_of_text|> Reply {"score": "yes"} or {"score": "no"}.'
    assert request.messages[-1].content == expected
    for wrong, what in (({}, "lacks 'requirement'"), ({"requirement": "x", "y": "z"}, "has 'y'"),
                        ({"requirement": 5}, r"\['requirement'\] is not text")):  # fmt: skip
        with pytest.raises(InvalidInput, match=what):
            asked(adapter("requirement-check", ANSWERED, arguments=wrong), {"score": "yes"})  # type: ignore[arg-type]


def test_last_message_is_an_argument() -> None:
    made = io_yaml.from_specs(
        {"mine": spec(instruction="Judge: {last_message}", sentence_boundaries={"last_message": "s"})}
    )
    _, (request,) = asked(adapter("mine", ANSWERED), "x", made)
    assert request.messages is not None
    assert request.messages[-1].content == "Judge: <s0> Yes. <s1> Ice is cold."


def test_context_relevance_reads_one_document_a_request() -> None:
    result, requests = asked(context_relevance(ASKED, DOCUMENTS), {"context_relevance": "partially relevant"})
    assert [r.messages[-1].content for r in requests if r.messages] == [
        "PASSAGE: Tea is hot.\n\n Ice is not.\tSo it goes.\n", "PASSAGE: Snow melts. < c1> End.\n",
    ]  # fmt: skip
    assert not any(r.documents for r in requests)
    assert [(j.document_id, j.label, j.score) for j in result.judgements] == [
        ("tea", "partially relevant", 0.5), ("1", "partially relevant", 0.5),
    ]  # fmt: skip


def test_documents_as_messages() -> None:
    system = [{"role": "system", "content": "Be brief."}, *ASKED]
    shown = {}
    for how in ("string", "json", "roles"):
        made = io_yaml.from_specs({"mine": spec(docs_as_message=how)})
        _, (request,) = asked(adapter("mine", system, DOCUMENTS), "x", made)
        assert request.messages is not None and not request.documents
        assert request.messages[0].role == "system" and request.messages[-1].content == "Is tea hot? Tell me."
        shown[how] = [(m.role, m.content) for m in request.messages[1:-1]]
    first, second = "Tea is hot.\n\n Ice is not.\tSo it goes.", "Snow melts. < c1> End."
    heading = "You have access to the following documents:\n\n"
    assert shown["string"] == [("user", f"{heading}[Document tea]\n{first}\n\n[Document 1]\n{second}")]
    assert shown["roles"] == [("document tea", first), ("document 1", second)]
    ((role, content),) = shown["json"]
    assert role == "user"
    assert json.loads(content) == [{"text": first, "doc_id": "tea"}, {"text": second, "doc_id": "1"}]


def test_parameters_become_the_request() -> None:
    parameters = {"max_completion_tokens": 7, "temperature": 0.5, "top_p": 0.9, "seed": 3, "stop": "END",
                  "extra_body": {"chat_template_kwargs": {"thinking": False}}}  # fmt: skip
    made = io_yaml.from_specs({"mine": spec(parameters=parameters)})
    _, (request,) = asked(adapter("mine", ASKED), "x", made)
    assert (request.max_tokens, request.temperature, request.top_p, request.seed, request.stop, request.template) == (
        7, 0.5, 0.9, 3, ("END",), {"enable_thinking": False, "thinking": False},
    )  # fmt: skip


def test_base_model_tasks_are_chat_requests_without_an_adapter() -> None:
    def script(request: Generate) -> str:
        assert request.messages
        if request.adapter:
            return '{"rewritten_question": "Is green tea hot?"}'
        return "B" if "passage B" in request.messages[-1].content else "Tea."

    result = run(query_expansion(ASKED), Scripted(script), profile=PROFILE)
    assert [q.text for q in result.queries] == ["Is tea hot? Tell me.", "Is green tea hot?", "Tea."]
    ranked = run(reranking(ASKED, DOCUMENTS), Scripted(script), profile=PROFILE)
    assert [d.document_id for d in ranked.ranking] == ["1", "tea"]


# --- typed results ------------------------------------------------------------------------------------------------


def test_known_intrinsics_have_their_types() -> None:
    assert asked(query_rewrite(ASKED), {"rewritten_question": " Is tea hot? "})[0].query == "Is tea hot?"
    assert asked(answerability(ASKED, DOCUMENTS), '"unanswerable"')[0].probability == 0.0
    assert asked(answerability(ASKED, DOCUMENTS), "answerable")[0].label == "answerable"  # a label without its quotes
    assert asked(uncertainty(ASKED), {"score": "7"})[0].certainty == 0.75
    detected, _ = asked(
        hallucination_detection(ANSWERED, DOCUMENTS),
        [{"r": 1, "f": "unfaithful", "e": "no"}, {"r": 5, "f": "NA", "e": ""}, {"r": 1, "f": "NA", "e": ""},
         {"r": -1, "f": "NA", "e": ""}],
    )  # fmt: skip
    assert [(s.label, s.explanation, s.text) for s in detected.sentences] == [
        ("NA", None, "Yes."), ("unfaithful", "no", "Ice is cold."),
    ]  # fmt: skip
    assert detected.dropped == 3


def test_a_sentence_is_as_likely_supported_as_the_tokens_of_its_label_say() -> None:
    pieces = ['[{"r": 0, "e": "faithful", "f": "', "un", 'faithful"}, {"r": 1, "e": "", "f": "', "NA", '"}]']
    top = {"un": (("faith", math.log(0.3)), ("part", math.log(0.1)), ("NA", math.log(0.2))), "NA": (("un", -2.0),)}
    tokens = tuple(TokenLogprob(p, math.log(0.4) if p == "un" else 0.0, top.get(p, ())) for p in pieces)
    judged, (request,) = asked(hallucination_detection(ANSWERED, DOCUMENTS), Generated("".join(pieces), tokens))
    assert request.logprobs
    assert [(s.label, s.explanation) for s in judged.sentences] == [("unfaithful", "faithful"), ("NA", None)]
    assert judged.sentences[0].score == judged.score == pytest.approx((0.3 + 0.1 / 2) / 0.8)
    assert judged.sentences[1].score is None


TOLD = {"type": "string"}
LABELS = {"type": "string", "enum": ["faithful", "partial", "unfaithful", "NA"]}


def detected(reply: list[dict[str, Any]], **fields: Any) -> Any:
    """What is read of a reply by a file whose records have these fields."""
    record = {"type": "object", "properties": {"r": {"type": "integer"}, **fields}}
    file = {"response_format": {"type": "array", "items": record} if fields else None,
            "sentence_boundaries": {"last_message": "i"}}  # fmt: skip
    profile = io_yaml.from_specs({"hallucination-detection": io_yaml.parse(file, "hallucination-detection", "own")})
    return asked(hallucination_detection(ANSWERED, DOCUMENTS), reply, profile)[0]


@pytest.mark.parametrize("reason", ["NA", "faithful", "Partial", " na ", "not in the documents"])
@pytest.mark.parametrize(
    ("fields", "why", "label"),
    [({"e": TOLD, "f": TOLD}, "e", "f"), ({"f": LABELS, "e": TOLD}, "e", "f"), ({"f": TOLD, "e": TOLD}, "e", "f"),
     ({"why": TOLD, "verdict": LABELS}, "why", "verdict"), ({"reason": TOLD, "label": TOLD}, "reason", "label"),
     ({}, "e", "f")],
)  # fmt: skip
def test_a_reason_that_reads_like_a_label_is_a_reason(fields: Any, why: str, label: str, reason: str) -> None:
    rows = [{"r": 0, label: "faithful", why: "in document 0"}, {"r": 1, why: reason, label: "unfaithful"}]
    found = detected(rows, **fields)
    assert found.label == "unfaithful"
    assert [(s.label, s.explanation) for s in found.sentences] == [
        ("faithful", "in document 0"), ("unfaithful", reason),
    ]  # fmt: skip


def test_fields_that_nothing_tells_apart_are_read_by_what_they_say() -> None:
    fields = {"comment": TOLD, "outcome": TOLD}
    rows = [{"r": 0, "comment": "in document 0", "outcome": "faithful"},
            {"r": 1, "comment": "unfaithful", "outcome": "Unfaithful"}]  # fmt: skip
    assert [s.label for s in detected(rows, **fields).sentences] == ["faithful", "unfaithful"]
    with pytest.raises(MalformedReply, match="several labels"):
        detected([rows[0], {"r": 1, "comment": "NA", "outcome": "unfaithful"}], **fields)
    with pytest.raises(MalformedReply, match="no known label"):
        detected([rows[0], {"r": 1, "comment": "It is not there.", "outcome": "wrong"}], **fields)


def test_a_reason_does_not_stand_in_for_a_label_that_cannot_be_read() -> None:
    with pytest.raises(MalformedReply, match="not a known label"):
        detected([{"r": 0, "e": "NA", "f": "unsupported"}], e=TOLD, f=TOLD)


def test_citations_are_exact_whatever_the_whitespace() -> None:
    reply = [{"r": 0, "c": [0, 1, 2, 9]}, {"r": 1, "c": [4, 3, 3, -1]}]
    result, _ = asked(citations(ANSWERED, DOCUMENTS), reply)
    first, second = DOCUMENTS[0]["text"], DOCUMENTS[1]["text"]
    assert [(c.document_id, c.document_text) for c in result.citations] == [("tea", first), ("1", second)]
    assert result.dropped == 3
    raw, _ = asked(adapter("citations", ANSWERED, DOCUMENTS, as_json=True), reply)
    assert raw.dropped == 3
    assert raw.value == [
        {"response_begin": 0, "response_end": 4, "response_text": "Yes.", "document": "tea", "begin": 0,
         "end": len(first), "text": first},
        {"response_begin": 6, "response_end": 18, "response_text": "Ice is cold.", "document": "1", "begin": 0,
         "end": len(second), "text": second},
    ]  # fmt: skip


def test_probabilities_come_from_log_probabilities() -> None:
    place = TokenLogprob(
        "answer", math.log(0.7), (("answer", math.log(0.7)), ("una", math.log(0.2)), ("un", math.log(0.1)))
    )
    reply = Generated('"answerable"', (TokenLogprob('"', 0.0), place, TokenLogprob('able"', 0.0)))
    assert asked(answerability(ASKED, DOCUMENTS), reply)[0].probability == pytest.approx(0.7)
    digit = TokenLogprob("8", math.log(0.5), (("8", math.log(0.5)), ("2", math.log(0.5))))
    reply = Generated('{"score": "8"}', (TokenLogprob('{"score": "', 0.0), digit, TokenLogprob('"}', 0.0)))
    result, _ = asked(uncertainty(ASKED), reply)
    assert (result.certainty, result.expected) == (0.85, pytest.approx(0.55))
    raw, _ = asked(adapter("uncertainty", ASKED, as_json=True), reply)
    assert raw.value == {"certainty": pytest.approx(0.55)}


def test_log_probabilities_of_another_place_are_not_taken() -> None:
    """JSON in a JSON string, or a label spelled with escapes: the tokens do not line up, so the label stands alone."""
    top = (("7", math.log(0.5)), ("1", math.log(0.5)))
    for text in ('"{\\"score\\": \\"7\\"}"', '{"score": "\\u0037"}'):
        reply = Generated(text, tuple(TokenLogprob(c, math.log(0.5), top) for c in text))
        result, _ = asked(uncertainty(ASKED), reply)
        assert (result.certainty, result.expected) == (0.75, None)
        assert asked(adapter("uncertainty", ASKED, as_json=True), reply)[0].value == {"certainty": 0.75}


def test_fact_check_over_adapters() -> None:
    def script(request: Generate) -> str:
        if request.adapter == "context-relevance":
            assert request.messages and request.messages[-2].role == "user"  # the answer is not shown
            return '{"context_relevance": "relevant"}'
        return '[{"r": 0, "f": "partial", "e": ""}]'  # one claim at a time

    assert run(fact_check(ANSWERED, DOCUMENTS), Scripted(script), profile=PROFILE).score == 0.5


def test_a_fact_check_of_a_reply_without_a_verdict_has_no_score() -> None:
    def script(request: Generate) -> str:
        if request.adapter == "context-relevance":
            return '{"context_relevance": "relevant"}'
        return '[{"r": 1, "f": "unfaithful", "e": ""}]'  # one claim at a time, whose number is 0

    with pytest.raises(MalformedReply, match="numbered from 1"):
        run(fact_check(ANSWERED, DOCUMENTS), Scripted(script), profile=PROFILE)


# --- any adapter --------------------------------------------------------------------------------------------------


def test_query_clarification_is_validated_json() -> None:
    result, _ = asked(adapter("query-clarification", ASKED), 'Here: {"clarification": "Which tea?"}')
    assert result.model_dump(exclude={"schema_version"}) == {"value": {"clarification": "Which tea?"}}
    for wrong in ("{}", '{"clarification": 5}', "[]", "", '{"clarification": "cut'):
        with pytest.raises(MalformedReply, match="query-clarification"):
            asked(adapter("query-clarification", ASKED), wrong)


def test_requirement_check_is_a_likelihood() -> None:
    call = adapter("requirement-check", ANSWERED, arguments={"requirement": "Be kind."})
    assert asked(call, {"score": "no"})[0].value == {"requirement_check": {"score": 0.0}}
    places = (TokenLogprob('{"score": "', 0.0),
              TokenLogprob("yes", math.log(0.75), (("yes", math.log(0.75)), ("no", math.log(0.25)))),
              TokenLogprob('"}', 0.0))  # fmt: skip
    result, (request,) = asked(call, Generated('{"score": "yes"}', places))
    assert result.value == {"requirement_check": {"score": pytest.approx(0.75)}} and request.logprobs


def test_context_attribution_finds_documents_and_turns() -> None:
    reply = [{"r": 0, "c": [6, 2, 6]}, {"r": 9, "c": [0]}, {"r": 1, "c": [7]}]
    result, _ = asked(adapter("context-attribution", ANSWERED, DOCUMENTS), reply)
    assert result.dropped == 3
    assert result.value == [
        {"said": 0, "document": None, "message": 0, "begin": 12, "end": 20, "text": "Tell me."},
        {"said": 0, "document": "tea", "message": None, "begin": 26, "end": 37, "text": "So it goes."},
    ]


# --- transformations ----------------------------------------------------------------------------------------------


def test_likelihood_of_labels_that_are_no_text() -> None:
    rule = {"type": "likelihood", "input_path": ["ok"], "categories_to_values": {True: 1.0, False: 0.0}}
    assert output('{"ok": true}', response_format={"type": "object"}, transformations=[rule]).value == {"ok": 1.0}
    with pytest.raises(MalformedReply, match="not one of true, false"):
        output('{"ok": "perhaps"}', response_format={"type": "object"}, transformations=[rule])


def test_likelihood_follows_a_label_wherever_rules_move_it() -> None:
    rules = [
        {"type": "nest", "input_path": [], "field_name": "rows"},
        {"type": "explode", "input_path": ["rows"], "target_field": "labels"},
        {"type": "likelihood", "input_path": ["rows", None, "labels"], "categories_to_values": {"yes": 1, "no": 0}},
    ]
    reply = '[{"labels": ["no", "yes"]}]'
    top = (("yes", math.log(0.6)), ("no", math.log(0.4)))
    places = (
        TokenLogprob('[{"labels": ["no", "', 0.0),
        TokenLogprob("yes", math.log(0.6), top),
        TokenLogprob('"]}]', 0.0),
    )
    result = output(reply, logprobs=places, response_format={"type": "array"}, transformations=rules)
    assert result.value["rows"][1]["labels"] == pytest.approx(0.6)


def test_merge_spans_keeps_apart_what_differs() -> None:
    decode = {"type": "decode_sentences", "source": "documents", "input_path": [None, "c"],
              "output_names": {"begin": "b", "end": "e", "text": "t", "document_id": "d"}}  # fmt: skip
    merge = {"type": "merge_spans", "group_fields": ["d"], "begin_field": "b", "end_field": "e", "text_field": "t"}
    project = {"type": "project", "retained_fields": ["d", "b", "e", "t", "why"]}
    reply = json.dumps([{"c": c, "why": "x"} for c in (1, 0, 3, 1)] + [{"c": 2, "why": "y"}])
    result = output(reply, sentence_boundaries={"documents": "c"}, transformations=[decode, project, merge],
                    response_format={"type": "array"})  # fmt: skip
    text = DOCUMENTS[0]["text"]
    assert result.value == [
        {"d": "1", "b": 0, "e": 11, "t": "Snow melts.", "why": "x"},
        {"d": "tea", "b": 0, "e": 25, "t": text[:25], "why": "x"},
        {"d": "tea", "b": 26, "e": 37, "t": "So it goes.", "why": "y"},
    ]


@pytest.mark.parametrize(
    ("rule", "reply"),
    [
        ({"type": "explode", "target_field": "c"}, '{"c": [1]}'),
        ({"type": "explode", "target_field": "c"}, '[{"c": 1}]'),
        ({"type": "drop_duplicates", "target_fields": ["c"]}, "[1, 1]"),
        ({"type": "project", "retained_fields": ["c"]}, '"text"'),
        ({"type": "merge_spans", "group_fields": ["g"], "begin_field": "b", "end_field": "e"}, '[{"g": 1, "b": "0"}]'),
        ({"type": "likelihood", "input_path": ["c"], "categories_to_values": {"a": 1}}, '{"c": {"a": 1}}'),
    ],
)
def test_a_reply_of_another_shape_is_malformed(rule: Any, reply: str) -> None:
    with pytest.raises(MalformedReply):
        output(reply, response_format={}, transformations=[rule])


def test_a_lone_sentence_that_does_not_exist_is_malformed() -> None:
    rule = {"type": "decode_sentences", "source": "last_message", "input_path": ["r"], "output_names": {"text": "t"}}
    settings: dict[str, Any] = {"sentence_boundaries": {"last_message": "r"}, "transformations": [rule],
                                "response_format": {"type": "object"}}  # fmt: skip
    assert output('{"r": 1}', **settings).value == {"r": 1, "t": "Ice is cold."}
    for wrong in ('{"r": 2}', '{"r": -1}', '{"r": true}', '{"r": "1"}', "{}"):
        with pytest.raises(MalformedReply):
            output(wrong, **settings)


@pytest.mark.parametrize("reply", ["NaN", "[Infinity]", '{"a": 1e999}', "[" * 5_000 + "]" * 5_000])
def test_what_is_no_json_is_refused(reply: str) -> None:
    with pytest.raises(MalformedReply):
        output(reply, response_format={"type": ["object", "array", "number"]})
    with pytest.raises(MalformedReply):
        output(reply, response_format={"$ref": "#/$defs/any", "$defs": {"any": {"type": ["object", "array"]}}})


def test_offsets_hold_for_any_text() -> None:
    """Every sentence of odd texts, cited alone and all together."""
    texts = [
        "",
        "  ",
        "a.\r\n\r\nb. c?",
        "日本。 語。",
        "🤖. <c0> <r1>! 👩‍👩‍👧. x",
        "- one.\n- two.\n\n\n- three",
        "Dr. <|end_of_text|> A. B",
    ]
    documents = [{"text": text, "id": f"d{i}"} for i, text in enumerate(texts)]
    task = Task("citations", (Message("user", "Q?"), Message("assistant", texts[4])),
                check("x", ASKED, documents, ends_with=["user"]).documents)  # fmt: skip
    count = sum(map(len, task.document_sentences))
    reply = json.dumps([{"r": r, "c": list(range(count))} for r in range(len(task.response_sentences))])
    for name in ("citations", "io.yaml:citations"):
        found = PROFILE.formats[name].parse(task, [Generated(reply)]).model_dump()
        rows = found["value"] if name.startswith("io") else found["citations"]
        assert len(rows) == len(task.response_sentences) * sum(1 for s in task.document_sentences if s)
        for row in rows:
            begin, end, text, document = (
                (row["begin"], row["end"], row["text"], row["document"]) if name.startswith("io") else
                (row["document_begin"], row["document_end"], row["document_text"], row["document_id"])
            )  # fmt: skip
            assert texts[int(document[1:])][begin:end] == text and text.strip() == text
            assert texts[4][row["response_begin"] : row["response_end"]] == row["response_text"]


def test_templates_know_names_and_braces_alone() -> None:
    made = Template.parse("a {x} {{x}} {y}{x}")
    assert made.names == {"x", "y"} and made.fill({"x": "1", "y": "{x}"}) == "a 1 {x} {x}1"


def test_our_files_are_read_by_yaml() -> None:
    assert all(isinstance(yaml.safe_load(text), dict) for text in adapters.FILES.values())


@pytest.mark.parametrize(
    ("name", "as_json", "says"),
    [
        ("requirement-check", False, r"has no adapter of that name; expected .*io\.yaml:FOLDER"),
        ("answerbility", False, r"has no adapter of that name \(did you mean 'answerability'\?\)"),
        ("answerability", True, r"has no io\.yaml of that name; .*got 'answerability'$"),
    ],
)
def test_a_profile_without_that_adapter_says_where_one_comes_from(name: str, as_json: bool, says: str) -> None:
    with pytest.raises(UnsupportedIntrinsic, match=says):
        run(adapter(name, [{"role": "user", "content": "Who?"}], ["Ada."], as_json=as_json))
