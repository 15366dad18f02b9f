"""A RAG pipeline with intrinsics in their places."""

import json
from collections.abc import Sequence
from typing import Any

from haystack import Pipeline, SuperComponent, super_component
from haystack.components.builders import AnswerBuilder, ChatPromptBuilder
from haystack.components.joiners import BranchJoiner
from haystack.dataclasses import ChatMessage
from haystack_integrations.common.rag_intrinsics.base import Saved, listed
from haystack_integrations.common.rag_intrinsics.engine import Engine
from haystack_integrations.components.pipelines.rag_intrinsics.turns import CannedReply, ConversationTurns
from haystack_integrations.components.query.rag_intrinsics import RagIntrinsicsQueryRewriter
from haystack_integrations.components.rankers.rag_intrinsics import RagIntrinsicsRanker
from haystack_integrations.components.routers.rag_intrinsics import RagIntrinsicsAnswerabilityRouter
from haystack_integrations.components.validators.rag_intrinsics import (
    RagIntrinsicsCitationBuilder,
    RagIntrinsicsGroundednessChecker,
    RagIntrinsicsStreamAuditor,
    RagIntrinsicsStreamEnd,
)

from intrinsics_core import InvalidInput
from intrinsics_core.protocol.names import unknown
from intrinsics_core.protocol.query_form import QueryForm
from intrinsics_core.protocol.query_form import query_form as query_form_of
from intrinsics_core.running.flows import CANNED

PROMPT = """\
Answer in one or two sentences, from these documents alone.

{% for document in documents %}
{% if document.meta.title %}{{ document.meta.title }}: {% endif %}{{ document.content }}
{% for field in meta_fields_to_embed if document.meta.get(field) is not none %}{{ field }}: {{ document.meta[field] }}
{% endfor %}
{% endfor %}
Question: {{ query }}"""


