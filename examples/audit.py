"""Every verdict on an answer at once: is it answerable, which sentences hold, where does it say so."""

from intrinsics_core import audit, run

documents = [
    {"id": "mill", "text": "The tide mill was built in 1911 by the engineer Ada Brink. It ground flour until 1958."}
]
messages = [
    {"role": "user", "content": "Who built the tide mill?"},
    {"role": "assistant", "content": "Ada Brink built the tide mill in 1911. She painted it gold for forty sailors."},
]
result = run(audit(messages, documents))
print(result.answerability.label, result.label)
for sentence in result.sentences:
    print(sentence.label, "|", sentence.text, "|", [citation.document_text for citation in sentence.citations])
