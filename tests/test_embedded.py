"""The embedded default through the public API: the shipped encoder and heads, on our own small text."""

import pickle
import random
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from intrinsics_core import (
    INTRINSICS,
    InvalidInput,
    UnsupportedIntrinsic,
    answerability,
    as_runtime,
    audit,
    calibrate,
    citations,
    context_relevance,
    fact_check,
    hallucination_detection,
    query_expansion,
    query_rewrite,
    reranking,
    run,
    run_many,
    uncertainty,
)
from intrinsics_core.embedded.support import label_of, load_head
from intrinsics_core.intrinsics import TABLE
from tests.tide_mill import ASKED as ASK
from tests.tide_mill import answered

MILL = "The tide mill at Port Ellery was built in 1911 by the engineer Ada Brink. It ground flour until 1958."
FERRY = "The ferry to the mainland takes forty minutes. In winter it takes seventy-five."
PUFFINS = "Some nine hundred pairs of puffins nest on the north cliffs of the island."
DOCUMENTS = [{"id": "puffins", "text": PUFFINS}, {"id": "ferry", "text": FERRY}, {"id": "mill", "text": MILL}]
NEED_ANSWER = tuple(name for name, record in TABLE.items() if record.ends_with == ("assistant",))
SERVED = sorted(name for name, record in TABLE.items() if not record.needs_model)
TRUE = "The tide mill was built by the engineer Ada Brink in 1911."
FALSE = "It was painted gold by forty Norwegian sailors in 2003."


def asked(question):
    return [{"role": "user", "content": question}]


def test_ranks_the_passage_that_answers_first():
    result = run(reranking(ASK, DOCUMENTS))
    assert result.ranking[0].document_id == "mill"
    backwards = run(reranking(ASK, DOCUMENTS[::-1]))
    assert {(r.document_id, r.score) for r in backwards.ranking} == {(r.document_id, r.score) for r in result.ranking}


GIBBERISH = "xqzt wvvk plorf gnarsk bzzt ooquix"


@pytest.mark.parametrize(("score", "prior"), [(None, "auto"), (3.0, None)])
def test_a_score_is_absolute(score, prior):
    """The same document has the same score alone and in any list, wherever it stands."""
    given = [*DOCUMENTS, {"id": "noise", "text": GIBBERISH}, {"id": "empty", "text": ""}]
    given = [d | {"score": score and score + i} for i, d in enumerate(given)]
    forgetful = as_runtime({"kind": "embedded"})  # another than the one below, which would remember what it read
    alone = {d["id"]: run(reranking(ASK, [d]), forgetful).ranking[0].score for d in given}
    rng = random.Random(5)
    for _ in range(8):
        some = rng.sample(given, rng.randrange(1, len(given) + 1)) + rng.choices(given, k=rng.randrange(3))
        for ranked in run(reranking(ASK, some, prior=prior)).ranking:
            assert ranked.score == pytest.approx(alone[ranked.document_id], abs=1e-6)
    assert alone["mill"] > 0.5 > 0.2 > max(alone["noise"], alone["empty"], alone["puffins"])
    assert [r.score for r in run(reranking(ASK, [given[3]] * 3, prior=prior)).ranking] == pytest.approx(
        [alone["noise"]] * 3
    )


def test_a_ranking_scores_as_context_relevance_does():
    judged = {j.document_id: j.score for j in run(context_relevance(ASK, DOCUMENTS)).judgements}
    ranked = {r.document_id: r.score for r in run(reranking(ASK, DOCUMENTS)).ranking}
    assert ranked == pytest.approx(judged, abs=1e-6)


def test_a_retrievers_scores_move_the_probability_that_the_ranking_is_sorted_by():
    twins = [{"id": "a", "text": MILL, "score": 9.0}, {"id": "b", "text": MILL, "score": 1.0}]
    alone = run(reranking(ASK, twins[:1])).ranking[0].score
    first, second = run(reranking(ASK, twins)).ranking
    assert (first.document_id, first.score > alone > second.score) == ("a", True)
    first, second = run(reranking(ASK, twins[::-1])).ranking  # rising: distances
    assert (first.document_id, first.score > alone > second.score) == ("b", True)


def test_gates():
    assert run(answerability(ASK, DOCUMENTS)).label == "answerable"
    unanswerable = run(answerability(asked("What is the capital of Mongolia?"), DOCUMENTS))
    assert unanswerable.label == "unanswerable"
    assert unanswerable.probability < 0.5
    labels = {j.document_id: j.label for j in run(context_relevance(ASK, DOCUMENTS)).judgements}
    assert (labels["mill"], labels["puffins"]) == ("relevant", "irrelevant")


