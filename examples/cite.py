"""An answer with its sources behind each sentence."""

from intrinsics_core import citations, run
from intrinsics_core.render.citations import view, write

documents = [
    {"id": "guide", "text": "The museum opens at nine. On Mondays it is closed."},
    {"id": "prices", "text": "A ticket costs 8 euros."},
]
answer = "The museum is closed on Mondays. A ticket costs 8 euros."
messages = [{"role": "user", "content": "When is the museum open?"}, {"role": "assistant", "content": answer}]
found = run(citations(messages, documents))
print(write(view(found, answer, documents, "postfix"), "markdown"))
