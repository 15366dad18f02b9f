"""Cross-encoders behind a score endpoint: vLLM's ``/v1/score``, for models with one label.

A pair that is too long for the model is refused by the server, never cut: its source is then halved, with an overlap,
until the parts fit, and the best part counts, as in windows of a model in this process. The texts reach the server's
tokenizer as they are: a special token that a document spells is one there. In this process it is not.
"""

from __future__ import annotations

import asyncio
import copy
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from intrinsics_core.calibration.probabilities import CERTAIN
from intrinsics_core.encoders.over_base import OverBaseRuntime
from intrinsics_core.protocol.errors import (
    ContextTooLong,
    IntrinsicsError,
    MalformedReply,
    RequestTimeout,
    RuntimeUnavailable,
)
from intrinsics_core.protocol.requests import Outcome, Read, Request, Score, Scored
from intrinsics_core.runtimes.base import aanswers
from intrinsics_core.runtimes.configs import EncodersConfig
from intrinsics_core.runtimes.server.connected import ConnectedRuntime
from intrinsics_core.runtimes.server.sessions import Session
from intrinsics_core.runtimes.server.transport import response_type

_SOURCE = {"relevance": 1, "entailment": 0}  # which text of a pair is the source, that may be halved
_AT_ONCE = 32  # pairs in one request
_OVERLAP = 0.1  # share of a part that lies in the next one, too
_LEAST = 200  # characters of a source that are not halved again: what is too long then is the claim
_TELLING = ("What grows here?", "Apples grow here."), ("What grows here?", "The bus leaves at nine.")

Pair = tuple[str, str]


