"""Programs in which one LLM writes and judges: a real client of OpenAI's protocol, over real HTTP that is kept open."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

pytest.importorskip("llama_index.llms.openai_like", reason="llama-index-llms-openai-like is not installed")

from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.llms.openai_like import OpenAILike
from llama_index.postprocessor.rag_intrinsics import IntrinsicsRerank
from llama_index.response_synthesizers.rag_intrinsics import AnswerabilityGate
from pydantic import BaseModel

from tests.contract.openai import KEY, Handler, Server

ASKED = "When does the market hall open on Fridays?"
HALL = "The market hall opens at six in the morning on Fridays. On other days it opens at eight."
SAID = "It opens at six in the morning."
TOOL = {"type": "function", "function": {"name": "send_mail", "description": "Send a mail.", "parameters": {}}}


def judges(body: dict[str, Any]) -> bool:
    """Whether a judge asks: its prompt shows data between marks, whatever the client's release can constrain."""
    return "<data>" in json.dumps(body["messages"])


class KeptOpen(Handler):
    protocol_version = "HTTP/1.1"  # the client's connections outlive a request


class Town(Server):
    """Writes an answer, and judges where it is asked for JSON."""

    def __init__(self) -> None:
        super().__init__()
        self.RequestHandlerClass = KeptOpen

    def handle_error(self, *_: Any) -> None:
        """A client that drops a connection with its event loop is what is tested here."""

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        self.seen.append(body)
        if not judges(body):
            content = json.dumps({"opens": "six"}) if body.get("tools") else SAID
        elif "answerability" in json.dumps(body):
            content = json.dumps({"answerability": "answerable", "confidence": 0.9})
        else:
            content = json.dumps({"ranking": ["0", "1"]})
        message: dict[str, Any] = {"role": "assistant", "content": content}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        usage = {"prompt_tokens": 9, "completion_tokens": 6, "total_tokens": 15}
        return 200, {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice],
                     "usage": usage}  # fmt: skip


@pytest.fixture
def town() -> Iterator[Town]:
    server = Town()
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def client(town: Town, **settings: Any) -> OpenAILike:
    fixed = {"is_chat_model": True, "should_use_structured_outputs": True, "timeout": 20.0}
    return OpenAILike(model="m", api_base=town.url, api_key=KEY, **fixed, **settings)


def nodes() -> list[NodeWithScore]:
    return [NodeWithScore(node=TextNode(text=HALL)), NodeWithScore(node=TextNode(text="Fog is common in spring."))]


def gated(llm: Any, **settings: Any) -> AnswerabilityGate:
    return AnswerabilityGate(llm, runtime=llm, **settings)


def checked(response: Any) -> None:
    assert str(response).strip() == SAID
    assert response.metadata["rag_intrinsics"]["answerability"]["label"] == "answerable"
    assert "degraded" not in response.metadata["rag_intrinsics"]["answerability"]


def test_21_one_client_writes_and_judges_sync_and_async(town: Town) -> None:
    grounded = gated(client(town))
    checked(grounded.synthesize(ASKED, nodes()))
    checked(asyncio.run(grounded.asynthesize(ASKED, nodes())))
    checked(grounded.synthesize(ASKED, nodes()))


def test_21_in_threads(town: Town) -> None:
    grounded = gated(client(town))
    with ThreadPoolExecutor(6) as pool:
        for response in pool.map(lambda _: grounded.synthesize(ASKED, nodes()), range(12)):
            checked(response)


def test_21_on_two_event_loops_one_after_another(town: Town) -> None:
    grounded = gated(client(town))

    async def several() -> None:
        for response in await asyncio.gather(*(grounded.asynthesize(ASKED, nodes()) for _ in range(4))):
            checked(response)

    for _ in range(3):
        asyncio.run(several())


@pytest.mark.parametrize("at_once", [False, True])
def test_21_judges_on_several_event_loops_without_a_retry(town: Town, at_once: bool) -> None:
    rerank = IntrinsicsRerank(runtime=client(town, max_retries=0))

    def ranked(_: int) -> str:
        return asyncio.run(rerank.apostprocess_nodes(nodes(), query_str=ASKED))[0].text

    with ThreadPoolExecutor(3 if at_once else 1) as pool:
        assert list(pool.map(ranked, range(6))) == [HALL] * 6


def test_21_judges_are_given_no_tools_and_do_not_stream(town: Town) -> None:
    given = {"tools": [TOOL], "tool_choice": "auto", "parallel_tool_calls": False, "seed": 7}
    llm = client(town, additional_kwargs=given)
    gated(llm).synthesize(ASKED, nodes())
    (judged,) = [body for body in town.seen if judges(body)]
    (written,) = [body for body in town.seen if not judges(body)]
    assert not {"tools", "tool_choice", "parallel_tool_calls"} & set(judged) and not judged.get("stream")
    assert judged["seed"] == 7 and written["tools"] == [TOOL]
    assert llm.additional_kwargs == given


class Hours(BaseModel):
    """When the hall opens."""

    opens: str


def test_21_an_llm_for_objects_judges_without_its_object(town: Town) -> None:
    structured = client(town).as_structured_llm(Hours)
    rerank = IntrinsicsRerank(runtime=structured)
    assert rerank.postprocess_nodes(nodes(), query_str=ASKED)[0].text == HALL
    assert asyncio.run(rerank.apostprocess_nodes(nodes(), query_str=ASKED))[0].text == HALL
    assert "Hours" not in json.dumps(town.seen)
    assert get_response_synthesizer(llm=structured)._llm is structured
