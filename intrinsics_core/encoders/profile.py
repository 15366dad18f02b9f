"""``encoders``: requests for models that read two texts at once: cross-encoders, NLI models, token classifiers.

By the models there are: *relevance* serves reranking, context relevance, answerability (the best passage's) and the
choice of a fact check's sources; *entailment* hallucination detection per sentence, citations and the fact check;
*tokens* hallucination detection with the spans within sentences. A base serves the rest, by default the embedded one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from intrinsics_core.calibration.logits import yes_logits
from intrinsics_core.calibration.probabilities import sigmoid
from intrinsics_core.embedded.profile import PROFILE as EMBEDDED
from intrinsics_core.embedded.relevance import passage
from intrinsics_core.embedded.rewrite.standing_alone import question_by_rules as question
from intrinsics_core.embedded.rewrite.standing_alone import turns_cut
from intrinsics_core.protocol.profile import AnyFormat, Format, MultiStepFormat, Profile
from intrinsics_core.protocol.requests import Program, Reply, Request, Score, Tag, Tagged, TaggedSpan
from intrinsics_core.protocol.results import (
    Answerability,
    AnswerRelevance,
    Citations,
    Faithfulness,
    FlaggedSpan,
    HallucinationDetection,
    Judgement,
    Relevance,
)
from intrinsics_core.protocol.task import Task
from intrinsics_core.replies import sentence_ids
from intrinsics_core.text.prose import ended

ROLES = ("relevance", "entailment", "tokens")
_ENOUGH = 0.5  # a probability from which on a verdict is yes
_PARTLY = 0.25  # and from which on a document is partially relevant
_MOSTLY = 0.5  # share of a sentence's characters that are flagged, from which on nothing of it is left
_SHORT = 3  # words up to which an answer says nothing without its question


def encoders_profile(roles: Collection[str], base: Profile = EMBEDDED) -> Profile:
    """The profile for models in these roles, over the profile that serves the rest."""
    formats: dict[str, AnyFormat] = {}
    for role in ROLES:  # in this order: spans within sentences replace verdicts on whole ones
        if role in roles:
            formats |= _FORMATS[role]
    return Profile("encoders", formats, retries=0, split=base.split, base=base, cut=turns_cut)


# --- relevance ----------------------------------------------------------------------------------------------------


def _passages(task: Task, *, apart: bool = False) -> Sequence[Request]:
    asked = question(task)
    pairs = tuple((asked, passage(document)) for document in task.documents)
    return [Score(task.intrinsic, pairs, "relevance", apart=apart)]


def _relevance(task: Task) -> Program[list[float]]:
    return yes_logits((yield _passages(task, apart=True)))  # type: ignore[arg-type]  # only replies are sent in


def _pointwise(task: Task, replies: Sequence[Reply]) -> list[float]:
    return [sigmoid(x) for x in yes_logits(replies)]


def _context_relevance(task: Task) -> Program[list[Judgement]]:
    scores = map(sigmoid, (yield from _relevance(task)))
    return [
        Judgement(index=i, document_id=task.document_id(i), label=_label(score), score=score)
        for i, score in enumerate(scores)
    ]


def _label(score: float) -> Relevance:
    return "relevant" if score >= _ENOUGH else "partially relevant" if score >= _PARTLY else "irrelevant"


def _answerability(task: Task, replies: Sequence[Reply]) -> Answerability:
    best = max(_pointwise(task, replies))
    return Answerability(label="answerable" if best >= _ENOUGH else "unanswerable", probability=best)


def _question_and_answer(task: Task) -> Sequence[Request]:
    return [Score(task.intrinsic, ((question(task), task.response),), "relevance")]


def _answer_relevance(task: Task, replies: Sequence[Reply]) -> AnswerRelevance:
    (score,) = _pointwise(task, replies)
    return AnswerRelevance(label=_label(score), score=score)


# --- entailment ---------------------------------------------------------------------------------------------------


def _sources_and_claim(task: Task) -> Sequence[Request]:
    claim = _as_answer(task, task.response)
    return [Score(task.intrinsic, tuple((passage(document), claim) for document in task.documents), "entailment")]


def _entailment(task: Task, replies: Sequence[Reply]) -> float:
    return float(sigmoid(max(yes_logits(replies))))


def _sources_and_sentences(task: Task) -> Sequence[Request]:
    pairs = tuple((passage(d), _standing(task, s.text)) for s in task.response_sentences for d in task.documents)
    return [Score(task.intrinsic, pairs, "entailment")]


def _hallucination(task: Task, replies: Sequence[Reply]) -> HallucinationDetection:
    verdicts: list[tuple[int, sentence_ids.Verdict]] = []
    values = yes_logits(replies)
    for i, claims in enumerate(_claims(task)):
        row = values[i * len(task.documents) : (i + 1) * len(task.documents)]
        best = max(range(len(row)), key=row.__getitem__)
        score = float(sigmoid(row[best]))
        if not claims:
            verdicts.append((i, ("NA", None, None)))
        elif score >= _ENOUGH:
            verdicts.append((i, ("faithful", score, f"document {task.document_id(best)!r} entails it")))
        else:
            verdicts.append((i, ("unfaithful", score, "no document entails it")))
    return sentence_ids.hallucination(task, verdicts)


def _cite(task: Task) -> Program[Citations]:
    """Which documents entail a sentence, then which of their sentences do; where only several together, the best."""
    sentences = task.response_sentences
    if not sentences or not task.documents:
        return Citations(citations=())
    first = yield _sources_and_sentences(task)
    values = iter(yes_logits(first))  # type: ignore[arg-type]  # only replies are sent in
    held = [(r, d) for r in range(len(sentences)) for d in range(len(task.documents)) if next(values) >= 0]
    claims = _claims(task)
    held = [(r, d) for r, d in held if claims[r]]
    pairs = [(r, d, s.text) for r, d in held for s in task.document_sentences[d]]
    if not pairs:
        return Citations(citations=())
    asked = tuple((text, _standing(task, sentences[r].text)) for r, _, text in pairs)
    second = yield [Score(task.intrinsic, asked, "entailment")]
    found = iter(yes_logits(second))  # type: ignore[arg-type]
    before = [sum(map(len, task.document_sentences[:d])) for d in range(len(task.documents))]
    links = []
    for r, d in held:
        each = [next(found) for _ in task.document_sentences[d]]
        if each:
            links += [(r, before[d] + s) for s, value in enumerate(each) if value >= min(0.0, max(each))]
    return sentence_ids.citations(task, links)


# --- tokens -------------------------------------------------------------------------------------------------------


def _whole_answer(task: Task) -> Sequence[Request]:
    many = len(task.documents) > 1
    sources = "\n".join(
        f"passage {i}: {passage(document)}" if many else passage(document)
        for i, document in enumerate(task.documents, start=1)
    )
    return [Tag(task.intrinsic, ((sources, task.response),), question(task), len(task.documents))]


def _spans(task: Task, replies: Sequence[Reply]) -> HallucinationDetection:
    (tokens,) = next(reply.spans for reply in replies if isinstance(reply, Tagged))
    verdicts: list[tuple[int, sentence_ids.Verdict]] = []
    flagged: dict[int, tuple[FlaggedSpan, ...]] = {}
    for i, (sentence, claims) in enumerate(zip(task.response_sentences, _claims(task), strict=True)):
        own = [token for token in tokens if token.end > sentence.begin and token.begin < sentence.end]
        if not claims or not own:
            verdicts.append((i, ("NA", None, None)))
            continue
        flagged[i] = _flagged(task.response, own, sentence.begin, sentence.end)
        share = sum(span.end - span.begin for span in flagged[i]) / (sentence.end - sentence.begin)
        label: Faithfulness = "faithful" if not share else "partial" if share < _MOSTLY else "unfaithful"
        quoted = ", ".join(repr(span.text) for span in flagged[i])
        score = 1 - max(token.probability for token in own)
        verdicts.append((i, (label, score, f"not in the passages kept: {quoted}" if quoted else None)))
    result = sentence_ids.hallucination(task, verdicts)
    rows = tuple(row.model_copy(update={"spans": flagged.get(i, ())}) for i, row in enumerate(result.sentences))
    return result.model_copy(update={"sentences": rows})


def _flagged(response: str, tokens: Sequence[TaggedSpan], begin: int, end: int) -> tuple[FlaggedSpan, ...]:
    """Runs of flagged tokens within a sentence, with what stands between them; exact offsets in the response."""
    runs: list[list[TaggedSpan]] = []
    open_run = False
    for token in tokens:
        if token.probability < _ENOUGH:
            open_run = False
        elif open_run:
            runs[-1].append(token)
        else:
            runs.append([token])
            open_run = True
    spans = []
    for run in runs:
        first, last = max(begin, run[0].begin), min(end, run[-1].end)
        first += len(response[first:last]) - len(response[first:last].lstrip())  # some tokens begin with their space
        text = response[first:last]
        spans.append(FlaggedSpan(begin=first, end=last, text=text, probability=max(t.probability for t in run)))
    return tuple(spans)


# --- shared -------------------------------------------------------------------------------------------------------


def _as_answer(task: Task, text: str) -> str:
    """Provenance's claim (A.1), with the one period that its template ends with."""
    return ended(f"The answer to question {task.query} is {text}") if task.query else text


