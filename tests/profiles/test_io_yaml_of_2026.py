"""``io.yaml`` files as they are published since 2026: each shape loads, renders and parses. All texts are our own."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from intrinsics_core import run
from intrinsics_core.intrinsics import adapter, answerability, citations, uncertainty
from intrinsics_core.profiles import io_yaml
from intrinsics_core.profiles import profile as named
from intrinsics_core.profiles.io_yaml.spec import _File
from intrinsics_core.protocol.errors import InvalidInput, MalformedReply
from intrinsics_core.protocol.requests import Generate, Generated, JsonSchema, TokenLogprob
from intrinsics_core.replies import reasoning
from tests.drawing import drawn
from tests.profiles import adapters
from tests.scripted import Scripted

ANSWERED = [
    {"role": "user", "content": "May I feed the ducks bread?"},
    {"role": "assistant", "content": "Yes. Ducks love bread."},
]
DOCUMENTS = [{"id": "park", "text": "Bread harms ducks. Feed them oats."}]

# What the model is asked last.
RENDERED = {
    "guardian-core": "Does the last turn do harm? The kind of harm: unkindness to animals. Reply with JSON.",
    "policy-guardrails": "Does the answer keep the policy? No advice on animals. "
    'Reply {"label": "Yes"}, "No" or "Ambiguous".',
    "factuality-detection": "Is the last turn true to the documents? Reply with JSON.",
    "factuality-correction": "Say it again, true to the documents.",
    "requirement-check": 'Is this met? Two sentences. Reply {"score": 1} or {"score": 0}.',
    "query-clarification": "Yes. Ducks love bread.",
}

# file, arguments, (reply, what comes of it)
SHAPES: dict[str, tuple[str, dict[str, str], tuple[Any, Any]]] = {
    "guardian-core": (
        """
        name: guardian-core
        model: ~
        instruction: "Does the last turn do harm? The kind of harm: {criteria}. Reply with JSON."
        response_format: {type: object, properties: {score: {type: string, enum: ['yes', 'no']}}, required: [score]}
        parameters: {temperature: 0.0, max_completion_tokens: 20, top_k: 40, repetition_penalty: 1.05}
        transformations:
        - {type: likelihood, input_path: [score], categories_to_values: {'yes': 1.0, 'no': 0.0}}
        - {type: nest, input_path: [], field_name: guardian}
        """,
        {"criteria": "unkindness to animals"},
        ({"score": "yes"}, {"guardian": {"score": 1.0}}),
    ),
    "policy-guardrails": (  # the instruction asks for a "label", the schema for a "score"
        """
        name: policy-guardrails
        instruction: 'Does the answer keep the policy? {policy} Reply {{"label": "Yes"}}, "No" or "Ambiguous".'
        response_format:
          type: object
          properties: {score: {type: string, enum: ['Yes', 'No', Ambiguous]}}
          required: [score]
          additionalProperties: false
        parameters: {temperature: 0.0, frequency_penalty: 0.1, presence_penalty: 0.0}
        transformations:
        - {type: likelihood, input_path: [score], categories_to_values: {'Yes': 1.0, 'No': 0.0, 'Ambiguous': 0.5}}
        """,
        {"policy": "No advice on animals."},
        ({"label": "Ambiguous"}, {"score": 0.5}),
    ),
    "factuality-detection": (
        """
        name: factuality-detection
        instruction: "Is the last turn true to the documents? Reply with JSON."
        response_format: {type: object, properties: {factual: {type: boolean}}, required: [factual]}
        transformations:
        - {type: likelihood, input_path: [factual], categories_to_values: {true: 1.0, false: 0.0}}
        - {type: project, input_path: [], retained_fields: {factual: factuality_score}}
        """,
        {},
        ({"factual": False}, {"factuality_score": 0.0}),
    ),
    "factuality-correction": (  # the Ollama way: the schema stands among the parameters
        """
        name: factuality-correction
        instruction: "Say it again, true to the documents."
        parameters:
          temperature: 0.0
          response_format:
            type: json_schema
            json_schema:
              name: correction
              schema: {type: object, properties: {correction: {type: string}}, required: [correction]}
        """,
        {},
        ({"correction": "No. Bread harms ducks."}, {"correction": "No. Bread harms ducks."}),
    ),
    "requirement-check": (
        """
        name: requirement_check
        instruction: 'Is this met? {requirement} Reply {{"score": 1}} or {{"score": 0}}.'
        response_format: {type: object, properties: {score: {type: integer, enum: [0, 1]}}, required: [score]}
        logprobs_workaround: true
        transformations:
        - {type: likelihood, input_path: [score], categories_to_values: {1: 1.0, 0: 0.0}}
        - {type: nest, input_path: [], field_name: requirement_check}
        """,
        {"requirement": "Two sentences."},
        ({"score": 1}, {"requirement_check": {"score": 1.0}}),
    ),
    "query-clarification": (
        """
        name: query-clarification
        docs_as_message: json
        parameters:
          response_format: '{"type": "object", "properties": {"clarification": {"type": "string"}}}'
        """,
        {},
        ({"clarification": "Which ducks?"}, {"clarification": "Which ducks?"}),
    ),
}


def made(name: str, text: str, folder: str = "lora") -> io_yaml.AdapterProfile:
    spec = io_yaml.parse(yaml.safe_load(text), folder, f"{name}/io.yaml")
    return io_yaml.from_specs({spec.name: spec})


def asked(call: Any, reply: Any, profile: Any) -> tuple[Any, Generate]:
    runtime = Scripted(lambda request: reply if isinstance(reply, Generated) else json.dumps(reply))
    result = run(call, runtime, profile=profile)
    ((request,), *_) = runtime.waves
    return result, request


@pytest.mark.parametrize("name", SHAPES)
def test_each_shape_loads_renders_and_parses_under_its_name(name: str, caplog: pytest.LogCaptureFixture) -> None:
    text, arguments, (reply, expected) = SHAPES[name]
    profile = made(name, text)
    result, request = asked(adapter(name, ANSWERED, DOCUMENTS, arguments=arguments), reply, profile)
    assert result.value == expected
    assert request.adapter == name
    assert request.messages[-1].content == RENDERED[name]
    as_messages = [m.content for m in request.messages if "oats" in m.content]
    assert [d.text for d in request.documents] + as_messages == (
        ['[{"text": "Bread harms ducks. Feed them oats.", "doc_id": "park"}]'] if name == "query-clarification" else
        ["Bread harms ducks. Feed them oats."]
    )  # fmt: skip
    assert isinstance(request.constraint, JsonSchema)
    assert request.constraint.schema["properties"].keys() - {"clarification"} <= {"score", "factual", "correction"}
    assert not caplog.text


def test_sampling_parameters_go_with_the_request() -> None:
    _, request = asked(
        adapter("guardian-core", ANSWERED, arguments={"criteria": "x"}), {"score": "no"},
        made("guardian-core", SHAPES["guardian-core"][0]),
    )  # fmt: skip
    assert dict(request.sampling) == {"top_k": 40, "repetition_penalty": 1.05}
    assert request.template == {"enable_thinking": False}


def test_unknown_keys_are_left_out_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    """A newer file is still an adapter's."""
    spec = io_yaml.parse(
        {"instruction": "Judge.", "colour": "red", "parameters": {"temperature": 0.5, "typical_p": 1.0}}, "mine", "mine"
    )
    assert spec.parameters.temperature == 0.5
    assert "mine/io.yaml: unknown keys are ignored: colour" in caplog.text
    assert "parameters.typical_p" in caplog.text


