"""A response's text with its citations written into it."""

from __future__ import annotations

from typing import Any, get_args

from llama_index.core.schema import MetadataMode
from llama_index.rag_intrinsics._inputs import passages
from llama_index.rag_intrinsics._responses import answer_of, calls_of, noted_on, sources_of

from intrinsics_core import InvalidInput
from intrinsics_core.chains.notes import verdict_in, verdicts_in
from intrinsics_core.protocol.names import named
from intrinsics_core.protocol.results import Audit, Citations
from intrinsics_core.render.citations import Mode, Style, view, write


def cited(response: Any, mode: Mode = "postfix", style: Style = "text") -> str:
    """The text of a response that was checked, with its citations in one of the four modes.

    What the gate refused cites nothing: its text is the refusal's own.

    Args:
        response: what an `AnswerCheck` or an `AnswerabilityGate` gave, an agent's output too.
        mode: ``"postfix"``, ``"postfix-snippet"``, ``"inline"`` or ``"inline-snippet"``.
        style: ``"text"``, ``"markdown"`` (footnotes) or ``"json"`` (the paper's); read back by
            :func:`intrinsics_core.render.citations.parse`.

    Raises:
        InvalidInput: the response was not checked for citations, citing it failed, or the mode is unknown.

    Example:
        >>> from llama_index.core.base.response.schema import Response
        >>> from llama_index.core.schema import NodeWithScore, TextNode
        >>> from llama_index.response_synthesizers.rag_intrinsics import AnswerCheck, cited
        >>> node = NodeWithScore(node=TextNode(id_="mill", text="Ada Brink built the tide mill in 1911."))
        >>> response = Response("Ada Brink built the tide mill in 1911.", source_nodes=[node])
        >>> print(cited(AnswerCheck("citations").check("Who built the tide mill?", response), "inline"))
        Ada Brink built the tide mill in 1911.[1]
        <BLANKLINE>
        Citations:
        [1] mill
    """
    named("mode", mode, get_args(Mode))
    named("style", style, get_args(Style))
    verdicts = verdicts_in(noted_on(response))
    verdict = verdicts.get("citations", verdicts.get("audit", {}))
    if set(verdict) == {"degraded"}:  # not even a fallback could be made
        raise InvalidInput("the response has no citations: citing failed", got=verdict["degraded"])
    if "citations" in verdicts:
        found = Citations.model_validate(verdicts["citations"])
    elif "audit" in verdicts:
        rows = [row for sentence in Audit.model_validate(verdicts["audit"]).sentences for row in sentence.citations]
        found = Citations(citations=tuple(rows))
    elif verdict_in(noted_on(response), "answerability").get("label") == "unanswerable" and len(verdicts) == 1:
        if style != "json":
            return answer_of(response)
        found = Citations(citations=())
    else:
        raise InvalidInput("the response has no citations", expected='AnswerCheck("citations").check(query, response)')
    every = {call.name for call in calls_of(response)}  # whichever were named when it was checked
    documents = passages(sources_of(response, every), MetadataMode.NONE)
    return write(view(found, answer_of(response), documents, mode), style)
