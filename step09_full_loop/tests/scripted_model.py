"""A model that plays prepared events, and a loop that is started with it in one place."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..agent_loop import run_agent_loop
from ..harness_types import (
    AssistantMessage,
    Context,
    HarnessEvent,
    StreamDone,
    StreamEvent,
    StreamOptions,
    StreamStart,
    TextContent,
    TextDelta,
    ToolCallAnnounced,
    ToolCallContent,
)
from ..tools.registry import ToolRegistry
from ..tools.tool_types import ParametersSchema, ToolContext, ToolDefinition, ToolResult

Handler = Callable[[dict[str, object]], Awaitable[str]]


class ScriptedModel:
    """A StreamFn that plays one list of events a turn, and the last list ever after."""

    def __init__(self, *turns: Sequence[StreamEvent]) -> None:
        self.turns = turns
        self.asked = 0
        self.open_streams = 0
        self.options: StreamOptions | None = None

    async def __call__(
        self, context: Context, options: StreamOptions | None, /
    ) -> AsyncGenerator[StreamEvent, None]:
        assert self.asked < 100, "this model would be asked for ever"
        turn = self.turns[min(self.asked, len(self.turns) - 1)]
        self.options = options
        self.asked += 1
        self.open_streams += 1
        try:
            for event in turn:
                yield event
        finally:
            self.open_streams -= 1


def says(text: str) -> list[StreamEvent]:
    message = AssistantMessage([TextContent(text)], "stop")
    return [StreamStart(), TextDelta(text), StreamDone(message)]


def wants(*calls: ToolCallContent) -> list[StreamEvent]:
    announced = [ToolCallAnnounced(call) for call in calls]
    return [StreamStart(), *announced, StreamDone(AssistantMessage([*calls], "toolUse"))]


def call(call_id: str, name: str = "echo") -> ToolCallContent:
    return ToolCallContent(call_id, name, {"value": call_id})


async def echo(arguments: dict[str, object]) -> str:
    return str(arguments["value"])


ECHO: Mapping[str, Handler] = {"echo": echo}


def start_loop(
    model: ScriptedModel, context: Context, tools: Mapping[str, Handler] = ECHO, **options: Any
) -> AsyncGenerator[HarnessEvent, None]:
    """Start the loop; `options` are those of `run_agent_loop`."""
    return run_agent_loop(
        stream_fn=model,
        context=context,
        tools=registry_of(tools),
        tool_context=ToolContext(cwd=Path.cwd()),
        **options,
    )


VALUE: ParametersSchema = {"type": "object", "properties": {"value": {"type": "string"}}}


def registry_of(tools: Mapping[str, Handler]) -> ToolRegistry:
    """Return a registry of tools that take a `value` and answer with plain text."""
    registry = ToolRegistry()
    for name, handler in tools.items():
        registry.register(ToolDefinition(name, "", VALUE, answering_with(handler)))
    return registry


def answering_with(
    handler: Handler,
) -> Callable[[dict[str, object], ToolContext], Awaitable[ToolResult]]:
    async def execute(arguments: dict[str, object], context: ToolContext) -> ToolResult:
        return ToolResult(await handler(arguments))

    return execute
