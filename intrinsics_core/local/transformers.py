"""A language model in this process: transformers, with LoRA and aLoRA adapters by PEFT."""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from intrinsics_core.local import kv_cache
from intrinsics_core.local.batches import WORTH_SHARING, families, packed
from intrinsics_core.local.decoding import Detokeniser, Generation, RowLogitsProcessor, RowStoppingCriterion
from intrinsics_core.local.grammars import Grammars
from intrinsics_core.local.peft_adapters import BASE, Adapters, LoadedAdapter
from intrinsics_core.local.runtime import LocalEngine, LocalRuntime
from intrinsics_core.local.tokens import room, token_ids
from intrinsics_core.protocol.errors import IntrinsicsError, RuntimeUnavailable
from intrinsics_core.protocol.requests import Choice, Generate, Outcome
from intrinsics_core.runtimes.configs import TransformersConfig
from intrinsics_core.runtimes.extras import extra

_UNBOUNDED = 2**31  # tokens: a recurrent model has no window
# Tokens of prompt read in the time that one token is generated in: the weights pass through memory once for either.
_STEP_ON_CPU, _STEP_ON_GPU = 16, 256


class TransformersRuntime(LocalRuntime):
    """A model loaded into this process; :class:`TransformersConfig` says what it is told of it.

    Example:
        >>> runtime = TransformersRuntime("ibm-granite/granite-3.3-8b-instruct",
        ...     adapters={"answerability": "ibm-granite/granite-3.3-8b-rag-agent-lib/answerability_prediction_lora"})
        >>> run(answerability(messages, documents), runtime, profile="granite-3.3")  # doctest: +SKIP
    """

    technologies = ("lora", "alora")
    takes = TransformersConfig
    config: TransformersConfig

    def load(self) -> _LoadedModel:
        return _LoadedModel(self.config)


@dataclass(frozen=True, slots=True, eq=False)
class _Job:
    """A request on its way: everything about it that is known before the model is asked."""

    at: int  # its place among the requests
    request: Generate
    ids: np.ndarray
    budget: int
    adapter: LoadedAdapter | None
    reusable: int  # tokens at the start of the prompt whose keys and values are the base model's

    @property
    def name(self) -> str:
        return self.adapter.name if self.adapter else BASE

    @property
    def beginning(self) -> np.ndarray:
        return self.ids[: self.reusable]


