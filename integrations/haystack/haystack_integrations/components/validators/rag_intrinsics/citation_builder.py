"""Citation builder."""

from dataclasses import replace
from typing import Any, ClassVar

from haystack import Document, component
from haystack.dataclasses import ChatMessage, TextContent
from haystack_integrations.common.rag_intrinsics.base import ReplyIntrinsic
from haystack_integrations.common.rag_intrinsics.given import text_of

from intrinsics_core import Profile
from intrinsics_core.results import Citations


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
        profile: Profile | str | None = None,
        on_error: str = "raise",
        date: str | None = None,
    ) -> None:
        """
        Create a citation builder. Nothing is loaded before `warm_up` or the first run.

        :param runtime: Where the work is done: a config such as `{"kind": "server", "base_url": ..., "api_key":
            Secret}`, a chat generator, or a runtime of the core; None for the embedded encoder (offline, CPU).
        :param markers: Whether to put `[n]` into the text; n counts the documents from 1, in the order they came in.
        :param profile: A profile or its name; the runtime's own where left out.
        :param on_error: There is no fallback: a failure is always raised.
        :param date: Date text for prompts that carry one; the day of the call where left out.
        """
        self._keep(runtime, profile, on_error, date)
        self.markers = markers

    @component.output_types(replies=list[ChatMessage], results=list[dict[str, Any]])
    def run(
        self,
        query: str,
        replies: list[str] | list[ChatMessage],
        documents: list[Document],
        history: list[ChatMessage] | None = None,
    ) -> dict[str, Any]:
        """
        Cite.

        :param query: The question.
        :param replies: Answers to it, as generators return them.
        :param documents: What the answer should rest on; one or more.
        :param history: Turns before the question, where it needs them to be understood.
        :returns: `replies`: copies, with markers and the citations in `meta`; `results`: the citations of each.
        :raises IntrinsicsError: Bad input is an InvalidInput that names it; see `intrinsics_core.errors`.
        """
        given = self._replies(replies)
        results = self._results(self._calls(query, given, documents, history))
        return self._marked(self._told(given, results), results, documents)

    @component.output_types(replies=list[ChatMessage], results=list[dict[str, Any]])
    async def run_async(
        self,
        query: str,
        replies: list[str] | list[ChatMessage],
        documents: list[Document],
        history: list[ChatMessage] | None = None,
    ) -> dict[str, Any]:
        """
        Cite without blocking the event loop.

        :param query: The question.
        :param replies: Answers to it, as generators return them.
        :param documents: What the answer should rest on; one or more.
        :param history: Turns before the question, where it needs them to be understood.
        :returns: `replies`: copies, with markers and the citations in `meta`; `results`: the citations of each.
        :raises IntrinsicsError: Bad input is an InvalidInput that names it; see `intrinsics_core.errors`.
        """
        given = self._replies(replies)
        results = await self._aresults(self._calls(query, given, documents, history))
        return self._marked(self._told(given, results), results, documents)

    def _marked(self, told: dict[str, Any], results: list[Citations], documents: list[Document]) -> dict[str, Any]:
        if not self.markers:
            return told
        numbers: dict[str, int] = {}
        for number, document in enumerate(documents, start=1):
            numbers.setdefault(document.id, number)
        marked = [_with_markers(r, result, numbers) for r, result in zip(told["replies"], results, strict=True)]
        return {**told, "replies": marked}


def _with_markers(reply: ChatMessage, result: Citations, numbers: dict[str, int]) -> ChatMessage:
    text = text_of(reply)
    places: dict[int, set[int]] = {}
    for row in result.citations:
        # A marker belongs to its sentence: it stands before the full stop, as in AnswerBuilder's own examples.
        end = row.response_begin + len(row.response_text.rstrip().rstrip(_STOPS).rstrip())
        places.setdefault(end, set()).add(numbers[row.document_id])
    for place in sorted(places, reverse=True):
        text = f"{text[:place]} {''.join(f'[{n}]' for n in sorted(places[place]))}{text[place:]}"
    others = [part for part in reply._content if not isinstance(part, TextContent)]
    return replace(reply, _content=[*others, TextContent(text)] if places else reply._content)


_STOPS = ".!?…。！？"
