"""Events as lines on the screen. The renderer shows what happens and decides nothing."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import assert_never

from .harness_types import (
    AssistantMessage,
    StreamDone,
    StreamError,
    StreamEvent,
    StreamStart,
    TextDelta,
)
from .terminal import visible


async def render_stream(events: AsyncGenerator[StreamEvent, None]) -> AssistantMessage | None:
    """Print each event as it comes, and close the stream of events however this ends.

    Return the message that the stream ended with, or None if it failed.
    """
    message: AssistantMessage | None = None
    line_open = False
    async with aclosing(events):
        async for event in events:
            match event:
                case StreamStart():
                    print("助手> ", end="", flush=True)
                    line_open = True
                case TextDelta(delta=delta):
                    print(visible(delta), end="", flush=True)
                case StreamDone(message=message):
                    print()
                    line_open = False
                case StreamError(error=error):
                    if line_open:
                        print()
                    print(f"[错误] {visible(error)}")
                    line_open = False
                case _:
                    assert_never(event)
    if line_open:
        print()
    return message
