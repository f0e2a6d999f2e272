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
    Usage,
)
from .terminal import visible, visible_line


async def render_events(events: AsyncGenerator[HarnessEvent, None]) -> None:
    """Print each event as it comes, and close the stream of events however this ends."""
    line_open = False
    usage: Usage | None = None
    async with aclosing(events):
        async for event in events:
            match event:
                case TurnStart(turn=turn):
                    print(f"[第 {turn} 轮]")
                case StreamStart():
                    print("助手> ", end="", flush=True)
                    line_open = True
                case TextDelta(delta=delta):
                    print(visible(delta), end="", flush=True)
                case ToolCallAnnounced():
                    pass  # Only announced: ToolCallStarted comes when it really runs.
                case StreamDone(message=message, usage=usage):
                    print("（已取消）" if message.stop_reason == "aborted" else "")
                    line_open = False
                case StreamError(error=error):
                    if line_open:
                        print()
                    print(f"[错误] {visible(error)}")
                    line_open = False
                case ToolCallStarted(tool_call=call):
                    print(f"[工具调用] {visible_line(call.name)} {compact_json(call.arguments)}")
                case ToolCallFinished(tool_name=name, content=content, is_error=is_error):
                    shown = f"{visible_line(name)} → {visible(content)}"
                    print(f"[工具结果] {shown}{'（出错）' if is_error else ''}")
                case TurnEnd(turn=turn):
                    if usage is not None:
                        print(f"[用量] 输入 {usage.input_tokens}，输出 {usage.output_tokens} token")
                    print(f"[第 {turn} 轮结束]")
                    usage = None
                case _:
                    assert_never(event)
    if line_open:
        print()


def compact_json(arguments: object) -> str:
    """Return arguments on one line: as JSON, or as Python shows them where JSON has no words."""
    try:
        shown: object = json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        shown = arguments
    return visible_line(shown)