@pytest.mark.parametrize(
    ("labels", "reply", "spelled"),
    [
        ({1: 0.9, 0: 0.1}, '{"score": 1}', ["1", "0"]),
        ({True: 0.9, False: 0.1}, '{"score": true}', ["true", "false"]),
        ({"yes": 0.9, "no": 0.1}, '{"score": "yes"}', ["yes", "no"]),
    ],
)
def test_labels_of_any_kind_are_measured_by_log_probabilities(labels: Any, reply: str, spelled: list[str]) -> None:
    """Whatever JSON spells a label as, its probability is that of its tokens: .75 x .9 + .25 x .1."""
    rule = {"type": "likelihood", "input_path": ["score"], "categories_to_values": labels}
    spec = io_yaml.parse({"transformations": [rule], "response_format": {"type": "object"}}, "mine", "mine")
    begin = reply.index(spelled[0])
    top = tuple((text, math.log(p)) for text, p in zip(spelled, (0.75, 0.25), strict=True))
    tokens = (
        TokenLogprob(reply[:begin], 0.0),
        TokenLogprob(spelled[0], math.log(0.75), top),
        TokenLogprob(reply[begin + len(spelled[0]) :], 0.0),
    )
    profile = io_yaml.from_specs({"mine": spec})
    result, request = asked(adapter("mine", ANSWERED), Generated(reply, tokens), profile)
    assert request.logprobs
    assert result.value == {"score": pytest.approx(0.7)}
    assert asked(adapter("mine", ANSWERED), Generated(reply), profile)[0].value == {"score": 0.9}


