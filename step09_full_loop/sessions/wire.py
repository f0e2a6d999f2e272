"""Messages as JSON, with the names that the book gives them: what stands in a session file.

Each field is written and read by name. So a name in our code can change and no file notices.
"""

import json
from typing import get_args

from ..harness_types import (
    AssistantMessage,
    ContentBlock,
    Message,
    StopReason,
    TextContent,
    ToolCallContent,
    ToolResultMessage,
    UserMessage,
)
from ..terminal import text_of

STOP_REASONS: tuple[StopReason, ...] = get_args(StopReason)


def message_to_json(message: Message) -> dict[str, object]:
    """Return a message as the JSON object that stands for it in a file."""
    content = [block_to_json(block) for block in message.content]
    written: dict[str, object] = {"role": message.role, "content": content}
    match message:
        case AssistantMessage(stop_reason=stop_reason, error_message=None):
            return {**written, "stopReason": stop_reason}
        case AssistantMessage(stop_reason=stop_reason, error_message=error):
            return {**written, "stopReason": stop_reason, "errorMessage": error}
        case ToolResultMessage(tool_call_id=call_id, tool_name=name, is_error=is_error):
            return {**written, "toolCallId": call_id, "toolName": name, "isError": is_error}
        case UserMessage():
            return written


def block_to_json(block: ContentBlock) -> dict[str, object]:
    match block:
        case TextContent(text=text):
            return {"type": "text", "text": text}
        case ToolCallContent(id=call_id, name=name, arguments=arguments):
            arguments = json_or_text(arguments)
            return {"type": "toolCall", "id": call_id, "name": name, "arguments": arguments}


def json_or_text(arguments: dict[str, object]) -> dict[str, object]:
    """Return arguments, or the text that Python shows for them where JSON has no words."""
    try:
        json.dumps([[[[[[arguments]]]]]], allow_nan=False)  # As deep as it stands in a line.
    except (TypeError, ValueError, RecursionError):
        return {"arguments": text_of(arguments)}
    return arguments


def message_from_json(value: object) -> Message | None:
    """Return the message that a JSON object stands for, or None for one that is not for the model.

    That is a message of a role that this program does not know, and an answer in which the model
    failed: nothing of it counts. ValueError if something is missing or of another type.
    """
    match value:
        case {"role": "user", "content": list(content)}:
            return UserMessage(texts_from_json(content))
        case {"role": "assistant", "stopReason": "error"}:
            return None
        case {"role": "assistant", "content": list(content), "stopReason": str(reason)}:
            blocks = blocks_from_json(content)
            return AssistantMessage(blocks, stop_reason_from_json(reason, blocks))
        case {
            "role": "toolResult",
            "toolCallId": str(call_id),
            "toolName": str(name),
            "content": list(content),
            "isError": bool(is_error),
        }:
            return ToolResultMessage(call_id, name, texts_from_json(content), is_error)
        case {"role": str(role)} if role not in ("user", "assistant", "toolResult"):
            return None
    raise ValueError("this is no message")


def texts_from_json(content: list[object]) -> list[TextContent]:
    return [block for block in blocks_from_json(content) if block.type == "text"]


def blocks_from_json(content: list[object]) -> list[ContentBlock]:
    """Return the blocks that this program knows; there may be others, such as images."""
    return [block for block in map(block_from_json, content) if block is not None]


def block_from_json(value: object) -> ContentBlock | None:
    match value:
        case {"type": "text", "text": str(text)}:
            return TextContent(text)
        case {"type": "toolCall", "id": str(id), "name": str(name), "arguments": dict(arguments)}:
            return ToolCallContent(id, name, arguments)
        case {"type": str(kind)} if kind not in ("text", "toolCall"):
            return None
    raise ValueError("this is no content block")


def stop_reason_from_json(value: object, content: list[ContentBlock]) -> StopReason:
    """Return the stop reason, or for one that is not known here what it means for the history."""
    for known in STOP_REASONS:
        if value == known:
            return known
    return "toolUse" if any(block.type == "toolCall" for block in content) else "stop"
