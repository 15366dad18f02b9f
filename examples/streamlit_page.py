"""A page of twenty lines: `pip install streamlit`, then `streamlit run examples/streamlit_page.py`."""

import streamlit as st

from intrinsics_core import audit, run

st.title("Does the answer hold?")
question = st.text_input("Question", "Who built the mill?")
text = st.text_area("Documents, one a paragraph", "Ada Brink built the mill in 1911.\n\nFog is common in May.")
answer = st.text_area("Answer", "Ada Brink built the mill in 1911. She painted it gold.")
if st.button("Check"):
    documents = [paragraph for paragraph in text.split("\n\n") if paragraph.strip()]
    messages = [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
    found = run(audit(messages, documents))
    for sentence in found.sentences:
        show = {"faithful": st.success, "unfaithful": st.error}.get(sentence.label, st.info)
        show(f"{sentence.text} ({sentence.label})")
        if sentence.explanation:
            st.caption(sentence.explanation)
