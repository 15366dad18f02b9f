import copy

import pytest

from intrinsics_core import (
    INTRINSICS,
    Document,
    InvalidInput,
    Message,
    answerability,
    citations,
    context_relevance,
    query_rewrite,
    reranking,
    run,
)
from intrinsics_core.intrinsics import TABLE

USER = [{"role": "user", "content": "Who keeps the lighthouse?"}]
ANSWERED = [*USER, {"role": "assistant", "content": "Ada keeps it."}]
DOCUMENTS = ["Ada keeps the lighthouse."]
ENDS_WITH_ANSWER = tuple(name for name, record in TABLE.items() if record.ends_with == ("assistant",))
PART = {"type": "text"}


class FromLangChain:
    """As a document of a framework looks from here, which is not imported."""

    __module__ = "langchain_core.documents.base"


@pytest.mark.parametrize(
    ("messages", "names"),
    [
        (None, ["messages", "not a list"]),
        ("who?", ["messages", "not a list"]),
        ([], ["messages is empty"]),
        ([None], ["messages[0]", "None"]),
        (["who?"], ["messages[0]", "'who?'"]),
        ([{"role": "user"}], ["messages[0]", "'content'"]),
        ([{"content": "who?"}], ["messages[0]", "'role'"]),
        ([{"role": "user", "content": None}], ["messages[0].content", "None"]),
        ([{"role": "user", "content": 7}], ["messages[0].content", "7"]),
        ([{"role": "user", "content": [{"text": 3}]}], ["messages[0].content[0]"]),
        ([{"role": "wizard", "content": "who?"}], ["messages[0].role", "'wizard'", "user"]),
        ([{"role": None, "content": "who?"}], ["messages[0].role", "None"]),
        (ANSWERED, ["messages[1].role", "'user'", "'assistant'"]),
        ([{"role": "user", "content": " \n"}], ["messages[0].content is empty"]),
    ],
)
def test_bad_messages_are_named(messages, names):
    with pytest.raises(InvalidInput) as caught:
        answerability(messages, DOCUMENTS)
    for name in ["answerability", *names]:
        assert name in str(caught.value)


@pytest.mark.parametrize(
    ("documents", "names"),
    [
        (None, ["documents", "not a list"]),
        ("text", ["documents", "not a list"]),
        ([None], ["documents[0]", "None"]),
        ([{"id": "a"}], ["documents[0]", "'text'"]),
        ([{"text": None}], ["documents[0].text", "None"]),
        (["a", {"text": 3.5}], ["documents[1].text", "3.5"]),
        ([{"page_content": "a"}], ["documents[0] has no 'text' (did you mean 'text' for 'page_content'?)"]),
        ([FromLangChain()], ["documents[0] is not a document", "a component of our integration with LangChain"]),
        ([{"text": "a", "id": ["x"]}], ["documents[0].id"]),
        ([{"text": "a", "title": 3}], ["documents[0].title"]),
        ([{"text": "a", "score": "high"}], ["documents[0].score", "'high'"]),
        ([{"text": "a", "score": float("nan")}], ["documents[0].score", "nan"]),
        ([{"text": "a", "metadata": "m"}], ["documents[0].metadata"]),
    ],
)
def test_bad_documents_are_named(documents, names):
    with pytest.raises(InvalidInput) as caught:
        answerability(USER, documents)
    for name in ["answerability", *names]:
        assert name in str(caught.value)


@pytest.mark.parametrize("name", sorted(INTRINSICS))
def test_needs_of_each_intrinsic(name):
    intrinsic = INTRINSICS[name]
    right, wrong = (ANSWERED, USER) if name in ENDS_WITH_ANSWER else (USER, ANSWERED)
    assert intrinsic(right, DOCUMENTS).task.intrinsic == name
    if name != "uncertainty":  # before answering and after
        with pytest.raises(InvalidInput, match="role, of the last message, is"):
            intrinsic(wrong, DOCUMENTS)
    with pytest.raises(InvalidInput, match="documents is not a list"):
        intrinsic(right, None)
    assert intrinsic(right, []).task.documents == ()  # given, and empty
    with pytest.raises(InvalidInput, match=r"on_error.*raise"):
        intrinsic(right, DOCUMENTS, on_error="shrug")


