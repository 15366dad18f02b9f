"""Prefork servers and `multiprocessing`: a child of a process that uses a runtime can use it too."""

from __future__ import annotations

import asyncio
import multiprocessing
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from intrinsics_core import answerability, arun, run
from intrinsics_core.embedded.runtime import EmbeddedRuntime
from intrinsics_core.protocol.requests import Generate
from intrinsics_core.runtimes.limiter import Limiter
from intrinsics_core.runtimes.server import ServerRuntime
from tests.loopback import Reply, completion, running

YES = '{"answerability": "answerable", "confidence": 0.9}'
PATIENCE = 60  # seconds after which a child that hangs fails the test; none of them needs two

BEGIN = """
import faulthandler, os, sys, threading, time
faulthandler.dump_traceback_later(50, exit=True)
from intrinsics_core import answerability, run, run_many
from intrinsics_core.runtimes.server import ServerRuntime

def gate(i=0):
    return answerability([{"role": "user", "content": f"Who is {i}?"}], ["Ada."])

def in_a_child(work):
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            sys.stdout.flush()
            os._exit(code)
    return pid

def ended_well(*pids):
    for pid in pids:
        _, status = os.waitpid(pid, 0)
        assert os.waitstatus_to_exitcode(status) == 0, status

runtime = ServerRuntime(sys.argv[1], model="base", concurrency=2)
"""


