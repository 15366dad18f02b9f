"""What intrinsics ask of a runtime, and what a runtime answers: plain values, no I/O.

An intrinsic is a generator that yields lists of requests and is sent a list of the same length, in the same order,
that holds for each request its reply or the :class:`~intrinsics_core.protocol.errors.IntrinsicsError` it ended in.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from intrinsics_core.protocol.errors import IntrinsicsError
from intrinsics_core.protocol.task import Document, Message

if TYPE_CHECKING:
    import numpy as np

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Choice:
    """The reply is one of these texts."""

    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Regex:
    """The reply matches this pattern as a whole."""

    pattern: str


@dataclass(frozen=True, slots=True)
class JsonSchema:
    """The reply is JSON that this schema admits."""

    schema: Mapping[str, Any]

    def __hash__(self) -> int:
        return hash(repr(self.schema))


Constraint = Choice | Regex | JsonSchema


@dataclass(frozen=True, slots=True)
class Generate:
    """Ask a language model for text: a raw ``prompt``, or ``messages`` for a chat endpoint (exactly one of them).

    ``adapter`` is the intrinsic's name where an adapter trained for it should answer, None for the base model; a
    runtime maps it to the name its adapter goes by. ``models`` are the published names of that adapter (or, without
    one, of the profile's own base model), preferred first: what a server may list it as. ``template`` holds arguments
    of the chat template; one called ``adapter_name`` chooses an adapter inside the checkpoint (Granite Switch), and a
    runtime that cannot hand it on refuses. ``sampling`` holds further parameters by the names that servers have for
    them (``top_k``, ``repetition_penalty``); a runtime that does not know one leaves it out.
    ``max_tokens`` counts new tokens. ``attempt`` counts repeats after a malformed reply: a runtime must not answer
    attempt 1 from a cache of attempt 0.
    """

    intrinsic: str
    prompt: str | None = None
    messages: tuple[Message, ...] | None = None
    documents: tuple[Document, ...] = ()
    adapter: str | None = None
    models: tuple[str, ...] = ()
    constraint: Constraint | None = None
    max_tokens: int | None = None
    temperature: float = 0.0
    top_p: float | None = None
    stop: tuple[str, ...] = ()
    seed: int | None = None
    logprobs: bool = False
    template: Mapping[str, Any] = field(default_factory=dict, hash=False)
    sampling: Mapping[str, float] = field(default_factory=dict, hash=False)
    attempt: int = 0


@dataclass(frozen=True, slots=True)
class Embed:
    """Ask a sentence encoder for vectors; ``kind`` lets encoders with prompts tell a query from a passage.

    ``apart``: each text is read as if it were asked for alone, so the most that is read of a request is read of each.
    """

    intrinsic: str
    texts: tuple[str, ...]
    kind: Literal["query", "passage", "sentence"] = "passage"
    apart: bool = False


ScoreTask = Literal["relevance", "entailment", "answers", "meant"]


@dataclass(frozen=True, slots=True)
class Score:
    """Ask a model that reads two texts at once (a cross-encoder, an NLI model) about each of the ``pairs``.

    ``task`` says what the pairs are and what is wanted: ``"relevance"`` (question, passage), ``"entailment"`` (source,
    claim: is it supported), ``"answers"`` (question, passage: does it hold the answer), ``"meant"`` (turns, candidate
    question: is it what was meant). What a model does not know it refuses with
    :class:`~intrinsics_core.protocol.errors.UnsupportedIntrinsic`. ``own``: no other model than the profile's own will
    do, since what is made of the logits was fitted on its. ``apart``: see :class:`Embed`.
    """

    intrinsic: str
    pairs: tuple[tuple[str, str], ...]
    task: ScoreTask = "relevance"
    own: bool = False
    apart: bool = False

    @property
    def sources(self) -> tuple[str, ...]:
        """Of each pair the text that is a source: what is read in parts where it is long, and may be cut."""
        place = 1 if self.task in ("relevance", "answers") else 0
        return tuple(pair[place] for pair in self.pairs)


@dataclass(frozen=True, slots=True)
class Tag:
    """Ask a token classifier about the second text of each of the ``pairs``, read beside the first.

    ``question`` is what the second text answers, for models that were trained to see it; ``passages`` counts those that
    the first text is made of.
    """

    intrinsic: str
    pairs: tuple[tuple[str, str], ...]
    question: str = ""
    passages: int = 1


@dataclass(frozen=True, slots=True)
class Retrieve:
    """Ask the caller's retriever for documents (flows only)."""

    intrinsic: str
    query: str


@dataclass(frozen=True, slots=True)
class Answer:
    """Ask the caller's generator for an answer (flows only); ``seed`` tells samples apart."""

    intrinsic: str
    messages: tuple[Message, ...]
    documents: tuple[Document, ...] = ()
    seed: int = 0


Request = Generate | Embed | Score | Tag | Retrieve | Answer


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """One generated token, its natural-log probability, and the most likely tokens at its place."""

    token: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> TokenLogprob:
        """From a row in the shape of OpenAI's chat endpoint.

        Raises:
            KeyError, TypeError, ValueError: it has another shape.
        """
        token, logprob = row["token"], float(row["logprob"])
        top = ((other["token"], float(other["logprob"])) for other in row.get("top_logprobs") or ())
        return cls(token, logprob, tuple(top))


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and seconds that a reply, or all replies behind a result, cost.

    ``reasoning_tokens`` are those of the completion tokens that went into reasoning, where the server tells.
    """

    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    seconds: float = 0.0
    reasoning_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(*(getattr(self, field) + getattr(other, field) for field in self.__slots__))


# How a reply ended, by the names that servers and frameworks have for it.
_AT_THE_LIMIT = frozenset({"length", "max_tokens", "max_output_tokens", "model_length"})
_BY_A_FILTER = frozenset({
    "content_filter", "content_filtered", "guardrail_intervened", "prohibited_content", "recitation", "refusal",
    "safety",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Generated:
    """Reply to :class:`Generate`; ``logprobs`` is None where the runtime gives none.

    ``reasoning`` is what the model thought before ``text``, where a server tells the two apart. It is no verdict.
    """

    text: str
    logprobs: tuple[TokenLogprob, ...] | None = None
    finish_reason: str | None = None
    usage: Usage = Usage()
    reasoning: str | None = None

    @property
    def ended_at_limit(self) -> bool:
        """Whether the text ended at the token limit."""
        return (self.finish_reason or "").lower() in _AT_THE_LIMIT

    @property
    def cut_off(self) -> str | None:
        """What ended the text before it was whole, as the end of a sentence; None where the model ended it."""
        if self.ended_at_limit:
            return "ended at the token limit"
        return "was ended by a content filter" if (self.finish_reason or "").lower() in _BY_A_FILTER else None


@dataclass(frozen=True, slots=True, eq=False)
class Embedded:
    """Reply to :class:`Embed`: for each text an array (windows, dim), float32, rows of length 1.

    ``unread``: tokens beyond the most that the runtime reads, which no vector stands for.
    """

    vectors: tuple[np.ndarray, ...]
    unread: int = 0


@dataclass(frozen=True, slots=True)
class Read:
    """Characters of sources that a model was given, and of them those that it saw."""

    seen: int = 0
    given: int = 0

    def __add__(self, other: Read) -> Read:
        return Read(self.seen + other.seen, self.given + other.given)

    @property
    def share(self) -> float | None:
        return self.seen / self.given if self.given else None


@dataclass(frozen=True, slots=True)
class Scored:
    """Reply to :class:`Score`: for each pair its logits, in the order of ``labels``.

    A model with one output has one label and its logit is that of "yes": the probability is its sigmoid. With several
    labels it is their softmax. Logits are kept, not probabilities: a sigmoid rounds the best ones together.
    ``unread``: tokens of the sources beyond the most that the runtime reads.
    """

    logits: tuple[tuple[float, ...], ...]
    labels: tuple[str, ...]
    read: Read = Read()
    unread: int = 0


@dataclass(frozen=True, slots=True)
class TaggedSpan:
    """``text[begin:end]`` of the second text, and how likely it has the tag, in 0..1."""

    begin: int
    end: int
    probability: float


@dataclass(frozen=True, slots=True)
class Tagged:
    """Reply to :class:`Tag`: for each pair the tokens of its second text, in order. ``unread``: see :class:`Scored`."""

    spans: tuple[tuple[TaggedSpan, ...], ...]
    read: Read = Read()
    unread: int = 0


@dataclass(frozen=True, slots=True)
class Retrieved:
    """Reply to :class:`Retrieve`, best first."""

    documents: tuple[Document, ...]


Reply = Generated | Embedded | Scored | Tagged | Retrieved
Outcome = Reply | IntrinsicsError
Program = Generator[Sequence[Request], Sequence[Outcome], T]
