"""Commands that refuse a second value of an option that takes one: Typer keeps the last, and drops the others."""

from __future__ import annotations

from collections import Counter
from typing import Any

from typer.core import TyperCommand


class SingleValues(TyperCommand):
    """A command whose options are given once, but for flags and for options that may be given more than once."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        _, _, order = self.make_parser(ctx).parse_args(args=list(args))
        asks_for_help = any(param.is_eager for param in order)
        again = [param for param, times in Counter(order).items() if times > 1 and _takes_one_value(param)]
        if again and not asks_for_help and not ctx.resilient_parsing:
            ctx.fail(f"{max(again[0].opts, key=len)} is given more than once; expected one value")
        return super().parse_args(ctx, args)


def _takes_one_value(param: Any) -> bool:
    return param.param_type_name == "option" and not (param.multiple or param.is_flag or param.count)
