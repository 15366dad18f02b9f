"""One encoder, from its place to verdicts: what it is, how texts reach it, in which batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from intrinsics_core._support import cancellation as cancelling
from intrinsics_core.calibration.probabilities import log_odds, sigmoid
from intrinsics_core.encoders.conventions import SUMMARISED, TAGGED, recognised
from intrinsics_core.encoders.graphs import BACKENDS
from intrinsics_core.encoders.places import folder_of, read_config
from intrinsics_core.encoders.windows import Texts, Tokenized, Tokens, Windowed
from intrinsics_core.protocol.errors import IntrinsicsError, MalformedReply
from intrinsics_core.protocol.requests import Outcome, Read, Score, Scored, Tag, Tagged, TaggedSpan
from intrinsics_core.runtimes.configs import EncodersConfig

# Of these, positions are counted from the padding token on: two fewer are left to texts.
_OFFSET_POSITIONS = {"roberta", "xlm-roberta", "camembert", "mpnet", "longformer", "xlm-roberta-xl"}
_UNBOUNDED = 1_000_000  # tokens: what tokenizers write who know no bound
_SHORT = 3  # characters for each token that a model reads: a text of no more most likely fits
_POSITIVE = ("yes", "entailment")


class EncoderModel:
    """A loaded encoder in one role.

    Args:
        role: ``"relevance"``, ``"entailment"`` or ``"tokens"``.
        place: a folder or a place on the hub.
        given: what the runtime is told.

    Raises:
        InvalidInput: the model is of no kind that serves the role.
        RuntimeUnavailable: it cannot be had or loaded.
    """

    def __init__(self, role: str, place: str, given: EncodersConfig) -> None:
        made_by = BACKENDS[given.backend]
        folder = folder_of(place, given.revision, made_by.files(given.file_name))
        config = read_config(place, folder)
        self.role, self._batch_tokens, self._most = role, given.batch_tokens, given.max_document_tokens
        self.convention, self.labels = recognised(role, place, config)
        row = self.convention
        limit = min(_limit(config, row.limit), row.most or _UNBOUNDED)
        self._texts = Texts(folder, limit, row.window)
        if row.words:
            row = self.convention = replace(row, columns=tuple(map(self._texts.number, row.words)))
        self._pad = int(config.get("pad_token_id") or 0)
        self._backend = made_by(row, config, folder, given.file_name, given.device)

    def answer(self, requests: Sequence[Score | Tag]) -> list[Outcome]:
        """One outcome per request. A request fails if its text is too long or a score is NaN; others are answered."""
        prepared: list[tuple[list[Windowed], int] | IntrinsicsError] = []
        for request in requests:
            try:
                prepared.append(self._prepared(request))
            except IntrinsicsError as error:
                prepared.append(error.named(request.intrinsic))
        inputs = [each for ready in prepared if isinstance(ready, tuple) for pair in ready[0] for each in pair.inputs]
        logits = iter(self._logits(inputs))
        outcomes: list[Outcome] = []
        for request, ready in zip(requests, prepared, strict=True):
            if isinstance(ready, IntrinsicsError):
                outcomes.append(ready)
                continue
            pairs, unread = ready
            found = [[next(logits) for _ in pair.inputs] for pair in pairs]
            read = sum((pair.read for pair in pairs), Read())
            if not all(np.isfinite(each).all() for windows in found for each in windows):
                why = "the model returned logits that are NaN or infinite"
                outcomes.append(MalformedReply(why, intrinsic=request.intrinsic, expected="finite logits"))
            elif isinstance(request, Tag):
                tagged = [self._tagged(pair, windows) for pair, windows in zip(pairs, found, strict=True)]
                outcomes.append(Tagged(tuple(tagged), read, unread))
            else:
                best = [max(windows, key=self._support) for windows in found]  # one window is enough to hold it
                outcomes.append(Scored(tuple(tuple(map(float, row)) for row in best), self.labels, read, unread))
        return outcomes

    def _prepared(self, request: Score | Tag) -> tuple[list[Windowed], int]:
        """The inputs for each pair, and how many tokens of the sources are not read. Each source counts once, in the
        order in which they come; the one at the limit is read up to it.
        """
        given = request.sources if isinstance(request, Score) else [first for first, _ in request.pairs]
        # No tokenizer makes more tokens than twice the characters: most calls need not count, and most texts fit whole.
        apart = isinstance(request, Score) and request.apart
        counted = 2 * (max if apart else sum)(map(len, dict.fromkeys(given))) > self._most
        sources: dict[str, Tokenized | str] = {}
        left = self._most
        for text in given:
            if text in sources:
                continue
            if not counted and len(text) <= _SHORT * self._texts.limit:
                sources[text] = text
                continue
            found = sources[text] = self._texts.source(text, left)
            left -= 0 if apart else len(found.begins)
        windowed = [
            self._windowed(request, sources[text], *pair) for text, pair in zip(given, request.pairs, strict=True)
        ]
        return windowed, sum(source.unread for source in sources.values() if not isinstance(source, str))

    def _windowed(self, request: Score | Tag, source: Tokenized | str, first: str, second: str) -> Windowed:
        texts, template = self._texts, self.convention.template
        if isinstance(request, Tag):
            head, tail = TAGGED if request.question else SUMMARISED
            head = head.replace("{passages}", str(request.passages)).replace("{question}", request.question)
            return texts.windows(source, lambda part: texts.pair(head + part + tail, second), "answer")
        claim, called = (first, "question") if self.role == "relevance" else (second, "claim")
        if template is not None:
            return texts.windows(source, lambda part: texts.filled(template, part, claim), called)
        if self.role == "relevance":
            return texts.windows(source, lambda part: texts.pair(claim, part), called)
        return texts.windows(source, lambda part: texts.pair(part, claim), called)

    def _support(self, row: np.ndarray) -> float:
        yes = next(i for i, label in enumerate(self.labels) if label in _POSITIVE)
        return log_odds([float(x) for x in row], yes)

    def _tagged(self, pair: Windowed, windows: Sequence[np.ndarray]) -> tuple[TaggedSpan, ...]:
        """Of each token of the answer the least probability over the windows: evidence in one of them is enough."""
        yes = self.labels.index("hallucinated")
        least: dict[tuple[int, int], float] = {}
        for each, rows in zip(pair.inputs, windows, strict=True):
            here: dict[tuple[int, int], float] = {}
            for (_, begin, end), row in zip(each.marked, rows, strict=True):  # one character may be several tokens
                probability = sigmoid(log_odds([float(x) for x in row], yes))
                here[begin, end] = max(probability, here.get((begin, end), 0.0))
            least |= {span: min(probability, least.get(span, 1.0)) for span, probability in here.items()}
        return tuple(TaggedSpan(begin, end, probability) for (begin, end), probability in sorted(least.items()))

    def _logits(self, inputs: Sequence[Tokens]) -> list[np.ndarray]:
        """Logits of each input, of a token classifier those of its marked tokens; read in batches of like length."""
        found: dict[int, np.ndarray] = {}
        for batch in batches([len(each.ids) for each in inputs], self._batch_tokens):
            cancelling.check()
            width = len(inputs[batch[0]].ids)
            ids = np.full((len(batch), width), self._pad, np.int64)
            mask, types = np.zeros_like(ids), np.zeros_like(ids)
            for row, i in enumerate(batch):
                length = len(inputs[i].ids)
                ids[row, :length], types[row, :length], mask[row, :length] = inputs[i].ids, list(inputs[i].types), 1
            for i, logits in zip(batch, self._backend.logits(ids, mask, types), strict=True):
                marked = [position for position, *_ in inputs[i].marked]
                found[i] = logits[marked] if self.role == "tokens" else logits
        return [found[i] for i in range(len(inputs))]


def batches(lengths: Sequence[int], tokens: int) -> list[list[int]]:
    """Indices in batches, the longest first, rows times the longest within ``tokens``; one longer has its own batch."""
    found: list[list[int]] = []
    for i in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if found and (len(found[-1]) + 1) * lengths[found[-1][0]] <= tokens:
            found[-1].append(i)
        else:
            found.append([i])
    return found


def _limit(config: Mapping[str, Any], usual: int) -> int:
    """Tokens that a model reads at once; ``usual`` where its config does not say (T5 counts no positions)."""
    positions = config.get("max_position_embeddings")
    if not isinstance(positions, int) or not 0 < positions < _UNBOUNDED:
        return usual
    return positions - 2 if config.get("model_type") in _OFFSET_POSITIONS else positions
