"""`batch.map_rows` on a real cluster: no row is lost, none changes place, and no key is told."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from intrinsics_core import answerability, query_rewrite, run_many
from intrinsics_core.protocol.errors import InvalidInput, RuntimeUnavailable
from intrinsics_core.running import batch
from tests.ray.kinds import config

KINDS = ("tests.ray.kinds",)
KEY = "sk-never-to-be-seen-1234567890"


def row(number: int) -> dict[str, Any]:
    messages = [{"role": "user", "content": f"Who built bridge {number}?"}]
    documents = [{"id": "a", "text": f"Ada Brink built bridge {number - number % 2}."}, {"text": "It is red."}]
    return {"id": number, "messages": messages, "documents": documents[: 1 + number % 2]}


def written(path: Path, count: int) -> str:
    path.write_text("".join(json.dumps(row(number)) + "\n" for number in range(count)), encoding="utf-8")
    return str(path)


def alone(count: int, runtime: dict[str, Any]) -> list[Any]:
    """What `run_many` gives for the same rows."""
    calls = [answerability(row(number)["messages"], row(number)["documents"]) for number in range(count)]
    return [json.loads(one.model_dump_json()) for one in run_many(calls, runtime)]


def test_an_actor_killed_in_the_middle_of_ten_thousand_rows_loses_none(ray, tmp_path):
    data = ray.data.read_json(written(tmp_path / "in.jsonl", 10_000))
    mortal = config(tmp_path, dies_at="bridge 5000?")
    rows = batch.map_rows(data, "answerability", mortal, actors=2, imports=KINDS).take_all()
    assert (tmp_path / "died").exists()
    assert [one["id"] for one in rows] == list(range(10_000))
    assert not any(one["error"] for one in rows)
    assert [json.loads(one["result"]) for one in rows] == alone(10_000, config(tmp_path))


def test_what_was_written_is_not_asked_again(ray, tmp_path):
    data = written(tmp_path / "in.jsonl", 600)
    # What Ray filters with, and what reads, take a CPU each, and there are two.
    kept = {"checkpoint": str(tmp_path / "done"), "imports": KINDS, "batch_size": 100, "actors": 1, "cpus": 0}
    out, asked = str(tmp_path / "out"), tmp_path / "asked"

    def wanted() -> Any:
        return batch.map_rows(ray.data.read_json(data), answerability, config(asked, counts=True), **kept)

    folder = kept["checkpoint"]

    def breaks(table: Any) -> Any:
        if 450 in table.column("id").to_pylist():
            while not any(Path(folder).glob("*.parquet")):  # until some rows are written, and noted as done
                time.sleep(0.05)
            raise ValueError("the night ends here")
        return table

    asked.mkdir()
    with pytest.raises(Exception, match="the night ends here"):
        broken = wanted().map_batches(breaks, batch_format="pyarrow")
        broken.write_parquet(out)
    done = {one["id"] for one in ray.data.read_parquet(out).take_all()}
    assert 0 < len(done) < 600
    (asked / "asked").unlink()
    wanted().write_parquet(out)
    again = {int(line) for line in (asked / "asked").read_text().split()}
    # What was being written when it ended may be done again; what was noted as done is not.
    assert set(range(600)) - done <= again < set(range(600))
    assert sorted(one["id"] for one in ray.data.read_parquet(out).take_all()) == list(range(600))


def test_columns_of_text_other_columns_and_rows_that_are_wrong(ray, tmp_path):
    good = row(1)
    rows = [
        {"id": "text", "page": 7, "messages": json.dumps(good["messages"]), "documents": json.dumps(good["documents"])},
        {"id": "no JSON", "page": 8, "messages": "[", "documents": "[]"},
        {"id": "no documents", "page": None, "messages": json.dumps(good["messages"]), "documents": None},
        {"id": "an answer", "page": 9, "messages": '[{"role": "assistant", "content": "!"}]', "documents": "[]"},
        {"id": "its key", "page": 10, "messages": json.dumps(row(4)["messages"]), "documents": json.dumps(["d"])},
    ]  # fmt: skip
    runtime = config(tmp_path, fails_at="bridge 4?", api_key=KEY)
    made = batch.map_rows(ray.data.from_items(rows), answerability, runtime, keep=["page", "id"], imports=KINDS)
    assert KEY not in repr(made) + str(made)
    got = made.take_all()
    assert [(one["page"], one["id"]) for one in got] == [(one["page"], one["id"]) for one in rows]
    assert json.loads(got[0]["result"])["label"] in ("answerable", "unanswerable") and got[0]["error"] is None
    assert [one["result"] for one in got[1:]] == [None] * 4
    assert [one["error"]["type"] for one in got[1:]] == ["InvalidInput"] * 3 + ["RuntimeUnavailable"]
    assert "is not JSON" in got[1]["error"]["message"]
    assert "no 'documents'" in got[2]["error"]["message"]
    assert got[4]["error"]["raw"] == "***"
    assert KEY not in json.dumps(got)


def test_a_key_is_in_no_log(ray, tmp_path):
    """Neither where all goes well, nor where an actor cannot be set up with it."""
    items = ray.data.from_items([row(0)])
    batch.map_rows(items, "answerability", config(tmp_path, api_key=KEY), imports=KINDS).take_all()
    with pytest.raises(Exception) as told:
        batch.map_rows(items, "answerability", config(tmp_path, api_key=KEY, unset=True), imports=KINDS).take_all()
    assert "cannot log in with ***" in str(told.value)
    assert KEY not in str(told.value)
    session = Path(ray._private.worker._global_node.get_session_dir_path())
    logs = [path for path in session.rglob("*") if path.is_file() and path.stat().st_size < 2**26]
    assert logs
    assert [path for path in logs if KEY.encode() in path.read_bytes()] == []


def test_the_bound_is_over_all_actors(ray, tmp_path):
    items = ray.data.from_items([row(number) for number in range(120)], override_num_blocks=6)
    runtime = config(tmp_path, delay=0.02)
    made = batch.map_rows(items, "answerability", runtime, actors=2, concurrency=9, batch_size=20, imports=KINDS)
    assert len(made.take_all()) == 120
    most = [int(path.read_text()) for path in tmp_path.glob("most-*")]
    assert most and max(most) == 4  # 9 over two actors


def test_parquet_in_and_the_embedded_default(ray, tmp_path):
    asked = [{"id": f"q{i}", "messages": row(i)["messages"], "documents": []} for i in range(8)]
    ray.data.from_items(asked).write_parquet(str(tmp_path / "in"))
    got = batch.map_rows(ray.data.read_parquet(str(tmp_path / "in")), query_rewrite, actors=1).take_all()
    expected = run_many([query_rewrite(one["messages"]) for one in asked])
    told = {one["id"]: json.loads(one["result"]) for one in got}
    assert told == {one["id"]: json.loads(two.model_dump_json()) for one, two in zip(asked, expected, strict=True)}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"intrinsic": "answering"}, "intrinsic is unknown"),
        ({"intrinsic": len}, "intrinsic is unknown"),
        ({"runtime": {"kind": "nothing"}}, "runtime.kind is unknown"),
        ({"runtime": object()}, "runtime must be a config"),
        ({"profile": object()}, "profile must be a name"),
        ({"on_error": "never"}, "on_error is unknown"),
        ({"actors": 0}, "actors is not a count"),
        ({"actors": 4, "concurrency": 3}, "at least the number of actors"),
        ({"batch_size": 0}, "batch_size is not a count"),
        ({"keep": ["error"]}, "keep names error"),
        ({"keep": [], "checkpoint": "x"}, "id_column must be one of the columns in keep"),
    ],
)
def test_what_is_wrong_is_told_before_anything_runs(wrong, said):
    with pytest.raises(InvalidInput, match=said):
        batch.map_rows(**{"dataset": None, "intrinsic": "answerability", **wrong})


def test_an_address_where_nobody_is(monkeypatch):
    with pytest.raises(InvalidInput, match="client cannot read"), batch.cluster("ray://host:1", actors=1):
        pass
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(RuntimeUnavailable, match="Ray is not installed"), batch.cluster("local", actors=1):
        pass


def test_a_job_shows_no_config():
    server = {"kind": "server", "base_url": "http://127.0.0.1:1/v1", "api_key": KEY}
    job = batch.BatchJob(
        "answerability", server, profile=None, options={}, on_error="raise", date="d", concurrency=None
    )
    assert KEY not in repr(job) + str(job) + f"{job}"
