"""`intrinsics run` over a server: the bound counts requests, an unreachable server is error lines, no key is shown."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.loopback import Loopback, Reply, completion

KEY = "sk-very-secret-0123456789"


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "rows.jsonl"
    documents = [{"id": str(i), "text": f"passage {i}"} for i in range(6)]
    lines = [
        {"id": i, "messages": [{"role": "user", "content": f"question {i}?"}], "documents": documents} for i in range(8)
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


def command(rows, url, *more, **config):
    runtime = json.dumps({"kind": "server", "base_url": url, **config})
    arguments = ["run", "context-relevance", "--input", str(rows), "--output", "-", "--runtime", runtime, *more]
    done = subprocess.run(
        [sys.executable, "-m", "intrinsics_core.cli", *arguments], capture_output=True, text=True, timeout=60
    )
    return done, [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize(("more", "bound"), [(["--concurrency", "3"], 3), pytest.param([], 5, marks=pytest.mark.slow)])
def test_the_bound_is_on_requests(serve, rows, more, bound):
    text = '{"context_relevance": "relevant", "confidence": 0.9}'
    server = serve(lambda received: Reply(completion(text), delay=0.02))
    done, results = command(rows, server.url, *more, concurrency=5)
    assert done.returncode == 0
    assert [row["id"] for row in results] == list(range(8))
    assert len(server.bodies()) == 48
    assert 1 < server.peak <= bound


def test_a_server_that_is_not_there_is_error_lines_without_the_key(rows):
    with Loopback(lambda received: Reply()) as server:
        pass
    done, results = command(rows, server.url, max_retries=0, api_key=KEY)
    assert done.returncode == 1
    assert {row["error"]["type"] for row in results} == {"RuntimeUnavailable"}
    assert KEY not in done.stdout + done.stderr