def test_a_label_is_measured_where_it_stands_and_not_where_it_is_alike() -> None:
    rules = [{"type": "likelihood", "input_path": [None, "ok"], "categories_to_values": {True: 1.0, False: 0.0}}]
    spec = io_yaml.parse({"transformations": rules, "response_format": {"type": "array"}}, "mine", "mine")
    tokens = tuple(
        TokenLogprob(text, math.log(p), ((text, math.log(p)), (other, math.log(1 - p)))) if other else
        TokenLogprob(text, 0.0)
        for text, p, other in (
            ('[{"r": 1, "ok": ', 1.0, ""), ("true", 0.9, "false"), ('}, {"r": 1, "ok": ', 1.0, ""),
            ("true", 0.6, "false"), ("}]", 1.0, ""),
        )
    )  # fmt: skip
    reply = Generated("".join(token.token for token in tokens), tokens)
    result, _ = asked(adapter("mine", ANSWERED), reply, io_yaml.from_specs({"mine": spec}))
    assert [row["ok"] for row in result.value] == [pytest.approx(0.9), pytest.approx(0.6)]
    assert [row["r"] for row in result.value] == [1, 1]


def test_a_certainty_that_is_a_whole_number_is_measured_too() -> None:
    rule = {"type": "likelihood", "input_path": ["score"],
            "categories_to_values": {d: round(0.05 + 0.1 * d, 2) for d in range(10)}}  # fmt: skip
    content = {"name": "uncertainty", "transformations": [rule], "response_format": {"type": "object"}}
    profile = io_yaml.from_specs({"uncertainty": io_yaml.parse(content, "alora", "here")})
    top = (("1", math.log(0.75)), ("9", math.log(0.25)))
    tokens = (TokenLogprob('{"score": ', 0.0), TokenLogprob("1", math.log(0.75), top), TokenLogprob("}", 0.0))
    result, _ = asked(uncertainty(ANSWERED), Generated('{"score": 1}', tokens), profile)
    assert result.certainty == 0.15
    assert result.expected == pytest.approx(0.75 * 0.15 + 0.25 * 0.95)


def test_the_log_probabilities_of_gpt_oss_are_found_behind_its_markers() -> None:
    """What the workaround of these files is for: the tokens hold the analysis too."""
    text, arguments, _ = SHAPES["requirement-check"]
    spelled = ["<|channel|>", "analysis", "<|message|>", '{"score": 0}?', "<|end|>", "<|start|>", "assistant",
               "<|channel|>", "final", "<|message|>", '{"score": ', "1", "}", "<|return|>"]  # fmt: skip
    top = (("1", math.log(0.8)), ("0", math.log(0.2)))
    tokens = [TokenLogprob(t, math.log(0.8), top) if t == "1" else TokenLogprob(t, 0.0) for t in spelled]
    reply = Generated('{"score": 1}', reasoning.of_text(tokens, '{"score": 1}'))
    call = adapter("requirement-check", ANSWERED, arguments=arguments)
    result, _ = asked(call, reply, made("requirement-check", text))
    assert result.value == {"requirement_check": {"score": pytest.approx(0.8)}}


@pytest.mark.parametrize("value", [math.nan, math.inf, True, "1"])
def test_a_label_is_worth_a_number(value: Any) -> None:
    rule = {"type": "likelihood", "input_path": [], "categories_to_values": {"yes": value}}
    with pytest.raises(InvalidInput, match=r"transformations\[0\]\.categories_to_values\.yes"):
        io_yaml.parse({"transformations": [rule]}, "mine", "mine")


