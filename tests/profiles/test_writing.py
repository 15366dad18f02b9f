"""What a format writes, it reads back: for every text format, and every result that its reply can express."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from intrinsics_core.embedded import profile as embedded
from intrinsics_core.profiles import io_yaml, prompted
from intrinsics_core.profiles.granite import granite_3_2, granite_3_3
from intrinsics_core.protocol.errors import InvalidInput, UnsupportedIntrinsic
from intrinsics_core.protocol.profile import Format, Profile
from intrinsics_core.protocol.requests import Choice, Generate, Generated, JsonSchema, Regex
from intrinsics_core.protocol.results import (
    AdapterOutput,
    Answerability,
    AnswerRelevance,
    AuditParts,
    Citations,
    Evaluation,
    HallucinationDetection,
    HypotheticalPassage,
    Judgement,
    MendedSentence,
    Mendings,
    QueryRewrite,
    SentenceVerdict,
    Uncertainty,
)
from intrinsics_core.protocol.task import Task, check
from intrinsics_core.replies import sentence_ids, statements, writers
from intrinsics_core.replies.placeholders import says_nothing
from intrinsics_core.replies.rankings import ranking
from tests.drawing import drawn
from tests.profiles import adapters
from tests.profiles.recordings import io_yamls, needed, recordings

STATED = prompted.PROFILE  # its labels come with a confidence
OLD, PAPER, NEW = granite_3_2.PROFILE, granite_3_2.profile(spelling="paper"), granite_3_3.PROFILE
YAML = adapters.profile()
PROFILES = {"prompted": STATED, "granite-3.2": OLD, "granite-3.2 (paper)": PAPER, "granite-3.3": NEW, "io.yaml": YAML}

PIECES = [
    "The tea is hot.", "Dr. Moreau said \"no\"!", "It cost 3.50 € (about $4).", "* one\n* two\n", "1. First.\n2. Then.",
    "Zażółć gęślą jaźń?", "茶很烫。冰不烫！", "お茶は熱いですか？",
    "🙂 Fine \U0001f469\u200d\U0001f467.", "e\u0301te\u0301.\r\nNext line.",
    "C:\\temp\\x", "\\\"",
    "<c0> not a tag", "“Quoted,” she said.", "```json\n{}\n```", "…", "don't", "\u2028", "NA.", "faithful", "\t",
    "{\"a\": [1]}", "[[Question]]?", "‘single’ — dash", "ß ﬁ ½",
]  # fmt: skip
SPACES = ["", " ", "  ", "\n", "\r\n", "\n\n"]

texts = st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(SPACES)), max_size=5).map(
    lambda parts: "".join(piece + space for piece, space in parts)
) | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
words = texts.filter(lambda text: text.strip() != "")


@st.composite
def tasks(draw: st.DrawFn, intrinsic: str, *, answered: bool, documents: int | None = None) -> Task:
    turns = [{"role": "user", "content": draw(words)}]
    if answered:
        turns.append({"role": "assistant", "content": draw(words)})
    few = {"min_size": documents, "max_size": documents} if documents else {"max_size": 3}
    return check(intrinsic, turns, draw(st.lists(texts, **few)), ends_with=["user", "assistant"], date="May 5, 2031")


# --- results that a format can express --------------------------------------------------------------------------------

Results = Callable[[Task], st.SearchStrategy[Any]]
DIGITS = [round(0.05 + 0.1 * digit, 2) for digit in range(10)]
confidences = st.integers(0, 1000).map(lambda n: n / 1000) | st.floats(0, 1)


def queries(task: Task) -> st.SearchStrategy[Any]:
    def made(text: str) -> QueryRewrite:
        return QueryRewrite(query=text.strip(), original=task.query, changed=text.strip() != task.query.strip())

    return (words.filter(lambda text: not says_nothing(text)) | st.just(task.query)).map(made)


def said(fmt: Format[Any], **labels: Any) -> Results:
    """What a reply of this shape says, with every confidence that a model could state."""

    def made(task: Task) -> st.SearchStrategy[Any]:
        ((name, options),) = labels.items()
        replies = st.tuples(st.sampled_from(options), confidences).map(
            lambda drawn: Generated(json.dumps({name: drawn[0], "confidence": drawn[1]}))
        )
        return replies.map(lambda reply: fmt.parse(task, [reply]))

    return made


def labels_alone(task: Task) -> st.SearchStrategy[Any]:
    scores = {"relevant": 1.0, "partially relevant": 0.5, "irrelevant": 0.0}
    return st.sampled_from(
        [
            Judgement(document_id=task.document_id(0), index=0, label=label, score=score)
            for label, score in scores.items()
        ]
    )


def gates(task: Task) -> st.SearchStrategy[Any]:
    return st.sampled_from(
        [Answerability(label="answerable", probability=1.0), Answerability(label="unanswerable", probability=0.0)]
    )


def certainties(task: Task) -> st.SearchStrategy[Any]:
    return st.sampled_from([Uncertainty(certainty=value) for value in DIGITS])


reasons = st.none() | words | st.just("faithful")


def verdicts(task: Task) -> st.SearchStrategy[Any]:
    one = st.tuples(st.sampled_from(["faithful", "partial", "unfaithful", "NA"]), st.none(), reasons)
    return _detected(task, one)


def score_ranges(task: Task) -> st.SearchStrategy[Any]:
    """The middles of ten ranges, and two ways to claim nothing."""
    label = ["unfaithful", *["partial"] * 4, *["faithful"] * 5]
    ranges = [(label[i], DIGITS[i], None) for i in range(10)]
    nothing = [("NA", None, None), ("NA", None, "says that the question cannot be answered")]
    return _detected(task, st.sampled_from([*ranges, *nothing]))


def _detected(task: Task, one: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    count = len(task.response_sentences)
    rows = st.lists(one, min_size=count, max_size=count)
    return rows.map(lambda drawn: sentence_ids.hallucination(task, enumerate(drawn)))


def links(task: Task) -> st.SearchStrategy[Any]:
    count = sum(map(len, task.document_sentences))
    pairs = [(r, c) for r in range(len(task.response_sentences)) for c in range(count)]
    drawn = st.lists(st.sampled_from(pairs), max_size=12, unique=True) if pairs else st.just([])
    return drawn.map(lambda found: sentence_ids.citations(task, found))


def answers(task: Task) -> st.SearchStrategy[Any]:
    return words.map(str.strip)


def one_line(task: Task) -> st.SearchStrategy[Any]:
    def fits(text: str) -> bool:
        lines = len(text.splitlines()) == 1
        return lines and any(map(str.isalnum, text)) and "[[" not in text and text == text.strip()

    return words.map(str.strip).filter(fits)


def floats(*values: float) -> Results:
    return lambda task: st.sampled_from(values)


def clarifications(task: Task) -> st.SearchStrategy[Any]:
    return texts.map(lambda text: AdapterOutput(value={"clarification": text}))


def classified(task: Task) -> st.SearchStrategy[Any]:
    """What Granite's classifier says: a label, and the category that goes with it."""
    named = [("relevant", 1.0, "Relevant but not complete"), ("irrelevant", 0.0, "Too vague or generic")]
    return st.tuples(st.sampled_from(named), st.none() | words.map(str.strip)).map(
        lambda drawn: AnswerRelevance(label=drawn[0][0], score=drawn[0][1], category=drawn[0][2], analysis=drawn[1])
    )


