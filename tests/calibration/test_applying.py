"""Calibrations of one's own, on every kind of runtime: what is fitted is what is applied, and what is told."""

from __future__ import annotations

import json
import pickle
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from intrinsics_core import (
    InvalidInput,
    StreamChecker,
    answerability,
    as_runtime,
    audit,
    calibrate,
    context_relevance,
    fact_check,
    hallucination_detection,
    reranking,
    run,
    uncertainty,
)
from intrinsics_core.calibration.fitting import Bin, Calibration
from intrinsics_core.calibration.fitting import calibrate as fit
from intrinsics_core.calibration.loading import CALIBRATED
from intrinsics_core.cli import app
from intrinsics_core.cli.journal import Journal
from intrinsics_core.embedded.runtime import EmbeddedRuntime
from intrinsics_core.intrinsics import TABLE
from intrinsics_core.profiles.asking import data_of
from intrinsics_core.profiles.prompted import PROFILE as PROMPTED
from intrinsics_core.protocol.requests import Generate
from intrinsics_core.render.reliability import joined
from intrinsics_core.runtimes.mixed import Mixed
from tests.contract.judge import judge
from tests.loopback import Loopback, Received, Reply, completion
from tests.scripted import Scripted
from tests.tide_mill import ANSWERED, ASKED, DOCUMENTS

# Of scores that are all too high: true from .9 on.
STERN = fit([n / 40 for n in range(40)], [n >= 36 for n in range(40)], objective="accuracy")
CALLS = {
    "answerability": (answerability(ASKED, DOCUMENTS), lambda result: result.probability),
    "context-relevance": (context_relevance(ASKED, DOCUMENTS), lambda result: result.judgements[0].score),
    "hallucination-detection": (hallucination_detection(ANSWERED, DOCUMENTS), lambda result: result.score),
    "uncertainty": (uncertainty(ANSWERED, DOCUMENTS), lambda result: result.expected),
    "fact-check": (fact_check(ANSWERED, DOCUMENTS), lambda result: result.score),
}


def server() -> Scripted:
    return Scripted(judge)


@pytest.mark.parametrize("name", CALLS)
def test_the_score_of_any_runtime_becomes_the_fitted_probability(name: str) -> None:
    call, _ = CALLS[name]
    score = TABLE[name].score
    assert score is not None
    plain, told = run(call, server()), run(call, server().calibrate_by({name: STERN}))
    assert score(told) == pytest.approx(STERN.apply(score(plain)))
    assert told.model_dump() != plain.model_dump()
    other = next(each for each in CALLS if each != name)
    assert run(call, server().calibrate_by({other: STERN})) == plain  # it is of one intrinsic


def test_labels_follow_the_fitted_threshold() -> None:
    assert run(answerability(ASKED, DOCUMENTS), server()).answerable
    severe = replace(STERN, threshold=0.9)
    assert not run(answerability(ASKED, DOCUMENTS), server().calibrate_by({"answerability": severe})).answerable
    holds = [ANSWERED[0], {"role": "assistant", "content": DOCUMENTS[0]}]
    assert run(hallucination_detection(holds, DOCUMENTS), server()).label == "faithful"
    runtime = server().calibrate_by({"hallucination-detection": severe})
    assert run(hallucination_detection(holds, DOCUMENTS), runtime).label == "partial"
    one = run(hallucination_detection(holds, DOCUMENTS), runtime)
    assert [(row.label, row.score) for row in one.sentences] == [(one.label, one.score)]  # its only claim
    relevant = run(context_relevance(ASKED, DOCUMENTS), server().calibrate_by({"context-relevance": STERN}))
    for row in relevant.judgements:
        least = {"relevant": STERN.threshold, "partially relevant": STERN.threshold / 2, "irrelevant": 0.0}
        assert row.score >= least[row.label]


