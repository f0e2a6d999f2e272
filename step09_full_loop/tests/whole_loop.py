"""The whole loop with prepared answers: its events, its history, and tools to run in it."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

from shared.pairing import pairing_faults

from ..agent_events import AgentEvent
from ..cancel import CancelToken
from ..harness_types import (
    AssistantMessage,
    Context,
    Message,
    StreamFn,
    ToolResultMessage,
    message_text,
    tool_calls_of,
    user_text,
)
from ..loop_config import LoopConfig
from ..run_loop import run_loop
from ..tools.registry import ToolRegistry
from ..tools.tool_types import ToolContext, ToolDefinition, ToolResult
from .scripted_model import VALUE

Execute = Callable[[dict[str, object], ToolContext], Awaitable[ToolResult]]


async def echo(args: dict[str, object], context: ToolContext) -> ToolResult:
    return ToolResult(str(args["value"]))


async def polite(args: dict[str, object], context: ToolContext) -> ToolResult:
    """Wait until the run is cancelled, and stop."""
    await context.cancel.wait()
    return ToolResult("stopped", is_error=True)


async def deaf(args: dict[str, object], context: ToolContext) -> ToolResult:
    """Wait for ever, whether the run is cancelled or not."""
    await asyncio.Event().wait()
    raise AssertionError("nobody sets that event")


def fails_with(error: BaseException) -> Execute:
    async def fail(args: dict[str, object], context: ToolContext) -> ToolResult:
        raise error

    return fail


def tool(name: str, execute: Execute = echo, **options: Any) -> ToolDefinition:
    return ToolDefinition(name, "", VALUE, execute, **options)


def tools_of(*tools: ToolDefinition) -> ToolRegistry:
    registry = ToolRegistry()
    for one in tools or (tool("echo"),):
        registry.register(one)
    return registry


Watch = Callable[["Run", AgentEvent], None]


class Run:
    """One run of a loop, and what came of it. `watch` sees each event before the loop goes on."""

    def __init__(
        self,
        stream_fn: StreamFn,
        tools: ToolRegistry | None = None,
        *,
        prompts: Sequence[str] = ("go",),
        history: Sequence[Message] = (),
        grace: float = 0.01,
        watch: Watch = lambda run, event: None,
        **config: Any,
    ) -> None:
        self.stream_fn = stream_fn
        self.tools = tools or tools_of()
        self.prompts = [user_text(text) for text in prompts]
        self.context = Context([*history])
        self.cancel = CancelToken(grace=grace)
        self.watch = watch
        self.config = LoopConfig(**config)
        self.events: list[AgentEvent] = []

    def start(self, loop: Any = run_loop) -> AsyncGenerator[AgentEvent, None]:
        events: AsyncGenerator[AgentEvent, None] = loop(
            prompts=self.prompts,
            context=self.context,
            tools=self.tools,
            tool_context=ToolContext(Path.cwd(), self.cancel),
            stream_fn=self.stream_fn,
            config=self.config,
        )
        return events

    async def to_the_end(self, loop: Any = run_loop) -> "Run":
        async with aclosing(self.start(loop)) as events:
            async for event in events:
                self.events.append(event)
                self.watch(self, event)
        return self

    @property
    def kinds(self) -> list[str]:
        return [event.type for event in self.events]

    @property
    def said(self) -> list[str]:
        """The texts of the history."""
        return [message_text(message) for message in self.context.messages]

    @property
    def results(self) -> list[tuple[str, str]]:
        """Which call was answered, and how, in the order of the history."""
        found = [m for m in self.context.messages if isinstance(m, ToolResultMessage)]
        return [(message.tool_call_id, message_text(message)) for message in found]

    @property
    def steps(self) -> list[str]:
        """What happened around the tools, in one word each: `start c1`, `end c1`, `told c1`."""
        found = []
        for event in self.events:
            match event.type:
                case "tool_execution_start":
                    found.append(f"start {event.tool_call.id}")
                case "tool_execution_update":
                    found.append(f"{event.text} {event.tool_call.id}")
                case "tool_execution_end":
                    found.append(f"end {event.tool_call.id}")
                case "message_end" if isinstance(event.message, ToolResultMessage):
                    found.append(f"told {event.message.tool_call_id}")
        return found


def faults(events: Sequence[AgentEvent], messages: Sequence[Message]) -> list[str]:
    """Return what is wrong with a run that is over: starts without ends, calls without results."""
    found: list[str] = list(map(str, pairing_faults([*messages])))
    open_: list[str] = []
    tools: list[str] = []
    for event in events:
        name, _, edge = event.type.rpartition("_")
        match event.type:
            case "tool_execution_start":
                tools.append(event.tool_call.id)
            case "tool_execution_update" if event.tool_call.id not in tools:
                found.append(f"an update of {event.tool_call.id} outside of it")
            case "tool_execution_end" if event.tool_call.id not in tools:
                found.append(f"an end of {event.tool_call.id} without a start")
            case "tool_execution_end":
                tools.remove(event.tool_call.id)
            case "message_update" if open_[-1:] != ["message"]:
                found.append("an update outside of a message")
            case _ if edge == "start":
                open_.append(name)
            case _ if edge == "end" and open_[-1:] == [name]:
                open_.pop()
            case _ if edge == "end":
                found.append(f"{event.type} while {open_} are open")
    ended = [event.message for event in events if event.type == "message_end"]
    if [*ended] != [*messages[len(messages) - len(ended) :]]:
        found.append("the messages that ended are not those of the history")
    told = {m.tool_call_id: message_text(m) for m in messages if isinstance(m, ToolResultMessage)}
    for event in events:
        if event.type == "tool_execution_end" and event.result.content != told[event.tool_call.id]:
            found.append(f"{event.tool_call.id} ended with something else than its result")
        if event.type == "turn_end" and event.message is not None:
            found += unanswered(event.message, event.tool_results)
    return [*found, *(f"{name} never ends" for name in (*open_, *tools))]


def unanswered(message: AssistantMessage, results: Sequence[ToolResultMessage]) -> list[str]:
    """Return what is wrong with the results of a turn."""
    failed = message.stop_reason in ("error", "aborted")
    calls = [] if failed else [call.id for call in tool_calls_of(message)]
    answers = [result.tool_call_id for result in results]
    return [] if calls == answers else [f"{calls} were answered by {answers}"]


def queue_of(*polls: Sequence[str]) -> Callable[[], Awaitable[Sequence[Message]]]:
    """Return a queue that gives these texts, poll after poll, and then nothing."""
    waiting = [*polls]

    async def take() -> Sequence[Message]:
        return [user_text(text) for text in waiting.pop(0)] if waiting else []

    return take
