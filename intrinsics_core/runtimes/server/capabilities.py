"""What a server can do, as far as it has shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from intrinsics_core.runtimes.configs import Constraints


@dataclass(frozen=True, slots=True)
class Capabilities:
    """None stands for what has not shown yet.

    Attributes:
        server: its name, e.g. ``"vLLM"``, else what it says in its list of models that owns them.
        constraints: the key by which replies are constrained.
        constraints_kept: whether the replies kept to their constraints; False once one did not.
        logprobs: whether replies come with log-probabilities.
        documents: how documents reach the model: through the chat template, or in the messages.
        template: whether arguments of the chat template are taken.
        reasoning_tokens: how many tokens a reply may have beyond what its verdict needs.
        refused: what a model refused and is asked without (``"temperature"``) or otherwise (``"length"``).
    """

    server: str | None
    constraints: Constraints
    constraints_kept: bool | None
    logprobs: bool | None
    documents: Literal["template", "messages"] | None
    template: bool
    reasoning_tokens: int
    refused: tuple[str, ...] = ()
