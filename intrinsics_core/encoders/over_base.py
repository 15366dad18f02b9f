"""What both runtimes of the user's own encoders are: some models, and a base for everything else."""

from __future__ import annotations

from intrinsics_core.encoders.profile import encoders_profile
from intrinsics_core.protocol.errors import IntrinsicsError, UnsupportedIntrinsic, within
from intrinsics_core.protocol.requests import Request
from intrinsics_core.runtimes import as_runtime
from intrinsics_core.runtimes.base import Runtime
from intrinsics_core.runtimes.configs import ENCODER_ROLES, EncodersConfig
from intrinsics_core.runtimes.configured import ConfiguredRuntime


class OverBaseRuntime(ConfiguredRuntime):
    """Serves the ``encoders`` profile; :class:`EncodersConfig` says what it is told."""

    takes = EncodersConfig
    config: EncodersConfig

    def prepare(self) -> None:
        self.base = _base(self.config)
        self.places = self.config.places
        self.profile = encoders_profile(self.places, self.base.profile)

    def refused(self, role: str, request: Request) -> IntrinsicsError:
        """The error for a request that wants a model nobody named."""
        return UnsupportedIntrinsic(
            f"the encoders runtime has no model for {role!r}", intrinsic=request.intrinsic,
            expected=f"one of {', '.join(ENCODER_ROLES)} in its config", got=", ".join(self.places),
        )  # fmt: skip

    def warm_up(self) -> None:
        self.base.warm_up()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{role}={place!r}' for role, place in self.places.items())})"


def _base(config: EncodersConfig) -> Runtime:
    bound = "max_document_tokens"
    if config.base is None and bound in config.model_fields_set:
        return as_runtime({"kind": "embedded", bound: config.max_document_tokens})
    with within("runtime.base"):
        return as_runtime(config.base)
