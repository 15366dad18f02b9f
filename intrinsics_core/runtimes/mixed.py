"""``mixed``: the best of several runtimes, by the intrinsic that is called and by the kind of request."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from intrinsics_core.profiles import own_names
from intrinsics_core.profiles.routed import ELSE, no_route, routed
from intrinsics_core.protocol.errors import IntrinsicsError, within
from intrinsics_core.protocol.names import find, keyed
from intrinsics_core.protocol.requests import Outcome, Request
from intrinsics_core.runtimes import as_runtime
from intrinsics_core.runtimes.adapters import route_names
from intrinsics_core.runtimes.base import AsyncRuntime, Runtime, aanswers


class Several(AsyncRuntime):
    """Several runtimes as one; each request goes to one of them. They work side by side."""

    @property
    @abstractmethod
    def _all(self) -> Sequence[Runtime]:
        """The runtimes, each once."""

    @abstractmethod
    def _for(self, request: Request) -> tuple[Runtime | IntrinsicsError, Request]:
        """Who answers a request, and the request as that one takes it; an error where nobody does."""

    async def ahandle(self, requests: Sequence[Request]) -> list[Outcome]:
        outcomes: dict[int, Outcome] = {}
        groups: dict[int, tuple[Runtime, list[int], list[Request]]] = {}
        for i, request in enumerate(requests):
            runtime, taken = self._for(request)
            if isinstance(runtime, IntrinsicsError):
                outcomes[i] = runtime
                continue
            _, members, asked = groups.setdefault(id(runtime), (runtime, [], []))
            members.append(i)
            asked.append(taken)
        # One runtime that breaks costs the others nothing.
        answered = await asyncio.gather(*(aanswers(runtime, asked) for runtime, _, asked in groups.values()))
        for (_, members, _), group in zip(groups.values(), answered, strict=True):
            outcomes |= zip(members, group, strict=True)
        return [outcomes[i] for i in range(len(requests))]

    def warm_up(self) -> None:
        for runtime in self._all:
            runtime.warm_up()

    def close(self) -> None:
        for runtime in self._all:
            runtime.close()

    async def aclose(self) -> None:
        for runtime in self._all:
            await runtime.aclose()


class Mixed(Several):
    """Each request to the runtime that its intrinsic is routed to.

    >>> from intrinsics_core import answerability, as_runtime, run
    >>> routes = {"answerability": {"kind": "embedded"}, "*": {"kind": "embedded", "threads": 1}}
    >>> runtime = as_runtime({"kind": "mixed", "routes": routes})
    >>> run(answerability([{"role": "user", "content": "Who built it?"}], ["Ada Brink built it."]), runtime).label
    'answerable'

    Args:
        routes: runtime by the name of the intrinsic that is called, ``"*"`` for all others. Each intrinsic is asked in
            the words of its own runtime's profile. A flow is not routed as a whole: its parts are.
        kinds: runtime by the class of a request, before the routes: for what none of them answers, such as a flow's
            retriever, or what a profile's base asks for.

    A request that has no route ends in an :class:`UnsupportedIntrinsic`.

    Raises:
        InvalidInput: a route is named after nothing that is ever called; the message has the nearest name. Known are
            the intrinsics, hyphens and underscores being the same, and the adapters that the routes' profiles serve.
    """

    def __init__(self, routes: Mapping[str, Runtime], *, kinds: Mapping[type, Runtime] | None = None) -> None:
        known = route_names(name for runtime in routes.values() for name in own_names(runtime.profile))
        self.routes, self.kinds = keyed("runtime.routes", routes, known), dict(kinds or {})
        self.profile = routed({name: runtime.profile for name, runtime in self.routes.items()})
        self.concurrency = max(runtime.concurrency for runtime in self.routes.values())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.routes!r})"

    def _for(self, request: Request) -> tuple[Runtime | IntrinsicsError, Request]:
        by_kind = self.kinds.get(type(request))
        found = by_kind or self.routes.get(find(request.intrinsic, self.routes) or ELSE)
        return found or no_route(request.intrinsic, self.routes), request

    @property
    def _all(self) -> Sequence[Runtime]:
        return list({id(runtime): runtime for runtime in (*self.routes.values(), *self.kinds.values())}.values())


def mixed(routes: Mapping[str, Any]) -> Mixed:
    """The runtime of a config of kind ``mixed``. Raises InvalidInput where a route is no runtime and no config."""
    return Mixed(made_of("runtime.routes", routes))


def made_of(where: str, specs: Mapping[str, Any]) -> dict[str, Runtime]:
    """The runtimes of several specs, by name. Raises InvalidInput, which names the place of what is wrong."""
    made = {}
    for name, spec in specs.items():
        with within(f"{where}.{name}"):
            made[name] = as_runtime(spec)
    return made
