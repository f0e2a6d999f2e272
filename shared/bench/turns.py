"""One conversation through the loop of a step, or through the least that could do its work."""

import asyncio
import importlib
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

from ..steps import ROOT

Loop = Callable[..., AsyncGenerator[Any, None]]


def turns_of(step: Path) -> "Turns":
    """Return conversations through the loop of a step."""
    types, run = types_of(step), importlib.import_module(f"{step.name}.agent_loop").run_agent_loop
    return Turns(types, run, trivial_tools(step.name))


def least_turns_of(step: Path) -> "Turns":
    """Return the same conversations through the minimal loop."""
    types = types_of(step)
    return Turns(types, minimal_loop(types), trivial_tools(step.name))


def types_of(step: Path) -> Any:
    return importlib.import_module(f"{step.name}.harness_types")


class Turns:
    """Conversations of a given number of turns, each with five deltas and one tool call."""

    def __init__(self, types: Any, loop: Loop, tools: dict[str, Any]) -> None:
        self.types, self.loop, self.tools = types, loop, tools

    def time_of_one(self, turns: int) -> float:
        """Return the seconds that one turn takes in a conversation of `turns`."""
        started = time.perf_counter()
        asyncio.run(self.converse(turns))
        return (time.perf_counter() - started) / turns

    async def converse(self, turns: int) -> None:
        context = self.types.Context(messages=[self.types.user_text("go")])
        events = self.loop(
            stream_fn=self.model(turns), context=context, max_turns=turns + 1, **self.tools
        )
        async with aclosing(events):
            async for _ in events:
                pass
        if len(context.messages) != 2 * turns + 2:
            raise AssertionError("the conversation did not run to its end")

    def model(self, turns: int) -> Loop:
        types = self.types
        text = types.TextContent("ab" * 5)
        asked = 0

        async def stream(context: Any, options: Any) -> AsyncGenerator[Any, None]:
            nonlocal asked
            asked += 1
            yield types.StreamStart()
            for _ in range(5):
                yield types.TextDelta("ab")
            if asked > turns:
                yield types.StreamDone(types.AssistantMessage([text], "stop"))
                return
            call = types.ToolCallContent(f"call_{asked}", "calc", {"expression": "12*8"})
            yield types.ToolCallAnnounced(call)
            yield types.StreamDone(types.AssistantMessage([text, call], "toolUse"))

        return stream


def trivial_tools(package: str) -> dict[str, Any]:
    """Return the arguments that give a loop a calc which costs nothing."""
    tools = importlib.import_module(f"{package}.tools")
    if not hasattr(tools, "ToolRegistry"):

        async def answer(arguments: dict[str, object]) -> str:
            return "96"

        return {"tools": {"calc": answer}}
    tool_types = importlib.import_module(f"{package}.tools.tool_types")

    async def execute(arguments: dict[str, object], context: object) -> Any:
        return tool_types.ToolResult("96")

    context = tool_types.ToolContext(cwd=ROOT)
    return {"tools": registry_of_calc(package, execute), "tool_context": context}


def registry_of_calc(package: str, execute: Callable[..., Any]) -> Any:
    """Return a registry whose one tool, calc, does `execute`."""
    tools = importlib.import_module(f"{package}.tools")
    tool_types = importlib.import_module(f"{package}.tools.tool_types")
    registry = tools.ToolRegistry()
    parameters = {"type": "object", "properties": {"expression": {"type": "string"}}}
    registry.register(tool_types.ToolDefinition("calc", "", parameters, execute))
    return registry


def minimal_loop(types: Any) -> Loop:
    """Return the least that yields and appends what the loop of a step does."""

    async def loop(
        *, stream_fn: Loop, context: Any, max_turns: int, **_: Any
    ) -> AsyncGenerator[Any, None]:
        for turn in range(1, max_turns + 1):
            yield types.TurnStart(turn)
            message = None
            async with aclosing(stream_fn(context, None)) as stream:
                async for event in stream:
                    yield event
                    if event.type == "done":
                        message = event.message
            assert message is not None
            context.messages.append(message)
            calls = [block for block in message.content if block.type == "toolCall"]
            for call in calls:
                yield types.ToolCallStarted(call)
                result = types.ToolResultMessage(call.id, call.name, [types.TextContent("96")])
                context.messages.append(result)
                yield types.ToolCallFinished(call.id, call.name, "96", False)
            yield types.TurnEnd(turn)
            if not calls:
                return

    return loop
