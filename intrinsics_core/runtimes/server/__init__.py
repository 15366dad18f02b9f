"""Any OpenAI-compatible server: asking one, and starting one."""

from intrinsics_core.runtimes.server.runtime import ServerRuntime

__all__ = ["ServerRuntime"]
