"""LangChain's own rerankers beside ours, same documents, same replies: ``python -m benchmarks.programs_langchain``.

Needs ``langchain-classic``, which has the peers: ``CrossEncoderReranker`` and ``LLMListwiseRerank``. The models are
scripted, so that what is counted is what a component does with a reply, and not how good a model is: the judge ranks by
a number in the text; replies that are malformed say what models say. Calls are model calls for 10, 20 and 50 documents.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_rag_intrinsics import IntrinsicsReranker
from pydantic import Field

COUNTS = (10, 20, 50)
QUESTION = "Which has the largest number?"
# What the model says in place of a clean list, by name; the first is clean.
REPLIES: dict[str, Callable[[list[int]], str]] = {
    "a clean list": lambda best: json.dumps(best),
    "one named twice": lambda best: json.dumps([best[0], *best]),
    "one left out": lambda best: json.dumps(best[:-1]),
    "one that there is not": lambda best: json.dumps([*best, 99]),
    "negative numbers": lambda best: json.dumps([best[0], -1, *best[1:]]),
    "prose": lambda best: "The first one, I think.",
}


class Ranker(BaseChatModel):
    """Ranks by the number in each text, and says it in the words that are asked for."""

    said: Callable[[list[int]], str] = REPLIES["a clean list"]
    calls: list[int] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "ranker"

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None,
        run_manager: CallbackManagerForLLMRun | None = None, **kwargs: Any,
    ) -> ChatResult:  # fmt: skip
        self.calls.append(1)
        shown = str(messages[0].text) + str(messages[-1].text)
        numbers = [int(n) for n in re.findall(r"number (\d+) of", shown)]
        best = sorted(range(len(numbers)), key=lambda i: -numbers[i])
        said = self.said(best)
        if "d0" in shown and said.startswith("["):  # our prompt names documents d0, d1, ...
            said = json.dumps({"ranking": [f"d{i}" for i in json.loads(said)]})
        return ChatResult(generations=[ChatGeneration(message=AIMessage(said))])

    def with_structured_output(self, schema: Any, **kwargs: Any) -> Runnable[Any, Any]:  # as the peer asks
        return self | RunnableLambda(lambda m: schema(ranked_document_ids=json.loads(m.text)))


def documents(count: int) -> list[Document]:
    return [Document(f"This is number {i} of many.", id=f"doc-{i}", metadata={"page": i}) for i in range(count)]


def outcome(reranker: BaseDocumentCompressor, count: int = 10) -> str:
    """What becomes of ten documents."""
    given = documents(count)
    try:
        found = reranker.compress_documents(given, QUESTION)
    except Exception as error:
        return f"raises {type(error).__name__}"
    ids = [d.id for d in found]
    faults = [
        words
        for words, holds in {
            "wrong order": ids[:1] != [f"doc-{count - 1}"],
            "duplicates": len(set(ids)) < len(ids),
            f"{count - len(set(ids))} lost": len(set(ids)) < count,
        }.items()
        if holds
    ]
    return ", ".join(faults) or "all, in order"


def main() -> None:
    from langchain_classic.retrievers.document_compressors import CrossEncoderReranker, LLMListwiseRerank
    from langchain_core.cross_encoders import BaseCrossEncoder

    class Words(BaseCrossEncoder):
        def score(self, text_pairs: list[tuple[str, str]]) -> list[float]:
            return [float(re.findall(r"\d+", text)[0]) for _, text in text_pairs]

    def listwise(model: Ranker) -> Any:
        return LLMListwiseRerank.from_llm(model, top_n=50)

    def ours(model: Ranker) -> Any:
        return IntrinsicsReranker(runtime=model)

    print("| | `LLMListwiseRerank` | `IntrinsicsReranker`, a chat model |\n|---|---|---|")
    calls: list[str] = []
    for make in (listwise, ours):
        counted = []
        for count in COUNTS:
            model = Ranker()
            make(model).compress_documents(documents(count), QUESTION)
            counted.append(len(model.calls))
        calls.append(" / ".join(map(str, counted)))
    print(f"| model calls for {' / '.join(map(str, COUNTS))} documents | {calls[0]} | {calls[1]} |")
    for name, said in REPLIES.items():
        row = [outcome(make(Ranker(said=said))) for make in (listwise, ours)]
        print(f"| {name}, 10 documents | {row[0]} | {row[1]} |")
    fallback = outcome(IntrinsicsReranker(runtime=Ranker(said=REPLIES["prose"]), on_error="fallback"))
    print(f'| prose, 10 documents, `on_error="fallback"` | no such choice | {fallback}: the order that came, told |')
    for name, given in (("no documents", []), ("one document", documents(1))):
        cells = []
        for make in (listwise, ours):
            model = Ranker()
            found = make(model).compress_documents(given, QUESTION)
            cells.append(f"{len(found)} returned, {len(model.calls)} calls")
        print(f"| {name} | {cells[0]} | {cells[1]} |")

    print("\n| | `CrossEncoderReranker` | `LLMListwiseRerank` | `IntrinsicsReranker` |\n|---|---|---|---|")
    rerankers = [CrossEncoderReranker(model=Words(), top_n=10), listwise(Ranker()), IntrinsicsReranker()]
    kept: dict[str, list[str]] = {"ids and metadata kept": [], "score in the metadata": [], "input left alone": []}
    for reranker in rerankers:
        given = documents(10)
        before = [d.model_copy(deep=True) for d in given]
        found = reranker.compress_documents(given, QUESTION)
        pages = all(f"doc-{d.metadata['page']}" == d.id for d in found)
        kept["ids and metadata kept"].append("yes" if pages and len(found) == 10 else "no")
        kept["score in the metadata"].append("yes" if "relevance_score" in found[0].metadata else "no")
        found[0].metadata["mine"] = True
        kept["input left alone"].append("yes" if given == before else "no: the same objects come out")
    for name, cells in kept.items():
        print(f"| {name} | {' | '.join(cells)} |")
    native = [type(r).acompress_documents.__qualname__.split(".")[0] for r in rerankers]
    words = ["in a thread" if owner == "BaseDocumentCompressor" else "natively" for owner in native]
    print(f"| asynchronous | {' | '.join(words)} |")


if __name__ == "__main__":
    main()
