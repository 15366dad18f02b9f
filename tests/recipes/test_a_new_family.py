"""AGENTS.md, "A new model family": a profile is formats under a name; what it lacks, its base serves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from intrinsics_core import Format, InvalidInput, Profile, answerability, profiles, query_rewrite, run
from intrinsics_core.profiles import MultiStepFormat, register
from intrinsics_core.profiles.prompted import PROFILE
from intrinsics_core.protocol.requests import Choice, Generate, Program, Reply
from intrinsics_core.protocol.results import Answerability, QueryRewrite
from intrinsics_core.protocol.task import Task
from intrinsics_core.replies import readers
from intrinsics_core.runtimes.scripted import Scripted

ASKED = [{"role": "user", "content": "When does the ferry land?"}]
DOCUMENTS = ["The ferry lands at noon."]


def _ask(task: Task) -> Sequence[Generate]:
    prompt = f"Text: {task.documents[0].text}\nDoes it answer: {task.query}\n"
    return [Generate(task.intrinsic, prompt=prompt, constraint=Choice(readers.ANSWERABLE), max_tokens=4)]


def _read(task: Task, replies: Sequence[Reply]) -> Answerability:
    reply = readers.generated(replies)
    return readers.answerability(readers.first_line(reply), reply)


def _twice(task: Task) -> Program[QueryRewrite]:
    """A staged format: what is asked second depends on what was said first."""
    (first,) = yield [Generate(task.intrinsic, prompt=f"What is this about: {task.query}")]
    (second,) = yield [Generate(task.intrinsic, prompt=f"Ask about {first.text}: {task.query}")]
    return QueryRewrite(query=second.text, original=task.query, changed=True)


@pytest.fixture(autouse=True)
def family() -> Iterator[None]:
    formats = {"answerability": Format(_ask, _read), "query-rewrite": MultiStepFormat(_twice)}
    register("tiny-7b", lambda: Profile("tiny-7b", formats, base=PROFILE))
    yield
    del profiles._REGISTERED["tiny-7b"]


def test_it_is_asked_in_its_own_words_by_its_name() -> None:
    runtime = Scripted(["answerable"])
    assert run(answerability(ASKED, DOCUMENTS), runtime, profile="tiny-7b").label == "answerable"
    (request,) = runtime.requests
    assert request.prompt == "Text: The ferry lands at noon.\nDoes it answer: When does the ferry land?\n"


def test_two_stages() -> None:
    runtime = Scripted(["ferries", "When does the ferry of Ellery land?"])
    found = run(query_rewrite(ASKED), runtime, profile="tiny-7b")
    assert found.query == "When does the ferry of Ellery land?"
    assert [request.prompt for request in runtime.requests] == [
        "What is this about: When does the ferry land?",
        "Ask about ferries: When does the ferry land?",
    ]
    assert len(runtime.waves) == 2


def test_an_error_in_the_first_stage_ends_the_task() -> None:
    from intrinsics_core import RuntimeUnavailable

    with pytest.raises(RuntimeUnavailable, match="query-rewrite: the script has no reply left"):
        run(query_rewrite(ASKED), Scripted([]), profile="tiny-7b")


def test_its_base_serves_what_it_lacks() -> None:
    from intrinsics_core import uncertainty

    runtime = Scripted([{"correct": "yes", "confidence": 0.95}])
    assert run(uncertainty(ASKED, DOCUMENTS), runtime, profile="tiny-7b").certainty == 0.95


def test_a_name_is_taken_once() -> None:
    for name in ("tiny-7b", "embedded", "with:place"):
        with pytest.raises(InvalidInput, match=name):
            register(name, lambda: PROFILE)