def orders(task: Task) -> st.SearchStrategy[Any]:
    return st.permutations(range(len(task.documents))).map(lambda order: ranking(task, order))


def evaluations(task: Task) -> st.SearchStrategy[Any]:
    """What replies say that quote any words of any text."""
    texts_of = {name: text for name, text in statements.sources(task).items() if text.strip()}

    @st.composite
    def cited(draw: st.DrawFn) -> dict[str, str]:
        name = draw(st.sampled_from(sorted(texts_of)))
        begin, end = sorted(draw(st.tuples(*[st.integers(0, len(texts_of[name]))] * 2)))
        return {"source": statements.short(name), "quote": texts_of[name][begin:end]}

    one = st.fixed_dictionaries({"text": words, "citations": st.lists(cited(), max_size=3)})
    replies = st.fixed_dictionaries(
        {
            "explanation": texts,
            "statements": st.lists(one, max_size=3),
            "rating": st.sampled_from(["yes", "no"]),
            "confidence": confidences,
        }
    )
    fmt = STATED.formats["evaluate"]
    assert isinstance(fmt, Format)
    parsed = replies.map(lambda said: fmt.parse(task, [Generated(json.dumps(said))]))
    return parsed.map(lambda value: value.model_copy(update={"dropped": 0})).filter(lambda value: quotable(task, value))


