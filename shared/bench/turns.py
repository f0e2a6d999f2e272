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
    types, tools = types_of(step), trivial_tools(step.name)
    if has_full_loop(step):
        return Turns(types, full_loop(step), tools)
    return Turns(types, module_of(step, "agent_loop").run_agent_loop, tools)


def least_turns_of(step: Path) -> "Turns":
    """Return the same conversations through the least that tells the same events."""
    types = types_of(step)
    least = minimal_full_loop(step) if has_full_loop(step) else minimal_loop(types)
    return Turns(types, least, trivial_tools(step.name))


def has_full_loop(step: Path) -> bool:
    return (step / "run_loop.py").exists()


def module_of(step: Path, name: str) -> Any:
    return importlib.import_module(f"{step.name}.{name}")


def full_loop(step: Path) -> Loop:
    """Return the loop of a step that has the ten events, with the arguments of the others."""
    run = module_of(step, "run_loop").run_loop
    config = module_of(step, "loop_config").LoopConfig()

    def loop(*, max_turns: int, **arguments: Any) -> AsyncGenerator[Any, None]:
        events: AsyncGenerator[Any, None] = run(prompts=[], config=config, **arguments)
        return events

    return loop


def types_of(step: Path) -> Any:
    return module_of(step, "harness_types")


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


def minimal_full_loop(step: Path) -> Loop:
    """Return the least that tells the ten events. Its tool has a task, so that it could be left."""
    types, told = types_of(step), module_of(step, "agent_events")

    async def loop(
        *, stream_fn: Loop, context: Any, tools: Any, tool_context: Any, max_turns: int
    ) -> AsyncGenerator[Any, None]:
        new: list[Any] = []
        yield told.AgentStart()
        for turn in range(1, max_turns + 1):
            yield types.TurnStart(turn)
            draft, message, results = types.AssistantMessage([], "pending"), None, []
            async with aclosing(stream_fn(context, None)) as stream:
                async for event in stream:
                    if event.type == "start":
                        yield told.MessageStart(draft)
                    elif event.type == "done":
                        message = event.message
                    else:
                        yield told.MessageUpdate(draft, event)
            assert message is not None
            context.messages.append(message)
            new.append(message)
            yield told.MessageEnd(message)
            for call in (block for block in message.content if block.type == "toolCall"):
                yield told.ToolExecutionStart(call)
                work = tools.get(call.name).execute(call.arguments, tool_context)
                result = await asyncio.create_task(work)
                yield told.ToolExecutionEnd(call, result)
                content = [types.TextContent(result.content)]
                answer = types.ToolResultMessage(call.id, call.name, content, result.is_error)
                context.messages.append(answer)
                results.append(answer)
                yield told.MessageStart(answer)
                yield told.MessageEnd(answer)
            yield types.TurnEnd(turn, message, results)
            if not results:
                break
        yield told.AgentEnd(new)

    return loop
