"""Components as Haystack's own users handle them: copied, pickled, saved with a secret that need not be set."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from haystack import Document, Pipeline
from haystack.dataclasses import ChatMessage
from haystack.utils import Secret
from haystack_integrations.components.embedders.rag_intrinsics import RagIntrinsicsTextEmbedder
from haystack_integrations.components.evaluators.rag_intrinsics import RagIntrinsicsFaithfulnessEvaluator
from haystack_integrations.components.query.rag_intrinsics import RagIntrinsicsQueryRewriter
from haystack_integrations.components.rankers.rag_intrinsics import RagIntrinsicsRanker
from haystack_integrations.components.validators.rag_intrinsics import RagIntrinsicsAuditor

QUESTION, MILL = "Who built the tide mill?", "Ada Brink built the tide mill in 1911."
SEARCHED = {"query": QUESTION, "documents": [Document(content=MILL)]}
COMPONENTS: list[tuple[Any, dict[str, Any]]] = [
    (RagIntrinsicsRanker(top_k=1), SEARCHED),
    (RagIntrinsicsAuditor(), {**SEARCHED, "replies": [ChatMessage.from_assistant(MILL)]}),
    (RagIntrinsicsQueryRewriter({"kind": "embedded"}), {"query": QUESTION}),
    (RagIntrinsicsTextEmbedder(), {"text": QUESTION}),
    (
        RagIntrinsicsFaithfulnessEvaluator(),
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
    assert alone["embedding_query"] == alone["query"]
    leaning = RagIntrinsicsQueryRewriter().run(query="And how, and why?", history=history)
    assert leaning["embedding_query"] == leaning["retrieval_query"] != leaning["query"]
