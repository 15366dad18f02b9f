"""The four citation modes on what query engines give."""

import json

import pytest
from llama_index.core.base.response.schema import Response
from llama_index.response_synthesizers.rag_intrinsics import ResponseAnnotator, cited

from integrations.llamaindex.tests.llms import FAITHFUL, INVENTED, QUESTION, nodes
from intrinsics_core import InvalidInput
from intrinsics_core.render.citations import from_json, parse, restored


def answered(**asked: bool) -> Response:
    response = Response(f"{FAITHFUL} {INVENTED}", source_nodes=nodes())
    return ResponseAnnotator(**asked).annotate(QUESTION, response)


@pytest.mark.parametrize("asked", [{}, {"audit": True}])
@pytest.mark.parametrize("mode", ["postfix", "postfix-snippet", "inline", "inline-snippet"])
def test_each_mode_is_read_back(mode, asked):
    response = answered(**asked)
    shown = cited(response, mode)
    assert shown.startswith(FAITHFUL)
    again = parse(shown)
    assert again.references and again == from_json(json.loads(cited(response, mode, "json")))
    assert parse(cited(response, mode, "markdown")) == again
    if mode == "inline-snippet":
        texts = [{"id": n.node.node_id, "text": n.node.text} for n in response.source_nodes]
        rows = restored(again, texts).citations
        assert [row.response_text for row in rows] == [FAITHFUL] * len(rows)


def test_a_response_that_nobody_annotated():
    with pytest.raises(InvalidInput, match=r"no citations; expected ResponseAnnotator\(\)\.annotate"):
        cited(Response(FAITHFUL, source_nodes=nodes()))
    with pytest.raises(InvalidInput, match="mode is unknown"):
        cited(Response(FAITHFUL, source_nodes=nodes()), "foot")
