"""Composite flows: intrinsics around any retriever and generator, as one ordinary generator.

rewrite -> retrieve -> keep what is relevant -> gate -> answer (one or several samples) -> cite, check, weigh. Each part
can be left out. Parts that do not depend on one another are asked for in one wave. Where intrinsics disagree about an
answer, the result says so instead of hiding it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, TypeVar

from pydantic import Field

from intrinsics_core.intrinsics import (
    answerability,
    citations,
    context_relevance,
    hallucination_detection,
    query_expansion,
    query_rewrite,
    uncertainty,
)
from intrinsics_core.intrinsics._disagreements import between
from intrinsics_core.intrinsics.calling import Messages, OnError
from intrinsics_core.profiles.routed import FLOW
from intrinsics_core.protocol.call import Call, merge, watched
from intrinsics_core.protocol.errors import IntrinsicsError, InvalidInput, raised
from intrinsics_core.protocol.profile import Profile
from intrinsics_core.protocol.requests import Answer, Generated, Outcome, Program, Retrieve, Retrieved
from intrinsics_core.protocol.results import (
    Answerability,
    Citations,
    ContextRelevance,
    HallucinationDetection,
    QueryRewrite,
    Result,
    Uncertainty,
)
from intrinsics_core.protocol.task import Document, Message, Task, check
from intrinsics_core.protocol.telemetry import retrieving

T = TypeVar("T")

NAME = FLOW
CANNED = "I could not find an answer to that in the documents."
BLOCKED = "I had an answer, but the documents I have do not support it."

Unanswerable = Literal["canned", "without-documents", "expand"]


class RagResult(Result):
    """What a flow did and what came of it; a part that was left out, or not reached, is None.

    ``documents`` are those that the answer was given from. ``disagreements`` names verdicts that do not go together.
    The verdicts are about ``answer``: where no sample passed and it is the canned one, there are none, and ``reason``
    says what the samples lacked.
    """

    answer: str
    answered: bool = Field(description="false where the canned answer stands in for one")
    query: str
    documents: tuple[Document, ...]
    rewrite: QueryRewrite | None = None
    relevance: ContextRelevance | None = None
    answerability: Answerability | None = None
    citations: Citations | None = None
    hallucination: HallucinationDetection | None = None
    uncertainty: Uncertainty | None = None
    samples: int = Field(default=0, ge=0)
    disagreements: tuple[str, ...] = ()


def rag(
    messages: Messages,
    *,
    rewrite: bool = True,
    filter_context: bool = False,
    gate: bool = True,
    block_unsure: bool = True,
    unanswerable: Unanswerable = "canned",
    canned: str = CANNED,
    samples: int = 1,
    min_certainty: float | None = None,
    min_faithfulness: float | None = None,
    cite: bool = True,
    detect: bool = True,
    weigh: bool = False,
    answer: Literal["generator", "model"] = "generator",
    on_error: OnError = "raise",
    date: str | None = None,
) -> Call[RagResult]:
    """A RAG chain with intrinsics around it; run it on :class:`~intrinsics_core.runtimes.tools.Tools`.

    Args:
        messages: a conversation that ends with a user turn.
        rewrite: retrieve with the standalone query.
        filter_context: leave out documents judged irrelevant.
        gate: answer only if the documents do.
        block_unsure: whether the gate stops a question, too, that is *unanswerable* where the judge is ``unsure`` of
            that, its probability being close to the threshold. With False such a question is answered.
        unanswerable: what the gate does otherwise: the ``canned`` text, an answer from the conversation
            ``"without-documents"``, or one more retrieval with ``"expand"``-ed queries, then the ``canned`` text.
        canned: the text that is returned instead of an answer.
        samples: answers to sample; the most faithful one is kept, and among equals the most certain. With
            ``detect=False, weigh=True`` it is the most certain one, and nothing is asked about faithfulness.
        min_certainty: least certainty of a sample, in 0..1: the probability that the answer is right. It is asked for,
            whatever ``weigh`` says. (The composite of IBM's granite-io has 0.75.)
        min_faithfulness: least score of a sample's hallucination detection, in 0..1: the probability that the documents
            support the answer. It is asked for, whatever ``detect`` says.
            A sample passes where it reaches both; one without that verdict does not (its judge failed, there are no
            documents, it claims nothing). Where none passes, the answer is the ``canned`` one, ``answered`` is False,
            and ``reason`` says why.
        cite: add citations.
        detect: add sentence verdicts.
        weigh: add a certainty.
        answer: who answers: the ``"generator"`` of the tools, or the runtime's own ``"model"``, in the words of the
            profile (those with an ``answer`` format), one sample at temperature 0. An answer that ended at its token
            limit, or by a content filter, is given as it came, and ``degraded`` says so.
        on_error: ``"fallback"`` goes on where an intrinsic fails: the original query, all documents kept, the gate
            open, a verdict left out; ``degraded`` then says what happened. A failing retriever or generator is raised.
        date: date text for prompts that carry one; the day of the call where left out.

    Returns:
        A call whose result has the answer, the documents, and what each step found.

    Raises:
        InvalidInput: if the input is invalid. It is raised by this function, not by `run`.
    """
    if answer not in ("generator", "model") or (answer == "model" and samples > 1):
        raise InvalidInput("answer is unknown, or it is 'model' with several samples", intrinsic=NAME,
                           expected="generator, or model with samples=1", got=repr(answer))  # fmt: skip
    if on_error not in ("raise", "fallback"):
        raise InvalidInput("on_error is unknown", intrinsic=NAME, expected="raise or fallback", got=repr(on_error))
    if samples < 1:
        raise InvalidInput(
            "samples is out of range", intrinsic=NAME, expected="a whole number of at least 1", got=repr(samples)
        )
    if unanswerable not in ("canned", "without-documents", "expand"):
        raise InvalidInput("unanswerable is unknown", intrinsic=NAME, got=repr(unanswerable),
                           expected="canned, without-documents or expand")  # fmt: skip
    for name, least in (("min_certainty", min_certainty), ("min_faithfulness", min_faithfulness)):
        if least is not None and (isinstance(least, bool) or not isinstance(least, int | float) or not 0 <= least <= 1):
            raise InvalidInput(f"{name} is out of range", intrinsic=NAME, expected="a number from 0 to 1, or None",
                               got=repr(least))  # fmt: skip
    task = check(NAME, messages, ends_with=["user"], date=date)
    # Several samples are ranked by something: by faithfulness, unless certainty alone was asked for.
    judged = detect or min_faithfulness is not None or (samples > 1 and not (weigh or min_certainty is not None))
    options = _Options(
        rewrite, filter_context, gate, block_unsure, unanswerable, canned, samples, min_certainty, min_faithfulness,
        cite, judged, weigh or min_certainty is not None, answer, on_error,
    )  # fmt: skip
    return Call(task, partial(_program, options=options), composite=True)


@dataclass(frozen=True)
class _Options:
    rewrite: bool
    filter_context: bool
    gate: bool
    block_unsure: bool
    unanswerable: Unanswerable
    canned: str
    samples: int
    min_certainty: float | None
    min_faithfulness: float | None
    cite: bool
    detect: bool
    weigh: bool
    answer: str
    on_error: OnError


def _program(task: Task, profile: Profile, *, options: _Options) -> Program[RagResult]:
    messages, lenient = task.messages, options.on_error
    found: dict[str, Any] = {"query": task.query}
    wanted = task.query
    if options.rewrite:
        rewritten = yield from query_rewrite(messages, date=task.date, on_error=lenient).start(profile)
        found |= {"rewrite": rewritten, "query": rewritten.query}
        wanted = rewritten.retrieval_query
    documents = yield from _retrieve([wanted])
    if options.filter_context and documents:
        judged = yield from context_relevance(messages, documents, date=task.date, on_error=lenient).start(profile)
        found["relevance"] = judged
        documents = [documents[j.index] for j in judged.judgements if j.label != "irrelevant"]
    if options.gate:
        gate = yield from _gate(task, profile, documents, lenient)
        if not gate.passes(block_unsure=options.block_unsure) and options.unanswerable == "expand":
            expansion = yield from query_expansion(messages, documents, date=task.date, on_error=lenient).start(profile)
            more = yield from _retrieve([q.text for q in expansion.queries if q.text != wanted])
            documents = fused([documents, more])
            gate = yield from _gate(task, profile, documents, lenient)
        found["answerability"] = gate
        if not gate.passes(block_unsure=options.block_unsure):
            if options.unanswerable != "without-documents":
                result = RagResult(answer=options.canned, answered=False, documents=tuple(documents), **found)
                return _with_disagreements(result, [])
            documents = []
    answers = yield from _answers(task, profile, documents, options)
    texts = [answer.text for answer in answers]
    checked, missing = yield from _checked(task, profile, texts, documents, options)
    lacking = [_lacking(text, verdicts, options) for text, verdicts in zip(texts, checked, strict=True)]
    passed = [i for i, why in enumerate(lacking) if not why]
    if not passed:
        why = f"no sample met the requirements: {'; '.join(dict.fromkeys(lacking))}"
        result = RagResult(answer=options.canned, answered=False, documents=tuple(documents), samples=len(texts),
                           reason=why, **found)  # fmt: skip
        return _with_disagreements(result, missing)
    best = max(passed, key=lambda i: _worth(checked[i]))
    if cut := answers[best].cut_off:
        missing.append(f"the answer {cut}")
    result = RagResult(
        answer=texts[best], answered=True, documents=tuple(documents), samples=len(texts), **found, **checked[best]
    )
    return _with_disagreements(result, missing)


def _with_disagreements(result: RagResult, missing: Sequence[str]) -> RagResult:
    """The result with what its parts disagree about, and with every fallback and what is missing said at the top."""
    names = ("rewrite", "relevance", "answerability", "uncertainty", "hallucination", "citations")
    parts = [getattr(result, name) for name in names]
    notes = [part.degraded for part in parts if part is not None and part.degraded] + list(missing)
    unjudged = sum(part.missing for part in parts if part is not None)
    update = {"disagreements": tuple(disagreements(result)), "degraded": "; ".join(notes) or None, "missing": unjudged}
    return result.model_copy(update=update)


def _answers(
    task: Task, profile: Profile, documents: Sequence[Document], options: _Options
) -> Program[list[Generated]]:
    """The answers, each with how it ended."""
    if options.answer == "model":
        replies: list[Outcome] = []
        asked = replace(task, documents=tuple(documents))
        text = yield from watched(
            profile.serving(NAME).ask("answer", asked), lambda _, outcomes: replies.extend(outcomes)
        )
        return [replace(_raised(replies[-1]), text=text)]
    answers = yield [Answer(NAME, task.messages, tuple(documents), seed) for seed in range(options.samples)]
    return [_raised(answer) for answer in answers]


def _retrieve(queries: Sequence[str]) -> Program[list[Document]]:
    with retrieving() as found:
        outcomes = yield [Retrieve(NAME, query) for query in queries]
        lists = [_raised(outcome).documents for outcome in outcomes]
        found += lists[0] if len(lists) == 1 else fused(lists)
    return found


def fused(
    rankings: Iterable[Sequence[T]], constant: int = 60, *, key: Callable[[T], Hashable] | None = None
) -> list[T]:
    """Rankings as one, best first, by reciprocal rank fusion (Cormack et al., SIGIR 2009, who also chose 60).

    An item's score is the sum of 1 / (constant + rank), ranks from 1, over the rankings that hold it. The first one met
    stands for all that are the same. A ranking that holds an item twice counts its better place. Ties keep the order in
    which items were met.

    Args:
        rankings: each best first.
        constant: how little the first places count above the next ones.
        key: items of one key are the same; left out, Documents by their ids and texts, or, without ids, by their texts
            and titles.

    Returns:
        Every item once, best first.
    """
    same: Callable[[Any], Hashable] = key or _identity
    scores: dict[Hashable, float] = {}
    first: dict[Hashable, T] = {}
    for ranking in rankings:
        places: dict[Hashable, int] = {}
        for rank, item in enumerate(ranking, start=1):
            identity = same(item)
            places.setdefault(identity, rank)
            first.setdefault(identity, item)
        for identity, rank in places.items():
            scores[identity] = scores.get(identity, 0.0) + 1 / (constant + rank)
    return [first[identity] for identity in sorted(scores, key=lambda name: -scores[name])]


def _identity(document: Document) -> Hashable:
    # Parts of one document may share its id.
    return document.id, document.text, document.title if document.id is None else None


def _gate(task: Task, profile: Profile, documents: Sequence[Document], on_error: OnError) -> Program[Answerability]:
    return (yield from answerability(task.messages, documents, date=task.date, on_error=on_error).start(profile))


def _checked(
    task: Task, profile: Profile, texts: Sequence[str], documents: Sequence[Document], options: _Options
) -> Program[tuple[list[dict[str, Any]], list[str]]]:
    """The verdicts on each answer, all asked for in one wave, and what is missing where failures are put up with."""
    wanted: list[tuple[int, str, Call[Any]]] = []
    for i, text in enumerate(texts):
        messages = (*task.messages, Message("assistant", text))
        if options.cite and documents and text.strip():
            wanted.append((i, "citations", citations(messages, documents, date=task.date)))
        if options.detect and documents and text.strip():
            wanted.append((i, "hallucination", hallucination_detection(messages, documents, date=task.date)))
        if options.weigh and text.strip():
            wanted.append((i, "uncertainty", uncertainty(messages, documents, date=task.date)))
    verdicts = yield from merge([call.start(profile) for _, _, call in wanted], width=max(1, len(wanted)))
    checked: list[dict[str, Any]] = [{} for _ in texts]
    missing = []
    for (i, name, _), verdict in zip(wanted, verdicts, strict=True):
        if isinstance(verdict, IntrinsicsError) and options.on_error == "fallback":
            missing.append(f"no {name}: {type(verdict).__name__}: {verdict}")
        else:
            checked[i][name] = _raised(verdict)
    return checked, missing


def _lacking(text: str, verdicts: dict[str, Any], options: _Options) -> str:
    """What keeps a sample from passing, in words; empty where it passes."""
    if not text.strip():
        return "it has no text"
    faithful, certain = verdicts.get("hallucination"), verdicts.get("uncertainty")
    found = (
        ("faithfulness", faithful.score if faithful else None, options.min_faithfulness),
        ("certainty", certain.certainty if certain else None, options.min_certainty),
    )
    return ", ".join(
        f"no {name} was judged" if value is None else f"{name} {value:.2f} is below {least:.2f}"
        for name, value, least in found
        if least is not None and (value is None or value < least)
    )


def _worth(verdicts: dict[str, Any]) -> tuple[float, float]:
    faithful, certain = verdicts.get("hallucination"), verdicts.get("uncertainty")
    unjudged = 0.0 if faithful and faithful.missing else 0.5  # what a judge left out is not taken for the better case
    return (
        faithful.score if faithful and faithful.score is not None else unjudged,
        certain.certainty if certain and certain.certainty is not None else 0.5,
    )


def _raised(outcome: Any) -> Any:
    found = raised(outcome)
    assert isinstance(found, Retrieved | Generated | Result)
    return found


def disagreements(result: RagResult) -> list[str]:
    """Verdicts on one answer that do not go together, in words."""
    return between(
        answerability=result.answerability,
        hallucination=result.hallucination,
        citations=result.citations,
        certainty=result.uncertainty.certainty if result.uncertainty else None,
        answered=result.answered,
    )
