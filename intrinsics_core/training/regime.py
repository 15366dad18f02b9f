"""How each intrinsic is trained where nothing else is said: the regimes of the papers, one row each.

Rank, learning rate and epochs are those of *A Library of LLM Intrinsics for RAG* (2025), as are the 10% of the rows
that are held out and stop the training. It gives no alpha, dropout, target layers and batch size, no epochs for
hallucinations and citations, and nothing for uncertainty: those are ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from intrinsics_core.protocol.errors import InvalidInput


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

    rank: int = 32
    learning_rate: float = 5e-6
    epochs: int = 25
    alpha: int | None = None
    dropout: float = 0.05
    held: float = 0.1
    patience: int = 3
    batch: int = 8
    accumulate: int = 1
    seed: int = 42
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

_AT_LEAST: Mapping[str, float] = {"rank": 1, "epochs": 1, "alpha": 1, "patience": 1, "batch": 1, "accumulate": 1,
                                  "seed": 0, "dropout": 0, "held": 0}  # fmt: skip
_BELOW: Mapping[str, float] = {"dropout": 1, "held": 0.9, "learning_rate": 1}


def regime(intrinsic: str, profile: str = "", **changes: Any) -> Regime:
    """The regime of an intrinsic, with what the caller changed; None changes nothing.

    Raises:
        InvalidInput: a number makes no sense; names the field.
    """
    known = {field.name for field in fields(Regime)}
    if unknown := sorted(set(changes) - known):
        raise InvalidInput(f"{unknown[0]} is not a training setting", expected=f"one of {', '.join(sorted(known))}")
    given = {name: value for name, value in changes.items() if value is not None}
    made = replace(REGIMES.get(intrinsic, Regime()), **_OF_PROFILE.get((intrinsic, profile), {}), **given)
    for name, least in _AT_LEAST.items():
        if (value := getattr(made, name)) is not None and value < least:
            raise InvalidInput(f"{name} is too small", expected=f"at least {least:g}", got=repr(value))
    for name, bound in _BELOW.items():
        if getattr(made, name) >= bound:
            raise InvalidInput(f"{name} is too large", expected=f"less than {bound:g}", got=repr(getattr(made, name)))
    if made.learning_rate <= 0:
        raise InvalidInput("learning_rate is not positive", expected="e.g. 5e-6", got=repr(made.learning_rate))
    return made