@pytest.mark.parametrize(
    ("name", "engine"),
    [
        *(
            (name, engine)
            for name in ("answerability", "hallucination-detection", "uncertainty")
            for engine in (None, "")
        ),
        ("fact-check", ""),
    ],
)
def test_unsure_is_what_lies_in_the_fitted_band(name: str, engine: str | None) -> None:
    call, score = CALLS[name]

    def told(fitted: Calibration) -> Any:
        return run(
            call,
            server().calibrate_by({name: fitted})
            if engine == ""
            else {"kind": "embedded", "calibrations": {name: fitted}},
        )

    p = score(told(STERN))
    assert told(replace(STERN, threshold=p, band=(p - 0.01, p + 0.01))).unsure
    assert not told(replace(STERN, threshold=p, band=(p, p))).unsure
    assert not told(replace(STERN, threshold=p, band=None)).unsure


LIDO = ["Dogs are not admitted. Lockers need a 2 euro coin. A day ticket costs 6 euros. The cafe sells pizza."]
FALSE = "The sauna is open all night and has a bar with live music."
LENIENT = fit([0.2, 0.25, 0.15, 0.22, 0.12, 0.36, 0.38, 0.4, 0.7, 0.9, 0.8], [0] * 5 + [1] * 6)
SEVERE = fit([0.2, 0.25, 0.5, 0.8, 0.9, 0.93, 0.97, 0.98, 0.99, 0.98, 0.97], [0] * 6 + [1] * 5)


@pytest.mark.parametrize("fitted", [LENIENT, SEVERE])
@pytest.mark.parametrize(
    "said",
    [
        f"Dogs are not admitted. Lockers need a 2 euro coin. {FALSE}",
        f"A day ticket costs 6 euros. {FALSE} The cafe sells pizza.",
        "Dogs are not admitted. Lockers need a 2 euro coin.",
        "Sure! Dogs are not admitted.",
        FALSE,
        "Sure! Let me know if you need more.",
    ],
)
def test_a_calibrated_answer_is_as_its_worst_sentence(said: str, fitted: Calibration) -> None:
    runtime = as_runtime({"kind": "embedded", "calibrations": {"hallucination-detection": fitted}})
    told = run(hallucination_detection([*ASKED, {"role": "assistant", "content": said}], LIDO), runtime)
    severity = ["NA", "faithful", "partial", "unfaithful"]
    assert told.label == max((s.label for s in told.sentences), key=severity.index)
    if told.label == "faithful":
        assert told.score >= fitted.threshold
    plain = run(hallucination_detection([*ASKED, {"role": "assistant", "content": said}], LIDO))
    assert [s.score for s in told.sentences] == [
        None if s.score is None else pytest.approx(fitted.apply(s.score)) for s in plain.sentences
    ]


@pytest.mark.parametrize("fitted", [LENIENT, SEVERE])
def test_a_calibrated_sentence_has_one_label_in_the_stream_and_in_the_whole(fitted: Calibration) -> None:
    runtime = as_runtime({"kind": "embedded", "calibrations": {"hallucination-detection": fitted}})
    checker = StreamChecker(ASKED, LIDO, runtime=runtime)
    said = f"Dogs are not admitted. Lockers need a 2 euro coin. {FALSE}"
    fed = [(s.text, s.label) for word in said.split(" ") for s in checker.feed(f"{word} ")]
    whole = [(s.text, s.label) for s in checker.close().sentences]
    assert len(fed) == 2 and fed == whole[:2]


@pytest.mark.parametrize(("name", "threshold"), [("answerability", "answerable"), ("context-relevance", "relevant")])
def test_a_threshold_beside_a_calibration_is_refused(name: str, threshold: str) -> None:
    both = {"calibrations": {name: STERN}, "thresholds": {name: {threshold: 0.01}}}
    with pytest.raises(InvalidInput, match=rf"thresholds\.{name} has no effect beside .calibrations\.{name}"):
        as_runtime({"kind": "embedded", **both})
    with pytest.raises(InvalidInput, match="has no effect"):
        EmbeddedRuntime(**both)  # type: ignore[arg-type]
    for alone in ("calibrations", "thresholds"):
        as_runtime({"kind": "embedded", alone: both[alone]})
    EmbeddedRuntime(calibrations={"uncertainty": STERN}, thresholds={name: {threshold: 0.01}})
    limits = {"hallucination-detection": {"unfaithful": 0.3}}  # tells partial from unfaithful, below the calibration's
    EmbeddedRuntime(calibrations={"hallucination-detection": STERN}, thresholds=limits)


