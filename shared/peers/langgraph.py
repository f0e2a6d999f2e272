"""langgraph: a graph of a model node and its ToolNode, with a chat model of our own."""

import asyncio
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from .measure import ARGUMENTS, TEXT, Script, measure

script = Script()


class Scripted(BaseChatModel):
    def _generate(self, *args: Any, **options: Any) -> ChatResult:
        call = script.next_call()
        calls = [{"name": "calc", "args": ARGUMENTS, "id": call}] if call else []
        message = AIMessage(TEXT, tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _agenerate(self, *args: Any, **options: Any) -> ChatResult:
        return self._generate()

    @property
    def _llm_type(self) -> str:
        return "scripted"


@tool
async def calc(expression: str) -> str:
    """Calculate."""
    return script.run_tool()


chat_model = Scripted()


async def ask(state: MessagesState) -> dict[str, list[BaseMessage]]:
    return {"messages": [await chat_model.ainvoke(state["messages"])]}


builder = StateGraph(MessagesState)
builder.add_node("ask", ask)
builder.add_node("tools", ToolNode([calc]))
builder.add_edge(START, "ask")
builder.add_conditional_edges("ask", tools_condition)
builder.add_edge("tools", "ask")
graph = builder.compile()


def converse() -> None:
    limit = {"recursion_limit": 2 * script.turns + 2}
    asyncio.run(graph.ainvoke({"messages": [("user", "go")]}, limit))


if __name__ == "__main__":
    measure("langgraph", script, converse)
