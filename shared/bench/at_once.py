"""Whether tools that run at the same time take no longer than one of them."""

import asyncio
import statistics
import time
from contextlib import aclosing
from pathlib import Path
from typing import Any

from .turns import full_loop, module_of, registry_of_calc, types_of

TOOLS = 8
SECONDS = 0.05
TIMES = 9


def eight_beside_one(step: Path) -> float:
    """Return the time of a turn with eight tools that wait, as a multiple of what one waits."""
    return statistics.median(asyncio.run(one_turn(step)) for _ in range(TIMES)) / SECONDS


async def one_turn(step: Path) -> float:
    types, tool_types = types_of(step), module_of(step, "tools.tool_types")

    async def wait(arguments: dict[str, object], context: object) -> Any:
        await asyncio.sleep(SECONDS)
        return tool_types.ToolResult("96")

    calls = [types.ToolCallContent(f"call_{n}", "calc", {}) for n in range(TOOLS)]
    answers = iter([types.AssistantMessage(calls, "toolUse"), types.AssistantMessage([], "stop")])

    async def model(context: Any, options: Any) -> Any:
        yield types.StreamDone(next(answers))

    began = time.perf_counter()
    events = full_loop(step)(
        max_turns=2,
        stream_fn=model,
        context=types.Context(messages=[types.user_text("go")]),
        tools=registry_of_calc(step.name, wait),
        tool_context=tool_types.ToolContext(cwd=step),
    )
    async with aclosing(events):
        async for event in events:
            if event.type == "turn_end":
                return time.perf_counter() - began
    raise AssertionError("the turn did not end")
