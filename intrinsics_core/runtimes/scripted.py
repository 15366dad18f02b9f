"""``scripted``: replies from a script. For tests of chains and intrinsics, yours and ours: no model, no server."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from intrinsics_core.profiles.prompted import PROFILE
from intrinsics_core.protocol.errors import IntrinsicsError, InvalidInput, RuntimeUnavailable
from intrinsics_core.protocol.requests import Embedded, Generated, Outcome, Request, Retrieved, Scored, Tagged, Usage
from intrinsics_core.runtimes.base import BlockingRuntime

Script = Callable[[Any], Any]


class Scripted(BlockingRuntime):
    """Answers each request with the next reply of a script.

    >>> from intrinsics_core import answerability, run
    >>> runtime = Scripted([{"answerability": "unanswerable", "confidence": 0.9}])
    >>> run(answerability([{"role": "user", "content": "Who built it?"}], ["It is red."]), runtime).label
    'unanswerable'

    Args:
        replies: a list, used up in order; a mapping from intrinsic to such a list; a function of the request; or a
            file: JSON that holds a list or a mapping, or JSON Lines of replies. A reply is text, a value that is sent
            as JSON, or in Python an outcome: a reply of :mod:`intrinsics_core.protocol.requests` or an error.
        concurrency: how many calls :func:`run_many` keeps under way.

    Attributes:
        requests: all requests so far, in the order they came; ``waves``: the same by wave.

    A request beyond the end of its list ends in :class:`RuntimeUnavailable`. The profile is ``prompted``.

    Raises:
        InvalidInput: the file cannot be read.
    """

    profile = PROFILE

    def __init__(
        self, replies: Script | Iterable[Any] | Mapping[str, Iterable[Any]] | str | Path, concurrency: int = 16
    ) -> None:
        script: Any = _read(Path(replies)) if isinstance(replies, str | Path) else replies
        self.script: Script = script if callable(script) else _in_order(script)
        self.concurrency = concurrency
        self.waves: list[Sequence[Request]] = []

    @property
    def requests(self) -> list[Request]:
        return [request for wave in self.waves for request in wave]

    def handle(self, requests: Sequence[Request]) -> list[Outcome]:
        self.waves.append(requests)
        return [outcome(self.script(request)) for request in requests]


def outcome(reply: Any) -> Outcome:
    """A scripted reply as an outcome."""
    if isinstance(reply, IntrinsicsError | Generated | Embedded | Scored | Tagged | Retrieved):
        return reply
    text = reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
    return Generated(text, usage=Usage(requests=1, prompt_tokens=10, completion_tokens=2, seconds=0.01))


def _in_order(replies: Iterable[Any] | Mapping[str, Iterable[Any]]) -> Script:
    by_intrinsic = isinstance(replies, Mapping)
    lists: dict[str, Iterator[Any]] = (
        {name: iter(each) for name, each in replies.items()} if isinstance(replies, Mapping) else {"": iter(replies)}
    )
    lock = threading.Lock()

    def script(request: Request) -> Any:
        with lock:
            left = lists.get(request.intrinsic if by_intrinsic else "", iter(()))
            return next(left, RuntimeUnavailable("the script has no reply left", intrinsic=request.intrinsic))

    return script


def _read(file: Path) -> Any:
    try:
        text = file.read_text(encoding="utf-8")
        try:
            value = json.loads(text)
        except json.JSONDecodeError:
            return [json.loads(line) for line in text.splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        raise InvalidInput(f"runtime.replies cannot be read: {error}", expected="JSON, or JSON Lines") from None
    if not isinstance(value, list | dict):
        raise InvalidInput("runtime.replies contains no replies", expected="a list, or lists by intrinsic")
    return value
