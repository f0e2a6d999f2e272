"""openai-agents: a Runner with a Model of our own. Traces are made, and sent to nobody."""

import asyncio
import json
from typing import Any

from agents import (
    Agent,
    Model,
    ModelResponse,
    Runner,
    Usage,
    function_tool,
    set_trace_processors,
)
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputItem,
    ResponseOutputMessage,
    ResponseOutputText,
)

from .measure import ARGUMENTS, TEXT, Script, measure

script = Script()


class Scripted(Model):
    async def get_response(self, *args: Any, **options: Any) -> ModelResponse:
        call = script.next_call()
        text = ResponseOutputText(annotations=[], text=TEXT, type="output_text")
        output: list[ResponseOutputItem] = [
            ResponseOutputMessage(
                id=f"message_{script.asked}",
                content=[text],
                role="assistant",
                status="completed",
                type="message",
            )
        ]
        if call is not None:
            output.append(
                ResponseFunctionToolCall(
                    arguments=json.dumps(ARGUMENTS), call_id=call, name="calc", type="function_call"
                )
            )
        return ModelResponse(output, Usage(), response_id=None)

    def stream_response(self, *args: Any, **options: Any) -> Any:
        raise NotImplementedError


@function_tool
async def calc(expression: str) -> str:
    """Calculate."""
    return script.run_tool()


agent = Agent("bench", model=Scripted(), tools=[calc])


def converse() -> None:
    asyncio.run(Runner.run(agent, "go", max_turns=script.turns + 1))


if __name__ == "__main__":
    set_trace_processors([])
    measure("openai-agents", script, converse)
