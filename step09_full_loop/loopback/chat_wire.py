"""Chat completions, seen from the side of the service: requests come in, chunks go out."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterator

from ..harness_types import (
    AssistantMessage,
    Message,
    StreamDone,
    StreamError,
    StreamEvent,
    TextContent,
    TextDelta,
    ToolCallAnnounced,
    ToolCallContent,
    ToolResultMessage,
    user_text,
)

FINISH_REASONS = {"stop": "stop", "toolUse": "tool_calls", "length": "length"}
DONE = b"data: [DONE]\n\n"


def chat_messages(body: dict[str, object]) -> Iterator[Message]:
    """Give the messages of a request. ValueError for what a service would refuse."""
    names: dict[str, str] = {}
    match body:
        case {"messages": list(messages)}:
            for sent in messages:
                yield chat_message(sent, names)
        case _:
            raise ValueError("messages is missing")


def chat_message(sent: object, names: dict[str, str]) -> Message:
    """Return a message; `names` are those of the tools that were called, by the id of the call."""
    match sent:
        case {"role": "user", "content": str(text)}:
            return user_text(text)
        case {"role": "tool", "tool_call_id": str(call_id), "content": str(text)}:
            return ToolResultMessage(call_id, names[call_id], [TextContent(text)])
        case {"role": "assistant", "content": str() | None as text, **more}:
            calls = list(chat_calls(more.get("tool_calls")))
            names |= {call.id: call.name for call in calls}
            content = [TextContent(text)] if text else []
            return AssistantMessage([*content, *calls], "toolUse" if calls else "stop")
    raise ValueError(f"{sent} is no message")


def chat_calls(sent: object) -> Iterator[ToolCallContent]:
    for call in sent if isinstance(sent, list) else []:
        match call:
            case {"id": str(call_id), "function": {"name": str(name), "arguments": str(text)}}:
                yield ToolCallContent(call_id, name, json.loads(text))


async def chat_stream(events: AsyncGenerator[StreamEvent, None]) -> AsyncIterator[bytes]:
    """Give the events of a model as the service would send them."""
    calls = 0
    async for event in events:
        match event:
            case TextDelta(delta=delta):
                yield chat_chunk({"content": delta})
            case ToolCallAnnounced(tool_call=call):
                text = json.dumps(call.arguments, ensure_ascii=False)
                named = {
                    "index": calls,
                    "id": call.id,
                    "function": {"name": call.name, "arguments": ""},
                }
                yield chat_chunk({"tool_calls": [named]})
                for piece in (text[: len(text) // 2], text[len(text) // 2 :]):
                    yield chat_chunk(
                        {"tool_calls": [{"index": calls, "function": {"arguments": piece}}]}
                    )
                calls += 1
            case StreamDone(message=message):
                yield chat_chunk({}, FINISH_REASONS[message.stop_reason])
                yield DONE
            case StreamError(error=error):
                yield data({"error": {"message": error}})


def chat_chunk(delta: dict[str, object], finish_reason: str | None = None) -> bytes:
    return data({"choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]})


def data(value: object) -> bytes:
    """Return an event of the stream."""
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n".encode()
