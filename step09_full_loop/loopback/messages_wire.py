"""The messages of Anthropic, seen from the side of the service."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterator

from ..harness_types import (
    AssistantMessage,
    ContentBlock,
    Message,
    StreamDone,
    StreamError,
    StreamEvent,
    StreamStart,
    TextContent,
    TextDelta,
    ToolCallAnnounced,
    ToolCallContent,
    ToolResultMessage,
    UserMessage,
)

STOP_REASONS = {"stop": "end_turn", "toolUse": "tool_use", "length": "max_tokens"}
NOTHING = {"input_tokens": 0, "output_tokens": 0}


def messages_of(body: dict[str, object]) -> Iterator[Message]:
    """Give the messages of a request. ValueError for what a service would refuse."""
    names: dict[str, str] = {}
    match body:
        case {"messages": list(messages)}:
            for sent in messages:
                match sent:
                    case {"role": "assistant", "content": list(blocks)}:
                        yield assistant_message(blocks, names)
                    case {"role": "user", "content": list(blocks)}:
                        yield from user_messages(blocks, names)
                    case _:
                        raise ValueError(f"{sent} is no message")
        case _:
            raise ValueError("messages is missing")


def assistant_message(blocks: list[object], names: dict[str, str]) -> Message:
    """Return a message; `names` gets those of the tools that it calls, by the id of the call."""
    content: list[ContentBlock] = []
    for block in blocks:
        match block:
            case {"type": "text", "text": str(text)}:
                content.append(TextContent(text))
            case {"type": "tool_use", "id": str(id), "name": str(name), "input": dict(arguments)}:
                names[id] = name
                content.append(ToolCallContent(id, name, arguments))
            case _:
                raise ValueError(f"{block} is no block")
    calls = any(block.type == "toolCall" for block in content)
    return AssistantMessage(content, "toolUse" if calls else "stop")


def user_messages(blocks: list[object], names: dict[str, str]) -> Iterator[Message]:
    for block in blocks:
        match block:
            case {"type": "text", "text": str(text)}:
                yield UserMessage([TextContent(text)])
            case {"type": "tool_result", "tool_use_id": str(id), "content": str(text)}:
                yield ToolResultMessage(id, names[id], [TextContent(text)])
            case _:
                raise ValueError(f"{block} is no block")


async def message_stream(events: AsyncGenerator[StreamEvent, None]) -> AsyncIterator[bytes]:
    """Give the events of a model as the service would send them: each block has a beginning."""
    index = -1
    in_text = False
    async for event in events:
        match event:
            case StreamStart():
                yield sent("message_start", message={"role": "assistant", "usage": NOTHING})
            case TextDelta(delta=delta):
                if not in_text:
                    in_text, index = True, index + 1
                    yield block_start(index, {"type": "text", "text": ""})
                yield block_delta(index, {"type": "text_delta", "text": delta})
            case ToolCallAnnounced(tool_call=call):
                in_text, index = False, index + 1
                yield block_start(index, {"type": "tool_use", "id": call.id, "name": call.name})
                text = json.dumps(call.arguments, ensure_ascii=False)
                for piece in (text[: len(text) // 2], text[len(text) // 2 :]):
                    yield block_delta(index, {"type": "input_json_delta", "partial_json": piece})
            case StreamDone(message=message):
                reason = {"stop_reason": STOP_REASONS[message.stop_reason]}
                yield sent("message_delta", delta=reason, usage=NOTHING)
                yield sent("message_stop")
            case StreamError(error=error):
                yield sent("error", error={"type": "api_error", "message": error})


def block_start(index: int, block: dict[str, object]) -> bytes:
    return sent("content_block_start", index=index, content_block=block)


def block_delta(index: int, delta: dict[str, object]) -> bytes:
    return sent("content_block_delta", index=index, delta=delta)


def sent(kind: str, **fields: object) -> bytes:
    """Return an event of the stream."""
    text = json.dumps({"type": kind, **fields}, ensure_ascii=False)
    return f"event: {kind}\ndata: {text}\n\n".encode()
