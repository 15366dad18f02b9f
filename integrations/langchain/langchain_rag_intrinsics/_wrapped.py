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
    """A field's value as a Runnable."""
    try:
        runnable: AnyRunnable = coerce_to_runnable(value)
    except TypeError:  # pydantic names the field of a ValueError alone
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


def over(
    model: AnyRunnable, config: RunnableConfig, change: Callable[[BaseChatModel], AnyRunnable], **bound: Any
) -> AnyRunnable | None:
    """The Runnable with its chat models changed, None where none are found, or not only ones that take what is bound.

    What the config of this call chooses is in the place of every choice, and ``bound`` settings are the models' own.
    """
    if isinstance(model, BaseChatModel):
        fits = bound.keys() <= type(model).model_fields.keys()
        return change(model.model_copy(update=bound) if bound else model) if fits else None
    if isinstance(model, DynamicRunnable):
        return over(model.prepare(config)[0], config, change, **bound)
    if _chosen_by_config(model):
        return over(model._model(config), config, change, **bound)  # type: ignore[attr-defined]
    if isinstance(model, RunnableBindingBase):
        inner = over(model.bound, merge_configs(config, model.config), change, **{**model.kwargs, **bound})
        return inner and model.model_copy(update={"bound": inner, "kwargs": {}})
    if isinstance(model, RunnableWithFallbacks):
        first, *others = (over(each, config, change, **bound) for each in (model.runnable, *model.fallbacks))
        found = first is not None and None not in others
        return model.model_copy(update={"runnable": first, "fallbacks": others}) if found else None
    return None


def _chosen_by_config(model: AnyRunnable) -> bool:
    """Whether this is a model with configurable fields or alternatives, or one of ``init_chat_model``'s."""
    # The latter's class is not public; one that looks otherwise one day is a Runnable like any other here.
    return isinstance(model, DynamicRunnable) or all(
        callable(getattr(type(model), name, None)) for name in ("_model", "_model_params")
    )
