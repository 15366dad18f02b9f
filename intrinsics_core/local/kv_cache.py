"""Keys and values of the base model for beginnings of prompts: computed once, used by every request that begins alike.

Only the base model and aLoRA adapters may use them. An aLoRA adapter leaves the base model's weights alone up to its
invocation tokens, so what comes before them has the base model's keys and values exactly (Greenewald et al., *Activated
LoRA: Fine-tuned LLMs for Intrinsics*, 2025). A plain LoRA changes them from the first token on.
"""

from __future__ import annotations

from collections import OrderedDict
from inspect import signature
from typing import Any

import numpy as np

from intrinsics_core.local.batches import common

Layers = tuple[tuple[Any, Any], ...]  # per layer: keys and values, each (1, heads, tokens, width)


class Prefixes:
    """Prefixes in memory, least recently used out first. Not safe between threads: its runtime has a lock.

    Args:
        limit: tokens kept in all; 0 keeps nothing.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept: OrderedDict[bytes, tuple[np.ndarray, Layers]] = OrderedDict()

    @property
    def tokens(self) -> int:
        return sum(len(ids) for ids, _ in self._kept.values())

    def longest(self, ids: np.ndarray) -> tuple[Layers, int]:
        """What is known of the beginning of ``ids``: keys and values, and for how many of its tokens they hold."""
        best, length = None, 0
        for key, (known, _) in self._kept.items():
            if (alike := common(known, ids)) > length:
                best, length = key, alike
        if best is None:
            return (), 0
        self._kept.move_to_end(best)
        return self._kept[best][1], length

    def put(self, ids: np.ndarray, layers: Layers) -> None:
        """Keep these; prefixes that they contain go."""
        if len(ids) > self._limit:
            return
        for key in [key for key, (known, _) in self._kept.items() if common(known, ids) == len(known)]:
            del self._kept[key]
        self._kept[ids.tobytes()] = ids, layers
        while self.tokens > self._limit:
            self._kept.popitem(last=False)


def cache_of(layers: Layers, length: int, rows: int) -> Any:
    """A cache to generate with: the first ``length`` tokens, for each of so many rows. The originals are kept."""
    from transformers import DynamicCache

    cache = DynamicCache()
    for index, (keys, values) in enumerate(layers):
        cache.update(*(part[:, :, :length].expand(rows, -1, -1, -1) for part in (keys, values)), index)
    return cache


def layers_of(cache: Any) -> Layers:
    return tuple((layer.keys, layer.values) for layer in cache.layers)


def cache_name(model: Any) -> str:
    """What a model's ``forward`` calls the cache that it is given: that depends on the version of transformers."""
    return "cache" if "cache" in signature(model.forward).parameters else "past_key_values"


def can_share(config: Any, *, windows: bool = False) -> bool:
    """Whether each layer keeps a key and a value of each token, whatever follows it: recurrent states do not.

    In ``windows``, too, of the last tokens: padding inside a row would push some out of them.
    """
    from transformers.cache_utils import DynamicCache, DynamicLayer, DynamicSlidingWindowLayer

    if any(kind in str(getattr(config.get_text_config(), "rope_parameters", "")) for kind in ("longrope", "dynamic")):
        return False
    kinds = (DynamicLayer, DynamicSlidingWindowLayer) if windows else (DynamicLayer,)
    return all(type(layer) in kinds for layer in DynamicCache(config=config).layers)
