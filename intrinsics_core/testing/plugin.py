"""The pytest plugin: ``pytest --intrinsics cases.jsonl``, the marker ``intrinsics`` and the fixture of that name.

pytest loads it wherever this library is installed, so no model and no judge is imported before it is used.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from intrinsics_core.protocol.results import Answerability, HallucinationDetection
    from intrinsics_core.testing.suite import Gated, Outcome, Standing

MARKER = "intrinsics(faithfulness=0.5, answerability=0.9): bounds on what the test judges with the fixture `intrinsics`"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("intrinsics", "RAG intrinsics: labelled questions as a gate")
    group.addoption("--intrinsics", action="append", default=[], metavar="FILE", help="labelled cases, JSON Lines")
    group.addoption(
        "--intrinsics-min",
        action="append",
        default=[],
        metavar="METRIC=BOUND",
        help="fail where a metric (faithfulness, answerability) is below this by more than its interval",
    )
    group.addoption("--intrinsics-runtime", metavar="JSON|FILE", help="runtime config of the judges; default embedded")
    parser.addini("intrinsics_min", "bounds, one METRIC=BOUND a line", "linelist")
    parser.addini("intrinsics_runtime", "runtime config of the judges, JSON or a file", default="")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)
    if config.getoption("--intrinsics-min") and not config.getoption("--intrinsics"):
        raise pytest.UsageError("--intrinsics-min bounds what --intrinsics FILE judges; expected --intrinsics too")
    if config.getoption("--intrinsics"):
        config.pluginmanager.register(_Gate(config), "intrinsics-gate")


class _Gate:
    """Adds the items of the named files, after all other tests, and sums them up."""

    def __init__(self, config: pytest.Config) -> None:
        from intrinsics_core.protocol.errors import IntrinsicsError
        from intrinsics_core.testing.suite import bounds, read_cases

        try:
            asked = [*config.getini("intrinsics_min"), *config.getoption("--intrinsics-min")]
            self.bounds = bounds(asked)
            self.files = {name: read_cases(Path(name)) for name in config.getoption("--intrinsics")}
        except (IntrinsicsError, OSError) as error:
            raise pytest.UsageError(f"--intrinsics: {error}") from None
        self.config = config
        self.metrics = tuple(self.bounds or ("faithfulness", "answerability"))
        self.standings: dict[str, list[Standing]] = {}
        self.failed: dict[str, dict[str, str]] = {}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        names = [Path(file).name for file in self.files]
        for file, cases in self.files.items():
            name = Path(file).name
            suite = _Suite.from_parent(session, name=name, path=Path(file).absolute())
            suite.cases = cases
            suite.heading = name if names.count(name) == 1 else file
            items += suite.items(self)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        for name, standings in self.standings.items():
            terminalreporter.section(f"intrinsics: {name}")
            for one in standings:
                terminalreporter.line(str(one))

    def pytest_sessionfinish(self) -> None:
        if hasattr(self.config, "workeroutput"):  # one of several processes of pytest-xdist: the first one sums up
            given = {name: [asdict(one) for one in found] for name, found in self.standings.items()}
            self.config.workeroutput["intrinsics"] = {"standings": given, "failed": self.failed}
            return
        if (target := os.environ.get("GITHUB_STEP_SUMMARY")) and self.standings:
            from intrinsics_core.testing.suite import summary

            with open(target, "a", encoding="utf-8") as stream:
                for name, standings in self.standings.items():
                    stream.write(summary(name, standings, self.failed.get(name, {})) + "\n")

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take over what another process of pytest-xdist has found; one that died has told nothing."""
        from intrinsics_core.testing.suite import Standing

        found = getattr(node, "workeroutput", {}).get("intrinsics", {"standings": {}, "failed": {}})
        for name, standings in found["standings"].items():
            own = self.standings.setdefault(name, [])
            own += [one for one in (Standing(**fields) for fields in standings) if one not in own]
            own.sort(key=lambda one: self.metrics.index(one.metric))
        for name, failed in found["failed"].items():
            self.failed.setdefault(name, {}).update(failed)


