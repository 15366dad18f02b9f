"""Who may ask: hosts, origins, tokens."""

from __future__ import annotations

import httpx
import pytest

from intrinsics_core import InvalidInput
from intrinsics_core.service.app import create_app
from intrinsics_core.service.process import Settings
from intrinsics_core.service.security import is_loopback, read_token
from tests.service.running import in_thread

TOKEN = "a-token-of-some-length"
ASKED = {"query": "fog", "documents": ["Fog."]}


@pytest.fixture(scope="module")
def guarded():
    app = create_app(token=TOKEN, hosts=["judge.example"], origins=["https://app.example"])
    with in_thread(app) as url, httpx.Client(base_url=url, timeout=120, trust_env=False) as client:
        yield client


def bearer(token):
    return {"authorization": f"Bearer {token}"}


@pytest.mark.parametrize(
    "headers",
    [{}, bearer("x"), bearer(TOKEN + "x"), bearer(TOKEN[:-1]), {"authorization": "Bearer"},
     {"authorization": f"Basic {TOKEN}"}, {"authorization": TOKEN}],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/v1/rerank", "/v1/intrinsics/audit", "/mcp", "/nowhere"])
def test_nothing_without_the_token(guarded, path, headers):
    told = guarded.post(path, json=ASKED, headers=headers)
    assert (told.status_code, told.headers["www-authenticate"]) == (401, "Bearer")
    assert told.headers["content-type"] == "application/problem+json"


def test_with_the_token(guarded):
    assert guarded.post("/v1/rerank", json=ASKED, headers=bearer(TOKEN)).status_code == 200
    assert guarded.post("/v1/rerank", json=ASKED, headers={"authorization": f"bearer {TOKEN}"}).status_code == 200
    assert guarded.get("/metrics").status_code == 401
    assert guarded.get("/metrics", headers=bearer(TOKEN)).status_code == 200


@pytest.mark.parametrize("path", ["/health", "/ready", "/docs", "/openapi.json", "/docs.css"])
def test_probes_and_pages_need_none(guarded, path):
    assert guarded.get(path).status_code in (200, 503)
    assert guarded.post(path).status_code == 401


@pytest.mark.parametrize(
    ("host", "status"),
    [("evil.example", 421), ("localhost.evil.example", 421), ("127.0.0.1.evil.example", 421), ("", 421),
     ("judge.example@evil.example", 421), ("judge.example", 200), ("JUDGE.example:80", 200), ("localhost:1", 200),
     ("127.0.0.1", 200), ("[::1]:8010", 200), ("10.1.2.3:8010", 200), ("[::1", 421), ("a b", 421)],
)  # fmt: skip
def test_a_host_that_is_not_ours_is_refused(guarded, host, status):
    assert guarded.get("/health", headers={"host": host}).status_code in ({status} if status == 200 else {421, 400})


@pytest.mark.parametrize(
    ("origin", "status"),
    [("https://evil.example", 403), ("null", 403), ("https://app.example.evil", 403), ("https://app.example", 200)],
)
def test_a_page_of_another_origin_is_refused_but_one_that_is_named(guarded, origin, status):
    told = guarded.post("/v1/rerank", json=ASKED, headers={"origin": origin, **bearer(TOKEN)})
    assert told.status_code == status
    assert told.headers.get("access-control-allow-origin") == (origin if status == 200 else None)


def test_its_own_page_may_ask(http, service):
    assert http.post("/v1/rerank", json=ASKED, headers={"origin": service}).status_code == 200


def test_cors_is_off_unless_named(http, guarded):
    asked = {"access-control-request-method": "POST", "access-control-request-headers": "authorization"}
    told = http.options("/v1/rerank", headers={"origin": "https://app.example", **asked})
    assert told.status_code == 403
    told = guarded.options("/v1/rerank", headers={"origin": "https://app.example", **asked})
    assert (told.status_code, told.headers["access-control-allow-origin"]) == (200, "https://app.example")


def test_other_machines_need_a_token(tmp_path):
    for host in ("0.0.0.0", "::", "10.0.0.1", "judge.example"):
        with pytest.raises(InvalidInput, match="other machines"):
            Settings({"default": None}, host=host).app()
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    Settings({"default": None}, host="0.0.0.0", token_file=str(tmp_path / "token")).app()
    assert all(map(is_loopback, ("127.0.0.1", "127.9.9.9", "::1", "localhost")))


@pytest.mark.parametrize("content", ["", "short", "two words of a token", "ümläut-und-lang-genug", "\x00" * 20])
def test_a_token_that_keeps_nobody_out(tmp_path, content):
    (tmp_path / "token").write_text(content)
    with pytest.raises(InvalidInput) as told:
        read_token(tmp_path / "token")
    assert not content.strip() or content not in str(told.value)
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_token(tmp_path / "absent")


def test_keys_of_configs_are_not_shown(service):
    config = {"kind": "server", "base_url": "http://127.0.0.1:9/v1", "api_key": "sk-very-secret", "max_retries": 0}
    with in_thread(create_app(config)) as url, httpx.Client(base_url=url, timeout=120, trust_env=False) as client:
        row = {"messages": [{"role": "user", "content": "sk-very-secret?"}], "documents": [1]}
        told = client.post("/v1/intrinsics/answerability", json=row)
        assert "sk-very-secret" not in told.text
        told = client.post("/v1/intrinsics/answerability", json={**row, "documents": ["Ada."]})
        assert told.status_code == 503 and "127.0.0.1:9" not in told.text and "cannot be reached" in told.text
