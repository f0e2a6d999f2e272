"""The ten events of a run (chapter 8.3, `AgentEvent` of Pi): four pairs, and what comes between.

The run, its turns, its messages and its tools each have a start and an end. What the model says
while it says it stands inside `MessageUpdate`, in the model's own words.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from .harness_types import (
    AssistantMessage,
    ContentPiece,
    Message,
    TextDelta,
    ToolCallAnnounced,
    ToolCallContent,
    TurnEnd,
    TurnStart,
    Usage,
)
from .tools.tool_types import ToolResult


@dataclass(frozen=True, slots=True)
class AgentStart:
    type: ClassVar[Literal["agent_start"]] = "agent_start"


@dataclass(frozen=True, slots=True)
class AgentEnd:
    """The run is over. `messages` are those that it has added to the history."""

    type: ClassVar[Literal["agent_end"]] = "agent_end"
    messages: Sequence[Message]


@dataclass(frozen=True, slots=True)
class MessageStart:
    """A message begins. An answer that comes in pieces is `pending`."""

    type: ClassVar[Literal["message_start"]] = "message_start"
    message: Message


@dataclass(frozen=True, slots=True)
class MessageUpdate:
    """The model has said something more. `message` is the answer as far as it has come."""

    type: ClassVar[Literal["message_update"]] = "message_update"
    message: AssistantMessage
    event: TextDelta | ContentPiece | ToolCallAnnounced


@dataclass(frozen=True, slots=True)
class MessageEnd:
    """A message is complete, and in the history. `usage` is what an answer has cost, if known."""

    type: ClassVar[Literal["message_end"]] = "message_end"
    message: Message
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class ToolExecutionStart:
    """The loop turns to a tool call. The arguments in it are those that the model has sent."""

    type: ClassVar[Literal["tool_execution_start"]] = "tool_execution_start"
    tool_call: ToolCallContent


@dataclass(frozen=True, slots=True)
class ToolExecutionUpdate:
    """A tool that still runs tells how far it is."""

    type: ClassVar[Literal["tool_execution_update"]] = "tool_execution_update"
    tool_call: ToolCallContent
    text: str


@dataclass(frozen=True, slots=True)
class ToolExecutionEnd:
    """A tool call has its result, whether the tool has run or not."""

    type: ClassVar[Literal["tool_execution_end"]] = "tool_execution_end"
    tool_call: ToolCallContent
    result: ToolResult


AgentEvent = (
    AgentStart
    | TurnStart
    | MessageStart
    | MessageUpdate
    | MessageEnd
    | ToolExecutionStart
    | ToolExecutionUpdate
    | ToolExecutionEnd
    | TurnEnd
    | AgentEnd
)
