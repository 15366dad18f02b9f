"""One batch, many wishes: each row has its own constraint, budget, stop texts, temperature and seed.

`generate` of transformers knows one setting for a whole batch. So it is told to be greedy and to obey
:class:`RowLogitsProcessor`, which chooses the next token of every row by that row's own rules and leaves nothing else
to choose.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from intrinsics_core.local.grammars import Matcher
from intrinsics_core.protocol.errors import IntrinsicsError, as_intrinsics_error
from intrinsics_core.protocol.requests import Generate, Generated, TokenLogprob, Usage

_ALTERNATIVES = 20  # log-probabilities per place: as many as a server is asked for


class Generation:
    """One reply in the making.

    Args:
        request: what was asked.
        ids: tokens of the prompt.
        budget: tokens that may be generated.
        words: turns tokens into text.
        ends: tokens that end a reply.
        matcher: the constraint, at its beginning.
    """

    def __init__(
        self,
        request: Generate,
        ids: list[int],
        budget: int,
        words: Detokeniser,
        ends: frozenset[int],
        matcher: Matcher | None,
    ) -> None:
        self.request, self.ids, self.budget = request, ids, budget
        self.matcher = matcher
        self.cached = 0  # tokens of the prompt whose keys and values were there already
        self.tokens: list[int] = []
        self.finish: str | None = None
        self.error: IntrinsicsError | None = None
        self._words, self._ends = words, ends
        self._logprobs: list[tuple[float, list[tuple[int, float]]]] = []
        self._random: Any = None
        self._cut: int | None = None  # where in the text a stop text begins

    @property
    def open(self) -> bool:
        return self.finish is None and self.error is None

    def choose(self, scores: Any, best: int) -> int:
        """The next token, from scores over all tokens of which the constraint left only what is allowed."""
        if self.request.temperature <= 0:
            return best
        return _drawn(scores, self.request.temperature, self.request.top_p, self._generator())

    def take(self, token: int, logprob: float, top: list[tuple[int, float]]) -> None:
        """Go on by one token; sets ``finish`` where it was the last."""
        self.tokens.append(token)
        if self.request.logprobs:
            self._logprobs.append((logprob, top))
        if token in self._ends:
            self.finish = "stop"
            return
        if self.request.stop:
            text = self._words.text(self.tokens)
            found = [at for stop in self.request.stop if stop and (at := text.find(stop)) >= 0]
            if found:
                self._cut, self.finish = min(found), "stop"
                return
        if self.matcher is not None and self.matcher.take(token):
            self.finish = "stop"  # nothing could follow but the end
        elif len(self.tokens) >= self.budget:
            self.finish = "length"

    def forced(self) -> list[int]:
        """The tokens that the constraint leaves no choice about."""
        return self.matcher.forced() if self.open and self.matcher is not None else []

    def take_forced(self) -> list[int]:
        """Go on by the tokens that :meth:`forced` names, as far as the budget goes; these tokens."""
        begun = len(self.tokens)
        with _Kept(self):
            for token in self.forced():
                if self.open:
                    self.take(token, 0.0, [(token, 0.0)])
        return self.tokens[begun:]

    def outcome(self, seconds: float) -> Generated | IntrinsicsError:
        """The reply, or what went wrong. ``seconds`` is this row's share of the time its batch took."""
        if self.error is not None:
            return self.error
        return Generated(
            text=self._words.text(self.tokens)[: self._cut],
            logprobs=self._token_logprobs() if self.request.logprobs else None,
            finish_reason=self.finish,
            usage=Usage(1, len(self.ids), len(self.tokens), self.cached, seconds),
        )

    def _token_logprobs(self) -> tuple[TokenLogprob, ...]:
        pieces = self._words.pieces(self.tokens)
        return tuple(
            TokenLogprob(piece, logprob, tuple((self._words.piece(other), value) for other, value in top))
            for piece, (logprob, top) in zip(pieces, self._logprobs, strict=True)
        )

    def _generator(self) -> Any:
        import torch

        if self._random is None:
            self._random = torch.Generator()  # on the CPU: the same draw whatever the device
            if self.request.seed is None:
                self._random.seed()
            else:
                self._random.manual_seed(self.request.seed)
        return self._random


