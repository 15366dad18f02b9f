"""The model card of a trained adapter: what it is, how it was made, and how it is asked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from intrinsics_core.training.regime import Regime


def card(
    *, intrinsic: str, base: str, profile: str, activated: bool, regime: Regime, counts: Mapping[str, int],
    outcome: Mapping[str, Any], version: str,
) -> str:  # fmt: skip
    """Markdown with the header that hubs read.

    Args:
        profile: ``"io.yaml"`` where the adapter's own file asks it; else the name of the profile that does.
        counts: rows by what was done with them.
        outcome: what :func:`intrinsics_core.training.fitting.fit` told.
    """
    kind = "aLoRA" if activated else "LoRA"
    asked = "io.yaml:FOLDER" if profile == "io.yaml" else profile
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

with TransformersRuntime({base!r}, adapters={{{intrinsic!r}: "FOLDER"}}) as runtime:
    result = ic.run(ic.{function}(messages, documents), runtime, profile={asked!r})
```

## Training

Rows: {rows}. {outcome["steps"]} steps, {outcome["epochs"]:g} epochs{best}. The loss is that of the reply alone.

| | |
|---|---|
{numbers}

What the rows were, where they came from and under which licence, is for whoever publishes this adapter to say here.
"""
