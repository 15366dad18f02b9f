"""How each intrinsic is trained where nothing else is said: the regimes of the papers, one row each.

Rank, learning rate and epochs are those of *A Library of LLM Intrinsics for RAG* (2025), as are the 10% of the rows
that are held out and stop the training. It gives no alpha, dropout, target layers and batch size, no epochs for
hallucinations and citations, and nothing for uncertainty: those are ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any

from pydantic import Field, ValidationError
from pydantic.dataclasses import dataclass

from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.protocol.names import unknown
from intrinsics_core.protocol.validation import expected_by

_Count = Annotated[int, Field(ge=1)]


@dataclass(frozen=True)
class Regime:
    """Numbers of a training.

    Attributes:
        rank, learning_rate, epochs: the paper's.
        alpha: scale of the adapter; None: twice the rank.
        dropout: share of an adapter's inputs left out while training.
        held: share of the rows that are not trained on and tell when to stop; 0 holds none.
        patience: epochs without a lower loss on the held rows after which training stops.
        batch: rows a step.
        accumulate: steps whose gradients are added up before the weights change.
        seed: of the order of rows, of dropout and of the first weights.
        targets: layers that are adapted, by the end of their names; None: the projections of attention that the model
            has (queries, keys and values; for a LoRA the output, too).
        grouped: put rows of like length into one batch: less padding, a less random order.
    """

    rank: _Count = 32
    learning_rate: Annotated[float, Field(gt=0, lt=1)] = 5e-6
    epochs: _Count = 25
    alpha: _Count | None = None
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.05
    held: Annotated[float, Field(ge=0, lt=0.9)] = 0.1
    patience: _Count = 3
    batch: _Count = 8
    accumulate: _Count = 1
    seed: Annotated[int, Field(ge=0)] = 42
    targets: tuple[str, ...] | None = None
    grouped: bool = False


REGIMES: Mapping[str, Regime] = {
    "query-rewrite": Regime(rank=32, learning_rate=3e-6),
    "context-relevance": Regime(rank=32, learning_rate=5e-6),
    "answerability": Regime(rank=32, learning_rate=5e-6),
    "hallucination-detection": Regime(rank=16, learning_rate=1e-5),
    "citations": Regime(rank=8, learning_rate=1e-5),
    "uncertainty": Regime(rank=8, learning_rate=1e-5),  # not given: as citations
}
_OF_PROFILE: Mapping[tuple[str, str], Mapping[str, Any]] = {("hallucination-detection", "granite-3.2"): {"rank": 8}}


def regime(intrinsic: str, profile: str = "", **changes: Any) -> Regime:
    """The regime of an intrinsic, with what the caller changed; None changes nothing.

    Raises:
        InvalidInput: a number makes no sense; names the field.
    """
    made = asdict(REGIMES.get(intrinsic, Regime())) | dict(_OF_PROFILE.get((intrinsic, profile), {}))
    if strange := next((name for name in changes if name not in made), None):
        raise unknown("there is no such training setting", strange, made)
    try:
        return Regime(**made | {name: value for name, value in changes.items() if value is not None})
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        raise InvalidInput(f"the training setting {problem['loc'][0]} is wrong", expected=expected_by(problem),
                           got=repr(problem["input"])) from None  # fmt: skip