class _Suite(pytest.File):
    """One file of cases, judged in one go when its first item runs."""

    cases: Sequence[Gated]
    heading: str
    _outcomes: list[Outcome] | None = None

    def collect(self) -> Iterable[pytest.Item]:
        return ()

    def items(self, gate: _Gate) -> list[pytest.Item]:
        found: list[pytest.Item] = []
        for i, case in enumerate(self.cases):
            item = _CaseItem.from_parent(self, name=f"case[{case.id}]")
            item.prepare(gate, i)
            found.append(item)
        for metric in gate.metrics:
            whole = _MetricItem.from_parent(self, name=metric)
            whole.prepare(gate, metric)
            found.append(whole)
        return found

    def outcomes(self, request: pytest.FixtureRequest) -> list[Outcome]:
        if self._outcomes is None:
            from intrinsics_core.testing.suite import judge

            runtime, chain = (request.getfixturevalue(f"intrinsics_{name}") for name in ("runtime", "chain"))
            self._outcomes = judge(self.cases, runtime, chain=chain)
        return self._outcomes


class _Item(pytest.Item):
    """An item that can ask for fixtures: those of the conftest.py beside the file of cases, or above it."""

    parent: _Suite
    gate: _Gate

    def setup(self) -> None:
        # The manager of fixtures has no public way for items that are no functions; pytest's own DoctestItem does this.
        self.funcargs: dict[str, Any] = {}
        self._fixtureinfo = self.session._fixturemanager.getfixtureinfo(node=self, func=None, cls=None)
        self.fixturenames = self._fixtureinfo.names_closure
        from _pytest.fixtures import TopRequest

        self._request = TopRequest(self, _ispytest=True)  # type: ignore[arg-type]

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        return str(excinfo.value) if isinstance(excinfo.value, _Failed) else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, f"{self.path.name}::{self.name}"


class _Failed(Exception):
    """A bound does not hold, or a case could not be judged: reported without a traceback."""


class _CaseItem(_Item):
    def prepare(self, gate: _Gate, index: int) -> None:
        self.gate, self.index = gate, index

    def runtest(self) -> None:
        outcome = self.parent.outcomes(self._request)[self.index]
        self.user_properties += [*outcome.values.items(), *((f"{name} label", v) for name, v in outcome.labels.items())]
        self.user_properties += [(f"{name} reason", why) for name, why in outcome.reasons.items()]
        if outcome.error:
            self.gate.failed.setdefault(self.parent.heading, {})[self.parent.cases[self.index].id] = outcome.error
            raise _Failed(outcome.error)
        if not outcome.labels:
            pytest.skip("nothing is judged: the chain gave no answer, and the case has no label answerable")


class _MetricItem(_Item):
    def prepare(self, gate: _Gate, metric: str) -> None:
        self.gate, self.metric = gate, metric

    def runtest(self) -> None:
        from intrinsics_core.testing.suite import notes, standing

        outcomes = self.parent.outcomes(self._request)
        values = [outcome.values[self.metric] for outcome in outcomes if self.metric in outcome.values]
        remarks = notes(self.metric, outcomes)
        if not values:
            needs = "an answer to judge" if self.metric == "faithfulness" else "the label answerable"
            why = "; ".join((f"no case has {needs}", *remarks))
            if self.metric in self.gate.bounds:
                raise _Failed(f"{self.metric} cannot be held against its bound: {why}")
            pytest.skip(why)
        found = standing(self.metric, values, self.gate.bounds.get(self.metric), remarks)
        self.gate.standings.setdefault(self.parent.heading, []).append(found)
        self.user_properties += [("value", found.value), ("low", found.low), ("high", found.high), ("n", found.n)]
        if not found.holds:
            raise _Failed(str(found))


