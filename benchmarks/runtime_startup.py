"""What each runtime costs before and while it answers: time to its first answer, memory of its process (Linux).

    python -m benchmarks.runtime_startup [--vllm-python PATH]

Every runtime starts in a process of its own. Embedded: the shipped encoder. Server: the client alone, against a
loopback server that answers at once (the model's cost is the server's). Transformers and vLLM: a tiny random Granite
with two LoRA adapters; a real model adds the size of its weights to the memory and the time to read them to the start.
``--vllm-python`` names the interpreter of an environment that has vLLM and this project's dependencies.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

# Run in the fresh process: prints one line of JSON.
MEASURE = """
import json, sys, time
begun, spent = time.perf_counter(), time.process_time()
import intrinsics_core as ic
imported = time.perf_counter() - begun
config, profile = json.loads(sys.argv[1]), sys.argv[2]
def ask(number):
    messages = [{"role": "user", "content": f"Who built bridge {number}?"}]
    documents = [f"Ada Brink built bridge {number} in 1911.", "The harbour froze."]
    return ic.run(ic.answerability(messages, documents), runtime, profile=profile)
runtime = ic.as_runtime(config)
ask(0)
first, first_cpu = time.perf_counter() - begun, time.process_time() - spent
again = time.perf_counter()
for number in range(1, 11):
    ask(number)
again = (time.perf_counter() - again) / 10
# Not ru_maxrss: that begins with what the parent held when it forked.
memory = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) / 1024
print("MEASURED" + json.dumps([imported, first, first_cpu, again, memory]))
"""

VLLM_SETTINGS = {
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0", "VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1", "HF_HUB_OFFLINE": "1", "TORCHDYNAMO_DISABLE": "1",
}  # fmt: skip


class Loopback(BaseHTTPRequestHandler):
    """An OpenAI-compatible server with one adapter that always says the same."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet: in two, the second waits 40 ms for an acknowledgement

    def do_GET(self) -> None:
        listed = [{"id": "base", "object": "model"}, {"id": "answerability", "parent": "base", "object": "model"}]
        self._reply({"object": "list", "data": listed})

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        choice = {"index": 0, "text": "answerable", "finish_reason": "stop"}
        usage = {"prompt_tokens": 90, "completion_tokens": 2, "total_tokens": 92}
        self._reply({"id": "1", "object": "text_completion", "model": "x", "choices": [choice], "usage": usage})

    def log_message(self, *_: object) -> None: ...

    def _reply(self, value: object) -> None:
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def measure(python: str, config: dict[str, object], profile: str, **environment: str) -> list[float]:
    root = str(Path(__file__).parents[1])
    path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [python, "-c", MEASURE, json.dumps(config), profile],
        capture_output=True,
        text=True,
        env=os.environ | environment | {"PYTHONPATH": path},
    )
    line = next((line for line in done.stdout.splitlines() if line.startswith("MEASURED")), None)
    if line is None:
        raise SystemExit(f"{config['kind']} did not answer:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    values: list[float] = json.loads(line.removeprefix("MEASURED"))
    return values


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--vllm-python", help="interpreter of an environment with vLLM")
    chosen = options.parse_args()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Loopback)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    from tests.tiny_granite import build

    print("| runtime | import (s) | first answer (s) | of it CPU (s) | next answers (ms each) | peak memory (MB) |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        build(folder)
        adapters = {name: f"{folder}/{name}" for name in ("answerability", "citations")}
        local = {"model": f"{folder}/base", "dtype": "float32", "adapters": adapters}
        engine = {"enforce_eager": True, "block_size": 32, "distributed_executor_backend": "uni"}
        rows: list[tuple[str, str, dict[str, object], str, dict[str, str]]] = [
            ("embedded", sys.executable, {"kind": "embedded"}, "embedded", {}),
            ("server (client)", sys.executable,
             {"kind": "server", "base_url": f"http://127.0.0.1:{server.server_port}/v1"}, "granite-3.3", {}),
            ("transformers", sys.executable, {"kind": "transformers", **local}, "granite-3.3", {}),
        ]  # fmt: skip
        if chosen.vllm_python:
            config = {"kind": "vllm", **local, "engine": engine}
            rows.append(("vllm (CPU)", chosen.vllm_python, config, "granite-3.3", VLLM_SETTINGS))
        for name, python, config, profile, environment in rows:
            imported, first, cpu, again, memory = measure(python, config, profile, **environment)
            print(
                f"| {name} | {imported:.2f} | {first:.2f} | {cpu:.2f} | {1000 * again:.1f} | {memory:.0f} |", flush=True
            )
    server.shutdown()


if __name__ == "__main__":
    main()
