"""Several profiles as one: each intrinsic is asked in the words of the profile that it is routed to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from intrinsics_core.protocol.apply_calibration import Calibrations
from intrinsics_core.protocol.errors import UnsupportedIntrinsic
from intrinsics_core.protocol.names import find
from intrinsics_core.protocol.profile import Profile

ELSE = "*"  # the route of all intrinsics without one
FLOW = "rag"  # what a flow asks for itself: documents and answers


@dataclass(frozen=True)
class Routed(Profile):
    """``routes``: profile by intrinsic, ``"*"`` for all others."""

    routes: Mapping[str, Profile] = field(default_factory=dict, repr=False)

    def serving(self, intrinsic: str) -> Profile:
        """The profile of an intrinsic's route.

        Raises:
            UnsupportedIntrinsic: there is none.
        """
        found = self.routes.get(find(intrinsic, self.routes) or ELSE)
        if found is None:
            raise no_route(intrinsic, self.routes)
        return found.serving(intrinsic)

    def routes_apart(self, intrinsic: str) -> bool:
        """Whether there is a route of this name."""
        return find(intrinsic, self.routes) is not None

    def with_calibrations(self, calibrations: Calibrations) -> Profile:
        """The same, all of its routes with these calibrations."""
        routes = {name: profile.with_calibrations(calibrations) for name, profile in self.routes.items()}
        return replace(super().with_calibrations(calibrations), routes=routes)  # type: ignore[call-arg]


def no_route(intrinsic: str, routes: Mapping[str, object]) -> UnsupportedIntrinsic:
    """The error for an intrinsic that none of the routes is for."""
    return UnsupportedIntrinsic(
        "no route of the mixed runtime serves this intrinsic",
        intrinsic=intrinsic,
        expected=f"a route {intrinsic!r}, or {ELSE!r} for all others",
        got=f"routes for {', '.join(routes)}",
    )


def routed(routes: Mapping[str, Profile]) -> Profile:
    """The profile over routes; where all go one way, that one."""
    if set(routes) == {ELSE}:
        return routes[ELSE]
    return Routed("mixed", {}, base=routes.get(ELSE), routes=dict(routes), made_by=(routed, (dict(routes),)))
