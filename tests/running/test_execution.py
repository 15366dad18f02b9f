import asyncio
import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from intrinsics_core import (
    Call,
    IntrinsicsError,
    InvalidInput,
    MalformedReply,
    RequestTimeout,
    RuntimeUnavailable,
    answerability,
    arun,
    arun_many,
    context_relevance,
    hallucination_detection,
    query_expansion,
    query_rewrite,
    run,
    run_many,
)
from intrinsics_core.profiles.prompted import PROFILE
from intrinsics_core.protocol.requests import Generate
from intrinsics_core.text import sentences
from tests.contract.judge import judge
from tests.contract.runtimes import PATIENCE, Waiting
from tests.loop import LONG_WORK, files_on_loop
from tests.scripted import AsyncScripted, Scripted

ROOT = Path(__file__).parents[2]
RUNTIMES = [Scripted, AsyncScripted]
YES = {"answerability": "answerable", "confidence": 0.9}


def user(text):
    return [{"role": "user", "content": text}]


def gate(text="Who?", **options):
    return answerability(user(text), ["Ada."], **options)


def rows(count):
    """Every third row gets a malformed reply, every fifth fails in the runtime."""
    return [gate(f"question {i}") for i in range(count)]


def script(request):
    number = int(request.messages[-1].content.split("question ")[1].split('"')[0])
    if number % 5 == 0:
        return RuntimeUnavailable(f"row {number}")
    return "nonsense" if number % 3 == 0 else {"answerability": "answerable", "confidence": 1 - number / 1000}


def check(results):
    for i, result in enumerate(results):
        if i % 5 == 0:
            assert isinstance(result, RuntimeUnavailable)
            assert str(i) in str(result)
        elif i % 3 == 0:
            assert isinstance(result, MalformedReply)
        else:
            assert result.probability == pytest.approx(1 - i / 1000)


@pytest.mark.parametrize("kind", RUNTIMES)
@pytest.mark.parametrize("concurrency", [1, 7, 1000])
def test_order_is_kept_and_no_row_costs_another(kind, concurrency):
    seen = []
    results = run_many(rows(100), kind(script), concurrency=concurrency, on_result=lambda i, r: seen.append(i))
    check(results)
    assert sorted(seen) == list(range(100))
    check(asyncio.run(arun_many(rows(100), kind(script), concurrency=concurrency)))


@pytest.mark.parametrize("kind", RUNTIMES)
def test_inside_a_running_loop(kind):
    async def notebook():
        one = run(gate(), kind(lambda r: YES))
        many = run_many([gate()] * 3, kind(lambda r: YES))
        return one, many, await arun(gate(), kind(lambda r: YES)), await arun_many([gate()], kind(lambda r: YES))

    one, many, aone, amany = asyncio.run(notebook())
    assert [one, *many, aone, *amany] == [one] * 6


def test_one_wave_for_many_rows():
    runtime = Scripted(lambda r: YES)
    run_many([gate()] * 10, runtime, concurrency=5)
    assert [len(wave) for wave in runtime.waves] == [5, 5]


def test_the_parts_of_an_expansion_are_one_wave():
    runtime = Scripted(
        lambda r: "It was Ada." if r.constraint is None else {"rewritten_question": "Q", "query": "S", "question": "R"}
    )
    result = run(query_expansion(user("Who?")), runtime)
    assert [len(wave) for wave in runtime.waves] == [3, 1]
    assert [(q.text, q.strategy) for q in result.queries] == [
        ("Who?", "original"),
        ("Q", "rewrite"),
        ("S", "synonym"),
        ("R", "reverse question"),
        ("It was Ada.", "sampled answer"),
    ]


def test_calls_are_consumed_lazily_and_bad_rows_pass_through():
    under_way = threading.Semaphore(3)

    def calls():
        for i in range(20):
            assert under_way.acquire(blocking=False), "more calls were taken than may be under way"
            yield InvalidInput(f"row {i}") if i % 4 == 0 else gate()

    results = run_many(calls(), Scripted(lambda r: YES), concurrency=3, on_result=lambda i, r: under_way.release())
    assert [isinstance(r, InvalidInput) for r in results] == [i % 4 == 0 for i in range(20)]


class Broken(Scripted):
    def handle(self, requests):
        raise ZeroDivisionError("a bug in a runtime")


def test_a_broken_runtime_loses_no_row():
    results = run_many([gate()] * 3 + [gate(on_error="open")], Broken(lambda r: YES))
    assert [type(r) for r in results[:3]] == [IntrinsicsError] * 3
    assert "ZeroDivisionError" in str(results[0])
    assert isinstance(results[0].__cause__, ZeroDivisionError)
    assert "ZeroDivisionError" in results[3].degraded