def test_the_claims_and_sources_of_a_fact_check_are_calibrated_with_it() -> None:
    holds = [ASKED[0], {"role": "assistant", "content": DOCUMENTS[0]}]
    told = run(fact_check(holds, DOCUMENTS), server().calibrate_by({"fact-check": STERN}))
    plain = run(fact_check(holds, DOCUMENTS), server())
    assert [claim.score for claim in told.claims] == [told.score] == [STERN.apply(plain.score)]
    read = [(source.score, before.score) for source, before in zip(told.sources, plain.sources, strict=True)]
    assert read and all(after == (None if before is None else STERN.apply(before)) for after, before in read)


def test_the_parts_of_an_audit_are_calibrated_as_by_themselves() -> None:
    stern = {"answerability": STERN, "hallucination-detection": STERN, "uncertainty": STERN}
    told = run(audit(ANSWERED, DOCUMENTS), server().calibrate_by(stern))
    assert told.answerability.probability == run(CALLS["answerability"][0], server().calibrate_by(stern)).probability
    assert told.score == run(CALLS["hallucination-detection"][0], server().calibrate_by(stern)).score
    assert told.certainty == run(CALLS["uncertainty"][0], server().calibrate_by(stern)).certainty


def test_configs_of_every_kind_take_them(tmp_path: Path) -> None:
    file = tmp_path / "fitted.json"
    file.write_text(STERN.to_json())
    replies = tmp_path / "replies.json"
    replies.write_text(json.dumps([{"answerability": "answerable", "confidence": 0.8}]))
    for given in (str(file), json.loads(STERN.to_json()), STERN):
        runtime = as_runtime({"kind": "scripted", "replies": str(replies), "calibrations": {"answerability": given}})
        assert run(answerability(ASKED, DOCUMENTS), runtime).probability == pytest.approx(STERN.apply(0.8))
    mixed = {"kind": "mixed", "routes": {"*": {"kind": "embedded"}}, "calibrations": {"answerability": str(file)}}
    plain = run(answerability(ASKED, DOCUMENTS)).probability
    assert run(answerability(ASKED, DOCUMENTS), mixed).probability == pytest.approx(STERN.apply(plain))
    for kind in ({"kind": "server", "base_url": "http://127.0.0.1:1/v1"}, {"kind": "encoders", "relevance": "nowhere"}):
        runtime = as_runtime({**kind, "calibrations": {"answerability": str(file)}})
        assert runtime.profile.calibrations == {"answerability": STERN}
        again = pickle.loads(pickle.dumps(runtime))  # noqa: S301  (our own)
        assert again.profile.calibrations == {"answerability": STERN} == again.calibrations


MILLS = [
    {
        "messages": [{"role": "user", "content": f"Who built the {'tide mill' if n % 2 else 'moon'}?"}],
        "documents": ["Ada Brink built the tide mill in 1911."],
        "label": bool(n % 2),
    }
    for n in range(12)
]


def test_a_calibration_of_another_intrinsic_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "fitted.json"
    fitted = calibrate("answerability", MILLS, path=file)
    assert fitted.intrinsic == "answerability" == Calibration.from_json(file.read_text()).intrinsic
    for given in (str(file), json.loads(file.read_text()), fitted):
        assert as_runtime({"kind": "embedded", "calibrations": {"answerability": given}})
        for other in (name for name in CALIBRATED if name != "answerability"):
            with pytest.raises(InvalidInput, match=rf"calibrations\.{other} was fitted .* got one of answerability"):
                as_runtime({"kind": "embedded", "calibrations": {other: given}})
            with pytest.raises(InvalidInput, match="another intrinsic"):
                server().calibrate_by({other: given})


