"""Calls taken to their results: one, many, asynchronously, as a flow, over a data set, while an answer is written.

For components that hold a runtime: `Lock`, which a forked child finds open, and `given_up`, within which work in
another thread stops when the task that waits for it is cancelled.
"""

from intrinsics_core._support.cancellation import given_up
from intrinsics_core._support.fork_safety import Lock

__all__ = ["Lock", "given_up"]