def test_a_malformed_reply_is_asked_for_again():
    attempts = []

    def second_time_lucky(request):
        attempts.append(request.attempt)
        return YES if request.attempt else "um"

    assert run(gate(), Scripted(second_time_lucky)).answerable
    assert attempts == [0, 1]


def test_usage_counts_every_request():
    result = run(query_expansion(user("Who?")), Scripted(
        lambda r: "A." if r.constraint is None else {"rewritten_question": "Q", "query": "S", "question": "R"}
    ))  # fmt: skip
    assert (result.usage.requests, result.usage.prompt_tokens) == (4, 40)
    assert "usage" not in result.model_dump()


def test_fallbacks_say_that_they_are():
    down = Scripted(lambda r: RuntimeUnavailable("refused"))
    rewrite = run(query_rewrite(user("Who?"), on_error="fallback"), down)
    assert (rewrite.query, rewrite.changed) == ("Who?", False)
    expansion = run(query_expansion(user("Who?"), on_error="fallback"), down)
    assert [q.text for q in expansion.queries] == ["Who?"]
    opened, closed = run(gate(on_error="open"), down), run(gate(on_error="closed"), down)
    assert (opened.label, opened.probability, closed.label) == ("answerable", None, "unanswerable")
    for result in (rewrite, expansion, opened, closed):
        assert "RuntimeUnavailable" in result.degraded
        assert "refused" in result.model_dump()["degraded"]


def test_one_failed_judgement_keeps_the_others():
    def one_fails(request: Generate):
        if "rotten" in request.messages[-1].content:
            return RuntimeUnavailable("refused")
        return {"context_relevance": "irrelevant", "confidence": 1}

    documents = ["good", "rotten", "fine"]
    result = run(context_relevance(user("Who?"), documents, on_error="fallback"), Scripted(one_fails))
    assert [(j.label, j.score) for j in result.judgements] == [
        ("irrelevant", 0.0), ("relevant", None), ("irrelevant", 0.0),
    ]  # fmt: skip
    assert "'1'" in result.degraded
    with pytest.raises(RuntimeUnavailable):
        run(context_relevance(user("Who?"), documents), Scripted(one_fails))


def test_async_leaves_a_blocking_runtime_to_a_thread():
    runtime = Waiting()

    async def main():
        answering = asyncio.create_task(arun_many([gate()] * 3, runtime))
        await asyncio.to_thread(runtime.entered.wait, PATIENCE)
        runtime.released.set()  # a loop that is blocked never gets here
        return await answering

    assert asyncio.run(main()) == [run(gate(), Scripted(judge))] * 3


def test_much_text_is_split_and_rendered_off_the_loop():
    long = [" ".join(f"Sentence number {i} of many." for i in range(900)) for _ in range(3)]
    call = hallucination_detection([*user("Who?"), {"role": "assistant", "content": "Ada did. In 1911."}], long)
    assert call.heavy
    work = (*LONG_WORK, "/profiles/prompted.py", "/replies/")
    assert not files_on_loop(lambda: arun(call, AsyncScripted(lambda r: {"sentences": []})), work)
    # With little text a thread would cost more than it saves: this is what the test above would see.
    assert sentences.punkt("Ada did. In 1911.")  # while the splitter is not loaded, calls begin in a thread
    assert files_on_loop(lambda: arun(gate(), AsyncScripted(lambda r: YES)), work)


def test_a_call_can_be_run_again_and_tasks_are_not_mutated():
    messages, documents = user("Who?"), [{"text": "Ada.", "metadata": {"a": [1]}}]
    call: Call = answerability(messages, documents)
    assert run(call, Scripted(lambda r: YES)) == run(call, AsyncScripted(lambda r: YES))
    assert (messages, documents) == (user("Who?"), [{"text": "Ada.", "metadata": {"a": [1]}}])


def test_unknown_names_are_told():
    with pytest.raises(InvalidInput, match=r"profile.*'granite-9'"):
        run(gate(), Scripted(lambda r: YES), profile="granite-9")
    with pytest.raises(InvalidInput, match=r"kind.*embedded.*'abacus'"):
        run(gate(), {"kind": "abacus"})
    with pytest.raises(InvalidInput, match="'colour'"):
        run(gate(), {"kind": "embedded", "colour": "red"})


def test_cancelling_a_heavy_call_is_a_cancellation():
    splitting, cancelled = threading.Event(), threading.Event()

    def split(text):
        splitting.set()
        assert cancelled.wait(PATIENCE)
        return PROFILE.split(text)

    async def main():
        call = hallucination_detection([*user("Who?"), {"role": "assistant", "content": "Ada."}], ["x " * 20_000])
        asking = arun(call, AsyncScripted(lambda r: {"sentences": []}), profile=replace(PROFILE, split=split))
        task = asyncio.create_task(asking)
        await asyncio.to_thread(splitting.wait, PATIENCE)
        task.cancel()
        await asyncio.sleep(0)  # the cancellation arrives while the thread is at work
        cancelled.set()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())