def test_a_calibration_that_names_no_intrinsic_is_taken(tmp_path: Path) -> None:
    """Files of before there was the name, and what was fitted to scores alone."""
    older = {key: value for key, value in json.loads(STERN.to_json()).items() if key != "intrinsic"}
    file = tmp_path / "older.json"
    file.write_text(json.dumps(older))
    for name in CALIBRATED:
        for given in (str(file), older, STERN):
            assert server().calibrate_by({name: given}).calibrations == {name: STERN}
    with pytest.raises(InvalidInput, match="intrinsic must be a name"):
        server().calibrate_by({"uncertainty": older | {"intrinsic": 5}})


@pytest.mark.parametrize("name", ["answerability", "context_relevance", "fact-check", "hallucination-detection"])
@pytest.mark.parametrize("key", ["document", "contexts", "Documents"])
def test_examples_without_documents_are_refused_where_an_intrinsic_judges_by_them(name: str, key: str) -> None:
    answered = (
        [{"role": "assistant", "content": "Ada Brink built it."}]
        if name in ("fact-check", "hallucination-detection")
        else []
    )
    rows = [{"messages": row["messages"] + answered, key: row["documents"], "label": row["label"]} for row in MILLS]
    with pytest.raises(InvalidInput, match=rf"examples\[0\] has no 'documents'.* got the keys messages, {key}, label"):
        calibrate(name, rows)


def test_examples_without_documents_are_taken_where_none_are_needed_or_the_list_is_empty() -> None:
    answered = [
        {"messages": [*ASKED, {"role": "assistant", "content": said}], "label": right}
        for said, right in (
            ("Ada Brink built it in 1911.", True),
            ("Fog is common on the coast of the island in May.", False),
        )
        * 6
    ]
    assert calibrate("answer-relevance", answered).examples == 12
    lost = [row if row["label"] else row | {"documents": []} for row in MILLS]
    assert calibrate("answerability", lost).examples == 12


def test_a_profile_that_is_named_later_is_calibrated_too() -> None:
    runtime = server().calibrate_by({"answerability": STERN})
    plain = run(answerability(ASKED, DOCUMENTS), server(), profile=PROMPTED).probability
    for profile in (None, PROMPTED, "prompted"):
        assert run(answerability(ASKED, DOCUMENTS), runtime, profile=profile).probability == STERN.apply(plain)


def test_routes_keep_their_own_and_take_those_of_the_whole() -> None:
    mixed = Mixed({"uncertainty": server().calibrate_by({"uncertainty": STERN}), "*": server()})
    mixed.calibrate_by({"answerability": STERN})
    plain = {name: run(CALLS[name][0], server()) for name in ("uncertainty", "answerability")}
    assert run(CALLS["answerability"][0], mixed).probability == STERN.apply(plain["answerability"].probability)
    assert run(CALLS["uncertainty"][0], mixed).expected == STERN.apply(plain["uncertainty"].certainty)


def test_a_ranking_of_single_documents_has_calibrated_scores() -> None:
    runtime = Mixed({"*": as_runtime({"kind": "embedded"})})
    plain = run(reranking(ASKED, DOCUMENTS), runtime)
    told = run(reranking(ASKED, DOCUMENTS), runtime.calibrate_by({"context-relevance": STERN}))
    assert [r.index for r in told.ranking] == [r.index for r in plain.ranking]
    assert [r.score for r in told.ranking] == pytest.approx([STERN.apply(r.score) for r in plain.ranking])


