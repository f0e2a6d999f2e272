"""The demo of the step before, and another model answers. It prints the same.

`python -m PACKAGE.demo openai` and `... anthropic` play it over the wire, with the official SDK and
a server of our own. Without a word more it is the script itself, which needs nothing installed.
"""

import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .cancel import CancelToken, interruptible
from .confirm import confirming
from .extensions import load_extensions
from .harness_types import Context, StreamFn
from .hooks import Hooks
from .main import chat
from .providers import ProviderError, service_model
from .rules import RULES
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


@contextmanager
def model_for_demo(provider: str) -> Iterator[StreamFn | None]:
    """Give the model behind a provider, with a server that plays the script; None is the script."""
    if provider == "fake":
        yield None
        return
    from .loopback import Loopback, played_by  # Only now: a demo has to start fast.

    os.environ["NO_PROXY"] = "127.0.0.1"  # No proxy leads to this machine.
    with Loopback(played_by(RULES)) as server:
        yield service_model(provider, "script", server.url)


def run_demo(provider: str = "fake") -> Context:
    """Print the transcript and return the context that it leaves behind."""
    use_utf8()
    print("Mini Agent Harness · step09 full loop（demo）")
    print()
    tools, hooks = create_builtin_tools(), Hooks()
    tools.register(COUNTDOWN)
    here = Path(__file__).parent
    for notice in load_extensions([here / "example_extension.py"], tools, hooks, here):
        print(f"[扩展] {notice}")
    hooks.on("before_tool_call", confirming(lambda command: False), "确认")
    with model_for_demo(provider) as model:
        return chat(shown_lines(SCRIPT), cwd=here, tools=tools, hooks=hooks, model=model)


if __name__ == "__main__":
    with quiet_end():
        try:
            run_demo(*sys.argv[1:2])
        except ProviderError as error:
            print(error, file=sys.stderr)
            sys.exit(2)
