"""Commands that refuse a second file to read or to write: Typer keeps the last, and the others would be lost."""

from __future__ import annotations

from collections import Counter
from typing import Any

from typer.core import TyperCommand

_FILES = ("input", "data", "output")


class OneFile(TyperCommand):
    """A command that reads one file and writes one. Of other options the last value counts, as in other commands."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        _, _, order = self.make_parser(ctx).parse_args(args=list(args))
        asks_for_help = any(param.is_eager for param in order)
        again = [param for param, times in Counter(order).items() if times > 1 and _takes_one_value(param)]
        if again and not asks_for_help and not ctx.resilient_parsing:
            ctx.fail(f"{max(again[0].opts, key=len)} is given more than once; expected one value")
        return super().parse_args(ctx, args)


def _takes_one_value(param: Any) -> bool:
    return param.name in _FILES and not param.multiple