def _drawn(scores: Any, temperature: float, top_p: float | None, generator: Any) -> int:
    import torch

    odds = torch.softmax(scores.double().cpu() / temperature, dim=-1)
    if top_p is not None and top_p < 1:
        ranked, order = odds.sort(descending=True)
        beyond = ranked.cumsum(0) - ranked >= top_p  # the token that crosses the bound still counts
        beyond[0] = False
        odds[order[beyond]] = 0
    return int(torch.multinomial(odds, 1, generator=generator))


class RowLogitsProcessor:
    """Chooses the next token of each row: a logits processor for `generate`.

    What goes wrong with one row is kept as that row's error and ends it; the others go on.
    """

    def __init__(self, rows: Sequence[Generation], pad: int) -> None:
        self._rows, self._pad = rows, pad

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        import torch

        for row, own in zip(self._rows, scores, strict=True):
            if row.open and row.matcher is not None:
                with _Kept(row):
                    forbidden = torch.from_numpy(~row.matcher.allowed()).to(own.device)
                    own.masked_fill_(forbidden, -math.inf)
        best: list[int] = scores.argmax(-1).tolist()
        chosen = [self._pad] * len(best)
        for i, row in enumerate(self._rows):
            if row.open:
                with _Kept(row):
                    chosen[i] = token = row.choose(scores[i], best[i])
                    row.take(token, *_logprobs(scores[i], token) if row.request.logprobs else (0.0, []))
        only = torch.full_like(scores, -math.inf)
        return only.scatter_(1, torch.tensor(chosen, device=scores.device)[:, None], 0.0)


class RowStoppingCriterion:
    """Which rows are complete: a stopping criterion for `generate`. ``ahead``: all stop where one has forced tokens."""

    def __init__(self, rows: Sequence[Generation], ahead: bool) -> None:
        self._rows, self._ahead = rows, ahead

    def __call__(self, input_ids: Any, scores: Any, **_: Any) -> Any:
        import torch

        pause = False
        for row in self._rows if self._ahead else ():
            with _Kept(row):
                pause = pause or len(row.forced()) > 1  # one token costs a pass either way
        return torch.tensor([pause or not row.open for row in self._rows], device=input_ids.device)


class _Kept:
    """Keeps an exception as the row's error."""

    def __init__(self, row: Generation) -> None:
        self._row = row

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        if not isinstance(error, Exception):
            return False
        self._row.error = as_intrinsics_error(error).named(self._row.request.intrinsic)
        return True


def _logprobs(scores: Any, token: int) -> tuple[float, list[tuple[int, float]]]:
    """Of the token and of the most likely ones; what the constraint forbids is not among them."""
    logs = scores.log_softmax(-1)
    values, ids = logs.topk(min(_ALTERNATIVES, len(logs)))
    top = [(other, value) for other, value in zip(ids.tolist(), values.tolist(), strict=True) if value > -math.inf]
    return float(logs[token]), top


class Detokeniser:
    """Tokens as text."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        # Some tokenizers drop a space at the start of a text: a token's own text is what it adds after another.
        self._anchor: list[int] = tokenizer.encode("a", add_special_tokens=False)
        self._known: dict[int, str] = {}
        self._anchored = len(self._decoded(self._anchor, skip=False))

    def text(self, tokens: Sequence[int]) -> str:
        """The reply: without special tokens, and without the beginning of a character that did not come to its end."""
        return self._decoded(list(tokens), skip=True).rstrip("\ufffd")

    def piece(self, token: int) -> str:
        """One token's own text."""
        if token not in self._known:
            self._known[token] = self._after_anchor([token])
        return self._known[token]

    def pieces(self, tokens: Sequence[int]) -> list[str]:
        """Each token's part of the text: a character spread over several tokens is in the last of them."""
        pieces, waiting = [], list[int]()
        for token in tokens:
            waiting.append(token)
            text = self._after_anchor(waiting)
            if text.endswith("\ufffd") and len(waiting) < 4:  # no character has more than four bytes
                pieces.append("")
                continue
            pieces.append(text)
            waiting = []
        return pieces

    def _after_anchor(self, tokens: list[int]) -> str:
        return self._decoded(self._anchor + tokens, skip=False)[self._anchored :]

    def _decoded(self, tokens: list[int], *, skip: bool) -> str:
        text: str = self._tokenizer.decode(tokens, skip_special_tokens=skip, clean_up_tokenization_spaces=False)
        return text
