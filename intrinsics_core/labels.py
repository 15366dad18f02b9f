"""From token log-probabilities to probabilities of labels."""

from __future__ import annotations

import math
from collections.abc import Sequence

from intrinsics_core.exchange import TokenLogprob


def label_probabilities(
    tokens: Sequence[TokenLogprob] | None, labels: Sequence[str], start: int = 0
) -> dict[str, float] | None:
    """How likely each label was, from the place where the generated text decides between them.

    A label may be split over several tokenizations ("un" + "answerable", "una" + …), so at the deciding token all
    alternatives that can only lead to one label are summed for it. Tokens before the decision that every label (or
    none) shares, such as quotes and whitespace, are passed over. The result is renormalised over the labels: under
    constrained decoding, that is over the allowed tokens.

    Args:
        tokens: the generated tokens with their alternatives; None where the runtime gives none.
        labels: the labels; none may be a prefix of another plus nothing (they must differ).
        start: characters of the generated text to pass over, e.g. up to the value of a JSON field.

    Returns:
        A probability per label, summing to 1, or None where the tokens do not tell.
    """
    if not tokens:
        return None
    at, typed = 0, ""  # how much of a label has been generated already
    for token in tokens:
        begin, at = at, at + len(token.token)
        if at <= start:
            continue
        cut = max(0, start - begin)
        masses = dict.fromkeys(labels, 0.0)
        for text, logprob in {**dict(token.top), token.token: token.logprob}.items():
            candidates = _leading_to(typed, text[cut:], labels)
            if len(candidates) == 1:
                masses[candidates[0]] += math.exp(min(0.0, logprob))
        total = sum(masses.values())
        chosen = _leading_to(typed, token.token[cut:], labels)
        if total > 0 and len(chosen) == 1:
            return {name: mass / total for name, mass in masses.items()}
        if not chosen:
            return None  # the generated text left every label
        typed = (typed + token.token[cut:]).lstrip(" \t\r\n\"'`")
    return None


def _leading_to(typed: str, token: str, labels: Sequence[str]) -> list[str]:
    """Labels that the text so far plus this token can still become; all of them for mere quotes and space."""
    text = (typed + token).lstrip(" \t\r\n\"'`")
    if not text:
        return list(labels)
    whole = [name for name in labels if text.startswith(name) and not text[len(name) :].lstrip()[:1].isalnum()]
    if whole:
        return [max(whole, key=len)]
    return [name for name in labels if name.startswith(text)]
