"""Scenes for the changes of step04 that its demo does not show (see labs/stage.py)."""

from collections.abc import AsyncGenerator
from itertools import count
from typing import Any

from step04_agent_loop.fake_model import Rule
from step04_agent_loop.harness_types import (
    AssistantMessage,
    Context,
    StreamDone,
    StreamError,
    StreamEvent,
    StreamOptions,
    StreamStart,
    TextContent,
    TextDelta,
    ToolCallContent,
    message_text,
)

Stream = AsyncGenerator[StreamEvent, None]


async def saying(text: str, *calls: ToolCallContent) -> Stream:
    """Stream a whole message of the model."""
    yield StreamStart()
    yield TextDelta(text)
    message = AssistantMessage([TextContent(text), *calls], "toolUse" if calls else "stop")
    yield StreamDone(message)


def calc(number: int, expression: str) -> ToolCallContent:
    return ToolCallContent(f"call_{number}", "calc", {"expression": expression})


def never_satisfied(main: Any) -> list[str]:
    """The model wants the tool again after each result; it is the scene that ends after 12."""
    turns = count(1)

    def model(context: Context, options: StreamOptions | None = None) -> Stream:
        turn = next(turns)
        return (
            saying("我再算一次。", calc(turn, "1+1"))
            if turn <= 12
            else saying("（场景到此为止。）")
        )

    main.FakeModel = lambda rules: model
    return ["一直算"]


def raising_tool(main: Any) -> list[str]:
    """A tool raises; then the user has something else to say."""

    async def weather(args: dict[str, object]) -> str:
        raise ConnectionError("天气网站没有回应")

    main.create_tools = lambda: {"weather": weather}
    main.RULES = [
        Rule(match="工具执行失败", reply="天气网站没有回应，过一会儿再问我吧。"),
        Rule(match="天气", reply="我查一下。", tool_call={"name": "weather", "arguments": {}}),
        *main.RULES,
    ]
    return ["今天天气怎么样", "你好"]


def two_calls(main: Any) -> list[str]:
    """The model wants two tools in one message, and then tells which results it sees."""

    def model(context: Context, options: StreamOptions | None = None) -> Stream:
        results = [message_text(m) for m in context.messages if m.role == "toolResult"]
        if not results:
            return saying("两道一起算。", calc(1, "12*8"), calc(2, "1+1"))
        return saying(f"我看到 {len(results)} 个结果：{'、'.join(results)}。")

    main.FakeModel = lambda rules: model
    return ["帮我算 12*8 和 1+1"]


def broken_stream(main: Any) -> list[str]:
    """The stream of the model fails, and tells when its connection is opened and closed."""

    async def failing() -> Stream:
        print("[连接] 打开")
        try:
            yield StreamStart()
            yield TextDelta("我正说到一半，")
            yield StreamError("连接断了")
        finally:
            print("[连接] 关闭")

    def model(context: Context, options: StreamOptions | None = None) -> Stream:
        return failing() if len(context.messages) == 1 else saying("你好！")

    main.FakeModel = lambda rules: model
    return ["说点什么", "你好"]
