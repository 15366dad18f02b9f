"""Steps instead of seconds: what a piece of work does, counted, so that any machine finds the same growth.

`steps` counts the lines and calls of a function. `Matcher` matches a compiled pattern as `re` does, on the same parse
tree and with the same backtracking, and counts every place that it looks at.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import intrinsics_core

HOME = str(Path(intrinsics_core.__file__).parent)
LINEAR = 5.5
"""What four times the text may cost, against once: 4 is in proportion, 16 is to the square."""


# --- lines and calls ----------------------------------------------------------------------------------------------


class Handed:
    """A compiled pattern that counts the characters it is handed; those that it looks at, where it is told a place."""

    def __init__(self, pattern: re.Pattern[str], count: Callable[[int], None]) -> None:
        self._pattern, self._count = pattern, count
        self._matcher: Matcher | None = None

    def _looked_at(self, text: str, begin: int, end: int, whole: bool) -> int:
        if self._matcher is None:
            self._matcher = Matcher(self._pattern, sys.maxsize)
        self._matcher.steps = 0
        self._matcher.match(text[:end], begin, whole)
        return self._matcher.steps

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._pattern, name)
        if not callable(found):
            return found

        def counted(*args: Any, **named: Any) -> Any:
            text, *places = args[1:2] if name in ("sub", "subn") else args
            begin, end = places[0] if places else 0, min([*places[1:], len(text)])
            if name in ("match", "fullmatch") and begin:
                self._count(self._looked_at(text, begin, end, name == "fullmatch"))
            elif name == "search" and (met := self._pattern.search(text, begin, end)):
                self._count(met.end() - begin)
            else:
                self._count(max(0, end - begin))
            return found(*args, **named)

        return counted


@contextmanager
def _handed(count: Callable[[int], None]) -> Iterator[None]:
    """The patterns that stand in modules of the package count, while this lasts."""
    places = [
        (vars(module), name, value)
        for key, module in list(sys.modules.items())
        if key.startswith("intrinsics_core.")
        for name, value in list(vars(module).items())
        if isinstance(value, re.Pattern)
    ]
    try:
        for space, name, value in places:
            space[name] = Handed(value, count)
        yield
    finally:
        for space, name, value in places:
            space[name] = value


def steps(work: Callable[[], object]) -> int:
    """Lines of the package, calls of anything, and characters that its patterns are handed, an eighth each."""
    made = characters = 0

    def line(frame: Any, event: str, arg: Any) -> Any:
        nonlocal made
        made += 1
        return line

    def enter(frame: Any, event: str, arg: Any) -> Any:
        nonlocal made
        if frame.f_code.co_filename == __file__:
            return None
        made += 1
        return line if frame.f_code.co_filename.startswith(HOME) else None

    def within(frame: Any, event: str, arg: Any) -> None:
        nonlocal made
        if event == "c_call" and frame.f_code.co_filename != __file__:
            made += 1

    def handed(length: int) -> None:
        nonlocal characters
        characters += length

    before = sys.gettrace(), sys.getprofile()
    with _handed(handed):
        sys.setprofile(within)
        sys.settrace(enter)
        try:
            work()
        finally:
            sys.settrace(before[0])
            sys.setprofile(before[1])
    return made + characters // 8


def growth(work: Callable[[int], Callable[[], object]], n: int) -> float:
    """Steps at 4n for one at n."""
    work(3)()  # what is loaded once is not counted; a short text, for what is remembered of it is not counted either
    return steps(work(4 * n)) / steps(work(n))


# --- patterns -----------------------------------------------------------------------------------------------------

Next = Callable[[int], bool]
_SINGLE = (sre.LITERAL, sre.NOT_LITERAL, sre.ANY, sre.IN)


class TooMany(Exception):
    """More steps than any linear pattern needs."""


class Matcher:
    """`pattern`, matched step by step; ``steps`` says how many there were."""

    def __init__(self, pattern: re.Pattern[str], most: int) -> None:
        self.most, self.steps, self.text, self.refused = most, 0, "", -1
        self.spans: dict[int, tuple[int, int]] = {}
        self.end = -1
        tree = parser.parse(pattern.pattern, pattern.flags)
        self._run = self._sequence(list(tree), pattern.flags, self._accept)
        self._whole = self._sequence(list(tree), pattern.flags, self._accept_at_end)

    def match(self, text: str, at: int = 0, whole: bool = False) -> int:
        """Where the match that begins there ends; -1 where none does."""
        self.text, self.end, self.spans = text, -1, {}
        before = sys.getrecursionlimit()
        sys.setrecursionlimit(200_000)  # a frame or three for each time round a loop; `re` has a stack of its own
        try:
            return self.end if (self._whole if whole else self._run)(at) else -1
        finally:
            sys.setrecursionlimit(before)

    def over(self, text: str) -> list[tuple[int, int]]:
        """All matches from the beginning to the end, as ``finditer`` finds them."""
        found, at = [], 0
        while at <= len(text):
            self._step()
            end = self.match(text, at)
            if end < 0:
                self.refused, at = -1, at + 1
                continue
            found.append((at, end))
            self.refused = at if end == at else -1  # the next one may begin there, and not be empty again
            at = end
        self.refused = -1
        return found

    def _step(self, count: int = 1) -> None:
        self.steps += count
        if self.steps > self.most:
            raise TooMany

    def _accept(self, i: int) -> bool:
        self.end = i
        return i != self.refused

    def _accept_within(self, i: int) -> bool:
        self.end = i
        return True

    def _accept_at_end(self, i: int) -> bool:
        self.end = i
        return i == len(self.text)

    def _sequence(self, items: list[Any], flags: int, then: Next) -> Next:
        for op, value in reversed(items):
            then = self._node(op, value, flags, then)
        return then

    def _node(self, op: Any, value: Any, flags: int, then: Next) -> Next:
        if op in _SINGLE:
            fits = _fits(op, value, flags)

            def one(i: int) -> bool:
                self._step()
                return i < len(self.text) and fits(self.text[i]) and then(i + 1)

            return one
        if op is sre.SUBPATTERN:
            group, add, remove, items = value
            return self._group(group, list(items), (flags | add) & ~remove, then)
        if op is sre.BRANCH:
            ways = [self._sequence(list(way), flags, then) for way in value[1]]

            def branch(i: int) -> bool:
                for way in ways:  # noqa: SIM110  (`any` would be a frame of C in a recursion that is deep)
                    if way(i):
                        return True
                return False

            return branch
        if op in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            return self._repeat(op is sre.MAX_REPEAT, value, flags, then)
        if op is sre.POSSESSIVE_REPEAT:
            return self._atomic([(sre.MAX_REPEAT, value)], flags, then)
        if op is sre.ATOMIC_GROUP:
            return self._atomic(list(value), flags, then)
        if op in (sre.ASSERT, sre.ASSERT_NOT):
            return self._look(op is sre.ASSERT, value, flags, then)
        if op is sre.AT:
            return self._at(value, flags, then)
        if op is sre.GROUPREF:
            return self._same(value, then)
        raise NotImplementedError(str(op))

    def _group(self, group: int | None, items: list[Any], flags: int, then: Next) -> Next:
        if group is None:
            return self._sequence(items, flags, then)
        begins: list[int] = []

        def close(i: int) -> bool:
            before, begin = self.spans.get(group), begins.pop()
            self.spans[group] = (begin, i)
            if then(i):
                return True
            begins.append(begin)
            if before is None:
                del self.spans[group]
            else:
                self.spans[group] = before
            return False

        inner = self._sequence(items, flags, close)

        def enter(i: int) -> bool:
            depth = len(begins)
            begins.append(i)
            if inner(i):
                return True
            del begins[depth:]
            return False

        return enter

    def _repeat(self, greedy: bool, value: Any, flags: int, then: Next) -> Next:
        low, high, items = value[0], value[1], list(value[2])
        high = sys.maxsize if high is sre.MAXREPEAT else int(high)
        if len(items) == 1 and items[0][0] in _SINGLE:
            fits = _fits(*items[0], flags)

            def run(i: int) -> bool:
                text, end = self.text, min(len(self.text), i + high)
                if greedy:
                    j = i
                    while j < end and fits(text[j]):
                        j += 1
                    self._step(j - i + 1)
                    for p in range(j, i + low - 1, -1):
                        self._step()
                        if then(p):
                            return True
                    return False
                for p in range(i, end + 1):
                    self._step()
                    if p - i >= low and then(p):
                        return True
                    if p == end or not fits(text[p]):
                        return False
                return False

            return run
        count, last = 0, -1

        def again(i: int) -> bool:
            nonlocal count, last
            self._step()
            state = count, last
            for more in (True, False) if greedy else (False, True):
                if more and count < high and not (count >= low and i == last):
                    count, last = count + 1, i
                    if inner(i):
                        return True
                    count, last = state
                elif not more and count >= low:
                    if then(i):
                        return True
                    count, last = state
            return False

        inner = self._sequence(items, flags, again)

        def enter(i: int) -> bool:
            nonlocal count, last
            state = count, last
            count, last = 0, -1
            found = again(i)
            count, last = state
            return found

        return enter

    def _atomic(self, items: list[Any], flags: int, then: Next) -> Next:
        inner = self._sequence(items, flags, self._accept_within)
        return lambda i: inner(i) and then(self.end)

    def _look(self, wanted: bool, value: Any, flags: int, then: Next) -> Next:
        direction, items = value
        back = items.getwidth()[0] if direction < 0 else 0
        inner = self._sequence(list(items), flags, self._accept_within)
        return lambda i: (i >= back and inner(i - back)) == wanted and then(i)

    def _at(self, where: Any, flags: int, then: Next) -> Next:
        lines = flags & re.MULTILINE

        def word(i: int) -> bool:
            return 0 <= i < len(self.text) and _category(sre.CATEGORY_WORD, self.text[i], flags)

        def holds(i: int) -> bool:
            text = self.text
            match where:
                case sre.AT_BEGINNING:
                    return i == 0 or bool(lines and text[i - 1] == "\n")
                case sre.AT_BEGINNING_STRING:
                    return i == 0
                case sre.AT_END:
                    return i == len(text) or (text[i] == "\n" and (bool(lines) or i == len(text) - 1))
                case sre.AT_END_STRING:
                    return i == len(text)
                case sre.AT_BOUNDARY:
                    return word(i - 1) != word(i)
                case sre.AT_NON_BOUNDARY:
                    return word(i - 1) == word(i)
            raise NotImplementedError(str(where))

        def at(i: int) -> bool:
            self._step()
            return holds(i) and then(i)

        return at

    def _same(self, group: int, then: Next) -> Next:
        def same(i: int) -> bool:
            if group not in self.spans:
                return False
            begin, end = self.spans[group]
            self._step(end - begin + 1)
            said = self.text[begin:end]
            return self.text.startswith(said, i) and then(i + end - begin)

        return same


def _category(category: Any, c: str, flags: int) -> bool:
    name = str(category)
    known = not flags & re.ASCII or c.isascii()
    if name.endswith("SPACE"):
        found = known and c.isspace()
    elif name.endswith("DIGIT"):
        found = known and c.isdecimal()
    else:
        found = known and (c.isalnum() or c == "_")
    return found != ("NOT" in name)


def _fits(op: Any, value: Any, flags: int) -> Callable[[str], bool]:
    """Whether one character does, each looked at once."""
    known: dict[str, bool] = {}

    def same(code: int, c: str) -> bool:
        return ord(c) == code or bool(flags & re.IGNORECASE and chr(code).lower() == c.lower())

    def among(c: str) -> bool:
        ways = {c, c.lower(), c.upper()} if flags & re.IGNORECASE else {c}
        negated = any(kind is sre.NEGATE for kind, _ in value)
        for kind, what in value:
            if kind is sre.LITERAL and same(what, c):
                return not negated
            if kind is sre.RANGE and any(len(way) == 1 and what[0] <= ord(way) <= what[1] for way in ways):
                return not negated
            if kind is sre.CATEGORY and _category(what, c, flags):
                return not negated
        return negated

    def looked_at(c: str) -> bool:
        if op is sre.LITERAL:
            return same(value, c)
        if op is sre.NOT_LITERAL:
            return not same(value, c)
        if op is sre.ANY:
            return c != "\n" or bool(flags & re.DOTALL)
        return among(c)

    def fits(c: str) -> bool:
        if c not in known:
            known[c] = looked_at(c)
        return known[c]

    return fits
