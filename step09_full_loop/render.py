"""Events as lines on the screen. The renderer shows what happens and decides nothing."""

import json
from typing import assert_never

from .agent_events import (
    AgentEnd,
    AgentEvent,
    AgentStart,
    MessageEnd,
    MessageStart,
    MessageUpdate,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
)
from .cancel import CancelToken
from .harness_types import (
    AssistantMessage,
    Message,
    TextDelta,
    ToolResultMessage,
    TurnEnd,
    TurnStart,
    Usage,
    UserMessage,
    message_text,
)
from .terminal import visible, visible_line


class Screen:
    """A listener that prints each event as it comes. The prompt itself is on the screen already."""

    def __init__(self) -> None:
        self._line_open = False
        self._asked = False
        self._usage: Usage | None = None

    def show(self, event: AgentEvent, cancel: CancelToken) -> None:
        """Print one event."""
        match event:
            case AgentStart():
                self._asked = False
            case TurnStart(turn=turn):
                print(f"[第 {turn} 轮]")
            case MessageStart(message=message):
                self._begin(message)
            case MessageUpdate(event=TextDelta(delta=delta)):
                print(visible(delta), end="", flush=True)
            case MessageUpdate():
                pass  # Only announced: ToolExecutionStart comes when the loop turns to the call.
            case MessageEnd(message=message, usage=usage):
                self._usage = usage or self._usage
                self._end(message)
            case ToolExecutionStart(tool_call=call):
                print(f"[工具调用] {visible_line(call.name)} {compact_json(call.arguments)}")
            case ToolExecutionUpdate(tool_call=call, text=text):
                print(f"[工具进度] {visible_line(call.name)} → {visible(text)}", flush=True)
            case ToolExecutionEnd(tool_call=call, result=result):
                shown = f"{visible_line(call.name)} → {visible(result.content)}"
                print(f"[工具结果] {shown}{'（出错）' if result.is_error else ''}")
            case TurnEnd(turn=turn):
                if self._usage is not None:
                    tokens = f"输入 {self._usage.input_tokens}，输出 {self._usage.output_tokens}"
                    print(f"[用量] {tokens} token")
                print(f"[第 {turn} 轮结束]")
                self._usage = None
            case AgentEnd():
                self.end_line()
            case _:
                assert_never(event)

    def _begin(self, message: Message) -> None:
        match message:
            case UserMessage():
                if self._asked:
                    print(f"[插话] {visible(message_text(message))}")
                self._asked = True
            case AssistantMessage(stop_reason="pending"):
                print("助手> ", end="", flush=True)
                self._line_open = True
            case AssistantMessage(error_message=None):
                print(f"助手> {visible(message_text(message))}", end="")
            case AssistantMessage() | ToolResultMessage():
                pass  # A failure is told at its end, and a result when the tool has ended.

    def _end(self, message: Message) -> None:
        match message:
            case AssistantMessage(error_message=str(error)):
                self.end_line()
                print(f"[错误] {visible(error)}")
            case AssistantMessage(stop_reason=reason):
                print("（已取消）" if reason == "aborted" else "")
                self._line_open = False

    def end_line(self) -> None:
        """End the line that the model has begun, if it did not come to its end."""
        if self._line_open:
            print()
            self._line_open = False


def compact_json(arguments: object) -> str:
    """Return arguments on one line: as JSON, or as Python shows them where JSON has no words."""
    try:
        shown: object = json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        shown = arguments
    return visible_line(shown)
