"""The tools in a LangChain agent, by langchain-mcp-adapters, over both transports."""

from __future__ import annotations

from typing import Any

import pytest

clients = pytest.importorskip("langchain_mcp_adapters.client", reason="its MCP SDK is older: an environment of its own")
pytest.importorskip("langchain.agents", reason="agents need LangChain")

from tests.service.running import command  # noqa: E402

CHECKED = {
    "question": "Who built the tide mill?",
    "answer": "The tide mill was built in 1911. She painted it gold for forty sailors.",
    "documents": ["The tide mill was built in 1911 by the engineer Ada Brink."],
}


@pytest.mark.parametrize("transport", ["http", "stdio"])
async def test_an_agent_calls_a_tool_and_reads_what_it_says(service, transport):
    from langchain.agents import create_agent
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage, ToolMessage

    program, *arguments = command()
    client = clients.MultiServerMCPClient({
        "rag": {"transport": "streamable_http", "url": f"{service}/mcp"} if transport == "http"
        else {"transport": "stdio", "command": program, "args": [*arguments, "mcp"]}
    })  # fmt: skip
    tools = await client.get_tools()
    assert {tool.name for tool in tools} >= {"audit_answer", "is_answerable", "rerank", "rewrite_question", "cite"}

    class Model(GenericFakeChatModel):
        def bind_tools(self, tools: Any, **more: Any) -> Any:
            return self

    turns = [
        AIMessage("", tool_calls=[{"name": "audit_answer", "args": CHECKED, "id": "1"}]),
        AIMessage("", tool_calls=[{"name": "cite", "args": {"answer": 1}, "id": "2"}]),
        AIMessage("One sentence is not supported."),
    ]
    agent = create_agent(Model(messages=iter(turns)), tools)
    told = await agent.ainvoke({"messages": [{"role": "user", "content": "Check it."}]})
    audited, refused = (str(m.content) for m in told["messages"] if isinstance(m, ToolMessage))
    assert "1 of 2 sentences" in audited
    assert "She painted it gold" in audited
    assert "InvalidInput" in refused or "validation" in refused.lower()
    assert told["messages"][-1].content == "One sentence is not supported."