def test_flags_what_the_sources_do_not_say():
    text = f"{TRUE} {FALSE}"
    result = run(hallucination_detection(answered(text), DOCUMENTS))
    true, false = result.sentences
    assert (true.label, false.label) == ("faithful", "unfaithful")
    assert true.score > 0.5 > false.score
    assert text[false.begin : false.end] == false.text == FALSE
    assert "Norwegian" in false.explanation
    assert result.score < run(hallucination_detection(answered(TRUE), DOCUMENTS)).score


def judged(question, text):
    return run(hallucination_detection([*asked(question), {"role": "assistant", "content": text}], DOCUMENTS))


@pytest.mark.parametrize(
    "premise", ["Napoleon Bonaparte in 1805", "napoleon bonaparte in 1805", "the engineer Ada Brink in 1805"]
)
def test_a_premise_is_not_supported_because_it_was_asked(premise):
    text = f"The tide mill was built by {premise}."
    echoed, plain = judged(f"Was the tide mill built by {premise}?", text), judged("Who built the tide mill?", text)
    assert echoed.label != "faithful"
    assert "1805" in echoed.sentences[0].explanation
    assert echoed.score <= plain.score + 0.08  # read alone, and behind its question
    assert echoed.score == pytest.approx(plain.score, abs=0.1)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        (TRUE, "faithful"),
        ("Sure! Let me know if you need more.", "NA"),
        (f"{TRUE} {FALSE}", "unfaithful"),
        (f"{MILL} The mill was built in 1911. Ada Brink built the mill. {FERRY} {PUFFINS} {FALSE}", "unfaithful"),
    ],
)
def test_the_label_of_a_response_goes_with_its_sentences(text, label):
    found = judged("Did the mill burn down?", text)
    claims = {s.label for s in found.sentences} - {"NA"}
    assert found.label == label
    assert label in claims or not claims


def test_ones_own_calibration_decides_what_is_faithful():
    from intrinsics_core.calibration.fitting import calibrate as fit

    doubtful = hallucination_detection(
        [*asked("Did the mill burn down?"), {"role": "assistant", "content": "Yes, the mill burned down."}], DOCUMENTS
    )
    score = run(doubtful).score
    labels = [i % 2 == 1 for i in range(12)]
    for centre, enough in ((score - 0.2, True), (score + 0.2, False)):
        fitted = fit([centre + 0.1 * (1 if y else -1) for y in labels], labels)
        runtime = as_runtime({"kind": "embedded", "calibrations": {"hallucination-detection": fitted}})
        own = run(doubtful, runtime)
        assert (own.label == "faithful") == (own.score >= fitted.threshold) == enough
        assert [(s.label, s.score) for s in own.sentences] == [(own.label, own.score)]  # it makes one claim


def test_a_dialogue_is_rewritten_once_for_all_its_documents(monkeypatch):
    from intrinsics_core.embedded.rewrite import standing_alone

    seen = []
    real = standing_alone.choice
    monkeypatch.setattr(standing_alone, "choice", lambda turns: seen.append(turns) or real(turns))
    before = {"role": "assistant", "content": "A tide mill of another island altogether."}  # no other test says this
    dialogue = [*asked("Which mill is older?"), before, *asked("Who built it?")]
    run(context_relevance(dialogue, DOCUMENTS))
    run(fact_check([*dialogue, {"role": "assistant", "content": TRUE}], DOCUMENTS))
    assert len(seen) == 1


def test_cites_the_source_and_nothing_for_an_invention():
    (citation,) = run(citations(answered(f"{TRUE} {FALSE}"), DOCUMENTS)).citations
    assert citation.response_text == TRUE
    assert citation.document_id == "mill"
    assert MILL[citation.document_begin : citation.document_end] == citation.document_text
    assert "Ada Brink" in citation.document_text


def test_facts_and_certainty_go_with_the_sources():
    true, false = (run(fact_check(answered(text), DOCUMENTS)) for text in (TRUE, FALSE))
    assert true.score > false.score
    assert [s.document_id for s in true.sources] == ["puffins", "ferry", "mill"]
    assert sum(s.weight for s in true.sources) == pytest.approx(1)
    assert max(true.sources, key=lambda s: s.weight).document_id == "mill"
    right, wrong = (run(uncertainty(answered(text), DOCUMENTS)) for text in (TRUE, FALSE))
    assert right.certainty > wrong.certainty
    assert round(right.certainty * 100) % 10 == 5
    blind = run(uncertainty(ASK))
    assert (blind.expected, blind.certainty, blind.degraded) == (0.5, 0.55, None)


