"""Scenes for the changes of step09 that its demo does not show (see labs/stage.py).

Where somebody types or presses Ctrl-C, that comes at a fixed moment: behind an event that stands on
the screen already.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from functools import partial
from typing import Any

from step09_full_loop.agent_events import AgentEvent, MessageEnd, MessageUpdate
from step09_full_loop.cancel import CancelToken
from step09_full_loop.demo import FINISH
from step09_full_loop.fake_model import Rule
from step09_full_loop.harness_types import (
    AssistantMessage,
    Context,
    StreamDone,
    StreamEvent,
    StreamOptions,
    StreamStart,
    TextContent,
    TextDelta,
    ToolCallContent,
    user_text,
)
from step09_full_loop.queues import Queues
from step09_full_loop.tools import create_builtin_tools
from step09_full_loop.tools.tool_types import ToolContext, ToolDefinition, ToolResult

Execute = Callable[[dict[str, object], ToolContext], Any]


def with_rules(main: Any, *rules: Rule) -> None:
    main.RULES[:] = [*rules, *main.RULES]


def with_tools(main: Any, *more: ToolDefinition) -> None:
    tools = create_builtin_tools()
    for tool in more:
        tools.register(tool)
    main.chat = partial(main.chat, tools=tools)


def tool(name: str, execute: Execute, *, alone: bool = False, **types: str) -> ToolDefinition:
    """Return a tool; `types` are those of its parameters, and none of them is required."""
    properties: Any = {parameter: {"type": kind} for parameter, kind in types.items()}
    schema: Any = {"type": "object", "properties": properties}
    mode: Any = "sequential" if alone else "parallel"
    return ToolDefinition(name, "", schema, execute, execution_mode=mode)


def call_of(name: str, **arguments: object) -> Any:
    """Return a call as a rule writes it."""
    return {"name": name, "arguments": arguments}


def behind_screen(main: Any, act: Callable[[AgentEvent, CancelToken], None]) -> None:
    """Let `act` see each event when it stands on the screen."""

    class Watched(main.Screen):  # type: ignore[misc]
        def show(self, event: AgentEvent, cancel: CancelToken) -> None:
            super().show(event, cancel)
            act(event, cancel)

    main.Screen = Watched


def answer_stopped(main: Any) -> list[str]:
    """Ctrl-C in the middle of an answer; a sign beside the screen shows who works."""
    said = 0

    def look(event: AgentEvent, cancel: CancelToken) -> None:
        nonlocal said
        if event.type == "agent_start":
            print("—— 指示灯：忙 ——")
        elif event.type == "agent_end":
            print("—— 指示灯：空闲 ——")
        elif isinstance(event, MessageUpdate):
            said += 1
            if said == 3:
                print("^C", end="")
                cancel.cancel()

    behind_screen(main, look)
    return ["你好"]


def said_early(main: Any) -> list[str]:
    """The user says something more when the model wants a tool, and before that has run."""
    queues = Queues()
    said: list[str] = []
    wish = "答案写成汉字"

    def speak(event: AgentEvent, cancel: CancelToken) -> None:
        if isinstance(event, MessageEnd) and event.message.role == "assistant" and not said:
            said.append(wish)
            print(f"你> {wish}")
            queues.steering.put(user_text(wish))

    with_rules(main, Rule(match=wish, reply="12*8 是九十六。"))
    behind_screen(main, speak)
    main.chat = partial(main.chat, queues=queues)
    return ["帮我算 12*8"]


def two_payments(main: Any) -> list[str]:
    """A tool that reads a balance and writes it some time later is called twice at once."""
    balance = 0

    async def pay_in(args: dict[str, object], context: ToolContext) -> ToolResult:
        nonlocal balance
        before = balance
        await asyncio.sleep(0)  # Whoever writes to a disk waits somewhere here.
        balance = before + int(str(args["amount"]))
        return ToolResult(f"存入 {args['amount']}，余额 {balance}")

    async def look(args: dict[str, object], context: ToolContext) -> ToolResult:
        return ToolResult(f"现在的余额是 {balance}")

    with_tools(main, tool("pay_in", pay_in, alone=True, amount="number"), tool("look", look))
    calls = [call_of("pay_in", amount=amount) for amount in (10, 20)]
    with_rules(
        main,
        Rule(match="存两笔", reply="我一起存。", tool_call=calls[0], more_calls=calls[1:]),
        Rule(match="toolResult:pay_in", reply="我看看余额。", tool_call=call_of("look")),
        Rule(match="toolResult:look", reply="存好了。"),
    )
    return ["存两笔：10 和 20"]


def cut_path(main: Any) -> list[str]:
    """An answer reaches its limit in the middle of a path, and the JSON around it is whole."""

    async def clean(args: dict[str, object], context: ToolContext) -> ToolResult:
        return ToolResult(f"删掉了 {args['folder']}")

    with_tools(main, tool("clean", clean, folder="string"))
    again = call_of("clean", folder="build/cache")
    with_rules(
        main,
        Rule(match="toolResult:clean 删掉了", reply="清理好了。"),
        Rule(match="toolResult:clean", reply="刚才断了，我重来。", tool_call=again),
    )
    script = main.FakeModel(main.RULES, calls_before=1)
    cut = ToolCallContent("call_1", "clean", {"folder": "build"})
    message = AssistantMessage([TextContent("我清理一下。"), cut], "length")

    async def model(
        context: Context, options: StreamOptions | None = None, /
    ) -> AsyncGenerator[StreamEvent, None]:
        if context.messages[-1].role == "user":
            yield StreamStart()
            yield TextDelta("我清理一下。")
            yield StreamDone(message)
            return
        async for event in script(context, options):
            yield event

    main.chat = partial(main.chat, model=model)
    return ["清理 build/cache"]


def one_of_two_ends(main: Any) -> list[str]:
    """Of two tools in one answer only the first says that nothing is left to be said."""
    with_tools(main, FINISH)
    sum_ = call_of("calc", expression="12*8")
    rule = Rule(match="收工", reply="好。", tool_call=call_of("finish"), more_calls=[sum_])
    with_rules(main, rule)
    return ["收工，再告诉我 12*8 等于几"]


def typed_then_stopped(main: Any) -> list[str]:
    """While a tool works the user types a line, and then presses Ctrl-C."""
    queues = Queues()

    async def wait(args: dict[str, object], context: ToolContext) -> ToolResult:
        print("你> 顺便算一下 12*8")
        queues.steering.put(user_text("顺便算一下 12*8"))
        print("^C")
        context.cancel.cancel()
        return ToolResult("没等完", is_error=True)

    with_tools(main, tool("wait", wait))
    with_rules(main, Rule(match="等一会儿", reply="我等着。", tool_call=call_of("wait")))
    main.chat = partial(main.chat, queues=queues)
    return ["等一会儿", "你好"]


def null_hour(main: Any) -> list[str]:
    """The model gives null where a number belongs, and that becomes 0."""

    async def alarm(args: dict[str, object], context: ToolContext) -> ToolResult:
        return ToolResult(f"闹钟定在 {args['hour']} 点")

    with_tools(main, tool("alarm", alarm, hour="number"))
    with_rules(
        main,
        Rule(match="定个闹钟", reply="我来定。", tool_call=call_of("alarm", hour=None)),
        Rule(match="toolResult:alarm", reply="定好了。"),
    )
    return ["定个闹钟"]


def slow_news(main: Any) -> list[str]:
    """Of two downloads the first is over, and a word about its progress comes late."""
    told: list[Callable[[str], None]] = []
    first_is_over = asyncio.Event()

    def look(event: AgentEvent, cancel: CancelToken) -> None:
        if event.type == "tool_execution_end":
            first_is_over.set()

    async def fetch(args: dict[str, object], context: ToolContext) -> ToolResult:
        told.append(context.update)
        if args["file"] == "a.zip":
            context.update("a.zip 50%")
        else:
            await first_is_over.wait()
            told[0]("a.zip 90%")
        return ToolResult(f"{args['file']} 下载完了")

    behind_screen(main, look)
    with_tools(main, tool("fetch", fetch, file="string"))
    calls = [call_of("fetch", file=file) for file in ("a.zip", "b.zip")]
    with_rules(
        main,
        Rule(match="toolResult:fetch", reply="都下载完了。"),
        Rule(match="下载", reply="我一起下。", tool_call=calls[0], more_calls=calls[1:]),
    )
    return ["下载 a.zip 和 b.zip"]
