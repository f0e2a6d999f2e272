"""Events as lines on the screen. The renderer shows what happens and decides nothing."""

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import assert_never

from .harness_types import (
    HarnessEvent,
    StreamDone,
    StreamError,
    StreamStart,
    TextDelta,
    ToolCallAnnounced,
    ToolCallFinished,
    ToolCallStarted,
    TurnEnd,
    TurnStart,
)


async def render_events(events: AsyncGenerator[HarnessEvent, None]) -> None:
    """Print each event as it comes, and close the stream of events however this ends."""
    line_open = False
    async with aclosing(events):
        async for event in events:
            match event:
                case TurnStart(turn=turn):
                    print(f"[第 {turn} 轮]")
                case StreamStart():
                    print("助手> ", end="", flush=True)
                    line_open = True
                case TextDelta(delta=delta):
                    print(delta, end="", flush=True)
                case ToolCallAnnounced():
                    pass  # Only announced: ToolCallStarted comes when it really runs.
                case StreamDone():
                    print()
                    line_open = False
                case StreamError(error=error):
                    print(f"\n[错误] {error}" if line_open else f"[错误] {error}")
                    line_open = False
                case ToolCallStarted(tool_call=call):
                    arguments = json.dumps(
                        call.arguments, ensure_ascii=False, separators=(",", ":")
                    )
                    print(f"[工具调用] {call.name} {arguments}")
                case ToolCallFinished(tool_name=name, content=content, is_error=is_error):
                    print(f"[工具结果] {name} → {content}{'（出错）' if is_error else ''}")
                case TurnEnd(turn=turn):
                    print(f"[第 {turn} 轮结束]")
                case _:
                    assert_never(event)
    if line_open:
        print()
