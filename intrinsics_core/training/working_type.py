"""The type that a processor multiplies fastest, for training. torch is loaded where it is asked."""

from __future__ import annotations

import timeit
from functools import cache, partial
from typing import Any


def working_type(device: Any) -> Any:
    """bfloat16 on a GPU that has it and on a CPU that multiplies matrices of it faster, else float32.

    A processor may have instructions for it (AVX-512) and still be slower with it than in float32, so it is measured.
    """
    import torch

    if device.type == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float32
    able: dict[str, bool] = getattr(torch.cpu, "get_capabilities", dict)()  # a torch that cannot tell works in float32
    faster = able.get("amx_bf16") or (able.get("avx512_bf16") and _bfloat16_is_faster())
    return torch.bfloat16 if device.type == "cpu" and faster else torch.float32


@cache
def _bfloat16_is_faster() -> bool:
    """Whether this processor takes less than two thirds of the time of float32 to multiply matrices of bfloat16."""
    import torch

    def seconds(dtype: torch.dtype) -> float:
        a, b = torch.ones(512, 384, dtype=dtype), torch.ones(384, 1536, dtype=dtype)
        return min(timeit.repeat(partial(torch.matmul, a, b), number=1, repeat=9))

    return seconds(torch.float32) > 1.5 * seconds(torch.bfloat16)
