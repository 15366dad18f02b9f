"""REC's filters: a row is kept that is of a valid format and whose snippets stand verbatim where it says.

For rows that a model wrote, and for those that are made here. Training itself leaves out nothing: it refuses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from intrinsics_core.intrinsics import TABLE
from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.protocol.results import Citations, Evaluation, HallucinationDetection, Result
from intrinsics_core.protocol.task import Task
from intrinsics_core.replies import statements
from intrinsics_core.training.labelled import labelled

Snippet = tuple[str, str]  # what stands where the row points, and what it says stands there


def kept(intrinsic: str, rows: Sequence[Mapping[str, Any]]) -> tuple[list[dict[str, Any]], list[str]]:
    """(rows that may be trained on, why each of the others was left out)."""
    good, dropped = [], []
    for row in rows:
        try:
            (one,) = labelled([row], TABLE[intrinsic], "")
        except InvalidInput as error:
            dropped.append(f"{row.get('id')}: {str(error).splitlines()[-1]}")
            continue
        if wrong := next((said for stands, said in snippets(one.call.task, one.result) if stands != said), None):
            dropped.append(f"{row.get('id')}: {wrong[:80]!r} does not stand where the row says")
        else:
            good.append(dict(row))
    return good, dropped


def snippets(task: Task, result: Result) -> Iterator[Snippet]:
    """Every text of a result that is quoted from the conversation or the documents."""
    match result:
        case Citations():
            for one in result.citations:
                yield task.response[one.response_begin : one.response_end], one.response_text
                text = task.documents[one.document_index].text if one.document_index < len(task.documents) else ""
                yield text[one.document_begin : one.document_end], one.document_text
        case HallucinationDetection():
            for sentence in result.sentences:
                yield task.response[sentence.begin : sentence.end], sentence.text
        case Evaluation():
            texts = statements.sources(task)
            quotes = (quote for metric in result.metrics for each in metric.statements for quote in each.citations)
            for quote in quotes:
                yield texts.get(quote.source, "")[quote.begin : quote.end], quote.text