class Judge:
    """What the fixture ``intrinsics`` gives: judges for tests of your own; the marker's bounds hold over all of it.

    Attributes:
        values: by metric, what was judged so far.
    """

    def __init__(self, runtime: Any) -> None:
        self.runtime = runtime
        self.values: dict[str, list[float]] = {}

    def faithfulness(self, answer: str, documents: Sequence[Any], *, question: str = "?") -> HallucinationDetection:
        """The verdict on an answer, counted under ``faithfulness``.

        It counts 0 if it has no words, or if it claims something and no document has text.

        Args:
            answer: the answer to judge.
            documents: texts or documents that the answer should rest on.
            question: the question that is answered.

        Returns:
            The result of the intrinsic ``hallucination-detection``.
        """
        from intrinsics_core import hallucination_detection, run
        from intrinsics_core.protocol.errors import raised
        from intrinsics_core.testing.counting import counts

        turns = [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
        verdict = run(hallucination_detection(turns, documents), self.runtime)
        (count,) = map(raised, counts([(turns, verdict)], self.runtime))
        if count.value is not None:
            self.values.setdefault("faithfulness", []).append(count.value)
        return verdict

    def answerability(self, question: str, documents: Sequence[Any], *, expected: bool | None = None) -> Answerability:
        """The verdict on a question; whether it is as ``expected`` is counted under ``answerability``.

        Args:
            question: the question.
            documents: texts or documents.
            expected: whether the documents answer the question, if the test knows it.

        Returns:
            The result of the intrinsic ``answerability``.
        """
        from intrinsics_core import answerability, run

        verdict = run(answerability([{"role": "user", "content": question}], documents), self.runtime)
        if expected is not None:
            self.values.setdefault("answerability", []).append(float(verdict.answerable == expected))
        return verdict


@pytest.fixture(scope="session")
def intrinsics_chain() -> Any:
    """Your chain: override it with a function from messages to ``{"documents": ..., "answer": ...}``.

    Left as it is, the recorded documents and answers of the cases are judged.
    """
    return None


@pytest.fixture(scope="session")
def intrinsics_runtime(request: pytest.FixtureRequest) -> Any:
    """The judges' runtime, by ``--intrinsics-runtime`` or the ini file; override it to give one of your own."""
    from intrinsics_core.runtimes import as_runtime
    from intrinsics_core.runtimes.configs import runtime_config

    text = request.config.getoption("--intrinsics-runtime") or request.config.getini("intrinsics_runtime") or None
    return as_runtime(runtime_config(text))


@pytest.fixture
def intrinsics(request: pytest.FixtureRequest, intrinsics_runtime: Any) -> Judge:
    """Judges for a test of your own; see :class:`Judge`."""
    judge = Judge(intrinsics_runtime)
    request.node.stash[_JUDGE] = judge
    return judge


_JUDGE = pytest.StashKey["Judge"]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """After a marked test: do its bounds hold over what it judged?"""
    yield
    markers = list(item.iter_markers("intrinsics"))
    if not markers:
        return
    from intrinsics_core.testing.suite import standing

    judge = item.stash.get(_JUDGE, None)
    for metric, bound in _bounds_of(markers).items():
        values = judge.values.get(metric) if judge else None
        if not values:
            pytest.fail(
                f"{metric}: the test is marked with a bound, but it judged nothing with the fixture `intrinsics`"
            )
        found = standing(metric, values, bound)
        item.user_properties += [(metric, found.value), (f"{metric} low", found.low), (f"{metric} high", found.high)]
        if not found.holds:
            pytest.fail(str(found), pytrace=False)


def _bounds_of(markers: Sequence[pytest.Mark]) -> dict[str, float]:
    """The bounds of a test's markers, of its class's and of its module's. Of one metric the closest marker counts."""
    from intrinsics_core.testing.suite import bounds

    found: dict[str, float] = {}
    for marker in markers:
        if marker.args or not marker.kwargs:
            pytest.fail(f"the marker gives no bound that counts; expected {MARKER.partition(':')[0]}", pytrace=False)
        found = bounds([f"{name}={value}" for name, value in marker.kwargs.items()]) | found
    return found
