"""Retriever wrapper."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Annotated, Any, cast

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import BaseDocumentCompressor, BaseDocumentTransformer, Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda, ensure_config
from langchain_core.runnables.config import set_config_context
from langchain_core.runnables.utils import coro_with_context
from pydantic import AliasChoices, BeforeValidator, ConfigDict, Field

from intrinsics_core import InvalidInput
from intrinsics_core.protocol.query_form import QueryForm, embedding_query, query_form
from intrinsics_core.protocol.results import QueryRewrite
from intrinsics_core.running.steps import Steps, arun_steps, run_steps
from langchain_rag_intrinsics._documents import fuse
from langchain_rag_intrinsics._messages import read
from langchain_rag_intrinsics._wrapped import as_runnable
from langchain_rag_intrinsics.queries import QueryExpander, QueryRewriter, tell_of_fallback


def _several(value: Any) -> Any:
    """One compressor or several, functions made Runnables."""
    each = [] if value is None else value if isinstance(value, list | tuple) else [value]
    return tuple(v if isinstance(v, BaseDocumentCompressor | BaseDocumentTransformer) else as_runnable(v)
                 for v in each)  # fmt: skip


def _compress(config: RunnableConfig, compressor: Any, documents: Sequence[Document], query: str) -> Any:
    with set_config_context(config) as context:  # a compressor is handed callbacks alone
        return context.run(compressor.compress_documents, documents, query, config.get("callbacks"))


async def _acompress(config: RunnableConfig, compressor: Any, documents: Sequence[Document], query: str) -> Any:
    with set_config_context(config) as context:
        asked = compressor.acompress_documents(documents, query, config.get("callbacks"))
        return await coro_with_context(asked, context)


# To a type checker they are what a user may write; here they are a Runnable or None, and always a tuple.
Step = Annotated[Any, BeforeValidator(lambda value: None if value is None else as_runnable(value))]
Compressors = Annotated[Any, BeforeValidator(_several)]


def _named(*names: str) -> Any:
    """Of a setting that ``ContextualCompressionRetriever`` has under another name."""
    return Field(validation_alias=AliasChoices(*names))


class IntrinsicsRetriever(BaseRetriever):
    """Wraps any retriever: it rewrites, expands, retrieves in parallel, fuses, and reranks or filters.

    Takes a question, or a conversation as :class:`QueryRewriter` takes it. Each step may be left out; each is a span.

    Args:
        retriever: any Runnable, or function, from a query to documents. Further arguments of ``invoke`` (a tenant's
            ``filter``) go to it, with every query. Also ``base_retriever``.
        rewriter: makes the question stand alone. Compressors get the plain question.
        expander: makes more queries, asked side by side; what each finds is fused by reciprocal rank.
        compressors: one or several in order: document compressors, document transformers, or Runnables and functions
            over ``{"query", "documents"}``. Also ``base_compressor``.
        k: return at most this many; None for all. Also an argument of ``invoke``.
        query_form: which form of a rewritten question the retriever is asked with: ``"question"``, ``"keywords"`` or
            ``"auto"``, by the kind of the retriever (:mod:`intrinsics_core.protocol.query_form`).

    Example:
        >>> from langchain_core.documents import Document
        >>> from langchain_core.runnables import RunnableLambda
        >>> from langchain_rag_intrinsics import IntrinsicsReranker, IntrinsicsRetriever, QueryRewriter
        >>> documents = [Document("The harbour has two cranes.", id="cranes"),
        ...              Document("Ada Brink built the tide mill in 1911.", id="mill")]
        >>> retriever = IntrinsicsRetriever(retriever=RunnableLambda(lambda query: documents),
        ...                                 rewriter=QueryRewriter(), compressors=[IntrinsicsReranker()], k=1)
        >>> retriever.invoke("Who built the tide mill?")[0].id
        'mill'
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, hide_input_in_errors=True)

    retriever: Annotated[Any, BeforeValidator(as_runnable), _named("retriever", "base_retriever")]
    rewriter: Step = None
    expander: Step = None
    compressors: Annotated[Compressors, _named("compressors", "base_compressor")] = ()
    k: int | None = Field(default=None, ge=0)
    query_form: QueryForm = "auto"

    @classmethod
    def is_lc_serializable(cls) -> bool:
        return True

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> list[Document]:
        """Documents for a question or a conversation.

        Raises:
            InvalidInput: there is no question, ``k`` is out of range, or the retriever takes no further arguments.
        """
        with _configured(config):
            return super().invoke(input, config, **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> list[Document]:
        """Like :meth:`invoke`, without blocking the event loop where the parts do not."""
        with _configured(config):
            return await super().ainvoke(input, config, **kwargs)

    def with_history(self) -> Runnable[Any, list[Document]]:
        """This retriever for ``create_retrieval_chain``: its rewriter sees the chain's ``chat_history``."""
        return RunnableLambda(self.invoke, afunc=self.ainvoke, name=self.get_name())

    def _get_relevant_documents(
        self, query: Any, *, run_manager: CallbackManagerForRetrieverRun, **kwargs: Any
    ) -> list[Document]:
        return run_steps(self._found(query, kwargs), _steps(run_manager, "", _compress))

    async def _aget_relevant_documents(
        self, query: Any, *, run_manager: AsyncCallbackManagerForRetrieverRun, **kwargs: Any
    ) -> list[Document]:
        return await arun_steps(self._found(query, kwargs), _steps(run_manager, "a", _acompress))

    def _found(self, query: Any, kwargs: dict[str, Any]) -> Steps[list[Document]]:
        """The documents for a query; no I/O."""
        passed = self._passed(kwargs)
        limit, rewriter, expander, rewritten = passed.pop("k"), self.rewriter, self.expander, query
        if isinstance(rewriter, QueryRewriter):
            rewriter = rewriter.returning_result()  # all that it knows
        if rewriter:
            rewritten = yield "invoke", (rewriter, query, "rewrite", {})
        asked, question = _forms(rewritten, self.retriever, self.query_form)
        documents: Sequence[Document] = yield "invoke", (self.retriever, asked, "retrieve", passed)
        given = question if rewriter else query
        if isinstance(expander, QueryExpander):  # it reads the first results too, each once
            given = {"messages": list(read(given, expander.intrinsic).turns), "documents": fuse([documents])}
            expander = expander.returning_result(False)
        if expander:
            queries = yield "invoke", (expander, given, "expand", {})
            if more := [query for query in dict.fromkeys(queries) if query != asked]:
                documents = fuse([documents, *(yield "batch", (self.retriever, more, "retrieve", passed))])
        for compressor in self.compressors:
            if isinstance(compressor, BaseDocumentCompressor):
                documents = yield "compress", (compressor, documents, question)
            elif isinstance(compressor, BaseDocumentTransformer):
                documents = yield "transform", (compressor, documents)
            else:
                documents = yield "invoke", (compressor, {"query": question, "documents": documents}, "compress", {})
        return list(documents)[:limit]

    def _passed(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        """``k``, and arguments for the retriever. One that takes none would leave out a tenant's filter silently."""
        passed = {"k": self.k, **kwargs}
        k, more = passed["k"], [repr(name) for name in kwargs if name != "k"]
        if k is not None and (not isinstance(k, int) or k < 0):
            raise InvalidInput("k is out of range", expected="a number from 0, or None", got=repr(k))
        if more and not getattr(self.retriever, "_expects_other_args", True):
            raise InvalidInput(f"the retriever takes no further arguments ({type(self.retriever).__name__})",
                               expected="none, or a retriever whose _get_relevant_documents takes **kwargs",
                               intrinsic="retrieval", got=", ".join(more))  # fmt: skip
        return passed


# The config of the call under way, for its steps: a base retriever hands its callbacks on, and nothing else.
_choices: ContextVar[RunnableConfig | None] = ContextVar("choices of the retriever's config", default=None)
_CHOSEN = ("configurable", "max_concurrency", "recursion_limit")  # callbacks bring tags and metadata along


@contextmanager
def _configured(config: RunnableConfig | None) -> Iterator[None]:
    token = _choices.set(ensure_config(config))
    try:
        yield
    finally:
        _choices.reset(token)


def _steps(run_manager: Any, a: str, compress: Callable[..., Any]) -> dict[str, Any]:
    """What each step does, its spans inside the retriever's. Asynchronous methods are named with an ``a`` in front."""
    return {
        "invoke": lambda call: getattr(call[0], f"{a}invoke")(call[1], _within(run_manager, call[2]), **call[3]),
        "batch": lambda call: getattr(call[0], f"{a}batch")(call[1], _within(run_manager, call[2]), **call[3]),
        "compress": lambda call: compress(_within(run_manager, "compress"), *call),
        "transform": lambda call: getattr(call[0], f"{a}transform_documents")(call[1]),
    }


def _within(run_manager: Any, step: str) -> RunnableConfig:
    chosen = {name: value for name, value in (_choices.get() or {}).items() if name in _CHOSEN}
    return cast(RunnableConfig, {**chosen, "callbacks": run_manager.get_child(step)})


def _forms(value: Any, retriever: Any, wanted: QueryForm) -> tuple[str, str]:
    """What to ask the retriever for, and the question as people read it."""
    if isinstance(value, QueryRewrite):
        tell_of_fallback(value, "rewritten")
        form = query_form(retriever, wanted)
        asked = {"question": value.query, "keywords": value.retrieval_query, "embedding": embedding_query(value)}
        return asked[form], value.query
    if not (question := read(value, "retrieval").question):
        raise InvalidInput("the conversation has no user turn", intrinsic="retrieval", expected="a question")
    return question, question
