"""strands-agents: an Agent with a Model of our own. What it prints is switched off."""

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any

from strands import Agent, tool
from strands.models import Model

from .measure import ARGUMENTS, TEXT, Script, measure

script = Script()


class Scripted(Model):
    async def stream(self, *args: Any, **options: Any) -> AsyncGenerator[dict[str, Any], None]:
        call = script.next_call()
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": {}}}
        for place in range(0, len(TEXT), 2):
            yield {"contentBlockDelta": {"delta": {"text": TEXT[place : place + 2]}}}
        yield {"contentBlockStop": {}}
        if call is not None:
            yield {"contentBlockStart": {"start": {"toolUse": {"name": "calc", "toolUseId": call}}}}
            delta = {"toolUse": {"input": json.dumps(ARGUMENTS)}}
            yield {"contentBlockDelta": {"delta": delta}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if call else "end_turn"}}

    async def structured_output(self, *args: Any, **options: Any) -> AsyncGenerator[Any, None]:
        raise NotImplementedError
        yield

    def update_config(self, **config: Any) -> None: ...

    def get_config(self) -> dict[str, Any]:
        return {}


@tool
async def calc(expression: str) -> str:
    """Calculate.

    Args:
        expression: What to calculate.
    """
    return script.run_tool()


def converse() -> None:
    agent = Agent(Scripted(), tools=[calc], callback_handler=None)
    asyncio.run(agent.invoke_async("go"))


if __name__ == "__main__":
    measure("strands-agents", script, converse)
