"""Typed results. ``model_dump()`` of each is the JSON that the command line writes.

The dump of a result ends with ``schema_version``, and ``model_validate`` takes it back: the version of this type's JSON
schema, which is published in ``intrinsics_core/data/schemas``. Results within a result have none. Whoever changes the
fields of a result raises its ``schema_version`` and writes the files: see `intrinsics_core.running.schemas`.

All are frozen. Left out of the dump where there is nothing to say: ``reason`` (why there was nothing to judge),
``degraded`` (why a fallback stands in for a verdict), ``unsure`` (the verdict lies in a band where the models do not
know; its label stands), ``dropped`` (how many unusable entries of a reply were left out), ``missing`` (how many of the
sentences, documents or samples that were asked about have no verdict), ``cut`` (how many documents
or earlier turns were read in part alone), ``unread`` (how many tokens of the documents were not read, being more than
the runtime's ``max_document_tokens``), ``read`` (the share of the sources' text that was read, where a fact check or an
encoder tells it), ``by`` (which judge of a cascade decided), and ``usage`` (always).

Ids are the caller's and may repeat: ``index`` is the position of a document among those given, from 0.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal

from pydantic import (
    VERSION,
    BaseModel,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    JsonValue,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from intrinsics_core.protocol.requests import Usage

# A model is built when it is first used, not at import. Before pydantic 2.14 no two threads could do that at once.
BUILT_LATE = tuple(map(int, VERSION.split(".")[:2])) >= (2, 14)

Relevance = Literal["relevant", "partially relevant", "irrelevant"]
Prior = Literal["higher is better", "lower is better"]
_RIGHT = "probability that the answer is right"
_SUPPORTED = "probability that the documents support the response"
_ADDRESSES = "probability that the answer addresses the question"
_DECIDED = "which judge of a cascade decided: first or then; of a cascade in a cascade, then.first"
Faithfulness = Literal["faithful", "partial", "unfaithful", "NA"]


_BRIEF = 60  # characters of a text, as a result is printed


def _brief(value: Any) -> str:
    if isinstance(value, str):
        return repr(value if len(value) <= _BRIEF else f"{value[:_BRIEF]}…")
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, Sequence):
        return f"<{len(value)}>"
    return repr(getattr(value, "label", value))


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=BUILT_LATE)

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        """Without the fields that say nothing: those that have their default."""
        for name, value in super().__repr_args__():
            field = type(self).model_fields.get(name or "")
            if field is None or field.is_required() or value != field.default:
                yield name, value

    def __str__(self) -> str:
        """One line: of a list its length, of a result in it its label, of a long text its beginning."""
        parts = (f"{name}={_brief(value)}" for name, value in self.__repr_args__())
        return f"{type(self).__name__}({', '.join(parts)})"

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """The schema of the dump: without the fields that are left out of it."""
        found = handler(core_schema)
        properties = handler.resolve_ref_schema(found).get("properties", {})
        for name, field in cls.model_fields.items():
            if field.exclude:
                properties.pop(name, None)
        return found


class Quiet(Frozen):
    """A part of a result that leaves fields out of its dump where they have their default."""

    left_out: ClassVar[tuple[str, ...]]

    @model_serializer(mode="wrap")
    def _without_silence(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        silent = {name for name in self.left_out if getattr(self, name) == type(self).model_fields[name].default}
        return {name: value for name, value in handler(self).items() if name not in silent}


class ResponseSpan(Frozen):
    """``response[begin:end] == text``."""

    begin: int = Field(ge=0)
    end: int = Field(ge=0)
    text: str


class Result(Frozen):
    """Base of every result."""

    schema_version: ClassVar[int] = 1

    reason: str | None = Field(default=None, description="why there was nothing to judge; no failure")
    degraded: str | None = Field(default=None, description="why a fallback stands here instead of a verdict")
    dropped: int = Field(default=0, ge=0, description="entries of the reply that named nothing, or came twice")
    missing: int = Field(default=0, ge=0, description="what was asked about and has no verdict")
    unsure: bool = Field(default=False, description="the verdict lies in a band where the models do not know")
    unread: int = Field(default=0, ge=0, description="tokens of the documents beyond the most that the runtime reads")
    cut: int = Field(default=0, ge=0, description="documents or earlier turns that were read in part alone")
    read: float | None = Field(default=None, ge=0, le=1, description="share of the sources' text that was read")
    usage: Usage | None = Field(default=None, exclude=True, repr=False)

    @model_validator(mode="before")
    @classmethod
    def _of_a_known_version(cls, data: Any) -> Any:
        if not isinstance(data, Mapping) or "schema_version" not in data:
            return data
        version = data["schema_version"]
        if type(version) is not int or not 1 <= version <= cls.schema_version:
            raise ValueError(f"schema_version {version!r} is unknown; this version reads 1 to {cls.schema_version}")
        return {name: value for name, value in data.items() if name != "schema_version"}

    def model_dump(self, **options: Any) -> dict[str, Any]:
        """The dump of pydantic, and ``schema_version``."""
        return super().model_dump(**options) | self._version_unless_left_out(**options)

    def model_dump_json(self, **options: Any) -> str:
        """The JSON of pydantic, and ``schema_version``."""
        text = super().model_dump_json(**options).removesuffix("}")
        indent = options.get("indent")
        before, colon, after = (",", ":", "") if indent is None else (",\n" + " " * indent, ": ", "\n")
        for name, version in self._version_unless_left_out(**options).items():
            text = text.rstrip("\n") + f'{before[text == "{" :]}"{name}"{colon}{version}{after}'
        return text + "}"

    def to_rows(self) -> list[dict[str, Any]]:
        """Rows for a table: ``pandas.DataFrame(result.to_rows())``.

        One row for each entry of the result's list (sentences, citations, documents …), with the result's own values as
        ``result_label``, ``result_score`` …; a result without a list is one row of its own values.
        """
        data = self.model_dump()
        entries = next((value for value in data.values() if isinstance(value, list | tuple) and value
                        and isinstance(value[0], dict)), None)  # fmt: skip
        own = {name: value for name, value in data.items() if not isinstance(value, list | tuple | dict)}
        if entries is None:
            return [own]
        return [{f"result_{name}": value for name, value in own.items()} | entry for entry in entries]

    def _version_unless_left_out(
        self, include: Container[Any] | None = None, exclude: Container[Any] | None = None, **_: Any
    ) -> dict[str, int]:
        name = "schema_version"
        left_out = (include is not None and name not in include) or (exclude is not None and name in exclude)
        return {} if left_out else {name: self.schema_version}

    @classmethod
    def model_json_schema(cls, *args: Any, **options: Any) -> dict[str, Any]:
        """The JSON schema of the dump: draft 2020-12."""
        found = super().model_json_schema(*args, **options)
        found["properties"]["schema_version"] = {"const": cls.schema_version, "type": "integer"}
        return found

    @model_serializer(mode="wrap")
    def _without_silence(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        data: dict[str, Any] = handler(self)
        # What the result is comes first, what is odd about it last.
        why = ("category", "analysis", "unjudged", "prior", "marks", "reason", "degraded")
        names = (*why, "missing", "unsure", "dropped", "cut", "unread", "read", "by")
        odd = {key: data.pop(key, None) for key in names}
        return data | {key: value for key, value in odd.items() if value or (key == "read" and value is not None)}


class QueryRewrite(Result):
    """``query`` is the question, standing alone: for prompts and for people. ``changed``: it is not the ``original``.

    ``retrieval_query`` is for retrievers: with keywords where a profile adds them, else the same as ``query``.
    ``terms`` are (stem, weight) for retrievers that take weights, where a profile gives them.
    """

    query: str
    original: str
    changed: bool
    retrieval_query: str = ""
    terms: tuple[tuple[str, float], ...] = Field(default=(), exclude=True)

    @model_validator(mode="before")
    @classmethod
    def _always_retrievable(cls, data: Any) -> Any:
        if isinstance(data, dict) and not data.get("retrieval_query"):
            return data | {"retrieval_query": data.get("query", "")}
        return data


class ExpandedQuery(Frozen):
    text: str
    strategy: str


class QueryExpansion(Result):
    """Queries to send side by side, the original first; texts differ."""

    queries: tuple[ExpandedQuery, ...]


class Judgement(Quiet):
    """``score`` in 0..1 is the probability of being of use; None where a fallback kept the document.

    Of the embedded default, *partially relevant* is what it does not know.
    Where a language model gives neither log-probabilities nor a confidence, it is the label alone: 1, 0.5 or 0.
    ``failure``: why a fallback kept this document, or a second judge said nothing; in the dump ``degraded`` tells it.
    """

    left_out = ("by",)

    document_id: str
    index: int = Field(ge=0)
    label: Relevance
    score: float | None = Field(ge=0, le=1, description="probability that the document helps to answer")
    failure: str | None = Field(default=None, exclude=True, repr=False)
    by: str | None = Field(default=None, description=_DECIDED)


class ContextRelevance(Result):
    judgements: tuple[Judgement, ...]

    def kept(self, labels: Container[str], threshold: float | None = None) -> list[Judgement]:
        """The judgements with one of these labels that score at least the threshold; None: no threshold.

        A document without a score passes: its judgement failed, and a fallback kept it.
        """
        rows = [row for row in self.judgements if row.label in labels]
        return [row for row in rows if threshold is None or row.score is None or row.score >= threshold]


class Answerability(Result):
    """``probability`` of *answerable*, in 0..1.

    It is None where a fallback stands in for the verdict, where the last turn asks nothing (``reason`` says so), and
    where the default was not fitted on the text's language (``degraded`` says so). Where a language model gives neither
    log-probabilities nor a confidence, it is the label alone: 1 or 0.
    """

    label: Literal["answerable", "unanswerable"]
    probability: float | None = Field(ge=0, le=1, description="probability that the documents answer the question")
    by: str | None = Field(default=None, description=_DECIDED)

    @property
    def answerable(self) -> bool:
        return self.label == "answerable"

    def passes(self, *, block_unsure: bool) -> bool:
        """Whether a gate lets the question pass.

        Args:
            block_unsure: whether a question is stopped, too, if it is *unanswerable* and the judge is unsure of that.
        """
        return self.answerable or (self.unsure and not block_unsure)


class RankedDocument(Frozen):
    """``rank`` from 1; ``wins`` counts won comparisons, None where none were held.

    ``score`` falls with the rank. Of a pointwise ranking it is a probability of relevance; of lists and comparisons the
    share of the others ranked below: no threshold fits that. It is None where this document's judgement failed. Where
    the whole ranking did, a fallback gives the order and the scores that the documents came with.
    """

    document_id: str
    index: int = Field(ge=0)
    rank: int = Field(ge=1)
    score: float | None = Field(
        description="pointwise, the probability that the document is relevant; of lists and comparisons, the share "
        "of the others ranked below, which is no probability"
    )
    wins: float | None = Field(default=None, description="comparisons that it won; no probability")


class Ranking(Result):
    """Every document once, best first. In a list, documents that are ``cut`` were judged by their beginning alone.

    ``mode`` is how they were ranked: only ``"pointwise"`` scores are probabilities. Not in the dump; None where nothing
    was ranked. ``prior`` is how the retriever's own scores were read, where they took part: ``"lower is better"`` of
    distances. It is None, and not in the dump, where they did not: where a document has none, where all are equal,
    where they neither rise nor fall down the list, where their weight is 0, and in the comparing modes.
    """

    ranking: tuple[RankedDocument, ...]
    prior: Prior | None = None
    mode: Literal["listwise", "pairwise", "pointwise"] | None = Field(default=None, exclude=True, repr=False)


class Uncertainty(Result):
    """How probable it is that the answer is right; before there is an answer, that the model's own would be.

    ``certainty`` is that probability as one of .05, .15 … .95; ``expected`` is its mean where the model gives
    probabilities. It says nothing of the documents' support: that is hallucination detection's number.

    Both are None where a fallback stands in for the verdict, or nothing was said.
    """

    certainty: float | None = Field(ge=0, le=1, description=f"{_RIGHT}, to the nearest of .05, .15 … .95")
    expected: float | None = Field(
        default=None, ge=0, le=1, description=f"{_RIGHT}, where the model gives probabilities: their mean"
    )


class FlaggedSpan(ResponseSpan):
    """``response[begin:end] == text``: words that the sources do not support, and how likely they do not."""

    probability: float = Field(ge=0, le=1, description="probability that the documents do not support these words")


class SentenceVerdict(Quiet, ResponseSpan):
    """One response sentence: ``response[begin:end] == text``; ``score`` is the probability that the documents
    support it, None for NA.

    ``spans`` are the words at fault, from models that tell; ``unsure`` says that the score lies in a band where the
    models do not know. Both are left out of the dump where there is nothing to say. ``judged`` is False where the judge
    left the sentence out: its label is NA, and that says nothing about it. It is in the dump only then.
    """

    left_out = ("spans", "unsure", "judged")

    label: Faithfulness
    score: float | None = Field(ge=0, le=1, description="probability that the documents support the sentence")
    explanation: str | None = None
    spans: tuple[FlaggedSpan, ...] = ()
    unsure: bool = False
    judged: bool = True


class HallucinationDetection(Result):
    """``score`` is the probability that the documents support the response, None where no sentence makes a claim.

    While a sentence is ``missing`` the label is never *faithful*: it is the worst verdict that was given where that is
    *partial* or *unfaithful*, else NA without a score.
    """

    label: Faithfulness
    score: float | None = Field(ge=0, le=1, description=_SUPPORTED)
    sentences: tuple[SentenceVerdict, ...]
    by: str | None = Field(default=None, description=_DECIDED)


class Citation(Frozen):
    """``response[response_begin:response_end]`` rests on ``document.text[document_begin:document_end]``."""

    response_begin: int = Field(ge=0)
    response_end: int = Field(ge=0)
    response_text: str
    document_id: str
    document_index: int = Field(ge=0)
    document_begin: int = Field(ge=0)
    document_end: int = Field(ge=0)
    document_text: str


class Citations(Result):
    citations: tuple[Citation, ...]


CitationVerdict = Literal["supported", "unsupported", "misattributed", "not_found", "no_document"]


class FoundPlace(Frozen):
    """``documents[document_index].text[begin:end] == text``."""

    document_index: int = Field(ge=0)
    begin: int = Field(ge=0)
    end: int = Field(ge=0)
    text: str


class CheckedCitation(ResponseSpan):
    """A mark, or words in quotation marks, of a response: ``response[begin:end] == text``.

    ``document_id`` and ``document_index`` are of the document that it names; of a quote without a mark, of the one that
    has the words. They are None where there is none. ``verdict``:

    - ``"supported"``: that document says what the sentence of the mark says, or has the quoted words.
    - ``"misattributed"``: another document does. ``found`` is the place.
    - ``"unsupported"``: no document says it.
    - ``"not_found"``: the quoted words stand in no document.
    - ``"no_document"``: the mark names a document that is not there.
    - None: the judge gave no verdict or is unsure, or the sentence claims nothing.

    ``found`` is the place that says it, where it is known. ``score`` is the probability that the document supports the
    sentence; of quoted words 1 or 0.
    """

    kind: Literal["mark", "quote"]
    document_id: str | None
    document_index: int | None = Field(ge=0)
    verdict: CitationVerdict | None
    found: FoundPlace | None
    score: float | None = Field(ge=0, le=1, description="probability that the document supports what is cited")


class CheckedClaim(Frozen):
    """One sentence of the response: ``response[begin:end] == text``.

    ``score`` is the probability that the sources support it.
    """

    text: str
    begin: int = Field(ge=0)
    end: int = Field(ge=0)
    score: float = Field(ge=0, le=1, description="probability that the sources support the claim")


class SourceVerdict(Frozen):
    """``document.text[begin:end]``, all of it or one sentence. ``relevance`` is a probability.

    ``score`` is how far it supports the response: its scores for the claims, combined. A source that was not selected
    has weight 0 and no score: it was not read.
    """

    document_id: str
    index: int = Field(ge=0)
    begin: int = Field(ge=0)
    end: int = Field(ge=0)
    relevance: float = Field(ge=0, le=1, description="probability that the source is relevant to the question")
    weight: float = Field(ge=0, le=1, description="share of this source in what was read; no probability")
    score: float | None = Field(ge=0, le=1, description="probability that this source supports the response")


class FactCheck(Result):
    """``score`` is the probability that the sources support the answer, None where nothing could be judged.

    ``claims`` are what it was made of.
    """

    score: float | None = Field(
        ge=0, le=1, description="probability that the sources support the response, over its claims"
    )
    claims: tuple[CheckedClaim, ...]
    sources: tuple[SourceVerdict, ...]
    by: str | None = Field(default=None, description=_DECIDED)


Metric = Literal["faithfulness", "instruction-following", "coherence", "completeness"]


class Quote(Frozen):
    """``text[begin:end]`` of what ``source`` names, verbatim: ``"response"``, ``"messages[2]"``, ``"documents[0]"``."""

    source: str
    begin: int = Field(ge=0)
    end: int = Field(ge=0)
    text: str


class Statement(Frozen):
    """One point of an explanation, and what it rests on."""

    text: str
    citations: tuple[Quote, ...] = ()


class RatedMetric(Quiet):
    """``score`` is the probability of ``"yes"``. Both are None where nothing could rate it; ``reason`` says why."""

    left_out = ("reason",)

    name: Metric
    rating: Literal["yes", "no"] | None
    score: float | None = Field(ge=0, le=1, description='probability that the rating is "yes"')
    explanation: str | None = None
    reason: str | None = None
    statements: tuple[Statement, ...] = ()


class Evaluation(Result):
    """The metrics that were asked for, in order. ``dropped`` counts quotes that stand in none of the texts."""

    metrics: tuple[RatedMetric, ...]


class Preference(Result):
    """``score`` is how likely the first answer is the better one; None where a fallback stands in for the verdict."""

    choice: Literal["first", "second", "tie"]
    score: float | None = Field(ge=0, le=1, description="probability that the first answer is the better one")


class AnswerRelevance(Result):
    """Whether an answer addresses its question; ``score`` is the probability that it does.

    ``rewrite`` is an answer that does it better. Label and score are None where a fallback stands in for the verdict,
    or nothing was said. ``category`` and ``analysis`` are why, where a model says so (Granite's classifier:
    ``"No attempt"``, and a sentence or two).
    """

    label: Relevance | None
    score: float | None = Field(ge=0, le=1, description=_ADDRESSES)
    rewrite: str | None = None
    category: str | None = None
    analysis: str | None = None


class HypotheticalPassage(Result):
    """A passage that would answer the question, to be embedded in its place; its facts are made up."""

    passage: str


class Sample(Frozen):
    """One sampled answer, and whether it says the same as the one that was voted for."""

    text: str
    agrees: bool


class SelfConsistency(Result):
    """The answer that most samples agree with, and their share; None where a fallback stands in for it."""

    answer: str | None
    share: float | None = Field(
        ge=0, le=1, description="share of the samples that agree with the answer; no probability"
    )
    samples: tuple[Sample, ...]


class AuditParts(Result):
    """What is asked about an answer before it is put together; a part that was not asked, or failed, is None.

    ``answer_relevance`` is the probability that the answer addresses the question.
    """

    answerability: Answerability | None = None
    hallucination: HallucinationDetection | None = None
    citations: Citations | None = None
    uncertainty: Uncertainty | None = None
    answer_relevance: float | None = Field(default=None, ge=0, le=1, description=_ADDRESSES)


class AuditedSentence(SentenceVerdict):
    """One response sentence with its verdict and the document spans that it rests on."""

    citations: tuple[Citation, ...] = ()


class Audit(Result):
    """Everything about an answer at once. What could not be judged is None, and ``degraded`` or ``reason`` says why.

    ``label`` is the response's faithfulness and ``score`` the probability that the documents support it. ``certainty``
    is the probability that the answer is right, one of .05, .15 … .95; ``answer_relevance`` the probability that it
    addresses the question. ``disagreements`` names verdicts that do not go together. ``marks`` are the citations that
    the answer has itself, checked; left out of the dump where it has none.
    """

    answerability: Answerability | None
    sentences: tuple[AuditedSentence, ...]
    label: Faithfulness
    score: float | None = Field(ge=0, le=1, description=_SUPPORTED)
    certainty: float | None = Field(ge=0, le=1, description=f"{_RIGHT}, to the nearest of .05, .15 … .95")
    answer_relevance: float | None = Field(ge=0, le=1, description=_ADDRESSES)
    disagreements: tuple[str, ...] = ()
    marks: tuple[CheckedCitation, ...] = ()
    by: str | None = Field(default=None, description=_DECIDED)

    @property
    def hallucination(self) -> HallucinationDetection:
        """The verdicts alone."""
        kept = SentenceVerdict.model_fields
        rows = tuple(SentenceVerdict(**{name: getattr(s, name) for name in kept}) for s in self.sentences)
        return HallucinationDetection(label=self.label, score=self.score, sentences=rows, missing=self.missing,
                                      reason=self.reason, degraded=self.degraded, by=self.by)  # fmt: skip

    @property
    def citations(self) -> Citations:
        """The citations alone, in response order, then document order.

        An unfaithful sentence has none. ``missing`` is 0: an audit does not say of which sentences the sources are not
        known. ``degraded`` is that of the whole audit.
        """
        found = tuple(citation for sentence in self.sentences for citation in sentence.citations)
        return Citations(citations=found, reason=self.reason, degraded=self.degraded)


class CitationCheck(Result):
    """Whether each mark and each quote of an answer holds. ``missing`` counts those without a verdict.

    ``uncited`` are the sentences that claim something and cite nothing. ``score`` is the share of the verdicts that are
    ``"supported"``, None where there is none.
    """

    citations: tuple[CheckedCitation, ...]
    uncited: tuple[ResponseSpan, ...] = ()
    score: float | None = Field(ge=0, le=1, description="share of the citations that hold; no probability")


class MendedSentence(Frozen):
    """What stands for a sentence of the response, by its number from 0; an empty text drops it."""

    sentence: int = Field(ge=0)
    text: str


class Mendings(Result):
    """What a model says about the sentences that it was asked to mend."""

    mended: tuple[MendedSentence, ...]


class Change(Frozen):
    """``before`` is ``answer[begin:end]`` of the answer as it was given; ``after`` stands there now, or nothing."""

    begin: int = Field(ge=0)
    end: int = Field(ge=0)
    before: str
    after: str
    why: str


class RevisedAnswer(Result):
    """``unsupported`` are the sentences of the new ``answer`` that the documents still do not support.

    ``unjudged`` are those of its sentences that the judge left out: nothing is known of them.
    """

    answer: str
    changes: tuple[Change, ...]
    unsupported: tuple[SentenceVerdict, ...]
    unjudged: tuple[SentenceVerdict, ...] = ()


class AdapterOutput(Result):
    """``value`` is the JSON that an adapter's own ``io.yaml`` makes of its reply."""

    value: JsonValue


def build_all() -> None:
    """Build all models now, which else are built when they are first used."""
    models: list[type[Frozen]] = [Frozen]
    while models:
        model = models.pop()
        model.model_rebuild()
        models += model.__subclasses__()
