"""``embedded``: requests for small models instead of text. The default; no language model, no network.

The sentence encoder finds: rendering asks for the vectors of the texts at hand. The reader, where there is one, reads
the few sentences found beside the claim. Small fitted heads put both together with lexical evidence (see
:mod:`intrinsics_core.embedded`, where each module says what its method is, what it is not, and where a language model
does better).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from intrinsics_core.calibration.loading import loaded
from intrinsics_core.calibration.logits import yes_logits
from intrinsics_core.calibration.probabilities import logit
from intrinsics_core.embedded.answer_relevance import answering_the_question
from intrinsics_core.embedded.commands import commands_among, uncommanded, without_commands
from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.protocol.names import keyed
from intrinsics_core.protocol.profile import MultiStepFormat, Profile
from intrinsics_core.protocol.requests import Embed, Embedded, Program, Reply, Request, Score, ScoreTask
from intrinsics_core.protocol.results import (
    Answerability,
    Citations,
    ExpandedQuery,
    Faithfulness,
    HallucinationDetection,
    Judgement,
    QueryExpansion,
    QueryRewrite,
    Uncertainty,
)
from intrinsics_core.protocol.task import Document, Task
from intrinsics_core.replies import sentence_ids
from intrinsics_core.text.layout import laid_out
from intrinsics_core.text.scripts import unfitted_language

if TYPE_CHECKING:
    from intrinsics_core.embedded.query.chooser import ChoiceOfReading
    from intrinsics_core.embedded.query.rewriting import Rewrite
    from intrinsics_core.embedded.scoring.answering import Relevance as PassageRelevance
    from intrinsics_core.embedded.scoring.citing import CitationRule
    from intrinsics_core.embedded.scoring.evidence import Evidence, Sources
    from intrinsics_core.embedded.scoring.support import ResponseSupport


@dataclass(frozen=True)
class Overrides:
    """What a caller set for their own data: thresholds by intrinsic, and which intrinsics were calibrated on it; the
    tasks that there is a reader for; and whether the encoder is their own.
    """

    thresholds: Mapping[str, Mapping[str, float]]
    calibrated: Collection[str] = ()
    reads: Collection[ScoreTask] = ()
    own_encoder: bool = False


# What asks of the answer and the last question alone.
_WITHOUT_HISTORY = ("hallucination-detection", "citations")

_SAID = 400  # characters of an earlier turn of the user's that an answer may say back

# Names of the thresholds that a caller may set, each in 0..1; calibrating sets them too.
THRESHOLDS = {
    "context-relevance": ("relevant", "partial"),
    "answerability": ("answerable",),
    "hallucination-detection": ("faithful", "unfaithful"),
}


def embedded_profile(
    calibrations: Mapping[str, Any] | None = None,
    thresholds: Mapping[str, Mapping[str, float]] | None = None,
    reads: Collection[ScoreTask] = (),
    own_encoder: bool = False,
) -> Profile:
    """The profile, with the caller's own calibrations and thresholds by intrinsic.

    Args:
        calibrations: by intrinsic, what `calibrate` fitted.
        thresholds: by intrinsic and name.
        reads: tasks of the runtime's reader, which then reads what was found.
        own_encoder: the vectors are not of the encoder that ships.

    Raises:
        InvalidInput: one of them is of an intrinsic that has none, or cannot be read, or is out of range.
    """
    fitted = loaded(calibrations or {})
    own = Overrides(_thresholds(thresholds or {}), tuple(fitted), reads, own_encoder)
    return Profile(
        "embedded",
        {
            "query-rewrite": MultiStepFormat(partial(_query_rewrite, own)),
            "query-expansion": MultiStepFormat(partial(_query_expansion, own)),
            "pointwise": MultiStepFormat(uncommanded(partial(_pointwise, own), passages=True)),
            "context-relevance": MultiStepFormat.of_each(uncommanded(partial(_context_relevance, own), passages=True)),
            "relevance": MultiStepFormat.of_each(uncommanded(partial(_relevance, own), passages=True)),
            "answerability": MultiStepFormat(uncommanded(partial(_answerability, own), passages=True)),
            "uncertainty": MultiStepFormat(uncommanded(partial(_uncertainty, own))),
            "hallucination-detection": MultiStepFormat(uncommanded(partial(_hallucination, own))),
            "citations": MultiStepFormat(uncommanded(partial(_citations, own))),
            "claims": MultiStepFormat(uncommanded(partial(_claims, own))),
            "entailment": MultiStepFormat(uncommanded(partial(_entailment, own))),
            "answer-relevance": MultiStepFormat(uncommanded(answering_the_question(partial(_asked, own)))),
        },
        retries=0,  # vectors are never malformed
        split=laid_out,
        cut=turns_cut,
        made_by=(embedded_profile, (calibrations, thresholds, reads, own_encoder)),
        calibrations=fitted,
    )


# --- what the encoder is asked for --------------------------------------------------------------------------------


def _question_and_passages(task: Task, question: str, *, apart: bool = False) -> Sequence[Request]:
    return [
        Embed(task.intrinsic, (question,), kind="query"),
        Embed(task.intrinsic, tuple(map(passage, task.documents)), kind="passage", apart=apart),
    ]


def _sentences(task: Task) -> Sequence[Request]:
    from intrinsics_core.embedded.scoring.short_answers import stated_each

    said = _said(task)
    texts = tuple(stated_each(said.claims, task.query, whole=not said.before))
    return [
        Embed(task.intrinsic, texts, kind="sentence"),
        Embed(task.intrinsic, tuple(s.text for each in task.document_sentences for s in each), kind="sentence"),
    ]


class _ClaimsMade(NamedTuple):
    """What an answer says: the sentences that were judged earlier, the claims to judge, and of each its sentence."""

    before: list[str]
    claims: list[str]
    sentence_of: list[int]


def _said(task: Task) -> _ClaimsMade:
    """The sentences of the answer without the marks of their form and the numbers that they deny. A comparison is
    cut into what it says of each document.

    Of a stream, the sentences that were judged earlier stand in a turn before the rest. A heading may be among them.
    """
    from intrinsics_core.embedded.scoring.clauses import clauses
    from intrinsics_core.embedded.scoring.form import without_form
    from intrinsics_core.embedded.scoring.short_answers import plainly, without_denied

    turns = task.messages[:-1]
    earlier = [span.text for turn in turns[-1:] if turn.role == "assistant" for span in laid_out(turn.content)]
    formed = without_form([*earlier, *(sentence.text for sentence in task.response_sentences)])
    titles = [document.title or "" for document in task.documents]
    texts = [document.text for document in task.documents]
    said = [without_denied(text, task.query, texts) for text in plainly(formed[len(earlier) :], task.query)]
    cut = [clauses(sentence, titles, task.query) for sentence in said]
    claims = [clause for each in cut for clause in each]
    return _ClaimsMade(formed[: len(earlier)], claims, [i for i, each in enumerate(cut) for _ in each])


def question_by_rules(task: Task) -> str:
    """The question made to stand alone without a reader, "" without one."""
    turns = _turns(task)
    return _choice(turns).by_rules if turns else ""


def _turns(task: Task) -> tuple[tuple[str, str], ...]:
    """(role, text) up to the last user turn."""
    turns = [(m.role, m.content) for m in task.messages]
    while turns and turns[-1][0] != "user":
        turns.pop()
    return tuple(turns)


def _earlier(task: Task) -> list[str]:
    """The turns before the last user turn, the newest first."""
    return [text for _, text in reversed(_turns(task)[:-1])]


def _told(task: Task) -> str:
    """What the user said before the last turn, in turns that are no pasted texts."""
    return "\n".join(text for role, text in _turns(task)[:-1] if role == "user" and len(text) <= _SAID)


def turns_cut(task: Task) -> int:
    """Earlier turns of which a rewrite of the question reads the end alone, or nothing where the last is too long."""
    if task.intrinsic in _WITHOUT_HISTORY:
        return 0
    from intrinsics_core.embedded.query.salience import LONGEST_TURN

    *earlier, last = _turns(task) or (("user", ""),)
    whole = 0 if len(last[1]) > LONGEST_TURN else LONGEST_TURN
    return sum(role in ("user", "assistant") and len(text) > whole for role, text in earlier)


@lru_cache(maxsize=32)
def _choice(turns: tuple[tuple[str, str], ...]) -> ChoiceOfReading:
    from intrinsics_core.embedded.query.chooser import choice

    return choice(turns)


@lru_cache(maxsize=32)
def _rewritten(turns: tuple[tuple[str, str], ...], meant: str) -> Rewrite:
    """One dialogue is rewritten once, though context relevance and the fact check ask for it with every document."""
    from intrinsics_core.embedded.query.rewriting import rewrite

    return rewrite(turns, meant=meant)


def passage(document: Document) -> str:
    from intrinsics_core.embedded.scoring.answering import with_title

    return with_title(document.text, document.title)


# --- what the vectors say -----------------------------------------------------------------------------------------


def _standing(own: Overrides, task: Task) -> Program[Rewrite]:
    """The question made to stand alone: by the reading that the reader picks, or by rules where nobody reads."""
    from intrinsics_core.embedded.query.corrections import accepted_offer, as_fragment

    turns = _turns(task)
    if offer := accepted_offer(turns):
        turns = (*turns[:-1], ("user", offer))
    last = turns[-1][1] if turns else ""
    fragment = as_fragment(last) if len(turns) > 1 else last
    read = turns if fragment == last else (*turns[:-1], ("user", fragment))
    asked = _choice(read)
    meant = asked.by_rules
    if "meant" in own.reads and asked.pairs:
        (scored,) = yield [Score(task.intrinsic, asked.pairs, "meant", own=True)]
        meant = asked.meant(yes_logits([scored]))  # type: ignore[list-item]  # only replies are sent in
    found = _rewritten(read, meant)
    return found if fragment == last or found.question != fragment else _rewritten(turns, last)


def _asked(own: Overrides, task: Task) -> Program[str]:
    """The question as it stands alone, spelled as in the documents, "" without one: neither encoder nor reader sees
    the history.

    Without the keywords that a rewrite adds for retrieval: they draw the vector towards what was said before. (150
    MT-RAG tasks with a history, ELSER's top 5: answerability AUROC .64 with the plain question, .57 with keywords.)
    For ranking either will do: .478 against .471 nDCG on those tasks, .550 against .560 on others.
    """
    from intrinsics_core.embedded.spelling import without_slips

    if not _turns(task):
        return ""
    question = (yield from _standing(own, task)).question
    return without_slips([passage(document) for document in task.documents], question)


def _query_rewrite(own: Overrides, task: Task) -> Program[QueryRewrite]:
    found = yield from _standing(own, task)
    return QueryRewrite(
        query=found.question,
        original=task.query,
        changed=found.question != task.query,
        retrieval_query=found.retrieval_query,
        terms=found.terms,
    )


def _query_expansion(own: Overrides, task: Task) -> Program[QueryExpansion]:
    from intrinsics_core.embedded.query.expanding import expand

    found = yield from _standing(own, task)
    queries = expand(_turns(task), [passage(d) for d in task.documents], rewritten=found)
    return QueryExpansion(queries=tuple(ExpandedQuery(text=text, strategy=strategy) for text, strategy in queries))


def _supported(own: Overrides, task: Task, replies: Sequence[Reply]) -> Program[ResponseSupport]:
    """The verdicts on a response, from the vectors of its sentences and of the documents'."""
    from intrinsics_core.embedded.scoring.support import look_up, support
    from intrinsics_core.embedded.scoring.support_head import load_head

    response, documents = _vectors(replies)
    head = load_head(reads=bool(own.reads))
    if thresholds := own.thresholds.get("hallucination-detection"):
        head = replace(head, thresholds={**head.thresholds, **thresholds})
    (before, claims, sentence_of), sources = _said(task), _sources(task, documents)
    evidence = look_up(claims, response, sources, task.query, before, _earlier(task))
    logits = (yield from _reader_logits(task, claims, evidence, sources, head.citations)) if own.reads else None
    return support(
        claims, response, sources, head, given=task.query, told=_told(task), before=before, evidence=evidence,
        logits=logits,
        reported=_reported(own, task, sentence_of, response), sentence_of=sentence_of, own_encoder=own.own_encoder,
    )  # fmt: skip


def _reported(own: Overrides, task: Task, sentence_of: Sequence[int], vectors: Sequence[Any]) -> Collection[int]:
    """The claims of the response that report what a tool call has done. ``sentence_of``: each one's sentence."""
    if not task.tool_calls:
        return ()
    from intrinsics_core.embedded.scoring.reports import reports_a_call

    texts = [task.response_sentences[i].text for i in sentence_of]
    said = enumerate(zip(texts, vectors, strict=True))
    return {i for i, (text, rows) in said if reports_a_call(text, task, None if own.own_encoder else rows)}


def _reader_logits(
    task: Task, said: Sequence[str], evidence: Sequence[Evidence], sources: Sources, rule: CitationRule
) -> Program[list[Any]]:
    """What the reader says of each sentence of an answer: one logit of its readings; None without sources."""
    from intrinsics_core.embedded.scoring.short_answers import (
        contrary,
        in_context,
        leads,
        led,
        questions_of,
        stated,
        weighed,
    )
    from intrinsics_core.embedded.scoring.support import to_read
    from intrinsics_core.embedded.scoring.support_head import of_readings, read_enough

    asked = questions_of(said, task.query)
    texts = [
        in_context(text, question, whole=found.seen == 1.0)
        for text, question, found in zip(said, asked, evidence, strict=True)
    ]
    shown = [to_read(text, found, sources, rule) for text, found in zip(texts, evidence, strict=True)]

    def behind_the_question(answers: Sequence[str | None]) -> list[list[tuple[str, str]]]:
        return [
            [(source, stated(answer, question)) for source, _ in pairs] if answer else []
            for pairs, answer, question in zip(shown, answers, asked, strict=True)
        ]

    def joined(logits: Sequence[Sequence[float]]) -> list[float | None]:
        return [of_readings(some, one.seen) for some, one in zip(logits, evidence, strict=True)]

    # A bare "No." is weighed against its opposite, and so is the "No" of "No, that is too late." beside that sentence.
    ahead = [leads(text, question) for text, question in zip(said, asked, strict=True)]
    opposite = [contrary(yes_or_no or text) for yes_or_no, text in zip(ahead, said, strict=True)]
    others = behind_the_question([o if question.strip() else None for o, question in zip(opposite, asked, strict=True)])
    # For a "No." all parts are read, and so is its opposite. For another claim the widest part is read last, if at all.
    bare = [bool(other) and not own for own, other in zip(ahead, others, strict=True)]
    narrow = [pairs if alone else pairs[:-1] for pairs, alone in zip(shown, bare, strict=True)]
    logits = yield from _read(task, [*narrow, *others, *behind_the_question(ahead)])
    begun, theirs, aheads = (logits[i * len(said) : (i + 1) * len(said)] for i in range(3))
    left = [[] if read_enough(some) else pairs[len(some) :] for pairs, some in zip(shown, begun, strict=True)]
    ended = yield from _read(task, left)
    mine = joined([[*some, *more] for some, more in zip(begun, ended, strict=True)])
    weighted: list[float | None] = []
    for text, z, other, own in zip(said, mine, joined(theirs), joined(aheads), strict=True):
        if z is not None and other is not None:
            z = weighed(text, z, other) if own is None else led(z, own, other)
        weighted.append(z)
    return weighted


def _read(
    task: Task, pairs: Sequence[Sequence[tuple[str, str]]], as_: ScoreTask = "entailment"
) -> Program[list[list[float]]]:
    """The reader's logits of each group of pairs."""
    asked = list(dict.fromkeys(pair for group in pairs for pair in group))
    if not asked:
        return [[] for _ in pairs]
    (scored,) = yield [Score(task.intrinsic, tuple(asked), as_, own=True)]
    logits = dict(zip(asked, yes_logits([scored]), strict=True))  # type: ignore[list-item]  # only replies are sent in
    return [[logits[pair] for pair in group] for group in pairs]


def _standing_alone(own: Overrides, task: Task) -> Program[Task]:
    """The task with its question as it stands alone: what "it" is, an earlier turn may say."""
    if len(_turns(task)) < 2:
        return task
    question, messages = (yield from _asked(own, task)), list(task.messages)
    last = max(i for i, message in enumerate(messages) if message.role == "user")
    messages[last] = replace(messages[last], content=question)
    return replace(task, messages=tuple(messages))


def _hallucination(own: Overrides, task: Task) -> Program[HallucinationDetection]:
    """The verdicts of `support` on the sentences and on the response."""
    task = yield from _standing_alone(own, task)
    found = yield from _supported(own, task, (yield _sentences(task)))  # type: ignore[arg-type]  # only replies come
    verdicts = [(i, (s.label, s.probability, s.explanation)) for i, s in enumerate(found.sentences)]
    if found.label == "NA":
        return sentence_ids.hallucination(task, verdicts, label="NA")
    label = cast("Faithfulness", found.label)
    unsure = label == "partial"  # which is what the head does not know
    judged = sentence_ids.hallucination(task, verdicts, score=found.faithfulness, label=label)
    why = _unfitted(own, task, "hallucination-detection")
    hidden = {"score": None} if why else {}
    rows = tuple(row.model_copy(update={"unsure": row.label == "partial"} | hidden) for row in judged.sentences)
    return judged.model_copy(update={"sentences": rows, "unsure": unsure, "degraded": why} | hidden)


def _citations(own: Overrides, task: Task) -> Program[Citations]:
    from intrinsics_core.embedded.scoring.support import look_up, support
    from intrinsics_core.embedded.scoring.support_head import load_head

    task = yield from _standing_alone(own, task)
    response, documents = _vectors((yield _sentences(task)))  # type: ignore[arg-type]  # only replies come
    (before, claims, sentence_of), sources = _said(task), _sources(task, documents)
    evidence = look_up(claims, response, sources, task.query, before, _earlier(task))
    # Nothing is read for a citation: both heads have the same rule.
    found = support(
        claims, response, sources, load_head(reads=bool(own.reads)), given=task.query, told=_told(task),
        before=before, evidence=evidence,
        reported=_reported(own, task, sentence_of, response), sentence_of=sentence_of, own_encoder=own.own_encoder,
    )  # fmt: skip
    return sentence_ids.citations(task, [(r, c) for r, s in enumerate(found.sentences) for c in s.citations])


def _claims(own: Overrides, task: Task) -> Program[list[Task | None]]:
    """For each sentence of the answer the task of `_entailment`, None where it claims nothing.

    Its question stands alone, and its answer is the sentence without the marks of its form. The sentence stays whole,
    for each source is read alone.
    """
    task = yield from _standing_alone(own, task)
    unread = replace(own, reads=())  # what claims something is told without the reader
    found = yield from _supported(unread, task, (yield _sentences(task)))  # type: ignore[arg-type]  # only replies come
    whole = _said(replace(task, documents=())).claims  # nothing is cut by what it says of each document
    return [
        None if sentence.label == "NA" else task.answered(text)
        for sentence, text in zip(found.sentences, whole, strict=True)
    ]


def _entailment(own: Overrides, task: Task) -> Program[float]:
    from intrinsics_core.embedded.scoring.short_answers import stated_each
    from intrinsics_core.embedded.scoring.support import entailment, look_up
    from intrinsics_core.embedded.scoring.support_head import load_head

    (text,) = stated_each([task.response], task.query)
    sentences = tuple(s.text for each in task.document_sentences for s in each)
    claim, documents = _vectors(
        (
            yield [Embed(task.intrinsic, (text,), kind="sentence"), Embed(task.intrinsic, sentences, kind="sentence")]  # type: ignore[arg-type]
        )
    )
    sources, head = _sources(task, documents), load_head(reads=bool(own.reads))
    (found,) = look_up([task.response], [claim[0]], sources, task.query)
    said = None
    if own.reads:
        (said,) = yield from _reader_logits(task, [task.response], [found], sources, head.citations)
    return entailment(task.response, claim[0], sources, head, given=task.query, evidence=found, logit=said)


def _sources(task: Task, vectors: Sequence[Any]) -> Sources:
    from intrinsics_core.embedded.scoring.evidence import Sources

    owners = [d for d, sentences in enumerate(task.document_sentences) for _ in sentences]
    titles = [d.title or "" for d in task.documents]
    texts = [s.text for each in task.document_sentences for s in each]
    return Sources(texts, vectors, owners, titles, commands_among(task))


def _vectors(replies: Sequence[Reply]) -> list[Sequence[Any]]:
    return [reply.vectors for reply in replies if isinstance(reply, Embedded)]


@dataclass(frozen=True)
class Asked:
    """A question with its vectors and the passages' vectors; where there is a reader, what it was shown of each passage
    and what it says of it."""

    text: str
    question: Any
    passages: Sequence[Any]
    shown: Sequence[str]
    logits: list[float | None] | None

    def read(self, documents: Sequence[Document]) -> Iterator[tuple[str, Any, float | None]]:
        """Each passage with its vectors and its logit."""
        return zip(map(passage, documents), self.passages, self.logits or [None] * len(documents), strict=True)


def _looked_up(own: Overrides, task: Task, *, apart: bool = False) -> Program[Asked]:
    """The question as it stands alone beside every passage. ``apart``: as if each passage were the only one."""
    text = yield from _asked(own, task)
    replies: Sequence[Reply] = yield _question_and_passages(task, text, apart=apart)  # type: ignore[assignment]
    return (yield from _looked_at(own, task, text, replies))


def _looked_at(own: Overrides, task: Task, text: str, replies: Sequence[Reply]) -> Program[Asked]:
    """The reader's word on every passage, after the encoder's. ``text``: the question as it stands alone."""
    from intrinsics_core.embedded.scoring.answering import to_read

    (question,), passages = _vectors(replies)
    if not own.reads:
        return Asked(text, question, passages, (), None)
    shown = [to_read(text, d.text, d.title) if d.text.strip() else "" for d in task.documents]
    return Asked(text, question, passages, shown, (yield from _asks(task, text, shown)))


def _asks(task: Task, question: str, shown: Sequence[str]) -> Program[list[float | None]]:
    """The reader's logits that texts answer a question; None for an empty one."""
    from intrinsics_core.embedded.scoring.answering import asked_of

    asked = asked_of(question) if question.strip() else ()
    pairs = [[(each, source) for each in asked] if source else [] for source in shown]
    return [fmean(said) if said else None for said in (yield from _read(task, pairs, "answers"))]


def _pointwise(own: Overrides, task: Task) -> Program[list[float]]:
    """For each passage the probability that it is relevant, which is that of context relevance."""
    from intrinsics_core.embedded.scoring.answering import passage_score

    found = yield from _looked_up(own, task)
    return [
        passage_score(found.text, text, found.question, rows, logit=said)
        for text, rows, said in found.read(task.documents)
    ]


def _context_relevance(own: Overrides, task: Task) -> Program[list[Judgement]]:
    return [
        Judgement(index=i, document_id=task.document_id(i), label=found.label, score=found.score)
        for i, found in enumerate((yield from _judged(own, task)))
    ]


def _judged(own: Overrides, task: Task) -> Program[list[PassageRelevance]]:
    """What is said of each passage as if it were the only one."""
    from intrinsics_core.embedded.scoring.answering import context_relevance

    asked = yield from _looked_up(own, task, apart=True)
    limits = own.thresholds.get("context-relevance", {})
    high, low = limits.get("relevant"), limits.get("partial")
    return [
        context_relevance(asked.text, text, asked.question, rows, relevant=high, partial=low, logit=said)
        for text, rows, said in asked.read(task.documents)
    ]


def _relevance(own: Overrides, task: Task) -> Program[list[float]]:
    """How far each document bears on the question, as a logit: what a fact check weighs sources by."""
    return [logit(found.score) for found in (yield from _judged(own, task))]


def _unfitted(own: Overrides, task: Task, name: str) -> str | None:
    """Why a probability would mean nothing: the text is in a language or script that nothing was fitted on.

    Not so where the caller calibrated the intrinsic: that was on their own text.
    """
    if name in own.calibrated:  # by the format: a part of an audit is called for as an audit
        return None
    language = unfitted_language(f"{task.query} {task.response}")
    return language and f"no probability: the models were fitted on English, and this looks like {language}"


def _answerability(own: Overrides, task: Task) -> Program[Answerability]:
    from intrinsics_core.embedded.query.corrections import accepted_offer
    from intrinsics_core.embedded.query.nothing_asked import asks_nothing

    if asks_nothing(task.query) and not accepted_offer(_turns(task)):
        return Answerability(label="answerable", probability=None, reason="the last turn asks nothing of the documents")
    found = yield from _answerable(own, task, (yield from _looked_up(own, task)))
    why = _unfitted(own, task, "answerability")
    return found.model_copy(update={"probability": None, "degraded": why}) if why else found


def _answerable(own: Overrides, task: Task, asked: Asked) -> Program[Answerability]:
    from intrinsics_core.embedded.scoring.answering import (
        answerability,
        as_one,
        asked_of,
        best_two,
        of_both,
        of_parts,
        shipped_head,
    )
    from intrinsics_core.embedded.scoring.subjects import passages_about

    limit = own.thresholds.get("answerability", {}).get("answerable")
    titles, whole = [d.title or "" for d in task.documents], [d.text for d in task.documents]
    before = [text for role, text in reversed(_turns(task)[:-1]) if role == "user"]
    kept = sorted(passages_about(asked.text, titles, whole, before) or range(len(whole)))
    texts, vectors = [passage(task.documents[i]) for i in kept], [asked.passages[i] for i in kept]
    logits = None if asked.logits is None else [asked.logits[i] for i in kept]
    shown = [asked.shown[i] for i in kept] if asked.shown else []
    if logits and (parts := asked_of(asked.text)[1:])[1:]:
        said = yield from _read(task, [[(part, source) for source in shown if source] for part in parts], "answers")
        logits = of_parts(logits, said)
    if logits is not None and (two := best_two(asked.text, shown, logits)):
        (together,) = yield from _asks(task, asked.text, [" ".join(shown[i] for i in two)])
        text, rows = as_one([texts[i] for i in two], [vectors[i] for i in two])
        texts, vectors, logits = (
            [*texts, text],
            [*vectors, rows],
            [*logits, of_both(together, *(logits[i] for i in two))],
        )
    found = answerability(asked.text, texts, asked.question, vectors, threshold=limit, logits=logits)
    band = shipped_head("answerability", reads=asked.logits is not None).thresholds
    low, high = band["refused"], band["accepted"]
    if limit is not None:  # the band goes with the threshold
        low, high = min(limit, low), max(limit, high)
    label = "answerable" if found.answerable else "unanswerable"
    return Answerability(label=label, probability=found.probability, unsure=low <= found.probability < high)


def _uncertainty(own: Overrides, task: Task) -> Program[Uncertainty]:
    from intrinsics_core.embedded.scoring.certainty import certainty, quantised

    answerable, supported, claims = None, None, True
    if task.documents:
        alone = yield from _standing_alone(own, task)
        text = (yield from _asked(own, task)) if alone is task else alone.query
        whole = without_commands(task, passages=True)
        wave = [*_question_and_passages(whole, text), *(_sentences(alone) if task.response else ())]
        replies: Sequence[Reply] = yield wave  # type: ignore[assignment]  # only replies come
        if _turns(task):
            looked_at = yield from _looked_at(own, whole, text, replies[:2])
            answerable = (yield from _answerable(own, whole, looked_at)).probability
        if task.response:
            said = yield from _supported(own, alone, replies[2:])
            claims = said.label != "NA"
            supported = said.faithfulness if claims else None
    found = certainty(answerable, supported, claims=claims)
    return Uncertainty(certainty=quantised(found.expected), expected=found.expected)


def _thresholds(given: Mapping[str, Mapping[str, float]]) -> dict[str, Mapping[str, float]]:
    known = keyed("thresholds", given, THRESHOLDS)
    for name, values in known.items():
        _check_thresholds(f"thresholds.{name}", values, THRESHOLDS[name])
    return known


def _check_thresholds(what: str, values: Any, names: Sequence[str]) -> None:
    if not isinstance(values, Mapping):
        expected = f"{{{', '.join(f'{name!r}: a number from 0 to 1' for name in names)}}}"
        raise InvalidInput(f"{what} is not a mapping", expected=expected, got=repr(values))
    for key, value in keyed(what, values, names).items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise InvalidInput(f"{what}.{key} is out of range", expected="a number from 0 to 1", got=repr(value))


PROFILE = embedded_profile()
