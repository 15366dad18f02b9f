"""What sources say of an answer: hallucination detection, citations and the fact check."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from intrinsics_core.embedded.overrides import Overrides, read, vectors_of
from intrinsics_core.embedded.rewrite.standing_alone import AS_SPOKEN, earlier_turns, standing_alone
from intrinsics_core.protocol.requests import Embed, Program, Reply, Request
from intrinsics_core.protocol.results import Citations, Faithfulness, HallucinationDetection
from intrinsics_core.protocol.task import Document, Task
from intrinsics_core.replies import sentence_ids
from intrinsics_core.text.cleaning import cleaned
from intrinsics_core.text.layout import laid_out
from intrinsics_core.text.lines import heading_level
from intrinsics_core.text.reading import columns_of

if TYPE_CHECKING:
    from intrinsics_core.embedded.evidence import Evidence
    from intrinsics_core.embedded.sources import Sources
    from intrinsics_core.embedded.support import ResponseSupport, SupportHead


# The most that a source supports a claim on something else: what hallucination detection gives it, which leaves it out.
_BESIDE = 0.2


class ClaimsMade(NamedTuple):
    """What an answer says: the sentences that were judged before, those to judge, what they claim, of each claim its
    sentence, and the claims as they are looked up (`stated_each`).
    """

    before: list[str]
    sentences: list[str]
    claims: list[str]
    sentence_of: list[int]
    looked_up: list[str]


def said_in(task: Task) -> ClaimsMade:
    """The sentences of the answer without the marks of their form, the user's name and a yes that nobody asked for. A
    comparison is cut into what it says of each document. Of a stream, what was judged earlier is `Task.begun`.
    """
    from intrinsics_core.embedded.claims import names_of_the_user, unaddressed
    from intrinsics_core.embedded.clauses import clauses
    from intrinsics_core.embedded.short_answers import plainly, stated_each
    from intrinsics_core.embedded.view import read_answer, without_loops
    from intrinsics_core.embedded.words import told_apart

    earlier = [span.text for span in laid_out(task.begun)]
    written = [without_loops(text) for text in (*earlier, *(sentence.text for sentence in task.response_sentences))]
    cited: Sequence[Document] = task.options.get("sources", task.documents)
    names = [name for document in cited for name in document.names]
    formed = read_answer(written, [document.text for document in cited], names)
    titles = [document.title or "" for document in task.documents]
    called = names_of_the_user(task.messages[:-1], [*titles, *(document.text for document in task.documents)])
    whole, before = not earlier, formed[: len(earlier)]
    said = plainly([unaddressed(text, called) for text in formed[len(earlier) :]], task.query, whole=whole)
    apart = told_apart(titles)
    cut = [clauses(sentence, apart, task.query) if len(apart) > 1 else [sentence] for sentence in said]
    claims, sentence_of = [c for each in cut for c in each], [i for i, each in enumerate(cut) for _ in each]
    return ClaimsMade(before, said, claims, sentence_of, stated_each(claims, task.query, whole=whole))


def claims_and_documents(task: Task, claims: Sequence[str]) -> Sequence[Request]:
    """The vectors of claims and of the sentences of the documents."""
    from intrinsics_core.embedded.words import is_known

    sentences = [[sentence.text for sentence in each] for each in task.document_sentences]
    read = [clean or text for each in sentences for text, clean in zip(each, cleaned(each, is_known), strict=True)]
    return [Embed(task.intrinsic, tuple(claims), kind="sentence"), Embed(task.intrinsic, tuple(read), kind="sentence")]


def hallucination(own: Overrides, task: Task) -> Program[HallucinationDetection]:
    """The verdicts of `support` on the sentences and on the response."""
    task = yield from standing_alone(own, task)
    _, found = yield from _judged(own, task)
    verdicts = [(i, (s.label, s.probability, s.explanation)) for i, s in enumerate(found.sentences)]
    if found.label == "NA":
        return sentence_ids.hallucination(task, verdicts, label="NA")
    label = cast("Faithfulness", found.label)
    judged = sentence_ids.hallucination(task, verdicts, score=found.faithfulness, label=label)
    why = own.unfitted(task, "hallucination-detection")
    hidden = {"score": None} if why else {}
    # What is partial the head does not know.
    rows = tuple(row.model_copy(update={"unsure": row.label == "partial"} | hidden) for row in judged.sentences)
    return judged.model_copy(update={"sentences": rows, "unsure": label == "partial", "degraded": why} | hidden)


def citations(own: Overrides, task: Task) -> Program[Citations]:
    """What `cite` chooses, without the reader. In an audit the verdicts say that a language was not fitted."""
    task = yield from standing_alone(own, task)
    _, found = yield from _judged(replace(own, reads=()), task)
    cited = sentence_ids.citations(task, [(r, c) for r, s in enumerate(found.sentences) for c in s.citations])
    return cited.model_copy(update={"degraded": own.note(task) if task.intrinsic == "citations" else None})


def claims_of(own: Overrides, task: Task) -> Program[list[Task | None]]:
    """For each sentence of the answer the task of `entailed`, None where it claims nothing.

    Its question stands alone, and its answer is the whole sentence without the marks of its form. The option "beside"
    has the id() of the documents of "sources" that are about something else than the sentence.
    """
    task = yield from standing_alone(own, task)
    said, found = yield from _judged(replace(own, reads=()), task)  # what claims something is told without the reader
    documents: tuple[Document, ...] = task.options.get("sources", task.documents)
    beside = _beside(task, documents, said.sentences)
    return [
        None if sentence.label == "NA" else replace(task.answered(text), options={**task.options, "beside": others})
        for sentence, text, others in zip(found.sentences, said.sentences, beside, strict=True)
    ]


def _beside(task: Task, documents: tuple[Document, ...], said: Sequence[str]) -> list[frozenset[int]]:
    """For each sentence the id() of the documents about something else, as the question or the sentence says."""
    from intrinsics_core.embedded.about import subjects

    among = replace(task, documents=documents)
    unseen = [[()]] * sum(map(len, among.document_sentences))  # words alone tell it
    about = subjects(said, _sources(among, unseen), task.query, earlier_turns(task))
    return [frozenset(id(d) for i, d in enumerate(documents) if some and i not in some) for some in about]


def entailed(own: Overrides, task: Task) -> Program[float]:
    """How far the documents of a task of `claims_of` entail its answer, 0 to 1."""
    from intrinsics_core.embedded.evidence import look_up
    from intrinsics_core.embedded.short_answers import stated_each
    from intrinsics_core.embedded.support import entailment, load_head

    claims = [task.response]
    vectors, documents = vectors_of((yield claims_and_documents(task, stated_each(claims, task.query))))  # type: ignore[arg-type]  # only replies come
    sources, head = _sources(task, documents), load_head(reads=bool(own.reads))
    evidence = look_up(claims, vectors, sources, task.query)
    (logit,) = (yield from _reader_logits(task, evidence, sources, head)) if own.reads else [None]
    score = entailment(evidence[0], sources, head, given=task.query, logit=logit)
    beside = any(id(document) in task.options.get("beside", ()) for document in task.documents)
    return min(score, _BESIDE) if beside else score


def _judged(own: Overrides, task: Task) -> Program[tuple[ClaimsMade, ResponseSupport]]:
    said = said_in(task)
    return said, (yield from support_of(own, task, said, (yield claims_and_documents(task, said.looked_up))))  # type: ignore[arg-type]  # only replies come


def support_of(own: Overrides, task: Task, said: ClaimsMade, replies: Sequence[Reply]) -> Program[ResponseSupport]:
    """The verdicts on a response, from the replies to `claims_and_documents`. A caller's thresholds choose the labels
    alone: the numbers are those of the head that ships, so that no threshold moves what is compared with it.
    """
    from intrinsics_core.embedded.evidence import look_up
    from intrinsics_core.embedded.support import load_head, support, with_numbers_of

    response, documents = vectors_of(replies)
    sources, head = _sources(task, documents), load_head(reads=bool(own.reads))
    evidence = look_up(said.claims, response, sources, task.query, said.before, earlier_turns(task))
    logits = (yield from _reader_logits(task, evidence, sources, head)) if own.reads else None
    judge = partial(
        support, evidence, sources, given=task.query, whole=not said.before, logits=logits,
        reported=_reported(own, task, said.sentence_of, response), sentence_of=said.sentence_of,
        own_encoder=own.own_encoder,
    )  # fmt: skip
    judged = judge(head=head)
    thresholds = own.thresholds.get("hallucination-detection")
    if not thresholds:
        return judged
    return with_numbers_of(judged, judge(head=replace(head, thresholds={**head.thresholds, **thresholds})))


def _reported(own: Overrides, task: Task, sentence_of: Sequence[int], vectors: Sequence[Any]) -> Collection[int]:
    """The claims of the response that the conversation itself supports: what a tool call has done, who answers, what
    the user said. ``sentence_of``: each one's sentence.
    """
    from intrinsics_core.embedded.claims import Spoken
    from intrinsics_core.embedded.short_answers import asked_of_each

    texts = [sentence.text for sentence in task.response_sentences]
    as_spoken: Task = task.options.get(AS_SPOKEN, task)
    asked = asked_of_each(texts, as_spoken.query, whole=not task.begun)
    spoken = Spoken(as_spoken)
    return {
        claim
        for claim, (i, rows) in enumerate(zip(sentence_of, vectors, strict=True))
        if spoken.tells(texts[i], asked[i], None if own.own_encoder else rows)
    }


def _reader_logits(
    task: Task, evidence: Sequence[Evidence], sources: Sources, head: SupportHead
) -> Program[list[float | None]]:
    """What the reader says of each claim of an answer: one logit of its readings; None without sources.

    The parts of its sources are read one by one, the narrowest first, until the rest cannot change its label.
    """
    from intrinsics_core.embedded.evidence import to_read
    from intrinsics_core.embedded.short_answers import contrary, in_context, leads, led, questions_of, stated, weighed
    from intrinsics_core.embedded.support import of_readings

    said = [found.sentence for found in evidence]
    asked = questions_of(said, task.query, whole=not task.begun)
    parts, first = list[list[tuple[str, str]]](), list[list[tuple[str, str]]]()
    for text, question, found in zip(said, asked, evidence, strict=True):
        pairs = to_read(in_context(text, question, whole=found.seen == 1.0), found, sources, head.citations)
        # A bare "No." is weighed against its opposite, and so is the "No" of "No, that is too late." beside the rest.
        yes_or_no = leads(text, question)
        opposite = contrary(yes_or_no or text) if question.strip() else None
        others = [[(s, stated(a, question)) for s, _ in pairs] if a else [] for a in (opposite, yes_or_no)]
        parts.append(pairs)
        first += [pairs if opposite and not yes_or_no else pairs[:1], *others]
    logits = yield from read(task, first)
    mine, theirs, ahead = logits[::3], logits[1::3], logits[2::3]
    while True:
        more = [
            pairs[len(some) : len(some) + 1] if some and not head.settles(found, some, len(pairs) - len(some)) else []
            for pairs, some, found in zip(parts, mine, evidence, strict=True)
        ]
        if not any(more):
            break
        mine = [[*some, *z] for some, z in zip(mine, (yield from read(task, more)), strict=True)]
    weighted: list[float | None] = []
    for text, found, *every in zip(said, evidence, mine, theirs, ahead, strict=True):
        z, other, own = (of_readings(some, found.seen) for some in every)
        if z is not None and other is not None:
            z = weighed(text, z, other) if own is None else led(z, own, other)
        weighted.append(z)
    return weighted


def _sources(task: Task, vectors: Sequence[Any]) -> Sources:
    from intrinsics_core.embedded.sources import Sources

    owners = [d for d, sentences in enumerate(task.document_sentences) for _ in sentences]
    titles = [d.title or "" for d in task.documents]
    texts = [s.text for each in task.document_sentences for s in each]
    read = zip(task.documents, task.document_sentences, strict=True)
    columns = [column for document, spans in read for column in columns_of(document.text, spans)]
    return Sources(texts, vectors, owners, titles, columns)


def leans(sentence: str, following: str, before: str, titles: Sequence[str]) -> bool:
    """Whether a sentence of a stream is judged with the next one (`Profile.leans`).

    A heading, the number of an item, a bare "No.", the title of a document, and the beginning of an answer that claims
    nothing ("Sure, let me see!") say nothing alone.
    """
    from intrinsics_core.embedded.about import only_names_one
    from intrinsics_core.embedded.claims import NUMBERING, makes_claim
    from intrinsics_core.embedded.short_answers import beginning
    from intrinsics_core.embedded.view import read_answer
    from intrinsics_core.embedded.words import told_apart

    # A marker alone ("-") begins an item whose words are not written yet.
    formed = read_answer([sentence, following if following.split()[1:] else f"{following} word"])[0]
    if heading_level(formed) or NUMBERING.match(sentence) or beginning(sentence).is_bare:
        return True
    return only_names_one(formed, told_apart(titles)) or (not before.strip() and not makes_claim(sentence))