def forking(script: str, url: str) -> subprocess.CompletedProcess[str]:
    """The script in a process of its own: pytest's own threads are none of its business."""
    program = BEGIN + textwrap.dedent(script)
    return subprocess.run(
        [sys.executable, "-c", program, url], capture_output=True, text=True, timeout=PATIENCE, check=False
    )


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="no fork on this system")
@pytest.mark.parametrize(
    "script",
    [
        pytest.param(
            """
            run(gate(), runtime)  # all is imported: a fork in the middle of an import is beyond any library
            at_work = threading.Thread(target=run_many, args=([gate(i) for i in range(8)], runtime))
            at_work.start()
            time.sleep(0.3)  # two requests hold both places, six wait
            pid = in_a_child(lambda: print(run(gate(100), runtime).label))
            ended_well(pid)
            at_work.join()
            print(run(gate(101), runtime).label)
            """,
            id="fork while requests are in flight",
        ),
        pytest.param(
            """
            # Nothing was asked before: the client library is still being imported by another thread.
            at_work = threading.Thread(target=run_many, args=([gate(i) for i in range(4)], runtime))
            at_work.start()
            children = []
            for seconds in (0.02, 0.3, 1, 3):
                time.sleep(seconds)
                children.append(in_a_child(lambda: run(gate(100), runtime)))
            ended_well(*children)
            print(run(gate(101), runtime).label)
            at_work.join()
            print(run(gate(102), runtime).label)
            """,
            id="fork while the first requests are made",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            """
            print(run(gate(), runtime).label)
            def child():
                runtime.close()  # waits for no loop of its parent: faulthandler would tell
                print(run(gate(1), runtime).label)
            ended_well(in_a_child(child))
            print(run(gate(2), runtime).label)
            """,
            id="fork after use, then close",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            """
            # What gunicorn does with --preload: load and use once, then fork workers that serve many requests each.
            print(run(gate(), runtime).label)
            def worker():
                labels = [result.label for result in run_many([gate(i) for i in range(6)], runtime)]
                assert labels == ["answerable"] * 6, labels
                runtime.close()
            ended_well(*[in_a_child(worker) for _ in range(4)])
            print(run(gate(3), runtime).label)
            """,
            id="preforking server",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            """
            # The fork may come in any moment: here while another thread is inside each lock of the runtime.
            inside, go_on = threading.Event(), threading.Event()
            def holding():
                with runtime._limiter._lock, runtime._sessions._lock, runtime._cache._lock:
                    inside.set()
                    go_on.wait()
            threading.Thread(target=holding, daemon=True).start()
            inside.wait()
            ended_well(in_a_child(lambda: print(run(gate(), runtime).label)))
            go_on.set()
            print(run(gate(), runtime).label)
            """,
            id="fork while the locks are held",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_forked_child_uses_the_runtime_it_was_born_with(script, serve):
    ended = forking(script, serve(lambda received: Reply(completion(YES), delay=0.5)).url)
    assert ended.returncode == 0, ended.stderr[-3000:]
    assert "answerable" in ended.stdout
    assert "Traceback" not in ended.stderr


@pytest.mark.slow
def test_the_embedded_runtime_in_a_forked_child_while_its_locks_are_held():
    script = """
        from intrinsics_core.embedded.runtime import EmbeddedRuntime
        runtime = EmbeddedRuntime(threads=2)
        print(run(gate(), runtime).label)
        inside, go_on = threading.Event(), threading.Event()
        def holding():
            with runtime._lock, runtime.encoder._lock, runtime.encoder._cache._lock:
                inside.set()
                go_on.wait()
        threading.Thread(target=holding, daemon=True).start()
        inside.wait()
        ended_well(in_a_child(lambda: print(run(gate(1), runtime).label)))
        go_on.set()
    """
    ended = forking(script, "http://127.0.0.1:9")
    assert ended.returncode == 0, ended.stderr[-3000:]


def test_a_fork_waits_for_a_module_that_another_thread_looks_for():
    """The lock of a module is held from the search for its file on, which takes its time on a busy machine."""
    script = """
        from importlib.abc import MetaPathFinder
        class SlowDisk(MetaPathFinder):
            def find_spec(self, name, path=None, target=None):
                if name == "colorsys":
                    looking.set()
                    time.sleep(0.3)
        looking = threading.Event()
        sys.meta_path.insert(0, SlowDisk())
        assert "colorsys" not in sys.modules
        threading.Thread(target=__import__, args=("colorsys",)).start()
        looking.wait()
        ended_well(in_a_child(lambda: __import__("colorsys")))
    """
    ended = forking(script, "http://127.0.0.1:9")
    assert ended.returncode == 0, ended.stderr[-3000:]


@pytest.mark.slow
def test_nothing_is_imported_after_warming_up():
    """A child that is forked in the middle of an import waits for it for ever: there must be no such moment."""
    script = """
import sys
from tests.test_growth import call
from intrinsics_core import run
from intrinsics_core.intrinsics import TABLE
from intrinsics_core.embedded.runtime import EmbeddedRuntime
runtime = EmbeddedRuntime()
runtime.warm_up()
before = set(sys.modules)
for name, record in TABLE.items():
    if not record.needs_model:
        run(call(name), runtime)
print(sorted(set(sys.modules) - before))
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert ended.stdout == "[]\n"


def _judge(runtime):
    return run(answerability([{"role": "user", "content": "Who is it?"}], ["Ada."]), runtime).label


@pytest.mark.parametrize(
    "method", ["fork", *(pytest.param(other, marks=pytest.mark.slow) for other in ("spawn", "forkserver"))]
)
def test_multiprocessing_by_every_start_method(method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} on this system")
    with running(text=YES) as url, ServerRuntime(url, model="base") as runtime:
        assert _judge(runtime) == "answerable"
        with multiprocessing.get_context(method).Pool(2) as pool:
            waiting = pool.map_async(_judge, [runtime, runtime, EmbeddedRuntime()])
            labels = waiting.get(timeout=PATIENCE)
        assert labels[:2] == ["answerable", "answerable"]
        assert labels[2] in ("answerable", "unanswerable")
        assert _judge(runtime) == "answerable"


def test_places_held_on_a_closed_event_loop_are_given_back(serve, runtime):
    server = serve(lambda received: Reply(completion(YES), delay=600 if "never answered" in str(received.body) else 0))
    engine = runtime(server, model="base", concurrency=2)

    def call(text):
        return answerability([{"role": "user", "content": text}], ["Ada."])

    loop = asyncio.new_event_loop()
    pending = [loop.create_task(arun(call(f"never answered {i}"), engine)) for i in range(2)]
    loop.run_until_complete(_until(lambda: engine._limiter.busy == 2))
    done = threading.Event()
    waiting = threading.Thread(target=lambda: (run(call("who was waiting?"), engine), done.set()), daemon=True)
    waiting.start()
    time.sleep(0.3)
    assert not done.is_set()  # the bound holds as long as the loop lives
    loop.close()
    assert done.wait(PATIENCE), "the places of the closed loop were never given back"
    assert run(call("who came later?"), engine).label == "answerable"
    assert engine._limiter.busy == 0
    for task in pending:
        task._log_destroy_pending = False  # its destruction is what is tested


async def _until(condition):
    while not condition():  # noqa: ASYNC110  (what is waited for happens in the library, which sets no event)
        await asyncio.sleep(0.01)


def test_a_place_taken_back_is_not_given_back_twice():
    limiter = Limiter(1)
    loop = asyncio.new_event_loop()
    place = loop.run_until_complete(_taken(limiter))
    loop.close()

    async def next_one():
        async with limiter.place():
            held = limiter.busy
            await place.__aexit__(None, None, None)  # as a finaliser of the closed loop's task would
            assert limiter.busy == held == 1

    asyncio.run(next_one())
    assert limiter.busy == 0


async def _taken(limiter):
    place = limiter.place()
    await place.__aenter__()
    return place


def test_closing_waits_for_a_busy_loop_only_so_long_and_raises_nothing(serve, runtime, monkeypatch, caplog):
    from intrinsics_core.runtimes.server import sessions

    monkeypatch.setattr(sessions, "_PATIENCE", 0.2)
    engine = runtime(serve(), model="base")
    free = threading.Event()

    async def use_then_block():
        await engine.ahandle([Generate("answerability", prompt="p")])
        used.set()
        free.wait()  # a callback that blocks the loop

    used = threading.Event()
    thread = threading.Thread(target=asyncio.run, args=(use_then_block(),))
    thread.start()
    used.wait()
    engine.close()
    assert "not closed" in caplog.text
    free.set()
    thread.join()
