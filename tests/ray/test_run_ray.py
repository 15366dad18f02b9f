"""`intrinsics run --ray`: the same bytes as without, whatever the lines are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from intrinsics_core.cli import app, on_ray
from intrinsics_core.running import rows

LINES = [
    b"\xef\xbb\xbf" + json.dumps({"id": 0, "messages": [{"role": "user", "content": "Who built it?"}]}).encode(),
    b"",
    b"  \r",
    b"not JSON",
    b'{"id": "half \\ud800", "messages": [{"role": "user", "content": "a\\u2028b"}]}',
    b'{"id": "bytes \xff"}',
    b'{"id": 5, "messages": []}',
    *(
        json.dumps({"id": i, "messages": [{"role": "user", "content": f"And who built the bridge {i}?"}]}).encode()
        for i in range(6, 40)
    ),
]


def run(*arguments: Any) -> Any:
    return CliRunner().invoke(app, ["run", "query-rewrite", "--date", "May 1, 2025", *map(str, arguments)])


def test_the_same_bytes_as_without(ray, tmp_path):
    source = tmp_path / "in.jsonl"
    source.write_bytes(b"\n".join(LINES))  # the last line has no end
    ended = run("-i", source, "-o", tmp_path / "alone.jsonl")
    assert ended.exit_code == 1, ended.output
    expected = (tmp_path / "alone.jsonl").read_bytes()
    spread = tmp_path / "spread.jsonl"
    ended = run("-i", source, "-o", spread, "--ray", "local", "--actors", 2)
    assert ended.exit_code == 1, ended.output
    assert "39 rows, 3 of them error lines" in ended.output
    assert spread.read_bytes() == expected
    assert json.loads(spread.with_name("spread.jsonl.run.json").read_text()) == json.loads(
        (tmp_path / "alone.jsonl.run.json").read_text()
    )
    # A run is one run, with Ray and without: what one began the other finishes.
    spread.write_bytes(b"".join(expected.splitlines(keepends=True)[:21]) + b'{"id": 2')
    ended = run("-i", source, "-o", spread, "--ray", "local", "--resume")
    assert (ended.exit_code, spread.read_bytes()) == (1, expected)


@pytest.mark.parametrize(
    ("read", "arguments", "said"),
    [
        ("in.jsonl", ("--actors", 2), "require --ray"),
        ("-", ("--ray", "local"), "needs a file"),
        ("in.jsonl", ("--ray", "ray://host:10001"), "client cannot read"),
        ("in.jsonl", ("--ray", "local", "--actors", 4, "--concurrency", 2), "at least the number of actors"),
    ],
)
def test_what_is_wrong_is_one_line(tmp_path, monkeypatch, read, arguments, said):
    monkeypatch.chdir(tmp_path)
    Path("in.jsonl").write_bytes(LINES[-1])
    ended = run("-i", read, "-o", "out.jsonl", *arguments)
    assert ended.exit_code == 2
    assert said in ended.output
    assert not Path("out.jsonl").exists()


@pytest.mark.parametrize("rows_each", [1, 3, 100])
@pytest.mark.parametrize("skip", [0, 1, 4, 39, 50])
def test_pieces_hold_every_row_once(tmp_path: Path, rows_each: int, skip: int):
    source = tmp_path / "in.jsonl"
    source.write_bytes(b"\n".join(LINES))
    pa = pytest.importorskip("pyarrow")
    cut = list(on_ray.pieces(source, rows_each=rows_each, skip=skip))
    assert all(piece["rows"] <= rows_each for piece in cut)
    got = []
    for table in on_ray.read_piece(pa.Table.from_pylist(cut), path=str(source)) if cut else ():
        got += table.to_pylist()
    assert [one["row"] for one in got] == list(range(skip, 39))
    assert sum(piece["rows"] for piece in cut) == len(got)
    built: Any = lambda messages, documents: messages  # noqa: E731
    with source.open("rb") as lines:
        expected = list(rows.read(lines, built, skip=skip))
    assert [str(rows.parse(one["line"], one["number"], built)) for one in got] == [str(one) for one in expected]