@pytest.mark.parametrize(
    "text", ["The documents do not say.", "I don't know.", "Which do you mean?", "\N{THUMBS UP SIGN}"]
)
def test_what_claims_nothing_is_uncertain_where_the_documents_answer(text):
    def sure(question):
        return run(uncertainty([*asked(question), {"role": "assistant", "content": text}], DOCUMENTS)).certainty

    assert sure(ASK[0]["content"]) < 0.35
    assert sure("Who is the mayor of Lisbon?") >= 0.75


def test_certainty_reads_the_question_as_it_stands_alone():
    lido = [
        "The lido is open from 9 a.m. to 8 p.m. from May to September. A day ticket costs 6 euros for adults and 3 "
        "euros for children under 14. The water slide is closed on Mondays. Lockers need a 2 euro coin."
    ]
    turns = [*asked("What is the lido?"), {"role": "assistant", "content": "A public bath."}]
    turns += asked("When does it open?")
    right, wrong = ([*turns, {"role": "assistant", "content": text}] for text in ("At 9 a.m.", "At 7 a.m."))
    assert run(uncertainty(right, lido)).certainty > run(uncertainty(wrong, lido)).certainty
    assert not any("uncertain" in words for words in run(audit(right, lido)).disagreements)


def test_rewrites_and_expands():
    history = [*ASK, {"role": "assistant", "content": MILL}]
    result = run(query_rewrite([*history, *asked("When did it stop grinding flour?")]))
    assert result.changed
    assert "mill" in result.query.lower()
    alone = run(query_rewrite(ASK))
    assert (alone.query, alone.changed) == (ASK[0]["content"], False)
    queries = run(query_expansion([*history, *asked("When did it stop grinding flour?")])).queries
    assert queries[0].text == "When did it stop grinding flour?"
    assert len({q.text.casefold() for q in queries}) == len(queries) > 1


@pytest.mark.parametrize("name", SERVED)
@pytest.mark.parametrize(
    "text",
    ["", " \n", "😀", "灯塔在海边。它很高。", "<c3> <|end_of_text|>", "word " * 300, "\u0000\ud83d",
     pytest.param("word " * 3000, marks=pytest.mark.slow)],
)  # fmt: skip
def test_any_text_will_do(name, text):
    # A blank last turn is an error of its own; blank documents are not.
    messages = answered(text if text.strip() else ".") if name in NEED_ANSWER else ASK
    assert run(INTRINSICS[name](messages, [text, f"{text}!"])).model_dump()


def test_one_wave_serves_many_rows():
    calls = [answerability(asked(f"Who built mill number {i}?"), DOCUMENTS) for i in range(20)]
    assert run_many(calls) == [run(call) for call in calls]


def test_thresholds_are_the_callers():
    high = {"kind": "embedded", "thresholds": {"answerability": {"answerable": 1.0}}}
    assert run(answerability(ASK, DOCUMENTS), high).label == "unanswerable"
    assert run(answerability(ASK, DOCUMENTS), high).probability == run(answerability(ASK, DOCUMENTS)).probability
    strict = {"kind": "embedded", "thresholds": {"hallucination-detection": {"faithful": 1.0}}}
    assert run(hallucination_detection(answered(TRUE), DOCUMENTS), strict).label == "partial"
    for wrong, told in [
        ({"tastiness": {"x": 1}}, "tastiness"),
        ({"answerability": {"x": 1}}, "'x'"),
        ({"answerability": {"answerable": 2}}, "2"),
    ]:
        with pytest.raises(InvalidInput, match=told):
            as_runtime({"kind": "embedded", "thresholds": wrong})


REPEATED = "The ferry to the mainland takes forty minutes."


@pytest.mark.parametrize("said", [REPEATED, f"{REPEATED} Saturn painted it gold in 1812.", TRUE, "It was Otto Lang."])
@pytest.mark.parametrize("reader", [{}, {"reader": False}], ids=["reader", "no reader"])
def test_a_threshold_moves_labels_and_no_score(said: str, reader: dict[str, bool]):
    found = []
    for limits in ({}, {"faithful": 0.5, "unfaithful": 0.05}, {"faithful": 0.96}, {"faithful": 1.0, "unfaithful": 0.9}):
        runtime = {"kind": "embedded", "thresholds": {"hallucination-detection": limits}, **reader}
        found.append(run(hallucination_detection(answered(said), DOCUMENTS), runtime))
    assert len({(one.score, *(row.score for row in one.sentences)) for one in found}) == 1


