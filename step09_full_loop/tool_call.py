"""One tool call: the gates in front of it, the tool itself, and a result in every case."""

import asyncio
import copy
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from .cancel import CANCELLED, CancelToken, StoppedError, is_being_cancelled
from .harness_types import ToolCallContent
from .loop_config import LoopConfig
from .tools.gate import check_arguments
from .tools.quoting import error_text, quoted
from .tools.registry import ToolRegistry
from .tools.tool_types import ToolContext, ToolDefinition, ToolResult

T = TypeVar("T")
BLOCKED = "工具调用被拦下"


@dataclass(frozen=True, slots=True)
class Ready:
    """A call that has passed all gates."""

    tool_call: ToolCallContent
    tool: ToolDefinition
    arguments: dict[str, object]


async def prepared(
    call: ToolCallContent, tools: ToolRegistry, config: LoopConfig, cancel: CancelToken
) -> Ready | ToolResult:
    """Take a call through its gates (`prepareToolCall` of Pi); a result is why it does not run."""
    if cancel.cancelled:
        return ToolResult(CANCELLED, is_error=True)
    tool = tools.get(call.name)
    if tool is None:
        return ToolResult(f"未注册的工具：{quoted(str(call.name))}", is_error=True)
    try:
        raw = call.arguments
        if tool.prepare_arguments is not None:
            raw = tool.prepare_arguments(copy.deepcopy(raw))
        checked = check_arguments(tool.parameters, raw)
    except Exception as error:
        return failed(error)
    if not checked.ok:
        return ToolResult(f"参数校验失败：{'；'.join(checked.errors)}", is_error=True)
    before = config.before_tool_call
    arguments = await attempt(lambda: before(tool, call, checked.value, cancel))
    if isinstance(arguments, ToolResult):
        return ToolResult(arguments.content or BLOCKED, is_error=True)
    return Ready(call, tool, arguments)


async def executed(
    ready: Ready, tool_context: ToolContext, config: LoopConfig, *, alone: bool
) -> ToolResult:
    """Run a tool, and let others look at the result.

    If it is not `alone`, all have begun before anybody looks at a result, and those that have
    raised end before those that have not: this is the order in which Pi tells it.
    """

    async def work() -> object:
        result = await ready.tool.execute(ready.arguments, tool_context)
        if not alone:
            await asyncio.sleep(0)
        return result

    result = usable(await attempt(work), "工具")
    if not alone:
        await asyncio.sleep(0)
    after, cancel = config.after_tool_call, tool_context.cancel
    seen = await attempt(lambda: after(ready.tool_call, ready.arguments, result, cancel))
    return usable(seen, "after_tool_call ")


def usable(result: object, who: str) -> ToolResult:
    if isinstance(result, ToolResult) and isinstance(result.content, str):
        return result
    return ToolResult(f"工具执行失败：{who}没有返回 ToolResult", is_error=True)


async def attempt(work: Callable[[], Awaitable[T]]) -> T | ToolResult:
    """Return what `work` returns; if it raises, a result that says so.

    A CancelledError is a failure like any other, unless it is this very task that is cancelled.
    """
    try:
        return await work()
    except StoppedError as stopped:
        return ToolResult(str(stopped), is_error=True)
    except asyncio.CancelledError as error:
        if is_being_cancelled():
            raise
        return failed(RuntimeError(type(error).__name__))
    except Exception as error:
        return failed(error)


def failed(error: Exception) -> ToolResult:
    return ToolResult(f"工具执行失败：{quoted(error_text(error))}", is_error=True)