def quotable(task: Task, value: Evaluation) -> bool:
    try:
        statements.written(task, value.metrics[0].statements)
    except InvalidInput:
        return False
    return True


def groupings(task: Task) -> st.SearchStrategy[Any]:
    def grouped(labels: list[int]) -> tuple[tuple[int, ...], ...]:
        return tuple(sorted(tuple(i for i, x in enumerate(labels) if x == label) for label in set(labels)))

    return st.lists(st.integers(0, 3), min_size=4, max_size=4).map(grouped)


def passages(task: Task) -> st.SearchStrategy[Any]:
    return answers(task).map(lambda text: HypotheticalPassage(passage=text))


ASKED = ("listwise", "query-rewrite", "context-relevance", "answerability", "comparison", "sample-answer", "answer",
         "preference", "hyde", "candidate", "agreement")  # fmt: skip
GIVEN: dict[str, dict[str, Any]] = {
    "agreement": {"options": {"answers": ("a", "b", "c", "d")}},
    "answer-rewrite": {"options": {"category": "No attempt", "analysis": "It says nothing."}},
}


def audits(task: Task) -> st.SearchStrategy[Any]:
    parts = st.tuples(said(STATED.formats["answerability"], answerability=["answerable", "unanswerable"])(task),
                      verdicts(task), links(task), certainties(task), st.sampled_from([0.0, 1.0]))  # fmt: skip
    return parts.map(
        lambda drawn: AuditParts(
            answerability=drawn[0], hallucination=drawn[1], citations=drawn[2], uncertainty=drawn[3],
            answer_relevance=drawn[4],
        )
    )  # fmt: skip


def mendings(task: Task) -> st.SearchStrategy[Any]:
    numbers = (
        st.sets(st.integers(0, max(0, len(task.response_sentences) - 1))) if task.response_sentences else st.just([])
    )
    drawn = numbers.flatmap(
        lambda found: st.tuples(st.just(sorted(found)), st.lists(texts, min_size=len(found), max_size=len(found)))
    )
    return drawn.map(
        lambda found: Mendings(
            mended=tuple(
                MendedSentence(sentence=number, text=text.strip()) for number, text in zip(*found, strict=True)
            )
        )
    )


