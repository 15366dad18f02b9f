"""The model card of a trained adapter: what it is, how it was made, and how it is asked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from intrinsics_core.intrinsics import TABLE
from intrinsics_core.training.regime import Regime

_DOCUMENT = "The museum opens at nine. A day ticket costs 9 euros."
_TURNS = (
    {"role": "user", "content": "When does the museum open?"},
    {"role": "assistant", "content": "It opens at nine."},
)


def card(
    *, intrinsic: str, base: str, folder: str, profile: str, activated: bool, regime: Regime, counts: Mapping[str, int],
    outcome: Mapping[str, Any], version: str,
) -> str:  # fmt: skip
    """Markdown with the header that hubs read. Its code runs as it stands, beside the folder.

    Args:
        intrinsic: name of the intrinsic.
        base: the base model, a folder or a repository on the hub.
        folder: name of the adapter's folder, without what it lies in.
        profile: ``"io.yaml"`` where the adapter's own file asks it; else the name of the profile that does.
        activated: whether it is an aLoRA.
        regime: the settings of the training.
        counts: rows by what was done with them.
        outcome: what :func:`intrinsics_core.training.fitting.fit` told.
        version: of this package.

    Returns:
        The text of the card.
    """
    kind = "aLoRA" if activated else "LoRA"
    asked = "io.yaml:FOLDER" if profile == "io.yaml" else profile
    given = 'f"io.yaml:{folder}"' if profile == "io.yaml" else json.dumps(profile)
    turns = _TURNS[: 2 if TABLE[intrinsic].judges_answers else 1]
    shown = "".join(f"    {json.dumps(turn)},\n" for turn in turns)
    function = intrinsic.replace("-", "_")
    numbers = "\n".join(f"| {name} | {value} |" for name, value in asdict(regime).items() if value is not None)
    rows = ", ".join(f"{count} {name}" for name, count in counts.items())
    best = "" if outcome["best"] is None else f"; the best loss on the held rows was {outcome['best']:.4f}"
    return f"""\
---
base_model: {json.dumps(base)}
library_name: peft
pipeline_tag: text-generation
tags: [{"alora" if activated else "lora"}, rag, {intrinsic}]
---

# {intrinsic}, {kind} adapter

Trained for `{intrinsic}` on `{base}` with rag-intrinsics {version}. It is asked through the profile `{asked}`, whose
prompts it was trained on; asked otherwise it answers worse, without an error.

```python
import intrinsics_core as ic
from intrinsics_core.runtimes import TransformersRuntime

folder = {json.dumps(folder)}  # where this adapter lies: its folder, or owner/name on the hub
messages = [
{shown}]
documents = [{json.dumps(_DOCUMENT)}]
with TransformersRuntime({json.dumps(base)}, adapters={{{json.dumps(intrinsic)}: folder}}) as runtime:
    result = ic.run(ic.{function}(messages, documents), runtime, profile={given})
print(result)
```

## Training

Rows: {rows}. {outcome["steps"]} steps, {outcome["epochs"]:g} epochs{best}. The loss is that of the reply alone.

| | |
|---|---|
{numbers}

What the rows were, where they came from and under which licence, is for whoever publishes this adapter to say here.
"""
