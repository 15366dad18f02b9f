"""A model behind any OpenAI-compatible server (Ollama, llama.cpp, vLLM) writes an answer; the default judges it.

OPENAI_BASE_URL and MODEL name the server and its model: Ollama's at http://localhost:11434/v1 where they are left out.
JUDGE=server has that model judge, too.
"""

import os

from openai import OpenAI

from intrinsics_core import audit, rank, run

url, model = os.environ.get("OPENAI_BASE_URL", "http://localhost:11434/v1"), os.environ.get("MODEL", "llama3.2")
passages = ["Fog is common in May.", "Ada Brink built the mill in 1911.", "A day ticket costs 9 euros."]
question = "Who built the mill?"
best = [passages[row.index] for row in rank(question, passages).ranking[:2]]
asked = [{"role": "user", "content": question}]
context = {"role": "system", "content": "Answer from these passages alone:\n" + "\n".join(best)}
client = OpenAI(base_url=url, api_key=os.environ.get("OPENAI_API_KEY", "none"))
answer = client.chat.completions.create(model=model, messages=[context, *asked]).choices[0].message.content or ""
judge = {"kind": "server", "base_url": url, "model": model} if os.environ.get("JUDGE") == "server" else None
for sentence in run(audit([*asked, {"role": "assistant", "content": answer}], best), judge).sentences:
    print(sentence.label, "|", sentence.text)
