"""Answerability router."""

from collections.abc import Sequence
from typing import Any, ClassVar

from haystack import Document, component
from haystack_integrations.common.rag_intrinsics.base import History, Intrinsic
from haystack_integrations.common.rag_intrinsics.pipeline_input import PipelineInput

from intrinsics_core import Profile
from intrinsics_core.protocol.results import Answerability


@component
class RagIntrinsicsAnswerabilityRouter(Intrinsic):
    """
    Sends a question one of two ways: on with its documents where they answer it, else elsewhere.

    One of two sockets gets a value: `answerable` the documents (for a prompt builder), or `unanswerable` the question
    (for a web search, a canned answer, …). `result` always says why.

    Usage example:

    ```python
    from haystack import Document
    from haystack_integrations.components.routers.rag_intrinsics import RagIntrinsicsAnswerabilityRouter

    documents = [Document(id="mill", content="Ada Brink built the tide mill in 1911.")]
    router = RagIntrinsicsAnswerabilityRouter()
    result = router.run(query="Who built the tide mill?", documents=documents)
    print(result["result"]["label"], [document.id for document in result["answerable"]])
    # answerable ['mill']
    ```
    """

    intrinsic: ClassVar[str] = "answerability"

    def __init__(self, runtime: Any = None, *, block_unsure: bool = True,
                 meta_fields_to_embed: Sequence[str] | None = None, profile: Profile | str | None = None,
                 on_error: str = "raise", date: str | None = None) -> None:  # fmt: skip
        """
        Create a router. Nothing is loaded before `warm_up` or the first run.

        :param runtime: A config (`{"kind": "server", "base_url": ...}`), a chat generator or a runtime; None: embedded.
        :param block_unsure: Where a question that is *unanswerable* goes if the judge is `unsure` of that, its
            probability being close to the threshold: True sends it to `unanswerable`, False to `answerable`.
        :param meta_fields_to_embed: Fields of `meta` that the answering model is shown: the judge is shown them, too.
        :param profile: A profile or its name; the runtime's own where left out.
        :param on_error: `"raise"`, or `"open"` or `"closed"`: let the question pass, or stop it, with a `result` that
            says that it is degraded.
        :param date: Date text for prompts that carry one; the day of the call where left out.
        """
        Intrinsic.__init__(self, runtime, meta_fields_to_embed=meta_fields_to_embed, profile=profile,
                           on_error=on_error, date=date)  # fmt: skip
        self.block_unsure = block_unsure

    @component.output_types(answerable=list[Document], unanswerable=str, result=dict[str, Any])
    def run(self, query: str, documents: list[Document], history: History = None) -> dict[str, Any]:
        """
        Route a question.

        :param query: The question.
        :param documents: What was retrieved for it.
        :param history: Turns before the question, where it needs them to be understood.
        :returns: `answerable`: the documents, or `unanswerable`: the question; and `result`: label and probability.
        :raises IntrinsicsError: Bad input is an InvalidInput that names it; see `intrinsics_core.protocol.errors`.
        """
        given = self._read(query, documents, history)
        return self._outputs(query, given, self._result(self._call(given)))

    @component.output_types(answerable=list[Document], unanswerable=str, result=dict[str, Any])
    async def run_async(self, query: str, documents: list[Document], history: History = None) -> dict[str, Any]:
        """Like `run`, without blocking the event loop."""
        given = self._read(query, documents, history)
        return self._outputs(query, given, await self._aresult(self._call(given)))

    def _outputs(self, query: str, given: PipelineInput, result: Answerability) -> dict[str, Any]:
        passes = result.passes(block_unsure=self.block_unsure)
        way: dict[str, Any] = {"answerable": list(given.documents)} if passes else {"unanswerable": query}
        return {**way, "result": result.model_dump(mode="json")}
