"""Components as Haystack's own users handle them: copied, pickled, saved with a secret that need not be set."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from haystack import Document, Pipeline
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.core.errors import PipelineConnectError
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.utils import Secret
from haystack_integrations.components.embedders.rag_intrinsics import RagIntrinsicsTextEmbedder
from haystack_integrations.components.evaluators.rag_intrinsics import RagIntrinsicsEvaluator
from haystack_integrations.components.query.rag_intrinsics import RagIntrinsicsQueryRewriter
from haystack_integrations.components.rankers.rag_intrinsics import RagIntrinsicsRanker
from haystack_integrations.components.validators.rag_intrinsics import RagIntrinsicsAnswerCheck, RagIntrinsicsReviser

QUESTION, MILL = "Who built the tide mill?", "Ada Brink built the tide mill in 1911."
SEARCHED: dict[str, Any] = {"query": QUESTION, "documents": [Document(content=MILL)]}
COMPONENTS: list[tuple[Any, dict[str, Any]]] = [
    (RagIntrinsicsRanker(top_k=1), SEARCHED),
    (RagIntrinsicsAnswerCheck(), {**SEARCHED, "replies": [ChatMessage.from_assistant(MILL)]}),
    (RagIntrinsicsQueryRewriter({"kind": "embedded"}), {"query": QUESTION}),
    (RagIntrinsicsTextEmbedder(), {"text": QUESTION}),
    (
        RagIntrinsicsEvaluator("hallucination-detection"),
        {"questions": [QUESTION], "contexts": [[MILL]], "predicted_answers": [MILL]},
    ),
]


@pytest.mark.parametrize(("component", "given"), COMPONENTS, ids=lambda value: type(value).__name__)
def test_a_component_is_copied_and_pickled_after_use(component: Any, given: dict[str, Any]) -> None:
    expected = component.run(**given)
    for other in (copy.copy(component), copy.deepcopy(component), pickle.loads(pickle.dumps(component))):  # noqa: S301
        assert other.to_dict() == component.to_dict()
        assert other.run(**given) == expected


def test_a_secret_that_need_not_be_set_stays_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ARCHIVE_KEY", raising=False)
    server = {"kind": "server", "base_url": "http://127.0.0.1:9/v1", "model": "m"}
    ranker = RagIntrinsicsRanker({**server, "api_key": Secret.from_env_var("ARCHIVE_KEY", strict=False)})
    pipeline = Pipeline()
    pipeline.add_component("ranker", ranker)
    saved = pipeline.dumps()
    again = Pipeline.loads(saved).get_component("ranker")
    assert again.to_dict() == ranker.to_dict()
    key = ranker.to_dict()["init_parameters"]["runtime"]["api_key"]
    assert (key["env_vars"], key["strict"]) == (["ARCHIVE_KEY"], False)
    again.warm_up()  # no key is no error


def test_a_rewriter_tells_a_retriever_which_form_to_take() -> None:
    history = [ChatMessage.from_user("Tell me about the mill."), ChatMessage.from_assistant("It is at the harbour.")]
    alone = RagIntrinsicsQueryRewriter().run(query="How high is the tower of the old town hall?", history=history)
    assert alone["embedding_query"] == alone["standalone_query"]
    leaning = RagIntrinsicsQueryRewriter().run(query="And how, and why?", history=history)
    assert leaning["embedding_query"] == leaning["retrieval_query"] != leaning["standalone_query"]


def test_an_unnamed_wire_from_a_rewriter_is_not_guessed() -> None:
    pipeline = Pipeline()
    pipeline.add_component("rewriter", RagIntrinsicsQueryRewriter())
    pipeline.add_component("retriever", InMemoryBM25Retriever(InMemoryDocumentStore()))
    with pytest.raises(PipelineConnectError, match="retrieval_query"):
        pipeline.connect("rewriter", "retriever")
    pipeline.connect("rewriter.retrieval_query", "retriever")


STRUCTURED = '{"builder": "Ada Brink", "year_built": 1911, "why": "She sold forty purple umbrellas to sailors."}'


@pytest.mark.parametrize(
    "component", [RagIntrinsicsAnswerCheck(checks="citations"), RagIntrinsicsAnswerCheck(), RagIntrinsicsReviser()]
)
def test_a_structured_answer_is_read_by_its_fields_and_stays_as_it_was(component: Any) -> None:
    """What a generator with a `response_format` writes."""
    check = RagIntrinsicsAnswerCheck(checks="hallucination-detection")
    checked = check.run(**SEARCHED, replies=[STRUCTURED])
    sentences = checked["results"][0]["hallucination_detection"]["sentences"]
    assert sentences[0]["text"] == "builder: Ada Brink"
    assert (sentences[0]["label"], sentences[-1]["label"]) == ("faithful", "unfaithful")
    assert component.run(**SEARCHED, replies=checked["replies"])["replies"][0].text == STRUCTURED
    assert check.run(**SEARCHED, replies=["{not JSON"])["replies"][0].text == "{not JSON"


def test_a_call_of_a_tool_beside_the_text_stays() -> None:
    reply = ChatMessage.from_assistant(MILL, tool_calls=[ToolCall("search", {"q": "mill"})])
    [audited] = RagIntrinsicsAnswerCheck().run(**SEARCHED, replies=[reply])["replies"]
    assert audited.tool_calls == reply.tool_calls and audited.text == MILL.replace(".", " [1].")


@pytest.mark.parametrize("checks", ["citations", "audit"])
def test_no_reference_stands_in_code(checks: str) -> None:
    code = f"```python\nsaid = '{MILL}'\n```"
    said = f"This says it:\n\n{code}\n\nFog is common in May."
    [reply] = RagIntrinsicsAnswerCheck(checks=checks).run(**SEARCHED, replies=[said])["replies"]
    text = reply.text or ""
    assert code in text and "[1]" in text