ASKED = ("listwise", "query-rewrite", "context-relevance", "answerability", "comparison", "sample-answer", "answer")
COUNTS = {"answer-rewrite": 2, "listwise": 3, "context-relevance": 1, "comparison": 2, "entailment": 1}
BOUNDED = {
    "query-rewrite": queries,
    "context-relevance": labels_alone,
    "answerability": gates,
    "uncertainty": certainties,
    "hallucination-detection": verdicts,
    "citations": links,
    "audit": audits,
    "revise": mendings,
    "entailment": floats(0.0, 0.5, 1.0),
    "comparison": floats(0.0, 1.0),
    "listwise": orders,
    "synonym-query": one_line,
    "reverse-question": one_line,
    "sample-answer": answers,
    "answer": answers,
    "answer-rewrite": answers,
    "candidate": answers,
    "evaluate": evaluations,
    "agreement": groupings,
    "hyde": passages,
    "query-clarification": clarifications,
    "io.yaml:query-clarification": clarifications,
    "io.yaml:query-rewrite": lambda task: texts.map(lambda t: AdapterOutput(value={"rewritten_question": t})),
    "io.yaml:context-relevance": lambda task: st.sampled_from(
        [AdapterOutput(value={"context_relevance": label}) for label in ("relevant", "irrelevant")]
    ),
}
OWN: dict[str, dict[str, Results]] = {
    "prompted": {
        "context-relevance": said(
            STATED.formats["context-relevance"],  # type: ignore[arg-type]
            context_relevance=["relevant", "partially relevant", "irrelevant"],
        ),
        "answerability": said(STATED.formats["answerability"], answerability=["answerable", "unanswerable"]),  # type: ignore[arg-type]
        "comparison": said(STATED.formats["comparison"], preferred=["A", "B"]),  # type: ignore[arg-type]
        "entailment": said(STATED.formats["entailment"], supported=["yes", "no"]),  # type: ignore[arg-type]
        "preference": said(STATED.formats["preference"], preferred=["A", "B"]),  # type: ignore[arg-type]
        "answer-relevance": said(
            STATED.formats["answer-relevance"],  # type: ignore[arg-type]
            answer_relevance=["relevant", "partially relevant", "irrelevant"],
        ),
        "synonym-query": answers,
        "reverse-question": answers,
    },
    "granite-3.2": {"hallucination-detection": score_ranges},
    "granite-3.3": {"answer-relevance": classified},
    "granite-3.2 (paper)": {"hallucination-detection": score_ranges},
}
# The transformed JSON of a file with transformations says less than its reply, or says it otherwise; relevance is a
# view of context-relevance, which is written.
UNWRITTEN = {
    "relevance",
    "io.yaml:answerability", "io.yaml:uncertainty", "io.yaml:hallucination-detection", "io.yaml:citations",
    "io.yaml:requirement-check", "requirement-check", "io.yaml:context-attribution", "context-attribution",
}  # fmt: skip
CASES = [
    pytest.param(label, name, id=f"{label}-{name}")
    for label, profile in PROFILES.items()
    for name in profile.formats
    if name not in UNWRITTEN
]


def request(fmt: Any, task: Task) -> Generate:
    (asked,) = fmt.render(task)
    assert isinstance(asked, Generate)
    return asked


def obeys(text: str, asked: Generate) -> bool:
    match asked.constraint:
        case Choice(options):
            return text in options
        case Regex(pattern):
            return re.fullmatch(pattern, text) is not None
        case JsonSchema(schema):
            jsonschema.validate(json.loads(text), schema)
    return not any(mark in text for mark in asked.stop)


@pytest.mark.parametrize(("label", "name"), CASES)
@settings(derandomize=True, deadline=None, max_examples=drawn(60, 2))
@given(data=st.data())
def test_what_is_written_is_read_back(label: str, name: str, data: st.DataObject) -> None:
    profile, intrinsic = PROFILES[label], name.removeprefix("io.yaml:")
    fmt = profile.formats[name]
    assert isinstance(fmt, Format)
    task = data.draw(tasks(intrinsic, answered=intrinsic not in ASKED, documents=COUNTS.get(intrinsic)))
    task = replace(task.split_by(profile.split), **GIVEN.get(name, {}))
    value = data.draw((OWN.get(label, {}).get(name) or BOUNDED[name])(task))
    text = profile.write(name, task, value)
    assert fmt.parse(task, [Generated(text)]) == value
    assert obeys(text, request(fmt, task))


@settings(derandomize=True, deadline=None)
@given(data=st.data(), text=words)
def test_a_rewrite_within_an_expansion_obeys_its_schema(data: st.DataObject, text: str) -> None:
    for profile in (OLD, NEW):
        task = data.draw(tasks("query-expansion", answered=False))
        value = data.draw(queries(task))
        written = profile.write("query-rewrite", task, value)
        assert obeys(written, request(profile.formats["query-rewrite"], task))
        assert not written[0].isspace()  # a grammar made of a schema admits none


