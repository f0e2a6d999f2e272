"""pydantic-ai: an Agent with a FunctionModel, its model for tests."""

import asyncio

from pydantic_ai import Agent, ModelMessage, ModelResponse, RequestUsage, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import UsageLimits

from .measure import ARGUMENTS, TEXT, Script, measure

script = Script()


async def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    # Without a usage, FunctionModel would estimate one from the whole history in each turn.
    usage = RequestUsage(input_tokens=1, output_tokens=1)
    call = script.next_call()
    if call is None:
        return ModelResponse([TextPart(TEXT)], usage=usage)
    return ModelResponse([TextPart(TEXT), ToolCallPart("calc", ARGUMENTS, call)], usage=usage)


agent = Agent(FunctionModel(answer))


@agent.tool_plain
async def calc(expression: str) -> str:
    return script.run_tool()


def converse() -> None:
    asyncio.run(agent.run("go", usage_limits=UsageLimits(request_limit=None)))


if __name__ == "__main__":
    measure("pydantic-ai-slim", script, converse)
