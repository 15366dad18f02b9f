"""Rows to train on from open sets, and REC's filters."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from intrinsics_core.calibration.probabilities import tenth
from intrinsics_core.intrinsics import TABLE
from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.training.labelled import labelled
from intrinsics_core.training.rows_from import SETS, build
from intrinsics_core.training.rows_from.answers import edited, plain
from intrinsics_core.training.rows_from.certainty import SYSTEMS, calibrated
from intrinsics_core.training.rows_from.filters import kept

BRIDGE = "The bridge was built in 1911 . It spans the Lys . Ada Brink drew it . Many came to see it . It has towers ."
FILES: dict[str, list[dict[str, Any]]] = {
    "squad2_dev_b": [
        {"id": f"{title}{n}", "title": title, "context": f"{title} {n} was built in {1900 + n}.",
         "question": f"When {n}?", "answerable": n != 2, "answers": [str(1900 + n)] if n != 2 else []}
        for title in ("Bridge", "Tower") for n in range(4)
    ],
    "clapnq_dev": [{"id": "c1", "question": "Who?", "title": "T", "sentences": ["Ada.", "Bob."], "answerable": False}],
    "qr_canard_dev": [
        {"id": "C_1_0_1", "history": ["Ada", "Life", "Where was she born?", "In Ghent."], "question": "When?",
         "rewrite": "When was Ada born?"}
    ],
    "qr_cast_ikat": [{"id": "cast19:1_1", "history": [], "question": "What is it?", "rewrite": "What is it?"}],
    "qr_alexa_cqr": [
        {"history": [{"role": "user", "content": "Gas"}, {"role": "assistant", "content": "Valero."}],
         "question": "Go there", "rewrite": "Go to Valero"}
    ],
    "wikipedia_passages": [{"id": f"w{n}", "text": BRIDGE.replace("1911", str(1900 + n))} for n in range(6)],
    "uq_recorded": [
        {"question": f"Q{n}?", "answer": "A.", "logprobs": [-n / 10], "truthful": int(n < 15)} for n in range(30)
    ],
}  # fmt: skip


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for name, rows in FILES.items():
        with gzip.open(tmp_path / f"{name}.jsonl.gz", "wt", encoding="utf-8") as lines:
            lines.writelines(json.dumps(row) + "\n" for row in rows)
    return tmp_path


@pytest.mark.parametrize("intrinsic", SETS)
def test_every_row_can_be_trained_on_and_ids_are_unique(intrinsic: str, data: Path) -> None:
    rows, dropped = build(intrinsic, data, sets=tuple(one.name for one in SETS[intrinsic]))
    assert rows and not dropped
    assert len(labelled(rows, TABLE[intrinsic], "")) == len(rows)
    assert len({row["id"] for row in rows}) == len(rows)
    assert all(row["group"] for row in rows)
    assert build(intrinsic, data, sets=tuple(one.name for one in SETS[intrinsic])) == (rows, dropped)


def test_documents_that_lack_the_answer_do_not_spell_it(data: Path) -> None:
    rows, _ = build("answerability", data, sets=("squad2",))
    answers = {row["question"]: row["answers"] for row in FILES["squad2_dev_b"]}
    lacking = [row for row in rows if row["id"].endswith("-lacking")]
    assert lacking and all(row["result"]["label"] == "unanswerable" for row in lacking)
    for row in lacking:
        assert not any(answer in text for text in row["documents"] for answer in answers[row["messages"][0]["content"]])
    labels = [row["result"]["label"] for row in rows]
    assert {labels.count("answerable"), labels.count("unanswerable")} == {6}


def test_rewrites_come_with_their_standalone_twins(data: Path) -> None:
    rows, _ = build("query-rewrite", data)
    told = {
        row["id"]: (row["messages"][-1]["content"], row["result"]["query"], row["result"]["changed"]) for row in rows
    }
    assert told == {
        "canard-C_1_0_1": ("When?", "When was Ada born?", True),
        "canard-C_1_0_1-alone": ("When was Ada born?", "When was Ada born?", False),
        "cast-cast19:1_1": ("What is it?", "What is it?", False),
        "alexa-0": ("Go there", "Go to Valero", True),
        "alexa-0-alone": ("Go to Valero", "Go to Valero", False),
    }
    canard = next(row for row in rows if row["id"] == "canard-C_1_0_1")
    assert [turn["role"] for turn in canard["messages"]] == ["user", "assistant"] * 2 + ["user"]


def test_edited_and_removed_sentences_are_unfaithful_and_told_ones_are_cited(data: Path) -> None:
    rows, _ = build("hallucination-detection", data)
    for row in rows:
        labels = {one["text"]: one["label"] for one in row["result"]["sentences"]}
        assert sorted(labels.values()) == ["faithful", "unfaithful", "unfaithful"]
        for text, label in labels.items():
            assert (text in row["documents"][0]) == (label == "faithful")
    for row in build("citations", data)[0]:
        assert {one["response_text"] for one in row["result"]["citations"]} == {
            one["document_text"] for one in row["result"]["citations"]
        }
        assert len(row["result"]["citations"]) == 2  # of three sentences; the third was taken out of the document


def test_sentences_are_edited_and_written_as_people_do() -> None:
    assert plain(BRIDGE).startswith("The bridge was built in 1911. It spans")
    assert plain("I 've `` seen '' it ( once ) ; she did n't .") == "I've “seen” it (once); she didn't."
    assert edited("Built in 1911.", 3) == "Built in 1915."
    assert edited("It is not blue.", 0) == "It is blue." and edited("It is blue.", 0) == "It is not blue."
    assert edited("Ada ran.", 0) is None


def test_certainty_is_how_often_its_likes_were_right_under_three_system_prompts(data: Path) -> None:
    assert calibrated([0.1, 0.9, 0.2, 0.8], [False, True, True, True], bins=2) == [0.5, 1, 0.5, 1]
    assert [tenth(share) for share in (0, 0.049, 0.1, 0.85, 1)] == [0.05, 0.05, 0.15, 0.85, 0.95]
    with pytest.raises(InvalidInput, match="openly licensed"):
        build("uncertainty", data)
    rows, _ = build("uncertainty", data, sets=("recorded",))
    systems = [next((turn["content"] for turn in row["messages"] if turn["role"] == "system"), None) for row in rows]
    assert {system: systems.count(system) for system in SYSTEMS} == dict.fromkeys(SYSTEMS, 10)
    assert [row["result"]["certainty"] for row in rows[:3] + rows[-3:]] == [0.95] * 3 + [0.05] * 3


def test_what_is_malformed_or_not_verbatim_is_left_out_and_told(data: Path) -> None:
    rows, _ = build("citations", data)
    link = rows[0]["result"]["citations"][0]
    invented = rows[0] | {"result": {"citations": [link | {"document_text": "Never said."}]}}
    malformed = rows[1] | {"result": {"citations": [{"response_begin": 0}]}}
    good, dropped = kept("citations", [invented, malformed, *rows[2:]])
    assert good == rows[2:]
    assert "'Never said.' does not stand where the row says" in dropped[0]
    assert "result.citations.0" in dropped[1]


def test_the_command(data: Path, tmp_path: Path) -> None:
    from intrinsics_core.cli.commands import app

    out = tmp_path / "rows.jsonl"
    arguments = ["train", "answerability", "--rows", "--data", str(data), "--out", str(out), "--limit", "3"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0 and f"{out}: 4 rows, 0 left out" in done.output
    assert len(out.read_text("utf-8").splitlines()) == 4
    assert CliRunner().invoke(app, arguments).exit_code == 2  # it exists