@pytest.mark.parametrize("label", PROFILES)
def test_every_text_format_is_written_or_known_not_to_be(label: str) -> None:
    for name, fmt in PROFILES[label].formats.items():
        assert (fmt.write is None) == (name in UNWRITTEN), name


# --- to the byte ------------------------------------------------------------------------------------------------------


def task(intrinsic: str, *, answered: bool = False) -> Task:
    turns = [{"role": "user", "content": "Is tea hot?"}]
    if answered:
        turns.append({"role": "assistant", "content": 'Yes.\n\nIce is "cold". Ask on.'})
    documents = [{"text": "Tea is hot.  Ice is not. Snow melts.", "id": "tea"}, {"text": "Snow.", "id": "snow"}]
    return check(intrinsic, turns, documents, ends_with=["user", "assistant"], date="May 5, 2031")


def rewritten(about: Task, query: str = 'Is "green" tea \\hot?') -> QueryRewrite:
    return QueryRewrite(query=query, original=about.query, changed=True)


def detected(*verdicts: Any) -> HallucinationDetection:
    return sentence_ids.hallucination(task("", answered=True), enumerate(verdicts))


SOME = detected(("faithful", None, None), ("partial", None, "half"), ("NA", None, None))
CITED = sentence_ids.citations(task("", answered=True), [(0, 0), (0, 1), (2, 3)])
EXPECTED = [
    (OLD, "query-rewrite", rewritten(task("")), '\n{\n  "rewritten_question": "Is \\"green\\" tea \\\\hot?"\n}'),
    (NEW, "query-rewrite", rewritten(task("")),
     '```json\n{\n    "rewritten_question": "Is \\u0022green\\u0022 tea \\\\hot?"\n}\n```'),
    (STATED, "query-rewrite", rewritten(task("")), '{"rewritten_question": "Is \\"green\\" tea \\\\hot?"}'),
    (YAML, "query-rewrite", rewritten(task("")), '{"rewritten_question": "Is \\"green\\" tea \\\\hot?"}'),
    (OLD, "answerability", Answerability(label="unanswerable", probability=0.2), "unanswerable"),
    (YAML, "answerability", Answerability(label="unanswerable", probability=0.2), '"unanswerable"'),
    (STATED, "answerability", Answerability(label="unanswerable", probability=0.2),
     '{"answerability": "unanswerable", "confidence": 0.8}'),
    (OLD, "uncertainty", Uncertainty(certainty=0.85, expected=0.8), "8"),
    (PAPER, "uncertainty", Uncertainty(certainty=0.05), "05%"),
    (YAML, "uncertainty", Uncertainty(certainty=0.35), '{"score": "3"}'),
    (NEW, "hallucination-detection", SOME,
     '[{"i": 0, "r": "", "f": "faithful"}, {"i": 1, "r": "half", "f": "partial"}, {"i": 2, "r": "", "f": "NA"}]'),
    (OLD, "hallucination-detection", SOME,
     '"{\\"<r0>\\": \\"0.9-1.0\\", \\"<r1>\\": \\"0.4-0.5\\", \\"<r2>\\": \\"NA\\"}"'),
    (YAML, "hallucination-detection", SOME,
     '[{"r": 0, "f": "faithful", "e": ""}, {"r": 1, "f": "partial", "e": "half"}, {"r": 2, "f": "NA", "e": ""}]'),
    (OLD, "citations", CITED, '{"<r0>": ["<c0>", "<c1>"], "<r1>": [], "<r2>": ["<c3>"]}'),
    (NEW, "citations", CITED, '[{"r": 0, "c": [0, 1]}, {"r": 1, "c": []}, {"r": 2, "c": [3]}]'),
    (STATED, "citations", CITED,
     '{"citations": [{"response": "r0", "sources": ["c0", "c1"]}, {"response": "r1", "sources": []}, '
     '{"response": "r2", "sources": ["c3"]}]}'),
]  # fmt: skip


@pytest.mark.parametrize(("profile", "name", "value", "expected"), EXPECTED)
def test_the_text_of_a_reply(profile: Profile, name: str, value: Any, expected: str) -> None:
    answered = name in ("hallucination-detection", "citations", "uncertainty")
    assert profile.write(name, task(name, answered=answered), value) == expected


