"""In which form a retriever is asked a rewritten question.

A rewritten question has two forms: the plain question, and one with keywords of the conversation added. Keywords help
a lexical retriever, which looks for words. In a dense one they move the vector towards earlier topics. They stay where
the plain question does not say what it is about ("Who built it?"), as a rewriter without a language model may leave it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal, get_args

from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.protocol.results import QueryRewrite

QueryForm = Literal["auto", "question", "keywords"]

_LEXICAL = re.compile(r"BM25|TF-?IDF|Keyword|Lexical|Sparse|FullText", re.IGNORECASE)
_DENSE = re.compile(
    r"Vector|Embedding|Dense|Semantic|FAISS|Chroma|Qdrant|Pgvector|Pinecone|Milvus|Weaviate|LanceDB", re.IGNORECASE
)
_INSIDE = ("bound", "default", "retriever", "base_retriever", "retrievers")  # where wrappers keep what they wrap
_DEPTH = 4


# English words that lean on an earlier turn, and beginnings of fragments.
_LEANS = re.compile(
    r"\b(?:it|its|they|them|their|theirs|he|him|his|she|her|hers|this|that|these|those|there|one|ones|both|such|same|else"
    r"|others?|instead|then)\b|\A\W*(?:and|but|or|so|what about|how about)\b",
    re.IGNORECASE,
)
_FRAGMENT = 3  # words of a question that is too short to say what it is about


def embedding_query(rewrite: QueryRewrite) -> str:
    """What a dense retriever embeds: the plain question, or the form with keywords where the question leans on others.

    Args:
        rewrite: what `query_rewrite` gave.
    """
    leans = len(rewrite.query.split()) <= _FRAGMENT or _LEANS.search(rewrite.query)
    return rewrite.retrieval_query if leans and not rewrite.changed else rewrite.query


def query_form(retriever: Any, wanted: QueryForm = "auto") -> Literal["question", "keywords", "embedding"]:
    """The form that a retriever is asked with.

    Args:
        retriever: a retriever of any framework, or a wrapper around one or several.
        wanted: ``"question"`` or ``"keywords"`` names the form.

    Returns:
        What is ``wanted``. For ``"auto"`` it is ``"embedding"`` (:func:`embedding_query`) where the names of the
        classes say that all retrievers inside are dense, else ``"keywords"``, also for a retriever of unknown kind.

    Raises:
        InvalidInput: there is no such form.

    Example:
        >>> class PgvectorEmbeddingRetriever: ...
        >>> query_form(PgvectorEmbeddingRetriever()), query_form(print), query_form(print, "question")
        ('embedding', 'keywords', 'question')
    """
    if wanted not in get_args(QueryForm):
        raise InvalidInput("query_form is unknown", expected=f"one of {get_args(QueryForm)}", got=repr(wanted))
    if wanted != "auto":
        return wanted
    kinds = set(_kinds(retriever, _DEPTH))
    return "embedding" if kinds == {"dense"} else "keywords"


def _kinds(retriever: Any, depth: int) -> Iterator[Literal["dense", "lexical", "unknown"]]:
    for each in type(retriever).__mro__[:-1]:
        if _LEXICAL.search(each.__name__):
            yield "lexical"
            return
        if _DENSE.search(each.__name__):
            yield "dense"
            return
    inside = [getattr(retriever, name, None) for name in _INSIDE]
    parts = [
        part for some in inside if some is not None for part in (some if isinstance(some, list | tuple) else [some])
    ]
    if not parts or not depth:
        yield "unknown"
    for part in parts if depth else ():
        yield from _kinds(part, depth - 1)
