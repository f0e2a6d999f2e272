"""The agent loop: ask the model, run the tools it wants, ask again (chapter 8.3, `agent-loop.ts`).

It prints nothing. It yields events for people and appends messages for the model; the two
channels meet nowhere else.
"""

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import replace

from .cancel import CANCELLED, StoppedError, with_grace
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
from .hooks import Hooks
from .tools.quoting import error_text
from .tools.registry import ToolRegistry
from .tools.tool_types import ToolContext, ToolDefinition, ToolResult, quoted
from .tools.validate import validate
from .whole_stream import whole_stream


async def run_agent_loop(
    *,
    stream_fn: StreamFn,
    context: Context,
    tools: ToolRegistry,
    tool_context: ToolContext,
    max_turns: int = 8,
    stream_options: StreamOptions | None = None,
    hooks: Hooks | None = None,
) -> AsyncGenerator[HarnessEvent, None]:
    """Answer the last message of `context`, appending to `context.messages` in place.

    `max_turns` is how often the model may be asked; 0 or less asks it never. The run ends in one of
    four ways: the model wants no tool (the normal one), it fails, `tool_context.cancel` is
    cancelled, or it has had its turns. Close the generator if you leave it early (`aclosing`): also
    then no call is left without a result. `hooks` may change or block a tool call.
    """
    cancel = tool_context.cancel
    options = replace(stream_options or StreamOptions(), cancel=cancel)
    for turn in range(1, max_turns + 1):
        yield TurnStart(turn)

        # First: ask the model, and pass on its events as they come.
        assistant: AssistantMessage | None = None
        async with aclosing(whole_stream(stream_fn, context, options, cancel)) as stream:
            async for event in stream:
                yield event
                if event.type == "done":
                    assistant = event.message
        if assistant is None:
            yield TurnEnd(turn)
            return  # The model failed: nothing of this turn is kept.
        context.messages.append(assistant)

        # Second: no tool wanted means that the model has said what it had to say.
        tool_calls = tool_calls_of(assistant)
        if not tool_calls:
            yield TurnEnd(turn)
            return

        # Third: run the tools one by one; each result goes back into the context.
        with all_answered(tool_calls, context):
            for tool_call in tool_calls:
                yield ToolCallStarted(tool_call)
                result = await execute_tool_call(tool_call, tools, tool_context, hooks)
                context.messages.append(result)
                yield ToolCallFinished(
                    result.tool_call_id, result.tool_name, message_text(result), result.is_error
                )

        # Fourth: once more from the top, with the new results, unless nobody wants that any more.
        yield TurnEnd(turn)
        if cancel.cancelled:
            return

    yield StreamError(f"Agent Loop 达到最大轮数 {max_turns}，已强制停止。")


@contextmanager
def all_answered(tool_calls: Sequence[ToolCallContent], context: Context) -> Iterator[None]:
    """Answer the calls that are still open when the block ends, whatever ends it.

    Somebody may stop listening, or a tool may raise what is no failure of a tool, such as
    KeyboardInterrupt. A call without a result would make the history useless.
    """
    before = len(context.messages)
    try:
        yield
    finally:
        for call in tool_calls[len(context.messages) - before :]:
            content = [TextContent(CANCELLED)]
            context.messages.append(ToolResultMessage(call.id, call.name, content, is_error=True))


async def execute_tool_call(
    tool_call: ToolCallContent,
    tools: ToolRegistry,
    tool_context: ToolContext,
    hooks: Hooks | None = None,
) -> ToolResultMessage:
    """Run one tool and return its result message, whatever happens.

    All paths of `run_tool` meet here, and the loop puts what comes out into the context.
    """
    result = await run_tool(tool_call, tools, tool_context, hooks)
    content = [TextContent(result.content)]
    return ToolResultMessage(tool_call.id, tool_call.name, content, result.is_error)


async def run_tool(
    tool_call: ToolCallContent,
    tools: ToolRegistry,
    tool_context: ToolContext,
    hooks: Hooks | None = None,
) -> ToolResult:
    """Take a tool call through its gates; every way out is a result, none an exception.

    An unknown tool, arguments that do not fit and a tool that raises end with `is_error`: only what
    is in the context can teach the model to try something else. Whoever cancels the task that this
    runs in gets the CancelledError.
    """
    cancel = tool_context.cancel
    if cancel.cancelled:
        return ToolResult(CANCELLED, is_error=True)

    tool = tools.get(tool_call.name)
    if tool is None:
        return ToolResult(f"未注册的工具：{quoted(str(tool_call.name))}", is_error=True)

    # The first gate: what the model made up is checked before anything runs.
    checked = validate(tool.parameters, tool_call.arguments)
    if not checked.ok:
        return ToolResult(f"参数校验失败：{'；'.join(checked.errors)}", is_error=True)

    # The second gate: somebody may have a rule about this call. What it changes is checked as well.
    hooks = hooks or Hooks()
    arguments = await hooks.before_tool_call(tool, tool_call, checked.value, cancel)
    if isinstance(arguments, ToolResult):
        return arguments

    # The third gate: a tool is foreign code, may raise, and may return what it likes. Whatever it
    # does, it has run, so others may look at its result.
    result = await result_of(tool, arguments, tool_context)
    return await hooks.after_tool_call(tool_call, arguments, result, cancel)


async def result_of(
    tool: ToolDefinition, arguments: dict[str, object], tool_context: ToolContext
) -> ToolResult:
    """Run a tool until it ends or nobody waits for it any longer; what it raises is a result."""
    try:
        result = await with_grace(
            lambda: tool.execute(arguments, tool_context), tool_context.cancel
        )
    except StoppedError as stopped:
        return ToolResult(str(stopped), is_error=True)
    except Exception as error:
        return ToolResult(f"工具执行失败：{quoted(error_text(error))}", is_error=True)
    if not isinstance(result, ToolResult) or not isinstance(result.content, str):
        return ToolResult("工具执行失败：工具没有返回 ToolResult", is_error=True)
    return result