@needed()
@pytest.mark.parametrize("recording", recordings(), ids=str)
def test_recorded_replies_are_written_to_the_byte(recording: Any) -> None:
    from tests.profiles.test_recordings import _rendered

    _, chosen, about = _rendered(recording)
    value = chosen.parse(about, [Generated(recording.reply)])
    expected = recording.reply
    if recording.name == "rerank":
        expected = "B"  # its explanation is no part of the result
    elif recording.name == "query_expansion":
        expected = value if isinstance(value, str) else None  # sampled by the base model, with space around
        if expected is None:  # one has noise before its JSON
            assert json.loads(chosen.write(about, value).strip("`json\n"))["rewritten_question"] == value.query
            return
    assert chosen.write(about, value) == expected


# --- what cannot be said ----------------------------------------------------------------------------------------------


def verdict(**changes: Any) -> HallucinationDetection:
    rows = list(SOME.sentences)
    rows[1] = SentenceVerdict.model_validate(rows[1].model_dump() | changes)
    return SOME.model_copy(update={"sentences": tuple(rows)})


def citation(**changes: Any) -> Citations:
    return Citations(citations=(CITED.citations[0].model_copy(update=changes),))


REFUSED = [
    ("query-rewrite", QueryRewrite(query=" ", original="Is tea hot?", changed=True), "query"),
    ("query-rewrite", QueryRewrite(query="N/A", original="Is tea hot?", changed=True), "query"),
    ("query-rewrite", QueryRewrite(query="a", original="Is ice hot?", changed=True), "original"),
    ("query-rewrite", QueryRewrite(query="a", original="Is tea hot?", changed=True, degraded="down"), "degraded"),
    ("query-rewrite", {"query": "a"}, "value"),
    ("query-rewrite", QueryRewrite(query="a\ud800", original="Is tea hot?", changed=True), "surrogate"),
    ("answerability", Answerability(label="answerable", probability=None), "probability"),
    ("answerability", None, "value"),
    ("uncertainty", Uncertainty(certainty=0.5), "certainty"),
    ("comparison", 1.5, "value"),
    ("comparison", True, "value"),
    ("comparison", float("nan"), "value"),
    ("answer", " \n", "value"),
    ("answer", 3, "value"),
    ("hallucination-detection", SOME.model_copy(update={"sentences": SOME.sentences[:2]}), "sentences"),
    ("hallucination-detection", verdict(begin=7), "sentences[1]"),
    ("hallucination-detection", verdict(text="Ice is hot."), "sentences[1]"),
    ("citations", citation(document_id="ice"), "citations[0].document_id"),
    ("citations", citation(document_begin=1), "citations[0].document_begin"),
    ("citations", citation(document_end=20), "citations[0].document_begin"),
    ("citations", citation(document_text="Tea is cold."), "citations[0].document_text"),
    ("citations", citation(response_end=5), "citations[0].response_begin"),
    ("citations", citation(response_text="Yes!"), "citations[0].response_text"),
]


@pytest.mark.parametrize("profile", [STATED, OLD, NEW, YAML], ids=lambda profile: profile.name)
@pytest.mark.parametrize(("name", "value", "field"), REFUSED)
def test_what_a_reply_cannot_say_is_refused_by_name(profile: Profile, name: str, value: Any, field: str) -> None:
    answered = name in ("hallucination-detection", "citations")
    with pytest.raises(InvalidInput, match=re.escape(field)) as raised:
        profile.write(name, task(name, answered=answered), value)
    assert raised.value.intrinsic == name and not isinstance(raised.value, UnsupportedIntrinsic)


@pytest.mark.parametrize("profile", [STATED, NEW, YAML], ids=lambda profile: profile.name)
def test_a_judgement_is_of_this_document_and_has_a_score(profile: Profile) -> None:
    about = task("context-relevance").only(0)
    for changed in ({"document_id": "snow"}, {"score": None}):
        value = Judgement(document_id="tea", index=0, label="relevant", score=1.0).model_copy(update=changed)
        with pytest.raises(InvalidInput, match=next(iter(changed))):
            profile.write("context-relevance", about, value)


