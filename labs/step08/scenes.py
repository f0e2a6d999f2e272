"""Scenes for the changes of step08 that its demo does not show (see labs/stage.py).

In each of them a service answers, and what it sends is written down here (see recorded.py).
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from step08_providers.tools import create_builtin_tools
from step08_providers.tools.tool_types import ToolContext, ToolDefinition, ToolResult

from .recorded import KEY, Piece, Recorded, Refusal

STOP: Piece = ["stop"]
CALLS: Piece = ["tool_calls"]
CUT: Piece = ["length"]


def answered_by(main: Any, *answers: list[Piece]) -> None:
    """Let a service answer, with one of these after the other."""
    main.chat = partial(main.chat, model=Recorded(*answers))


def with_tool(
    main: Any, name: str, execute: Callable[[dict[str, object]], str], **types: str
) -> None:
    """Give the step one more tool; none of its parameters is required."""

    async def run(args: dict[str, object], context: ToolContext) -> ToolResult:
        return ToolResult(execute(args))

    properties: Any = {parameter: {"type": kind} for parameter, kind in types.items()}
    tools = create_builtin_tools()
    tools.register(ToolDefinition(name, "", {"type": "object", "properties": properties}, run))
    main.chat = partial(main.chat, tools=tools)


def two_calls(main: Any) -> list[str]:
    """A model wants two sums at once, and their pieces come by turns."""
    pieces: list[Piece] = [
        (0, "call_a", "calc", '{"expression"'),
        (1, "call_b", "calc", '{"expression"'),
        (0, None, None, ': "1+1"}'),
        (1, None, None, ': "12*8"}'),
        CALLS,
    ]
    answered_by(main, ["我一起算。", *pieces], ["算好了。", STOP])
    return ["1+1 和 12*8 各是多少"]


def half_json(main: Any) -> list[str]:
    """The arguments of a call end in the middle, and the service says that all went well."""
    with_tool(
        main, "clean", lambda args: f"删掉了：{args.get('folder', '所有文件夹')}", folder="string"
    )
    call: Piece = (0, "call_a", "clean", '{"folder": "bui')
    answered_by(main, ["我清理一下。", call, CALLS], ["知道了。", STOP])
    return ["把 build 清理掉"]


def no_end(main: Any) -> list[str]:
    """The connection ends in the middle of an answer, as if that were all."""
    answered_by(main, ["可以删，但是先备"], ["你好！", STOP])
    return ["这个文件夹可以删吗", "你好"]


def bad_key(main: Any) -> list[str]:
    """The service refuses, and repeats the key that it was given."""
    answered_by(main, [Refusal(400, f"this key is not for this model: {KEY}")])
    return ["你好"]


def broken_try(main: Any) -> list[str]:
    """The connection breaks behind a call; a second try would go well."""
    paid: list[int] = []

    def pay(args: dict[str, object]) -> str:
        paid.append(1)
        return f"付了第 {len(paid)} 笔"

    with_tool(main, "pay", pay)
    first: Piece = (0, "call_a", "pay", "{}")
    second: Piece = (0, "call_b", "pay", "{}")
    answered_by(
        main,
        ["我来付款。", first, ConnectionResetError()],
        ["我来付款。", second, CALLS],
        ["付好了。", STOP],
    )
    return ["把这笔钱付了"]


def cut_answer(main: Any) -> list[str]:
    """An answer reaches its limit: of two calls the second one is cut."""
    with_tool(main, "move", lambda args: f"搬走了 {args.get('what')}", what="string")
    whole: Piece = (0, "call_a", "move", '{"what": "旧文件"}')
    half: Piece = (1, "call_b", "move", '{"what": "新')
    answered_by(main, ["我搬两样。", whole, half, CUT], ["知道了。", STOP])
    return ["把旧文件搬走，再把新文件搬来"]


def odd_letter(main: Any) -> list[str]:
    """A tool returns half of a letter, which cannot be encoded; then the conversation goes on."""
    with_tool(main, "name", lambda args: "report\ud83d.txt")
    call: Piece = (0, "call_a", "name", "{}")
    answered_by(main, ["我看看。", call, CALLS], ["看到了。", STOP], ["你好！", STOP])
    return ["那个文件叫什么", "你好"]


def same_id(main: Any) -> list[str]:
    """A service that numbers the calls of each answer again gives the same id twice."""
    first: Piece = (0, "call_0", "calc", '{"expression": "1+1"}')
    second: Piece = (0, "call_0", "calc", '{"expression": "2+2"}')
    answered_by(main, [first, CALLS], [second, CALLS], ["算好了。", STOP])
    return ["先算 1+1，再算 2+2"]


def empty_answer(main: Any) -> list[str]:
    """A service says that it has answered, and has said nothing."""
    answered_by(main, [STOP], ["你好！", STOP])
    return ["在吗", "你好"]
