"""LlamaIndex: one line around a query engine says everything about each of its answers."""

from llama_index.core import VectorStoreIndex
from llama_index.core.llms import MockLLM
from llama_index.core.schema import TextNode
from llama_index.embeddings.rag_intrinsics import IntrinsicsEmbedding
from llama_index.postprocessor.rag_intrinsics import IntrinsicsRerank
from llama_index.response_synthesizers.rag_intrinsics import AnswerCheck

nodes = [
    TextNode(text="Ada Brink built the mill in 1911.", id_="mill"),
    TextNode(text="Fog is common in May.", id_="fog"),
]
index = VectorStoreIndex(nodes, embed_model=IntrinsicsEmbedding())
llm = MockLLM()  # yours in its place
engine = AnswerCheck().as_query_engine(index.as_query_engine(llm=llm, node_postprocessors=[IntrinsicsRerank(top_n=1)]))
audit = engine.query("Who built the mill?").metadata["rag_intrinsics"]["audit"]
print(audit["answerability"]["label"])
