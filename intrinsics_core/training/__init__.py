"""Adapters trained with the very prompts that serve them: ``intrinsics train``, and :func:`train` in Python.

What is said to the model comes from a profile (``Format.render``, ``Format.write``), token numbers from the function
that the runtimes use. Heavy libraries (torch, transformers, peft, trl, datasets: the extra ``[train]``) are loaded
where a model is.
"""

from __future__ import annotations

from intrinsics_core.training.adapter_training import Trained, train

__all__ = ["Trained", "train"]
