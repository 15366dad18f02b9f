"""`intrinsics run`: rows in, rows out, on the embedded default."""

from __future__ import annotations

import io
import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from intrinsics_core import INTRINSICS, answerability
from intrinsics_core.cli import app, journal
from intrinsics_core.cli import run as command
from intrinsics_core.profiles.prompted import PROFILE
from intrinsics_core.protocol.results import Citations
from tests.cli.conftest import read
from tests.cli.scripted_command import Slow
from tests.loopback import Loopback, Reply, completion

QUESTION = {"role": "user", "content": "Who built the lighthouse of Brink?"}
ANSWER = {"role": "assistant", "content": "Ada Brink built it in 1911. It is made of blue glass."}
DOCUMENTS = [
    {"id": "a", "text": "The lighthouse of Brink was built by Ada Brink in 1911.", "title": "Lighthouse"},
    {"id": "b", "text": "Ferries leave at nine and at noon.", "metadata": {"page": 3}},
]
ASKED = {"id": 1, "messages": [QUESTION], "documents": DOCUMENTS}
ANSWERED = {"id": "two", "messages": [QUESTION, ANSWER], "documents": DOCUMENTS}
CITED = {"id": 3, "messages": [QUESTION, ANSWER | {"content": "Ada Brink built it in 1911 [1]. It is blue."}],
         "documents": DOCUMENTS}  # fmt: skip
ROW = {
    "query-rewrite": ASKED,
    "query-expansion": ASKED,
    "context-relevance": ASKED,
    "answerability": ASKED,
    "reranking": ASKED,
    "uncertainty": ANSWERED,
    "hallucination-detection": ANSWERED,
    "citations": ANSWERED,
    "fact-check": ANSWERED,
    "answer-relevance": ANSWERED,
    "evaluate": ANSWERED,
    "hyde": ASKED,
    "self-consistency": ASKED,
    "audit": ANSWERED,
    "check-citations": CITED,
    "revise": ANSWERED,
}
SENTENCE = {
    "begin": int,
    "end": int,
    "text": str,
    "label": str,
    "score": (float, type(None)),
    "explanation": (str, type(None)),
}
CITATION = {
    "response_begin": int,
    "response_end": int,
    "response_text": str,
    "document_id": str,
    "document_index": int,
    "document_begin": int,
    "document_end": int,
    "document_text": str,
}
# What only a language model serves is answered by a script here.
REPLIES = {
    "hyde": [{"passage": "It was built in 1911."}],
    "self-consistency": [{"reasoning": "", "answer": "Ada Brink."}] * 5,
}
FIELDS = {
    "check-citations": {
        "citations": [
            {
                "begin": int,
                "end": int,
                "text": str,
                "kind": str,
                "document_id": str,
                "document_index": int,
                "verdict": str,
                "found": {"document_index": int, "begin": int, "end": int, "text": str},
                "score": float,
            }
        ],
        "uncited": [{"begin": int, "end": int, "text": str}],
        "score": float,
    },
    "query-rewrite": {"query": str, "original": str, "changed": bool, "retrieval_query": str},
    "query-expansion": {"queries": [{"text": str, "strategy": str}]},
    "context-relevance": {"judgements": [{"document_id": str, "index": int, "label": str, "score": float}]},
    "answerability": {"label": str, "probability": float},
    "reranking": {
        "ranking": [{"document_id": str, "index": int, "rank": int, "score": float, "wins": (float, type(None))}]
    },
    "uncertainty": {"certainty": float, "expected": (float, type(None))},
    "hallucination-detection": {
        "label": str,
        "score": float,
        "sentences": [SENTENCE],
    },
    "citations": {"citations": [CITATION]},
    "fact-check": {
        "score": float,
        "claims": [{"text": str, "begin": int, "end": int, "score": float}],
        "sources": [
            {
                "document_id": str,
                "index": int,
                "begin": int,
                "end": int,
                "relevance": float,
                "weight": float,
                "score": (float, type(None)),
            }
        ],
        "read": float,
    },
    "answer-relevance": {"label": str, "score": float, "rewrite": (str, type(None))},
    "evaluate": {
        "metrics": [
            {
                "name": str,
                "rating": str,
                "score": float,
                "explanation": str,
                "statements": [
                    {"text": str, "citations": [{"source": str, "begin": int, "end": int, "text": str}]},
                ],
            },
        ]
    },
    "hyde": {"passage": str},
    "self-consistency": {"answer": str, "share": float, "samples": [{"text": str, "agrees": bool}]},
    "audit": {
        "answerability": {"label": str, "probability": float},
        "sentences": [SENTENCE | {"citations": list}],
        "label": str,
        "score": float,
        "certainty": float,
        "answer_relevance": float,
        "disagreements": list,
    },
    "revise": {
        "answer": str,
        "changes": [{"begin": int, "end": int, "before": str, "after": str, "why": str}],
        "unsupported": list,
    },
}


