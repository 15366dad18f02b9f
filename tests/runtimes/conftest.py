from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from intrinsics_core.runtimes.server import ServerRuntime
from tests.loopback import Loopback, Received, Reply, completion, listing

Answer = Callable[[Received], Reply]


@pytest.fixture
def serve() -> Iterator[Callable[..., Loopback]]:
    """``serve(answer)`` starts a server that answers completions so; ``models=`` is what it lists."""
    with ExitStack() as stack:

        def start(answer: Answer | str = "hello", models: object = None) -> Loopback:
            def whole(received: Received) -> Reply:
                if received.path.endswith("/models"):
                    return Reply(listing("base") if models is None else models)
                return Reply(completion(answer)) if isinstance(answer, str) else answer(received)

            return stack.enter_context(Loopback(whole))

        yield start


@pytest.fixture
def runtime() -> Iterator[Callable[..., ServerRuntime]]:
    """``runtime(server, **config)``, closed afterwards."""
    with ExitStack() as stack:
        yield lambda server, **config: stack.enter_context(ServerRuntime(server.url, **config))
