"""The words of this step: messages, events, and what a model must look like.

Messages are what the model will see; events are what people see while it happens.
Everything here is data. `role` and `type` tell the members of a union apart.
"""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol


@dataclass(frozen=True, slots=True)
class TextContent:
    type: ClassVar[Literal["text"]] = "text"
    text: str


StopReason = Literal["stop"]


@dataclass(frozen=True, slots=True)
class UserMessage:
    role: ClassVar[Literal["user"]] = "user"
    content: list[TextContent]


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    role: ClassVar[Literal["assistant"]] = "assistant"
    content: list[TextContent]
    stop_reason: StopReason


Message = UserMessage | AssistantMessage


@dataclass(slots=True)
class Context:
    """All that the model gets to see. The one mutable type: messages are appended in place."""

    messages: list[Message]


@dataclass(frozen=True, slots=True)
class StreamStart:
    type: ClassVar[Literal["start"]] = "start"


@dataclass(frozen=True, slots=True)
class TextDelta:
    type: ClassVar[Literal["text_delta"]] = "text_delta"
    delta: str


@dataclass(frozen=True, slots=True)
class StreamDone:
    """The last event of a stream that went well, with the whole message."""

    type: ClassVar[Literal["done"]] = "done"
    message: AssistantMessage


@dataclass(frozen=True, slots=True)
class StreamError:
    """The last event of a stream that failed."""

    type: ClassVar[Literal["error"]] = "error"
    error: str


StreamEvent = StreamStart | TextDelta | StreamDone | StreamError


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """`delay`: seconds between two text deltas."""

    delay: float = 0.0


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
    return "".join(block.text for block in message.content)
