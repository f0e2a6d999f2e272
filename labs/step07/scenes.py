"""Scenes for the changes of step07 that its demo does not show (see labs/stage.py).

Where Ctrl-C is pressed, the cancel that follows from it comes at a fixed moment.
"""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing, closing
from functools import partial
from pathlib import Path
from typing import Any

from step07_cancel_hooks.fake_model import Rule
from step07_cancel_hooks.harness_types import (
    Context,
    HarnessEvent,
    StreamEvent,
    StreamOptions,
    StreamStart,
    TextDelta,
    ToolCallContent,
)
from step07_cancel_hooks.hooks import Change
from step07_cancel_hooks.options import parse_options
from step07_cancel_hooks.tools import create_builtin_tools
from step07_cancel_hooks.tools.run_command import run_command
from step07_cancel_hooks.tools.tool_types import ToolContext, ToolDefinition, ToolResult

from .living import LongProgram

Execute = Callable[[dict[str, object], ToolContext], Any]
Events = AsyncGenerator[HarnessEvent, None]


def with_rules(main: Any, *rules: Rule) -> None:
    main.RULES[:] = [*rules, *main.RULES]


def with_tool(main: Any, name: str, execute: Execute) -> None:
    """Give the step one more tool, and a sentence that makes the model use it."""
    schema: Any = {"type": "object", "properties": {}}
    tools = create_builtin_tools()
    tools.register(ToolDefinition(name, "", schema, execute))
    call: Any = {"name": name, "arguments": {}}
    with_rules(main, Rule(match=f"用 {name}", reply="我用一下。", tool_call=call))
    main.chat = partial(main.chat, tools=tools)


def with_hook(main: Any, name: str, handler: Callable[..., object]) -> None:
    hooks = main.new_hooks()
    hooks.on(name, handler, "x.py")
    main.chat = partial(main.chat, hooks=hooks)


def left_early(main: Any) -> list[str]:
    """Whoever listens to the first run leaves while a tool is about to run."""
    render = main.render_events
    runs = 0

    async def until_tool_call(events: Events) -> Events:
        async with aclosing(events):
            async for event in events:
                yield event
                if event.type == "tool_call":
                    return

    async def rendered(events: Events) -> None:
        nonlocal runs
        runs += 1
        await render(until_tool_call(events) if runs == 1 else events)
        if runs == 1:
            print("—— 接收事件的一方离开了 ——")

    main.render_events = rendered
    return ["帮我算 12*8", "你好"]


def out_of_time(main: Any) -> list[str]:
    """Whoever has started the run cancels its task while a tool works."""
    render = main.render_events
    running: list[asyncio.Task[None]] = []

    async def endless(args: dict[str, object], context: ToolContext) -> ToolResult:
        running[-1].cancel()
        await asyncio.Event().wait()
        return ToolResult("never")

    async def limited(events: Events) -> None:
        running.append(asyncio.ensure_future(render(events)))
        await asyncio.wait(running[-1:])
        print("—— 时间到了，这次运行被取消 ——" if running[-1].cancelled() else "—— 正常结束 ——")

    with_tool(main, "endless", endless)
    with_rules(main, Rule(match="toolResult:endless", reply="那我接着说。"))
    main.render_events = limited
    return ["用 endless", "你好"]


def stopped_answer(main: Any) -> list[str]:
    """Ctrl-C in the middle of an answer."""
    tokens: list[Any] = []
    new_token = main.CancelToken
    said = 0

    def kept_token() -> Any:
        tokens.append(new_token())
        return tokens[-1]

    def press(event: TextDelta) -> None:
        nonlocal said
        said += 1
        if said == 3:
            print("^C", end="")
            tokens[-1].cancel()

    main.CancelToken = kept_token
    with_hook(main, "text_delta", press)
    return ["你好", "断线"]


def child_of_a_command(main: Any) -> list[str]:
    """Ctrl-C in a command that has started one more process."""
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    program = LongProgram(Path("tests.py"))

    async def interrupted(args: dict[str, object], context: ToolContext) -> ToolResult:
        async def press() -> None:
            await program.up()
            print("^C")
            context.cancel.cancel()

        async with asyncio.TaskGroup() as group:
            group.create_task(press())
            return await run_command({"command": "exec python3 tests.py"}, context)

    with_tool(main, "run_tests", interrupted)
    chat = main.chat

    def asked_afterwards(lines: Iterable[str]) -> Context:
        with closing(program):
            context: Context = chat(lines)
            print(f"—— 它启动的进程{'还活着' if program.lives(b'c') else '已经不在了'} ——")
        return context

    main.chat = asked_afterwards
    return ["用 run_tests"]


