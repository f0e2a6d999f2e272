"""What the steps cost, as ratios within one run: absolute times say more of the machine."""

import asyncio
import importlib
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

from . import environment
from .chromium import chromium
from .steps import ROOT, find_steps

Loop = Callable[..., AsyncGenerator[Any, None]]

LIMITS = (2.0, 1.5, 1.4, 15.0)
# A tool that can be given up runs in a task of its own, and that is most of what a turn costs then.
LIMITS_WITH_CANCEL = (2.0, 5.0, 1.4, 15.0)


def main() -> int:
    """Print a row of ratios for each step; exit status 1 if one is over its limit."""
    titles = (
        "demo / import asyncio",
        "turn / minimal loop",
        "turn 20,000 / turn 200",
        "load 100,000 / 10,000",
    )
    print(f"{'':20}" + "".join(f"{title:>24}" for title in titles))
    steps = find_steps().values()
    limits = {s.name: LIMITS_WITH_CANCEL if (s / "cancel.py").exists() else LIMITS for s in steps}
    rows = {step.name: ratios(step) for step in steps}
    for name, row in {**rows, "at most": LIMITS, "with a cancel": LIMITS_WITH_CANCEL}.items():
        print(f"{name:20}" + "".join(f"{ratio:24.2f}" for ratio in row))
    page = environment.run_tool("shared.trace.bench") if chromium() is not None else 0
    providers = environment.run_tool("shared.providers_bench")
    over = [name for name, row in rows.items() if any(map(float.__gt__, row, limits[name]))]
    return 1 if over or page or providers else 0


def ratios(step: Path) -> tuple[float, ...]:
    demo = median_ratio(
        lambda: process_time("-m", f"{step.name}.demo"),
        lambda: process_time("-c", "import asyncio"),
    )
    if not (step / "agent_loop.py").exists():
        return (demo,)
    run = importlib.import_module(f"{step.name}.agent_loop").run_agent_loop
    types = importlib.import_module(f"{step.name}.harness_types")
    tools = trivial_tools(step.name)
    own = Turns(types, run, tools)
    least = Turns(types, minimal_loop(types), tools)
    turns = (
        median_ratio(lambda: own.time_of_one(2000), lambda: least.time_of_one(2000)),
        median_ratio(lambda: own.time_of_one(20_000), lambda: own.time_of_one(200), pairs=3),
    )
    if not (step / "sessions").exists():
        return (demo, *turns)
    return (demo, *turns, load_ratio(step.name))


def load_ratio(package: str) -> float:
    """Return how much longer it takes to load ten times as many messages."""
    resume = importlib.import_module(f"{package}.sessions.folder").resume_session

    def time_of(path: Path) -> float:
        started = time.perf_counter()
        resume(path, path.parent).close()
        return time.perf_counter() - started

    with tempfile.TemporaryDirectory() as place:
        few, many = (session_of(Path(place), count) for count in (10_000, 100_000))
        return median_ratio(lambda: time_of(many), lambda: time_of(few), pairs=3)


def session_of(folder: Path, count: int) -> Path:
    """Write a session of so many messages."""
    lines: list[object] = [{"type": "session", "version": 1, "id": "s"}]
    message = {"role": "user", "content": [{"type": "text", "text": "帮我算 12*8"}]}
    for number in range(count):
        place = {"id": f"{number}", "parentId": f"{number - 1}" if number else None}
        lines.append({"type": "message", **place, "message": message})
    path = folder / f"{count}.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    return path


def median_ratio(a: Callable[[], float], b: Callable[[], float], *, pairs: int = 9) -> float:
    """Return the median of a/b, each pair measured back to back."""
    return statistics.median(a() / b() for _ in range(pairs))


def process_time(*arguments: str) -> float:
    """Return the seconds that a whole Python process takes."""
    started = time.perf_counter()
    subprocess.run([sys.executable, *arguments], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


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

    registry = tools.ToolRegistry()
    parameters = {"type": "object", "properties": {"expression": {"type": "string"}}}
    registry.register(tool_types.ToolDefinition("calc", "", parameters, execute))
    return {"tools": registry, "tool_context": tool_types.ToolContext(cwd=ROOT)}


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
