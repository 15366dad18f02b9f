"""The thread that waits for the background event loop is still the one that Ctrl-C and errors reach."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading

import pytest

from intrinsics_core import IntrinsicsError, answerability, run
from intrinsics_core.profiles.prompted import PROFILE
from intrinsics_core.runtimes import AsyncRuntime

CALL = answerability([{"role": "user", "content": "Who is Ada?"}], ["Ada is an engineer."])


class Pressed(AsyncRuntime):
    """Ctrl-C is given to the thread that works, as a system may, not to the one that waits."""

    profile = PROFILE

    def __init__(self) -> None:
        self.given_up = threading.Event()

    async def ahandle(self, requests):
        while sys._current_frames()[threading.main_thread().ident].f_code.co_name != "wait":  # noqa: ASYNC110
            await asyncio.sleep(0.01)  # until the other one waits
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            self.given_up.set()
            raise
        return []


class Late(AsyncRuntime):
    profile = PROFILE

    async def ahandle(self, requests):
        await asyncio.sleep(0.7)  # longer than one look
        raise TimeoutError("the server said nothing")


def test_ctrl_c_reaches_the_one_that_waits_whichever_thread_it_was_given_to():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    runtime = Pressed()
    try:
        with pytest.raises(KeyboardInterrupt):
            run(CALL, runtime)
    finally:
        signal.signal(signal.SIGINT, before)
    assert runtime.given_up.wait(20)


def test_a_timeout_of_the_work_itself_is_told_as_that():
    with pytest.raises(IntrinsicsError, match="the server said nothing"):
        run(CALL, Late())
