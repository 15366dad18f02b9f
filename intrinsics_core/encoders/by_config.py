"""The runtime that a config of kind ``encoders`` names: models in this process, or on a server."""

from __future__ import annotations

from typing import Any

from intrinsics_core.runtimes.base import Runtime
from intrinsics_core.runtimes.configs import EncodersConfig, checked


def encoders(**given: Any) -> Runtime:
    """The runtime of this config. Raises InvalidInput where fields of a server and of this process are mixed."""
    config = checked(EncodersConfig, **given)
    if config.base_url is None:
        from intrinsics_core.encoders.runtime import EncodersRuntime

        return EncodersRuntime(config)
    from intrinsics_core.encoders.scoring import ScoringRuntime

    return ScoringRuntime(config)
