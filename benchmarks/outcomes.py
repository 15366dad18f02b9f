"""What the embedded default of any commit says to the same calls: results as JSON, kept so that each is made once.

A job is an intrinsic with its messages and documents, as data. A subprocess runs jobs through the public functions
alone (`intrinsics_core.<intrinsic>`, `run_many`, `as_runtime`), so that this file measures commits that know nothing
of it. The results of a commit stay in `.floor/`, beside the repository's first working tree.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

Job = dict[str, Any]
Outcome = dict[str, Any]
ROOT = Path(__file__).resolve().parents[1]
CORE = "intrinsics_core"
TOGETHER = 64
DIMENSIONS = 384
MEMORY = "models.sqlite"


def job(
    intrinsic: str, messages: Sequence[Any], documents: Sequence[Any] = (), *, reader: bool = True, **more: Any
) -> Job:
    """A call as data. more: further arguments of the intrinsic."""
    return {
        "intrinsic": intrinsic, "messages": list(messages), "documents": list(documents), "reader": reader, "more": more
    }  # fmt: skip


def key_of(one: Job) -> str:
    return hashlib.sha256(json.dumps(one, sort_keys=True).encode()).hexdigest()


def git(*words: str, index: Path | None = None) -> str:
    env = os.environ | ({"GIT_INDEX_FILE": str(index)} if index else {})
    return subprocess.run(
        ["git", "-C", ROOT, *words], check=True, capture_output=True, text=True, env=env
    ).stdout.strip()


def state(commit: str | None) -> str:
    """Git's hash of the core's files at a commit; None: as they stand in this working tree, committed or not."""
    if commit is not None:
        return git("rev-parse", f"{commit}:{CORE}")
    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder) / "index"
        git("read-tree", "HEAD", index=index)
        git("add", "--all", CORE, index=index)
        return git("rev-parse", f"{git('write-tree', index=index)}:{CORE}")


@contextmanager
def tree_of(commit: str | None) -> Iterator[Path]:
    """The working tree of a commit for a while; None: this one."""
    if commit is None:
        yield ROOT
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tree"
        git("worktree", "add", "--detach", str(path), commit)
        try:
            yield path
        finally:
            git("worktree", "remove", "--force", str(path))


def child(tree: Path, *mode: str) -> subprocess.Popen[str]:
    """A process that runs this file over the core of a tree. Of this folder nothing else can be imported there (-P)."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {"PYTHONPATH": str(tree)}
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-P", __file__, *mode], stdin=pipe, stdout=pipe, text=True, env=env)


def folder() -> Path:
    """Where results are kept: beside the repository's first working tree."""
    kept = Path(git("rev-parse", "--path-format=absolute", "--git-common-dir")).parent / ".floor"
    kept.mkdir(exist_ok=True)
    return kept


def outcomes(jobs: Sequence[Job], commit: str | None = None) -> list[Outcome]:
    """The results of the jobs at a commit (None: of this working tree), in their order."""
    kept = folder() / f"{state(commit)}.jsonl"
    known: dict[str, Outcome] = {}
    if kept.exists():
        for line in kept.read_text("utf-8").splitlines():
            known |= json.loads(line)
    new = {key: one for one in jobs if (key := key_of(one)) not in known}
    if new:
        with (
            tree_of(commit) as tree,
            child(tree, "run", str(kept.with_name(MEMORY))) as running,
            kept.open("a", encoding="utf-8") as file,
        ):
            assert running.stdin and running.stdout
            running.stdin.write(json.dumps(new))
            running.stdin.close()
            for line in running.stdout:
                file.write(line)
                file.flush()
                known |= json.loads(line)
        if running.returncode:
            raise SystemExit(f"the jobs at {commit or 'this working tree'} ended with {running.returncode}")
    return [known[key_of(one)] for one in jobs]


def milliseconds(jobs: Sequence[Job], commits: Sequence[str | None], rounds: int = 3) -> list[float]:
    """CPU time of one job at each commit, all threads together: the least of some rounds, in which they take turns."""
    found: list[list[float]] = [[] for _ in commits]
    for _ in range(rounds):
        for place, commit in zip(found, commits, strict=True):
            with tree_of(commit) as tree, child(tree, "time") as running:
                told, _ = running.communicate(json.dumps(dict(enumerate(jobs))))
            place.append(float(told))
    return [min(each) for each in found]


