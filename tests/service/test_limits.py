"""How much a request may ask for; what a client that leaves, a full line and a runtime that is down look like."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time

import httpx
import pytest

from intrinsics_core import BlockingRuntime, RuntimeUnavailable, as_runtime
from intrinsics_core.service.app import create_app
from intrinsics_core.service.limits import Limits
from tests.service.running import PATIENCE, in_thread

ASKED = {"query": "Who built it?", "documents": ["Fog.", "Ada built it."]}


class Slow(BlockingRuntime):
    """The embedded runtime behind a door: requests wait before it until it opens."""

    def __init__(self) -> None:
        self.below = as_runtime({"kind": "embedded", "reader": False})
        self.profile = self.below.profile
        self.door = threading.Event()
        self.waves: list[int] = []
        self.arrived = threading.Semaphore(0)

    def handle(self, requests):
        self.waves.append(len(requests))
        self.arrived.release()
        assert self.door.wait(PATIENCE)
        return self.below.handle(requests)


def client(url):
    return httpx.Client(base_url=url, timeout=PATIENCE, trust_env=False)


def waited(condition) -> bool:
    until = time.monotonic() + PATIENCE
    while not condition() and time.monotonic() < until:
        time.sleep(0.01)
    return bool(condition())


def metric(http, name):
    page = http.get("/metrics").text
    return sum(float(line.rsplit(" ", 1)[1]) for line in page.splitlines() if line.startswith(name))


@pytest.fixture(scope="module")
def small():
    limits = Limits(body=10_000, documents=3, tokens=100)
    with in_thread(create_app({"kind": "embedded", "reader": False}, limits=limits)) as url, client(url) as http:
        yield http


def test_a_body_that_is_too_large(small):
    for content in (b"x" * 10_001, iter([b"x" * 6_000] * 2)):  # with its length told, and without
        told = small.post("/v1/rerank", content=content)
        assert (told.status_code, told.json()["title"]) == (413, "InvalidInput")
    assert small.post("/v1/rerank", json=ASKED | {"x": "y" * 9_000}).status_code == 200


def test_a_client_that_sends_on_reads_why_its_body_is_refused(small):
    with socket.create_connection((small.base_url.host, small.base_url.port), timeout=PATIENCE) as raw:
        size = 150_000
        raw.sendall(f"POST /v1/rerank HTTP/1.1\r\nHost: localhost\r\nContent-Length: {size}\r\n\r\n".encode())
        for _ in range(15):
            raw.sendall(b"x" * (size // 15))
            time.sleep(0.01)  # the service has answered by then, unless it reads on
        told = b"".join(iter(lambda: raw.recv(65_536), b""))
    assert told.startswith(b"HTTP/1.1 413") and b"at most 10000 bytes" in told


NUMBERS = ["NaN", "Infinity", "-Infinity", "1e999"]


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("path", ["/v1/rerank", "/v2/rerank", "/v1/intrinsics/reranking", "/v1/audit/stream"])
def test_a_number_that_json_does_not_have_is_refused_in_every_route(small, path, number):
    row = {"query": "?", "messages": [{"role": "user", "content": "?"}], "return_documents": True}
    row["documents"] = [{"text": "a", "metadata": {"x": "<>"}}]
    told = small.post(path, content=json.dumps(row).replace('"<>"', number))
    assert (told.status_code, told.json()["title"]) == (400, "InvalidInput"), told.text
    fine = small.post("/v1/rerank", json=ASKED | {"query": f"What is {number}?"})
    assert fine.status_code == 200


def test_too_many_documents(small):
    assert small.post("/v1/rerank", json=ASKED | {"documents": ["a"] * 3}).status_code == 200
    for path, asked in (
        ("/v1/rerank", ASKED | {"documents": ["a"] * 4}),
        ("/v1/embeddings", {"input": ["a"] * 4}),
        ("/v1/intrinsics/reranking", {"messages": [{"role": "user", "content": "?"}], "documents": ["a"] * 4}),
        ("/v1/audit/stream", {"messages": [{"role": "user", "content": "?"}], "documents": ["a"] * 4}),
    ):
        told = small.post(path, json=asked)
        assert (told.status_code, told.json()["got"]) == (413, "4"), path


def test_too_many_pairs(http):
    told = http.post("/v1/score", json={"text_1": "a", "text_2": ["b"] * 1_001})
    assert (told.status_code, told.json()["got"]) == (413, "1001")


def test_too_many_tokens_are_counted_not_guessed(small):
    assert small.post("/v1/rerank", json=ASKED | {"documents": ["building " * 40]}).status_code == 200
    told = small.post("/v1/rerank", json=ASKED | {"documents": ["a " * 101]})
    assert (told.status_code, told.json()["title"], told.json()["got"]) == (413, "ContextTooLong", "105")


LONG = "mill " * 110
WHO = {"role": "user", "content": "Who built the mill?"}
SAID = {"role": "assistant", "content": "Ada built it."}
SEARCHED = {"role": "assistant", "content": None, "tool_calls": [{"name": "search", "arguments": LONG}]}


@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("/v1/rerank", ASKED | {"documents": [{"text": "Ada built it.", "title": LONG}]}),
        ("/v1/rerank", ASKED | {"documents": [{"text": "Ada built it.", "metadata": {"title": LONG}}]}),
        ("/v1/intrinsics/answerability", {"messages": [WHO], "documents": [{"text": "Ada.", "title": LONG}]}),
        ("/v1/intrinsics/hallucination-detection", {"messages": [WHO, SEARCHED, SAID], "documents": ["Ada."]}),
        ("/v1/report", {"messages": [WHO, SAID], "documents": [{"text": "Ada.", "metadata": {"title": LONG}}]}),
        ("/v1/audit/stream", {"messages": [WHO], "documents": [{"text": "Ada.", "title": LONG}]}),
        ("/v1/audit/stream", {"messages": [WHO], "documents": [{"text": "Ada.", "metadata": {"title": LONG}}]}),
    ],
)  # fmt: skip
def test_all_that_is_read_counts(small, path, asked):
    told = small.post(path, json=asked)
    assert (told.status_code, told.json()["title"]) == (413, "ContextTooLong"), told.text


@pytest.mark.parametrize("document", [{"title": "The mill"}, {"id": LONG}, {"metadata": {"page": LONG}}])
def test_what_is_not_read_does_not_count(small, document):
    row = {"messages": [WHO], "documents": [document | {"text": "Ada built it."}]}
    assert small.post("/v1/intrinsics/answerability", json=row).status_code == 200
    assert small.post("/v1/audit/stream", json=row).status_code == 201


def test_a_request_that_takes_too_long_is_told_and_the_next_one_served():
    slow = Slow()
    slow.below.warm_up()  # loading is not what takes too long here
    with in_thread(create_app(slow, limits=Limits(seconds=1.0))) as url, client(url) as http:
        told = http.post("/v1/rerank", json=ASKED)
        assert (told.status_code, told.json()["title"]) == (504, "RequestTimeout")
        slow.door.set()
        assert http.post("/v1/rerank", json=ASKED).status_code == 200


def until_all_wait(threads, slow, http):
    """Start them; go on when the first is at the runtime and all others wait in line."""
    threads[0].start()
    assert slow.arrived.acquire(timeout=PATIENCE)
    for thread in threads[1:]:
        thread.start()
    assert waited(lambda: metric(http, "rag_intrinsics_waiting{") == len(threads) - 1)


def test_a_full_line_is_told_to_come_again():
    slow = Slow()
    slow.concurrency = 1
    with in_thread(create_app(slow, limits=Limits(waiting=2))) as url, client(url) as http:
        threads = [threading.Thread(target=http.post, args=("/v1/rerank",), kwargs={"json": ASKED}) for _ in range(3)]
        until_all_wait(threads, slow, http)
        told = http.post("/v1/rerank", json=ASKED)
        assert (told.status_code, told.headers["retry-after"], told.json()["title"]) == (503, "1", "RuntimeUnavailable")
        slow.door.set()
        for thread in threads:
            thread.join(PATIENCE)
        assert http.post("/v1/rerank", json=ASKED).status_code == 200


def test_requests_that_come_together_are_asked_together():
    slow = Slow()
    with in_thread(create_app(slow)) as url, client(url) as http:
        asked = [ASKED | {"documents": [f"Text {i}.", f"Ada built {i}."]} for i in range(9)]
        answers = {}

        def ask(i):
            answers[i] = http.post("/v1/rerank", json=asked[i]).json()

        threads = [threading.Thread(target=ask, args=(i,)) for i in range(9)]
        until_all_wait(threads, slow, http)
        slow.door.set()
        for thread in threads:
            thread.join(PATIENCE)
        assert max(slow.waves) == 8 * slow.waves[0]  # the eight that waited are one wave
        for i, answer in answers.items():  # and each got its own
            assert answer["results"] == http.post("/v1/rerank", json=asked[i]).json()["results"]


def test_one_that_cannot_be_judged_costs_no_other():
    slow = Slow()
    with in_thread(create_app(slow)) as url, client(url) as http:
        rows = [{"messages": [{"role": "user", "content": "Who?"}], "documents": ["a"]} for _ in range(3)]
        told = {}

        def ask(name, i):
            told[i] = http.post(f"/v1/intrinsics/{name}", json=rows[i]).status_code

        threads = [
            threading.Thread(target=ask, args=(n, i)) for i, n in enumerate(("reranking", "hyde", "answerability"))
        ]
        for thread in threads:
            thread.start()
        slow.door.set()
        for thread in threads:
            thread.join(PATIENCE)
        assert told == {0: 200, 1: 400, 2: 200}


async def _leaving(url, count):
    async with httpx.AsyncClient(base_url=url, timeout=PATIENCE, trust_env=False) as http:
        asking = [asyncio.create_task(http.post("/v1/rerank", json=ASKED)) for _ in range(count)]
        await asyncio.sleep(0.3)
        for one in asking:
            one.cancel()
        await asyncio.gather(*asking, return_exceptions=True)


def test_a_client_that_goes_away_cancels_its_work():
    slow = Slow()
    slow.concurrency = 1
    with in_thread(create_app(slow)) as url, client(url) as http:
        asyncio.run(_leaving(url, 5))
        assert waited(lambda: metric(http, 'rag_intrinsics_requests_total{route="/v1/rerank",status="499"}') == 5)
        assert metric(http, "rag_intrinsics_waiting{") <= 4
        slow.door.set()
        assert http.post("/v1/rerank", json=ASKED).status_code == 200
        # One was being asked when all left; of the four in line none was begun.
        waves_of_one_call = 2
        assert len(slow.waves) <= 2 * waves_of_one_call


class Down(BlockingRuntime):
    """A runtime whose server is away."""

    def __init__(self) -> None:
        self.profile = as_runtime(None).profile

    def warm_up(self):
        raise RuntimeUnavailable("nobody listens at 127.0.0.1:9")

    def handle(self, requests):
        raise RuntimeUnavailable("nobody listens at 127.0.0.1:9")


def test_a_runtime_that_is_down_is_told_with_its_reason():
    with in_thread(create_app(Down())) as url, client(url) as http:
        told = http.post("/v1/rerank", json=ASKED)
        assert (told.status_code, told.json()["title"], told.headers["retry-after"]) == (503, "RuntimeUnavailable", "1")
        assert "nobody listens" in told.json()["detail"]
        assert waited(lambda: "nobody listens" in http.get("/ready").text)
        assert http.get("/ready").status_code == 503
        assert http.get("/health").status_code == 200


class Broken(Down):
    def warm_up(self):
        pass

    def handle(self, requests):
        raise ZeroDivisionError("the inside of it")


def test_a_runtime_that_breaks_is_an_error_of_the_library():
    with in_thread(create_app(Broken())) as url, client(url) as http:
        told = http.post("/v1/rerank", json=ASKED)
        assert (told.status_code, told.json()["title"]) == (500, "IntrinsicsError")


def test_a_server_runtime_is_asked_at_once_each():
    from tests.loopback import Loopback, Reply, completion, listing

    def answer(received):
        if received.path.endswith("/models"):
            return Reply(listing("base"))
        return Reply(completion('{"answerability": "answerable"}'), delay=0.2)

    def row(i):
        return {"messages": [{"role": "user", "content": f"Who built {i}?"}], "documents": ["Ada built it."]}

    with Loopback(answer) as server:
        config = {"kind": "server", "base_url": server.url, "model": "base", "constraints": "none"}
        with in_thread(create_app(config)) as url, client(url) as http:
            told = []
            threads = [
                threading.Thread(target=lambda i=i: told.append(http.post("/v1/intrinsics/answerability", json=row(i))))
                for i in range(6)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(PATIENCE)
            assert [one.json().get("result", one.text) for one in told] == [
                {"label": "answerable", "probability": 1.0, "schema_version": 1}
            ] * 6
    assert server.peak > 1
