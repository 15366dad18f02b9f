"""``intrinsics bench``: tables into a folder, resumed, compared, and refused where something is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from intrinsics_core.bench import intervals
from intrinsics_core.runtimes.scripted import Scripted
from tests.bench.data_folder import write_folder
from tests.cli.conftest import read


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    """How wide an interval is, is of no interest here."""
    monkeypatch.setattr(intervals, "RESAMPLES", 50)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "data")


def test_a_table_in_all_its_forms(invoke: Callable[..., Any], data: Path, tmp_path: Path) -> None:
    out = tmp_path / "tables"
    done = invoke("bench", "answerability", "--data", data, "--output", out, "--set", "everyday")
    assert done.exit_code == 0, done.output
    assert done.output.startswith("## answerability (embedded, profile embedded)")
    assert (out / "answerability.md").read_text("utf-8") in done.output
    filled = json.loads((out / "answerability.json").read_text("utf-8"))
    assert {line["measure"] for line in filled["lines"]} >= {"AUROC", "weighted F1"}
    assert (out / "answerability.svg").read_text("utf-8").startswith("<?xml")
    assert len(read(out / "answerability.jsonl")) == 5


def test_it_stops_and_goes_on(invoke: Callable[..., Any], data: Path, tmp_path: Path) -> None:
    out = tmp_path / "tables"
    again = ("bench", "citations", "--data", data, "--output", out, "--no-picture")
    assert invoke(*again).exit_code == 0
    whole = (out / "citations.jsonl").read_bytes()
    report = (out / "citations.md").read_bytes()
    refused = invoke(*again)
    assert refused.exit_code == 2 and "--overwrite or --resume" in refused.output
    (out / "citations.jsonl").write_bytes(whole[:-9])  # killed in the middle of a line
    assert invoke(*again, "--resume").exit_code == 0
    assert (out / "citations.jsonl").read_bytes() == whole
    assert (out / "citations.md").read_bytes() == report
    other = invoke(*again, "--resume", "--limit", 1, "--set", "wice", "--profile", "prompted")
    assert other.exit_code == 2 and "cannot be resumed" in other.output


def test_files_that_are_no_tables_of_a_run_are_kept(
    invoke: Callable[..., Any], data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    mine = tmp_path / "citations.json"  # a calibration, say
    mine.write_text("mine")
    refused = invoke("bench", "citations", "--data", data, "--output", ".")
    assert refused.exit_code == 2 and "citations.json exists; expected --overwrite" in refused.output
    read = invoke("bench", "citations", "--data", data, "--output", ".", "--overwrite", "--runtime", "citations.json")
    assert read.exit_code == 2
    assert mine.read_text() == "mine" and list(tmp_path.glob("citations.*")) == [mine]


def test_against_another_runtime(invoke: Callable[..., Any], data: Path, tmp_path: Path) -> None:
    script = tmp_path / "replies.json"
    script.write_text(json.dumps([{"answerability": "answerable", "confidence": 0.7}] * 4), encoding="utf-8")
    other = json.dumps({"kind": "scripted", "replies": str(script)})
    out = tmp_path / "tables"
    done = invoke("bench", "answerability", "--data", data, "-o", out, "--set", "everyday", "--against", other)
    assert done.exit_code == 0, done.output
    assert "| scripted | difference |" in done.output
    assert [("error" in row) for row in read(out / "answerability.against.jsonl")].count(True) == 1


def test_a_runtime_is_made_once_for_all_tables_and_is_alone(
    invoke: Callable[..., Any], data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []

    def made(config: Any) -> Scripted:
        name = config["replies"]
        told.append(f"{name} made")
        runtime = Scripted(lambda request: "?")
        monkeypatch.setattr(runtime, "close", lambda: told.append(f"{name} closed"))
        return runtime

    monkeypatch.setattr("intrinsics_core.cli.run.as_runtime", made)
    ours, theirs = (json.dumps({"kind": "scripted", "replies": name}) for name in ("ours", "theirs"))
    arguments = ("bench", "all", "--data", data, "--limit", 1, "--no-picture", "--runtime", ours)
    assert invoke(*arguments, "-o", tmp_path / "one").exit_code == 1  # no reply can be read
    assert told == ["ours made", "ours closed"]
    assert invoke(*arguments, "-o", tmp_path / "two", "--against", theirs).exit_code == 1
    assert told[2:] == ["ours made", "ours closed", "theirs made", "theirs closed"]
    assert len(list((tmp_path / "two").glob("*.against.jsonl"))) == len(list((tmp_path / "one").glob("*.md"))) > 5
    refused = invoke(*arguments, "-o", tmp_path / "three", "--against", '{"kind": "none"}')
    assert refused.exit_code == 2 and len(told) == 6


def test_a_file_of_ones_own_and_a_column_by_another_name(
    invoke: Callable[..., Any], write: Callable[..., Path], tmp_path: Path
) -> None:
    rows = [{"question": "Who?", "answer": f"It was {who}.", "documents": ["It was Ada."], "is_ok": who == "Ada"}
            for who in ("Ada", "Bob")]  # fmt: skip
    arguments = ("bench", "hallucination-detection", "--data", write(rows), "-o", tmp_path / "t", "--no-picture")
    done = invoke(*arguments, "--column", "label=is_ok")
    assert done.exit_code == 0 and "| own | AUROC | 2 | 0 |" in done.output
    assert "row 1: the row has no 'label'" in invoke(*arguments, "--overwrite").output
    assert "NAME=COLUMN" in invoke(*arguments, "--overwrite", "--column", "label").output
    twice = ("--column", "label=is_ok", "--column", "label=other")
    assert "a column for 'label' twice" in invoke(*arguments, "--overwrite", *twice).output


@pytest.fixture
def own(invoke: Callable[..., Any], write: Callable[..., Path], tmp_path: Path) -> Callable[..., Any]:
    """Bench a file of four answers about an entry: ``own("--resume", price="nine")``."""

    def bench(*arguments: str, price: str = "four") -> Any:
        rows = [{"question": "What is the entry?", "documents": [f"The entry costs {price} euros."], "label": right,
                 "answer": f"The entry costs {'four' if right else 'five'} euros.", "reply": "Four euros."}
                for right in (True, False, True, False)]  # fmt: skip
        fixed = ("hallucination-detection", "--data", write(rows), "-o", tmp_path / "t", "--no-picture")
        return invoke("bench", *fixed, *arguments)

    return bench


def test_it_goes_on_with_the_same_rows_and_columns_alone(own: Callable[..., Any]) -> None:
    assert own().exit_code == 0
    assert own("--resume").exit_code == 0
    edited = own("--resume", price="nine")  # as many bytes
    assert edited.exit_code == 2 and "it was started with other input" in edited.output
    mapped = own("--resume", "--column", "answer=reply")
    assert mapped.exit_code == 2 and "it was started with other columns" in mapped.output
    assert own("--overwrite", "--column", "answer=reply").exit_code == 0
    assert own("--resume", "--column", "answer=reply").exit_code == 0
    assert own("--resume").exit_code == 2


@pytest.mark.parametrize(
    ("pair", "told"),
    [
        ("answer=replly", "no row of in.jsonl has this column (did you mean 'reply'?)"),
        ("answer=zzz", "no row of in.jsonl has this column; expected one of question, documents, label, answer"),
        ("anwser=reply", "no table reads a column of this name (did you mean 'answer'?)"),
        ("doc=documents", "no table reads a column of this name (did you mean 'documents'?)"),
        ("question or messages=question", "no table reads a column of this name"),
    ],
)
def test_a_column_that_is_not_there_is_refused(own: Callable[..., Any], pair: str, told: str) -> None:
    done = own("--column", pair)
    assert done.exit_code == 2 and told in " ".join(done.output.split()), done.output


@pytest.mark.parametrize("pair", ["answer=reply", "answer=answer", "question=reply", "relevant=label"])
def test_a_column_that_is_there_is_taken(own: Callable[..., Any], pair: str) -> None:
    assert own("--column", pair).exit_code == 0


def test_a_row_without_the_column_is_not_read_by_another_one(
    invoke: Callable[..., Any], write: Callable[..., Path], tmp_path: Path
) -> None:
    row = {"question": "Who?", "documents": ["It was Ada."], "label": True}
    rows = [row | {"answer": "Bob.", "reply": "Ada."}, row | {"answer": "Bob."}]
    arguments = ("bench", "fact-check", "--data", write(rows), "-o", tmp_path / "t", "--column", "answer=reply")
    done = invoke(*arguments)
    assert done.exit_code == 2 and "row 2: the row has no 'answer'" in done.output


def test_all_tables_of_a_file_of_ones_own_are_those_that_it_can_fill(
    invoke: Callable[..., Any], write: Callable[..., Path], tmp_path: Path
) -> None:
    rows = [{"question": "Who?", "documents": [text], "label": label}
            for text, label in (("It was Ada.", "answerable"), ("Fog is common.", "unanswerable"))]  # fmt: skip
    done = invoke("bench", "all", "--data", write(rows), "-o", tmp_path / "t", "--no-picture")
    assert done.exit_code == 0 and "| own | AUROC | 2 | 0 |" in done.output
    assert "query-rewrite is left out: query-rewrite cannot read a single file" in done.output
    assert [file.stem for file in (tmp_path / "t").glob("*.md")] == ["answerability"]
    nothing = invoke("bench", "all", "--data", write([{"a": 1}]), "-o", tmp_path / "n", "--no-picture")
    assert nothing.exit_code == 2 and "the row has no" in nothing.output


def test_rows_of_one_label_alone_are_an_error(
    invoke: Callable[..., Any], write: Callable[..., Path], tmp_path: Path
) -> None:
    rows = [{"question": "Who?", "answer": "It was Ada.", "documents": ["It was Ada."], "label": True}]
    done = invoke("bench", "hallucination-detection", "--data", write(rows), "-o", tmp_path / "t", "--no-picture")
    assert done.exit_code == 2
    assert "no measure of hallucination-detection can be computed from these rows; expected rows of both" in done.output


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("rewrites",), "there is no such table (did you mean 'query-rewrite'?)"),
        (("all", "--set", "everyday"), "--set can be used with one table only"),
        (("citations", "--resume", "--overwrite"), "cannot be used together"),
        (("citations", "--set", "mtrag"), "citations has no set 'mtrag'"),
        (("citations", "--runtime", '{"kind": "none"}'), "kind"),
    ],
)
def test_what_is_refused(
    invoke: Callable[..., Any], data: Path, tmp_path: Path, arguments: tuple[str, ...], told: str
) -> None:
    done = invoke("bench", *arguments, "--data", data, "--output", tmp_path / "t")
    assert done.exit_code == 2
    assert done.output.startswith("intrinsics: ") and told in done.output and done.output.count("\n") == 1
