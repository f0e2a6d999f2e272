"""A model that plays prepared events, and a loop that is started with it in one place."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
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
    return run_agent_loop(stream_fn=model, context=context, tools=tools, **options)
