"""A follow-up question that stands alone, for people and for a retriever."""

from intrinsics_core import query_rewrite, run

messages = [
    {"role": "user", "content": "Is there a tide mill at Port Ellery?"},
    {"role": "assistant", "content": "Yes, it stands at the harbour."},
    {"role": "user", "content": "Who built it?"},
]
rewritten = run(query_rewrite(messages))
print(rewritten.query)
print(rewritten.retrieval_query)
