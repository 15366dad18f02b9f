"""vLLM in this process: offline batches on one node, with LoRA adapters."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from intrinsics_core.local.grammars import SPELLING
from intrinsics_core.local.runtime import LocalEngine, LocalRuntime
from intrinsics_core.local.tokens import room, token_ids
from intrinsics_core.protocol.errors import IntrinsicsError, InvalidInput, RuntimeUnavailable
from intrinsics_core.protocol.requests import (
    Constraint,
    Generate,
    Generated,
    JsonSchema,
    Outcome,
    TokenLogprob,
    Usage,
)
from intrinsics_core.runtimes.adapters import choose, folder_of, is_activated, read_config, served_rank
from intrinsics_core.runtimes.configs import VllmConfig
from intrinsics_core.runtimes.extras import extra
from intrinsics_core.runtimes.server.dialect import structured

_ALTERNATIVES = 20  # log-probabilities per place: vLLM's own default limit
# llguidance refuses what it cannot enforce; xgrammar leaves some of it out without a word.
_STRUCTURED = {"backend": "guidance", "disable_any_whitespace": True}


class VllmRuntime(LocalRuntime):
    """A vLLM engine of its own; :class:`VllmConfig` says what it is told."""

    takes = VllmConfig
    config: VllmConfig

    def load(self) -> _StartedEngine:
        return _StartedEngine(self.config)


@dataclass(frozen=True, slots=True, eq=False)
class _Prompt:
    at: int  # its place among the requests
    request: Generate
    ids: list[int]
    sampling: Any
    lora: Any


class _StartedEngine(LocalEngine[_Prompt]):
    kind = "vllm"

    def __init__(self, given: VllmConfig) -> None:
        self._places, self._max_tokens = given.adapters or {}, given.max_tokens
        folders, self._adapters = _read(self._places)
        with extra("vllm", "vLLM is not installed ({error})"):
            import vllm
        try:
            self._llm = vllm.LLM(
                model=given.model, revision=given.revision, dtype=given.dtype, max_model_len=given.context_length,
                trust_remote_code=False,
                **{"structured_outputs_config": dict(_STRUCTURED)} | _lora_settings(folders) | dict(given.engine or {}),
            )  # fmt: skip
        except Exception as error:
            raise RuntimeUnavailable(f"vLLM cannot start with the model {given.model!r} ({error})") from error
        self._tokenizer = self._llm.get_tokenizer()
        self._context: int = self._llm.llm_engine.model_config.max_model_len
        for number, (key, (folder, _)) in enumerate(folders.items(), start=1):
            self._adapters[key] = self._added(key, folder, number)

    def stop(self) -> None:
        engine = self._llm.llm_engine
        getattr(engine.engine_core, "shutdown", lambda: None)()

    def _planned(self, at: int, request: Generate) -> _Prompt:
        key = choose(self._places, request)
        lora = None if key is None else self._adapters[key]
        if isinstance(lora, IntrinsicsError):
            raise lora
        ids = token_ids(self._tokenizer, request)
        budget = room(len(ids), request.max_tokens, self._max_tokens, self._context)
        return _Prompt(at, request, ids, _sampling(request, budget), lora)

    def _answer(self, jobs: list[_Prompt], outcomes: dict[int, Outcome]) -> None:
        """All at once: the engine batches. Where it refuses, in halves, until only the culprit fails."""
        if not jobs:
            return
        begun = time.perf_counter()
        try:
            outputs = self._llm.generate(
                [{"prompt_token_ids": job.ids} for job in jobs],
                [job.sampling for job in jobs],
                lora_request=[job.lora for job in jobs],
                use_tqdm=False,
            )
        except Exception as error:
            if half := len(jobs) // 2:
                self._answer(jobs[:half], outcomes)
                self._answer(jobs[half:], outcomes)
                return
            outcomes[jobs[0].at] = _refused(error, jobs[0].request)
            return
        seconds = (time.perf_counter() - begun) / len(jobs)
        for job, output in zip(jobs, outputs, strict=True):
            outcomes[job.at] = _generated(output, seconds)

    def _added(self, key: str, folder: str, number: int) -> Any:
        from vllm.lora.request import LoRARequest

        request = LoRARequest(lora_name=key, lora_int_id=number, lora_path=folder)
        try:
            self._llm.llm_engine.add_lora(request)
        except Exception as error:
            return RuntimeUnavailable(f"the adapter {key!r} does not fit the model ({error})")
        return request


def _read(adapters: Mapping[str, str]) -> tuple[dict[str, tuple[str, int]], dict[str, Any]]:
    """(folder and rank of each adapter that vLLM can serve, the error of each that it cannot)"""
    folders: dict[str, tuple[str, int]] = {}
    errors: dict[str, Any] = {}
    for key, place in adapters.items():
        try:
            folder = folder_of(place)
            config = read_config(key, folder)
        except IntrinsicsError as error:
            errors[key] = error
            continue
        if is_activated(config):
            errors[key] = RuntimeUnavailable(
                f"the adapter {key!r} is an aLoRA, which vLLM does not support", expected="the transformers runtime"
            )
        else:
            folders[key] = str(folder), max([config.get("r", 8), *(config.get("rank_pattern") or {}).values()])
    return folders, errors


def _lora_settings(folders: Mapping[str, tuple[str, int]]) -> dict[str, Any]:
    if not folders:
        return {}
    rank = max(rank for _, rank in folders.values())
    return {
        "enable_lora": True,
        # One more than there are adapters: with the last slot in use, requests to the base model get its weights.
        "max_loras": len(folders) + 1,
        "max_lora_rank": served_rank(rank),
    }


def _sampling(request: Generate, budget: int) -> Any:
    from vllm import SamplingParams

    return SamplingParams(
        temperature=request.temperature,
        top_p=1.0 if request.top_p is None else request.top_p,
        max_tokens=budget,
        stop=list(request.stop) or None,
        seed=request.seed,
        logprobs=_ALTERNATIVES if request.logprobs else None,
        structured_outputs=None if request.constraint is None else _structured(request.constraint),
    )


def _structured(constraint: Constraint) -> Any:
    from vllm.sampling_params import StructuredOutputsParams

    given = structured(constraint)
    if isinstance(constraint, JsonSchema):
        given["json"] |= {"x-guidance": SPELLING}
    return StructuredOutputsParams(**given)


def _generated(output: Any, seconds: float) -> Generated:
    reply = output.outputs[0]
    prompt, new = len(output.prompt_token_ids or ()), len(reply.token_ids)
    return Generated(
        text=reply.text,
        logprobs=None if reply.logprobs is None else _logprobs(reply),
        finish_reason=reply.finish_reason,
        usage=Usage(1, prompt, new, output.num_cached_tokens or 0, seconds),
    )


def _logprobs(reply: Any) -> tuple[TokenLogprob, ...]:
    return tuple(
        TokenLogprob(
            places[token].decoded_token or "",
            float(places[token].logprob),
            tuple((p.decoded_token or "", float(p.logprob)) for p in places.values() if p.logprob > float("-inf")),
        )
        for token, places in zip(reply.token_ids, reply.logprobs, strict=True)
    )


def _refused(error: Exception, request: Generate) -> IntrinsicsError:
    invalid = isinstance(error, ValueError) or type(error).__name__ == "VLLMValidationError"
    kind = InvalidInput if invalid else RuntimeUnavailable
    what = "vLLM refuses the request" if kind is InvalidInput else "vLLM failed"
    failure = kind(f"{what} ({type(error).__name__}: {error})", intrinsic=request.intrinsic)
    failure.__cause__ = error
    return failure
