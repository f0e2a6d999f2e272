"""What the trunk carries now: tools at the same time, words in between, and a tool that ends a run.

`python -m PACKAGE.demo openai` and `... anthropic` play it over the wire, with the official SDK and
a server of our own. Without a word more it is the script itself.
"""

import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .harness_types import Context, StreamFn, user_text
from .main import chat
from .providers import ProviderError, service_model
from .queues import Queues
from .rules import RULES
from .terminal import quiet_end, shown_lines, use_utf8
from .tools import create_builtin_tools
from .tools.tool_types import ToolContext, ToolDefinition, ToolResult

SCRIPT = [
    "两趟车什么时候到",
    "倒数三下",
    "收工",
    "/exit",
]


def ride() -> ToolDefinition:
    """Return a tool for two calls at the same time: the slow train waits for the fast one."""
    fast_is_there = asyncio.Event()

    async def wait_for(args: dict[str, object], context: ToolContext) -> ToolResult:
        if args["train"] == "快车":
            fast_is_there.set()
        await fast_is_there.wait()
        return ToolResult(f"{args['train']}到了")

    return ToolDefinition(
        name="ride",
        description="等一趟车。",
        parameters={"type": "object", "properties": {"train": {"type": "string"}}},
        execute=wait_for,
    )


def countdown_for(queues: Queues) -> ToolDefinition:
    """Return a tool that takes long, and somebody who types two lines in the middle of it."""

    async def countdown(args: dict[str, object], context: ToolContext) -> ToolResult:
        context.update("三")
        await asyncio.sleep(0)
        print("你> /follow 你好")
        queues.follow_ups.put(user_text("你好"))
        print("你> 顺便算一下 12*8")
        queues.steering.put(user_text("顺便算一下 12*8"))
        context.update("二")
        context.update("一")
        return ToolResult("零")

    return ToolDefinition(
        name="countdown",
        description="倒数。",
        parameters={"type": "object", "properties": {}},
        execute=countdown,
    )


async def finish(args: dict[str, object], context: ToolContext) -> ToolResult:
    """A tool after which there is nothing left to say."""
    return ToolResult("今天到这里", terminate=True)


FINISH = ToolDefinition(
    name="finish",
    description="结束这次任务。",
    parameters={"type": "object", "properties": {}},
    execute=finish,
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
    tools, queues = create_builtin_tools(), Queues()
    for tool in (ride(), countdown_for(queues), FINISH):
        tools.register(tool)
    here = Path(__file__).parent
    with model_for_demo(provider) as model:
        return chat(shown_lines(SCRIPT), cwd=here, tools=tools, model=model, queues=queues)


if __name__ == "__main__":
    with quiet_end():
        try:
            run_demo(*sys.argv[1:2])
        except ProviderError as error:
            print(error, file=sys.stderr)
            sys.exit(2)
