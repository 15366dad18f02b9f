"""Settings that every test of the project shares."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Before anything imports them: what several suites share tells of a failed assert as a test does.
pytest.register_assert_rewrite(
    "tests.contract.suite",
    "tests.contract.openai",
    "tests.contract.chat_model",
    *(f"integrations.{framework}.tests.adapter" for framework in ("haystack", "langchain", "llamaindex")),
)

from tests import drawing  # noqa: E402

# The same examples on every run, so that a run that passes passes again; `HYPOTHESIS_PROFILE=random pytest` explores,
# and what it finds is added to the test as an @example. How long an example takes is the machine's affair.
_UNTIMED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("fixed", derandomize=True, max_examples=drawing.EVERY_DAY, **_UNTIMED)
settings.register_profile("long", derandomize=True, **_UNTIMED)
settings.register_profile("random", print_blob=True, **_UNTIMED)
_PROFILE = os.environ.get("HYPOTHESIS_PROFILE")
settings.load_profile(_PROFILE or "fixed")

MOST_WORKERS = 4  # each imports everything once more, and the run is over in two minutes with two


@pytest.hookimpl(optionalhook=True)  # not every environment has xdist
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """The least of that and of the cores this process may use."""
    if os.environ.get("PYTEST_XDIST_AUTO_NUM_WORKERS"):
        return None
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, MOST_WORKERS)


@pytest.fixture(scope="session", autouse=True)
def models_stay_loaded() -> Iterator[None]:
    """Sessions of models are freed with their last runtime. Here the next test would load the same files again."""
    with pytest.MonkeyPatch.context() as patch:
        with suppress(ImportError):  # an environment of clients alone has no numpy
            patch.setattr("intrinsics_core.embedded.models.onnx_model._sessions", {})
        yield


def _slow_asked_for(config: pytest.Config) -> bool:
    return config.option.markexpr != "not slow"


def pytest_configure(config: pytest.Config) -> None:
    """Where the slow tests are asked for (``-m slow``, ``-m ""``), examples are drawn in full."""
    if _slow_asked_for(config):
        drawing.at_length()
        if _PROFILE is None:
            settings.load_profile("long")


# Files of slow tests alone. Only to import them takes seconds in each worker.
_SLOW_FILES = ("tests/training/test_reader_training.py",)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """The everyday run does not import what is slow as a whole."""
    whole = any(collection_path == config.rootpath / name for name in _SLOW_FILES)
    return True if whole and not _slow_asked_for(config) else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What draws examples is in both runs: a few of them every day, all of them in the slow one."""
    if _slow_asked_for(config):
        for item in items:
            if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
                item.add_marker("slow")
