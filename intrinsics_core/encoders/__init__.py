"""Encoders that the user names: cross-encoders, models of inference, checkers, token classifiers. No language model."""
