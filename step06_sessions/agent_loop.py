"""The agent loop: ask the model, run the tools it wants, ask again (chapter 8.3, `agent-loop.ts`).

It prints nothing. It yields events for people and appends messages for the model; the two
channels meet nowhere else.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from .harness_types import (
    AssistantMessage,
    Context,
    HarnessEvent,
    StreamError,
    StreamFn,
    StreamOptions,
    TextContent,
    ToolCallContent,
    ToolCallFinished,
    ToolCallStarted,
    ToolResultMessage,
    TurnEnd,
    TurnStart,
    message_text,
    tool_calls_of,
)
from .tools.registry import ToolRegistry
from .tools.tool_types import ToolContext, ToolResult, quoted
from .tools.validate import validate


async def run_agent_loop(
    *,
    stream_fn: StreamFn,
    context: Context,
    tools: ToolRegistry,
    tool_context: ToolContext,
    max_turns: int = 8,
    stream_options: StreamOptions | None = None,
) -> AsyncGenerator[HarnessEvent, None]:
    """Answer the last message of `context`, appending to `context.messages` in place.

    `max_turns` is how often the model may be asked; 0 or less asks it never. The run ends in one of
    four ways: the model wants no tool (the normal one), it fails, its stream ends without a last
    event, or it has had its turns. Close the generator if you leave it early (`aclosing`).
    """
    for turn in range(1, max_turns + 1):
        yield TurnStart(turn)

        # First: ask the model, and pass on its events as they come.
        assistant: AssistantMessage | None = None
        async with aclosing(stream_fn(context, stream_options)) as stream:
            async for event in stream:
                yield event
                if event.type == "done":
                    assistant = event.message
                elif event.type == "error":
                    return  # The model failed: nothing of this turn is kept.
        if assistant is None:
            return  # The stream broke its contract; guessing what it meant helps nobody.
        context.messages.append(assistant)

        # Second: no tool wanted means that the model has said what it had to say.
        tool_calls = tool_calls_of(assistant)
        if not tool_calls:
            yield TurnEnd(turn)
            return

        # Third: run the tools one by one; each result goes back into the context.
        for tool_call in tool_calls:
            yield ToolCallStarted(tool_call)
            result = await execute_tool_call(tool_call, tools, tool_context)
            context.messages.append(result)
            yield ToolCallFinished(
                result.tool_call_id, result.tool_name, message_text(result), result.is_error
            )

        # Fourth: once more from the top, with the new results.
        yield TurnEnd(turn)

    yield StreamError(f"Agent Loop 达到最大轮数 {max_turns}，已强制停止。")


async def execute_tool_call(
    tool_call: ToolCallContent, tools: ToolRegistry, tool_context: ToolContext
) -> ToolResultMessage:
    """Run one tool and return its result message, whatever happens.

    All paths of `run_tool` meet here, and the loop puts what comes out into the context.
    """
    result = await run_tool(tool_call, tools, tool_context)
    content = [TextContent(result.content)]
    return ToolResultMessage(tool_call.id, tool_call.name, content, result.is_error)


async def run_tool(
    tool_call: ToolCallContent, tools: ToolRegistry, tool_context: ToolContext
) -> ToolResult:
    """Take a tool call through its gates; every way out is a result, none an exception.

    An unknown tool, arguments that do not fit and a tool that raises end with `is_error`: only what
    is in the context can teach the model to try something else. A cancellation is no failure and
    passes.
    """
    tool = tools.get(tool_call.name)
    if tool is None:
        return ToolResult(f"未注册的工具：{quoted(str(tool_call.name))}", is_error=True)

    # The first gate: what the model made up is checked before anything runs.
    checked = validate(tool.parameters, tool_call.arguments)
    if not checked.ok:
        return ToolResult(f"参数校验失败：{'；'.join(checked.errors)}", is_error=True)

    # The second gate: a tool is foreign code, may raise, and may return what it likes.
    try:
        result = await tool.execute(checked.value, tool_context)
    except Exception as error:
        return ToolResult(f"工具执行失败：{quoted(error_text(error))}", is_error=True)
    if not isinstance(result, ToolResult) or not isinstance(result.content, str):
        return ToolResult("工具执行失败：工具没有返回 ToolResult", is_error=True)
    return result


def error_text(error: Exception) -> str:
    """Return what an error says, with its class where the message alone says nothing.

    `KeyError("path")` only says 'path'. A group says what its members say.
    """
    name = type(error).__name__
    try:
        if isinstance(error, ExceptionGroup):
            return "；".join(map(error_text, error.exceptions))
        message = str(error)
        if message in map(repr, (error.args, *error.args)):
            return f"{name}: {message}"
        return message if message.strip() else name
    except Exception:
        return name
