"""A cross-encoder on a real vLLM's score endpoint: ``.ci/vllm.sh`` names the Python that has vLLM, and runs this."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from intrinsics_core import ContextTooLong, answerability, as_runtime, reranking, run
from intrinsics_core.protocol.requests import Score, Scored

PYTHON = os.environ.get("RAG_INTRINSICS_SCORE_PYTHON")
pytestmark = [
    pytest.mark.vllm,
    pytest.mark.skipif(not PYTHON, reason="RAG_INTRINSICS_SCORE_PYTHON is unset; .ci/vllm.sh sets it"),
]
BUILD = Path(__file__).with_name("build.py")
QUESTION = [{"role": "user", "content": "question"}]
PAIRS = [("question", "w1 fact w2"), ("question", "w1 w2 w3"), ("question w1", "w4 . fact word")]
FILLER = "w1 w2 w3 word. " * 3334  # 50,010 characters
PLANTED = [{"id": "without", "text": FILLER}, {"id": "with", "text": FILLER + "w5 fact w6."}]
START_S = 300  # a server's start, on a machine that does other things too


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("score") / "ranker"
    subprocess.run([str(PYTHON), str(BUILD), str(made), json.dumps(PAIRS)], check=True, timeout=300)
    return made


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[str]:
    """The address of a vLLM that serves the model as ``ranker``."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = folder.parent / "vllm.log"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with log.open("w") as out:
        server = subprocess.Popen(
            [str(PYTHON), "-m", "vllm.entrypoints.openai.api_server", "--model", str(folder), "--port", str(port),
             "--host", "127.0.0.1", "--served-model-name", "ranker", "--dtype", "float32", "--enforce-eager",
             "--max-model-len", "160"],
            stdout=out, stderr=out, cwd=folder.parent,
            env={**environment, "VLLM_CPU_KVCACHE_SPACE": "1", "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1",
                 "DO_NOT_TRACK": "1", "TORCHDYNAMO_DISABLE": "1"},
        )  # fmt: skip
    try:
        deadline = time.monotonic() + START_S
        while not healthy(port):
            assert server.poll() is None and time.monotonic() < deadline, log.read_text()[-5000:]
            time.sleep(0.5)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        try:
            server.wait(60)
        except subprocess.TimeoutExpired:
            server.kill()


def healthy(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as reply:
            return bool(reply.status == 200)
    except OSError:
        return False


def test_a_cross_encoder_on_a_real_vllm(folder: Path, served: str) -> None:
    with as_runtime({"kind": "encoders", "base_url": served, "relevance": "ranker"}) as runtime:
        (reply,) = runtime.handle([Score("test", tuple(PAIRS), "relevance")])
        assert isinstance(reply, Scored), reply
        ours = [row[0] for row in reply.logits]
        assert ours == pytest.approx(json.loads((folder / "expected.json").read_text()), abs=1e-3)

        ranked: Any = run(reranking(QUESTION, PLANTED), runtime)
        assert [row.document_id for row in ranked.ranking] == ["with", "without"]
        assert ranked.ranking[0].score > 0.9 > 0.1 > ranked.ranking[1].score and ranked.read == 1.0
        with pytest.raises(ContextTooLong, match="question"):
            run(answerability([{"role": "user", "content": "w1 " * 5000}], ["w1 fact"]), runtime)
