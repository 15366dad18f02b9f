"""How each kind of encoder wants its two texts, and what its outputs mean: one table, matched on the model's config.

A row is data. ``template`` is what is put around the two texts where the model was trained on more than a plain pair:
texts with ``{source}`` and ``{claim}``, and special tokens by name, :data:`BEGIN` and :data:`END` for those that the
tokenizer puts around one text. A source is windowed, a claim never is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from intrinsics_core.protocol.errors import InvalidInput

Role = Literal["relevance", "entailment", "tokens"]


class Special(NamedTuple):
    """A special token of a template, by its text, or one of the two below."""

    token: str


BEGIN, END = Special("begin"), Special("end")
CAUSAL = "AutoModelForCausalLM"
SUPPORTED, HALLUCINATED = "entailment", "hallucinated"
# How published models spell the label that counts, in lower case.
_SPELLED = {
    **dict.fromkeys(("entailment", "entail", "entails", "supported", "consistent", "faithful"), SUPPORTED),
    **dict.fromkeys(("hallucinated", "hallucination", "unsupported"), HALLUCINATED),
}  # fmt: skip


@dataclass(frozen=True)
class Convention:
    """One row.

    Attributes:
        roles: what such a model can be named for.
        architecture: how the first of the config's ``architectures`` ends.
        outputs: how many labels such a model has; None: any.
        named: a label that the config must spell; None: the config names none, and ``labels`` are what they mean.
        labels: the meaning of the outputs, in order, where the config does not say.
        template: what the model reads; None: the two texts as a pair.
        window: tokens of a source that are read at once: about what such models were trained on.
        limit: tokens in all, where the config does not say.
        most: tokens in all, however many positions the config has; None: as many as it has.
        loads: the class of transformers that holds the model.
        at: where the logits are: the output itself, its first position, its last, or each position.
        columns: which of the outputs are the labels; None: all.
        words: tokens by their text, whose logits are the labels' in order, where the outputs are a vocabulary's.
    """

    name: str
    roles: tuple[Role, ...]
    architecture: str
    outputs: tuple[int, ...] | None = None
    named: str | None = None
    labels: tuple[str, ...] = ()
    template: tuple[str | Special, ...] | None = None
    window: int = 400
    limit: int = 512
    most: int | None = None
    loads: str = "AutoModelForSequenceClassification"
    at: Literal["output", "first", "last", "each"] = "output"
    columns: tuple[int, ...] | None = None
    words: tuple[str, ...] = ()

    def fits(self, role: str, read: Description) -> bool:
        return (
            role in self.roles
            and read.architecture.endswith(self.architecture)
            and (self.outputs is None or len(read.labels) in self.outputs)
            and (self.named is None or self.named in read.meanings)
            and (self.named is not None or not self.labels or self.outputs is None or not read.names_labels)
        )


_HHEM = "Determine if the hypothesis is true given the premise?\n\nPremise: {source}\n\nHypothesis: {claim}"
# LettuceDetect's prompt for question answering, and for a text without a question. {passages}: how many there are.
TAGGED = (
    "Briefly answer the following question:\n{question}\nBear in mind that your response should be strictly based on "
    "the following {passages} passages:\n",
    "\nIn case the passages do not contain the necessary information to answer the question, please reply with: "
    '"Unable to answer based on given passages."\noutput:\n',
)
SUMMARISED = ("Summarize the following text:\n", "\noutput:\n")
_TURN, _OVER = Special("<|im_start|>"), Special("<|im_end|>")
# Tokenized piece by piece, as mxbai-rerank does.
_MXBAI = (
    _TURN, "system\nYou are Qwen, created by Alibaba Cloud. You are a helpful assistant.", _OVER, "\n",
    _TURN, "user\n", "query: {claim}", "\n", "document: {source}", "\n",
    "You are a search relevance expert who evaluates how well documents match search queries. For each query-document "
    "pair, carefully analyze the semantic relationship between them, then provide your binary relevance judgment "
    "(0 for not relevant, 1 for relevant).\nRelevance:",
    _OVER, "\n", _TURN, "assistant\n",
)  # fmt: skip
_QWEN3 = (
    _TURN,
    "system\nJudge whether the Document meets the requirements based on the Query and the Instruct provided. "
    'Note that the answer can only be "yes" or "no".',
    _OVER, "\n", _TURN,
    "user\n<Instruct>: Given a web search query, retrieve relevant passages that answer the query\n"
    "<Query>: {claim}\n<Document>: {source}",
    _OVER, "\n", _TURN, "assistant\n", Special("<think>"), "\n\n", Special("</think>"), "\n\n",
)  # fmt: skip

# The first row that fits counts. No config of a causal model says that it was trained to rank: one of these two
# families is read as its reranker is.
TABLE = (
    Convention(
        "hhem-2.1-open", ("entailment",), "HHEMv2ForSequenceClassification", labels=("unsupported", SUPPORTED),
        template=(Special("<pad>"), _HHEM, END), limit=2048, loads="T5ForTokenClassification", at="first",
    ),
    Convention("cross-encoder", ("relevance", "entailment"), "ForSequenceClassification", outputs=(1,),
               labels=("yes",)),
    Convention("nli", ("entailment",), "ForSequenceClassification", outputs=(2, 3), named=SUPPORTED),
    Convention(
        "minicheck (classifier)", ("entailment",), "ForSequenceClassification", outputs=(2,),
        labels=("unsupported", SUPPORTED), template=(BEGIN, "{source}", END, "{claim}", END),
    ),
    Convention(
        "minicheck (t5)", ("entailment",), "T5ForConditionalGeneration", labels=("unsupported", SUPPORTED),
        template=("predict: {source}", END, "{claim}", END), window=700, limit=2048, loads="AutoModelForSeq2SeqLM",
        at="first", columns=(3, 209),
    ),
    Convention("token classifier", ("tokens",), "ForTokenClassification", outputs=(2,), named=HALLUCINATED,
               window=3000, loads="AutoModelForTokenClassification", at="each"),
    Convention("lettucedetect", ("tokens",), "ForTokenClassification", outputs=(2,), labels=("kept", HALLUCINATED),
               window=3000, loads="AutoModelForTokenClassification", at="each"),
    Convention("mxbai-rerank v2", ("relevance",), "Qwen2ForCausalLM", labels=("no", "yes"), template=_MXBAI,
               window=2000, most=8192, loads=CAUSAL, at="last", words=("0", "1")),
    Convention("qwen3-reranker", ("relevance",), "Qwen3ForCausalLM", labels=("no", "yes"), template=_QWEN3,
               window=2000, most=8192, loads=CAUSAL, at="last", words=("no", "yes")),
)  # fmt: skip


@dataclass(frozen=True)
class Description:
    """What a model's config says of it."""

    architecture: str
    kind: str
    labels: tuple[str, ...]

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> Description:
        named = config.get("id2label")
        labels = {int(i): str(name) for i, name in named.items()} if isinstance(named, Mapping) else {}
        # What a config leaves out are two labels without a name.
        found = [labels[i] for i in sorted(labels)] or [f"LABEL_{i}" for i in range(int(config.get("num_labels", 2)))]
        architectures = config.get("architectures") or [""]
        return cls(str(architectures[0]), str(config.get("model_type", "")), tuple(found))

    @property
    def names_labels(self) -> bool:
        return len(self.labels) > 1 and any(not label.upper().startswith("LABEL_") for label in self.labels)

    @property
    def meanings(self) -> tuple[str, ...]:
        return tuple(_SPELLED.get(label.lower(), label.lower()) for label in self.labels)


def recognised(role: str, place: str, config: Mapping[str, Any]) -> tuple[Convention, tuple[str, ...]]:
    """The row that a model's config fits, and the meaning of its outputs, in order.

    Raises:
        InvalidInput: none fits; the message says what was read.
    """
    try:
        read = Description.of(config)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"runtime.{role}: the config of {place!r} cannot be understood ({error})") from None
    for row in TABLE:
        if row.fits(role, read):
            return row, (row.labels if row.named is None and row.labels else read.meanings)
    known = "; ".join(
        f"{row.name}: *{row.architecture}"
        + (f" with {' or '.join(map(str, row.outputs))} labels" if row.outputs else "")
        + (f", one of them {row.named!r}" if row.named else "")
        for row in TABLE
        if role in row.roles
    )
    raise InvalidInput(
        f"runtime.{role}: {place!r} is not a model that is known to serve {role}",
        expected=known,
        got=f"architectures {read.architecture!r}, model_type {read.kind!r}, labels {', '.join(read.labels)}",
    )
