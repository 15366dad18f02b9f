"""Programs in which our parts stand between LlamaIndex's own: their prompts, HyDE, citations, and words of errors."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from llama_index.core import PromptTemplate
from llama_index.core.agent.workflow import AgentOutput, FunctionAgent
from llama_index.core.base.response.schema import Response
from llama_index.core.indices.query.query_transform import HyDEQueryTransform
from llama_index.core.query_engine import RetrieverQueryEngine, TransformQueryEngine
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.core.tools import RetrieverTool, ToolMetadata
from llama_index.evaluation.rag_intrinsics import IntrinsicEvaluator
from llama_index.postprocessor.rag_intrinsics import IntrinsicsRerank
from llama_index.query_transform.rag_intrinsics import QueryExpansionTransform, QueryRewriteTransform
from llama_index.response_synthesizers.rag_intrinsics import AnswerabilityGate, AnswerCheck, cited
from llama_index.retrievers.rag_intrinsics import IntrinsicsRetriever

from integrations.llamaindex.tests.agents import ToolUser
from integrations.llamaindex.tests.llms import BOTH, CompletingLLM, searching
from intrinsics_core import InvalidInput
from tests.contract.scripts import no_judge

ASKED = "When does the town library close on Saturdays?"
SAID = "On Saturdays the town library closes at one in the afternoon."
NODES = [
    TextNode(id_="hours", text=f"The town library opens at nine. {SAID}"),
    TextNode(id_="parking", text="Parking behind the town hall is free after seven in the evening."),
]


def search(k: int = 1) -> Any:
    return searching(NODES, k)


class Writer(CompletingLLM):
    """Keeps the prompts that it is given."""

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        PROMPTS.append(prompt)
        return super().complete(prompt, formatted, **kwargs)


PROMPTS: list[str] = []
OWN = PromptTemplate("Answer in one short line.\n{context_str}\nQuestion: {query_str}\nAnswer:")


# --- 19: prompts ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrapped", ["synthesizer", "engine", "audited engine", "both"])
def test_19_prompts_are_read_and_changed_through_our_parts(wrapped: str) -> None:
    PROMPTS.clear()
    grounded = AnswerabilityGate(Writer(reply=SAID), check=BOTH)
    plain = RetrieverQueryEngine.from_args(search(), llm=Writer(reply=SAID))
    engine: Any = {
        "synthesizer": lambda: RetrieverQueryEngine(search(), grounded),
        "engine": lambda: RetrieverQueryEngine(search(), grounded),
        "audited engine": lambda: AnswerCheck().as_query_engine(plain),
        "both": lambda: AnswerCheck().as_query_engine(RetrieverQueryEngine(search(), grounded)),
    }[wrapped]()
    changed: Any = grounded if wrapped == "synthesizer" else engine
    names = [name for name in changed.get_prompts() if name.endswith("text_qa_template")]
    assert len(names) == 1
    changed.update_prompts({names[0]: OWN})
    assert changed.get_prompts()[names[0]].template == OWN.template
    engine.query(ASKED)
    assert PROMPTS and PROMPTS[-1].startswith("Answer in one short line.")


def test_19_prompts_have_the_names_that_they_have_without_us() -> None:
    plain = RetrieverQueryEngine.from_args(search(), llm=Writer(reply=SAID))
    grounded = RetrieverQueryEngine(search(), AnswerabilityGate(Writer(reply=SAID), check=BOTH))
    assert (
        list(grounded.get_prompts())
        == list(AnswerCheck().as_query_engine(grounded).get_prompts())
        == list(plain.get_prompts())
    )
    with pytest.raises(ValueError, match="typo"):
        AnswerCheck().as_query_engine(grounded).update_prompts({"typo:text_qa_template": OWN})


# --- 19: HyDE -------------------------------------------------------------------------------------------------------


class Keeps(BaseRetriever):
    """Keeps the queries that it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[QueryBundle] = []

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        self.asked.append(query_bundle)
        return [NodeWithScore(node=NODES[0], score=0.5)]


