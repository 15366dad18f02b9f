"""The same app on a local Ray: two replicas behind Ray's own proxy."""

from __future__ import annotations

import os
import socket

import pytest

os.environ.setdefault("RAY_raylet_start_wait_time_s", "200")  # read as Ray is imported; a busy machine takes its time
pytest.importorskip("ray.serve", reason="Ray has an environment of its own")


def test_it_answers_from_replicas(monkeypatch):
    import httpx
    import ray
    from ray import serve

    from intrinsics_core.service.ray_serve import build, deployment

    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False, object_store_memory=2**27)
    try:
        serve.start(http_options={"host": "127.0.0.1", "port": port})
        fast = {"kind": "embedded", "reader": False}
        serve.run(build(fast, num_replicas=2, ray_actor_options={"num_cpus": 1}))
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=300, trust_env=False) as http:
            for _ in range(6):
                told = http.post("/v1/rerank", json={"query": "Who built it?", "documents": ["Fog.", "Ada built it."]})
                assert [row["index"] for row in told.json()["results"]] == [1, 0]
            assert http.post("/v1/rerank", json={"query": ""}).json()["title"] == "InvalidInput"
            assert http.get("/ready").status_code in (200, 503)
            told = http.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
                             headers={"accept": "application/json, text/event-stream"})  # fmt: skip
            assert len(told.json()["result"]["tools"]) == 7
        assert deployment({"runtime": '{"kind": "embedded"}'}) is not None
    finally:
        serve.shutdown()
        ray.shutdown()
