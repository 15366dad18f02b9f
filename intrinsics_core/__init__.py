"""RAG intrinsics: check and improve the answers of any retrieval-augmented chain.

    >>> from intrinsics_core import answerability, run
    >>> run(answerability([{"role": "user", "content": "Who built it?"}], ["Ada Brink built it in 1911."])).label
    'answerable'

An intrinsic function checks its input and returns a call; a driver (`run`, `arun`, `run_many`, `arun_many`) takes the
call to its result on a runtime: the embedded encoder by default, a server, or the chat model you already have.
"""

from intrinsics_core import shipped
from intrinsics_core.intrinsics import (
    INTRINSICS,
    adapter,
    answer_relevance,
    answerability,
    audit,
    check_citations,
    citations,
    compare,
    context_relevance,
    evaluate,
    fact_check,
    hallucination_detection,
    hyde,
    query_expansion,
    query_rewrite,
    reranking,
    revise,
    self_consistency,
    uncertainty,
)
from intrinsics_core.protocol.call import Call
from intrinsics_core.protocol.errors import (
    ContextTooLong,
    IntrinsicsError,
    InvalidInput,
    MalformedReply,
    RequestTimeout,
    RuntimeUnavailable,
    UnknownAdapter,
    UnsupportedIntrinsic,
)
from intrinsics_core.protocol.profile import Format, Profile
from intrinsics_core.protocol.task import Document, Message
from intrinsics_core.render import notebook
from intrinsics_core.running.calibrate import calibrate
from intrinsics_core.running.execution import arun, arun_many, run, run_many
from intrinsics_core.running.plain import check, rank
from intrinsics_core.running.streaming import StreamChecker
from intrinsics_core.runtimes import AsyncRuntime, BlockingRuntime, Runtime, as_runtime

__version__ = "0.1.0"

shipped.register()
notebook.install()

__all__ = [
    "INTRINSICS",
    "AsyncRuntime",
    "BlockingRuntime",
    "Call",
    "ContextTooLong",
    "Document",
    "Format",
    "IntrinsicsError",
    "InvalidInput",
    "MalformedReply",
    "Message",
    "Profile",
    "RequestTimeout",
    "Runtime",
    "RuntimeUnavailable",
    "StreamChecker",
    "UnknownAdapter",
    "UnsupportedIntrinsic",
    "adapter",
    "answer_relevance",
    "answerability",
    "arun",
    "arun_many",
    "as_runtime",
    "audit",
    "calibrate",
    "check",
    "check_citations",
    "citations",
    "compare",
    "context_relevance",
    "evaluate",
    "fact_check",
    "hallucination_detection",
    "hyde",
    "query_expansion",
    "query_rewrite",
    "rank",
    "reranking",
    "revise",
    "run",
    "run_many",
    "self_consistency",
    "uncertainty",
]
