"""Which source sentences to name for a claim."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from intrinsics_core.embedded.scoring.evidence import Evidence, covered
from intrinsics_core.embedded.scoring.keys import Floats


@dataclass(frozen=True, slots=True)
class CitationRule:
    """How citations are chosen; see `cite`.

    cosine: share of the cosine in a source sentence's score, 0..1; the rest is idf-weighted coverage.
    threshold: least score of the first citation. gain: least share of the claim's idf mass that a further citation
    must add. further: least score of a further citation. maximum: most citations of one response sentence.
    """

    cosine: float
    threshold: float
    gain: float
    further: float
    maximum: int


def scores_of(evidence: Evidence, rule: CitationRule) -> Floats:
    """Per source sentence its score as a citation: the share of the claim it covers, and its cosine; 0 where it tells
    of something else, or nothing.
    """
    share = covered(evidence.claim.weights, evidence.placed)
    scores = (1.0 - rule.cosine) * share + rule.cosine * np.clip(evidence.cosine, 0.0, 1.0)
    scores[list(evidence.elsewhere)] = 0.0
    return scores


def cite(evidence: Evidence, rule: CitationRule) -> tuple[int, ...]:
    """Source sentences to cite for one claim, best first. Each is cited for words of its own.

    The best-scoring sentence is taken if its score reaches ``rule.threshold``; then, one at a time, the sentence that
    adds most of what is not yet covered, while it adds at least ``rule.gain``, so two sentences that complement one
    another are both cited and a repetition is not.
    """
    scores = scores_of(evidence, rule)
    if not len(scores) or float(scores.max()) < rule.threshold:
        return ()
    weights = evidence.claim.weights
    chosen = [int(scores.argmax())]
    still_open = 1.0 - evidence.placed[:, chosen[:1]]
    while len(chosen) < rule.maximum:
        gains = covered(weights, still_open * evidence.placed)
        gains[scores < rule.further] = 0.0
        gains[[*chosen, *evidence.elsewhere]] = 0.0
        best = int((gains + 1e-3 * scores).argmax())
        if gains[best] < rule.gain:
            break
        chosen.append(best)
        still_open = still_open * (1.0 - evidence.placed[:, [best]])
    return tuple(chosen)