def test_what_is_wrong_at_the_end_and_in_the_date_is_named():
    with pytest.raises(InvalidInput, match=r"role, of the last message, is 'assistant'; expected messages that"):
        answerability(ANSWERED, DOCUMENTS)
    with pytest.raises(InvalidInput, match="date is not text"):
        answerability(USER, DOCUMENTS, date=3)


def test_documents_keep_what_they_had():
    given = [
        "plain",
        {"text": "b", "id": "x", "title": "B", "score": 2, "metadata": {"page": 3}, "source": "ours"},
        {"text": "c", "id": 7, "metadata": {"title": "C"}},
        Document("d", id="y", score=0.5),
        {"text": "e", "title": None, "metadata": {"title": "not shown"}},
        {"text": "f", "metadata": {"title": 3}},
    ]
    before = copy.deepcopy(given)
    documents = reranking(USER, given).task.documents
    assert [d.id for d in documents] == ["0", "x", "7", "y", "4", "5"]
    assert [d.text for d in documents] == ["plain", "b", "c", "d", "e", "f"]
    assert [d.title for d in documents] == [None, "B", "C", None, None, None]
    assert documents[1].score == 2.0
    assert documents[1].metadata == {"page": 3}
    assert given == before


def test_content_parts_and_tool_turns():
    task = query_rewrite(
        [
            Message("system", "Be kind."),
            {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
            {"role": "tool", "content": "42"},
            {"role": "user", "content": [PART | {"text": "Who "}, {"type": "image_url"}, PART | {"text": "is it?"}]},
        ]
    ).task
    assert task.query == "Who is it?"
    assert [m.role for m in task.messages] == ["system", "assistant", "tool", "user"]


def test_the_date_is_an_argument():
    assert answerability(USER, DOCUMENTS, date="April 1, 2025").task.date == "April 1, 2025"
    assert answerability(USER, DOCUMENTS).task.date[-4:].isdigit()


def test_an_empty_id_is_an_id():
    task = reranking(USER, [{"id": "", "text": "a"}, {"id": "0", "text": "b"}]).task
    assert [task.document_id(i) for i in range(2)] == ["", "0"]
    assert task.only(1, 0).document_id(1) == ""


def test_ids_may_repeat_and_positions_tell_documents_apart():
    documents = [{"text": "Tea is cold.", "id": "x"}, {"text": "Tea is hot.", "id": "x"}, "Tea is green."]
    ranked = run(reranking(USER, [*documents, {"text": "Tea is black.", "id": "2"}]))
    assert sorted((row.index, row.document_id) for row in ranked.ranking) == [(0, "x"), (1, "x"), (2, "2"), (3, "2")]
    judged = run(context_relevance(USER, documents))
    assert [(row.index, row.document_id) for row in judged.judgements] == [(0, "x"), (1, "x"), (2, "2")]
    answered = [*USER, {"role": "assistant", "content": "Tea is hot."}]
    (cited,) = run(citations(answered, documents)).citations
    assert (cited.document_index, cited.document_id, cited.document_text) == (1, "x", "Tea is hot.")


# What a chain is left with when a filter kept nothing, or a model said nothing (or only called a tool).
NOTHING_RETRIEVED = {
    "answerability": {"label": "unanswerable", "probability": 0.0},
    "context-relevance": {"judgements": []},
    "reranking": {"ranking": []},
    "hallucination-detection": {
        "label": "NA",
        "score": None,
        "sentences": [
            {"begin": 0, "end": 11, "text": "Tea is hot.", "label": "NA", "score": None, "explanation": None}
        ],
    },
    "citations": {"citations": []},
    "fact-check": {"score": None, "sources": [], "claims": []},
    "check-citations": {"citations": [], "uncited": [], "score": None},
    "audit": {
        "answerability": {"label": "unanswerable", "probability": 0.0, "reason": "nothing retrieved"},
        "sentences": [
            {
                "begin": 0,
                "end": 11,
                "text": "Tea is hot.",
                "label": "NA",
                "score": None,
                "explanation": None,
                "citations": [],
            }
        ],
        "label": "NA",
        "score": None,
        "certainty": None,
        "answer_relevance": None,
        "disagreements": [],
    },
    "revise": {"answer": "Tea is hot.", "changes": [], "unsupported": []},
}
NOTHING_SAID = {
    "answer-relevance": {"label": None, "score": None, "rewrite": None},
    "evaluate": {
        "metrics": [
            {
                "name": name,
                "rating": None,
                "score": None,
                "explanation": None,
                "reason": "nothing said",
                "statements": [],
            }
            for name in ("faithfulness", "instruction-following", "coherence", "completeness")
        ]
    },
    "hallucination-detection": {"label": "NA", "score": None, "sentences": []},
    "citations": {"citations": []},
    "fact-check": {"score": None, "sources": [], "claims": []},
    "uncertainty": {"certainty": None, "expected": None},
    "revise": {"answer": "", "changes": [], "unsupported": []},
    "check-citations": {"citations": [], "uncited": [], "score": None},
    "audit": {
        "answerability": None,
        "sentences": [],
        "label": "NA",
        "score": None,
        "certainty": None,
        "answer_relevance": None,
        "disagreements": [],
    },
}


@pytest.mark.parametrize("name", NOTHING_RETRIEVED)
def test_no_documents_is_a_result_with_a_reason(name):
    turns = [*USER, {"role": "assistant", "content": "Tea is hot."}] if name in NOTHING_SAID else USER
    assert run(INTRINSICS[name](turns, [])).model_dump(mode="json") == NOTHING_RETRIEVED[name] | {
        "reason": "nothing retrieved",
        "schema_version": 1,
    }


NO_TEXT = "the documents have no text"


@pytest.mark.parametrize("name", NOTHING_RETRIEVED)
def test_documents_without_text_are_like_none(name):
    turns = [*USER, {"role": "assistant", "content": "Tea is hot."}] if name in NOTHING_SAID else USER
    blank = [{"text": " \n", "title": "tea.png"}, ""]
    told = run(INTRINSICS[name](turns, blank)).model_dump(mode="json")
    if TABLE[name].of_each:
        assert sorted(row["index"] for row in told.get("judgements", told.get("ranking"))) == [0, 1]
        return
    none = NOTHING_RETRIEVED[name]
    if name == "audit":
        none = none | {"answerability": none["answerability"] | {"reason": NO_TEXT}}
    assert told == none | {"reason": NO_TEXT, "schema_version": 1}
    assert "reason" not in run(INTRINSICS[name](turns, [*blank, "Tea is hot."])).model_dump(mode="json")


@pytest.mark.parametrize("name", NOTHING_SAID)
@pytest.mark.parametrize("turn", [{"content": "  "}, {"content": None, "tool_calls": [{"id": "1"}]}])
def test_an_answer_without_words_is_a_result_with_a_reason(name, turn):
    turns = [*USER, {"role": "assistant"} | turn]
    assert run(INTRINSICS[name](turns, DOCUMENTS)).model_dump(mode="json") == NOTHING_SAID[name] | {
        "reason": "nothing said",
        "schema_version": 1,
    }


def test_the_tables_above_know_every_intrinsic():
    assert set(NOTHING_RETRIEVED) == {name for name, record in TABLE.items() if record.needs_documents}
    assert set(NOTHING_SAID) == {name for name, record in TABLE.items() if record.judges_answers}
