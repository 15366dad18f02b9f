"""A runtime takes its config and keeps it: what an option means and how it is checked stands at the config's field."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

from intrinsics_core.profiles import profile
from intrinsics_core.runtimes.adapters import check_names
from intrinsics_core.runtimes.base import Runtime
from intrinsics_core.runtimes.configs import Config, checked


class ConfiguredRuntime(Runtime):
    """Made of a config, or of the config's own fields by name; those in ``positional`` may come without theirs.

    A subclass names its config, annotates ``config`` with it, and makes itself ready in :meth:`prepare`. In another
    process it is made anew from the same config; the key stays behind: a worker finds its own in the environment.

    Raises:
        InvalidInput: a field is wrong; the message names it.
    """

    takes: ClassVar[type[Config]]
    config: Config

    def __init__(self, *values: Any, **fields: Any) -> None:
        if len(values) == 1 and isinstance(values[0], self.takes) and not fields:
            self.config = values[0]
        elif len(values) > len(self.takes.positional):
            raise TypeError(f"{type(self).__name__}takes the fields of its config as keyword arguments only")
        else:
            self.config = checked(self.takes, **dict(zip(self.takes.positional, values, strict=False)), **fields)
        self.profile = profile("prompted")
        self.prepare()
        if self.config.profile is not None:
            self.profile = self.profile_of(self.config.profile)
        check_names(getattr(self.config, "adapters", None), self.profile)
        if self.config.calibrations:
            self.calibrate_by(self.config.calibrations)

    @abstractmethod
    def prepare(self) -> None:
        """Set what the runtime works with. ``config`` is there, and the profile is ``prompted``."""

    def __reduce__(self) -> Any:
        given = {name: value for name, value in self.config.given.items() if name not in ("api_key", "calibrations")}
        return _made_anew, (type(self), given | {"profile": self.config.profile})


def _made_anew(kind: type[ConfiguredRuntime], given: dict[str, Any]) -> ConfiguredRuntime:
    return kind(**given)