class _LoadedModel(LocalEngine[_Job]):
    kind = "transformers"

    def __init__(self, given: TransformersConfig) -> None:
        base, self._tokenizer = _loaded(given)
        self._adapters = Adapters(base, given.adapters or {})
        self._cache_name = kv_cache.cache_name(base)
        self._device = base.device
        self._on_cpu = base.device.type == "cpu"
        config = base.config.get_text_config()
        self._vocabulary: int = config.vocab_size
        self._context: int = given.context_length or getattr(config, "max_position_embeddings", None) or _UNBOUNDED
        self._default_tokens = given.max_tokens
        self._batch_tokens = given.batch_tokens or (2_048 if self._on_cpu else 16_384)
        self._words = Detokeniser(self._tokenizer)
        self._ends, self._pad = _taken_over(base, self._tokenizer)
        self._grammars: Grammars | None = None
        self._prefixes = kv_cache.Prefixes(given.prefix_tokens)
        self._sharing = given.prefix_tokens > 0 and kv_cache.can_share(base.config)

    def stop(self) -> None:
        import torch

        if torch.cuda.is_available():
            torch.cuda.empty_cache()

    def _answer(self, jobs: list[_Job], outcomes: dict[int, Outcome]) -> None:
        alone, together = self._shared_or_not(jobs)
        for members, shared in together:
            self._answer_family(members, shared, outcomes)
        for batch in self._batches(alone):
            self._answer_batch(batch, (), 0, outcomes)

    # --- before the model is asked ------------------------------------------------------------------------------------

    def _planned(self, at: int, request: Generate) -> _Job:
        adapter = self._adapters.find(request)
        ids = token_ids(self._tokenizer, request)
        budget = room(len(ids), request.max_tokens, self._default_tokens, self._context)
        if isinstance(request.constraint, Choice):  # no token is shorter than a byte, and one more ends the reply
            budget = min(budget, max((len(o.encode()) for o in request.constraint.options), default=0) + 1)
        if request.constraint is not None:
            self._row_grammars().start(request.constraint)
        start = adapter.start(ids) if adapter else len(ids)
        # The last token of a prompt is always computed: its scores are what the reply begins with.
        return _Job(at, request, np.array(ids), budget, adapter, min(start, len(ids) - 1))

    def _row_grammars(self) -> Grammars:
        if self._grammars is None:
            self._grammars = Grammars(self._tokenizer, self._vocabulary, sorted(self._ends))
        return self._grammars

    def _row(self, job: _Job) -> Generation:
        constraint = job.request.constraint
        matcher = self._row_grammars().start(constraint) if constraint is not None else None
        return Generation(job.request, job.ids.tolist(), job.budget, self._words, self._ends, matcher)

    def _shared_or_not(self, jobs: list[_Job]) -> tuple[list[_Job], list[tuple[list[_Job], int]]]:
        """Jobs whose beginning is, or is worth being, in memory, put together by beginning; and the others."""
        alone = [job for job in jobs if not self._sharing or job.reusable < WORTH_SHARING]
        rest = [job for job in jobs if self._sharing and job.reusable >= WORTH_SHARING]
        together = []
        for indices, shared in families([job.beginning for job in rest]):
            members = [rest[i] for i in indices]
            # A lone request to the base model hardly ever comes back; an aLoRA's context serves the next intrinsic.
            wanted = len(members) > 1 or members[0].adapter is not None
            if wanted or self._prefixes.longest(members[0].beginning)[1] >= max(WORTH_SHARING, shared // 2):
                together.append((members, shared))
            else:
                alone += members
        return alone, together

    # --- asking it ----------------------------------------------------------------------------------------------------

    def _answer_family(self, jobs: list[_Job], shared: int, outcomes: dict[int, Outcome]) -> None:
        """Jobs that have their first ``shared`` tokens in common."""
        begun = time.perf_counter()
        try:
            layers, known = self._prefix(jobs[0].ids[:shared])
        except Exception as error:
            outcomes |= {job.at: _failed(error, job.request) for job in jobs}
            return
        spent = (time.perf_counter() - begun) / len(jobs)
        hits = {job.at: shared for job in jobs} | {jobs[0].at: known}  # the first one paid for the others
        for batch in self._batches(jobs, shared):
            self._answer_batch(batch, layers, shared, outcomes, hits, spent)

    def _batches(self, jobs: list[_Job], shared: int = 0) -> list[list[_Job]]:
        # What is shared is not read again, but each row gets a copy of it: on a GPU they must fit into its memory.
        read_before = shared if self._on_cpu else 0
        lengths = [len(job.ids) - read_before for job in jobs]
        step = _STEP_ON_CPU if self._on_cpu else _STEP_ON_GPU
        found = packed(lengths, [job.budget for job in jobs], self._batch_tokens, step)
        return [[jobs[i] for i in batch] for batch in found]

    def _prefix(self, ids: np.ndarray) -> tuple[kv_cache.Layers, int]:
        """Keys and values of the base model for these tokens, and for how many of them they were there already."""
        import torch

        layers, known = self._prefixes.longest(ids)
        if known == len(ids):
            return layers, known
        cache = kv_cache.cache_of(layers, known, 1)
        with torch.inference_mode():
            self._adapters.forward_base(
                input_ids=self._tensor([ids[known:]]), use_cache=True, logits_to_keep=1, **{self._cache_name: cache}
            )
        made = kv_cache.layers_of(cache)
        self._prefixes.put(ids, made)
        return made, known

    def _answer_batch(
        self,
        jobs: list[_Job],
        layers: kv_cache.Layers,
        shared: int,
        outcomes: dict[int, Outcome],
        hits: Mapping[int, int] | None = None,
        spent: float = 0.0,
    ) -> None:
        begun = time.perf_counter()
        rows = [self._row(job) for job in jobs]
        failure = self._tried(jobs, rows, layers, shared)
        if failure and len(jobs) > 1:
            half = len(jobs) // 2
            for part in (jobs[:half], jobs[half:]):  # until only the culprit fails
                self._answer_batch(part, layers, shared, outcomes, hits, spent)
            return
        seconds = (time.perf_counter() - begun) / len(rows) + spent
        for job, row in zip(jobs, rows, strict=True):
            row.cached = (hits or {}).get(job.at, 0)
            outcomes[job.at] = failure or row.outcome(seconds)

    def _tried(
        self, jobs: list[_Job], rows: list[Generation], layers: kv_cache.Layers, shared: int
    ) -> IntrinsicsError | None:
        """Generate; the error where the model failed."""
        try:
            self._generate(jobs, rows, layers, shared)
            return None
        except Exception as error:
            traceback.clear_frames(error.__traceback__)  # they hold tensors, and memory may be what was short
            return _failed(error, jobs[0].request)

    def _generate(self, jobs: list[_Job], rows: list[Generation], layers: kv_cache.Layers, shared: int) -> None:
        """Left-padded, the padding after what is shared: prompts end side by side.

        What a constraint forces is not generated token by token. It is read at once, like a piece of the prompt.
        """
        import torch

        ahead = self._sharing and not any(job.adapter for job in jobs)
        cache = kv_cache.cache_of(layers, shared, len(jobs)) if shared or ahead else None
        ids = np.empty((len(jobs), 0), dtype=np.int64)
        mask = ids
        pieces = [job.ids.tolist() for job in jobs]
        first = shared
        while True:
            if ahead:
                pieces = [piece + row.take_forced() for piece, row in zip(pieces, rows, strict=True)]
            if not any(row.open for row in rows):
                return
            more, more_mask = self._padded(pieces, first)
            ids, mask = np.hstack([ids, more]), np.hstack([mask, more_mask])
            with torch.inference_mode():
                found = self._adapters.generate(
                    [job.name for job in jobs],
                    input_ids=self._tensor(ids),
                    attention_mask=self._tensor(mask),
                    max_new_tokens=max(row.budget - len(row.tokens) for row in rows if row.open),
                    logits_processor=[RowLogitsProcessor(rows, self._pad)],
                    stopping_criteria=[RowStoppingCriterion(rows, ahead)],
                    **({} if cache is None else {self._cache_name: cache}),
                )
            if not ahead:
                return
            # The last token of each row has not been read yet: it begins the next piece.
            grown = found[:, :-1].cpu().numpy()
            mask = np.hstack([mask, np.ones((len(rows), grown.shape[1] - mask.shape[1]), dtype=np.int64)])
            ids, pieces, first = grown, found[:, -1:].tolist(), 0

    def _padded(self, pieces: list[list[int]], first: int) -> tuple[np.ndarray, np.ndarray]:
        """Pieces side by side, padded after their ``first`` tokens, and where they are no padding."""
        width = max(map(len, pieces))
        ids = np.full((len(pieces), width), self._pad)
        mask = np.zeros((len(pieces), width), dtype=np.int64)
        for i, piece in enumerate(pieces):
            start = width - (len(piece) - first)
            ids[i, :first], mask[i, :first] = piece[:first], 1
            ids[i, start:], mask[i, start:] = piece[first:], 1
        return ids, mask

    def _tensor(self, rows: Any) -> Any:
        import torch

        return torch.from_numpy(np.asarray(rows, dtype=np.int64)).to(self._device)


def _loaded(given: TransformersConfig) -> tuple[Any, Any]:
    """The base model, ready, and its tokenizer."""
    with extra("transformers", "the transformers runtime is not installed ({error})"):
        import torch  # noqa: F401  (looked for, and used where the model is loaded)
        from transformers import AutoTokenizer
    with load_errors(f"the model {given.model!r}"):
        tokenizer = AutoTokenizer.from_pretrained(given.model, revision=given.revision, trust_remote_code=False)
    return base_model(given.model, given.revision, given.device, given.dtype).eval(), tokenizer


def base_model(model: str, revision: str | None, device: str | None, dtype: str) -> Any:
    """A language model, from safetensors alone, with no code of its repository; on a GPU where there is one.

    Raises:
        RuntimeUnavailable: it cannot be loaded.
    """
    import torch
    from transformers import AutoModelForCausalLM

    with load_errors(f"the model {model!r}"):
        loaded = AutoModelForCausalLM.from_pretrained(
            model, revision=revision, use_safetensors=True, trust_remote_code=False,
            dtype=dtype if dtype == "auto" else getattr(torch, dtype),
        )  # fmt: skip
        return loaded.to(device or ("cuda" if torch.cuda.is_available() else "cpu"))


@contextmanager
def load_errors(what: str) -> Iterator[None]:
    """Within it, whatever keeps a model from being loaded is an error of this library.

    Raises:
        RuntimeUnavailable: a wrong folder, a gated repository, a pickle, a missing device: each with its own words.
    """
    try:
        yield
    except Exception as error:
        raise RuntimeUnavailable(f"{what} cannot be loaded ({error})") from error


def _taken_over(base: Any, tokenizer: Any) -> tuple[frozenset[int], int]:
    """(tokens that end a reply, the token to pad with); the rows decide what comes next and when they end.

    Nothing of the repository's own sampling is left: a request says all of it.
    """
    from transformers import GenerationConfig

    stated = base.generation_config.eos_token_id
    ends = frozenset({*(stated if isinstance(stated, list) else [stated]), tokenizer.eos_token_id} - {None})
    pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else min(ends, default=0)
    base.generation_config = GenerationConfig(do_sample=False, use_cache=True, pad_token_id=pad)
    return ends, pad


def _failed(error: Exception, request: Generate) -> IntrinsicsError:
    if isinstance(error, IntrinsicsError):
        return error.named(request.intrinsic)
    failure = RuntimeUnavailable(f"the model failed ({type(error).__name__}: {error})", intrinsic=request.intrinsic)
    failure.__cause__ = error
    return failure
