"""Weights from examples: PEFT's adapter on the base model, TRL's trainer over it.

Rows come tokenised, with a mask of what is learned; nothing is cut, packed or left out. A base model's weights are
read from safetensors alone, and no code of its repository is run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from intrinsics_core._support.extras import install_command
from intrinsics_core.local.peft_adapters import LoadedAdapter
from intrinsics_core.local.transformers import base_model, load_errors
from intrinsics_core.protocol.errors import InvalidInput, RuntimeUnavailable
from intrinsics_core.training.checkpoints import CHECKPOINTS, WHOLE
from intrinsics_core.training.examples import Example
from intrinsics_core.training.prefix import behind_prefix, can_cut
from intrinsics_core.training.regime import Regime
from intrinsics_core.training.working_type import working_type

_NEEDED = ("torch", "transformers", "peft", "trl", "datasets")
_QUERIES, _OUTPUT = ("q_proj", "k_proj", "v_proj"), ("o_proj",)


@dataclass(frozen=True)
class Base:
    """A base model: where it is, and how it is loaded. With ``dtype="float32"`` all is computed in it, too."""

    model: str
    revision: str | None = None
    device: str | None = None
    dtype: str = "auto"


def needed() -> None:
    """Raises RuntimeUnavailable where a library is missing, before anything is begun."""
    if missing := [name for name in _NEEDED if find_spec(name) is None]:
        raise RuntimeUnavailable(f"training needs {', '.join(missing)}", expected=install_command("train"))


def tokenizer_of(base: Base) -> Any:
    from transformers import AutoTokenizer

    with load_errors(f"the tokenizer of {base.model!r}"):
        return AutoTokenizer.from_pretrained(base.model, revision=base.revision, trust_remote_code=False)


def context_of(base: Base) -> int | None:
    """Tokens that the model was made for, None where it does not say."""
    from transformers import AutoConfig

    with load_errors(f"the model {base.model!r}"):
        config = AutoConfig.from_pretrained(base.model, revision=base.revision, trust_remote_code=False)
    return getattr(config.get_text_config(), "max_position_embeddings", None)


def fit(
    base: Base,
    rows: Sequence[Example],
    held: Sequence[Example],
    regime: Regime,
    folder: Path,
    tokenizer: Any,
    *,
    invocation: tuple[int, ...] = (),
    checkpoint: Path | None = None,
    callbacks: Sequence[Any] = (),
) -> dict[str, Any]:
    """Train an adapter and write it into ``folder``.

    Args:
        held: rows that tell when to stop; empty: all epochs are run.
        invocation: makes it an aLoRA.
        checkpoint: to go on from.
        callbacks: transformers' TrainerCallback, beside ours.

    Returns:
        ``steps``, ``epochs``, ``seconds`` of this run, ``best`` (loss on the held rows, None without), ``log`` (what
        was seen, step by step).
    """
    from transformers import EarlyStoppingCallback, PrinterCallback, TrainerCallback, set_seed

    set_seed(regime.seed)
    loaded = base_model(base.model, base.revision, base.device, base.dtype)
    model = _with_adapter(loaded, base, regime, invocation)

    class Wholeness(TrainerCallback):
        """Marks checkpoints that were written to their end: a process may be killed while it writes one."""

        def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            Path(args.output_dir, f"checkpoint-{state.global_step}", WHOLE).touch()

    stopping = [EarlyStoppingCallback(early_stopping_patience=regime.patience)] if held else []
    trainer = _trainer_for(model.device, LoadedAdapter("", invocation) if invocation and can_cut(loaded) else None)(
        model=model,
        args=_arguments(regime, folder, base, rows=len(rows), held=bool(held)),
        train_dataset=_dataset(rows),
        eval_dataset=_dataset(held) if held else None,
        processing_class=tokenizer,
        callbacks=[*callbacks, *stopping, Wholeness()],
    )
    trainer.remove_callback(PrinterCallback)  # standard output is the command's
    if len(trainer.train_dataset) != len(rows):  # a trainer that left rows out would not say so
        raise RuntimeUnavailable("trl dropped rows", expected=f"{len(rows)}", got=f"{len(trainer.train_dataset)}")
    trained = trainer.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))
    trainer.model.save_pretrained(str(folder), safe_serialization=True)
    state = trainer.state
    return {
        "steps": state.global_step,
        "epochs": round(state.epoch or 0, 4),
        "best": state.best_metric,
        "seconds": trained.metrics["train_runtime"],
        "log": state.log_history,
    }


def _trainer_for(device: Any, in_parts: LoadedAdapter | None = None) -> Any:
    """trl's trainer. Without a GPU it scores prompts, too, so there the same loss is ours: of the reply's tokens."""
    from torch.nn.functional import cross_entropy, pad
    from trl import SFTTrainer

    class OfReplies(SFTTrainer):
        def compute_loss(self, model: Any, inputs: Any, return_outputs: Any = 0, num_items_in_batch: Any = 0) -> Any:
            following = pad(inputs.pop("labels")[:, 1:], (0, 1), value=-100)
            if in_parts is not None:
                following, inputs = behind_prefix(model, in_parts, following, **inputs)
            scored = following != -100
            head = model.get_output_embeddings()
            with head.register_forward_pre_hook(lambda _, states: (states[0][scored],)):
                outputs = model(**{"use_cache": False, **inputs})
            loss = cross_entropy(outputs.logits.float(), following[scored], reduction="sum")
            loss = loss / (num_items_in_batch or scored.sum())
            return (loss, outputs) if return_outputs else loss

    return SFTTrainer if device.type == "cuda" else OfReplies


def _with_adapter(model: Any, base: Base, regime: Regime, invocation: tuple[int, ...]) -> Any:
    from peft import LoraConfig, get_peft_model

    config = LoraConfig(
        r=regime.rank,
        lora_alpha=2 * regime.rank if regime.alpha is None else regime.alpha,
        lora_dropout=regime.dropout,
        target_modules=list(_targets(model, regime, activated=bool(invocation))),
        task_type="CAUSAL_LM",
        alora_invocation_tokens=list(invocation) or None,
        revision=base.revision,
    )
    return get_peft_model(model, config)


def _targets(model: Any, regime: Regime, *, activated: bool) -> tuple[str, ...]:
    ends = {name.rpartition(".")[2] for name, _ in model.named_modules()}
    if regime.targets is not None:
        if missing := [name for name in regime.targets if name not in ends]:
            raise InvalidInput(f"the model has no layers named {missing[0]!r}", expected="the end of a layer's name")
        return regime.targets
    found = tuple(name for name in (_QUERIES if activated else _QUERIES + _OUTPUT) if name in ends)
    if not found:
        raise InvalidInput("the model has none of the usual layers to adapt", expected="targets: ends of layer names")
    return found


def _arguments(regime: Regime, folder: Path, base: Base, *, rows: int, held: bool) -> Any:
    import torch
    from trl import SFTConfig

    on_gpu = torch.cuda.is_available() and base.device != "cpu"
    stops = {"eval_strategy": "epoch", "load_best_model_at_end": True, "metric_for_best_model": "eval_loss",
             "greater_is_better": False, "per_device_eval_batch_size": regime.batch} if held else {}  # fmt: skip
    return SFTConfig(
        output_dir=str(folder / CHECKPOINTS),
        num_train_epochs=regime.epochs,
        learning_rate=regime.learning_rate,
        per_device_train_batch_size=regime.batch,
        gradient_accumulation_steps=regime.accumulate,
        train_sampling_strategy="group_by_length" if regime.grouped else "random",
        seed=regime.seed,
        data_seed=regime.seed,
        max_length=None,
        packing=False,
        completion_only_loss=True,
        save_strategy="epoch" if held else "steps",
        save_steps=max(1, rows * regime.epochs // (10 * regime.batch * regime.accumulate)),  # a tenth of all
        save_total_limit=2,  # the best and the last
        restore_callback_states_from_checkpoint=True,  # how long the loss has not fallen
        logging_steps=1,
        report_to=["tensorboard"] if find_spec("tensorboard") else [],
        disable_tqdm=True,
        use_cpu=not on_gpu,
        bf16=base.dtype != "float32" and working_type(torch.device("cuda" if on_gpu else "cpu")) is torch.bfloat16,
        gradient_checkpointing=False,
        **stops,
    )


def _dataset(rows: Sequence[Example]) -> Any:
    from datasets import Dataset

    return Dataset.from_list([{"input_ids": row.ids, "completion_mask": row.mask} for row in rows])