class ScoringRuntime(OverBaseRuntime, ConnectedRuntime):
    """Models that a server scores with; :class:`EncodersConfig` says what it is told.

    Whether the server tells logits or probabilities is asked once per model; logits are kept where it tells them.
    """

    config: EncodersConfig

    def prepare(self) -> None:
        ConnectedRuntime.prepare(self)
        OverBaseRuntime.prepare(self)
        self._logits: dict[str, bool] = {}  # by model: whether it tells logits

    async def ahandle(self, requests: Sequence[Request]) -> list[Outcome]:
        mine = [i for i, r in enumerate(requests) if isinstance(r, Score) and not r.own and r.task in self.places]
        rest = [i for i in range(len(requests)) if i not in set(mine)]
        scored = asyncio.gather(*(self._outcome(requests[i]) for i in mine))
        others = await aanswers(self.base, [requests[i] for i in rest])
        outcomes = dict(zip(rest, others, strict=True)) | dict(zip(mine, await scored, strict=True))
        return [outcomes[i] for i in range(len(requests))]

    async def _outcome(self, request: Request) -> Outcome:
        assert isinstance(request, Score)
        if request.task not in self.places:
            return self.refused(request.task, request)
        model, at = self.places[request.task], _SOURCE[request.task]
        session = self._sessions.here()
        try:
            await session.flights.join(model, lambda: self._find_out(session, model))
            batches = [request.pairs[i : i + _AT_ONCE] for i in range(0, len(request.pairs), _AT_ONCE)]
            found = await asyncio.gather(*(self._scored(session, model, batch, at) for batch in batches))
        except IntrinsicsError as error:
            return copy.copy(error).named(request.intrinsic)
        except Exception as error:
            return RuntimeUnavailable(f"the request could not be made ({type(error).__name__})",
                                      intrinsic=request.intrinsic)  # fmt: skip
        given = sum(len(pair[at]) for pair in request.pairs)
        return Scored(tuple((logit,) for batch in found for logit in batch), ("yes",), Read(given, given))

    async def _scored(self, session: Session, model: str, pairs: Sequence[Pair], at: int) -> list[float]:
        """Logits of some pairs; where they do not fit, each by itself, and where it does not, in parts."""
        try:
            return [self._logit(model, value) for value in await self._post(session, model, pairs, activated=False)]
        except ContextTooLong:
            if len(pairs) > 1:
                alone = await asyncio.gather(*(self._scored(session, model, [pair], at) for pair in pairs))
                return [logit for (logit,) in alone]
            (pair,) = pairs
            if len(pair[at]) <= _LEAST:
                why = "the claim or question is too long for the model, and it is never truncated"
                raise ContextTooLong(why, expected="a shorter one", got=f"{len(pair[1 - at])} characters") from None
        parts = [(half, pair[1]) if at == 0 else (pair[0], half) for half in halves(pair[at])]
        found = await asyncio.gather(*(self._scored(session, model, [part], at) for part in parts))
        return [max(logit for (logit,) in found)]  # one part is enough to hold it

    def _logit(self, model: str, value: float) -> float:
        if self._logits.get(model):
            return value
        if not 0 <= value <= 1:
            raise MalformedReply(
                f"model {model!r} gave a score that is not a probability, although earlier ones were",
                expected="a number from 0 to 1",
                got=repr(value),
                raw=repr(value),
            )
        return max(-CERTAIN, min(CERTAIN, math.log(value / (1 - value)))) if 0 < value < 1 else math.copysign(
            CERTAIN, value - 0.5
        )  # fmt: skip

    async def _find_out(self, session: Session, model: str) -> None:
        """Find out whether the model tells logits: the same with and without an activation, it has none, or the server
        does not know the word; then what lies outside 0..1 are logits.

        Raises:
            IntrinsicsError: it cannot be asked.
        """
        if model in self._logits:
            return
        plain, activated = [await self._post(session, model, _TELLING, activated=flag) for flag in (False, True)]
        activates = any(not math.isclose(a, b, abs_tol=1e-6) for a, b in zip(plain, activated, strict=True))
        self._logits[model] = activates or any(not 0 <= value <= 1 for value in plain)

    async def _post(self, session: Session, model: str, pairs: Sequence[Pair], *, activated: bool) -> list[float]:
        """The server's scores of the pairs, in order.

        Raises:
            IntrinsicsError: what went wrong, in the words of this library.
        """
        import openai

        said = {
            "model": model,
            "text_1": [first for first, _ in pairs],
            "text_2": [second for _, second in pairs],
            "use_activation": activated,
        }
        client = await session.client()
        try:
            async with self._limiter.place(), asyncio.timeout(self.config.patience):
                raw = await client.post("/score", cast_to=response_type(), body=said)
            return scores(raw.content, len(pairs))
        except TimeoutError:
            raise RequestTimeout("the server did not finish its answer in time") from None
        except openai.APIError as error:
            raise self._translated(error, model) from None

    def close(self) -> None:
        super().close()
        self.base.close()


def halves(text: str) -> tuple[str, str]:
    """Two parts that overlap in the middle, cut at a space where there is one nearby."""
    middle, shared = len(text) // 2, max(1, int(len(text) * _OVERLAP / 2))
    first, second = text[: middle + shared], text[middle - shared :]
    return first.rsplit(None, 1)[0] if " " in first[-shared:] else first, (
        second.split(None, 1)[1] if " " in second[:shared].strip() else second
    )


def scores(content: bytes, count: int) -> list[float]:
    """The scores in a reply of the endpoint, by their index.

    Raises:
        MalformedReply: it is none.
    """
    text = content[:20_000].decode("utf-8", "replace")
    try:
        reply: Any = json.loads(content)
        rows = reply["data"] if isinstance(reply, Mapping) else None
        found = {row["index"]: row["score"] for row in rows}  # type: ignore[union-attr]
        values = [found[i] for i in range(count)]
        if len(rows) != count or any(isinstance(v, bool) or not math.isfinite(v) for v in values):  # type: ignore[arg-type]
            raise ValueError("there is not one finite number for each pair")
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        why = f"the server's scores cannot be read ({type(error).__name__}: {error})"[:300]
        expected = f'{{"data": [{{"index", "score"}}]}} of {count}'
        raise MalformedReply(why, expected=expected, got=repr(text), raw=text) from None
    return [float(value) for value in values]
