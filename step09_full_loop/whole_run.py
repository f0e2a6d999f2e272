"""A run that always ends in order, whatever a callback, a model or a listener raises.

Pi's low-level loop does not promise that: there an exception leaves a listener waiting for ever.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing, suppress

from .agent_events import (
    AgentEnd,
    AgentEvent,
    AgentStart,
    MessageEnd,
    MessageStart,
    ToolExecutionEnd,
    ToolExecutionStart,
)
from .cancel import CancelToken
from .harness_types import (
    AssistantMessage,
    Context,
    Message,
    StopReason,
    StreamFn,
    TextContent,
    ToolCallContent,
    TurnEnd,
    TurnStart,
    message_text,
)
from .loop_config import LoopConfig
from .run_loop import run_loop
from .tools.quoting import error_text
from .tools.registry import ToolRegistry
from .tools.tool_types import ToolContext, ToolResult

NOTHING_TO_ANSWER = "没有可以接着回答的消息"


class OpenEnds:
    """What has started in a run and not ended yet."""

    def __init__(self) -> None:
        self.begun = False
        self.turn = 0
        self.turn_open = False
        self.message: Message | None = None
        self.calls: list[ToolCallContent] = []
        self.messages = 0  # So many have ended.
        self.over = False

    def saw(self, event: AgentEvent) -> None:
        match event:
            case AgentStart():
                self.begun = True
            case TurnStart(turn=turn):
                self.turn, self.turn_open = turn, True
            case TurnEnd():
                self.turn_open = False
            case MessageStart(message=message):
                self.message = message
            case MessageEnd():
                self.message = None
                self.messages += 1
            case AgentEnd():
                self.over = True
            case ToolExecutionStart(tool_call=call):
                self.calls.append(call)
            case ToolExecutionEnd(tool_call=call):
                self.calls.remove(call)

    def closing(self, new: Sequence[Message]) -> Iterator[AgentEvent]:
        """Give the ends that are missing, of the tools and of what is in the history already."""
        untold = new[self.messages :]
        results = [message for message in untold if message.role == "toolResult"]
        for call in [*self.calls]:
            result = next(one for one in results if one.tool_call_id == call.id)
            results.remove(result)
            yield ToolExecutionEnd(call, ToolResult(message_text(result), result.is_error))
        for message in untold:
            if message is not self.message:
                yield MessageStart(message)
            yield MessageEnd(message)


def failure(error: Exception, cancel: CancelToken, said: str = "") -> AssistantMessage:
    """Return the message that says how a run has failed, with what the model had said by then."""
    reason: StopReason = "aborted" if cancel.cancelled else "error"
    content = [TextContent(said)] if said else []
    return AssistantMessage([*content], reason, error_text(error))


async def whole_run(
    *,
    prompts: Sequence[Message],
    context: Context,
    tools: ToolRegistry,
    tool_context: ToolContext,
    stream_fn: StreamFn,
    config: LoopConfig,
) -> AsyncGenerator[AgentEvent, None]:
    """Do what `run_loop` does, on `context` itself, and raise nothing: a failure is a message.

    Every start has its end. Without `prompts` the last message of `context` is answered.
    """
    new: list[Message] = []
    ends = OpenEnds()
    try:
        check_there_is_something(prompts, context)
        events = run_loop(
            prompts=prompts,
            context=context,
            tools=tools,
            tool_context=tool_context,
            stream_fn=stream_fn,
            config=config,
            new_messages=new,
        )
        async with aclosing(events):
            async for event in events:
                ends.saw(event)
                yield event
    except Exception as error:
        for event in failed_end(error, ends, new, context, tool_context.cancel):
            yield event


async def run_with(
    emit: Callable[[AgentEvent], Awaitable[None]],
    *,
    prompts: Sequence[Message],
    context: Context,
    tools: ToolRegistry,
    tool_context: ToolContext,
    stream_fn: StreamFn,
    config: LoopConfig,
) -> Sequence[Message]:
    """Do what `whole_run` does, and wait for `emit` with each event; return what the run adds.

    If `emit` raises, the run ends like any that fails, and `emit` still hears how.
    """
    new: list[Message] = []
    ends = OpenEnds()
    try:
        check_there_is_something(prompts, context)
        events = run_loop(
            prompts=prompts,
            context=context,
            tools=tools,
            tool_context=tool_context,
            stream_fn=stream_fn,
            config=config,
            new_messages=new,
        )
        async with aclosing(events):
            async for event in events:
                ends.saw(event)
                await emit(event)
    except Exception as error:
        for event in failed_end(error, ends, new, context, tool_context.cancel):
            with suppress(Exception):
                await emit(event)
    return new


def check_there_is_something(prompts: Sequence[Message], context: Context) -> None:
    """ValueError if nobody has said anything that a model could answer."""
    last = context.messages[-1:]
    if not prompts and (not last or last[0].role == "assistant"):
        raise ValueError(NOTHING_TO_ANSWER)


def failed_end(
    error: Exception, ends: OpenEnds, new: list[Message], context: Context, cancel: CancelToken
) -> Iterator[AgentEvent]:
    """Give what is missing of a run that has failed, and put the failure into the history."""
    for event in ends.closing(new):
        ends.saw(event)
        yield event
    if ends.over:
        return
    if not ends.begun:
        yield AgentStart()
    if not ends.turn_open:
        ends.turn += 1
        yield TurnStart(ends.turn)
    draft = ends.message
    said = message_text(draft) if draft is not None else ""
    message = failure(error, cancel, said)
    context.messages.append(message)
    new.append(message)
    if draft is None:
        yield MessageStart(message)
    yield MessageEnd(message)
    yield TurnEnd(ends.turn, message)
    yield AgentEnd(new)
