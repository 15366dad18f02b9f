"""An LLM that calls the tools it is given, one after another, and then answers: for agents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.bridge.pydantic import Field
from llama_index.core.llms import ChatMessage, ChatResponse
from llama_index.core.llms.llm import ToolSelection

from integrations.llamaindex.tests.llms import ChattingLLM


class ToolUser(ChattingLLM):
    """Calls each of ``calls`` once, with what the user asked, then says ``says``."""

    calls: list[str]
    says: str
    done: list[str] = Field(default_factory=list)

    def _prepare_chat_with_tools(self, tools: Any, user_msg: Any = None, chat_history: Any = None, **_: Any) -> Any:
        return {"messages": chat_history}

    def get_tool_calls_from_response(self, response: Any, **_: Any) -> list[ToolSelection]:
        return [ToolSelection(**call) for call in response.message.additional_kwargs.get("tool_calls", ())]

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        left = [name for name in self.calls if name not in self.done]
        if not left:
            return ChatResponse(message=ChatMessage(self.says, role="assistant"), delta=self.says)
        self.done.append(left[0])
        asked = next(m.content for m in messages if m.role == "user")
        key = "text" if left[0] == "send" else "input"
        call = {"tool_id": left[0], "tool_name": left[0], "tool_kwargs": {key: asked}}
        return ChatResponse(message=ChatMessage("", role="assistant", additional_kwargs={"tool_calls": [call]}))

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        return self.chat(messages)

    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
        async def said() -> Any:
            yield self.chat(messages)

        return said()

    async def astream_chat_with_tools(self, tools: Any, chat_history: Any = None, **kwargs: Any) -> Any:
        return await self.astream_chat(chat_history)