@pytest.mark.parametrize("name", ["hallucination-detection", "citations"])
def test_without_a_response_there_are_no_sentences(name: str) -> None:
    nothing = HallucinationDetection(label="NA", score=None, sentences=())
    value = nothing if name == "hallucination-detection" else Citations(citations=())
    with pytest.raises(InvalidInput, match="messages"):
        OLD.write(name, task(name), value)


@pytest.mark.parametrize(("profile", "stop"), [(OLD, "[[Input]]"), (NEW, "[[Input]]")])
def test_a_query_that_would_end_the_reply_is_refused(profile: Profile, stop: str) -> None:
    for bad in (f"What is {stop}?", "One?\nTwo?", "…"):
        with pytest.raises(InvalidInput, match="value"):
            profile.write("synonym-query", task("query-expansion"), bad)


def test_the_label_counts_where_a_score_contradicts_it() -> None:
    about = task("context-relevance").only(0)
    value = Judgement(document_id="tea", index=0, label="relevant", score=0.1)
    assert json.loads(STATED.write("context-relevance", about, value))["confidence"] == pytest.approx(1 / 3)
    assert (
        json.loads(json.loads(OLD.write("hallucination-detection", task("", answered=True), verdict(score=0.99))))[
            "<r1>"
        ]
        == "0.4-0.5"
    )


@settings(derandomize=True)
@given(score=st.floats(0.5, 1))
def test_any_score_is_met_to_the_last_digits(score: float) -> None:
    about = task("context-relevance").only(0)
    written = STATED.write(
        "context-relevance", about, Judgement(document_id="tea", index=0, label="relevant", score=score)
    )
    (read,) = [STATED.formats["context-relevance"].parse(about, [Generated(written)])]  # type: ignore[union-attr]
    assert read.label == "relevant" and read.score == pytest.approx(score, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "field", "labels"),
    [
        ("answerability", "answerability", ["answerable", "unanswerable"]),
        ("context-relevance", "context_relevance", ["relevant", "irrelevant"]),
    ],
)
def test_a_confidence_is_written_as_it_was_stated(name: str, field: str, labels: list[str]) -> None:
    about = task(name).only(0)
    for label in labels:
        for thousandths in range(500, 1001, 7):
            stated = json.dumps({field: label, "confidence": thousandths / 1000})
            value = STATED.formats[name].parse(about, [Generated(stated)])  # type: ignore[union-attr]
            assert STATED.write(name, about, value) == stated


def test_the_profile_writes_with_its_own_sentences() -> None:
    def halves(text: str) -> tuple[Any, ...]:
        from intrinsics_core.text.sentences import Span

        middle = len(text) // 2
        return Span(0, middle, text[:middle]), Span(middle, len(text), text[middle:])

    about = task("citations", answered=True)
    split = about.split_by(halves)
    value = sentence_ids.citations(split, [(1, 2)])
    assert json.loads(replace(NEW, split=halves).write("citations", about, value))[1] == {"r": 1, "c": [2]}
    with pytest.raises(InvalidInput, match="response_begin"):
        NEW.write("citations", about, value)


def test_a_base_profile_writes_what_is_missing() -> None:
    about = task("context-relevance").only(0)
    value = Judgement(document_id="tea", index=0, label="relevant", score=1.0)
    with pytest.raises(UnsupportedIntrinsic, match=re.escape("'granite-3.2' does not serve this intrinsic")):
        OLD.write("context-relevance", about, value)
    assert "relevant" in replace(OLD, base=NEW).write("context-relevance", about, value)


def test_formats_without_text_say_so() -> None:
    with pytest.raises(UnsupportedIntrinsic, match="cannot write a reply"):
        embedded.PROFILE.write("answerability", task("answerability"), None)
    with pytest.raises(UnsupportedIntrinsic, match="cannot write a reply"):
        YAML.write("io.yaml:citations", task("citations", answered=True), AdapterOutput(value=[]))


