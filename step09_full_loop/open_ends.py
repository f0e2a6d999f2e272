"""What a run has begun and not ended yet, and how it is ended in order when it has failed."""

from collections.abc import Iterator, Sequence

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
    TextContent,
    ToolCallContent,
    TurnEnd,
    TurnStart,
    message_text,
)
from .tools.quoting import error_text
from .tools.tool_types import ToolResult


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
