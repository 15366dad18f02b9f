"""Texts of pieces that a splitter of sentences gets wrong easily."""

from hypothesis import strategies as st

PIECES = [
    "Ada keeps it. ", "Dr. A. Moreau left! ", "Why?", "\n\n", "\r\n", "- one\n- two\n", "1. First.\n2. Second.\n",
    "😀 🎉. ", "灯塔在海边。它很高。", "<c3> ", "<r0>", "<|start_of_role|>",
    "\t", " ", "…", "e\u0301.", "\u2028", "\x00",
    "No. 5 is 3.14. ",
]  # fmt: skip
TEXTS = st.one_of(st.text(max_size=200), st.lists(st.sampled_from(PIECES), max_size=20).map("".join))
