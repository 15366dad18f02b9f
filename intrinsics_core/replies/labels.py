"""From token log-probabilities to probabilities of labels."""

from __future__ import annotations

import math
from collections.abc import Sequence

from intrinsics_core.protocol.requests import TokenLogprob

_AROUND = " \t\r\n\"'`"  # may stand before a label without belonging to it


def label_probabilities(
    tokens: Sequence[TokenLogprob] | None, labels: Sequence[str], start: int = 0
) -> dict[str, float] | None:
    """How likely each label was, from the places where the generated text decides between them.

    A label may have several tokenizations, and several labels may share their first tokens. So at each token, all
    alternatives that can only lead to one label are summed for it, weighted with the probability of the tokens before;
    what was generated is followed until it leaves one label. Alternatives that could still lead to several labels, and
    were not taken, are left out. A label that leaves at a place where no alternative leads to it alone has the least
    of them, or its part of what they leave where that is less. The result is renormalised over the labels.

    Args:
        tokens: the generated tokens with their alternatives; None where the runtime gives none.
        labels: the labels, all different.
        start: characters of the generated text to pass over, e.g. up to the value of a JSON field.

    Returns:
        A probability per label, summing to 1, or None where the tokens do not tell: as where a runtime gives the
        generated tokens alone, of which nothing follows for the labels that were not chosen.
    """
    if not tokens:
        return None
    masses, left = dict.fromkeys(labels, 0.0), list(labels)
    compared = False  # with any alternative
    at, typed, reached = 0, "", 1.0  # `typed` of a label is generated already, with probability `reached`
    for token in tokens:
        begin, at = at, at + len(token.token)
        if at <= start:
            continue
        skipped, own = token.token[: max(0, start - begin)], token.token[max(0, start - begin) :]
        compared = compared or any(text != token.token for text, _ in token.top)
        if not (chosen := _leading_to(typed, own, labels)):
            return None  # the generated text left every label
        listed, told = _alternatives(token), set(chosen)
        for text, probability in listed.items():
            # An alternative that differs before `start` would have led to another text altogether.
            candidates = _leading_to(typed, text[len(skipped) :], labels) if text.startswith(skipped) else []
            if len(candidates) == 1:
                masses[candidates[0]] += reached * probability
                told.add(candidates[0])
        unlisted = [name for name in left if name not in told]
        for name in unlisted:
            share = (1 - sum(listed.values())) / len(unlisted)
            masses[name] += reached * max(0.0, min([share, *filter(None, listed.values())]))
        if len(chosen) == 1:
            total = sum(masses.values())
            return {name: mass / total for name, mass in masses.items()} if compared and total > 0 else None
        reached, left, typed = reached * _probability(token.logprob), chosen, (typed + own).lstrip(_AROUND)
    return None


def _alternatives(token: TokenLogprob) -> dict[str, float]:
    """Probability by text at one place: several tokens may be spelled alike. The generated one is among them."""
    found: dict[str, float] = {}
    for text, logprob in token.top:
        found[text] = found.get(text, 0.0) + _probability(logprob)
    if not any(text == token.token and math.isclose(p, token.logprob, abs_tol=1e-4) for text, p in token.top):
        found[token.token] = found.get(token.token, 0.0) + _probability(token.logprob)
    return found


def _probability(logprob: float) -> float:
    return math.exp(min(0.0, logprob)) if logprob == logprob else 0.0  # NaN counts as impossible


def _leading_to(typed: str, token: str, labels: Sequence[str]) -> list[str]:
    """Labels that the text so far plus this token can still become; all of them for mere quotes and space."""
    text = (typed + token).lstrip(_AROUND)
    if not text:
        return list(labels)
    whole = [name for name in labels if text.startswith(name) and not text[len(name) :][:1].isalnum()]
    return [max(whole, key=len)] if whole else [name for name in labels if name.startswith(text)]
