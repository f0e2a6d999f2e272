"""Messages, with the official SDK of Anthropic: another wire format, and the same contract."""

import json
from collections.abc import AsyncGenerator, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, ClassVar

import anthropic

from ..harness_types import (
    AssistantMessage,
    ContentBlock,
    Context,
    Message,
    StopReason,
    StreamEvent,
    StreamStart,
    TextDelta,
    ToolResultMessage,
    Usage,
    UserMessage,
    message_text,
)
from ..tools.tool_types import ToolSpec
from .answer import Answer, count
from .failure import Sdk
from .sdk_model import SdkModel
from .sendable import says, sent_arguments, sent_name, sent_text

if TYPE_CHECKING:
    from anthropic.types import (
        MessageParam,
        RawMessageStreamEvent,
        TextBlockParam,
        ToolParam,
        ToolResultBlockParam,
        ToolUseBlockParam,
    )

MAX_TOKENS = 4096  # This service wants to know how long an answer may become.
STOP_REASONS: dict[str, StopReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "toolUse",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
}


class AnthropicMessages(SdkModel):
    sdk: ClassVar[Sdk] = anthropic
    key_name: ClassVar[str] = "ANTHROPIC_API_KEY"

    async def _events(
        self, messages: list[Message], context: Context, answer: Answer
    ) -> AsyncGenerator[StreamEvent, None]:
        async with (
            anthropic.AsyncAnthropic(
                api_key=self._key,
                base_url=self._base_url,
                max_retries=self._retries,
                timeout=self._timeout,
            ) as client,
            await client.messages.create(
                model=self._model,
                max_tokens=MAX_TOKENS,
                system=sent_text(context.system_prompt) or anthropic.omit,
                messages=list(message_params(messages)),
                tools=[tool_param(tool) for tool in context.tools],
                stream=True,
            ) as events,
        ):
            yield StreamStart()
            reason: str | None = None
            async for event in events:
                reason = take(event, answer) or reason
                for delta in answer.new_text():
                    yield TextDelta(delta)
                if event.type == "message_stop":
                    break
        for last in answer.ended(reason, STOP_REASONS):
            yield last


def take(event: "RawMessageStreamEvent", answer: Answer) -> str | None:
    """Put what an event brings into the answer; return why the model stops, if it says that."""
    match event.type:
        case "message_start":
            answer.usage = usage_of(event.message.usage, answer.usage)
        case "content_block_start" if event.content_block.type == "tool_use":
            block = event.content_block
            answer.add_to_call(event.index, block.id, block.name, "", block.input)
        case "content_block_start" if event.content_block.type == "text":
            answer.add_text(event.content_block.text)
        case "content_block_delta" if event.delta.type == "text_delta":
            answer.add_text(event.delta.text)
        case "content_block_delta" if event.delta.type == "input_json_delta":
            answer.add_to_call(event.index, None, None, event.delta.partial_json)
        case "message_delta":
            answer.usage = usage_of(event.usage, answer.usage)
            return event.delta.stop_reason
    return None


def usage_of(usage: object, before: Usage) -> Usage:
    """Return what was read and written. Tokens that come out of a cache were read as well."""
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    read = sum(count(getattr(usage, name, None)) for name in names)
    written = count(getattr(usage, "output_tokens", None))
    return Usage(max(read, before.input_tokens), max(written, before.output_tokens))


def message_params(messages: list[Message]) -> Iterator["MessageParam"]:
    """Give the messages as the service wants them: all results of one turn in one message."""
    for is_result, group in groupby(messages, key=lambda message: message.role == "toolResult"):
        if is_result:
            results = [result_param(m) for m in group if m.role == "toolResult"]
            yield {"role": "user", "content": results}
        else:
            yield from (message_param(m) for m in group if m.role != "toolResult")


def result_param(result: ToolResultMessage) -> "ToolResultBlockParam":
    return {
        "type": "tool_result",
        "tool_use_id": sent_name(result.tool_call_id),
        "content": sent_text(message_text(result)),
        "is_error": result.is_error,
    }


def message_param(message: UserMessage | AssistantMessage) -> "MessageParam":
    blocks: Sequence[ContentBlock] = message.content
    content = [block_param(block) for block in blocks if says(block)]
    if message.role == "user":
        return {"role": "user", "content": content}
    return {"role": "assistant", "content": content}


def block_param(block: ContentBlock) -> "TextBlockParam | ToolUseBlockParam":
    if block.type == "text":
        return {"type": "text", "text": sent_text(block.text)}
    return {
        "type": "tool_use",
        "id": sent_name(block.id),
        "name": sent_name(block.name),
        "input": json.loads(sent_arguments(block.arguments)),
    }


def tool_param(tool: ToolSpec) -> "ToolParam":
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": {**tool.parameters},
    }