@pytest.mark.parametrize("include_original", [True, False])
@pytest.mark.parametrize("parts", [(), ("rewriter",), ("expander",), ("rewriter", "expander")])
def test_19_the_passage_of_hyde_reaches_the_retrievers(parts: tuple[str, ...], include_original: bool) -> None:
    keeps = Keeps()
    made = {"rewriter": QueryRewriteTransform(), "expander": QueryExpansionTransform()}
    given: dict[str, Any] = {name: made[name] for name in parts}
    retriever = IntrinsicsRetriever(keeps, use_async=False, **given)
    hyde = HyDEQueryTransform(llm=CompletingLLM(reply=SAID), include_original=include_original)
    engine = TransformQueryEngine(
        RetrieverQueryEngine(retriever, AnswerabilityGate(CompletingLLM(reply=SAID), check=BOTH)), hyde
    )
    assert str(engine.query(ASKED)).strip() == SAID
    first = keeps.asked[0]
    assert first.query_str == ASKED
    assert first.embedding_strs == ([SAID, ASKED] if include_original else [SAID])
    assert all(SAID not in query.embedding_strs for query in keeps.asked[1:])


def test_19_an_expansion_alone_keeps_the_passage_of_hyde() -> None:
    passage = HyDEQueryTransform(llm=CompletingLLM(reply=SAID)).run(ASKED)
    assert SAID in QueryExpansionTransform().run(passage).embedding_strs


# --- 19: citations of all that is annotated -------------------------------------------------------------------------


@pytest.mark.parametrize("asked", ["citations", "audit"])
def test_19_an_agents_answer_is_cited(asked: str) -> None:
    tool = RetrieverTool(search(2), ToolMetadata(name="archive", description="What the town has written down."))
    agent = FunctionAgent(tools=[tool], llm=ToolUser(calls=["archive"], says=SAID))

    async def main() -> AgentOutput:
        output: AgentOutput = await agent.run(ASKED)
        return await AnswerCheck(asked).acheck(ASKED, output)

    shown = cited(asyncio.run(main()), "inline")
    assert shown.startswith(f"{SAID}[1]") and "[1] The town library opens at nine." in shown


def test_19_a_response_with_sources_given_twice_is_cited() -> None:
    nodes = [NodeWithScore(node=node, score=0.5) for node in (NODES[1], NODES[0])]
    response: Any = AnswerabilityGate(CompletingLLM(reply=SAID), check=BOTH).synthesize(ASKED, nodes, [nodes[0]])
    assert cited(response, "inline").startswith(f"{SAID}[1]")


def test_19_a_response_whose_citing_failed_says_why() -> None:
    down = no_judge()
    response = Response(SAID, source_nodes=[NodeWithScore(node=NODES[0])])
    broken: Any = AnswerCheck(BOTH, runtime=down).check(ASKED, response)
    broken.metadata["rag_intrinsics"]["citations"] = {"degraded": "RuntimeUnavailable: connection refused"}
    with pytest.raises(InvalidInput, match="connection refused"):
        cited(broken)


# --- 19: errors in LlamaIndex's words -------------------------------------------------------------------------------


def test_19_what_is_missing_has_the_name_that_the_user_gives_it() -> None:
    with pytest.raises(InvalidInput, match="response= is missing"):
        IntrinsicEvaluator("hallucination-detection").evaluate(ASKED, contexts=[SAID])
    with pytest.raises(InvalidInput, match="query= is missing"):
        IntrinsicEvaluator("answer-relevance").evaluate(response=SAID)
    with pytest.raises(InvalidInput, match="contexts= is missing"):
        IntrinsicEvaluator("hallucination-detection").evaluate(ASKED, SAID)
    with pytest.raises(InvalidInput, match="response= is missing"):
        IntrinsicEvaluator("hallucination-detection").evaluate_response(ASKED)
    with pytest.raises(InvalidInput, match="query_str= or query_bundle= is missing"):
        IntrinsicsRerank().postprocess_nodes([NodeWithScore(node=NODES[0])])
