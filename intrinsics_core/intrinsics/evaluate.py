"""Evaluation of an answer (REC): each metric rated, explained, and cited to exact places.

A profile with the format ``evaluate`` rates every metric, one request each, all in one wave. One without it rates what
its other formats show: faithfulness, from hallucination detection and citations. What an encoder cannot see (whether
something is missing, an instruction broken, a text hard to read) it does not rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, get_args

from intrinsics_core.intrinsics import _costs
from intrinsics_core.intrinsics.calling import Documents, Messages, OnError, call, nothing_to_judge_by, wrong
from intrinsics_core.intrinsics.query_expansion import together
from intrinsics_core.intrinsics.table import register
from intrinsics_core.protocol.call import Call
from intrinsics_core.protocol.errors import IntrinsicsError, UnsupportedIntrinsic, raised
from intrinsics_core.protocol.names import named, unknown
from intrinsics_core.protocol.profile import Profile
from intrinsics_core.protocol.requests import Program
from intrinsics_core.protocol.results import (
    Citations,
    Evaluation,
    Faithfulness,
    HallucinationDetection,
    Metric,
    Quote,
    RatedMetric,
    SentenceVerdict,
    Statement,
)
from intrinsics_core.protocol.task import Task

Style = Literal["own", "rec"]
METRICS: tuple[Metric, ...] = get_args(Metric)

_SAID: dict[Faithfulness, str] = {
    "faithful": "Supported by the documents",
    "partial": "Supported in part",
    "unfaithful": "Not supported by the documents",
}


def _unrated(field: str, task: Task, why: str) -> Evaluation:
    return Evaluation(metrics=tuple(_null(name, why) for name in _asked(task))).model_copy(update={field: why})


def _asked(task: Task) -> Sequence[Metric]:
    found: Sequence[Metric] = task.options.get("metrics") or METRICS
    return found


def _null(name: Metric, why: str) -> RatedMetric:
    return RatedMetric(name=name, rating=None, score=None, reason=why)


@register(
    "evaluate",
    result=Evaluation,
    ends_with=("assistant",),
    empty=partial(_unrated, "reason"),
    fallbacks={"fallback": partial(_unrated, "degraded")},
    needs="prompt, answer",
    gives="metrics rated, explained and cited, with offsets",
)
def evaluate(
    messages: Messages,
    documents: Documents = (),
    *,
    metrics: str | Sequence[str] | None = None,
    style: Style = "own",
    on_error: OnError = "raise",
    date: str | None = None,
) -> Call[Evaluation]:
    """Rate, explain and cite the last assistant turn.

    Args:
        messages: ends with an assistant turn, the answer; what comes before is the prompt that it answers.
        documents: what the answer should rest on, if anything. Without them faithfulness is to the conversation.
        metrics: some of ``faithfulness``, ``instruction-following``, ``coherence``, ``completeness``, as a list or a
            text with commas; all four where left out. One that is named must be ratable.
        style: how a language model is asked: in the library's ``"own"`` way, for a probability and quotes with their
            sources; or as ``"rec"``'s models were trained to be asked, for a Yes or No, feedback, and statements with
            snippets. Both replies, and REC's rating with a justification alone, are read whatever was asked.
        on_error: ``"fallback"`` gives no rating to a metric whose judgement failed, and marks the result as degraded.
        date: date text for prompts that carry one; the day of the call where left out.

    Returns:
        A call whose result has each metric in the order asked, with a rating, the probability of "yes", an explanation,
        and statements whose citations are verbatim: ``text[begin:end]`` of the response, of ``messages[i]`` or of
        ``documents[i]``. A quote of the model's that stands in none of them is dropped and counted, and so is an entry
        that is no statement. Statements are what the model chose to say: one that it left out changes no rating. A
        metric whose judgement failed has no rating, and is counted as ``missing``. A runtime without a language model
        rates faithfulness alone, and gives the reason for the others.

    Raises:
        InvalidInput: if the input is invalid. It is raised by this function, not by `run`.
        UnsupportedIntrinsic: when run, where a metric was named that the profile cannot rate, or where the profile has
            no language model to ask in the style of REC.

    Source: *REC: Rate, Explain and Cite* (2024); the metrics and their wording, and the replies of appendix C.

    Example:

        >>> from intrinsics_core import evaluate, run
        >>> question = [{"role": "user", "content": "Who built the lighthouse?"}]
        >>> documents = ["Ada Brink built the lighthouse in 1911.", "Fog is common in May."]
        >>> answer = [*question, {"role": "assistant", "content": "Ada Brink built the lighthouse in 1911."}]
        >>> run(evaluate(answer, documents, metrics="faithfulness")).metrics[0].rating
        'yes'
    """
    named = _checked(metrics)
    if style not in get_args(Style):
        raise wrong("evaluate", "style is unknown", " or ".join(get_args(Style)), style)
    program = partial(_program, named=named is not None, keep=on_error == "fallback")
    options: dict[str, Any] = {"metrics": named or METRICS} | ({"style": style} if style != "own" else {})
    return call("evaluate", messages, documents, date=date, program=program, on_error=on_error, options=options)


def _checked(metrics: str | Sequence[str] | None) -> tuple[Metric, ...] | None:
    if metrics is None:
        return None
    given = metrics.split(",") if isinstance(metrics, str) else metrics
    try:
        names = [str(name).strip() for name in given]
    except TypeError:
        names = []
    if not names:
        raise unknown("metrics is unknown", metrics, METRICS, intrinsic="evaluate")
    found = [named("metrics", name, METRICS, intrinsic="evaluate") for name in names]
    return tuple(dict.fromkeys(found))


def _program(task: Task, profile: Profile, *, named: bool, keep: bool) -> Program[Evaluation]:
    metrics = _asked(task)
    if task.intrinsic not in profile and "hallucination-detection" in profile:
        return (yield from _by_support(task, profile, metrics, named=named))
    asked = [replace(task, options={**task.options, "metric": name}) for name in metrics]
    found: list[Evaluation | IntrinsicsError] = yield from profile.ask_many(task.intrinsic, asked)
    if not keep:
        for each in found:
            raised(each)
    failures = _costs.checked(found)
    rated = [
        _null(name, f"{type(each).__name__}: {each.message}") if isinstance(each, IntrinsicsError) else each.metrics[0]
        for name, each in zip(metrics, found, strict=True)
    ]
    return Evaluation(
        metrics=tuple(rated),
        dropped=sum(each.dropped for each in found if isinstance(each, Evaluation)),
        missing=len(failures),
        degraded=_costs.failure_note(failures, len(found), "metrics were not rated"),
    )


# --- without a language model -----------------------------------------------------------------------------------------


def _by_support(task: Task, profile: Profile, metrics: Sequence[Metric], *, named: bool) -> Program[Evaluation]:
    """Faithfulness from verdicts on the sentences; the others are not rated, and must not have been asked for."""
    if style := task.options.get("style"):
        raise UnsupportedIntrinsic(f"profile {profile.name!r} has no language model, which a style needs",
                                   intrinsic=task.intrinsic, expected="style='own', or another runtime",
                                   got=repr(style))  # fmt: skip
    others = [name for name in metrics if name != "faithfulness"]
    if named and others:
        raise UnsupportedIntrinsic(
            f"profile {profile.name!r} cannot rate {' and '.join(others)}, because that needs a language model",
            intrinsic=task.intrinsic,
            expected="metrics=['faithfulness'], no metrics, or another runtime",
            got=", ".join(metrics),
        )
    rated: dict[Metric, RatedMetric] = {
        name: _null(name, f"profile {profile.name!r} has no language model to rate it") for name in others
    }
    dropped, missing, degraded = 0, 0, None
    if "faithfulness" in metrics and (why := nothing_to_judge_by(task)):
        rated["faithfulness"] = _null("faithfulness", why)
    elif "faithfulness" in metrics:
        wanted = [name for name in ("hallucination-detection", "citations") if name in profile]
        verdicts, *cited = yield from together([profile.ask(name, task) for name in wanted])
        rated["faithfulness"] = _supported(task, verdicts, cited[0] if cited else Citations(citations=()))
        dropped = verdicts.dropped + sum(each.dropped for each in cited)
        missing, degraded = verdicts.missing, verdicts.degraded
    rows = tuple(rated[name] for name in metrics)
    return Evaluation(metrics=rows, dropped=dropped, missing=missing, degraded=degraded)


def _supported(task: Task, verdicts: HallucinationDetection, cited: Citations) -> RatedMetric:
    claims = [verdict for verdict in verdicts.sentences if verdict.label != "NA"]
    if verdicts.missing and verdicts.label == "NA":
        return _null("faithfulness", verdicts.degraded or "not judged")
    if not claims or verdicts.score is None:
        return _null("faithfulness", "nothing claimed")
    lacking = sum(verdict.label != "faithful" for verdict in claims)
    return RatedMetric(
        name="faithfulness",
        rating="yes" if verdicts.label == "faithful" else "no",
        score=verdicts.score,
        explanation=f"{lacking or 'none'} of {len(claims)} sentences with claims not fully supported by the documents",
        statements=tuple(_statement(verdict, cited) for verdict in claims),
    )


def _statement(verdict: SentenceVerdict, cited: Citations) -> Statement:
    said = _SAID[verdict.label]
    own = [c for c in cited.citations if c.response_begin < verdict.end and verdict.begin < c.response_end]
    quotes = [Quote(source="response", begin=verdict.begin, end=verdict.end, text=verdict.text)]
    for c in own:
        place = f"documents[{c.document_index}]"
        quotes.append(Quote(source=place, begin=c.document_begin, end=c.document_end, text=c.document_text))
    return Statement(
        text=f"{said}: {verdict.explanation}" if verdict.explanation else f"{said}.",
        citations=tuple(dict.fromkeys(quotes)),
    )
