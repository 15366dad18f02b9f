"""Chat models inside what LangChain wraps around them: retries, bound settings, fallbacks, choices made by a config.

``with_structured_output`` and settings such as log-probabilities are a chat model's own; a wrapper has neither. So they
are applied to the models inside, and the wrappers put around again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.base import RunnableBindingBase, coerce_to_runnable
from langchain_core.runnables.config import merge_configs
from langchain_core.runnables.configurable import DynamicRunnable
from langchain_core.runnables.fallbacks import RunnableWithFallbacks

AnyRunnable = Runnable[Any, Any]


def as_runnable(value: Any) -> AnyRunnable:
    """A field's value as a Runnable.

    Raises:
        ValueError: it is none, nor a function; pydantic names the field, which it does not of a TypeError.
    """
    try:
        runnable: AnyRunnable = coerce_to_runnable(value)
    except TypeError:
        raise ValueError(f"expected a Runnable or a function; got {type(value).__name__}") from None
    return runnable


def chat_models(model: AnyRunnable) -> Sequence[BaseChatModel | None] | None:
    """The chat models in a Runnable, None for one that the config of each call chooses; None where it is no wrapper."""
    if isinstance(model, BaseChatModel):
        return [model]
    if _chosen_by_config(model):
        return [None]
    if isinstance(model, RunnableBindingBase):
        found = chat_models(model.bound)
        # What is bound and is no setting of the model (tools, say) cannot be kept beside a schema.
        names = set(model.kwargs)
        fits = found is not None and all(m is None or names <= set(type(m).model_fields) for m in found)
        return found if fits else None
    if isinstance(model, RunnableWithFallbacks):
        inner = [chat_models(each) for each in (model.runnable, *model.fallbacks)]
        return None if None in inner else [m for each in inner for m in each or ()]
    return None


def resolved(model: AnyRunnable, config: RunnableConfig) -> AnyRunnable:
    """The same with what the config of this call chooses in the place of every choice."""
    if isinstance(model, DynamicRunnable):
        return resolved(model.prepare(config)[0], config)
    if _chosen_by_config(model):
        return resolved(model._model(config), config)  # type: ignore[attr-defined]
    if isinstance(model, RunnableBindingBase):
        return model.model_copy(update={"bound": resolved(model.bound, merge_configs(config, model.config))})
    if isinstance(model, RunnableWithFallbacks):
        return _with_fallbacks(model, lambda each: resolved(each, config))
    return model


def over(model: AnyRunnable, change: Callable[[BaseChatModel], AnyRunnable], **bound: Any) -> AnyRunnable:
    """The Runnable with its chat models changed, settings that were bound to them made their own.

    Args:
        model: one in which :func:`chat_models` finds some, :func:`resolved`.
    """
    if isinstance(model, BaseChatModel):
        return change(model.model_copy(update=bound) if bound else model)
    if isinstance(model, RunnableBindingBase):
        return model.model_copy(update={"bound": over(model.bound, change, **{**model.kwargs, **bound}), "kwargs": {}})
    if isinstance(model, RunnableWithFallbacks):
        return _with_fallbacks(model, lambda each: over(each, change, **bound))
    return model


def _with_fallbacks(
    model: RunnableWithFallbacks[Any, Any], change: Callable[[AnyRunnable], AnyRunnable]
) -> RunnableWithFallbacks[Any, Any]:
    return model.model_copy(
        update={"runnable": change(model.runnable), "fallbacks": [change(each) for each in model.fallbacks]}
    )


def _chosen_by_config(model: AnyRunnable) -> bool:
    """Whether this is a model with configurable fields or alternatives, or one of ``init_chat_model``'s."""
    # The latter's class is not public; one that looks otherwise one day is a Runnable like any other here.
    return isinstance(model, DynamicRunnable) or all(
        callable(getattr(type(model), name, None)) for name in ("_model", "_model_params")
    )
