"""What the loop hears from the model: pieces that become a message (`streamAssistantResponse`)."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing

from .agent_events import AgentEvent, MessageEnd, MessageStart, MessageUpdate
from .cancel import CANCELLED, CancelToken
from .harness_types import (
    AssistantMessage,
    ContentPiece,
    Context,
    Message,
    StopReason,
    StreamDone,
    StreamError,
    StreamFn,
    StreamOptions,
    TextContent,
    TextDelta,
    ToolCallAnnounced,
    ToolResultMessage,
    Usage,
    message_text,
    tool_calls_of,
)
from .loop_config import LoopConfig
from .whole_stream import ENDED_EARLY


async def ask_model(
    context: Context,
    config: LoopConfig,
    stream_fn: StreamFn,
    options: StreamOptions,
    keep: Callable[[Message], None],
) -> AsyncGenerator[AgentEvent, None]:
    """Ask the model once, unless nobody wants that any more; one message is what comes of it.

    What the model sees is what `transform_context` and `convert_to_llm` make of the history. What
    they raise, or the model, goes through.
    """
    draft: AssistantMessage | None = None
    cancel = options.cancel or CancelToken()
    context = await shown_to_model(context, config, cancel)
    last: StreamDone | StreamError = StreamError(CANCELLED if cancel.cancelled else ENDED_EARLY)
    if not cancel.cancelled:
        async with aclosing(stream_fn(context, options)) as stream:
            async for event in stream:
                if event.type == "done" or event.type == "error":
                    last = event
                    break
                if draft is None:
                    draft = AssistantMessage([], "pending")
                    yield MessageStart(draft)
                if event.type != "start":
                    grow(draft, event)
                    yield MessageUpdate(draft, event)
    message, usage = ended(draft, last, cancel)
    keep(message)
    try:
        if draft is None:
            yield MessageStart(message)
        yield MessageEnd(message, usage)
    except BaseException:  # Whoever leaves just now leaves no call open either.
        for call in tool_calls_of(message):
            keep(ToolResultMessage(call.id, call.name, [TextContent(CANCELLED)], is_error=True))
        raise


async def shown_to_model(context: Context, config: LoopConfig, cancel: CancelToken) -> Context:
    messages: Sequence[Message] = context.messages
    for change in (config.transform_context, config.convert_to_llm):
        if not cancel.cancelled:
            messages = await change(messages)
    if messages is context.messages:
        return context
    return Context([*messages], context.tools, context.system_prompt)


def grow(draft: AssistantMessage, event: TextDelta | ContentPiece | ToolCallAnnounced) -> None:
    """Put what has come into the draft of an answer."""
    content = draft.content
    if event.type == "toolcall":
        content.append(event.tool_call)
    elif event.type == "text_delta":
        if content and content[-1].type == "text":
            content[-1] = TextContent(content[-1].text + event.delta)
        else:
            content.append(TextContent(event.delta))


def ended(
    draft: AssistantMessage | None, last: StreamDone | StreamError, cancel: CancelToken
) -> tuple[AssistantMessage, Usage | None]:
    """Return the message that an answer has become. Of one that failed only the text is kept."""
    if last.type == "done":
        return last.message, last.usage
    said = message_text(draft) if draft is not None else ""
    reason: StopReason = "aborted" if cancel.cancelled else "error"
    return AssistantMessage([TextContent(said)] if said else [], reason, last.error), None
