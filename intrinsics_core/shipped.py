"""What ships, by name: the kinds of runtimes and the model families. Each is imported when it is first used.

To add one of ours is a line here; to add one of your own, call the same functions.
"""

from __future__ import annotations

from intrinsics_core import profiles, runtimes
from intrinsics_core.runtimes.configs import (
    CascadeConfig,
    Config,
    EmbeddedConfig,
    EncodersConfig,
    MixedConfig,
    ScriptedConfig,
    ServerConfig,
    TransformersConfig,
    VllmConfig,
)

RUNTIMES: dict[type[Config], str] = {
    EmbeddedConfig: "intrinsics_core.embedded.runtime:EmbeddedRuntime",
    ServerConfig: "intrinsics_core.runtimes.server.runtime:ServerRuntime",
    TransformersConfig: "intrinsics_core.local.transformers:TransformersRuntime",
    VllmConfig: "intrinsics_core.local.vllm:VllmRuntime",
    EncodersConfig: "intrinsics_core.encoders.by_config:encoders",
    ScriptedConfig: "intrinsics_core.runtimes.scripted:Scripted",
    MixedConfig: "intrinsics_core.runtimes.mixed:mixed",
    CascadeConfig: "intrinsics_core.runtimes.cascade:cascade",
}
PROFILES = {
    "embedded": "intrinsics_core.embedded.profile",
    "encoders": "intrinsics_core.encoders.profile",
    "prompted": "intrinsics_core.profiles.prompted",
    "granite-3.2": "intrinsics_core.profiles.granite.granite_3_2",
    "granite-3.3": "intrinsics_core.profiles.granite.granite_3_3",
    "granite-4": "intrinsics_core.profiles.granite.granite_4",
    "io.yaml": "intrinsics_core.profiles.io_yaml",
}


def register() -> None:
    """Register all that ships; called once, when the package is imported."""
    for config, runtime in RUNTIMES.items():
        runtimes.register(config, runtime)
    for name, module in PROFILES.items():
        profiles.register(name, module)