def number_for_text(main: Any) -> list[str]:
    """A hook puts a number where the tool wants text."""
    with_rules(main, Rule(match="toolResult:calc", reply="我看到结果了。"))
    with_hook(main, "before_tool_call", lambda call: Change({"expression": 96}))
    return ["帮我算 12*8"]


def written_into_call(main: Any) -> list[str]:
    """A hook writes into the call that it is shown, and answers nothing."""

    def write(call: ToolCallContent) -> None:
        call.arguments["expression"] = "99*99"

    with_hook(main, "before_tool_call", write)
    return ["帮我算 12*8"]


def rule_with_a_fault(main: Any) -> list[str]:
    """A hook that should keep a folder has a misspelt name in it."""

    async def delete(args: dict[str, object], context: ToolContext) -> ToolResult:
        return ToolResult("build 删掉了")

    with_tool(main, "delete", delete)
    with_rules(main, Rule(match="toolResult:delete", reply="我看到结果了。"))
    with_hook(main, "before_tool_call", lambda call: call.arguments["paht"])
    return ["用 delete"]


def observer_with_a_fault(main: Any) -> list[str]:
    """A hook that only looks on fails each time."""
    with_hook(main, "tool_result", lambda event: 1 / 0)
    return ["帮我算 12*8", "除以零"]


def model_raises(main: Any) -> list[str]:
    """A model that raises in the middle of its first answer."""
    whole = main.FakeModel

    class Breaking(whole):  # type: ignore[misc, valid-type]
        asked = 0

        async def __call__(
            self, context: Context, options: StreamOptions | None = None, /
        ) -> AsyncGenerator[StreamEvent, None]:
            self.asked += 1
            if self.asked == 1:
                yield StreamStart()
                yield TextDelta("我正说到")
                raise ConnectionResetError("连接被对方重置")
            async for event in super().__call__(context, options):
                yield event

    main.FakeModel = Breaking
    return ["你好", "断线"]


def folder_of_extensions(main: Any) -> list[str]:
    """Of the extensions in the folder the first one cannot be loaded."""
    bring("a.py", "def activate(api):\n    api.register_tool(no_such_name)\n")
    bring("b.py", WEATHER)
    with_extensions(main)
    return ["今天天气怎么样"]


def extension_changes_command(main: Any) -> list[str]:
    """An extension puts another command in the place of the one that the model wants."""
    bring("a.py", OTHER_COMMAND)
    call: Any = {"name": "run_command", "arguments": {"command": "echo hello"}}
    with_rules(main, Rule(match="打个招呼", reply="好。", tool_call=call))
    with_extensions(main)
    return ["打个招呼"]


WEATHER = """
def activate(api):
    async def weather(args, context):
        return api.ToolResult(f"{args['city']}：晴")

    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    api.register_tool(api.ToolDefinition("weather", "", schema, weather))
"""
OTHER_COMMAND = """
def activate(api):
    def other(call):
        return api.Change({"command": "echo goodbye"}) if call.name == "run_command" else None

    api.on("before_tool_call", other)
"""


def bring(name: str, source: str) -> None:
    """Write an extension into the folder `extensions`."""
    Path("extensions").mkdir(exist_ok=True)
    Path("extensions", name).write_text(source, encoding="utf-8", newline="\n")


def with_extensions(main: Any) -> None:
    """Start the step as its user does, who agrees to every command."""
    chat = main.chat

    def agree(command: str) -> bool:
        print(f"运行 {command} 吗？(y/n) y")
        return True

    def started(lines: Iterable[str]) -> Context:
        contexts: list[Context] = []

        def kept(lines: Iterable[str], **options: Any) -> None:
            contexts.append(chat(lines, **options))

        main.typed_lines, main.ask_user, main.chat = lambda: lines, agree, kept
        main.talk(main.Session(), parse_options([]))
        return contexts[0]

    main.chat = started