def test_what_cannot_be_used_is_named() -> None:
    for given, named in (
        ({"query-rewrite": STERN}, "query-rewrite"),
        ({"answerability": "/nowhere/at/all.json"}, "answerability"),
        ({"answerability": {"slope": 1}}, "answerability"),
        ({"answerability": 3}, "answerability"),
    ):
        with pytest.raises(InvalidInput, match=named):
            as_runtime({"kind": "server", "base_url": "http://127.0.0.1:1/v1", "calibrations": given})


def test_every_intrinsic_that_is_calibrated_has_a_score() -> None:
    assert {name for name, record in TABLE.items() if record.score} == set(CALIBRATED)


# --- fitting ----------------------------------------------------------------------------------------------------------


def examples() -> list[dict[str, Any]]:
    """Twenty questions of which the model says .6 to .79, rightly from .7 on."""
    return [
        {"messages": [{"role": "user", "content": f"Question {n}?"}], "documents": DOCUMENTS, "label": n >= 10}
        for n in range(20)
    ]


def boastful(request: Generate) -> dict[str, Any]:
    shown = data_of(request.messages[-1].content)  # type: ignore[index]
    number = int(shown["question"].split()[1].rstrip("?"))
    return {"answerability": "answerable", "confidence": 0.6 + number / 100}


def test_a_model_is_fitted_and_the_fit_is_put_to_work(tmp_path: Path) -> None:
    path = tmp_path / "fitted.json"
    fitted = calibrate("answerability", examples(), Scripted(boastful), path=path)
    assert fitted.before.auroc == 1.0 and fitted.objective_value == 1.0
    runtime = Scripted(boastful).calibrate_by({"answerability": path})
    labels = [run(answerability(e["messages"], e["documents"]), runtime).answerable for e in examples()]
    assert labels == [e["label"] for e in examples()]
    with pytest.raises(InvalidInput, match="already calibrated for answerability"):
        calibrate("answerability", examples(), runtime)


def test_a_judge_that_says_the_same_of_all_is_not_calibrated() -> None:
    same = Scripted(lambda request: {"answerability": "unanswerable", "confidence": 0.0})
    with pytest.raises(InvalidInput, match=r"the scores do not vary: the judge gives 0\.49 to each of 20 examples"):
        calibrate("answerability", examples(), same)


def test_certainties_without_log_probabilities_are_fitted_by_what_is_stated() -> None:
    stated = iter([0.95 - i / 10 if i < 5 else i / 10 + 0.05 for i in range(10)] * 2)
    answers = iter(("no", "no", "no", "no", "no", "yes", "yes", "yes", "yes", "yes") * 2)
    fitted = calibrate(
        "uncertainty", [{**e, "label": i % 10 > 4} for i, e in enumerate(examples())],
        Scripted(lambda request: {"correct": next(answers), "confidence": next(stated)}),
    )  # fmt: skip
    assert fitted.before.auroc == 1.0


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.25, 0.5, 1.0])
def test_a_stated_rate_of_false_acceptance_is_kept_and_no_more_is_refused_than_needed(rate: float) -> None:
    scores = [((n * 37) % 100) / 100 for n in range(100)]
    labels = [(s * 100 + (n * 13) % 60) > 80 for n, s in enumerate(scores)]
    fitted = fit(scores, labels, false_acceptance=rate)
    wrong = [fitted.decide(s) for s, label in zip(scores, labels, strict=True) if not label]
    assert sum(wrong) <= rate * len(wrong)
    lower = sorted(fitted.apply(s) for s in scores if fitted.apply(s) < fitted.threshold)
    if lower:  # one score lower would be one false example too many
        assert sum(fitted.apply(s) >= lower[-1] for s, y in zip(scores, labels, strict=True) if not y) > rate * len(
            wrong
        )
    kept = [fitted.decide(s) for s, label in zip(scores, labels, strict=True) if label]
    assert fitted.objective_value == pytest.approx(sum(kept) / len(kept))


def test_a_rate_is_a_share() -> None:
    with pytest.raises(InvalidInput, match="false_acceptance"):
        fit([0.1] * 10 + [0.9] * 10, [0] * 10 + [1] * 10, false_acceptance=5)


