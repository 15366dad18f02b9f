"""Adapters on one base model, by PEFT: added when first asked for, mixed freely in one batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from intrinsics_core.protocol.errors import InvalidInput, RuntimeUnavailable
from intrinsics_core.protocol.requests import Generate
from intrinsics_core.runtimes.adapters import choose, folder_of, invocation, read_config
from intrinsics_core.runtimes.extras import extra

BASE = "__base__"  # what PEFT calls a row without adapter
_HOOKS = ("_forward_pre_hooks", "_forward_pre_hooks_with_kwargs")


@dataclass(frozen=True)
class LoadedAdapter:
    """A loaded adapter: the name PEFT has for it, and the tokens that activate it where it is an aLoRA."""

    name: str
    invocation: tuple[int, ...] = ()

    def start(self, ids: list[int]) -> int:
        """Where in a prompt it becomes active: the last time its invocation tokens come.

        Raises:
            InvalidInput: they do not come; the adapter would do nothing.
        """
        if not self.invocation:
            return 0
        size, first = len(self.invocation), self.invocation[0]
        for at in range(len(ids) - size, -1, -1):
            if ids[at] == first and tuple(ids[at : at + size]) == self.invocation:
                return at
        raise InvalidInput("the prompt does not hold the tokens that activate the aLoRA adapter",
                           expected="the profile that the adapter was trained with")  # fmt: skip


class Adapters:
    """A base model and its adapters.

    Args:
        model: the base model; PEFT changes its layers in place.
        places: intrinsic -> local folder or place on the hub.
    """

    def __init__(self, model: Any, places: Mapping[str, str]) -> None:
        self.base = model
        self._places = places
        self._peft: Any = None
        self._loaded: dict[str, LoadedAdapter] = {}  # by place: two intrinsics may share one adapter

    def find(self, request: Generate) -> LoadedAdapter | None:
        """The adapter for a request, loaded; None for the base model.

        Raises:
            UnknownAdapter: see :func:`choose`.
            RuntimeUnavailable: it cannot be had, or does not fit the model.
        """
        key = choose(self._places, request)
        if key is None:
            return None
        place = str(self._places[key])
        if place not in self._loaded:
            self._loaded[place] = self._load(key, folder_of(place))
        return self._loaded[place]

    def generate(self, names: list[str], **arguments: Any) -> Any:
        """Generate with one adapter per row; the model is as before afterwards, whatever happened."""
        with _hooks_kept(self.base):
            if self._peft is None:
                return self.base.generate(**arguments)
            return self._peft.generate(adapter_names=names, **arguments)

    def forward_base(self, **arguments: Any) -> Any:
        """One pass through the base model alone."""
        with _hooks_kept(self.base), nullcontext() if self._peft is None else self._peft.disable_adapter():
            return self.base(**arguments)

    def _load(self, key: str, folder: Path) -> LoadedAdapter:
        tokens = invocation(key, read_config(key, folder))
        name = f"adapter{len(self._loaded)}"  # PEFT takes no dots in a name
        with extra("transformers", "adapters need PEFT"):
            from peft import PeftConfig, PeftModelForCausalLM
        first = self._peft is None
        try:
            if first:
                config = PeftConfig.from_pretrained(str(folder))
                config.inference_mode = True
                self._peft = PeftModelForCausalLM(self.base, config, adapter_name=name, autocast_adapter_dtype=False)
            result = self._peft.load_adapter(str(folder), adapter_name=name, autocast_adapter_dtype=False)
            missing = [weight for weight in result.missing_keys if f".{name}." in weight]
            if missing or result.unexpected_keys:
                raise ValueError(f"the model has no layers for the weights {result.unexpected_keys}; "
                                 f"the adapter has no weights for {missing}")  # fmt: skip
            self._peft.eval()
        except Exception as error:
            self._forget(name, first=first)
            raise RuntimeUnavailable(f"the adapter {key!r} does not fit the model ({error})") from error
        return LoadedAdapter(name, tokens)

    def _forget(self, name: str, *, first: bool) -> None:
        """Take back what a failed load left behind: else later calls would run with half an adapter."""
        if first and self._peft is not None:
            self._peft.unload()
            self._peft = None
        elif self._peft is not None and name in self._peft.peft_config:
            self._peft.delete_adapter(name)


@contextmanager
def _hooks_kept(model: Any) -> Iterator[None]:
    """Takes away hooks that a failed call left on the model: with them, later calls silently use its adapter."""
    before = [(getattr(module, kind), set(getattr(module, kind))) for module in model.modules() for kind in _HOOKS]
    try:
        yield
    except BaseException:
        for hooks, known in before:
            for key in set(hooks) - known:
                del hooks[key]
        raise