def test_only_one_of_label_and_score_stands_for_the_other() -> None:
    text, arguments, _ = SHAPES["policy-guardrails"]
    profile = made("policy-guardrails", text)
    call = adapter("policy-guardrails", ANSWERED, arguments=arguments)
    assert asked(call, {"score": "No"}, profile)[0].value == {"score": 0.0}
    for wrong in ({"label": "No", "score": "Yes"}, {"verdict": "No"}, {"label": "Perhaps"}):
        with pytest.raises(MalformedReply):
            asked(call, wrong, profile)


def test_a_boolean_is_no_sentence_number() -> None:
    content = yaml.safe_load(adapters.FILES["citations"]) | {"response_format": {"type": "array"}}
    profile = io_yaml.from_specs({"citations": io_yaml.parse(content, "citations", "here")})
    for call in (citations(ANSWERED, DOCUMENTS), adapter("citations", ANSWERED, DOCUMENTS, as_json=True)):
        result, _ = asked(call, [{"r": True, "c": [1]}, {"r": 0, "c": [True]}], profile)
        assert result.dropped == 2


def test_a_document_that_is_missing_is_an_input_error() -> None:
    """Also where its text is given as the argument: the result could not say whose it is."""
    text = {"document_content": "Bread harms ducks."}
    for arguments, documents in (({}, ()), (text, ()), (text, ["a", "b"])):
        call = adapter("context-relevance", ANSWERED[:1], documents, arguments=arguments)
        with pytest.raises(InvalidInput, match="one document at a time"):
            asked(call, {"context_relevance": "relevant"}, adapters.profile())
    call = adapter("context-relevance", ANSWERED[:1], arguments=text, as_json=True)
    result, request = asked(call, {"context_relevance": "relevant"}, adapters.profile())
    assert result.value == {"context_relevance": "relevant"}
    assert request.messages[-1].content == "PASSAGE: Bread harms ducks.\n"


# --- layouts --------------------------------------------------------------------------------------------------------


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """As published: for each task, folders by base model, and in them by technology."""
    for base in ("granite-4.1-3b", "granite-4.1-8b", "gpt-oss-20b"):
        for technology in ("lora", "alora"):
            if (base, technology) != ("gpt-oss-20b", "alora"):
                adapters.write(tmp_path, inside=f"{base}/{technology}", citations=adapters.FILES["citations"],
                               uncertainty=adapters.FILES["uncertainty"])  # fmt: skip
    return tmp_path


@pytest.mark.parametrize(
    ("place", "source"),
    [
        ("{}#granite-4.1-3b/alora", "citations/granite-4.1-3b/alora"),
        ("{}#alora/granite-4.1-8b", "citations/granite-4.1-8b/alora"),
        ("{}#gpt-oss-20b", "citations/gpt-oss-20b/lora"),
        ("{}/citations#8b/lora", "citations/granite-4.1-8b/lora"),
        ("{}/citations/granite-4.1-8b#lora", "citations/granite-4.1-8b/lora"),
        ("{}/citations/granite-4.1-8b/lora", "citations/granite-4.1-8b/lora"),
        ("{}/citations/granite-4.1-8b/alora/io.yaml", "citations/granite-4.1-8b/alora/io.yaml"),
    ],
)
def test_a_place_names_base_and_technology(library: Path, place: str, source: str) -> None:
    profile = named("granite-4:" + place.format(library))
    assert isinstance(profile, io_yaml.AdapterProfile)
    assert str(profile.specs["citations"].source) == f"{library}/{source}"
    assert "lora" not in profile.specs
    assert "alora" not in profile.specs


@pytest.mark.parametrize(
    ("model", "technologies", "source"),
    [
        ("ibm-granite/granite-4.1-8b-instruct", ("lora",), "granite-4.1-8b/lora"),
        ("openai/gpt-oss-20b", ("lora", "alora"), "gpt-oss-20b/lora"),
        ("granite-4.1-3b", ("alora",), "granite-4.1-3b/alora"),
    ],
)
def test_where_only_one_fits_what_is_at_hand_it_is_chosen(
    library: Path, model: str, technologies: tuple[str, ...], source: str
) -> None:
    profile = io_yaml.profile(library, model=model, technologies=technologies)
    assert {spec.source for spec in profile.specs.values()} == {f"{library}/{t}/{source}" for t in
                                                                 ("citations", "uncertainty")}  # fmt: skip
    prefix = "openai" if "gpt" in model else "ibm-granite"
    assert profile.models[None] == (f"{prefix}/{source.split('/')[0]}",)


