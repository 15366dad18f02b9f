"""The tokens from which on an aLoRA's weights are active: found, and verified row by row.

PEFT takes the last match of a sequence, and where there is none lets the base model answer without a word. So every
example is checked: the tokens come once in the end that all prompts share, at the same distance from the reply, and
never in a reply.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from intrinsics_core.local.batches import common
from intrinsics_core.local.peft_adapters import LoadedAdapter
from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.training.examples import Example
from intrinsics_core.training.labelled import refusing


def invocation_of(rows: Sequence[Example], tokenizer: Any, text: str | None = None) -> tuple[int, ...]:
    """The invocation of an adapter, verified in every row.

    Args:
        text: the invocation as text; None: what opens the reply, the shortest end that all prompts share and that
            begins with a special token and holds another (``<|start_of_role|>assistant<|end_of_role|>``).

    Raises:
        InvalidInput: there is none, or rows do not hold it where the adapter should begin; names them.
    """
    ends = [np.array(row.prompt[::-1]) for row in rows]
    shared = ends[0][: min(common(ends[0], end) for end in ends)][::-1].tolist()
    tokens = _opening(shared, tokenizer) if text is None else tuple(tokenizer.encode(text, add_special_tokens=False))
    if not tokens:
        raise InvalidInput(
            "the aLoRA has no activation tokens, because the prompts share no ending that begins with a special token",
            expected="invocation=, the text from which the adapter is active",
        )
    at = LoadedAdapter("", tokens).start(rows[0].prompt) - rows[0].start  # before the reply: negative
    refusing(rows, lambda row: verified(row, tokens, at))
    return tokens


def verified(row: Example, tokens: Sequence[int], at: int) -> None:
    """That the adapter begins at ``at`` of this row, counted from its reply: where PEFT and the runtime find it.

    Raises:
        InvalidInput: it begins elsewhere, or nowhere, or again in the reply; names the row.
    """
    wanted = tuple(tokens)
    found = [i - row.start for i in range(len(row.ids) - len(wanted) + 1) if row.ids[i : i + len(wanted)] == wanted]
    if not found or found[-1] != at:
        raise InvalidInput(
            f"{row.name}: the aLoRA would be activated at the wrong place",
            expected=f"its activation tokens {-at} tokens before the reply, and only there",
            got=f"{-found[-1]} before" if found else "none",
        )


def _opening(shared: Sequence[int], tokenizer: Any) -> tuple[int, ...]:
    special = [i for i, token in enumerate(shared) if token in set(tokenizer.all_special_ids)]
    return tuple(shared[special[-2] :]) if len(special) > 1 else ()
