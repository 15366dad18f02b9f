"""The papers' tables on a small folder of our own: what is counted, against what, and how sure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from intrinsics_core.bench import NAMES, intervals, measures, table
from intrinsics_core.bench.base import Observed
from intrinsics_core.bench.citations_table import against, alce
from intrinsics_core.bench.folder import some
from intrinsics_core.bench.intervals import difference, interval, mean_of, pooled
from intrinsics_core.bench.judges import idk, rad_bench, ragas_faithfulness
from intrinsics_core.bench.plain import best_coverage, coverage, nearest_sentence
from intrinsics_core.bench.reporting import Report, markdown, report
from intrinsics_core.bench.running import Seen, cases_of, run_cases, seen
from intrinsics_core.calibration.fitting import quality, reliability
from intrinsics_core.profiles.asking import data_of
from intrinsics_core.protocol.errors import ContextTooLong, InvalidInput, MalformedReply
from intrinsics_core.running.execution import run
from intrinsics_core.runtimes import as_runtime
from intrinsics_core.runtimes.scripted import Scripted
from tests.bench.data_folder import write_folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_folder(tmp_path_factory.mktemp("data"))


def filled(name: str, data: Path, runtime: Any = None, **chosen: Any) -> Report:
    """A table on the embedded default, or on another runtime."""
    cases, missing = cases_of(table(name), data, **chosen)
    kept: dict[int, Any] = {}
    engine = as_runtime(runtime)
    run_cases(cases, engine, lambda number, row, failed: kept.update({number: json.loads(json.dumps(row))}))
    found = seen(kept[i] for i in range(len(cases)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intervals, "RESAMPLES", 50)  # how wide an interval is, is of no interest here
        return report(table(name), cases, found, runtime="this", profile=engine.profile.name, missing=missing)


def value(found: Report, set_: str, measure: str, of: str | None = None) -> float:
    (line,) = [line for line in found.lines if (line.set, line.measure) == (set_, measure)]
    return line.baselines[of].value if of else line.ours.value


@pytest.mark.parametrize("name", NAMES)
def test_every_table_can_be_filled_on_the_embedded_default(name: str, folder: Path) -> None:
    found = filled(name, folder)
    assert found.lines
    assert all("UnsupportedIntrinsic" in error for error in found.errors.values())  # two answers: a language model
    for line in found.lines:
        assert line.failed == 0 < line.n, line
        low, high = line.ours.low, line.ours.high
        assert (low is None) == (high is None)
        assert low is None or high is None or low <= high
    text = markdown(found)
    assert text.startswith(f"## {name} (this, profile embedded)\n")
    assert all(f"| {line.set} | {line.measure} |" in text for line in found.lines)


def test_sets_that_are_not_there_are_named_and_the_others_filled(folder: Path) -> None:
    found = filled("answerability", folder)
    assert {line.set for line in found.lines} == {"everyday", "mtrag-elser"}
    assert set(found.missing) == {"squad2", "clapnq", "cast", "mtrag-bm25"} - {"mtrag-bm25"}
    assert "squad2_dev_b.jsonl.gz" in found.missing["squad2"]
    with pytest.raises(InvalidInput, match="squad2_dev_b"):
        cases_of(table("answerability"), folder, sets=["squad2"])


def test_a_plain_answer_and_an_invented_one_are_told_apart(folder: Path) -> None:
    found = filled("hallucination-detection", folder)
    assert value(found, "everyday", "AUROC") == 1.0
    assert value(found, "everyday", "AUROC", "word coverage") == 1.0
    assert value(found, "everyday", "recall", "all flagged") == 1.0
    assert value(found, "lfqa", "AUROC, by sentence") == 1.0


def test_what_retrieval_gains_is_counted_by_set(folder: Path) -> None:
    found = filled("query-rewrite", folder)
    assert value(found, "mtrag, standalone", "Recall@5") == 1.0
    assert value(found, "mtrag, not standalone", "Recall@5", "Mixtral (recorded)") == 1.0


def test_a_list_that_holds_no_gold_passage_is_worth_nothing(folder: Path) -> None:
    found = filled("reranking", folder)
    # One list of two has the gold passage at its second place: nDCG 1 / log2(3) as retrieved, and the other none.
    assert value(found, "mtrag-elser", "nDCG@10", "as retrieved") == pytest.approx(0.6309 / 2, abs=1e-4)
    assert value(found, "mtrag-elser", "nDCG@10") == 0.5


def test_flows_abstain_where_nothing_was_found(folder: Path) -> None:
    found = filled("flows", folder)
    assert value(found, "none", "answered") == 1.0
    assert 0.0 <= value(found, "QR+AD", "JAFS") <= 1.0
    assert set(found.cost) == {"none", "QR", "AD", "QR+AD"}


def test_a_language_model_answers_and_what_it_costs_is_told(folder: Path) -> None:
    replies = [{"answerability": "answerable", "confidence": 0.9}] * 4
    found = filled("answerability", folder, Scripted(replies), sets=["everyday"], limit=4)
    assert value(found, "everyday", "F1 answerable") > 0.8
    assert found.cost["everyday"] == {"requests": 1.0, "prompt_tokens": 10.0, "completion_tokens": 2.0}


def test_a_case_that_fails_is_counted_and_costs_no_other(folder: Path) -> None:
    replies: list[Any] = [
        ContextTooLong("far too long"),
        *[{"answerability": "answerable", "confidence": 1}] * 4,
    ]
    found = filled("answerability", folder, Scripted(replies), sets=["everyday"])
    assert {(line.n, line.failed) for line in found.lines} == {(4, 1)}
    assert "far too long" in found.errors["everyday"]
    assert "- first error of everyday: " in markdown(found)


def test_two_runtimes_are_compared_on_the_cases_that_both_ended(folder: Path) -> None:
    cases, _ = cases_of(table("answerability"), folder, sets=["everyday"])
    right = [Seen(Observed(labelled={"question": [(t, t, float(t))]})) for t in (True, True, False, True, True)]
    wrong = [Seen(Observed(labelled={"question": [(t, not t, 0.5)]})) for t in (True, True, False, True, True)]
    found = report(table("answerability"), cases, right, runtime="a", profile="p",
                   other=("b", [*wrong[:4], Seen(None, "error: gone")]))  # fmt: skip
    by = {line.measure: line for line in found.lines}
    assert by["AUROC"].difference is not None and by["AUROC"].difference.value == 0.5
    assert by["weighted F1"].difference is not None and by["weighted F1"].difference.value == 1.0
    assert "| b | difference |" in markdown(found)


OWN = [
    {"frage": "Who built the mill?", "documents": ["Ada Brink built the mill."], "ok": "answerable"},
    {"frage": "Who sank the submarine?", "documents": ["Ada Brink built the mill."], "ok": "unanswerable"},
    {"frage": "Who owns it?", "documents": [], "ok": False},
]


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text("\n".join(map(json.dumps, OWN)), encoding="utf-8")
    found = filled("answerability", file, columns={"question": "frage", "label": "ok"})
    assert value(found, "own", "AUROC") == 1.0
    with pytest.raises(InvalidInput, match=r"mine\.jsonl, row 1: the row has no 'label'.*'ok'"):
        cases_of(table("answerability"), file)
    file.write_text('{"frage": "?", "documents": ["x"], "ok": "perhaps"}', encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"row 1: label is not a known label.*'perhaps'"):
        cases_of(table("answerability"), file, columns={"question": "frage", "label": "ok"})
    with pytest.raises(InvalidInput, match="query-rewrite cannot read a single file"):
        cases_of(table("query-rewrite"), file)


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("context-relevance", {"question": "Who?", "documents": "It was Ada.", "label": "relevant"}),
        ("reranking", {"question": "Who?", "documents": ["Fog.", "It was Ada."], "relevant": [1]}),
        ("uncertainty", {"question": "Who?", "answer": "Ada.", "label": "right"}),
        ("hallucination-detection", {"answer": "It was Ada.", "documents": ["It was Ada."], "label": 1}),
        ("fact-check", {"answer": "It was Ada.", "documents": [{"text": "It was Ada."}], "label": "supported"}),
    ],
)
def test_rows_of_ones_own_for_other_tables(name: str, row: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text(json.dumps(row), encoding="utf-8")
    found = filled(name, file)
    assert not found.errors and {line.n for line in found.lines} <= {1}


def test_what_is_wrong_with_a_data_file_is_told_by_its_line(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"no such table .*did you mean 'query-rewrite'"):
        table("rewrite")
    with pytest.raises(InvalidInput, match="no data folder"):
        cases_of(table("answerability"), tmp_path / "nowhere")
    with pytest.raises(InvalidInput, match="no data for the table answerability: the file"):
        cases_of(table("answerability"), tmp_path)
    with pytest.raises(InvalidInput, match="has no set 'x'"):
        cases_of(table("answerability"), tmp_path, sets=["x"])
    (tmp_path / "squad2_dev_b.jsonl").write_text('{"context": "a"}\n\n[1]\n', encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"squad2_dev_b.jsonl, line 3: this is not a JSON object"):
        cases_of(table("answerability"), tmp_path)


def test_measures_by_hand() -> None:
    rows = [(True, True, 0.9), (True, False, 0.4), (False, True, 0.6), (False, False, 0.1)]
    assert measures.auroc(rows) == 0.75
    assert measures.f1(True)(rows) == measures.precision(True)(rows) == measures.recall(True)(rows) == 0.5
    assert measures.weighted_f1(rows) == 0.5
    assert measures.mae(rows) == pytest.approx((0.1 + 0.6 + 0.6 + 0.1) / 4)
    assert measures.ece(rows) == pytest.approx((0.1 + 0.6 + 0.6 + 0.1) / 4)
    assert measures.brier_skill(rows) == pytest.approx(1 - (0.01 + 0.36 + 0.36 + 0.01) / 4 / 0.25)
    assert measures.risk_coverage(rows) == pytest.approx((0 + 1 / 2 + 1 / 3 + 2 / 4) / 4)
    assert measures.auroc(rows[:2]) is None and measures.ece([(True, True, None)]) is None
    # Equal scores: whichever comes first in the file, the same.
    tied = [(True, None, 0.5), (False, None, 0.5)]
    assert measures.risk_coverage(tied) == measures.risk_coverage(tied[::-1]) == 0.5


def test_measures_agree_with_scikit_learn() -> None:
    import numpy as np
    from sklearn.calibration import calibration_curve
    from sklearn.metrics import f1_score, roc_auc_score

    drawn = np.random.default_rng(1)
    truth, scores = drawn.random(200) < 0.4, drawn.random(200).round(1)
    rows = [(bool(t), bool(s > 0.5), float(s)) for t, s in zip(truth, scores, strict=True)]
    assert measures.auroc(rows) == pytest.approx(roc_auc_score(truth, scores))
    assert measures.weighted_f1(rows) == pytest.approx(f1_score(truth, scores > 0.5, average="weighted"))
    # Every score stands at the edge of a bin, which is closed above.
    found = reliability(scores, truth)
    assert [[b.observed for b in found], [b.predicted for b in found]] == pytest.approx(
        np.array(calibration_curve(truth, scores, n_bins=10))
    )
    assert measures.ece(rows) == pytest.approx(quality(scores, truth).ece)
    assert measures.ece([(False, False, 0.05), (True, False, 0.1)]) == pytest.approx(0.85 / 2)


def test_intervals_hold_the_value_and_shrink_with_more_cases() -> None:
    few = [Observed({"x": float(i % 2)}) for i in range(20)]
    low, high = interval(few, mean_of("x")) or (0.0, 0.0)
    assert low < 0.5 < high
    narrow_low, narrow_high = interval(few * 10, mean_of("x")) or (0.0, 1.0)
    assert narrow_high - narrow_low < (high - low) / 2
    assert interval(few, mean_of("x")) == (low, high)  # the same draws each time
    assert interval(few[:1], mean_of("x")) is None
    assert difference(few, few, mean_of("x")) == (0.0, 0.0, 0.0)


def test_the_sentences_of_one_answer_are_drawn_together() -> None:
    answers = [Observed(labelled={"s": [(True, bool(i % 2), None)] * 50}) for i in range(6)]
    apart = [Observed(labelled={"s": [row]}) for answer in answers for row in answer.labelled["s"]]
    wide, slim = (interval(cases, pooled("s", measures.recall(True))) or (0.0, 0.0) for cases in (answers, apart))
    assert wide[1] - wide[0] > 3 * (slim[1] - slim[0])


def test_citations_are_held_against_the_alternative_that_fits_best() -> None:
    gold = [[(0, 0, 10), (0, 20, 30)], [(1, 0, 10)]]
    assert against([(1, 0, 10)], gold) == {"precision": 1.0, "recall": 1.0, "F1": 1.0}
    assert against([(0, 0, 10)], gold) == {"precision": 1.0, "recall": 0.5, "F1": pytest.approx(2 / 3)}
    assert against([], gold)["F1"] == against([(2, 0, 5)], gold)["F1"] == 0.0


def test_alce_by_a_judge_of_ones_own() -> None:
    def judge(passages: str, sentence: str) -> bool:
        return all(word in passages for word in sentence.split())

    both = ("a b", ["a x", "b y"])  # neither alone, both are needed
    one = ("c", ["c", "noise"])  # the second adds nothing
    assert alce([both, one, ("d", [])], judge) == {"ALCE recall": pytest.approx(2 / 3), "ALCE precision": 0.75}


def test_the_plainest_methods() -> None:
    assert coverage("The mill was built in 1911.", ["Built in 1911", "a mill"]) == 1.0
    assert best_coverage("The mill was built in 1911.", ["Built in 1911", "a mill"]) == pytest.approx(2 / 3)
    assert best_coverage("x", []) == 0.0
    found = nearest_sentence("It ground flour.", ["Fog is common. Mills ground flour."])
    assert found is not None and found[1].text == "Mills ground flour."
    assert nearest_sentence("zebra", ["Fog is common."]) is None


def test_a_limit_takes_the_same_cases_always_and_both_kinds_of_a_file_in_turns() -> None:
    drawn = some(list(range(1000)), 50)
    assert drawn == some(list(range(1000)), 50) == sorted(set(drawn)) and len(drawn) == 50
    assert 10 < sum(i % 2 for i in drawn) < 40
    assert some([1, 2], 5) == [1, 2] == some([1, 2], None)


def test_ratings_and_choices_of_a_language_model(folder: Path) -> None:
    def judge(request: Any) -> Any:
        shown = data_of(request.messages[-1].content)
        if "responses" in shown:  # whichever comes first: a judge that the order sways
            return {"preferred": "A", "confidence": 1.0}
        good = "grind" in shown["response"]
        return {"explanation": "", "statements": [], "rating": "yes" if good else "no", "confidence": 0.9}

    found = filled("evaluate", folder, Scripted(judge), sets=["prometheus, all metrics", "prometheus, pairs"])
    assert value(found, "prometheus, all metrics", "AUROC") == 1.0
    assert value(found, "prometheus, all metrics", "AUROC", "length") == 1.0
    assert value(found, "prometheus, pairs", "ties") == 1.0
    assert value(found, "prometheus, pairs", "prefers the better") == 0.5


ANSWERED = [{"role": "user", "content": "Who built it?"}, {"role": "assistant", "content": "Ada did. It is gold."}]


def test_judges_of_other_projects() -> None:
    replies = [
        {"statements": ["Ada built it.", "It is gold.", "Ada built it."]},
        {"verdicts": [{"id": "s1", "supported": False}, {"id": "s0", "supported": True}]},
        {"reason": "fair", "rating": 7},
        {"does_not_know": "partial"},
    ]
    runtime = Scripted(replies)
    share = run(ragas_faithfulness(ANSWERED, ["Ada built the mill."]), runtime)
    assert share.score == 0.5 and share.details["statements"] == {"Ada built it.": True, "It is gold.": False}
    assert run(rad_bench(ANSWERED, "Ada Brink did."), runtime).score == pytest.approx(6 / 9)
    assert run(idk(ANSWERED), runtime).score == 0.5
    assert run(ragas_faithfulness(ANSWERED, []), runtime).score is None


@pytest.mark.parametrize(
    "replies",
    [
        [{"statements": ["Ada built it."]}, *[{"verdicts": []}] * 3],
        [{"statements": ["Ada built it."]}, *[{"verdicts": [{"id": "s0", "supported": "yes"}]}] * 3],
        [{"statements": [1]}] * 3,
        ["I would say it is fine."] * 3,
    ],
)
def test_a_verdict_that_is_missing_is_no_half(replies: list[Any]) -> None:
    with pytest.raises(MalformedReply):
        run(ragas_faithfulness(ANSWERED, ["Ada built the mill."]), Scripted(replies))


@pytest.mark.parametrize("rating", [0, 11, "eight", True, 7.5])
def test_a_rating_off_the_scale_is_no_rating(rating: Any) -> None:
    with pytest.raises(MalformedReply):
        run(rad_bench(ANSWERED, "?"), Scripted([{"reason": "", "rating": rating}] * 3))
