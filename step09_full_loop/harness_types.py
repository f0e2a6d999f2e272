"""The words of this step: messages, events, and what a model must look like.

Messages are what the model will see; events are what people see while it happens.
Everything here is data. `role` and `type` tell the members of a union apart.
"""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol

if TYPE_CHECKING:  # Only the names are needed here; so a tool may import these types.
    from .cancel import CancelToken
    from .tools.tool_types import ToolSpec


@dataclass(frozen=True, slots=True)
class TextContent:
    type: ClassVar[Literal["text"]] = "text"
    text: str


@dataclass(frozen=True, slots=True)
class ToolCallContent:
    """The model asks for a tool. `arguments` is parsed already, and not to be trusted yet."""

    type: ClassVar[Literal["toolCall"]] = "toolCall"
    id: str
    name: str
    arguments: dict[str, object]


class UnusableArguments(dict[str, object]):
    """Arguments of a call that must not run. `reason` is for the model: `validate` refuses them.

    What the model wrote is in them as text, so that they are sent back to it like any others.
    """

    def __init__(self, raw: str, reason: str) -> None:
        super().__init__(raw=raw)
        self.reason = reason


ContentBlock = TextContent | ToolCallContent
StopReason = Literal["pending", "stop", "toolUse", "length", "aborted", "error"]


@dataclass(frozen=True, slots=True)
class UserMessage:
    role: ClassVar[Literal["user"]] = "user"
    content: list[TextContent]


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """An answer. While it comes in it is `pending`, and its content grows.

    One that failed or was cancelled is kept, and `error_message` says why. No model sees it again.
    """

    role: ClassVar[Literal["assistant"]] = "assistant"
    content: list[ContentBlock]
    stop_reason: StopReason
    error_message: str | None = None


@dataclass(frozen=True, slots=True)
class ToolResultMessage:
    """What a tool answered. `tool_call_id` says which of the model's calls this answers."""

    role: ClassVar[Literal["toolResult"]] = "toolResult"
    tool_call_id: str
    tool_name: str
    content: list[TextContent]
    is_error: bool = False


Message = UserMessage | AssistantMessage | ToolResultMessage


@dataclass(slots=True)
class Context:
    """All that the model gets to see. The one mutable type: messages are appended in place."""

    messages: list[Message]
    tools: "list[ToolSpec]" = field(default_factory=list)
    system_prompt: str = ""


@dataclass(frozen=True, slots=True)
class StreamStart:
    type: ClassVar[Literal["start"]] = "start"


@dataclass(frozen=True, slots=True)
class TextDelta:
    type: ClassVar[Literal["text_delta"]] = "text_delta"
    delta: str


@dataclass(frozen=True, slots=True)
class ToolCallAnnounced:
    """The model says that it wants a tool; nothing has run yet."""

    type: ClassVar[Literal["toolcall"]] = "toolcall"
    tool_call: ToolCallContent


@dataclass(frozen=True, slots=True)
class Usage:
    """What an answer has cost, in tokens: all that the model has read, and what it has written."""

    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class StreamDone:
    """The last event of a stream that went well, with the whole message.

    `usage` is None where the model does not count.
    """

    type: ClassVar[Literal["done"]] = "done"
    message: AssistantMessage
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class StreamError:
    """The last event of a stream that failed."""

    type: ClassVar[Literal["error"]] = "error"
    error: str


@dataclass(frozen=True, slots=True)
class ContentPiece:
    """A finer event, for whoever shows an answer as it comes in. A model may leave these out.

    `piece` says what happened to the block `content_index` of the answer.
    """

    type: ClassVar[Literal["piece"]] = "piece"
    piece: Literal[
        "text_start",
        "text_end",
        "thinking_start",
        "thinking_delta",
        "thinking_end",
        "toolcall_start",
        "toolcall_delta",
    ]
    content_index: int
    delta: str = ""


StreamEvent = StreamStart | TextDelta | ContentPiece | ToolCallAnnounced | StreamDone | StreamError


@dataclass(frozen=True, slots=True)
class TurnStart:
    type: ClassVar[Literal["turn_start"]] = "turn_start"
    turn: int


@dataclass(frozen=True, slots=True)
class ToolCallStarted:
    """The loop is about to run a tool."""

    type: ClassVar[Literal["tool_call"]] = "tool_call"
    tool_call: ToolCallContent


@dataclass(frozen=True, slots=True)
class ToolCallFinished:
    """The tool has run, and its result is in the context."""

    type: ClassVar[Literal["tool_result"]] = "tool_result"
    tool_call_id: str
    tool_name: str
    content: str
    is_error: bool


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """A turn is over, with the answer and the results that it led to."""

    type: ClassVar[Literal["turn_end"]] = "turn_end"
    turn: int
    message: AssistantMessage | None = None
    tool_results: Sequence[ToolResultMessage] = ()


HarnessEvent = StreamEvent | TurnStart | ToolCallStarted | ToolCallFinished | TurnEnd


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """`delay`: seconds between two text deltas. `cancel` tells when nobody wants the rest."""

    delay: float = 0.0
    cancel: "CancelToken | None" = None


class StreamFn(Protocol):
    """A model: given the context, a stream of events that ends with StreamDone or StreamError."""

    def __call__(
        self, context: Context, options: StreamOptions | None, /
    ) -> AsyncGenerator[StreamEvent, None]: ...


def user_text(text: str) -> UserMessage:
    """Return what the user said as a message."""
    return UserMessage([TextContent(text)])


def message_text(message: Message) -> str:
    """Return all the text of a message, whoever it is from."""
    blocks: Sequence[ContentBlock] = message.content
    return "".join(block.text for block in blocks if block.type == "text")


def tool_calls_of(message: AssistantMessage) -> list[ToolCallContent]:
    """Return the tool calls of a message, in the order in which the model made them."""
    return [block for block in message.content if block.type == "toolCall"]