def test_the_label_of_an_answer_is_read_from_its_score():
    answers = [TRUE, "Ada Brink painted it gold.", f"{TRUE} Saturn's rings consist of ice.", "Hello! " + TRUE]
    for answer in answers:
        found = run(hallucination_detection(answered(answer), DOCUMENTS))
        claims = [row for row in found.sentences if row.score is not None]
        if len(claims) == 1:
            assert (claims[0].score, claims[0].label) == (found.score, found.label)
        assert found.label == label_of(found.score, load_head(reads=True).thresholds)
        assert (found.label == "unfaithful") == ("unfaithful" in {row.label for row in claims})


QUESTIONS = [
    ("Who built the tide mill at Port Ellery?", True), ("When was the tide mill built?", True),
    ("How long does the ferry to the mainland take?", True), ("How many pairs of puffins nest there?", True),
    ("Until when did the mill grind flour?", True), ("How long does the ferry take in winter?", True),
    ("Who won the chess championship of 1972?", False), ("What is the boiling point of mercury?", False),
    ("How much does a puffin weigh?", False), ("What is the name of the ferry captain's dog?", False),
    ("Where was Ada Brink's mother born?", False), ("Which stocks should I buy?", False),
]  # fmt: skip


def test_calibrate_on_ones_own_examples(tmp_path):
    examples = [{"messages": asked(q), "documents": DOCUMENTS, "label": label} for q, label in QUESTIONS]
    file = tmp_path / "answerability.json"
    fitted = calibrate("answerability", examples, path=file)
    assert fitted.examples == 12
    assert fitted.after.auroc == fitted.before.auroc > 0.7
    runtime = as_runtime({"kind": "embedded", "calibrations": {"answerability": str(file)}})
    for example in examples:
        raw = run(answerability(example["messages"], DOCUMENTS))
        own = run(answerability(example["messages"], DOCUMENTS), runtime)
        assert own.probability == pytest.approx(fitted.apply(raw.probability))
        assert own.answerable == (own.probability >= fitted.threshold)
    with pytest.raises(InvalidInput, match="already"):
        calibrate("answerability", examples, runtime)
    with pytest.raises(InvalidInput, match=r"examples\[1\].label"):
        calibrate("answerability", [examples[0], examples[1] | {"label": "maybe"}])
    with pytest.raises(InvalidInput, match=r"examples\[0\]"):
        calibrate("answerability", [{"messages": ASK}])
    with pytest.raises(InvalidInput, match="reranking"):
        calibrate("reranking", examples)
    with pytest.raises(InvalidInput, match="nowhere"):
        as_runtime({"kind": "embedded", "calibrations": {"answerability": str(tmp_path / "nowhere.json")}})


def test_a_folder_without_a_model_is_told_at_once(tmp_path):
    with pytest.raises(InvalidInput, match=r"model\.onnx"):
        as_runtime({"kind": "embedded", "path": str(tmp_path)})


def test_first_callers_share_one_encoder(monkeypatch):
    from intrinsics_core.embedded.models import bi_encoder as encoder

    class Slow(encoder.BiEncoder):
        def __init__(self, **arguments):
            time.sleep(0.05)
            super().__init__(**arguments)

    monkeypatch.setattr(encoder, "BiEncoder", Slow)
    runtime = as_runtime({"kind": "embedded"})
    with ThreadPoolExecutor(8) as pool:
        assert len({id(found) for found in pool.map(lambda _: runtime.encoder, range(8))}) == 1


def test_warming_up_leaves_nothing_to_load():
    probe = """
import builtins, io, pathlib
from intrinsics_core import as_runtime, citations, context_relevance, query_rewrite, run
runtime = as_runtime({"kind": "embedded"})
runtime.warm_up()
opened, real = [], io.open
io.open = builtins.open = lambda file, *a, **k: opened.append(str(file)) or real(file, *a, **k)
ask = [{"role": "user", "content": "Who built the mill?"}, {"role": "assistant", "content": "Ada Brink built it."}]
run(citations(ask, ["Ada Brink built the mill. It ground flour."]), runtime)
run(context_relevance([*ask, {"role": "user", "content": "When?"}], ["It was built in 1911."]), runtime)
run(query_rewrite([*ask, {"role": "user", "content": "When did she build it?"}]), runtime)
print([file for file in opened if not file.endswith((".py", ".pyc"))])
"""
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_it_crosses_processes_and_a_chat_profile_does_not_fit_it():
    runtime = pickle.loads(pickle.dumps(as_runtime({"kind": "embedded", "threads": 1})))  # noqa: S301
    assert run(reranking(ASK, DOCUMENTS), runtime) == run(reranking(ASK, DOCUMENTS))
    with pytest.raises(UnsupportedIntrinsic, match="embedded"):
        run(answerability(ASK, DOCUMENTS), runtime, profile="prompted")
