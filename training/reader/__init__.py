"""The reader: a small cross-encoder that judges a claim against sentences, and a question against a passage."""
