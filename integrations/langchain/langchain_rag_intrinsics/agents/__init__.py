"""Middleware for LangChain agents. Needs the extra ``agents``: ``pip install "langchain-rag-intrinsics[agents]"``."""

try:
    import langchain.agents.middleware  # noqa: F401
except ImportError as error:
    raise ImportError(
        'agent middleware needs LangChain\'s agents: pip install "langchain-rag-intrinsics[agents]"'
    ) from error

from langchain_rag_intrinsics.agents.answerability_middleware import AnswerabilityMiddleware
from langchain_rag_intrinsics.agents.groundedness_middleware import GroundednessMiddleware

__all__ = ["AnswerabilityMiddleware", "GroundednessMiddleware"]