# --- other shapes of io.yaml ------------------------------------------------------------------------------------------


def spec(name: str, **file: Any) -> Profile:
    return io_yaml.from_specs({name: io_yaml.parse(file, name, "own/io.yaml")})


def test_fields_and_their_order_are_the_file_s() -> None:
    record = {"why": {"type": "string"}, "verdict": {"type": "string", "enum": ["FAITHFUL", "PARTIAL", "UNFAITHFUL",
              "NA"]}, "r": {"type": "integer"}}  # fmt: skip
    schema = {"type": "array", "items": {"type": "object", "properties": record, "required": list(record)}}
    profile = spec("hallucination-detection", response_format=schema)
    about = task("hallucination-detection", answered=True)
    text = profile.write("hallucination-detection", about, SOME)
    assert json.loads(text)[1] == {"why": "half", "verdict": "PARTIAL", "r": 1} and text.startswith('[{"why"')
    assert profile.formats["hallucination-detection"].parse(about, [Generated(text)]) == SOME  # type: ignore[union-attr]
    alike = verdict(explanation="Faithful")  # the schema says which of the two is the label
    text = profile.write("hallucination-detection", about, alike)
    assert profile.formats["hallucination-detection"].parse(about, [Generated(text)]) == alike  # type: ignore[union-attr]


def test_a_reason_that_reads_like_another_label_is_not_written_where_nothing_tells_them_apart() -> None:
    record = {"why": {"type": "string"}, "verdict": {"type": "string"}, "r": {"type": "integer"}}
    schema = {"type": "array", "items": {"type": "object", "properties": record, "required": list(record)}}
    profile = spec("hallucination-detection", response_format=schema)
    about = task("hallucination-detection", answered=True)
    with pytest.raises(InvalidInput, match=re.escape("sentences[1].explanation")):
        profile.write("hallucination-detection", about, verdict(explanation="Faithful"))


@needed()
@pytest.mark.parametrize("name", ["citations", "hallucination-detection"])
def test_the_published_files_are_written_by_too(name: str) -> None:
    profile = spec(name, **yaml.safe_load(io_yamls()[name.replace("-", "_")]))
    about, value = task(name, answered=True), CITED if name == "citations" else SOME
    text = profile.write(name, about, value)
    assert profile.formats[name].parse(about, [Generated(text)]) == value  # type: ignore[union-attr]
    assert obeys(text, request(profile.formats[name], about))


@pytest.mark.parametrize(("value", "expected"), [("Ask me.", "Ask me."), ("12", '"12"'), (" a", '" a"'), ([1], "[1]")])
def test_without_a_schema_a_text_is_itself_where_it_is_read_as_one(value: Any, expected: str) -> None:
    profile = spec("own")
    output = AdapterOutput(value=value)
    text = profile.write("own", task("own"), output)
    assert text == expected
    assert profile.formats["own"].parse(task("own"), [Generated(text)]) == output  # type: ignore[union-attr]


def test_an_output_off_schema_is_refused() -> None:
    with pytest.raises(InvalidInput, match="value"):
        YAML.write("query-clarification", task("query-clarification"), AdapterOutput(value={"question": "?"}))


def test_a_file_that_wants_more_than_the_result_knows_is_unsupported() -> None:
    fields = {"label": {"type": "string", "enum": ["answerable", "unanswerable"]}, "sure": {"type": "number"}}
    profile = spec("answerability", response_format={"type": "object", "properties": fields, "required": ["sure"]})
    with pytest.raises(UnsupportedIntrinsic, match="needs a reply"):
        profile.write("answerability", task("answerability"), Answerability(label="answerable", probability=1.0))


def test_quotes_within_a_string_can_be_spelled_without_one() -> None:
    for text in ('a "b" c', '\\"', '\\\\"', "\\", '"', ""):
        spelled = writers.without_quotes(text)
        assert json.loads(spelled) == text and '"' not in spelled[1:-1]
