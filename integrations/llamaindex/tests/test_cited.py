"""The four citation modes on what query engines give."""

import json
from typing import get_args

import pytest
from llama_index.core.base.response.schema import Response
from llama_index.response_synthesizers.rag_intrinsics import AnswerabilityGate, AnswerCheck, cited

from integrations.llamaindex.tests.llms import BOTH, FAITHFUL, INVENTED, QUESTION, Says, nodes, synthesized
from intrinsics_core import InvalidInput
from intrinsics_core.render.citations import Mode, from_json, parse, restored


def answered(*asked: str) -> Response:
    response = Response(f"{FAITHFUL} {INVENTED}", source_nodes=nodes())
    return AnswerCheck(asked).check(QUESTION, response)


@pytest.mark.parametrize("asked", [BOTH, ("audit",)])
@pytest.mark.parametrize("mode", ["postfix", "postfix-snippet", "inline", "inline-snippet"])
def test_each_mode_is_read_back(mode, asked):
    response = answered(*asked)
    shown = cited(response, mode, label=str)
    assert shown.startswith(FAITHFUL)
    again = parse(shown)
    assert again.references and again == from_json(json.loads(cited(response, mode, "json")))
    assert parse(cited(response, mode, "markdown", label=str)) == again
    if mode == "inline-snippet":
        texts = [{"id": n.node.node_id, "text": n.node.text} for n in response.source_nodes]
        rows = restored(again, texts).citations
        assert [row.response_text for row in rows] == [FAITHFUL] * len(rows)


@pytest.mark.parametrize("mode", get_args(Mode))
def test_a_refusal_is_its_own_text(mode):
    inner = Says(FAITHFUL)
    gate = AnswerabilityGate(inner, check=BOTH, canned="Nothing says that.")
    refused = gate.synthesize("Who runs the ferry?", nodes())
    assert cited(refused, mode) == "Nothing says that."


def test_a_response_that_nobody_annotated():
    with pytest.raises(InvalidInput, match=r'no citations; expected AnswerCheck\("citations"\)\.check'):
        cited(Response(FAITHFUL, source_nodes=nodes()))
    with pytest.raises(InvalidInput, match="mode is unknown"):
        cited(Response(FAITHFUL, source_nodes=nodes()), "foot")


@pytest.mark.parametrize("says", [f"{FAITHFUL} Fog is common from June to July.", "Tom Reed built the mill in 1935."])
def test_what_is_judged_unfaithful_is_not_cited_however_it_was_judged(says):
    def found(stream_verdicts):
        inner = Says(says, streaming=True)
        check = AnswerCheck(BOTH, stream="sentences" if stream_verdicts else "end")
        grounded = AnswerabilityGate(inner, check=check, mode="annotate")
        return synthesized(grounded, False)[1].metadata["rag_intrinsics"]

    whole = found(False)
    assert "unfaithful" in [row["label"] for row in whole["hallucination_detection"]["sentences"]]
    assert whole["citations"] == found(True)["citations"]
    assert {row["response_text"] for row in whole["citations"]["citations"]} <= {FAITHFUL}
    alone = AnswerCheck("citations").check(QUESTION, Response(says, source_nodes=nodes()))
    assert len(alone.metadata["rag_intrinsics"]["citations"]["citations"]) > len(whole["citations"]["citations"])