def test_a_runtime_says_which_model_is_at_hand(library: Path) -> None:
    engine = Scripted(lambda request: "[]")
    engine.model = "granite-4.1-8b"  # type: ignore[attr-defined]
    assert run(citations(ANSWERED, DOCUMENTS), engine, profile=f"granite-4:{library}").citations == ()
    engine.model = "another"  # type: ignore[attr-defined]
    with pytest.raises(
        InvalidInput, match=r"several adapters for 'citations': citations/gpt-oss-20b/lora and"
    ) as caught:
        run(citations(ANSWERED, DOCUMENTS), engine, profile=f"granite-4:{library}")
    assert "#granite-4.1-3b/lora" in str(caught.value.expected)


@pytest.mark.parametrize("wrong", ["#", "#a/b", "#lora/alora"])
def test_a_choice_that_says_nothing_is_refused(library: Path, wrong: str) -> None:
    with pytest.raises(InvalidInput, match="must name a base model"):
        io_yaml.profile(f"{library}{wrong}")


def test_the_name_in_a_file_counts_before_its_folders(tmp_path: Path) -> None:
    text = SHAPES["guardian-core"][0]
    assert set(io_yaml.profile(adapters.write(tmp_path / "a", checks=text)).specs) == {"guardian-core"}
    (tmp_path / "flat").mkdir()
    (tmp_path / "flat" / "io.yaml").write_text(text)
    assert set(io_yaml.profile(tmp_path / "flat").specs) == {"guardian-core"}
    with pytest.raises(InvalidInput, match="several adapters for 'guardian-core'"):
        io_yaml.profile(adapters.write(tmp_path / "two", one=text, other=text))


def test_granite_switch_names_its_adapter_to_the_base_model(tmp_path: Path) -> None:
    """One checkpoint with its adapters inside: no LoRA on the server."""
    adapters.write(tmp_path / "io_configs", answerability=adapters.FILES["answerability"],
                   requirement_check=adapters.FILES["requirement_check"])  # fmt: skip
    for place in (tmp_path, tmp_path / "io_configs"):
        profile = io_yaml.profile(place)
        assert set(profile.specs) == {"answerability", "requirement-check"}
        _, request = asked(answerability(ANSWERED[:1], DOCUMENTS), "answerable", profile)
        assert request.adapter is None
        assert request.template == {"enable_thinking": False, "adapter_name": "answerability"}
    _, request = asked(
        adapter("requirement-check", ANSWERED, arguments={"requirement": "x"}), {"score": "yes"}, profile
    )
    assert request.template["adapter_name"] == "requirement_check"


# --- whatever a file holds -------------------------------------------------------------------------------------------

SCALARS = st.none() | st.booleans() | st.integers(-3, 9) | st.floats() | st.sampled_from(
    ["", "c", "{x}", "documents", "score", "explode", "likelihood", '{"type": "object"}', "☃"]
)  # fmt: skip
KEYS = st.sampled_from(
    ["type", "input_path", "target_field", "categories_to_values", "source", "output_names", "begin", "retained_fields",
     "n", "stop", "extra_body", "documents", "score", "json_schema", "schema", "$ref"]
)  # fmt: skip
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
                      max_leaves=8)  # fmt: skip
RULES = st.fixed_dictionaries(
    {"type": st.sampled_from(["likelihood", "decode_sentences", "explode", "drop_duplicates", "project", "nest",
                              "merge_spans"])},
    optional=dict.fromkeys(("input_path", "categories_to_values", "source", "output_names", "target_field",
                            "target_fields", "retained_fields", "field_name", "group_fields"), VALUES),
)  # fmt: skip


@settings(derandomize=True, max_examples=drawn(300), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.dictionaries(st.sampled_from(sorted(_File.model_fields)), VALUES, max_size=4),
    st.lists(RULES | VALUES, max_size=3),
)
def test_any_content_is_an_adapter_or_an_error_that_names_the_file(content: Any, rules: Any) -> None:
    for value in (content, content | {"transformations": rules}, rules):
        try:
            io_yaml.parse(value, "mine", "mine")
        except InvalidInput as error:
            assert error.message.startswith("mine/io.yaml")
