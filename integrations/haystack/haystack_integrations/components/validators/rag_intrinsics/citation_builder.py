"""Citation builder."""

from collections.abc import Sequence
from typing import Any, ClassVar

from haystack import component
from haystack.dataclasses import ChatMessage
from haystack_integrations.common.rag_intrinsics.base import ReplyIntrinsic
from haystack_integrations.common.rag_intrinsics.pipeline_input import (
    PipelineInput,
    is_structured,
    known_verdict,
    text_of,
)
from haystack_integrations.components.validators.rag_intrinsics.markers import marked, with_text

from intrinsics_core import InvalidInput, Profile
from intrinsics_core.chains.notes import unfaithful_places
from intrinsics_core.protocol.results import Citations
from intrinsics_core.render.citations import MODES, STYLES, Mode, Style, view, write


@component
class RagIntrinsicsCitationBuilder(ReplyIntrinsic):
    """
    Says which document spans each sentence of an answer rests on.

    Replies come out as copies with `meta["rag_intrinsics"]["citations"]`: response offsets, document ids and offsets,
    cited text. Response offsets are those of the answer as it came in; the text itself gets `[n]` markers, so that
    Haystack's `AnswerBuilder(reference_pattern=r"\\[(\\d+)\\]")`, given the same documents, finds the references.

    Usage example:

    ```python
    from haystack import Document
    from haystack_integrations.components.validators.rag_intrinsics import RagIntrinsicsCitationBuilder

    documents = [
        Document(id="cranes", content="The harbour has two cranes."),
        Document(id="mill", content="Ada Brink built the tide mill in 1911."),
    ]
    builder = RagIntrinsicsCitationBuilder()
    result = builder.run(
        query="Who built the tide mill?",
        replies=["Ada Brink built the tide mill in 1911."],
        documents=documents,
    )
    print(result["replies"][0].text)
    # Ada Brink built the tide mill in 1911 [2].
    ```
    """

    intrinsic: ClassVar[str] = "citations"

    def __init__(
        self,
        runtime: Any = None,
        *,
        markers: bool = True,
        citations: Mode | None = None,
        style: Style = "text",
        meta_fields_to_embed: Sequence[str] | None = None,
        profile: Profile | str | None = None,
        on_error: str = "fallback",
        date: str | None = None,
    ) -> None:
        """
        Create a citation builder. Nothing is loaded before `warm_up` or the first run.

        :param runtime: Where the work is done: a config such as `{"kind": "server", "base_url": ..., "api_key":
            Secret}`, a chat generator, or a runtime of the core; None for the embedded encoder (offline, CPU).
        :param markers: Whether to put `[n]` into the text; n counts the documents from 1, in the order they came in.
            A sentence that a groundedness checker before found unfaithful to these documents gets none.
        :param citations: Write them in one of four modes instead of `[n]`: `"postfix"` (after the text, what it rests
            on), `"inline"` (in the text, which claim rests on what), each also with the cited words
            (`"postfix-snippet"`, `"inline-snippet"`); `intrinsics_core.render.citations.parse` reads them back.
        :param style: How these are written: as `"text"`, as `"markdown"` with footnotes, or as `"json"`.
        :param meta_fields_to_embed: Fields of the documents' `meta` that the answering model is shown beside the text:
            the judge is shown them too, after the title.
        :param profile: A profile or its name; the runtime's own where left out.
        :param on_error: `"fallback"`: where the judgement failed the reply passes with no citations, and its
            result says that it is degraded and why; or `"raise"`.
        :param date: Date text for prompts that carry one; the day of the call where left out.
        """
        self._keep(runtime, profile, on_error, date, meta_fields_to_embed)
        self.markers, self.citations, self.style = markers, citations, style
        for name, value, known in (("citations", citations, (None, *MODES)), ("style", style, STYLES)):
            if value not in known:
                expected = f"one of {', '.join(map(str, known))}"
                raise InvalidInput(f"{name} is unknown", intrinsic=self.intrinsic, expected=expected, got=repr(value))

    def _shown(self, reply: ChatMessage, dump: dict[str, Any], given: PipelineInput, result: Citations) -> ChatMessage:
        wrong = unfaithful_places(known_verdict(reply, "hallucination-detection", given))
        if self.citations is None:
            return marked(reply, dump["citations"], wrong) if self.markers else reply
        if not text_of(reply).strip() or is_structured(reply):
            return reply
        kept = tuple(c for c in result.citations if (c.response_begin, c.response_end) not in wrong)
        shown = view(Citations(citations=kept), text_of(reply), given.passages, self.citations)
        return with_text(reply, write(shown, self.style))