# --- examples that say nothing ------------------------------------------------------------------------------------


def one_each(**changes: Any) -> list[dict[str, Any]]:
    rows = [{"messages": ASKED, "documents": [f"{n}. Ada built the mill."], "label": bool(n % 2)} for n in range(12)]
    return [*rows[:3], {**rows[3], **changes}, *rows[4:]]


@pytest.mark.parametrize(("documents", "count"), [([], 0), (["Ada built it.", "Fog is common in May."], 2)])
def test_a_label_of_context_relevance_is_about_one_document(documents: list[str], count: int) -> None:
    with pytest.raises(InvalidInput, match=rf"examples\[3\]\.documents must have one document.*got {count} documents"):
        calibrate("context-relevance", one_each(documents=documents), server())


def test_an_example_without_a_score_says_why() -> None:
    greeting = [{"role": "user", "content": "Hello!"}]
    with pytest.raises(InvalidInput, match=r"examples\[3\] has no score: the last turn asks nothing of the documents"):
        calibrate("answerability", one_each(messages=greeting))
    thanks = [*ASKED, {"role": "assistant", "content": "You are welcome!"}]
    rows = [{**row, "messages": ANSWERED} for row in one_each()]
    with pytest.raises(InvalidInput, match=r"examples\[3\] has no score: its response claims nothing"):
        calibrate("hallucination-detection", [*rows[:3], {**rows[3], "messages": thanks}, *rows[4:]])


# --- the command ------------------------------------------------------------------------------------------------------


