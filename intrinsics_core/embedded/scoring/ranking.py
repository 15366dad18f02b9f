"""Rerank a list of candidates: BM25 over the list and cosine of the sentence encoder, added up.

Words and meaning err differently, so their sum orders better than either: BM25 knows that the rare word of the query is
missing, the encoder that "heart attack" is "myocardial infarction". Both are put in standard units of the list first
(mean 0, deviation 1), so neither unit nor length of the texts matters.

Only the list is seen, no corpus, and its order means nothing: shuffled candidates get the same scores. Rarity of a word
comes from a background table blended with the list itself. Where the retriever's own scores are given they take part,
which keeps a good retriever's order from being harmed.

What this is not: a cross-encoder, which reads query and passage together. With one (or a language model) the top of the
list is clearly better where the answer depends on who did what to whom, on negation, or on numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from intrinsics_core.calibration.probabilities import sigmoid
from intrinsics_core.embedded.lexical import bm25, terms
from intrinsics_core.protocol.errors import InvalidInput

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Fusion:
    """Weights of the sum, chosen on candidates from SQuAD 2.0, FoolMeTwice and CLAPNQ.

    Attributes:
        lexical: weight of BM25 in a long list; in a list of n it is `lexical * n / (n + doubt)`, since a handful of
            passages that a retriever picked for their words hardly differ in them. Cosine has the rest up to 1.
        doubt: size of the list at which BM25 has half its weight.
        prior: weight of the retriever's own scores in a long list, on top of 1: as much as words and meaning together;
            in a list of n it is `prior * n / (n + few)`, since of two scores only their order is left. A good
            retriever's order is not harmed (90 ELSER lists of MT-RAG, nDCG@5: its own .334, without its scores .334,
            with .3 of them .342, with 1 .359, with 3 .347), and a weak one's gains less.
        few: size of the list at which the retriever's scores have half their weight.
        background: how many candidates the background rarity of a word is worth (`lexical.candidate_idf`).
    """

    lexical: float = 0.4
    doubt: float = 10.0
    prior: float = 1.0
    few: float = 2.0
    background: float = 10.0


def rerank_scores(
    query: str,
    passages: Sequence[str],
    query_vectors: Vectors,
    passage_vectors: Sequence[Vectors],
    *,
    titles: Sequence[str | None] | None = None,
    prior: Sequence[float | None] | None = None,
    fusion: Fusion = Fusion(),
) -> list[float]:
    """What to order each passage by, 0 to 1, in the order given; sort by it, largest first.

    These compare passages of one call; no threshold fits them, and no result shows them. 0.5 is the mean of
    the list: a list of one, or of equals, gets 0.5 throughout.

    Args:
        query: a question, claim or search query that stands alone.
        passages: texts of the candidates, in any order.
        query_vectors: (windows, dim), rows L2-normalised.
        passage_vectors: per passage (windows, dim), rows L2-normalised; of title and text where there is a title. A
            passage counts with its best window.
        titles: per passage, or None.
        prior: the retriever's scores, larger is better, any scale; left out where one of them is None.
        fusion: the weights.

    Raises:
        InvalidInput: lists of different lengths, or a prior score that is not finite.
    """
    count = len(passages)
    for name, given in (("passage_vectors", passage_vectors), ("titles", titles), ("prior", prior)):
        if given is not None and len(given) != count:
            raise InvalidInput(name, expected=f"one per passage ({count})", got=str(len(given)))
    if not count:
        return []
    docs = [terms(with_title(text, titles[i] if titles else None)) for i, text in enumerate(passages)]
    lexical = fusion.lexical * count / (count + fusion.doubt)
    parts = [
        (1.0 - lexical, [best_cosine(query_vectors, rows) for rows in passage_vectors]),
        (lexical, bm25(terms(query), docs, prior=fusion.background)),
    ]
    known = [score for score in prior or () if score is not None]
    if not all(map(math.isfinite, known)):
        raise InvalidInput("prior", expected="finite scores", got=str(known))
    if len(known) == count:
        parts.append((fusion.prior * count / (count + fusion.few), known))
    columns = [[weight * value for value in standardised(values)] for weight, values in parts]
    return [float(sigmoid(math.fsum(row))) for row in zip(*columns, strict=True)]


def with_title(text: str, title: str | None) -> str:
    """What a passage with a title is taken to say, for words and vectors alike."""
    return f"{title}\n{text}" if title else text


def best_cosine(a: Vectors, b: Vectors) -> float:
    """Largest cosine between a window of one text and a window of the other; 0 where one has none."""
    return float((a @ b.T).max()) if len(a) and len(b) else 0.0


def standardised(values: Sequence[float]) -> list[float]:
    """Values in units of their standard deviation around their mean; all 0 where they are equal.

    Summed exactly, so that the order of the values leaves no trace.
    """
    mean = math.fsum(values) / len(values)
    spread = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
    if spread <= 1e-6 * max(1.0, abs(mean)):
        return [0.0] * len(values)
    return [(value - mean) / spread for value in values]
