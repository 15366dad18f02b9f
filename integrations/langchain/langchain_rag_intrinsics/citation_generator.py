"""Citation generator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.messages.content import Citation

from intrinsics_core.chains.notes import unfaithful_places
from intrinsics_core.protocol.results import Citations
from intrinsics_core.render.citations import Mode, Style, view, write
from langchain_rag_intrinsics._answering import AnswerIntrinsic, Content
from langchain_rag_intrinsics._documents import citation_title, url
from langchain_rag_intrinsics._inputs import ChainInput
from langchain_rag_intrinsics._verdicts import known_verdict, verdict
from langchain_rag_intrinsics.hallucination_detector import HallucinationDetector


class CitationGenerator(AnswerIntrinsic):
    """Which document spans each sentence of an answer rests on, as LangChain's own citations.

    Takes ``{"question" | "messages", "documents", "answer"}``; returns a copy of the answer with a ``Citation`` for
    each cited span among the ``annotations`` of the text block: ``start_index`` and ``end_index`` in that block's text,
    ``cited_text``, ``title`` (else the source and its page) and ``url`` from the document's metadata, and in ``extras``
    the document's id and the offsets of the cited text in it. ``response_metadata["rag_intrinsics"]["citations"]``
    holds the same as the command line writes it. With ``return_result=True`` it returns the core's Citations.

    A sentence that a detector before it judged unfaithful to these documents is not cited: nothing supports it.

    Args:
        citations: write the citations into the answer's text instead, in one of the modes of
            :mod:`intrinsics_core.render.citations`: ``"postfix"``, ``"postfix-snippet"``, ``"inline"``,
            ``"inline-snippet"``. A stream then waits for the whole answer.
        style: how they are written: ``"text"``, ``"markdown"`` (footnotes), or ``"json"``, the paper's.

    A streaming answer streams on, each chunk's text in a content block, and its last chunk brings the annotations: add
    the chunks up, and they are on the answer's text block.

    Example:
        >>> from langchain_core.documents import Document
        >>> from langchain_rag_intrinsics import CitationGenerator
        >>> answer = CitationGenerator().invoke({
        ...     "question": "Who built the tide mill?",
        ...     "documents": [Document("Ada Brink built the tide mill in 1911.", id="mill")],
        ...     "answer": "Ada Brink built the tide mill in 1911.",
        ... })
        >>> [citation] = answer.content_blocks[0]["annotations"]
        >>> citation["cited_text"], citation["extras"]["document_id"]
        ('Ada Brink built the tide mill in 1911.', 'mill')
    """

    intrinsic: ClassVar[str] = "citations"

    citations: Mode | None = None
    style: Style = "text"

    def _mended(self, given: ChainInput, result: Citations) -> Citations:
        name = HallucinationDetector.intrinsic
        wrong = unfaithful_places(known_verdict(name, given.answer, given.passages)) if given.answer else ()
        kept = [c for c in result.citations if not any(c.response_begin < e and b < c.response_end for b, e in wrong)]
        return result if len(kept) == len(result.citations) else result.model_copy(update={"citations": tuple(kept)})

    def _found(self, result: Any) -> Citations:
        """The citations of a result."""
        found: Citations = result
        return found

    def _metadata(self, answer: AIMessage, given: ChainInput, result: Any) -> dict[str, Any]:
        found = self._found(result).citations
        made_standard = isinstance(answer.content, str) and found and not answer.tool_calls and not self.citations
        # Says that the content is LangChain's standard blocks: providers then take the answer back as history.
        return verdict(self.intrinsic, result) | ({"output_version": "v1"} if made_standard else {})

    def _marked(self, answer: AIMessage, given: ChainInput, result: Citations) -> Content:
        result = self._found(result)
        if self.citations is not None:
            written = write(view(result, str(answer.text), given.passages, self.citations), self.style)
            others = [b for b in answer.content if isinstance(b, dict) and b.get("type") != "text"]
            return [*others, {"type": "text", "text": written}] if others else written
        if not result.citations:
            return answer.content
        marked: list[str | dict[Any, Any]] = []
        for block, begin in _with_offsets(answer.content):
            found = [] if begin is None else _new(block, _annotations(begin, _text(block), given, result))
            if found:
                block = {"type": "text", "text": block} if isinstance(block, str) else block
                block = {**block, "annotations": [*(block.get("annotations") or ()), *found]}
            marked.append(block)
        return marked

    @property
    def _holds_back(self) -> bool:
        return self.citations is not None

    def _passed(self, chunk: AIMessageChunk) -> AIMessageChunk:
        if not isinstance(chunk.content, str):
            return chunk
        blocks = [{"type": "text", "text": chunk.content, "index": 0}] if chunk.content else []
        return chunk.model_copy(update={"content": blocks})

    def _added(self, passed: AIMessageChunk, given: ChainInput, result: Citations) -> Content:
        result = self._found(result)
        added: list[str | dict[Any, Any]] = []
        for block, begin in _with_offsets(passed.content):
            if begin is not None and (found := _new(block, _annotations(begin, _text(block), given, result))):
                place = {"index": block["index"]} if isinstance(block, dict) and "index" in block else {}
                added.append({"type": "text", "text": "", "annotations": found, **place})
        return added


def _with_offsets(content: Content) -> Iterator[tuple[str | dict[Any, Any], int | None]]:
    """Each content block with the place of its text in the answer's text; None for blocks that are no text."""
    at = 0
    for block in [content] if isinstance(content, str) else content:
        if isinstance(block, str) or (block.get("type") == "text" and isinstance(block.get("text"), str)):
            yield block, at
            at += len(_text(block))
        else:
            yield block, None


def _new(block: str | dict[Any, Any], found: list[Citation]) -> list[Citation]:
    """The citations that the block does not have yet: from the model itself, or from another of our components."""
    there = [] if isinstance(block, str) else block.get("annotations") or []
    return [citation for citation in found if not any(_same(citation, other) for other in there)]


def _same(one: Citation, other: Any) -> bool:
    return isinstance(other, Mapping) and all(
        other.get(name) == one.get(name) for name in ("type", "start_index", "end_index", "cited_text")
    )


def _text(block: str | dict[Any, Any]) -> str:
    return block if isinstance(block, str) else block["text"]


def _annotations(begin: int, text: str, given: ChainInput, result: Citations) -> list[Citation]:
    """The citations of a text block, a sentence that crosses its border cut there."""
    made = []
    for row in result.citations:
        start, end = max(row.response_begin - begin, 0), min(row.response_end - begin, len(text))
        if start < end:
            source = given.documents[row.document_index]
            citation = Citation(
                type="citation",
                start_index=start,
                end_index=end,
                cited_text=row.document_text,
                extras={
                    "document_id": row.document_id,
                    "document_index": row.document_index,
                    "document_begin": row.document_begin,
                    "document_end": row.document_end,
                },
            )
            if (name := citation_title(source)) is not None:
                citation["title"] = name
            if (address := url(source)) is not None:
                citation["url"] = address
            made.append(citation)
    return made
