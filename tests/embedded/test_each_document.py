"""Documents are asked about together and judged apart."""

import pytest

from intrinsics_core import (
    BlockingRuntime,
    IntrinsicsError,
    Profile,
    context_relevance,
    fact_check,
    hallucination_detection,
    reranking,
    run,
)
from intrinsics_core.embedded.runtime import EmbeddedRuntime
from intrinsics_core.encoders.profile import encoders_profile
from intrinsics_core.protocol.errors import MalformedReply
from intrinsics_core.protocol.profile import MultiStepFormat
from intrinsics_core.protocol.requests import Embed, Score, Scored

MILL = "The tide mill at Port Ellery was built in 1911 by the engineer Ada Brink. It ground flour until 1958."
TALK = [
    {"role": "user", "content": "Who built the tide mill?"},
    {"role": "assistant", "content": "Ada Brink built it."},
    {"role": "user", "content": "When did it stop grinding flour?"},
]
ENDS = (
    "Some puffins nest there.",
    "It stopped in 1958.",
    "",
    "The mill stopped grinding flour after the war. " * 30,
    " ",
)
MANY = [{"text": f"{MILL[: 9 * i]} {ENDS[i % 5]}" if i % 10 else ENDS[i % 5], "id": str(i)} for i in range(50)]


class Counting(EmbeddedRuntime):
    """Counts requests, and refuses those that name fog."""

    asked = 0

    def handle(self, requests):
        self.asked += len(requests)
        outcomes = super().handle(requests)
        for i, request in enumerate(requests):
            texts = request.texts if isinstance(request, Embed) else [text for pair in request.pairs for text in pair]
            if any("fog" in text for text in texts):
                outcomes[i] = MalformedReply("there is fog", intrinsic=request.intrinsic)
        return outcomes


def judged(documents, runtime, **more):
    return run(context_relevance(TALK, documents, **more), runtime)


@pytest.mark.parametrize("reader", [None, False])
def test_fifty_together_are_judged_as_each_alone(reader):
    together, alone = Counting(threads=1, reader=reader), EmbeddedRuntime(threads=1, reader=reader)
    found = judged(MANY, together).judgements
    assert together.asked <= 4
    apart = [judged([document], alone).judgements[0] for document in MANY]
    assert [j.model_dump(exclude={"index"}) for j in found] == [j.model_dump(exclude={"index"}) for j in apart]
    assert [j.index for j in found] == list(range(50))
    assert len({j.label for j in found}) > 1


def test_one_document_that_cannot_be_judged_costs_no_other():
    runtime = Counting(threads=1)
    documents = [MILL, "The fog came in.", "The mill stopped in 1958."]
    with pytest.raises(MalformedReply):
        judged(documents, runtime)
    found = judged(documents, runtime, on_error="fallback")
    assert [bool(j.failure) for j in found.judgements] == [False, True, False]
    assert found.judgements[0].score == judged(documents[:1], runtime).judgements[0].score
    assert "fog" in found.degraded


def test_a_bound_on_what_is_read_holds_for_each_document():
    long = f"{MILL} " * 8
    runtime = EmbeddedRuntime(threads=1, max_document_tokens=100)
    (one, two), unread = judged([long, MILL], runtime).judgements, judged([long, MILL], runtime).unread
    assert one.score == judged([long], runtime).judgements[0].score
    assert two.score == judged([MILL], runtime).judgements[0].score
    assert unread == judged([long], runtime).unread == judged([long, long], runtime).unread > 0


def test_a_fact_check_asks_about_its_sources_together():
    answered = [*TALK, {"role": "assistant", "content": "It stopped in 1958."}]
    runtime = Counting(threads=1)
    found = run(fact_check(answered, MANY[:5], top_k=1, top_p=None), runtime)
    assert runtime.asked <= 4 + 4 + 3  # of relevance, of the one claim by the one source, and of what is a claim
    assert len(found.sources) == 5


def test_a_fact_check_asks_once_what_claims_something():
    def asked(claims, sources):
        answered = [TALK[2], {"role": "assistant", "content": "The mill stopped in 1958. " * claims}]
        runtime = Counting(threads=1, reader=False)
        run(fact_check(answered, MANY[1:5], top_k=sources, top_p=None), runtime)
        return runtime.asked

    once = asked(1, 1)
    assert [asked(n, 1) - once for n in (2, 3)] == [2, 4]  # the vectors of each claim and of its source
    assert asked(3, 3) - once == 2 * 3 * 3 - 2


def test_a_profile_of_ones_own_is_asked_about_its_documents_one_by_one():
    """Its base could be asked about all of them, but does not serve what the profile serves itself."""
    seen = []

    def ask(task):
        yield [Score("context-relevance", (("who ?", task.documents[0].text),))]
        seen.append(len(task.documents))
        raise IntrinsicsError("no")

    runtime = EmbeddedRuntime(threads=1)
    own = Profile("own", {"context-relevance": MultiStepFormat(ask)}, retries=0, base=runtime.profile)
    result = run(context_relevance(TALK, MANY[:3], on_error="fallback"), runtime, profile=own)
    assert seen == [1, 1, 1] and len(result.judgements) == 3
    assert run(reranking(TALK, MANY[:3]), runtime, profile=own).ranking


class Relevance(BlockingRuntime):
    """A cross-encoder's answers: the logit is the number of words; remembers the requests."""

    profile = encoders_profile(["relevance"])

    def __init__(self):
        self.asked = []

    def handle(self, requests):
        self.asked += requests
        return [
            Scored(tuple((float(len(passage.split()) - 4),) for _, passage in request.pairs), ("yes",))
            for request in requests
        ]


def test_a_cross_encoder_of_ones_own_is_asked_once():
    together, alone = Relevance(), Relevance()
    found = judged(MANY, together).judgements
    assert [len(request.pairs) for request in together.asked] == [50]
    assert [j.score for j in found] == [judged([document], alone).judgements[0].score for document in MANY]
    assert [j.document_id for j in found] == [document["id"] for document in MANY]


class Reading(EmbeddedRuntime):
    """Keeps the pairs of texts that the cross-encoder is asked about."""

    def __init__(self) -> None:
        super().__init__()
        self.pairs: list[tuple[str, str]] = []

    def handle(self, requests):
        self.pairs += [pair for each in requests if isinstance(each, Score) for pair in each.pairs]
        return super().handle(requests)


def test_wider_parts_of_the_sources_are_read_only_where_they_can_change_the_label():
    text = f"{MILL} {'The quay is paved with granite and lined with old trees. ' * 6}"
    asked = [{"role": "user", "content": "What do you know of the mill?"}]
    widest = []
    for said in ("It ground flour until 1958.", "The mill is on a quay with trees."):
        runtime = Reading()
        run(hallucination_detection([*asked, {"role": "assistant", "content": said}], [text]), runtime)
        widest.append(max(len(source.split()) for source, _ in runtime.pairs))
    assert widest[0] < 60 < widest[1]


def titled(*documents):
    return [{"title": title, "text": text} for title, text in documents]


@pytest.mark.parametrize("question", ["How much is a day ticket?", "Which tickets cost 6 euros?"])
def test_a_question_about_no_title_leaves_all_sources_to_a_fact_check(question):
    documents = titled(("Prices 2022", "A day ticket costs 6 euros."), ("Prices 2024", "A day ticket costs 8 euros."))
    for answer in ("A day ticket costs 6 euros.", "A day ticket costs 8 euros."):
        told = [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
        assert run(fact_check(told, documents)).score > 0.7
