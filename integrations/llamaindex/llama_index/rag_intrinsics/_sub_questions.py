"""What LlamaIndex's ``SubQuestionQueryEngine`` and ``MultiStepQueryEngine`` give a synthesizer: nodes with questions
that they made, and answers.

Such an answer was written by an LLM. It is no source: what it was given from comes beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from llama_index.core.schema import NodeWithScore
from llama_index.rag_intrinsics._inputs import text_of

# How the engines write a node: what stands before the question, and before the answer.
_FORMS = (("Sub question: ", "\nResponse: "), ("\nQuestion: ", "\nAnswer: "))


@dataclass(frozen=True)
class SubAnswer:
    """One such node: a question of the engine's own making, and what a tool answered."""

    question: str
    answer: str


def sub_answers(nodes: Iterable[NodeWithScore]) -> tuple[SubAnswer, ...]:
    """Those of the nodes that are sub-questions with their answers, in order."""
    return tuple(part for part in map(_sub_answer, nodes) if part is not None)


def judged_by(nodes: Iterable[NodeWithScore], behind: Sequence[NodeWithScore] | None = None) -> list[NodeWithScore]:
    """The nodes by which an answer is judged that was given from these: all but the sub-answers.

    Args:
        behind: what sub-answers were given from, if there are any.
    """
    given = list(nodes)
    sources = [node for node in given if _sub_answer(node) is None]
    return sources if len(sources) == len(given) else [*sources, *(behind or ())]


def _sub_answer(node: NodeWithScore) -> SubAnswer | None:
    text = text_of(node)
    for asked, answered in _FORMS:
        question, behind, answer = text.removeprefix(asked).partition(answered)
        # A document may be a question with its answer; it came from somewhere.
        if behind and text.startswith(asked) and not (node.node.metadata or node.node.relationships):
            return SubAnswer(question, answer)
    return None