@super_component
class RagIntrinsicsPipeline(Saved):
    """
    A RAG pipeline around your retriever and your chat generator, as one component.

    The question is rewritten to stand alone, documents are retrieved and ranked, and a question that they do not answer
    gets the canned answer. Other answers are checked sentence by sentence, cited, and built with references.

    `run` and `run_async` take `query` and, where wanted, `history`; `top_k`; `retriever_top_k` and `filters`, where the
    retriever takes them; `streaming_callback` and `generation_kwargs`, where the generator does; `system_prompt`;
    and the prompt's own variables by name. What is none of these is refused. The chunks of a stream are the
    generator's, or the canned answer; verdicts and references come with the result.

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
        system_prompt: str | None = None,
        meta_fields_to_embed: Sequence[str] | None = None,
        stream_verdicts: bool = False,
        hold: bool = False,
        on_error: str = "raise",
        query_form: QueryForm = "auto",
        block_unsure: bool = True,
    ) -> None:
        """
        Create the pipeline. Nothing is loaded before `warm_up` or the first run.

        :param retriever: Any component from `query` to `documents`.
        :param chat_generator: Writes the answers. It is shown the history too.
        :param runtime: Where the intrinsics' work is done, as for every component; they share it.
        :param top_k: Documents that an answer may rest on.
        :param canned: The answer where the documents do not answer.
        :param prompt: The template of the user's turn, with `documents` and `query`, and `meta_fields_to_embed` where
            it wants them; other variables in it are taken by `run`, by their names.
        :param system_prompt: What the generator is told first.
        :param meta_fields_to_embed: Fields of the documents' `meta` that are shown beside the text: to the generator,
            by the default prompt, and to the judges.
        :param stream_verdicts: Whether a stream tells verdicts too, as `RagIntrinsicsStreamAuditor` does: after each
            sentence, and at the end the audit of the answer.
        :param hold: With `stream_verdicts`, whether a sentence is kept back until it is judged.
        :param on_error: What a failing rewriter, ranker or router does: `"raise"`, or `"fallback"`: the question as it
            was, the original order, the gate open. Judges of an answer never cost it: their verdicts then say that they
            are degraded.
        :param query_form: Which form of the rewritten question the retriever is asked with: `"question"`, or
            `"keywords"` (with keywords of the conversation). `"auto"` asks embedding retrievers with the
            question, where it stands alone, and all others with keywords.
        :param block_unsure: What is done with a question that the documents do not answer where the judge is `unsure`
            of that, its probability being close to the threshold. True gives the canned answer; False has the generator
            asked.
        :raises InvalidInput: If `canned` is no text, `hold` has no `stream_verdicts`, or a variable of `prompt` has the
            name of another input.
        """
        if not isinstance(canned, str):
            raise InvalidInput("canned is not text", expected="a string", got=type(canned).__name__)
        if hold and not stream_verdicts:
            raise InvalidInput("hold=True requires stream_verdicts=True")
        self.retriever, self.chat_generator = retriever, chat_generator
        self.top_k, self.canned, self.prompt, self.system_prompt = top_k, canned, prompt, system_prompt
        self.meta_fields_to_embed, self.on_error = listed("meta_fields_to_embed", meta_fields_to_embed or ()), on_error
        self.stream_verdicts, self.hold, self.query_form = stream_verdicts, hold, query_form
        self.block_unsure = block_unsure
        asked = _ASKED[query_form_of(retriever, query_form)]
        self._engine = Engine(runtime)
        asking: dict[str, Any] = {"runtime": self._engine, "on_error": on_error}
        shown: dict[str, Any] = {"meta_fields_to_embed": self.meta_fields_to_embed}
        fields = f"{{% set meta_fields_to_embed = {json.dumps(self.meta_fields_to_embed)} %}}"
        parts: dict[str, Any] = {
            "rewriter": RagIntrinsicsQueryRewriter(**asking),
            "retriever": retriever,
            "ranker": RagIntrinsicsRanker(**asking, **shown, top_k=top_k),
            "router": RagIntrinsicsAnswerabilityRouter(**asking, **shown, block_unsure=block_unsure),
            "prompt": ChatPromptBuilder([ChatMessage.from_user(fields + prompt)], required_variables=_REQUIRED),
            "turns": ConversationTurns(system_prompt),
            # Before the generator, which is then the last part that streams, as servers look for it.
            "refusal": CannedReply(canned),
            "generator": chat_generator,
            "checker": RagIntrinsicsGroundednessChecker(self._engine, **shown),
            "citations": RagIntrinsicsCitationBuilder(self._engine, **shown),
            "replies": BranchJoiner(list[ChatMessage]),
            "answers": AnswerBuilder(reference_pattern=_REFERENCE),
        }
        if stream_verdicts:
            parts["auditor"] = RagIntrinsicsStreamAuditor(self._engine, **shown, hold=hold)
            parts["end"] = RagIntrinsicsStreamEnd()
        self.pipeline = _Telling()
        for name, part in parts.items():
            self.pipeline.add_component(name, part)
        searching = (f"rewriter.{asked}", "retriever.query")
        for sender, receiver in [searching, *_WIRES, *(_VERDICTS if stream_verdicts else ())]:
            self.pipeline.connect(sender, receiver)
        self.input_mapping = _inputs(self.pipeline)
        self.output_mapping = dict(_OUTPUTS)

    def run(self, **kwargs: Any) -> dict[str, Any]:
        """
        Answer a question.

        :param kwargs: `query`, and what else the class says that it takes.
        :returns: `answers`, `replies`, `query` as it was rewritten, `documents` as they were ranked, `answerability`.
        :raises InvalidInput: If there is an argument that neither it nor its retriever, generator or prompt takes.
        :raises IntrinsicsError: See `intrinsics_core.protocol.errors`.
        """
        found: dict[str, Any] = SuperComponent.run(self, **self._given(kwargs))  # type: ignore[arg-type]
        return found

    async def run_async(self, **kwargs: Any) -> dict[str, Any]:
        """Like `run`, without blocking the event loop."""
        found: dict[str, Any] = await SuperComponent.run_async(self, **self._given(kwargs))  # type: ignore[arg-type]
        return found

    def _given(self, given: dict[str, Any]) -> dict[str, Any]:
        """What was given, less what is None, which Haystack's parts do not all take for "not given".

        A filter that got lost would answer from documents that this user must not see.
        """
        for name in given:
            if name not in self.input_mapping:
                raise unknown(f"{name} is an unknown argument", name, self.input_mapping)
        return {name: value for name, value in given.items() if value is not None}


class _Telling(Pipeline):
    """Gives the outputs that are used inside too: Haystack 3.0's super components forget to ask when awaited."""

    async def run_async(
        self, data: dict[str, Any], include_outputs_from: set[str] | None = None, concurrency_limit: int = 4
    ) -> dict[str, Any]:
        return await super().run_async(data, include_outputs_from or _TOLD, concurrency_limit)


