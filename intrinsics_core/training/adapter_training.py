"""``train``: rows in, an adapter's folder out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from intrinsics_core import __version__
from intrinsics_core.intrinsics import TABLE
from intrinsics_core.intrinsics.options import record_of
from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.protocol.task import today
from intrinsics_core.training.asking_by import asked_by
from intrinsics_core.training.card import card
from intrinsics_core.training.checkpoints import begin, digest, noted
from intrinsics_core.training.examples import examples
from intrinsics_core.training.fitting import Base, context_of, fit, needed, tokenizer_of
from intrinsics_core.training.invocations import invocation_of
from intrinsics_core.training.labelled import labelled, read
from intrinsics_core.training.regime import regime
from intrinsics_core.training.split import split

FILE = "io.yaml"
LOG = "log.json"  # written last: where it is, training has ended


@dataclass(frozen=True)
class Trained:
    """An adapter that was trained.

    Attributes:
        folder: holds ``adapter_config.json``, ``adapter_model.safetensors``, ``README.md`` and, where it is asked by
            one, ``io.yaml``.
        profile: what asks it: give it to a call, or to the command line.
        counts: examples by what was done with them: ``trained``, ``held``.
        steps, epochs: how far it went.
        best: least loss on the held examples, None where none were held.
        log: what the trainer saw, step by step.
    """

    folder: Path
    profile: str
    counts: dict[str, int]
    steps: int
    epochs: float
    best: float | None
    log: list[dict[str, Any]] = field(repr=False)


def train(
    intrinsic: str,
    *,
    base: str,
    data: str | Path,
    out: str | Path,
    alora: bool = False,
    profile: str | None = None,
    resume: bool = False,
    invocation: str | None = None,
    longest: int | None = None,
    date: str | None = None,
    revision: str | None = None,
    device: str | None = None,
    dtype: str = "auto",
    callbacks: Sequence[Any] = (),
    **numbers: Any,
) -> Trained:
    """Train a LoRA or aLoRA adapter for an intrinsic, on the prompts that will be sent to it.

    Args:
        intrinsic: name of the intrinsic, such as ``"answerability"``.
        base: the base model, a folder or a repository on the hub.
        data: JSON Lines: ``messages``, ``documents``, ``label`` (a word, true or false, or the JSON of the intrinsic's
            result; ``result`` may stand in its place: docs/labels.md); ``id``, ``date`` and ``group`` (rows that are
            held out together) where there are some.
        out: a new folder; with ``resume`` one in which this very training was begun.
        resume: continue from the last checkpoint in ``out``.
        alora: make it an Activated LoRA, whose base model's cache serves every adapter.
        profile: how it is asked: ``"granite-3.2"``, ``"granite-3.3"``, ``"io.yaml:PLACE"``, ``"granite-4:PLACE"``;
            None: by a file of our own, which is written beside the weights.
        invocation: text from which on an aLoRA is active; None: what opens the reply.
        longest: most tokens of prompt and reply; None: what the model was made for. A longer row is refused.
        date: for prompts that carry one, where a row has none; None: today, and on ``resume`` the day it was begun.
        device, dtype, revision: of the base model, as the transformers runtime takes them.
        callbacks: transformers' TrainerCallback.
        numbers: see :class:`~intrinsics_core.training.regime.Regime`; the paper's where left out.

    Returns:
        What was trained: the folder, the profile that asks the adapter, counts of rows, steps and epochs, and the log.

    Raises:
        InvalidInput: rows, numbers or folder are wrong; says which, before training begins.
        RuntimeUnavailable: a library is missing, or the model cannot be loaded.
    """
    intrinsic = record_of(intrinsic).name
    needed()
    folder, place = Path(out), Base(base, revision, device, dtype)
    before = noted(folder) if resume else None
    prompt_date = date or (before or {}).get("date") or today()
    asked = asked_by(intrinsic, profile, base)
    chosen = regime(intrinsic, asked.name, **numbers)
    tokenizer = tokenizer_of(place)
    window = longest or context_of(place)
    if window is None:
        raise InvalidInput("the model's config does not give its context length", expected="longest: tokens")
    rows = examples(labelled(read(Path(data)), TABLE[intrinsic], prompt_date), asked.profile, tokenizer, window)
    tokens = invocation_of(rows, tokenizer, invocation) if alora else ()
    note = {
        "intrinsic": intrinsic, "base": base, "revision": revision, "profile": asked.name, "date": prompt_date,
        "invocation": list(tokens), "regime": json.loads(json.dumps(asdict(chosen))), "examples": digest(rows),
    }  # fmt: skip
    checkpoint = begin(folder, note, resume=resume)
    served = asked.name if asked.file is None else f"io.yaml:{folder}"
    if (folder / LOG).is_file():  # resumed when all was done: the weights stay as they are
        return Trained(folder, served, **json.loads((folder / LOG).read_text(encoding="utf-8")))
    learned, held = split(rows, chosen.held, chosen.seed)
    counts = {"trained": len(learned), "held": len(held)}
    outcome = fit(place, learned, held, chosen, folder, tokenizer, invocation=tokens, checkpoint=checkpoint,
                  callbacks=callbacks)  # fmt: skip
    text = card(intrinsic=intrinsic, base=base, folder=folder.absolute().name,
                profile=asked.name if asked.file is None else FILE, activated=alora, regime=chosen, counts=counts,
                outcome=outcome, version=__version__)  # fmt: skip
    (folder / "README.md").write_text(text, encoding="utf-8")
    if asked.file is not None:
        (folder / FILE).write_text(asked.file, encoding="utf-8")
    summary: dict[str, Any] = {"counts": counts} | {name: outcome[name] for name in ("steps", "epochs", "best", "log")}
    (folder / LOG).write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    return Trained(folder, served, **summary)