COLD = """
from intrinsics_core import arun, hallucination_detection
from intrinsics_core.running.flows import rag
from intrinsics_core.embedded.runtime import EmbeddedRuntime
from intrinsics_core.runtimes.tools import Tools
from tests.loop import files_on_loop
from tests.scripted import AsyncScripted

SAID = [{"role": "user", "content": "Who?"}, {"role": "assistant", "content": "Ada did. In 1911."}]
PASSAGES = [" ".join(f"Sentence number {i} of passage {d}." for i in range(40)) for d in range(6)]

async def main():
    scripted = AsyncScripted(lambda r: {"sentences": []})
    await arun(hallucination_detection(SAID, ["Ada did."]), scripted)
    tools = Tools(EmbeddedRuntime(), retrieve=lambda q: PASSAGES, generate=lambda m, d: "Ada did. In 1911.")
    await arun(rag(SAID[:1]), tools)

# Words are counted on the loop where a conversation is short; sentences are split and vectors made elsewhere.
names = ("/onnxruntime/", "/tokenizers/", "/nltk/tokenize/", *(f"/embedded/{name}.py" for name in (
    "answering", "certainty", "encoder", "evidence", "ranking", "support")))
print(sorted(files_on_loop(main, names)))
"""


@pytest.mark.slow
def test_a_cold_start_and_a_flow_leave_the_loop_alone():
    result = subprocess.run([sys.executable, "-c", COLD], capture_output=True, text=True, check=True, cwd=ROOT)
    assert result.stdout == "[]\n"


def test_a_forked_child_makes_its_own_loop():
    run(gate(), AsyncScripted(lambda r: YES))
    child = os.fork()
    if child == 0:
        signal.alarm(120)  # where it hangs
        os._exit(0 if run(gate(), AsyncScripted(lambda r: YES)).answerable else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def test_each_row_has_an_error_of_its_own():
    down = RuntimeUnavailable("refused")

    class Down(Scripted):
        def handle(self, requests):
            raise down

    one, two = run_many([gate(), query_rewrite(user("Who?"))], Down(lambda r: YES))
    assert one is not two
    assert (one.intrinsic, two.intrinsic) == ("answerability", "query-rewrite")


def test_waiting_for_the_librarys_own_loop_is_told():
    def on_result(index, result):
        run(gate(), AsyncScripted(lambda r: YES))

    with pytest.raises(IntrinsicsError, match="arun"):
        run_many([gate()], AsyncScripted(lambda r: YES), on_result=on_result)


@pytest.mark.parametrize("kind", RUNTIMES)
def test_what_a_callback_raises_comes_as_it_is(kind):
    def full(index, result):
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        run_many([gate()] * 3, kind(lambda r: YES), on_result=full)


def test_a_degraded_result_tells_what_was_spent():
    result = run(gate(on_error="open"), Scripted(lambda r: "um"))
    assert result.degraded
    assert result.usage.requests == 2


@pytest.mark.parametrize("many", [run_many, lambda *given, **more: asyncio.run(arun_many(*given, **more))])
def test_no_time_at_all_ends_rows_of_any_length(many):
    turns = [{"role": "user", "content": "Who built it?"}, {"role": "assistant", "content": "Ada Brink built it."}]
    calls = [hallucination_detection(turns, ["Ada Brink built it in 1911. " * n]) for n in (1, 700)]
    assert [type(outcome) for outcome in many(calls, row_timeout=0)] == [RequestTimeout] * 2


@pytest.mark.parametrize("many", [run_many, lambda *given, **more: asyncio.run(arun_many(*given, **more))])
@pytest.mark.parametrize("kind", RUNTIMES)
def test_what_is_no_call_or_no_bound_is_named(kind, many):
    runtime = kind(lambda request: YES)
    for calls, says in (
        (gate(), "calls is not a list"),
        (3, "calls is not a list"),
        ([gate(), "x"], r"calls\[1\] is not"),
    ):
        with pytest.raises(InvalidInput, match=says):
            many(calls, runtime)
    for bounds, says in (
        ({"concurrency": 0}, "concurrency is out of range"),
        ({"concurrency": "2"}, "concurrency is out of range"),
        ({"row_timeout": -1}, "row_timeout is out of range"),
    ):
        with pytest.raises(InvalidInput, match=says):
            many([gate()], runtime, **bounds)
    for one in (run, lambda *given: asyncio.run(arun(*given))):
        with pytest.raises(InvalidInput, match=r"call is not a call; expected .*answerability.*; got list"):
            one([{"role": "user", "content": "Who?"}], runtime)
