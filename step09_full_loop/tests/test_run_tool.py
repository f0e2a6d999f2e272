"""A tool call on its way through its gates: what comes out is always one result."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from ..agent_loop import execute_tool_call, run_tool
from ..harness_types import TextContent, ToolCallContent, ToolResultMessage
from ..tools.registry import ToolRegistry
from ..tools.tool_types import ParametersSchema, ToolContext, ToolDefinition, ToolResult

TOOL_CONTEXT = ToolContext(cwd=Path.cwd())
STRICT: ParametersSchema = {
    "type": "object",
    "properties": {"x": {"type": "string"}},
    "required": ["x"],
}


async def result_of(
    execute: Callable[[dict[str, object], ToolContext], Awaitable[Any]],
    arguments: Any,
    name: str = "tool",
) -> ToolResult:
    tools = ToolRegistry()
    tools.register(ToolDefinition("tool", "", STRICT, execute))
    return await run_tool(ToolCallContent("c1", name, arguments), tools, TOOL_CONTEXT)


async def never(arguments: dict[str, object], context: ToolContext) -> ToolResult:
    raise AssertionError("this tool must not run")


async def test_a_tool_gets_a_copy_of_the_arguments_and_what_it_may_know() -> None:
    seen: list[object] = []

    async def look(arguments: dict[str, object], context: ToolContext) -> ToolResult:
        seen.extend([arguments, context])
        return ToolResult("96")

    arguments = {"x": "1"}
    assert await result_of(look, arguments) == ToolResult("96")
    assert seen[0] == arguments
    assert seen[0] is not arguments
    assert isinstance(seen[1], ToolContext)
    assert (seen[1].cwd, seen[1].cancel) == (TOOL_CONTEXT.cwd, TOOL_CONTEXT.cancel)


async def test_an_unknown_tool_is_named_and_not_at_any_length() -> None:
    answer = await result_of(never, {"x": ""}, "n" * 200)
    assert answer == ToolResult(f"未注册的工具：{'n' * 200}", is_error=True)
    answer = await result_of(never, {"x": ""}, "n" * 10_000)
    assert answer == ToolResult(f"未注册的工具：{'n' * 200}…", is_error=True)
    answer = await result_of(never, {"x": ""}, "\ud800")
    assert answer == ToolResult("未注册的工具：\\ud800", is_error=True)


@pytest.mark.parametrize(
    ("arguments", "errors"),
    [
        ({"value": 1}, '缺少必填参数 x；收到的参数：{"value": 1}'),
        ({"x": [1]}, '参数 x 应为 string，实际是 array；收到的参数：{"x": [1]}'),
        (["x"], "参数必须是一个对象"),
        (None, "参数必须是一个对象"),
    ],
)
async def test_a_tool_does_not_run_on_arguments_that_do_not_fit(
    arguments: Any, errors: str
) -> None:
    answer = await result_of(never, arguments)
    assert answer == ToolResult(f"参数校验失败：{errors}", is_error=True)


async def test_the_words_of_a_raising_tool_are_cut_and_encodable() -> None:
    async def explode(arguments: dict[str, object], context: ToolContext) -> ToolResult:
        raise ValueError(f"\ud800{'x' * 1_000_000}")

    answer = await result_of(explode, {"x": ""})
    assert answer == ToolResult(f"工具执行失败：\\ud800{'x' * 199}…", is_error=True)


@pytest.mark.parametrize("nonsense", [None, "96", {"a": 1}, ToolResult(None), ToolResult(b"")])  # type: ignore[arg-type]
async def test_a_tool_that_returns_no_result_with_text_has_failed(nonsense: Any) -> None:
    async def answer_nonsense(arguments: dict[str, object], context: ToolContext) -> Any:
        return nonsense

    answer = await result_of(answer_nonsense, {"x": ""})
    assert answer == ToolResult("工具执行失败：工具没有返回 ToolResult", is_error=True)


async def test_a_result_becomes_the_message_that_answers_its_call() -> None:
    async def refuse(arguments: dict[str, object], context: ToolContext) -> ToolResult:
        return ToolResult("no", is_error=True)

    tools = ToolRegistry()
    tools.register(ToolDefinition("tool", "", STRICT, refuse))
    call = ToolCallContent("c1", "tool", {"x": ""})
    message = await execute_tool_call(call, tools, TOOL_CONTEXT)
    assert message == ToolResultMessage("c1", "tool", [TextContent("no")], is_error=True)
