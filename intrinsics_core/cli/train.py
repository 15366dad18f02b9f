"""``intrinsics train``: an adapter for an intrinsic, from labelled rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from intrinsics_core.cli.exits import INTERRUPTED
from intrinsics_core.cli.run import one_line_errors, stop

EPILOG = """
A row: `{"messages": [...], "documents": [...], "label": ...}`. The label is a word such as
"answerable", true or false, or a result; docs/labels.md lists the words. `id`, `date` and `group` (rows that are held
out together) are optional. If a row is wrong or too long, the command names it and trains nothing.

--out receives the adapter's weights and config, its `io.yaml` and model card, `checkpoints/` and, where TensorBoard is
installed, `logs/`. Settings that are not given have the values of the paper, which docs/training.md lists.

Exit codes: 0 trained, 2 usage or set-up, 130 interrupted (continue with `--resume`).

Example: `intrinsics train answerability --base granite-3.3-8b-instruct --data rows.jsonl --out adapter`
"""


def train(
    intrinsic: Annotated[
        str,
        typer.Argument(
            metavar="INTRINSIC", help="Name of the intrinsic that the adapter is trained for.", show_default=False
        ),
    ],
    base: Annotated[str, typer.Option(metavar="MODEL", help="The base model: a folder, or owner/name on the hub.")],
    data: Annotated[Path, typer.Option(metavar="FILE", help="Training rows as JSON Lines.")],
    out: Annotated[
        Path, typer.Option("--out", "--output", "-o", metavar="FOLDER", help="Folder in which the adapter is written.")
    ],
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
    epochs: Annotated[
        int | None, typer.Option(metavar="N", help="Largest number of epochs.", show_default="25")
    ] = None,
    rank: Annotated[
        int | None, typer.Option(metavar="N", help="Rank of the LoRA matrices.", show_default="see docs/training.md")
    ] = None,
    alpha: Annotated[
        int | None,
        typer.Option(metavar="N", help="Scale of the adapter, as alpha / rank.", show_default="twice the rank"),
    ] = None,
    learning_rate: Annotated[
        float | None, typer.Option(metavar="X", help="Learning rate.", show_default="see docs/training.md")
    ] = None,
    dropout: Annotated[
        float | None, typer.Option(metavar="X", help="Dropout of the adapter's layers.", show_default="0.05")
    ] = None,
    batch: Annotated[int | None, typer.Option(metavar="N", help="Number of rows in a step.", show_default="8")] = None,
    accumulate: Annotated[
        int | None, typer.Option(metavar="N", help="Number of steps whose gradients are accumulated.", show_default="1")
    ] = None,
    held: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="Share of the rows that is held out to stop early. 0 runs every epoch.",
            show_default="0.1",
        ),
    ] = None,
    patience: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Number of epochs without progress after which training stops.", show_default="3"
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", help="Seed of the random numbers, such as the order of the rows.", show_default="42"),
    ] = None,
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
) -> None:
    """Train a LoRA or aLoRA adapter on the prompts that will be sent to it."""
    from intrinsics_core.training import train as trained

    with one_line_errors(), _resumable():
        done = trained(
            intrinsic, base=base, data=data, out=out, alora=alora, profile=profile, resume=resume, epochs=epochs,
            rank=rank, alpha=alpha, learning_rate=learning_rate, dropout=dropout, batch=batch, accumulate=accumulate,
            held=held, patience=patience, seed=seed, targets=tuple(target) if target else None,
            grouped=grouped or None, invocation=invocation, longest=longest, date=date, revision=revision,
            device=device, dtype=dtype,
        )  # fmt: skip
    best = "" if done.best is None else f", best held loss {done.best:.4f}"
    typer.echo(f"{done.folder}: {done.counts['trained']} rows trained on, {done.counts['held']} held out, "
               f"{done.steps} steps, {done.epochs:g} epochs{best}; ask it with --profile {done.profile}")  # fmt: skip


@contextmanager
def _resumable() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        stop("interrupted; --resume goes on from the last checkpoint", INTERRUPTED)
