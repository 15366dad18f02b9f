"""The reader: a small cross-encoder that judges a claim against sentences, and a question against a passage.

    python -m training.reader --data $RAG_INTRINSICS_DATA --out RUN [--wordnet DIR]
    python -m training.reader.evaluate RUN/latest [--json scores.json]
    python -m training.reader.export RUN/latest --out READER --scores scores.json

All-MiniLM-L6-v2's six layers over `[CLS] text [SEP] query [SEP]`, one linear head a task: *support* (source sentences,
claim), *answers* (passage window, question), *meant* (turns, candidate question). What it is trained on is made from
openly licensed sets alone; rows of held halves are kept apart by hash (`splits`). What was tried, with numbers, is in
`NOTES.md`.
"""
