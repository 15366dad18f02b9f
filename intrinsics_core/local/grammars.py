"""Constraints on generated text, by llguidance: JSON schema, pattern or choice. It rejects what it cannot honour."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from intrinsics_core.protocol.errors import InvalidInput, RuntimeUnavailable
from intrinsics_core.protocol.requests import Choice, Constraint, JsonSchema, Regex
from intrinsics_core.runtimes.cache import Lru
from intrinsics_core.runtimes.extras import extra
from intrinsics_core.runtimes.server.dialect import structured

# The spelling of json.dumps, which adapters are trained on. Free white space lets a model write nothing else for ever.
SPELLING = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}


class Grammars:
    """Matchers for one tokenizer.

    Args:
        tokenizer: a fast tokenizer of Hugging Face.
        vocabulary: tokens the model gives a score to; more than the tokenizer knows, where its matrix is padded.
        ends: ids of the tokens that end a reply.

    Raises:
        RuntimeUnavailable: llguidance is missing, or cannot work with this tokenizer.
    """

    def __init__(self, tokenizer: Any, vocabulary: int, ends: list[int]) -> None:
        with extra("transformers", "constrained replies need llguidance"):
            import llguidance.hf
        try:
            self._tokenizer = llguidance.hf.from_tokenizer(tokenizer, n_vocab=vocabulary, eos_token=ends)
        except ValueError as error:
            raise RuntimeUnavailable(f"the replies of this model cannot be constrained: {error}") from None
        self._vocabulary = vocabulary
        self._compiled: Lru[Any, Any] = Lru(256)  # a wave asks for the same few schemas again and again

    def start(self, constraint: Constraint) -> Matcher:
        """A matcher at its beginning.

        Raises:
            InvalidInput: the constraint is malformed or asks for what cannot be enforced.
        """
        key = json.dumps(structured(constraint), sort_keys=True, default=repr)
        compiled = self._compiled.get(key)
        if compiled is None:
            compiled = self._compile(constraint)
            self._compiled.put(key, compiled)
        return Matcher(compiled.deep_copy(), self._vocabulary)

    def _compile(self, constraint: Constraint) -> Any:
        from llguidance import LLMatcher

        try:
            grammar = _grammar(constraint)
        except (TypeError, ValueError) as error:
            raise _refused(constraint, str(error)) from None
        refused, complaints = LLMatcher.validate_grammar_with_warnings(grammar, self._tokenizer)
        # A warning means that something of the constraint is left out: that is not what was asked for.
        if refused or complaints:
            raise _refused(constraint, "; ".join(complaints))
        matcher = LLMatcher(self._tokenizer, grammar, log_level=0)
        if matcher.is_error():
            raise _refused(constraint, matcher.get_error())
        return matcher


class Matcher:
    """One reply on its way through a constraint."""

    def __init__(self, matcher: Any, vocabulary: int) -> None:
        self._matcher, self._vocabulary = matcher, vocabulary

    def allowed(self) -> np.ndarray:
        """Which tokens may come next: bool, one per token of the model.

        Raises:
            InvalidInput: the constraint proved too complex on the way.
        """
        bits = np.frombuffer(self._matcher.compute_bitmask(), dtype=np.uint8)
        self._check()
        return np.unpackbits(bits, bitorder="little")[: self._vocabulary].astype(bool)

    def take(self, token: int) -> bool:
        """Go on by one token; True where the reply is complete and nothing can follow."""
        self._matcher.consume_token(token)
        self._check()
        return bool(self._matcher.is_stopped())

    def forced(self) -> list[int]:
        """The tokens that come next, as far as the constraint leaves one text alone and one way to write it."""
        tokens: list[int] = self._matcher.compute_ff_tokens()
        self._check()
        return tokens

    def _check(self) -> None:
        if self._matcher.is_error():
            raise InvalidInput("the constraint cannot be followed", got=self._matcher.get_error())


def _grammar(constraint: Constraint) -> str:
    from llguidance import LLMatcher

    match constraint:
        case Choice(options):
            if not options or not all(options):
                raise ValueError("a choice needs options, and none of them may be empty")
            words = " | ".join(json.dumps(option, ensure_ascii=False) for option in options)
            return str(LLMatcher.grammar_from_lark(f"start: {words}"))
        case Regex(pattern):
            return str(LLMatcher.grammar_from_regex(pattern))
        case JsonSchema(schema):
            return str(LLMatcher.grammar_from_json_schema(_plain(schema), overrides=SPELLING))


def _plain(schema: Mapping[str, Any]) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(json.dumps(dict(schema)))
    plain.pop("x-guidance", None)  # options of ours, not of whoever wrote the schema
    return plain


def _refused(constraint: Constraint, why: str) -> InvalidInput:
    return InvalidInput(f"the {type(constraint).__name__} constraint cannot be enforced", got=why)
