"""What ``SubQuestionQueryEngine`` and ``MultiStepQueryEngine`` give a synthesizer: questions of their own, and answers.

Such an answer was written by an LLM. It is no source: what it was given from comes beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from llama_index.core.schema import NodeWithScore
from llama_index.rag_intrinsics._inputs import text_of

from intrinsics_core.chains import scores

# How each engine writes a node: what stands in front of the question, and in front of the answer.
_SUB_QUESTION = ("Sub question: ", "\nResponse: ")
_MULTI_STEP = ("\nQuestion: ", "\nAnswer: ")


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
    asked, answered = _MULTI_STEP if text.startswith(_MULTI_STEP[0]) and not _is_of_a_document(node) else _SUB_QUESTION
    question, behind, answer = text.removeprefix(asked).partition(answered)
    return SubAnswer(question, answer) if behind and text.startswith(asked) else None


def _is_of_a_document(node: NodeWithScore) -> bool:
    """Whether a node is cut out of a document, which may be a list of questions and answers."""
    own = node.node
    return bool(own.relationships or own.embedding or own.metadata.keys() - set(scores.KEYS))