def remembering(memory: Path, *, reader: bool) -> Any:
    """The embedded default that reads no text twice: vectors and logits stay in a file, by the models' own bytes.

    A score depends on nothing else that is asked with it, so what one commit read serves the next.
    """
    import sqlite3

    import numpy as np

    from intrinsics_core.embedded.runtime import EmbeddedRuntime
    from intrinsics_core.protocol.requests import Embed, Embedded, Score, Scored

    models = hashlib.sha256()
    for part in ("encoder", "reader"):
        for path in sorted((Path(sys.modules[CORE].__file__ or "").parent / "data" / part).iterdir()):
            models.update(path.read_bytes())
    store = sqlite3.connect(memory, timeout=600, check_same_thread=False, isolation_level=None)
    store.execute("PRAGMA journal_mode=WAL")
    store.execute("PRAGMA synchronous=OFF")
    store.execute("CREATE TABLE IF NOT EXISTS known (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID")
    lately: dict[bytes, bytes] = {}

    def recalled(keys: Sequence[bytes]) -> dict[bytes, bytes]:
        for key in {key for key in keys if key not in lately}:
            if row := store.execute("SELECT value FROM known WHERE key = ?", (key,)).fetchone():
                lately[key] = row[0]
        return {key: lately[key] for key in keys if key in lately}

    def key(*parts: str) -> bytes:
        each = models.copy()
        each.update(json.dumps(parts).encode())
        return each.digest()[:16]

    class Remembering(EmbeddedRuntime):
        def handle(self, requests: Sequence[Any]) -> list[Any]:
            keys, asked = [], []
            for request in requests:
                if isinstance(request, Score):
                    texts, names = request.pairs, [key(request.task, *pair) for pair in request.pairs]
                elif isinstance(request, Embed) and sum(map(len, request.texts)) < 10**6:  # else some may be cut
                    texts, names = request.texts, [key(request.kind, text) for text in request.texts]
                else:
                    keys.append(None)
                    asked.append(request)
                    continue
                known = recalled(names)
                new = {name: text for name, text in zip(names, texts, strict=True) if name not in known}
                field = "pairs" if isinstance(request, Score) else "texts"
                keys.append((names, list(new)))
                asked.append(replace(request, **{field: tuple(new.values())}) if new else None)
            told = iter(super().handle([each for each in asked if each is not None]))
            return [
                self._joined(request, names, None if each is None else next(told))
                for request, names, each in zip(requests, keys, asked, strict=True)
            ]

        def _joined(self, request: Any, names: Any, outcome: Any) -> Any:
            if names is None or not isinstance(outcome, Scored | Embedded | None):
                return outcome
            every, new = names
            if outcome is not None:
                rows = outcome.logits if isinstance(outcome, Scored) else outcome.vectors
                kind = np.float64 if isinstance(outcome, Scored) else np.float32
                made = [(name, np.asarray(row, kind).tobytes()) for name, row in zip(new, rows, strict=True)]
                lately.update(made)
                store.executemany("INSERT OR IGNORE INTO known VALUES (?, ?)", made)
            if isinstance(request, Score):
                return Scored(tuple(tuple(np.frombuffer(lately[name]).tolist()) for name in every), ("yes",))
            return Embedded(tuple(np.frombuffer(lately[name], np.float32).reshape(-1, DIMENSIONS) for name in every))

    return Remembering() if reader else Remembering(reader=False)


def run_jobs(core: Any, jobs: Sequence[Job], runtime: Any) -> list[Outcome]:
    """The results of jobs on a runtime, in their order. core: the package `intrinsics_core` of some commit."""

    def call(one: Job) -> Any:
        intrinsic = getattr(core, one["intrinsic"].replace("-", "_"))
        given = [one["messages"], one["documents"]] if one["documents"] else [one["messages"]]
        try:
            return intrinsic(*given, **one["more"])
        except core.IntrinsicsError as error:
            return error

    def told(result: Any) -> Outcome:
        if isinstance(result, core.RuntimeUnavailable):
            raise result  # the environment's fault: nothing to keep
        if isinstance(result, core.IntrinsicsError):
            return {"error": f"{type(result).__name__}: {result}"}
        found: Outcome = result.model_dump(mode="json")
        return found

    return [told(result) for result in core.run_many([call(one) for one in jobs], runtime)]


def main() -> None:
    import time
    from itertools import islice

    import intrinsics_core as core

    jobs: dict[str, Job] = json.load(sys.stdin)
    if sys.argv[1] == "time":
        runtime = core.as_runtime({"kind": "embedded", "threads": 1})
        first, *others = jobs.values()
        run_jobs(core, [first], runtime)  # what is loaded once
        begun = time.process_time()
        for one in others:
            run_jobs(core, [one], runtime)
        print(1000 * (time.process_time() - begun) / len(others))
        return
    for reads in (False, True):
        runtime = remembering(Path(sys.argv[2]), reader=reads)
        some = iter([(key, one) for key, one in jobs.items() if one["reader"] is reads])
        while drawn := list(islice(some, TOGETHER)):
            found = run_jobs(core, [one for _, one in drawn], runtime)
            print(json.dumps({key: each for (key, _), each in zip(drawn, found, strict=True)}), flush=True)


if __name__ == "__main__":
    main()
