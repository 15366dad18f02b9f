"""An aLoRA's batch from where the adapter begins: what is before is the base's own, so it takes no gradients."""

from __future__ import annotations

from inspect import signature
from typing import Any

from intrinsics_core.local.kv_cache import cache_name, can_share
from intrinsics_core.local.peft_adapters import LoadedAdapter


def can_cut(base: Any) -> bool:
    """Whether a model reads a text in two parts as it reads the whole, each row at positions of its own."""
    return can_share(base.config, windows=True) and "position_ids" in signature(base.forward).parameters


def behind_prefix(
    model: Any, adapter: LoadedAdapter, following: Any, input_ids: Any, attention_mask: Any
) -> tuple[Any, dict[str, Any]]:
    """What follows each token (-100: nothing that is learned), and the model's inputs, over the base's keys and values.

    Rows are moved until all begin at one token. Each tensor is (rows, tokens).
    """
    import torch
    from torch.nn.functional import pad
    from transformers import DynamicCache

    starts = [adapter.start(row) for row in input_ids.tolist()]
    at = max(1, *starts)

    def aligned(rows: Any, filler: int) -> Any:
        rows = pad(rows, (0, at - min(starts)), value=filler)
        return torch.stack([row.roll(at - start) for row, start in zip(rows, starts, strict=True)])

    ids, seen, following = aligned(input_ids, 0), aligned(attention_mask, 0), aligned(following, -100)
    places = (seen.cumsum(1) - 1).clamp(min=0)
    end = int(seen.any(dim=0).nonzero().max()) + 1
    read = {cache_name(model.get_base_model()): DynamicCache(config=model.config), "use_cache": True}
    with torch.no_grad(), model.disable_adapter():
        model(input_ids=ids[:, :at], attention_mask=seen[:, :at], position_ids=places[:, :at], logits_to_keep=1, **read)
    inputs = {"input_ids": ids[:, at:end], "attention_mask": seen[:, :end], "position_ids": places[:, at:end]}
    return following[:, at:end], read | inputs
