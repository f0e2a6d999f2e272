"""The loop of the steps before, as a case of `run_loop`: the same arguments, and the same events.

What was built on it still works. The tests of the steps before it hold here, unchanged.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from .agent_events import MessageEnd, MessageStart, MessageUpdate, ToolExecutionStart
from .harness_types import (
    AssistantMessage,
    Context,
    HarnessEvent,
    StreamDone,
    StreamError,
    StreamFn,
    StreamOptions,
    StreamStart,
    TextContent,
    ToolCallContent,
    ToolCallFinished,
    ToolCallStarted,
    ToolResultMessage,
    TurnEnd,
    TurnStart,
    message_text,
)
from .hooks import Hooks
from .loop_config import LoopConfig, MaxTurns
from .run_loop import run_loop
from .tool_batch import ToolBatch
from .tools.registry import ToolRegistry
from .tools.tool_types import ToolContext, ToolResult
from .whole_stream import whole


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
    """Answer the last message of `context`, one tool at a time, with a limit of turns.

    Its events are those of the chapter, and nothing of a turn that failed is kept.
    """
    hooks, limit = hooks or Hooks(), MaxTurns(max_turns)
    config = LoopConfig(
        before_tool_call=hooks.before_tool_call,
        after_tool_call=hooks.after_tool_call,
        should_stop_after_turn=limit,
        tool_execution="sequential",
        stream_options=stream_options or StreamOptions(),
    )
    events = run_loop(
        prompts=[],
        context=context,
        tools=tools,
        tool_context=tool_context,
        stream_fn=whole(stream_fn),
        config=config,
    )
    async with aclosing(events):
        while max_turns > 0 and (event := await anext(events, None)) is not None:
            match event:
                case TurnStart() | TurnEnd():
                    yield event
                case MessageStart(message=AssistantMessage(stop_reason="pending")):
                    yield StreamStart()
                case MessageUpdate(event=said):
                    yield said
                case MessageEnd(message=AssistantMessage(error_message=str(error))):
                    context.messages.pop()
                    yield StreamError(error)
                case MessageEnd(message=AssistantMessage() as message, usage=usage):
                    yield StreamDone(message, usage)
                case ToolExecutionStart(tool_call=tool_call):
                    yield ToolCallStarted(tool_call)
                case MessageEnd(message=ToolResultMessage() as result):
                    told_text = message_text(result)
                    yield ToolCallFinished(
                        result.tool_call_id, result.tool_name, told_text, result.is_error
                    )
    if limit.reached or max_turns <= 0:
        yield StreamError(f"Agent Loop 达到最大轮数 {max_turns}，已强制停止。")


async def execute_tool_call(
    tool_call: ToolCallContent,
    tools: ToolRegistry,
    tool_context: ToolContext,
    hooks: Hooks | None = None,
) -> ToolResultMessage:
    """Run one tool and return its result message, whatever happens."""
    result = await run_tool(tool_call, tools, tool_context, hooks)
    content = [TextContent(result.content)]
    return ToolResultMessage(tool_call.id, tool_call.name, content, result.is_error)


async def run_tool(
    tool_call: ToolCallContent,
    tools: ToolRegistry,
    tool_context: ToolContext,
    hooks: Hooks | None = None,
) -> ToolResult:
    """Take one call through its gates and run it; every way out is a result, none an exception."""
    results: list[ToolResult] = []
    message = AssistantMessage([tool_call], "toolUse")
    hooks = hooks or Hooks()
    config = LoopConfig(
        before_tool_call=hooks.before_tool_call, after_tool_call=hooks.after_tool_call
    )
    batch = ToolBatch(message, tools, tool_context, config, lambda result: None)
    async with aclosing(batch.events()) as events:
        async for event in events:
            if event.type == "tool_execution_end":
                results.append(event.result)
    return results[0]
