"""Scores as probabilities that hold: fitting, applying, and how good they are."""
