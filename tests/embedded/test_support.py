"""Support of sentences by sources, with the shipped encoder and head, on small texts of our own."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from importlib import resources

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intrinsics_core.calibration.probabilities import logit
from intrinsics_core.embedded.about import subjects
from intrinsics_core.embedded.evidence import FEATURES, READ_PART, Evidence, cite, look_up, to_read
from intrinsics_core.embedded.models.bi_encoder import BiEncoder
from intrinsics_core.embedded.short_answers import contrary, stated
from intrinsics_core.embedded.sources import READ_WHOLE, Sources
from intrinsics_core.embedded.support import (
    ResponseSupport,
    SupportHead,
    entailment,
    label_of,
    load_head,
    response_probability,
    support,
)
from intrinsics_core.embedded.view import read_answer
from intrinsics_core.protocol.errors import InvalidInput
from tests.drawing import drawn

TOWN = [
    "Marrow Bay is a harbour town on the north coast of Ostrel, with 14,200 inhabitants.",
    "Its lighthouse was built in 1871 by the engineer Ada Quill.",
    "The lighthouse stands 42 metres tall and was automated in 1989.",
    "Fishing for herring was the main trade until the 1960s.",
    "Today most visitors come for the regatta, which is held every June.",
    "The regatta draws about 1.5 million euros a year to local shops.",
]


def judge(
    encoder: BiEncoder,
    sentences: list[str],
    sources: list[str] = TOWN,
    given: str = "",
    head: SupportHead | None = None,
) -> ResponseSupport:
    return support(*looked_up(encoder, sentences, sources, given), head or load_head(), given=given)


def looked_up(
    encoder: BiEncoder, sentences: list[str], sources: list[str] = TOWN, given: str = ""
) -> tuple[list[Evidence], Sources]:
    ready = Sources(sources, encoder.encode(sources))
    return look_up(sentences, encoder.encode([stated(text, given) for text in sentences]), ready, given), ready


def probability(encoder: BiEncoder, sentence: str, sources: list[str] = TOWN) -> float:
    return judge(encoder, [sentence], sources).sentences[0].probability


@pytest.mark.parametrize("sentence", TOWN)
def test_a_verbatim_copy_is_faithful_and_cites_itself(encoder: BiEncoder, sentence: str) -> None:
    result = judge(encoder, [sentence])
    verdict = result.sentences[0]
    assert verdict.label == result.label == "faithful"
    assert verdict.probability > 0.75
    assert verdict.citations[0] == verdict.nearest == TOWN.index(sentence)
    assert verdict.missing == ()


def test_each_further_invention_lowers_support_further(encoder: BiEncoder) -> None:
    steps = ["", " by Tomas Brandt", " by Tomas Brandt and Lena Okoro", " by Tomas Brandt and Lena Okoro in 1650"]
    scores = [probability(encoder, f"The lighthouse was automated{step}.") for step in steps]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == len(scores)


def test_a_foreign_sentence_is_unfaithful_uncited_and_explained(encoder: BiEncoder) -> None:
    result = judge(encoder, [TOWN[0], "Saturn's rings consist of ice and were observed by Galileo in 1610."])
    verdict = result.sentences[1]
    assert verdict.label == "unfaithful" and verdict.citations == ()
    assert {"Galileo", "1610"} <= set(verdict.missing[:4])  # names and numbers come first
    assert "not in the passages kept" in verdict.explanation and "'1610'" in verdict.explanation
    assert "closest source sentence" in verdict.explanation
    assert result.label == "unfaithful"
    assert result.faithfulness < judge(encoder, [TOWN[0]]).faithfulness


def test_faithfulness_follows_the_weakest_sentences(encoder: BiEncoder) -> None:
    foreign = "Saturn's rings were observed by Galileo in 1610."
    many_good = judge(encoder, [*TOWN, foreign]).faithfulness
    all_good = judge(encoder, TOWN).faithfulness
    two_foreign = judge(encoder, [*TOWN, foreign, "Galileo also saw four moons of Jupiter from Padua."]).faithfulness
    assert two_foreign < many_good < all_good


def test_complementary_sentences_are_both_cited_and_repetitions_are_not(encoder: BiEncoder) -> None:
    sources = [*TOWN, "Ada Quill, the engineer, built its lighthouse in 1871."]
    both = judge(encoder, ["The lighthouse was built by Ada Quill and the regatta is held every June."], sources)
    cited = set(both.sentences[0].citations)
    assert 4 in cited and cited & {1, 6} and not {1, 6} <= cited


def test_a_higher_threshold_cites_less(encoder: BiEncoder) -> None:
    text = "The lighthouse was built by Ada Quill and the regatta is held every June."
    (evidence,), _ = looked_up(encoder, [text])
    rule = load_head().citations
    assert len(cite(evidence, rule)) >= 2
    assert len(cite(evidence, replace(rule, maximum=1))) == 1
    assert cite(evidence, replace(rule, threshold=1.01)) == ()


def test_words_of_the_question_need_no_source_but_names_and_numbers_do(encoder: BiEncoder) -> None:
    text = "Marrow Bay in Ostrel has the painted lighthouse that Zebedee bought in 1650."
    plain = judge(encoder, [text]).sentences[0]
    asked = judge(encoder, [text], given="Which painted lighthouse did Zebedee buy in 1650?").sentences[0]
    assert {"painted", "Zebedee", "1650"} <= set(plain.missing)
    assert "painted" not in asked.missing and {"Zebedee", "1650"} <= set(asked.missing)
    assert asked.probability > plain.probability


@pytest.mark.parametrize("claim", ["It stands on Marrow Bay.", "Zebedee bought it in 1650.", "It is open to visitors."])
def test_one_claim_and_its_response_have_one_score(encoder: BiEncoder, claim: str) -> None:
    for sentences in ([claim], ["Hello!", claim]):
        found = judge(encoder, sentences)
        assert (found.faithfulness, found.label) == (found.sentences[-1].probability, found.sentences[-1].label)


@given(
    claims=st.lists(st.floats(0.01, 0.99), min_size=1, max_size=8),
    novel=st.floats(0.0, 1.0),
    limits=st.tuples(st.floats(0.0, 1.0), st.floats(0.0, 1.0)).map(sorted),
)
@settings(derandomize=True)
def test_the_label_of_a_response_is_read_from_its_score_and_agrees_with_its_claims(
    claims: list[float], novel: float, limits: list[float]
) -> None:
    head = replace(load_head(), thresholds={"unfaithful": limits[0], "faithful": limits[1]})
    probability = response_probability(claims, [-logit(p) for p in claims], novel, head)
    labels, label = [label_of(p, head.thresholds) for p in claims], label_of(probability, head.thresholds)
    assert 0.0 <= probability <= 1.0
    if len(claims) == 1:
        assert probability == claims[0]
    assert label == "unfaithful" if "unfaithful" in labels else label != "unfaithful"


@pytest.mark.parametrize(
    "claim",
    [
        "The lighthouse was automated in 1989 within 90 days.",
        "Its lighthouse was built in 1871 by the engineer Tomas Quill.",
    ],
)
def test_a_label_never_contradicts_its_explanation(encoder: BiEncoder, claim: str) -> None:
    strict = replace(load_head(), thresholds={"faithful": 0.01, "unfaithful": 0.001})
    verdict = judge(encoder, [claim], head=strict).sentences[0]
    assert verdict.label != "faithful", verdict
    reasons = ("not in the passages kept: '", "not where the rest of it stands: '")
    assert any(reason in verdict.explanation for reason in reasons)


def test_a_bare_answer_is_judged_with_its_question(encoder: BiEncoder) -> None:
    question = "Was the lighthouse built by Ada Quill?"
    (verdict,) = judge(encoder, ["No."], given=question).sentences
    assert verdict.label not in ("faithful", "NA")  # nobody has read it
    for answer in ("No.", "Ja!", "是", "Neither."):
        assert judge(encoder, [answer]).sentences[0].label == "NA"
    assert stated("Ja!", question) == stated("是的。", question) == f"{question} Yes."
    assert stated("Na\u0303o.", question) == f"{question} No." and contrary("Na\u0303o.") == "Yes."
    assert stated("neither", question) == f"{question} neither" and contrary("neither") is None
    for words in ("Si.", "SIM", "Hai.", "No 5"):  # of English answers: silicon, a card, a shark, a number
        assert stated(words, question) == words and contrary(words) is None
    assert stated("No.", "  ") == "No."
    for answer in ("No.", "I don't know."):
        (found,), sources = looked_up(encoder, [answer], given=question)
        assert entailment(found, sources, load_head(), given=question) <= 0.5


def test_a_head_that_reads_believes_its_reader(encoder: BiEncoder) -> None:
    head = replace(load_head(), weights=(*load_head().weights, 0.0, 4.0, 4.0))
    found, sources = looked_up(encoder, TOWN[1:2])
    shown = [source for source, _ in to_read(TOWN[1], found[0], sources, head.citations)]
    # The sentence found, the same with its neighbours, and of a short text all of it.
    assert shown == list(dict.fromkeys([TOWN[1], " ".join(TOWN[:3]), " ".join(TOWN)]))
    sure, doubtful = (support(found, sources, head, logits=[logit]).sentences[0] for logit in (5.0, -5.0))
    assert sure.label == "faithful" and doubtful.label != "faithful"
    assert "but not what it makes of them" in doubtful.explanation


def test_of_long_sources_a_reader_is_shown_the_nearest_few_sentences(encoder: BiEncoder) -> None:
    filler = [f"In year {year} the harbour office counted boats, barges and rafts." for year in range(1950, 1970)]
    texts = [*filler[:10], *TOWN[1:3], *filler[10:]]
    (found,), sources = looked_up(encoder, TOWN[1:2], texts)
    shown = [source for source, _ in to_read(TOWN[1], found, sources, load_head().citations)]
    assert shown[0] == TOWN[1] and all(TOWN[1] in source for source in shown)
    assert sources.seen < 1 and 80 < len(shown[-1].split()) <= READ_PART < READ_WHOLE


@pytest.mark.parametrize(
    ("claim_", "read"),
    [
        ("The Garden Hotel has a pool.", [2, 3]),  # it is the Harbour Hotel that has one
        ("Guests of the Harbour Hotel pay nine euros for breakfast.", [0, 1]),
        ("Both hotels have a pool.", [0, 1, 2, 3]),
        ("The Harbour Hotel and the Garden Hotel have a pool.", [0, 1, 2, 3]),
    ],
)
def test_a_claim_that_names_one_title_is_read_beside_the_documents_about_it_alone(
    encoder: BiEncoder, claim_: str, read: list[int]
) -> None:
    texts = [
        "The pool is open until eight.",
        "Breakfast costs nine euros.",
        "Dogs sleep for free.",
        "It has ten rooms.",
    ]
    titles = ["Harbour Hotel", "Garden Hotel"]
    sources = Sources(texts, encoder.encode(texts), [0, 0, 1, 1], titles)
    (found,) = look_up([claim_], encoder.encode([claim_]), sources)
    widest, _ = to_read(claim_, found, sources, load_head().citations)[-1]
    assert [i for i, text in enumerate(texts) if text in widest] == read
    # Chunks of one document share its title; where all do, all are read.
    chunks = Sources(texts, encoder.encode(texts), [0, 1, 2, 3], ["Harbour Hotel"] * 2 + ["Garden Hotel"] * 2)
    (of_chunks,), (of_documents,) = subjects([claim_], chunks), subjects([claim_], sources)
    assert {chunks.titles[i] for i in of_chunks} == {titles[i] for i in of_documents}
    assert subjects([claim_], Sources(texts, encoder.encode(texts), [0, 0, 1, 1], titles[:1] * 2)) == [frozenset()]
    # What another document says of the named one is read, too: all of them here.
    texts[3] = "The Harbour Hotel is a mile away."
    named = Sources(texts, encoder.encode(texts), [0, 0, 1, 1], titles)
    assert subjects(["The Harbour Hotel has a pool."], named) == [frozenset()]


HOTELS = [
    {"title": "Harbour Hotel", "text": "Check-in is from 3 p.m. Breakfast costs 9 euros. There is a pool."},
    {"title": "Garden Hotel", "text": "Check-in is from 2 p.m. Breakfast is free. There is a sauna."},
]


@pytest.mark.parametrize(
    ("answer", "about"),
    [
        (["It has a pool."], [0]),  # as the question says
        (["The Garden Hotel has a sauna.", "It is open daily.", "The pool is closed."], [1, 1, 1]),
        (["The Garden Hotel is cheaper than the Harbour Hotel.", "It has a sauna."], [None, 1]),
        (["The Garden Hotel is near the Harbour Hotel.", "The latter has a pool."], [None, 0]),
        (["## Garden Hotel", "**Details**", "- a sauna", "## Prices", "- breakfast: 9 euros"], [1, 1, 1, 0, 0]),
    ],
)
def test_what_a_sentence_is_about(encoder: BiEncoder, answer: list[str], about: list[int | None]) -> None:
    texts = [document["text"] for document in HOTELS]
    sources = Sources(texts, encoder.encode(texts), [0, 1], [document["title"] for document in HOTELS])
    found = subjects(read_answer(answer), sources, "What does the Harbour Hotel have?")
    assert found == [frozenset() if i is None else {i} for i in about]


def test_no_sources_support_nothing_and_no_sentences_claim_nothing(encoder: BiEncoder) -> None:
    bare = judge(encoder, TOWN[:1], [])
    assert (bare.faithfulness, bare.label, bare.sentences[0].label) == (0.0, "unfaithful", "unfaithful")
    assert bare.sentences[0].source_scores == () and bare.sentences[0].nearest is None
    empty = judge(encoder, [])
    assert (empty.sentences, empty.faithfulness, empty.label) == ((), 1.0, "NA")
    (found,), none = looked_up(encoder, ["x"], [])
    assert entailment(found, none, load_head()) == 0.0
    blank = judge(encoder, [TOWN[1]], ["", "  ", "🎉"])
    assert blank.sentences[0].label == "unfaithful" and blank.sentences[0].citations == ()


def test_entailment_prefers_the_source_that_says_it(encoder: BiEncoder) -> None:
    text = "The answer to the question When was the lighthouse built is 1871"
    asked = [(text, [source]) for source in TOWN] + [(text.replace("1871", "1789"), TOWN[:3])]
    looked = (looked_up(encoder, [said], sources) for said, sources in asked)
    *scores, wrong = (entailment(found, sources, load_head()) for (found,), sources in looked)
    assert int(np.argmax(scores)) == 1 and scores[1] > max(wrong, scores[3] + 0.2)


def test_documents_bound_passages() -> None:
    vectors = [row[None] for row in np.eye(4, dtype=np.float32)]
    three = np.array([[0, 1, 1, 1]], dtype=np.float32) / np.sqrt(3)
    assert Sources(TOWN[:4], vectors).nearest([three])[1] == pytest.approx([1.0])
    assert Sources(TOWN[:4], vectors, [0, 0, 1, 1]).nearest([three])[1] == pytest.approx([3 / np.sqrt(15)])


def test_several_windows_count_by_the_nearest(encoder: BiEncoder) -> None:
    near, far = encoder.encode([TOWN[1], "Saturn has rings."])
    joined = [np.concatenate([far, near]), far]
    (cosines,), _ = Sources(["long text", "other"], joined).nearest([near])
    assert cosines[0] == pytest.approx(1.0, abs=1e-5) and cosines[1] < 0.5


@settings(max_examples=drawn(150))
@given(st.lists(st.text(max_size=60), max_size=4), st.lists(st.text(max_size=60), max_size=5), st.integers(0, 9))
def test_any_text_gives_numbers_in_range(sentences: list[str], sources: list[str], seed: int) -> None:
    random = np.random.default_rng(seed)

    def vectors(texts: list[str]) -> list[np.ndarray]:
        rows = [random.normal(size=(random.integers(1, 3), 8)).astype(np.float32) for _ in texts]
        return [r / np.linalg.norm(r, axis=1, keepdims=True) for r in rows]

    found, ready = vectors(sentences), Sources(sources, vectors(sources))
    result = support(look_up(sentences, found, ready), ready, load_head())
    assert 0.0 <= result.faithfulness <= 1.0
    for verdict in result.sentences:
        assert 0.0 <= verdict.probability <= 1.0
        assert len(verdict.source_scores) == len(sources)
        assert len(set(verdict.citations)) == len(verdict.citations)
        assert all(0 <= i < len(sources) for i in verdict.citations)
        assert verdict.explanation


def test_evidence_is_in_range(encoder: BiEncoder) -> None:
    for text in [*TOWN, "Saturn has rings.", "", "x" * 5000, "Ada " * 3000, "1 2 3 4 5", "ß Ÿ İ ﬁ", "\x00\r\n\t"]:
        measured = dict(zip(FEATURES, looked_up(encoder, [text])[0][0].features, strict=True))
        assert all(0 <= value <= 1 for value in measured.values()), measured


def test_work_grows_with_the_texts_and_not_with_their_product() -> None:
    """Counted in calls of functions: a clock would tell how busy the machine is."""
    words = "harbour town coast engineer tower tall automatic herring trade visitor regatta shop euro north".split()  # noqa: SIM905
    random = np.random.default_rng(0)

    def texts(count: int, offset: int) -> list[str]:
        return [" ".join(random.choice(words, 20)) + f" number {i + offset} Name{i}." for i in range(count)]

    def vectors(count: int) -> list[np.ndarray]:
        rows = random.normal(size=(count, 1, 384)).astype(np.float32)
        return list(rows / np.linalg.norm(rows, axis=2, keepdims=True))

    def calls(sentences: int, sources: int, offset: int) -> int:
        count = 0

        def note(_frame: object, event: str, _argument: object) -> None:
            nonlocal count
            count += event in ("call", "c_call")

        given = texts(sentences, offset), vectors(sentences), texts(sources, offset + 5000), vectors(sources)
        sys.setprofile(note)
        try:
            ready = Sources(given[2], given[3])
            support(look_up(given[0], given[1], ready), ready, load_head())
        finally:
            sys.setprofile(None)
        return count

    calls(10, 10, 0)  # what is loaded once
    base = calls(40, 80, 10_000)
    assert calls(80, 80, 20_000) + calls(40, 160, 30_000) < 3.3 * base  # 4 where each is paired with each
    assert calls(80, 160, 40_000) < 2.2 * base


def test_the_shipped_heads_are_sound() -> None:
    for head in (load_head(), load_head(reads=True)):
        assert min(head.weights) >= 0.0
        assert 0.0 < head.thresholds["unfaithful"] < head.thresholds["faithful"] < 1.0
    assert head.reads and not load_head().reads


@pytest.mark.parametrize("change", [{"features": ["novel"]}, {"weights": [1.0]}])
def test_a_head_of_other_features_is_refused(change: dict[str, object]) -> None:
    shipped = json.loads((resources.files("intrinsics_core") / "data/heads/support.json").read_text("utf-8"))
    with pytest.raises(InvalidInput, match="fitted on other features"):
        SupportHead.from_json(shipped | change)


def test_mismatched_vectors_are_refused(encoder: BiEncoder) -> None:
    vectors = encoder.encode(TOWN)
    with pytest.raises(InvalidInput, match="6 sentences but 5 vectors"):
        Sources(TOWN, vectors[:5])
    with pytest.raises(InvalidInput, match="2 sentences but 1 vectors"):
        look_up(TOWN[:2], vectors[:1], Sources(TOWN, vectors))
    with pytest.raises(InvalidInput, match="document indices"):
        Sources(TOWN, vectors, [0])
    with pytest.raises(InvalidInput, match="sentence 1 has no vector"):
        Sources(TOWN[:2], [vectors[0], vectors[1][:0]])
    with pytest.raises(InvalidInput, match="differ in length"):
        look_up(TOWN[:1], [vectors[0][:, :100]], Sources(TOWN, vectors))


def test_a_doubt_weighs_less_where_most_was_not_read(encoder: BiEncoder) -> None:
    rooms = [f"Room {i} is let to a tenant who pays on the {i}th of each month." for i in range(1, 28)]
    chances = []
    for texts in (TOWN, [*TOWN, *rooms]):
        found, sources = looked_up(encoder, TOWN[1:2], texts)
        assert (found[0].seen == 1.0) == (texts is TOWN)
        judged = (support(found, sources, load_head(reads=True), logits=[z]) for z in (5.0, -5.0))
        sure, doubtful = (each.sentences[0].probability for each in judged)
        chances.append(sure - doubtful)
    assert chances[0] > chances[1] > 0.05