def _inputs(pipeline: Pipeline) -> dict[str, list[str]]:
    """What `run` takes, and where it goes: all that the retriever, the generator and the prompt have places for."""
    places = pipeline.inputs()
    found = {
        name: [where for where in wheres if where.partition(".")[2] in places.get(where.partition(".")[0], {})]
        for name, wheres in _TAKEN.items()
    }
    if found["streaming_callback"] == ["refusal.streaming_callback"]:
        del found["streaming_callback"]  # the canned answer alone is no stream
    for variable in places.get("prompt", {}):
        if variable in _TEMPLATES:
            continue
        if variable in _TAKEN:
            raise InvalidInput(f"prompt has a variable {variable!r}, which is an argument of run already",
                               expected="another name")  # fmt: skip
        found[variable] = [f"prompt.{variable}"]
    return {name: wheres for name, wheres in found.items() if wheres}


_REFERENCE = r"\[(\d+)\](?!\()"  # "[2]", and no link of Markdown: "[2](https://...)"
_REQUIRED = ["documents", "query"]
_TEMPLATES = ("template", "template_variables")  # the builder's own
_TAKEN = {
    "query": ["rewriter.query"],
    "history": ["rewriter.history", "turns.history"],
    "top_k": ["ranker.top_k"],
    "filters": ["retriever.filters"],
    "retriever_top_k": ["retriever.top_k"],
    "system_prompt": ["turns.system_prompt"],
    "streaming_callback": [
        "auditor.streaming_callback",
        "generator.streaming_callback",
        "refusal.streaming_callback",
    ],
    "generation_kwargs": ["generator.generation_kwargs"],
}
_VERDICTS = [
    ("rewriter.standalone_query", "auditor.query"),
    ("router.answerable", "auditor.documents"),
    ("auditor.streaming_callback", "generator.streaming_callback"),
    ("auditor.streaming_callback", "end.streaming_callback"),
    ("generator.replies", "end.replies"),
]
_OUTPUTS = {
    "answers.answers": "answers",
    "replies.value": "replies",
    "rewriter.standalone_query": "query",
    "ranker.documents": "documents",
    "router.result": "answerability",
}
_TOLD = {path.partition(".")[0] for path in _OUTPUTS}
_ASKED = {"question": "standalone_query", "keywords": "retrieval_query", "embedding": "embedding_query"}
_WIRES = [
    ("rewriter.standalone_query", "ranker.query"),
    ("retriever.documents", "ranker.documents"),
    ("rewriter.standalone_query", "router.query"),
    ("ranker.documents", "router.documents"),
    ("rewriter.standalone_query", "prompt.query"),
    ("router.answerable", "prompt.documents"),
    ("prompt.prompt", "turns.prompt"),
    ("turns.messages", "generator.messages"),
    ("rewriter.standalone_query", "checker.query"),
    ("generator.replies", "checker.replies"),
    ("router.answerable", "checker.documents"),
    ("rewriter.standalone_query", "citations.query"),
    ("checker.replies", "citations.replies"),
    ("router.answerable", "citations.documents"),
    ("router.unanswerable", "refusal.query"),
    ("citations.replies", "replies.value"),
    ("refusal.replies", "replies.value"),
    ("rewriter.standalone_query", "answers.query"),
    ("replies.value", "answers.replies"),
    ("ranker.documents", "answers.documents"),
]
