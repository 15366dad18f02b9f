"""Text: what must not act as markup, and where its sentences are."""
