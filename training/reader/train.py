"""The training loop: seeded, with a checkpoint every few minutes that a later run goes on from.

A checkpoint is a folder: `model.safetensors` (weights), `optimizer.safetensors` (moments of AdamW), `state.json`
(counters of the streams, pairs seen, the log). Nothing is pickled.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from intrinsics_core.calibration.fitting import auroc
from training.build_encoder import LAYERS, SHA256
from training.reader.lanes import Counters, Lanes, Rows, batches, rows
from training.reader.layers import Weights, cast, forward, leaves
from training.reader.limits import MAX_TOKENS
from training.reader.mixture import SHARES, Stream, sets, streams
from training.reader.model import CrossEncoder, Encoding, logits, padded, upstream, widened
from training.reader.mpnet import load
from training.reader.pairs import TASKS, Pair
from training.reader.wordnet import WordNet


@dataclass(frozen=True)
class Settings:
    """What a run is made with; it goes into the log.

    pairs: seen in all; the rate falls to zero at the last one. tokens: of a batch, with its padding. chunk: pairs drawn
    and sorted by length at a time. beside: weight of the loss that ranks a true form above its false twin. lanes:
    places in the mixture (`training.reader.lanes`); with more than one, processes make the chunks ahead. layers: of the
    model; more than a checkpoint has are stacked from its own. teach: share of the teachers' judgement in a label.
    longest: tokens of a row. fall: the rate of a layer in shares of the one above. head: the rate of what is
    not upstream's (the heads, types of tokens) in shares of the uppermost layer's.
    """

    pairs: int = 90_000
    tokens: int = 2560
    chunk: int = 1536
    rate: float = 8e-5
    warm: float = 0.04
    decay: float = 0.01
    smooth: float = 0.03
    beside: float = 0.3
    seed: int = 1
    frozen: int = 1  # lowest layers that stay as they were
    device: str = "cpu"  # or "cuda"
    threads: int = 2  # of the CPU
    part: int = 8  # pairs that one core reads at a time
    lanes: int = 1
    layers: int = LAYERS
    teach: float = 0.7
    longest: int = MAX_TOKENS
    fall: float = 1.0
    head: float = 1.0
    minutes: float = 8.0  # between checkpoints
    dev: int = 80  # pairs of each stream that choose among checkpoints

    @classmethod
    def of(cls, device: str, **named: Any) -> Settings:
        """The settings for a device, those that are ``named`` as they are given."""
        return cls(**{**(CUDA if device.startswith("cuda") else {}), "device": device, **named})


CUDA: dict[str, Any] = {"tokens": 65_536, "chunk": 6144, "lanes": 15, "part": 1 << 20, "threads": 1, "rate": 3e-4}
"""What differs on a GPU with sixteen cores beside it: larger batches, and every other core makes pairs."""

Scores = Callable[[Tensor, Tensor, Tensor], Tensor]
"""ids, token types and mask to logits (pairs, tasks)."""


def losses(
    score: Scores,
    units: list[Rows],
    settings: Settings,
    of: int,
    device: torch.device | str = "cpu",
    teachers: Sequence[Weights] = (),
) -> Tensor:
    """Cross-entropy of the rows' own heads, and of each true form against the false ones of its unit, over ``of``.

    Where there are teachers, a label is the mean of itself and of their mean judgement, weighed by ``settings.teach``.
    A judgement on the other side of .5 than the label does not count.
    """
    some = [row for unit in units for row in unit]
    task = torch.tensor([row.task for row in some], device=device)
    label = torch.tensor([row.label for row in some], device=device)
    read = padded([(row.ids, row.query) for row in some], device)
    each = torch.arange(len(some), device=device)
    label = label * (1 - 2 * settings.smooth) + settings.smooth
    if teachers:
        with torch.no_grad():
            taught = torch.stack([forward(teacher, *read)[each, task] for teacher in teachers]).mean(0).sigmoid()
        mixed = (1 - settings.teach) * label + settings.teach * taught
        label = torch.where((taught > 0.5) == (label > 0.5), mixed, label)
    z = score(*read)[each, task]
    loss: Tensor = nn.functional.binary_cross_entropy_with_logits(z, label, reduction="sum")
    true, false, at = list[int](), list[int](), 0
    for unit in units:
        for i, one in enumerate(unit):
            for j, other in enumerate(unit):
                if one.label > other.label:
                    true.append(at + i)
                    false.append(at + j)
        at += len(unit)
    if true:
        loss = loss + settings.beside * nn.functional.softplus(z[false] - z[true]).sum()
    return loss / of


def groups(model: CrossEncoder, settings: Settings) -> list[dict[str, Any]]:
    """The trained weights, for the optimiser: by layer, matrices with decay, each with its ``scale`` of the rate."""
    found: dict[tuple[float, bool], list[nn.Parameter]] = {}
    uppermost = len(model.bert.encoder.layer) - 1
    for name, value in model.named_parameters():
        if not value.requires_grad:
            continue
        if name.startswith("head.") or name.endswith(".types.weight"):
            scale = settings.head
        else:
            layer = name.removeprefix("bert.encoder.layer.").split(".")[0]
            scale = settings.fall ** (uppermost - (int(layer) if layer.isdigit() else -1))
        found.setdefault((scale, value.ndim > 1), []).append(value)
    return [
        {"params": some, "weight_decay": settings.decay if matrices else 0.0, "scale": scale}
        for (scale, matrices), some in sorted(found.items(), key=lambda item: (not item[0][1], -item[0][0]))
    ]


def halves(units: list[Rows], count: int) -> list[list[Rows]]:
    """A batch in ``count`` parts of about as many pairs each, units whole; fewer where there are fewer units."""
    parts: list[list[Rows]] = [[] for _ in range(count)]
    for unit in units:
        min(parts, key=lambda part: sum(map(len, part))).append(unit)
    return [part for part in parts if part]


def rate(seen: int, settings: Settings) -> float:
    """The learning rate after ``seen`` pairs: up over the first few percent, then down to zero."""
    part = seen / settings.pairs
    return settings.rate * min(
        part / settings.warm if settings.warm else 1.0, max(0.0, (1 - part) / (1 - settings.warm))
    )


def chosen(found: dict[str, Stream], count: int, encode: Encoding, longest: int) -> list[Pair]:
    """The first pairs of every stream: the same ones at every checkpoint."""
    pairs: list[Pair] = []
    for stream in found.values():
        some: list[Pair] = []
        for number in range(4 * count):
            unit = stream.unit(number)
            if unit and rows([unit], encode, longest):
                some += unit
            if len(some) >= count:
                break
        pairs += [Pair(p.task, p.text, p.query, p.label, stream.name) for p in some]
    return pairs


def measured(model: CrossEncoder, encode: Encoding, pairs: list[Pair]) -> dict[str, float]:
    """AUROC by kind, and their mean."""
    out = logits(model, encode, [(p.text, p.query) for p in pairs])
    table: dict[str, float] = {}
    for kind in dict.fromkeys(p.kind for p in pairs):
        some = [i for i, p in enumerate(pairs) if p.kind == kind]
        labels = [pairs[i].label > 0.5 for i in some]
        if len(set(labels)) == 2:
            table[kind] = round(auroc([float(out[i, TASKS.index(pairs[i].task)]) for i in some], labels), 4)
    table["mean"] = round(sum(table.values()) / max(1, len(table)), 4)
    return table


class Run:
    """A training run over a folder of checkpoints: `latest` to go on from, `best` by the mean of the dev AUROCs.

    Args:
        source: upstream's folder. Not needed where there is a ``start``.
        start: a checkpoint of an earlier run to begin with in place of upstream's weights; the counters begin anew.
        teachers: checkpoints whose mean judgement is a part of each label (distillation, Hinton et al. 2015).
    """

    shares: Mapping[str, float] = SHARES
    source_sha256 = SHA256

    def __init__(
        self,
        data: Path,
        out: Path,
        net: WordNet,
        settings: Settings,
        *,
        source: Path | None = None,
        start: Path | None = None,
        teachers: Sequence[Path] = (),
    ) -> None:
        if source is None and start is None:
            raise ValueError("training begins with upstream's weights (source) or with a checkpoint (start)")
        torch.manual_seed(settings.seed)
        self.settings, self.out = settings, out
        self.encode = Encoding()
        self.found = streams(data, "train", net, settings.seed, self.shares)
        held = streams(data, "dev", net, settings.seed, self.shares)
        self.dev = chosen(held, settings.dev, self.encode, settings.longest)
        words = len(net.same) + len(net.opposite) + len(net.sibling)
        self.tables = [{"set": "WordNet 3.1 (tables of words)", "licence": "WordNet", "rows": words}] if words else []
        at: list[Counters] = [{} for _ in range(settings.lanes)]
        self.seen, chunks, self.spent = 0, 0, 0.0
        self.log: list[dict[str, Any]] = []
        self.before: list[dict[str, Any]] = []
        latest = out / "latest"
        goes_on = (latest / "state.json").is_file()
        if goes_on:
            state = json.loads((latest / "state.json").read_text("utf-8"))
            if len(state["at"]) != settings.lanes:
                raise ValueError(f"{latest} was made with {len(state['at'])} lanes, not with {settings.lanes}")
            at, self.seen, chunks = state["at"], state["seen"], state["chunks"]
            self.spent, self.log = state["seconds"], state["log"]
            self.before = state.get("before", [])
        # The processes are forked before anything is done on a GPU.
        processes = settings.lanes if settings.lanes > 1 else 0
        self.lanes = Lanes(self.found, self.encode, at, settings.chunk, processes, chunks, settings.longest)
        self.model = self.blank()
        if goes_on:
            self.model.resume(load_file(str(latest / "model.safetensors")))
        elif start is not None:
            state = json.loads((start / "state.json").read_text("utf-8"))
            self.model.take(load_file(str(start / "model.safetensors")))
            self.before = [*state.get("before", ()), {k: state[k] for k in ("seen", "settings", "shares")}]
        elif source is not None:
            self.model.take(self.begun(source))
        self.model.to(settings.device)
        self.teachers = [cast(load(folder).to(settings.device)) for folder in teachers]
        self.pool = ThreadPoolExecutor(settings.threads)
        self.optimizer = torch.optim.AdamW(groups(self.model, settings), lr=settings.rate, fused=True)
        if goes_on:
            self._take_moments(latest)

    def blank(self) -> CrossEncoder:
        """The model with random weights."""
        return CrossEncoder(self.settings.layers, frozen=self.settings.frozen)

    def begun(self, source: Path) -> dict[str, Tensor]:
        """The weights of upstream's folder that training begins with."""
        return upstream(source)

    def _take_moments(self, folder: Path) -> None:
        """Go on with a checkpoint's optimiser."""
        moments = load_file(str(folder / "optimizer.safetensors"))
        inner: dict[int, dict[str, Tensor]] = {}
        for key, value in moments.items():
            number, name = key.split(".", 1)
            inner.setdefault(int(number), {})[name] = value
        named = {id(p): n for n, p in self.model.named_parameters()}
        every = [named[id(p)] for group in self.optimizer.param_groups for p in group["params"]]
        for place, entry in inner.items():
            if every[place].startswith("head."):
                inner[place] = {k: widened(v) if v.ndim else v for k, v in entry.items()}
        held = self.optimizer.state_dict()["param_groups"]
        self.optimizer.load_state_dict({"state": inner, "param_groups": held})

    def close(self) -> None:
        """Stop the processes and threads."""
        self.lanes.close()
        self.pool.shutdown()

    def save(self, name: str) -> None:
        """Write a checkpoint folder; a run that is cut off while writing leaves the last one whole."""
        folder, fresh = self.out / name, self.out / f".{name}.new"
        fresh.mkdir(parents=True, exist_ok=True)
        save_file({k: v.contiguous() for k, v in self.model.state_dict().items()}, str(fresh / "model.safetensors"))
        moments = {
            f"{number}.{key}": value
            for number, entry in self.optimizer.state_dict()["state"].items()
            for key, value in entry.items()
        }
        save_file(moments, str(fresh / "optimizer.safetensors"))
        state = {
            "seen": self.seen, "chunks": self.lanes.taken, "seconds": round(self.spent), "at": self.lanes.at,
            "settings": asdict(self.settings), "shares": dict(self.shares), "sets": sets(self.found) + self.tables,
            "source_sha256": self.source_sha256, "before": self.before, "log": self.log,
        }  # fmt: skip
        (fresh / "state.json").write_text(json.dumps(state, indent=1) + "\n", "utf-8")
        if folder.exists():
            for file in fresh.iterdir():
                os.replace(file, folder / file.name)
            fresh.rmdir()
        else:
            os.replace(fresh, folder)

    def step(self, units: list[Rows]) -> float:
        """One batch. Returns its loss."""
        for group in self.optimizer.param_groups:
            group["lr"] = group["scale"] * rate(self.seen, self.settings)
        count = sum(map(len, units))
        shared = cast(self.model)
        trained = [name for name, value in self.model.named_parameters() if value.requires_grad]

        def backward(part: list[Rows]) -> tuple[float, tuple[Tensor, ...]]:
            mine = leaves(shared, self.model)
            loss = losses(partial(forward, mine), part, self.settings, count, self.model.device, self.teachers)
            return float(loss.detach()), torch.autograd.grad(loss, [mine[name] for name in trained])

        # Small parts from one queue: on a machine that does other things beside, cores wait for one another once a
        # step, and no longer than a part takes. Gradients are added in the order of the parts, whoever was faster.
        parts = halves(units, -(-count // self.settings.part))
        done = list(self.pool.map(backward, parts))
        loss = sum(value for value, _ in done)
        values = dict(self.model.named_parameters())
        for i, name in enumerate(trained):
            total = done[0][1][i].float()
            for _, grads in done[1:]:
                total += grads[i]
            values[name].grad = total
        nn.utils.clip_grad_norm_([p for p in self.model.parameters() if p.requires_grad], 1.0)
        self.optimizer.step()
        self.seen += count
        return loss

    def report(self, loss: float) -> None:
        table = measured(self.model, self.encode, self.dev)
        best = max((entry["dev"]["mean"] for entry in self.log), default=0.0)
        entry = {
            "seen": self.seen, "seconds": round(self.spent), "loss": round(loss, 4),
            "rate": rate(self.seen, self.settings), "dev": table,
        }  # fmt: skip
        self.log.append(entry)
        print(json.dumps(entry), flush=True)
        self.save("latest")
        if table["mean"] > best:
            self.save("best")

    def train(self, until: int | None = None, minutes: float | None = None) -> None:
        """Go on until ``settings.pairs`` are seen, or ``until``, or for some ``minutes``.

        Checkpoints are taken between chunks, and at the end.
        """
        begun = saved = time.monotonic()
        before, mean = self.spent, 0.0
        while self.seen < (until or self.settings.pairs):
            if minutes is not None and time.monotonic() - begun > 60 * minutes:
                break
            rng = Random(f"{self.settings.seed}/batches/{self.lanes.taken}")
            units = next(self.lanes)
            if not units:
                break
            for some in batches(units, self.settings.tokens, rng):
                loss = self.step(some)
                mean = loss if not mean else 0.98 * mean + 0.02 * loss
            self.spent = before + time.monotonic() - begun
            if time.monotonic() - saved > 60 * self.settings.minutes:
                self.report(mean)
                saved = time.monotonic()
            else:
                print(f"{self.seen} pairs, {self.spent:.0f} s, loss {mean:.4f}", flush=True)
        self.report(mean)
