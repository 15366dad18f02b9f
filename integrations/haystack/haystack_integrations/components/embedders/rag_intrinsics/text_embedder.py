"""Text embedder."""

from typing import Any

from haystack import component
from haystack_integrations.common.rag_intrinsics.engine import engine_of
from haystack_integrations.components.embedders.rag_intrinsics.encoding import Embedder

from intrinsics_core import InvalidInput


@component
class RagIntrinsicsTextEmbedder(Embedder):
    """
    Makes a vector of a query, by the encoder that ships: offline, on a CPU, without a key.

    Usage example:

    ```python
    from haystack_integrations.components.embedders.rag_intrinsics import RagIntrinsicsTextEmbedder

    embedder = RagIntrinsicsTextEmbedder()
    print(len(embedder.run("Who built the tide mill?")["embedding"]))
    # 384
    ```
    """

    def __init__(self, runtime: Any = None, *, prefix: str = "", suffix: str = "") -> None:
        """
        Create an embedder. Nothing is loaded before `warm_up` or the first run.

        :param runtime: None for the encoder that ships, `{"kind": "embedded", "path": FOLDER}` for another one.
        :param prefix: Put before the text. Models that were trained with prompts have theirs already.
        :param suffix: Put after it.
        """
        self._engine = engine_of(runtime)
        self.prefix, self.suffix = prefix, suffix

    @component.output_types(embedding=list[float], meta=dict[str, Any])
    def run(self, text: str) -> dict[str, Any]:
        """
        Embed a query.

        :param text: The query.
        :returns: `embedding`: its vector, of length 1; `meta`: the name of the model.
        :raises InvalidInput: If `text` is no text, or the runtime has no vectors.
        """
        [vector], meta = self._embedded([[self._query(text)]], "query")
        return {"embedding": vector, "meta": meta}

    @component.output_types(embedding=list[float], meta=dict[str, Any])
    async def run_async(self, text: str) -> dict[str, Any]:
        """Like `run`, without blocking the event loop."""
        [vector], meta = await self._aembedded([[self._query(text)]], "query")
        return {"embedding": vector, "meta": meta}

    def _query(self, text: str) -> str:
        if not isinstance(text, str):
            raise InvalidInput("text is not text", got=type(text).__name__,
                               expected="a string; documents go to RagIntrinsicsDocumentEmbedder")  # fmt: skip
        return f"{self.prefix}{text}{self.suffix}"
