"""An aLoRA's batch from where the adapter begins: what is before is the base's own, so it takes no gradients."""

from __future__ import annotations

from typing import Any

from intrinsics_core.local.kv_cache import cache_name
from intrinsics_core.local.peft_adapters import LoadedAdapter


def behind_prefix(
    model: Any, adapter: LoadedAdapter, following: Any, input_ids: Any, attention_mask: Any
) -> tuple[Any, dict[str, Any]]:
    """What follows each token (-100: nothing that is learned), and the model's inputs, over the base's keys and values.

    Rows are moved until all begin at one token. Each tensor is (rows, tokens).
    """
    import torch
    from torch.nn.functional import pad

    starts = [adapter.start(row) for row in input_ids.tolist()]
    at = max(1, *starts)

    def aligned(rows: Any, filler: int) -> Any:
        rows = pad(rows, (0, at - min(starts)), value=filler)
        return torch.stack([row.roll(at - start) for row, start in zip(rows, starts, strict=True)])

    ids, seen, following = aligned(input_ids, 0), aligned(attention_mask, 0), aligned(following, -100)
    places = (seen.cumsum(1) - 1).clamp(min=0)
    end = int(seen.any(dim=0).nonzero().max()) + 1
    with torch.no_grad(), model.disable_adapter():
        read = model(input_ids=ids[:, :at], attention_mask=seen[:, :at], position_ids=places[:, :at], use_cache=True,
                     logits_to_keep=1)  # fmt: skip
    return following[:, at:end], {
        "input_ids": ids[:, at:end], "attention_mask": seen[:, :end], "position_ids": places[:, at:end],
        cache_name(model.get_base_model()): read.past_key_values, "use_cache": True,
    }  # fmt: skip
