"""Files as they lie in a folder, asked: Markdown, HTML, text; PDF, too, with `llama-index-readers-file` installed."""

from pathlib import Path
from tempfile import TemporaryDirectory

from llama_index.core import SimpleDirectoryReader, VectorStoreIndex
from llama_index.core.base.response.schema import Response
from llama_index.embeddings.rag_intrinsics import IntrinsicsEmbedding
from llama_index.response_synthesizers.rag_intrinsics import AnswerCheck, cited

FILES = {  # yours in their place
    "mill.md": "# The tide mill\n\nAda Brink built the mill in 1911. It has two wheels.\n",
    "ferry.html": "<html><body><h1>The ferry</h1><p>A day ticket costs 9 euros.</p></body></html>",
    "weather.txt": "Fog is common from March to May.\n",
}
with TemporaryDirectory() as folder:
    for name, text in FILES.items():
        (Path(folder) / name).write_text(text, encoding="utf-8")
    documents = SimpleDirectoryReader(folder).load_data()
index = VectorStoreIndex.from_documents(documents, embed_model=IntrinsicsEmbedding())
question = "Who built the mill, and what does a day ticket cost?"
answer = "Ada Brink built the mill in 1911. A day ticket costs 9 euros."  # of your model
sources = index.as_retriever(similarity_top_k=3).retrieve(question)
print(cited(AnswerCheck("citations").check(question, Response(answer, source_nodes=sources)), "inline"))
