"""LlamaIndex's own reranker and faithfulness evaluator beside ours: ``python -m benchmarks.peers_llamaindex``.

Both ask the same LLM, which gives fixed replies, to each in the format that it asks for. Counted: chats;
what comes of replies with the same fault; what is kept of the nodes. No quality is measured here.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from typing import Any

from llama_index.core.base.response.schema import Response
from llama_index.core.bridge.pydantic import Field
from llama_index.core.evaluation import FaithfulnessEvaluator
from llama_index.core.llms import ChatMessage, ChatResponse, CompletionResponse, CustomLLM, LLMMetadata
from llama_index.core.postprocessor import LLMRerank
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.evaluation.rag_intrinsics import IntrinsicEvaluator
from llama_index.postprocessor.rag_intrinsics import IntrinsicsRerank

QUESTION, ANSWER = "Who built the mill?", "Ada Brink built the mill in 1911."


class Replies(CustomLLM):
    """Replies what ``says`` makes of what it is shown."""

    says: Callable[[str], str]
    asked: list[str] = Field(default_factory=list)

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_chat_model=True, context_window=1_000_000)

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        self.asked.append("\n".join(str(m.content) for m in messages))
        return ChatResponse(message=ChatMessage(self.says(self.asked[-1]), role="assistant"))

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        return self.chat(messages)

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        self.asked.append(prompt)
        return CompletionResponse(text=self.says(prompt))

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        raise NotImplementedError


def nodes(count: int) -> list[NodeWithScore]:
    return [
        NodeWithScore(
            node=TextNode(id_=f"n{i}", text=f"Passage {i} tells of the mill.", metadata={"page": i}), score=1 - i / 100
        )
        for i in range(count)
    ]


def listed(order: Sequence[int]) -> str:
    """In the format of LLMRerank: documents are numbered from 1."""
    return "\n".join(f"Doc: {i + 1}, Relevance: {10 - place}" for place, i in enumerate(order))


def ranked(order: Sequence[int]) -> str:
    """In the format that ours asks for."""
    return json.dumps({"ranking": [f"d{i}" for i in order]})


# Fault of a reply about three nodes -> the reply to LLMRerank, the reply to ours.
RANKINGS = {
    "none": (listed([1, 0, 2]), ranked([1, 0, 2])),
    "nothing": ("", ""),
    "prose alone": ("I think the second one is best.", "I think the second one is best."),
    "words before it": (f"Sure! Here you go:\n{listed([1, 0, 2])}", f"Sure! Here you go:\n{ranked([1, 0, 2])}"),
    "a draft in thoughts": (
        f"<think>\n{listed([2, 0, 1])}\n</think>\n{listed([1, 0, 2])}",
        f"<think>{ranked([2, 0, 1])}</think>{ranked([1, 0, 2])}",
    ),
    "a number that names nothing": (listed([1, 0, 7]), ranked([1, 0, 7])),
    "a number twice": (listed([1, 1, 0, 2]), ranked([1, 1, 0, 2])),
    "two left out": (listed([1]), ranked([1])),
}
SENTENCES = json.dumps({"sentences": [{"id": "r0", "reason": "It says so.", "faithfulness": "faithful"}]})
UNFAITHFUL = SENTENCES.replace('"faithful"', '"unfaithful"')
VERDICTS = {
    "none, supported": ("YES", SENTENCES),
    "none, not supported": ("NO", UNFAITHFUL),
    "nothing": ("", ""),
    "prose alone": ("I cannot say without more context.", "I cannot say without more context."),
    "a draft in thoughts": (
        "<think>yes? the year is not in it</think>NO",
        f"<think>{SENTENCES}</think>{UNFAITHFUL}",
    ),
    "the word within another": ("NO, and not as of yesterday", f"NO, and not as of yesterday. {UNFAITHFUL}"),
}


def outcome(work: Callable[[], str]) -> str:
    try:
        return work()
    except Exception as error:
        return f"raises {type(error).__name__}"


def reranking() -> None:
    print("Chats of a reranking:\n\n| nodes | LLMRerank | IntrinsicsRerank |\n|--:|--:|--:|")
    for count in (10, 20, 50):
        peer = Replies(says=lambda shown: listed(range(shown.rpartition("try this now")[2].count("Document "))))
        ours = Replies(says=lambda shown: ranked(range(shown.count('"id": "d'))))
        LLMRerank(llm=peer, top_n=count).postprocess_nodes(nodes(count), query_str=QUESTION)
        IntrinsicsRerank(runtime=ours).postprocess_nodes(nodes(count), query_str=QUESTION)
        print(f"| {count} | {len(peer.asked)} | {len(ours.asked)} |")
    print("\nThree nodes, and a reply with a fault; what comes back:\n")
    print("| the reply's fault | LLMRerank | IntrinsicsRerank |\n|---|---|---|")
    for fault, (peer_says, ours_says) in RANKINGS.items():
        peer_llm, ours_llm = Replies(says=lambda _, t=peer_says: t), Replies(says=lambda _, t=ours_says: t)
        peer_rank = LLMRerank(llm=peer_llm, top_n=3)
        ours_rank = IntrinsicsRerank(runtime=ours_llm, on_error="fallback")
        print(f"| {fault} | {outcome(lambda r=peer_rank: kept(r))} | {outcome(lambda r=ours_rank: kept(r))} |")
    before = nodes(3)[1]
    print("\n| of a node | LLMRerank | IntrinsicsRerank |\n|---|---|---|")
    peer_after = LLMRerank(llm=Replies(says=lambda _: listed([1, 0, 2]))).postprocess_nodes(nodes(3), query_str="Who?")
    ours_after = IntrinsicsRerank(runtime=Replies(says=lambda _: ranked([1, 0, 2]))).postprocess_nodes(
        nodes(3), query_str="Who?"
    )
    rows = {
        "id": lambda n: n.node_id == before.node_id,
        "metadata": lambda n: n.metadata.get("page") == 1,
        "the retriever's score": lambda n: before.score in (n.score, n.metadata.get("retrieval_score")),
    }
    for name, holds in rows.items():
        print(f"| {name} | {said(holds(peer_after[0]))} | {said(holds(ours_after[0]))} |")


def kept(rerank: Any) -> str:
    found = rerank.postprocess_nodes(nodes(3), query_str=QUESTION)
    degraded = next((n.metadata["reranking_degraded"] for n in found if "reranking_degraded" in n.metadata), None)
    return f"{', '.join(n.node_id for n in found) or 'no nodes'}{'; says that it fell back' if degraded else ''}"


def said(holds: bool) -> str:
    return "kept" if holds else "lost"


def evaluating() -> None:
    print("\nOne response of one sentence, and a reply with a fault; the verdict:\n")
    print("| the reply's fault | FaithfulnessEvaluator | IntrinsicEvaluator |\n|---|---|---|")
    response = Response(ANSWER, source_nodes=nodes(2))
    for fault, (peer_says, ours_says) in VERDICTS.items():
        peer = FaithfulnessEvaluator(llm=Replies(says=lambda _, t=peer_says: t))
        ours = IntrinsicEvaluator("hallucination-detection", runtime=Replies(says=lambda _, t=ours_says: t))
        cells = [outcome(lambda e=e: verdict(e, response)) for e in (peer, ours)]
        print(f"| {fault} | {cells[0]} | {cells[1]} |")
    nothing = Response(ANSWER, source_nodes=[])
    peer = FaithfulnessEvaluator(llm=Replies(says=lambda _: "YES"))
    ours = IntrinsicEvaluator("hallucination-detection", runtime=Replies(says=lambda _: SENTENCES))
    print(f"| no nodes | {outcome(lambda: verdict(peer, nothing))} | {outcome(lambda: verdict(ours, nothing))} |")


def verdict(evaluator: Any, response: Response) -> str:
    found = evaluator.evaluate_response(QUESTION, response)
    mark = f"passing {found.passing}"
    return f"{mark}, marked as invalid" if found.invalid_result else mark


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    reranking()
    evaluating()
