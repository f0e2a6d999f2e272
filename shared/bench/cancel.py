"""How long who cancels a run waits for the prompt, while a tool works that obeys at once."""

import asyncio
import importlib
import statistics
import time
from contextlib import aclosing
from pathlib import Path
from typing import Any

from ..steps import ROOT
from .turns import Turns, registry_of_calc, types_of

TIMES = 9


def milliseconds_to_the_prompt(step: Path) -> float:
    """Return the milliseconds from the cancel to the end of the run."""
    return statistics.median(asyncio.run(cancelled(step)) for _ in range(TIMES)) * 1000


async def cancelled(step: Path) -> float:
    """Cancel a run in the middle of a tool; return the seconds until it has ended."""
    types = types_of(step)
    tool_types = importlib.import_module(f"{step.name}.tools.tool_types")
    cancel = importlib.import_module(f"{step.name}.cancel").CancelToken()
    run: Any = importlib.import_module(f"{step.name}.agent_loop").run_agent_loop
    asked_at: list[float] = []

    def ask() -> None:
        asked_at.append(time.perf_counter())
        cancel.cancel()

    async def work(arguments: dict[str, object], context: Any) -> Any:
        asyncio.get_running_loop().call_soon(ask)
        await context.cancel.wait()
        return tool_types.ToolResult("stopped", is_error=True)

    events = run(
        stream_fn=Turns(types, run, {}).model(1),
        context=types.Context(messages=[types.user_text("go")]),
        tools=registry_of_calc(step.name, work),
        tool_context=tool_types.ToolContext(ROOT, cancel),
    )
    async with aclosing(events):
        async for _ in events:
            pass
    return time.perf_counter() - asked_at[0]