def labelled(path: Path) -> Path:
    rows = [
        {
            "messages": [{"role": "user", "content": f"Who built the {'tide mill' if n % 2 else 'moon'}?"}],
            "documents": [f"{n}. Ada Brink built the tide mill in 1911."],
            "label": bool(n % 2),
        }
        for n in range(20)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize(
    ("counts", "joined_to"),
    [([], []), ([3], [3]), ([1, 1, 1, 21], [24]), ([9, 1, 1, 13], [9, 15]), ([40] * 10, [80] * 5)],
)
def test_bins_of_a_picture_have_enough_examples(counts: list[int], joined_to: list[int]) -> None:
    """24 examples in ten bins of equal width made a zigzag."""
    table = [Bin(i / 10, (i + 1) / 10, n, (i + 0.5) / 10, 0.5) for i, n in enumerate(counts)]
    assert [point.count for point in joined(table)] == joined_to
    assert sum(p.count * p.predicted for p in joined(table)) == pytest.approx(sum(b.count * b.predicted for b in table))


def test_the_command_writes_a_calibration_and_a_picture(tmp_path: Path) -> None:
    given, out, drawn = labelled(tmp_path / "in.jsonl"), tmp_path / "fitted.json", tmp_path / "fit.svg"
    command = ["calibrate", "answerability", "-i", str(given), "-o", str(out), "--false-acceptance", "0.1"]
    ran = CliRunner().invoke(app, [*command, "--picture", str(drawn)])
    assert ran.exit_code == 0, ran.output
    assert (
        "20 examples, 10 of them true" in ran.output
        and "At most 10.0% of the examples labelled false reach it" in ran.output
    )
    fitted = Calibration.from_json(out.read_text())
    assert run(answerability(ASKED, DOCUMENTS), {"kind": "embedded", "calibrations": {"answerability": str(out)}})
    root = ElementTree.fromstring(drawn.read_text())
    points = [
        p for g in root.iterfind(".//{*}g") if g.get("id", "").startswith("points-") for p in g.iterfind(".//{*}use")
    ]
    tables = (fitted.before.table or (), fitted.after.table or ())
    assert root.tag.endswith("svg") and len(points) == sum(len(joined(table)) for table in tables)
    again = CliRunner().invoke(app, command)
    assert again.exit_code == 2 and "--overwrite" in again.output
    assert CliRunner().invoke(app, [*command, "--overwrite"]).exit_code == 0


def test_a_stopped_command_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given, out = labelled(tmp_path / "in.jsonl"), tmp_path / "fitted.json"
    command = ["calibrate", "answerability", "-i", str(given), "-o", str(out)]
    put, scored = Journal.put, list[int]()

    def stopped(self: Journal, number: int, line: bytes, *, failed: bool) -> None:
        if len(scored) == 9:
            raise KeyboardInterrupt
        scored.append(number)
        put(self, number, line, failed=failed)

    with monkeypatch.context() as patched:
        patched.setattr(Journal, "put", stopped)
        ran = CliRunner().invoke(app, command)
    assert ran.exit_code == 130 and "after 9 rows; the same command with --resume goes on" in ran.output, ran.output
    other = CliRunner().invoke(app, [*command, "--resume", "--runtime", '{"kind": "embedded", "reader": false}'])
    assert other.exit_code == 2 and "cannot be resumed" in other.output
    ran = CliRunner().invoke(app, [*command, "--resume"])
    assert ran.exit_code == 0, ran.output
    resumed = out.read_text()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["fitted.json", "in.jsonl"]
    assert CliRunner().invoke(app, [*command, "--overwrite"]).exit_code == 0
    assert out.read_text() == resumed


def test_progress_and_scores_are_told() -> None:
    told: list[tuple[int, int | None]] = []
    scores: dict[int, float] = {}

    def put(number: int, score: float, result: Any) -> None:
        assert result.probability == score
        scores[number] = score

    first = calibrate("answerability", MILLS, progress=lambda *at: told.append(at), on_score=put)
    assert told[-1] == (len(MILLS), len(MILLS)) and len(scores) == len(MILLS)
    half = [scores[number] for number in range(len(MILLS) // 2)]
    scores.clear()
    assert calibrate("answerability", MILLS, known=half, on_score=put) == first
    assert sorted(scores) == list(range(len(half), len(MILLS)))


def test_a_calibration_ends_with_what_it_cost(tmp_path: Path) -> None:
    given = labelled(tmp_path / "in.jsonl")
    rows = len(given.read_text().splitlines())

    def answer(asked: Received) -> Reply:  # by what is asked: the order in which rows arrive is not theirs
        confidence = 0.3 + 0.4 * ("built the tide mill?" in json.dumps(asked.body))
        return Reply(completion(json.dumps({"answerability": "answerable", "confidence": confidence})))

    with Loopback(answer) as server:
        runtime = json.dumps({"kind": "server", "base_url": server.url, "model": "m"})
        command = ["calibrate", "answerability", "-i", str(given), "-o", str(tmp_path / "out.json")]
        ran = CliRunner().invoke(app, [*command, "--runtime", runtime])
    assert ran.exit_code == 0, ran.output
    assert f"of them true; {rows} requests, {7 * rows} tokens in, {2 * rows} out, 0." in ran.output


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        (["query-rewrite"], "INTRINSIC"),
        (["answerability", "--objective", "luck"], "objective"),
        (["answerability", "--false-acceptance", "7"], "false-acceptance"),
        (["answerability", "--runtime", '{"kind": "nothing"}'], "kind"),
    ],
)
def test_what_is_wrong_with_the_command_is_one_line(changes: list[str], named: str, tmp_path: Path) -> None:
    given = labelled(tmp_path / "in.jsonl")
    ran = CliRunner().invoke(app, ["calibrate", *changes, "-i", str(given), "-o", str(tmp_path / "out.json")])
    assert ran.exit_code == 2 and named in ran.output and "Traceback" not in ran.output
    assert not (tmp_path / "out.json").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("-o", "in.jsonl", "--overwrite"), "--input and --output are the same file"),
        (("-o", "out.json", "--picture", "in.jsonl", "--overwrite"), "--input and --picture are the same file"),
        (("-o", "runtime.json", "--overwrite"), "--runtime and --output are the same file"),
        (("-o", "out.json", "--picture", "out.json"), "--output and --picture are the same file"),
    ],
)
def test_files_that_are_read_are_not_written(arguments, said, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    files = [labelled(Path("in.jsonl")), Path("runtime.json")]
    files[1].write_text('{"kind": "embedded"}')
    before = [file.read_bytes() for file in files]
    command = ["calibrate", "answerability", "-i", "in.jsonl", "--runtime", "runtime.json", *arguments]
    ran = CliRunner().invoke(app, command)
    assert ran.exit_code == 2 and said in ran.output
    assert [file.read_bytes() for file in files] == before and not Path("out.json").exists()


def test_a_calibration_that_cannot_be_written_leaves_the_one_before(tmp_path: Path, monkeypatch) -> None:
    given, out = labelled(tmp_path / "in.jsonl"), tmp_path / "out.json"
    command = ["calibrate", "answerability", "-i", str(given), "-o", str(out)]
    assert CliRunner().invoke(app, command).exit_code == 0
    before = out.read_bytes()
    real = Path.write_text

    def full(self: Path, text: str, **how: Any) -> int:
        real(self, text[:9], **how)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    ran = CliRunner().invoke(app, [*command, "--overwrite"])
    assert ran.exit_code == 2 and "No space left" in ran.output
    assert out.read_bytes() == before and sorted(tmp_path.iterdir()) == [given, out]


def test_a_bad_example_is_named_by_its_number(tmp_path: Path) -> None:
    given = tmp_path / "in.jsonl"
    for line, named in (
        ("nonsense", "line 1"),
        ("[]", "line 1"),
        ('{"label": true}', "examples[0] has no 'messages'"),
        ('{"messages": []}', "examples[0] has no 'documents' and no 'label'"),
    ):
        given.write_text(line + "\n")
        ran = CliRunner().invoke(app, ["calibrate", "answerability", "-i", str(given), "-o", str(tmp_path / "o.json")])
        assert ran.exit_code == 2 and named in ran.output
    ran = CliRunner().invoke(app, ["calibrate", "answerability", "-i", "nope", "-o", str(tmp_path / "o.json")])
    assert ran.exit_code == 2 and "--input nope does not exist" in ran.output


GERMAN = ["Die Mühle wurde 1911 von der Ingenieurin Ada Brink gebaut und mahlte bis 1958 das Mehl der Insel."]
ANSWERED_IN_GERMAN = [
    {"role": "user", "content": "Wer hat die Mühle auf der Insel gebaut, und wann war das?"},
    {"role": "assistant", "content": "Die Mühle wurde 1911 von der Ingenieurin Ada Brink gebaut."},
]


def test_calibrated_on_ones_own_language_the_embedded_runtime_has_a_probability_of_it() -> None:
    call, name = hallucination_detection(ANSWERED_IN_GERMAN, GERMAN), "hallucination-detection"
    assert run(call).score is None  # fitted on English
    by_config = EmbeddedRuntime(calibrations={name: STERN})
    by_hand = EmbeddedRuntime().calibrate_by({name: STERN})
    told = run(call, by_config)
    assert told.score is not None
    assert run(call, by_hand) == told == run(call, pickle.loads(pickle.dumps(by_hand)))  # noqa: S301  (our own bytes)
    whole = run(audit(ANSWERED_IN_GERMAN, GERMAN), by_config)
    assert (whole.score, whole.label) == (told.score, told.label)


def test_calibrations_by_hand_are_added_to_those_of_the_config() -> None:
    runtime = EmbeddedRuntime(calibrations={"uncertainty": STERN}).calibrate_by({"answerability": STERN})
    assert set(runtime.calibrations) == set(runtime.profile.calibrations) == {"uncertainty", "answerability"}
    again = pickle.loads(pickle.dumps(runtime))  # noqa: S301  (our own bytes)
    assert set(again.profile.calibrations) == {"uncertainty", "answerability"}
