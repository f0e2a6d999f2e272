"""How things stand with an agent, for whoever looks at it."""

from dataclasses import dataclass, field

from .agent_events import AgentEvent, MessageEnd, ToolExecutionEnd, ToolExecutionStart
from .harness_types import AssistantMessage, Message, TurnEnd


@dataclass(slots=True)
class AgentState:
    """How things stand. `error_message` is why the last run has failed."""

    messages: list[Message] = field(default_factory=list)
    is_streaming: bool = False
    pending_tool_calls: list[str] = field(default_factory=list)
    error_message: str | None = None

    def note(self, event: AgentEvent) -> None:
        """Note what an event changes."""
        match event:
            case MessageEnd(message=message):
                self.messages.append(message)
            case ToolExecutionStart(tool_call=call):
                self.pending_tool_calls.append(call.id)
            case ToolExecutionEnd(tool_call=call):
                self.pending_tool_calls.remove(call.id)
            case TurnEnd(message=AssistantMessage(error_message=str(error))):
                self.error_message = error
