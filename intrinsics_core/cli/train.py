"""``intrinsics train``: an adapter for an intrinsic, from labelled rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from intrinsics_core.cli.run import one_line_errors, progress
from intrinsics_core.protocol.errors import InvalidInput

EPILOG = """
A row: `{"messages": [...], "documents": [...], "label": ...}`. The label is a word such as
"answerable", true or false, or a result; docs/labels.md lists the words. `id`, `date` and `group` (rows that are held
out together) are optional. If a row is wrong or too long, the command names it and trains nothing.

--out receives the adapter's weights and config, its `io.yaml` and model card, and `checkpoints/`. Settings that are not
given have the values of the paper, which docs/training.md lists.

With --rows it makes rows of the data sets that docs/bench.md names; without --set, of those whose licence allows
weights to be published. What is wrong in them is left out and counted.

Exit codes: 0 trained, or rows were written; 2 usage or set-up; 130 interrupted (continue with `--resume`).

Example: `intrinsics train answerability --base granite-3.3-8b-instruct --data rows.jsonl --out adapter`
Rows: `intrinsics train answerability --rows --data data/ --out rows.jsonl --limit 2000`
"""


def train(
    intrinsic: Annotated[
        str,
        typer.Argument(
            metavar="INTRINSIC", help="Name of the intrinsic that the adapter is trained for.", show_default=False
        ),
    ],
    data: Annotated[Path, typer.Option(metavar="FILE", help="Training rows as JSON Lines; see --rows.")],
    out: Annotated[
        Path, typer.Option("--out", "--output", "-o", metavar="FOLDER", help="Folder in which the adapter is written.")
    ],
    base: Annotated[
        str | None, typer.Option(metavar="MODEL", help="The base model: a folder, or owner/name on the hub.")
    ] = None,
    rows: Annotated[
        bool, typer.Option("--rows", help="Write rows to --out instead, from the folder of data sets in --data.")
    ] = False,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME", help="With --rows, use only this data set. May be given more than once."),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="With --rows, the largest number of rows of a set.")] = None,
    alora: Annotated[bool, typer.Option("--alora", help="Train an Activated LoRA (aLoRA) instead of a LoRA.")] = False,
    profile: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Profile with the prompts to learn: granite-3.2, granite-3.3, granite-4:PLACE, io.yaml:PLACE.",
            show_default="our own prompts",
        ),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue from the last checkpoint.")] = False,
    target: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="End of the name of the layers to adapt. May be given more than once."),
    ] = None,
    grouped: Annotated[bool, typer.Option("--grouped", help="Put rows of similar length into one batch.")] = False,
    invocation: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Text that activates the aLoRA.", show_default="what opens the reply"),
    ] = None,
    longest: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Largest number of tokens in a row.", show_default="the model's window"),
    ] = None,
    date: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Date for prompts that contain one.", show_default="today")
    ] = None,
    revision: Annotated[str | None, typer.Option(metavar="COMMIT", help="Revision of the base model.")] = None,
    device: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Device to train on, such as cpu or cuda.", show_default="a GPU if there is one"
        ),
    ] = None,
    dtype: Annotated[str, typer.Option(metavar="NAME", help="Data type of the base model's weights.")] = "auto",
    **numbers: Any,
) -> None:
    """Train a LoRA or aLoRA adapter on the prompts that will be sent to it."""
    from intrinsics_core.training import train as trained

    if rows:
        write_rows(intrinsic, data, out, set_ or (), limit)
        return
    with one_line_errors(stopped="interrupted; --resume goes on from the last checkpoint"), ExitStack() as bars:
        if base is None:
            raise InvalidInput("--base is missing", expected="the base model, or --rows")
        done = trained(
            intrinsic, base=base, data=data, out=out, alora=alora, profile=profile, resume=resume,
            targets=tuple(target) if target else None, grouped=grouped or None, invocation=invocation, longest=longest,
            date=date, revision=revision, device=device, dtype=dtype, callbacks=[_bar(bars)], **numbers,
        )  # fmt: skip
    best = "" if done.best is None else f", best held loss {done.best:.4f}"
    typer.echo(f"{done.folder}: {done.counts['trained']} rows trained on, {done.counts['held']} held out, "
               f"{done.steps} steps, {done.epochs:g} epochs{best}; ask it with --profile {done.profile}")  # fmt: skip


def _bar(bars: ExitStack) -> Any:
    """A callback that shows how many steps are done, until ``bars`` is closed."""
    from intrinsics_core.training.fitting import needed

    needed()
    from transformers import TrainerCallback

    class Bar(TrainerCallback):
        def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            self.advance = bars.enter_context(progress(state.max_steps, state.global_step, "steps"))

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            self.advance()

    return Bar()


def write_rows(intrinsic: str, data: Path, out: Path, sets: Sequence[str], limit: int | None) -> None:
    """Make training rows from the open data sets in a folder: those of ``sets``, or all; ``limit`` rows of each."""
    from intrinsics_core.training.rows_from import build

    with one_line_errors():
        rows, dropped = build(intrinsic, str(data), sets=tuple(sets), limit=limit)
        with out.open("x", encoding="utf-8") as lines:
            lines.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    for why in dropped[:5]:
        typer.echo(f"left out: {why}", err=True)
    typer.echo(f"{out}: {len(rows)} rows, {len(dropped)} left out")


# The numbers of a regime, each an option: its type, its help, and what it is where it is not given.
_NUMBERS: dict[str, tuple[type, str, str]] = {
    "epochs": (int, "Largest number of epochs.", "25"),
    "rank": (int, "Rank of the LoRA matrices.", "see docs/training.md"),
    "alpha": (int, "Scale of the adapter, as alpha / rank.", "twice the rank"),
    "learning_rate": (float, "Learning rate.", "see docs/training.md"),
    "dropout": (float, "Dropout of the adapter's layers.", "0.05"),
    "batch": (int, "Number of rows in a step.", "8"),
    "accumulate": (int, "Number of steps whose gradients are accumulated.", "1"),
    "held": (float, "Share of the rows that is held out to stop early. 0 runs every epoch.", "0.1"),
    "patience": (int, "Number of epochs without progress after which training stops.", "3"),
    "seed": (int, "Seed of the random numbers, such as the order of the rows.", "42"),
}
_TAKEN = signature(train, eval_str=True)
train.__signature__ = _TAKEN.replace(  # type: ignore[attr-defined]
    parameters=[
        *list(_TAKEN.parameters.values())[:-1],
        *(
            Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[
                Optional[kind],  # noqa: UP045  (made of a variable)
                typer.Option(metavar="N" if kind is int else "X", help=words, show_default=otherwise),
            ])
            for name, (kind, words, otherwise) in _NUMBERS.items()
        ),
    ]
)  # fmt: skip
