"""The demo: an extension, a blocked call, a cancel. What it prints is in expected_output.txt."""

import asyncio
from pathlib import Path

from .cancel import CancelToken, interruptible
from .confirm import confirming
from .extensions import load_extensions
from .harness_types import Context
from .hooks import Hooks
from .main import chat
from .terminal import quiet_end, shown_lines, use_utf8
from .tools import create_builtin_tools
from .tools.tool_types import ToolContext, ToolDefinition, ToolResult

SCRIPT = [
    "今天天气怎么样",
    "把 build 删掉",
    "倒数三下",
    "你好",
    "/exit",
]


async def countdown(args: dict[str, object], context: ToolContext) -> ToolResult:
    """A tool that takes long, and somebody who presses Ctrl-C in the middle of it."""
    asyncio.get_running_loop().call_soon(press_ctrl_c, context.cancel)
    await interruptible(asyncio.Event().wait, context.cancel)
    return ToolResult("零")


def press_ctrl_c(cancel: CancelToken) -> None:
    """Do what Ctrl-C does. The terminal is what shows it as ^C."""
    print("^C")
    cancel.cancel()


COUNTDOWN = ToolDefinition(
    name="countdown",
    description="倒数。",
    parameters={"type": "object", "properties": {}},
    execute=countdown,
)


def run_demo() -> Context:
    """Print the transcript and return the context that it leaves behind."""
    use_utf8()
    print("Mini Agent Harness · step07 cancel_hooks（demo）")
    print()
    tools, hooks = create_builtin_tools(), Hooks()
    tools.register(COUNTDOWN)
    here = Path(__file__).parent
    for notice in load_extensions([here / "example_extension.py"], tools, hooks, here):
        print(f"[扩展] {notice}")
    hooks.on("before_tool_call", confirming(lambda command: False), "确认")
    return chat(shown_lines(SCRIPT), cwd=here, tools=tools, hooks=hooks)


if __name__ == "__main__":
    with quiet_end():
        run_demo()
