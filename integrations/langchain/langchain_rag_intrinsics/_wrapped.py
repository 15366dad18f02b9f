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
    found: list[BaseChatModel | None] = []

    def note(each: BaseChatModel | None) -> AnyRunnable:
        found.append(each)
        return model

    return None if over(model, None, note) is None else found


def over(
    model: AnyRunnable, config: RunnableConfig | None, change: Callable[[Any], AnyRunnable], **bound: Any
) -> AnyRunnable | None:
    """The Runnable with its chat models changed, None where none are found, or not only ones that take what is bound.

    What the config of this call chooses is in the place of every choice; without a config ``change`` is given None for
    it. ``bound`` settings are the models' own: what else is bound (tools, say) cannot be kept beside a schema.
    """
    if isinstance(model, BaseChatModel):
        fits = bound.keys() <= type(model).model_fields.keys()
        return change(model.model_copy(update=bound) if bound else model) if fits else None
    if _chosen_by_config(model):
        if config is None:
            return change(None)
        chosen = model.prepare(config)[0] if isinstance(model, DynamicRunnable) else model._model(config)  # type: ignore[attr-defined]
        return over(chosen, config, change, **bound)
    if isinstance(model, RunnableBindingBase):
        merged = None if config is None else merge_configs(config, model.config)
        inner = over(model.bound, merged, change, **{**model.kwargs, **bound})
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
