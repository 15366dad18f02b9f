"""Citation builder."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from haystack import Document, component
from haystack.dataclasses import ChatMessage, TextContent
from haystack_integrations.common.rag_intrinsics.base import ReplyIntrinsic
from haystack_integrations.common.rag_intrinsics.given import KEY, text_of

from intrinsics_core import Profile


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
        :param meta_fields_to_embed: Fields of the documents' `meta` that the answering model is shown beside the text:
            the judge is shown them too, after the title.
        :param profile: A profile or its name; the runtime's own where left out.
        :param on_error: `"fallback"`: where the judgement failed the reply passes with no citations, and its
            result says that it is degraded and why; or `"raise"`.
        :param date: Date text for prompts that carry one; the day of the call where left out.
        """
        self._keep(runtime, profile, on_error, date, meta_fields_to_embed)
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
        :param documents: What the answer should rest on; without any, nothing is judged.
        :param history: Turns before the question, where it needs them to be understood.
        :returns: `replies`: copies, with markers and the citations in `meta`; `results`: the citations of each.
        :raises IntrinsicsError: Bad input is an InvalidInput that names it; see `intrinsics_core.errors`.
        """
        given = self._replies(replies)
        givens = self._givens(query, given, documents, history)
        results = self._results(self._calls(givens))
        return self._marked(self._told(given, givens, results))

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
        :param documents: What the answer should rest on; without any, nothing is judged.
        :param history: Turns before the question, where it needs them to be understood.
        :returns: `replies`: copies, with markers and the citations in `meta`; `results`: the citations of each.
        :raises IntrinsicsError: Bad input is an InvalidInput that names it; see `intrinsics_core.errors`.
        """
        given = self._replies(replies)
        givens = self._givens(query, given, documents, history)
        results = await self._aresults(self._calls(givens))
        return self._marked(self._told(given, givens, results))

    def _marked(self, told: dict[str, Any]) -> dict[str, Any]:
        if not self.markers:
            return told
        marked = [_with_markers(r, result) for r, result in zip(told["replies"], told["results"], strict=True)]
        return {**told, "replies": marked}


def _with_markers(reply: ChatMessage, result: dict[str, Any]) -> ChatMessage:
    text, wrong = text_of(reply), _judged_wrong(reply)
    places: dict[int, set[int]] = {}
    for row in result["citations"]:
        begin, end = row["response_begin"], row["response_end"]
        if (begin, end) in wrong:
            continue
        number = row["document_index"] + 1
        if f"[{number}]" not in text[begin : end + _LOOK]:  # the model may have cited it already
            places.setdefault(begin + len(_claim(text[begin:end])), set()).add(number)
    for place in sorted(places, reverse=True):
        text = f"{text[:place]} {''.join(f'[{n}]' for n in sorted(places[place]))}{text[place:]}"
    others = [part for part in reply._content if not isinstance(part, TextContent)]
    return replace(reply, _content=[*others, TextContent(text)] if places else reply._content)


def _claim(sentence: str) -> str:
    """A sentence without what ends it: a marker stands before the full stop, and inside the last cell of a table."""
    before = sentence.rstrip()
    if before.endswith("|"):
        return before[:-1].rstrip()
    return before.rstrip(_STOPS).rstrip()


def _judged_wrong(reply: ChatMessage) -> set[tuple[int, int]]:
    """The sentences that a groundedness checker before us found unsupported: a reference would say otherwise."""
    verdicts = reply.meta.get(KEY)
    found = verdicts.get("hallucination_detection") if isinstance(verdicts, dict) else None
    rows = found.get("sentences") or () if isinstance(found, dict) else ()
    return {(row["begin"], row["end"]) for row in rows if row["label"] == "unfaithful"}


_STOPS = ".!?…。！？"
_LOOK = 6  # characters after a sentence where a reference to its source may stand: ". [12]"
