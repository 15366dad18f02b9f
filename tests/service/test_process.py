"""`intrinsics serve` as a process: signals, restarts, workers, mistakes."""

from __future__ import annotations

import signal
import socket
import subprocess
import threading

import httpx
import pytest

from tests.service.running import PATIENCE, command, in_process

FAST = '{"kind": "embedded", "reader": false}'
ASKED = {"query": "Who built it?", "documents": ["Fog.", "Ada built it."]}


def client(url, **more):
    return httpx.Client(base_url=url, timeout=PATIENCE, trust_env=False, **more)


def answered(url):
    """The service's answer, however long a busy machine takes to start it."""
    for _ in range(int(PATIENCE / 0.2)):
        try:
            with client(url) as http:
                return http.post("/v1/rerank", json=ASKED)
        except httpx.TransportError:
            threading.Event().wait(0.2)
    raise AssertionError("it never answered")


@pytest.mark.slow
def test_sigterm_answers_what_was_asked_and_takes_no_more():
    with in_process("--runtime", FAST) as (url, process), client(url) as http:
        assert http.post("/v1/rerank", json=ASKED).status_code == 200
        long = ASKED | {"documents": [f"Ada built {i} mills in {1900 + i}. " * 20 for i in range(300)]}
        told = []
        asking = threading.Thread(target=lambda: told.append(http.post("/v1/rerank", json=long)))
        asking.start()
        until_asked = 'rag_intrinsics_requests_total{route="/metrics"'
        with client(url) as other:
            while until_asked not in other.get("/metrics").text:
                pass
        threading.Event().wait(0.5)
        process.send_signal(signal.SIGTERM)
        asking.join(PATIENCE)
        process.wait(PATIENCE)
        assert told[0].status_code == 200
        assert len(told[0].json()["results"]) == 300
        with pytest.raises(httpx.ConnectError), client(url) as other:
            other.get("/health")


@pytest.mark.slow
def test_killed_and_started_again_clients_retries_succeed():
    with in_process("--runtime", FAST) as (url, process):
        assert answered(url).status_code == 200
        process.kill()
        process.wait()
        with in_process("--runtime", FAST, port=int(url.rsplit(":", 1)[1])) as (again, _):
            assert again == url
            assert answered(url).status_code == 200


@pytest.mark.slow
def test_several_runtimes_and_workers():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    arguments = ("--runtime", f"fast={FAST}", "--runtime", 'careful={"kind": "embedded"}', "--workers", "2")
    with in_process(*arguments, port=port) as (url, process):
        assert answered(url).json()["model"] == "fast"
        with client(url) as http:
            told = http.post("/v1/rerank", json=ASKED | {"model": "careful"})
            assert told.json()["model"] == "careful"
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE)


MISTAKES = [
    (("--host", "0.0.0.0"), "--token-file"),
    (("--runtime", "nowhere.json"), "neither JSON nor a file that can be read"),
    (("--runtime", f"a={FAST}", "--runtime", f"a={FAST}"), "two runtimes"),
    (("--runtime", '{"kind": "nope"}'), "kind is unknown"),
    (("--token-file", "/nowhere"), "--token-file cannot be read"),
    (("--host", "no.such.host.invalid", "--token-file", "TOKEN"), "cannot be opened for listening"),
]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [MISTAKES[0], *(pytest.param(*mistake, marks=pytest.mark.slow) for mistake in MISTAKES[1:])],
)
def test_a_mistake_is_one_line(tmp_path, arguments, says):
    (tmp_path / "token").write_text("a-token-of-some-length")
    given = [str(tmp_path / "token") if one == "TOKEN" else one for one in arguments]
    ran = subprocess.run([*command(), "serve", "--port", "0", *given], capture_output=True, text=True, timeout=PATIENCE)
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1), ran.stderr
    assert says in ran.stderr


@pytest.mark.slow
@pytest.mark.parametrize("wanted", [True, False])
def test_the_access_log_has_a_line_for_each_request(wanted, capfd):
    with in_process("--runtime", FAST, *(["--access-log"] if wanted else [])) as (url, process):
        assert answered(url).status_code == 200
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE)
    assert ('"POST /v1/rerank HTTP/1.1" 200' in capfd.readouterr().out) == wanted


def test_answers_are_sent_at_once():
    """asyncio turns Nagle's delay off on sockets that say they are TCP's alone: else each answer waits 40 ms."""
    from intrinsics_core.service.process import _listening

    with _listening("127.0.0.1", 0) as bound:
        assert bound.proto == socket.IPPROTO_TCP


@pytest.mark.slow
def test_the_port_is_taken():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ran = subprocess.run([*command(), "serve", "--port", port], capture_output=True, text=True, timeout=PATIENCE)
    assert (ran.returncode, "cannot be opened for listening" in ran.stderr) == (2, True)