def _standing(task: Task, sentence: str) -> str:
    """A sentence as a claim: a short one ("No.") with the question that it answers."""
    return _as_answer(task, sentence) if len(sentence.split()) <= _SHORT else sentence


def _claims(task: Task) -> list[bool]:
    """For each sentence of the answer whether it claims anything."""
    from intrinsics_core.embedded.claims import Spoken
    from intrinsics_core.embedded.short_answers import asked_of_each

    spoken, texts = Spoken(task), [sentence.text for sentence in task.response_sentences]
    pairs = zip(texts, asked_of_each(texts, task.query), strict=True)
    return [not spoken.tells(text, question) and _claims_something(text) for text, question in pairs]


def _claims_something(sentence: str) -> bool:
    from intrinsics_core.embedded.claims import claims_nothing, makes_claim

    if len(sentence.split()) <= _SHORT:  # "It is." has no content, but a question
        return not claims_nothing(sentence)
    return makes_claim(sentence)


_FORMATS: dict[str, dict[str, AnyFormat]] = {
    "relevance": {
        "relevance": MultiStepFormat.of_each(_relevance),
        "pointwise": Format(_passages, _pointwise),
        "context-relevance": MultiStepFormat.of_each(_context_relevance),
        "answerability": Format(_passages, _answerability),
        "answer-relevance": Format(_question_and_answer, _answer_relevance),
    },
    "entailment": {
        "entailment": Format(_sources_and_claim, _entailment),
        "hallucination-detection": Format(_sources_and_sentences, _hallucination),
        "citations": MultiStepFormat(_cite),
    },
    "tokens": {"hallucination-detection": Format(_whole_answer, _spans)},
}

PROFILE = encoders_profile(ROLES)
