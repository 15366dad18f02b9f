"""Document embedder."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from haystack import Document, component
from haystack_integrations.common.rag_intrinsics.base import listed
from haystack_integrations.common.rag_intrinsics.engine import engine_of
from haystack_integrations.components.embedders.rag_intrinsics.encoding import Embedder
from tqdm import tqdm  # type: ignore[import-untyped]

from intrinsics_core import InvalidInput


@component
class RagIntrinsicsDocumentEmbedder(Embedder):
    """
    Gives documents their vectors, by the encoder that ships: offline, on a CPU, without a key.

    Returns copies. Long texts are read in windows, none is cut.

    Usage example:

    ```python
    from haystack import Document
    from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever
    from haystack.document_stores.in_memory import InMemoryDocumentStore
    from haystack_integrations.components.embedders.rag_intrinsics import (
        RagIntrinsicsDocumentEmbedder,
        RagIntrinsicsTextEmbedder,
    )

    documents = [
        Document(id="mill", content="Ada Brink built the tide mill in 1911."),
        Document(id="fog", content="Fog is common from March to May."),
    ]
    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    store.write_documents(RagIntrinsicsDocumentEmbedder().run(documents)["documents"])
    query = RagIntrinsicsTextEmbedder().run("In which months can one not see far?")["embedding"]
    print(InMemoryEmbeddingRetriever(store, top_k=1).run(query_embedding=query)["documents"][0].id)
    # fog
    ```
    """

    def __init__(self, runtime: Any = None, *, prefix: str = "", suffix: str = "", batch_size: int = 256,
                 progress_bar: bool = False, meta_fields_to_embed: Sequence[str] | None = None,
                 embedding_separator: str = "\n") -> None:  # fmt: skip
        """
        Create an embedder. Nothing is loaded before `warm_up` or the first run.

        :param runtime: None for the encoder that ships, `{"kind": "embedded", "path": FOLDER}` for another one.
        :param prefix: Put before each text. Models that were trained with prompts have theirs already.
        :param suffix: Put after it.
        :param batch_size: Documents handed to the encoder at once.
        :param progress_bar: Whether to show one.
        :param meta_fields_to_embed: Fields of `meta` that are embedded with the text, before it.
        :param embedding_separator: Between them.
        :raises InvalidInput: If `batch_size` is no number from 1.
        """
        self._engine = engine_of(runtime)
        self.prefix, self.suffix = prefix, suffix
        if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
            raise InvalidInput("batch_size is out of range", expected="a number from 1", got=repr(batch_size))
        self.batch_size, self.progress_bar = batch_size, progress_bar
        self.meta_fields_to_embed = listed("meta_fields_to_embed", meta_fields_to_embed or ())
        self.embedding_separator = embedding_separator

    @component.output_types(documents=list[Document], meta=dict[str, Any])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        """
        Embed documents.

        :param documents: Any number of documents.
        :returns: `documents`: copies with their vectors, of length 1; `meta`: the name of the model.
        :raises InvalidInput: If one is no document, or the runtime has no vectors.
        """
        return _outputs(documents, *self._embedded(self._batches(documents), "passage"))

    @component.output_types(documents=list[Document], meta=dict[str, Any])
    async def run_async(self, documents: list[Document]) -> dict[str, Any]:
        """Like `run`, without blocking the event loop."""
        return _outputs(documents, *await self._aembedded(self._batches(documents), "passage"))

    def _batches(self, documents: list[Document]) -> Iterable[list[str]]:
        for index, document in enumerate(documents):
            if not isinstance(document, Document):
                raise InvalidInput(f"documents[{index}] is not a Document", got=type(document).__name__,
                                   expected="a list of them; a query goes to RagIntrinsicsTextEmbedder")  # fmt: skip
        texts, size = [self._text(document) for document in documents], self.batch_size
        batches = [texts[begin : begin + size] for begin in range(0, len(texts), size)]
        shown: Iterable[list[str]] = tqdm(batches, disable=not self.progress_bar, desc="Embedding")
        return shown

    def _text(self, document: Document) -> str:
        fields = (document.meta.get(name) for name in self.meta_fields_to_embed)
        parts = [*(str(value) for value in fields if value is not None), document.content or ""]
        return f"{self.prefix}{self.embedding_separator.join(parts)}{self.suffix}"


def _outputs(documents: list[Document], vectors: list[list[float]], meta: dict[str, Any]) -> dict[str, Any]:
    pairs = zip(documents, vectors, strict=True)
    return {"documents": [replace(document, embedding=vector) for document, vector in pairs], "meta": meta}
