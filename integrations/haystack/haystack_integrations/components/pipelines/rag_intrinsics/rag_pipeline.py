"""A RAG pipeline with intrinsics in their places."""

from typing import Any

from haystack import Pipeline, default_from_dict, default_to_dict, super_component
from haystack.components.builders import AnswerBuilder, ChatPromptBuilder
from haystack.components.joiners import BranchJoiner
from haystack.dataclasses import ChatMessage
from haystack_integrations.common.rag_intrinsics.engine import Engine
from haystack_integrations.components.query.rag_intrinsics import RagIntrinsicsQueryRewriter
from haystack_integrations.components.rankers.rag_intrinsics import RagIntrinsicsRanker
from haystack_integrations.components.routers.rag_intrinsics import RagIntrinsicsAnswerabilityRouter
from haystack_integrations.components.validators.rag_intrinsics import (
    RagIntrinsicsCitationBuilder,
    RagIntrinsicsGroundednessChecker,
)

from intrinsics_core.flows import CANNED

PROMPT = """\
Answer in one or two sentences, from these documents alone.

{% for document in documents %}
{% if document.meta.title %}{{ document.meta.title }}: {% endif %}{{ document.content }}

{% endfor %}
Question: {{ query }}"""


@super_component
class RagIntrinsicsPipeline:
    """
    A RAG pipeline around your retriever and your chat generator, as one component.

    The question is rewritten to stand alone, documents are retrieved and ranked, and a question that they do not answer
    gets the canned answer. Other answers are checked sentence by sentence, cited, and built with references.

    Usage example:

    ```python
    from haystack import Document
    from haystack.components.generators.chat import MockChatGenerator
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
    from haystack.document_stores.in_memory import InMemoryDocumentStore
    from haystack_integrations.components.pipelines.rag_intrinsics import RagIntrinsicsPipeline

    store = InMemoryDocumentStore()
    store.write_documents([Document(content="Ada Brink built the tide mill in 1911.")])
    generator = MockChatGenerator("Ada Brink built the tide mill in 1911.")  # your own generator here
    rag = RagIntrinsicsPipeline(InMemoryBM25Retriever(store), generator)
    result = rag.run(query="Who built the tide mill?")
    print(result["answers"][0].data)
    # Ada Brink built the tide mill in 1911 [1].
    ```
    """

    def __init__(
        self,
        retriever: Any,
        chat_generator: Any,
        runtime: Any = None,
        *,
        top_k: int = 5,
        canned: str = CANNED,
        prompt: str = PROMPT,
    ) -> None:
        """
        Create the pipeline. Nothing is loaded before `warm_up` or the first run.

        :param retriever: Any component from `query` to `documents`.
        :param chat_generator: Writes the answers.
        :param runtime: Where the intrinsics' work is done, as for every component; they share it.
        :param top_k: Documents that an answer may rest on.
        :param canned: The answer where the documents do not answer.
        :param prompt: The template of the user's turn, with `documents` and `query`.
        """
        self.retriever, self.chat_generator = retriever, chat_generator
        self.top_k, self.canned, self.prompt = top_k, canned, prompt
        self._engine = Engine.of(runtime)
        # Text without variables: a canned answer is no template, and this turn is not rendered.
        refusal = ChatPromptBuilder(
            [ChatMessage.from_assistant(canned)], variables=["query"], required_variables=["query"]
        )
        parts: dict[str, Any] = {
            "rewriter": RagIntrinsicsQueryRewriter(self._engine),
            "retriever": retriever,
            "ranker": RagIntrinsicsRanker(self._engine, top_k=top_k),
            "router": RagIntrinsicsAnswerabilityRouter(self._engine),
            "prompt": ChatPromptBuilder([ChatMessage.from_user(prompt)], required_variables=["documents", "query"]),
            "generator": chat_generator,
            "checker": RagIntrinsicsGroundednessChecker(self._engine),
            "citations": RagIntrinsicsCitationBuilder(self._engine),
            "refusal": refusal,
            "replies": BranchJoiner(list[ChatMessage]),
            "answers": AnswerBuilder(reference_pattern=r"\[(\d+)\]"),
        }
        self.pipeline = _Telling()
        for name, part in parts.items():
            self.pipeline.add_component(name, part)
        for sender, receiver in _WIRES:
            self.pipeline.connect(sender, receiver)
        self.input_mapping = {"query": ["rewriter.query"], "history": ["rewriter.history"]}
        self.output_mapping = dict(_OUTPUTS)

    @property
    def runtime(self) -> Any:
        """The runtime as it was given, a key in it as a `Secret`."""
        return self._engine.spec

    def to_dict(self) -> dict[str, Any]:
        """
        Serialize to a dictionary. A key is saved as the name of an environment variable, never as itself.

        :returns: Dictionary with serialized data.
        :raises SerializationError: If the runtime is an object that has no config.
        """
        return default_to_dict(
            self,
            retriever=self.retriever,
            chat_generator=self.chat_generator,
            runtime=self._engine.to_dict(),
            top_k=self.top_k,
            canned=self.canned,
            prompt=self.prompt,
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "RagIntrinsicsPipeline":
        """
        Deserialize from a dictionary.

        :param data: Dictionary to deserialize from.
        :returns: The pipeline.
        """
        return default_from_dict(cls, data)


class _Telling(Pipeline):
    """Gives the outputs that are used inside too: Haystack 3.0's super components forget to ask when awaited."""

    async def run_async(
        self, data: dict[str, Any], include_outputs_from: set[str] | None = None, concurrency_limit: int = 4
    ) -> dict[str, Any]:
        return await super().run_async(data, include_outputs_from or _TOLD, concurrency_limit)


_OUTPUTS = {
    "answers.answers": "answers",
    "replies.value": "replies",
    "rewriter.query": "query",
    "ranker.documents": "documents",
    "router.result": "answerability",
}
_TOLD = {path.partition(".")[0] for path in _OUTPUTS}
_WIRES = [
    ("rewriter.retrieval_query", "retriever.query"),
    ("rewriter.query", "ranker.query"),
    ("retriever.documents", "ranker.documents"),
    ("rewriter.query", "router.query"),
    ("ranker.documents", "router.documents"),
    ("rewriter.query", "prompt.query"),
    ("router.answerable", "prompt.documents"),
    ("prompt.prompt", "generator.messages"),
    ("rewriter.query", "checker.query"),
    ("generator.replies", "checker.replies"),
    ("router.answerable", "checker.documents"),
    ("rewriter.query", "citations.query"),
    ("checker.replies", "citations.replies"),
    ("router.answerable", "citations.documents"),
    ("router.unanswerable", "refusal.query"),
    ("citations.replies", "replies.value"),
    ("refusal.prompt", "replies.value"),
    ("rewriter.query", "answers.query"),
    ("replies.value", "answers.replies"),
    ("ranker.documents", "answers.documents"),
]
