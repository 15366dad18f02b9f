"""RAG intrinsics for LangChain: check and improve the answers of any chain or agent.

Every component takes ``runtime=``: a core runtime, a config such as ``{"kind": "server", "base_url": ...}``, or your
own chat model; left out, the embedded encoder (offline, CPU). All run natively async, batch, trace and serialise.

    >>> from langchain_rag_intrinsics import IntrinsicsReranker
    >>> IntrinsicsReranker(top_n=3).get_name()
    'IntrinsicsReranker'
"""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from langchain_rag_intrinsics.answer_check import AnswerCheck
from langchain_rag_intrinsics.answerability_gate import AnswerabilityGate
from langchain_rag_intrinsics.chat_model import ChatModelRuntime
from langchain_rag_intrinsics.compressors import ContextRelevanceFilter, IntrinsicsReranker
from langchain_rag_intrinsics.embeddings import IntrinsicsEmbeddings
from langchain_rag_intrinsics.queries import QueryExpander, QueryRewriter
from langchain_rag_intrinsics.retriever import IntrinsicsRetriever
from langchain_rag_intrinsics.reviser import Reviser

if TYPE_CHECKING:
    from langchain_rag_intrinsics.agents import AnswerabilityMiddleware as AnswerabilityMiddleware
    from langchain_rag_intrinsics.agents import GroundednessMiddleware as GroundednessMiddleware

__version__ = "0.1.0"

__all__ = [
    "AnswerCheck",
    "AnswerabilityGate",
    "ChatModelRuntime",
    "ContextRelevanceFilter",
    "IntrinsicsEmbeddings",
    "IntrinsicsReranker",
    "IntrinsicsRetriever",
    "QueryExpander",
    "QueryRewriter",
    "Reviser",
]

# They need the extra `agents`: imported at first use, and in `__all__` where it is there, so that `import *` works.
_MIDDLEWARE = ("AnswerabilityMiddleware", "GroundednessMiddleware")
if find_spec("langchain") is not None:
    __all__ += _MIDDLEWARE


def __getattr__(name: str) -> Any:
    if name in _MIDDLEWARE:
        from langchain_rag_intrinsics import agents

        return getattr(agents, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