def same_shape(value: Any, shape: Any) -> None:
    if isinstance(shape, dict):
        assert list(value) == list(shape)
        for key, inner in shape.items():
            same_shape(value[key], inner)
    elif isinstance(shape, list):
        assert value, "an empty list proves nothing"
        for item in value:
            same_shape(item, shape[0])
    else:
        assert isinstance(value, shape), value


def test_every_intrinsic_has_a_row_here() -> None:
    assert set(ROW) == set(FIELDS) == set(INTRINSICS)


@pytest.mark.parametrize("intrinsic", list(INTRINSICS))
def test_each_intrinsic_writes_the_documented_fields(intrinsic: str, invoke: Any, write: Any, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    flags = ["--option", "metrics=faithfulness"] if intrinsic == "evaluate" else []
    if intrinsic in REPLIES:
        (script := tmp_path / "replies.json").write_text(json.dumps(REPLIES[intrinsic]))
        flags = ["--runtime", json.dumps({"kind": "scripted", "replies": str(script)})]
    ran = invoke("run", intrinsic, "--input", write([ROW[intrinsic]]), "--output", out, *flags)
    assert ran.exit_code == 0, ran.output
    (row,) = read(out)
    assert list(row) == ["id", "result"] and row["id"] == ROW[intrinsic]["id"]
    same_shape(row["result"], FIELDS[intrinsic] | {"schema_version": int})


def test_offsets_in_the_output_are_those_of_the_input(invoke: Any, write: Any, tmp_path: Path) -> None:
    text = "Ada Brink built it in 1911 🗼.\r\n\r\nIt stands at the harbour."
    documents = [{"id": "π", "text": "Intro — 🗼.\n\nAda Brink built the lighthouse of Brink in 1911."}]
    row = {"id": 0, "messages": [QUESTION, {"role": "assistant", "content": text}], "documents": documents}
    out = tmp_path / "out.jsonl"
    assert invoke("run", "citations", "-i", write([row]), "-o", out).exit_code == 0
    found = read(out)[0]["result"]["citations"]
    assert found
    for c in found:
        assert text[c["response_begin"] : c["response_end"]] == c["response_text"]
        assert documents[0]["text"][c["document_begin"] : c["document_end"]] == c["document_text"]
    assert "🗼" in out.read_text(encoding="utf-8")


BAD = [
    (b"not json", None, "line 1: not JSON"),
    (b'{"id": 5, "messages": [', None, "not JSON"),
    (b"\xff\xfe\x00", None, "not UTF-8: byte 0xff"),
    (b'["a list"]', None, "not a JSON object; expected"),
    (b"null", None, "got NoneType"),
    (b"7", None, "got int"),
    (b'{"id": 3}', 3, "no 'messages'"),
    (b'{"id": [1, {"a": 2}], "messages": "text", "documents": []}', [1, {"a": 2}], "messages is not a list"),
    (b'{"id": "x", "messages": [{"role": "user"}], "documents": ["d"]}', "x", "messages[0] has no 'content'"),
    (b'{"id": "x", "messages": [{"role": "king", "content": "hi"}], "documents": ["d"]}', "x", "role is unknown"),
    (b'{"id": "x", "messages": [{"role": "user", "content": 3}], "documents": ["d"]}', "x", "is not text"),
    (b'{"id": "x", "messages": [{"role": "user", "content": "hi"}], "documents": null}', "x", "documents is not a"),
    (b'{"id": "x", "messages": [{"role": "user", "content": "hi"}], "documents": [{"id": "a"}]}', "x", "has no 'text'"),
    (b'{"id": "x", "messages": [{"role": "user", "content": "hi"}]}', "x", "no 'documents'"),
    (b'{"id": "x", "messages": [], "documents": []}', "x", "messages is empty"),
    (b'{"id": NaN, "messages": []}', None, "NaN is not a JSON number"),
    (b'{"id": 1e999, "messages": []}', None, "a number too large to read"),
    (b'{"id": ' + b"9" * 5000 + b"}", None, "not JSON"),
    (b'{"id": ' + b"[" * 100_000, None, "nested too deeply"),
]


def test_a_bad_line_becomes_an_error_line_and_costs_no_other(invoke: Any, write: Any, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    ran = invoke("run", "answerability", "-i", write([each for line, _, _ in BAD for each in (line, ASKED)]), "-o", out)
    assert ran.exit_code == 1, ran.output
    rows = read(out)
    assert len(rows) == 2 * len(BAD)
    for (line, identity, message), bad, good in zip(BAD, rows[::2], rows[1::2], strict=True):
        assert list(bad) == ["id", "error"] and bad["id"] == identity, line[:80]
        assert bad["error"]["type"] == "InvalidInput" and message in bad["error"]["message"], line[:80]
        assert good["id"] == 1 and good["result"]["label"] in ("answerable", "unanswerable"), line[:80]


def test_order_ids_blank_lines_bom_and_crlf(invoke: Any, write: Any, tmp_path: Path) -> None:
    def ranked(identity: Any, count: int) -> dict[str, Any]:
        return {"id": identity, "messages": [QUESTION], "documents": [f"text {i}" for i in range(count)]}

    ids = [None, True, 1.5, "ä\u2028b", {"k": [1]}, [], "last"]
    lines: list[Any] = [b"\xef\xbb\xbf" + json.dumps(ranked(ids[0], 3)).encode() + b"\r", b"", b" \t\r"]
    lines += [ranked(identity, 9 - n) for n, identity in enumerate(ids[1:])]
    out = tmp_path / "out.jsonl"
    assert invoke("run", "reranking", "-i", write(lines), "-o", out, "--concurrency", "3").exit_code == 0
    rows = read(out)
    assert [row["id"] for row in rows] == ids
    assert [len(row["result"]["ranking"]) for row in rows] == [3, 9, 8, 7, 6, 5, 4]
    # Also for readers that split lines as Unicode does.
    assert len(out.read_text(encoding="utf-8").splitlines()) == len(ids)


def test_a_document_without_id_gets_its_position(invoke: Any, write: Any, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    row = {"id": 1, "messages": [QUESTION], "documents": [{"text": d["text"]} for d in DOCUMENTS]}
    assert invoke("run", "reranking", "-i", write([row]), "-o", out).exit_code == 0
    assert [r["document_id"] for r in read(out)[0]["result"]["ranking"]] == ["0", "1"]


def test_reranking_nothing_is_an_empty_ranking(invoke: Any, write: Any, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    assert (
        invoke(
            "run", "reranking", "-i", write([{"id": 1, "messages": [QUESTION], "documents": []}]), "-o", out
        ).exit_code
        == 0
    )
    assert read(out) == [{"id": 1, "result": {"ranking": [], "reason": "nothing retrieved", "schema_version": 1}}]


def test_half_a_surrogate_pair_stays_valid_json(invoke: Any, write: Any, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    line = b'{"id": "\\ud83d", "messages": [{"role": "user", "content": "x \\udc00"}], "documents": ["\\ud83d y"]}'
    invoke("run", "answerability", "-i", write([line]), "-o", out)
    assert read(out)[0]["id"] == "\ud83d"


def test_empty_input_is_empty_output(invoke: Any, write: Any, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    assert invoke("run", "answerability", "-i", write([]), "-o", out).exit_code == 0
    assert out.read_bytes() == b""


def test_standard_input_and_output(process: Any) -> None:
    lines = json.dumps(ASKED).encode() + b"\nbroken\n" + json.dumps(ASKED | {"id": "é"}).encode()  # no last newline
    ran = process("run", "answerability", "--input", "-", "--output", "-", stdin=lines)
    assert ran.returncode == 1 and ran.stderr == b""
    rows = read(ran.stdout.decode("utf-8"))
    assert [row["id"] for row in rows] == [1, None, "é"] and "error" in rows[1]


def test_output_to_a_device_needs_no_overwrite(process: Any, write: Any) -> None:
    arguments = ("-i", write([ASKED]), "-o", "/dev/stdout", "--runtime", json.dumps(SURE))
    ran = process("run", "answerability", *arguments, scripted=True)
    assert ran.returncode == 0 and read(ran.stdout.decode())[0]["id"] == 1


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_traceback(write: Any) -> None:
    import subprocess

    from tests.cli.conftest import command

    path = write([ASKED] * 200)
    with subprocess.Popen(
        [*command(), "run", "answerability", "-i", str(path), "-o", "-", "--concurrency", "1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as running:
        assert running.stdout and running.stderr
        running.stdout.readline()
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait(60) == 141


def test_options_reach_the_intrinsic(invoke: Any, write: Any, tmp_path: Path) -> None:
    path = write([ANSWERED])
    weights = {}
    for k in ("1", "none"):
        out = tmp_path / f"{k}.jsonl"
        assert invoke("run", "fact-check", "-i", path, "-o", out, "--option", f"top-k={k}").exit_code == 0
        weights[k] = [source["weight"] for source in read(out)[0]["result"]["sources"]]
    assert sorted(weights["1"]) == [0, 1]
    assert min(weights["none"]) >= 0 and sum(weights["none"]) == pytest.approx(1)


SCRIPT = {"kind": "slow", "reply": {"answerable": "nonsense"}}
SURE = {"kind": "slow", "reply": {"answerability": "answerable", "confidence": 0.9}}


def test_on_error_raise_writes_the_raw_reply(invoke: Any, write: Any, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    arguments = ("run", "answerability", "-i", write([ASKED]), "-o", out, "--runtime", json.dumps(SCRIPT))
    assert invoke(*arguments).exit_code == 1
    (row,) = read(out)
    assert row["error"]["type"] == "MalformedReply" and json.loads(row["error"]["raw"]) == SCRIPT["reply"]


def test_on_error_fallback_writes_a_degraded_result(invoke: Any, write: Any, tmp_path: Path) -> None:
    config = tmp_path / "runtime.json"
    config.write_text(json.dumps(SCRIPT))
    out = tmp_path / "out.jsonl"
    arguments = ("-i", write([ASKED]), "-o", out, "--runtime", config, "--on-error", "fallback")
    assert invoke("run", "answerability", *arguments).exit_code == 0
    (row,) = read(out)
    assert row["result"]["label"] == "answerable" and "MalformedReply" in row["result"]["degraded"]
    again = ("-i", write([ANSWERED]), "-o", out, "--runtime", config, "--on-error", "fallback", "--overwrite")
    assert invoke("run", "citations", *again).exit_code == 0
    (row,) = read(out)
    assert row["result"]["citations"] == [] and "MalformedReply" in row["result"]["degraded"]


def test_keys_stay_out_of_error_lines(process: Any, write: Any, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    config = json.dumps({"kind": "slow", "broken": True, "api_key": "sk-very-secret"})
    ran = process("run", "answerability", "-i", write([ASKED]), "-o", out, "--runtime", config, scripted=True)
    assert ran.returncode == 1
    assert read(out)[0]["error"] | {"message": ""} == {"type": "RuntimeUnavailable", "message": "", "raw": "***"}
    assert b"very-secret" not in out.read_bytes() + ran.stderr + (tmp_path / "out.jsonl.run.json").read_bytes()


def test_rows_come_out_in_order_though_a_later_one_ends_first(invoke: Any, write: Any, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    config = json.dumps({"kind": "slow", "first": 0.5, "reply": {"answerable": "x"}})
    path = write([ASKED | {"id": i} for i in range(20)])
    arguments = ("-i", path, "-o", out, "--runtime", config, "--concurrency", "4", "--on-error", "fallback")
    assert invoke("run", "answerability", *arguments).exit_code == 0
    assert [row["id"] for row in read(out)] == list(range(20))


def test_each_row_is_written_as_soon_as_it_and_those_before_it_are_ready(write: Any, tmp_path: Path) -> None:
    import subprocess
    import time

    from tests.cli.conftest import command

    out = tmp_path / "out.jsonl"
    config = json.dumps({"kind": "slow", "delay": 0.2, "reply": {"answerable": "x"}})
    path = write([ASKED] * 5000)
    with subprocess.Popen(
        [*command(True), "run", "answerability", "-i", path, "-o", out, "--runtime", config, "--concurrency", "1"],
        stderr=subprocess.DEVNULL,
    ) as running:
        until = time.monotonic() + 120
        while (not out.exists() or out.read_bytes().count(b"\n") < 2) and time.monotonic() < until:
            time.sleep(0.02)
        assert running.poll() is None, "rows were there before the run ended"
        running.kill()
    assert out.read_bytes().endswith(b"\n")


@pytest.mark.parametrize("blocking", [True, False])
def test_results_are_told_and_not_kept(blocking: bool) -> None:
    """What bounds the memory of a run over millions of rows."""
    from intrinsics_core import answerability, run_many
    from tests.scripted import AsyncScripted, Scripted

    def script(request: Any) -> dict[str, str]:
        return {"answerable": "nonsense"}

    told: dict[int, Any] = {}
    calls = (answerability([QUESTION], DOCUMENTS, on_error="open") for _ in range(40))
    engine = Scripted(script) if blocking else AsyncScripted(script)
    assert run_many(calls, engine, on_result=told.__setitem__, keep=False) == []
    assert sorted(told) == list(range(40)) and {type(r).__name__ for r in told.values()} == {"Answerability"}


@pytest.mark.slow
def test_a_progress_bar_on_a_terminal_and_only_there(process: Any, write: Any, tmp_path: Path) -> None:
    import os
    import subprocess

    from tests.cli.conftest import command

    pty = pytest.importorskip("pty", reason="no terminals to open here")
    path = write([ASKED] * 30)
    ours, theirs = pty.openpty()
    arguments = ["run", "answerability", "-i", path, "--runtime", json.dumps(SURE)]
    ran = subprocess.Popen([*command(True), *arguments, "-o", tmp_path / "a"], stderr=theirs)
    os.close(theirs)
    seen = b""
    try:
        while chunk := os.read(ours, 65536):
            seen += chunk
    except OSError:  # how the end of a terminal reads on Linux
        pass
    assert ran.wait(60) == 0
    assert b"30/30" in seen and "━".encode() in seen
    quiet = process(*arguments, "-o", tmp_path / "b", scripted=True)
    assert quiet.stderr.decode() == f"30 rows, 0 of them error lines: {tmp_path / 'b'}\n"
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_input_without_rows_is_told(invoke: Any, write: Any, tmp_path: Path) -> None:
    ran = invoke("run", "answerability", "-i", write([]), "-o", tmp_path / "out")
    assert ran.exit_code == 0 and "the input has no rows: " in ran.output


def test_no_more_results_wait_for_a_slow_row_than_the_bound(write: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first of 60 rows takes half a second, the others nothing: they do not all gather in memory behind it."""
    count, most = 60, []

    class Watched(journal.Journal):
        def put(self, number: int, line: bytes, *, failed: bool) -> None:
            super().put(number, line, failed=failed)
            most.append(self.waiting)

    monkeypatch.setattr(command, "_AHEAD", 8)
    path = write([{"id": i, "messages": [{"role": "user", "content": "q?"}], "documents": ["d"]} for i in range(count)])
    written = io.BytesIO()
    with path.open("rb") as lines, Slow({"answerability": "answerable", "confidence": 1}, first=0.5) as engine:
        command._work(
            lines=lines, build=partial(answerability, on_error="raise"), engine=engine, profile=PROFILE, concurrency=4,
            kept=Watched(written), total=None, output="out", hidden=set(), needs_documents=True, resumable=True,
        )  # fmt: skip
    assert [json.loads(line)["id"] for line in written.getvalue().splitlines()] == list(range(count))
    assert 8 <= max(most) < 8 + 4


# --- citations shown ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["postfix", "postfix-snippet", "inline", "inline-snippet"])
@pytest.mark.parametrize("style", ["text", "markdown", "json"])
def test_citations_are_shown_beside_the_result(mode: Any, style: str, invoke: Any, write: Any, tmp_path: Path) -> None:
    from intrinsics_core.render.citations import from_json, parse, view

    out = tmp_path / "out.jsonl"
    path = write([ANSWERED, b"not json"])
    ran = invoke("run", "citations", "-i", path, "-o", out, "--citations", mode, "--citations-as", style)
    assert ran.exit_code == 1, ran.output
    row, error = read(out)
    assert list(row) == ["id", "result", "cited"] and list(error) == ["id", "error"]
    shown = from_json(row["cited"]) if style == "json" else parse(row["cited"])
    assert shown == view(Citations.model_validate(row["result"]), ANSWER["content"], DOCUMENTS, mode)
    assert shown.references


def test_an_evaluation_is_shown_by_metric(invoke: Any, write: Any, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    ran = invoke("run", "evaluate", "-i", write([ANSWERED]), "-o", out, "--citations", "inline")
    assert ran.exit_code == 0, ran.output
    (row,) = read(out)
    assert list(row["cited"]) == ["faithfulness"] and "[2] documents[0]" in row["cited"]["faithfulness"]


def test_citations_are_asked_of_what_cites(invoke: Any, write: Any, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    ran = invoke("run", "answerability", "-i", write([ASKED]), "-o", out, "--citations", "inline")
    assert ran.exit_code == 2 and "citations, evaluate" in ran.stderr and not out.exists()
    ran = invoke("run", "citations", "-i", write([ANSWERED]), "-o", out, "--citations", "footnotes")
    assert ran.exit_code == 2 and "--citations" in ran.stderr
    assert invoke("run", "citations", "-i", write([ANSWERED]), "-o", out, "--citations", "inline").exit_code == 0
    ran = invoke("run", "citations", "-i", write([ANSWERED]), "-o", out, "--resume")
    assert ran.exit_code == 2  # rows with and without do not go into one file


def test_audit_is_a_command_of_its_own(invoke, write, tmp_path) -> None:
    rows = write([ANSWERED, ASKED])
    by_name, by_run = tmp_path / "audited.jsonl", tmp_path / "run.jsonl"
    assert invoke("audit", "-i", rows, "-o", by_name).exit_code == 1  # the second row has no answer
    assert invoke("run", "audit", "-i", rows, "-o", by_run).exit_code == 1
    assert by_name.read_bytes() == by_run.read_bytes()
    told, error = read(by_name)
    assert [s["label"] for s in told["result"]["sentences"]] == ["faithful", "unfaithful"] and "error" in error
    assert invoke("audit", "-i", rows, "-o", by_name).exit_code == 2  # it exists


def test_a_run_ends_with_what_it_cost(tmp_path: Path) -> None:
    rows = [
        {"messages": [{"role": "user", "content": f"Who built mill {n}?"}], "documents": ["Ada."]} for n in range(3)
    ]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    said = '{"answerability": "answerable", "confidence": 0.9}'
    with Loopback(lambda received: Reply(completion(said))) as server:
        runtime = json.dumps({"kind": "server", "base_url": server.url, "model": "m"})
        paths = ["-i", str(tmp_path / "in.jsonl"), "-o", str(tmp_path / "out.jsonl")]
        ran = CliRunner().invoke(app, ["run", "answerability", *paths, "--runtime", runtime])
    assert ran.exit_code == 0 and "3 rows, 0 of them error lines; 3 requests, 21 tokens in, 6 out, 0." in ran.stderr
