"""Citations as LangChain's own: annotations of the text blocks of a message."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from langchain_core.messages.content import Citation

from intrinsics_core.chains.notes import citation_title, citation_url
from intrinsics_core.protocol.results import Citations
from intrinsics_core.render.citations import Mode, Style, labelled, view, write
from langchain_rag_intrinsics._messages import ChainInput

Content = str | list[str | dict[Any, Any]]


def annotated(content: Content, given: ChainInput, cited: Citations) -> Content:
    """The content with the citations that its text blocks do not have yet."""
    if not cited.citations:
        return content
    marked: list[str | dict[Any, Any]] = []
    for block, found in _with_citations(content, given, cited):
        if found:
            block = {"type": "text", "text": block} if isinstance(block, str) else block
            block = {**block, "annotations": [*(block.get("annotations") or ()), *found]}
        marked.append(block)
    return marked


def added_annotations(passed: Content, given: ChainInput, cited: Citations) -> Content:
    """What adds the citations to text blocks that a stream has shown already."""
    added: list[str | dict[Any, Any]] = []
    for block, found in _with_citations(passed, given, cited):
        if found:
            place = {"index": block["index"]} if isinstance(block, dict) and "index" in block else {}
            added.append({"type": "text", "text": "", "annotations": found, **place})
    return added


def written(content: Content, text: str, given: ChainInput, cited: Citations, mode: Mode, style: Style) -> Content:
    """The content with the citations in its text."""
    shown = write(view(cited, text, given.passages, mode), style, label=labelled(given.passages))
    return with_text(content, shown)


def with_text(content: Content, text: str) -> Content:
    """The content with another text. Blocks that are no text (thoughts, images) stay in front of it."""
    others = [block for block in content if isinstance(block, dict) and block.get("type") != "text"]
    return [*others, {"type": "text", "text": text}] if others else text


def _with_citations(
    content: Content, given: ChainInput, cited: Citations
) -> Iterator[tuple[str | dict[Any, Any], list[Citation]]]:
    """Each content block with the citations that it does not have yet, from the model or from a component before."""
    begin = 0  # of the block's text in the answer's
    for block in [content] if isinstance(content, str) else content:
        text = block if isinstance(block, str) else block.get("text") if block.get("type") == "text" else None
        if not isinstance(text, str):
            yield block, []
            continue
        there = [] if isinstance(block, str) else block.get("annotations") or []
        found = _of_block(begin, text, given, cited)
        yield block, [citation for citation in found if not any(_same(citation, other) for other in there)]
        begin += len(text)


def _same(one: Citation, other: Any) -> bool:
    names = ("type", "start_index", "end_index", "cited_text")
    return isinstance(other, Mapping) and all(other.get(name) == one.get(name) for name in names)


def _of_block(begin: int, text: str, given: ChainInput, cited: Citations) -> list[Citation]:
    """The citations of a text block, a sentence that crosses its border cut there."""
    made = []
    for row in cited.citations:
        start, end = max(row.response_begin - begin, 0), min(row.response_end - begin, len(text))
        if start < end:
            metadata = given.documents[row.document_index].metadata
            names = ("document_id", "document_index", "document_begin", "document_end")
            citation = Citation(type="citation", start_index=start, end_index=end, cited_text=row.document_text,
                                extras={name: getattr(row, name) for name in names})  # fmt: skip
            if (name := citation_title(metadata)) is not None:
                citation["title"] = name
            if (address := citation_url(metadata)) is not None:
                citation["url"] = address
            made.append(citation)
    return made
