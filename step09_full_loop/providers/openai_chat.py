"""Chat completions, with the official SDK of OpenAI: also for all the servers that speak the same.

DeepSeek, Qwen, Kimi, Ollama, vLLM and llama.cpp are such servers; `--base-url` names them.
"""

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, ClassVar

import openai

from ..harness_types import (
    Context,
    Message,
    StopReason,
    StreamEvent,
    StreamStart,
    TextDelta,
    ToolCallContent,
    Usage,
    message_text,
    tool_calls_of,
)
from ..tools.tool_types import ToolSpec
from .answer import Answer, count
from .failure import Sdk
from .sdk_model import SdkModel
from .sendable import sent_arguments, sent_name, sent_text

if TYPE_CHECKING:
    from openai.types.chat import (
        ChatCompletionChunk,
        ChatCompletionFunctionToolParam,
        ChatCompletionMessageFunctionToolCallParam,
        ChatCompletionMessageParam,
    )

STOP_REASONS: dict[str, StopReason] = {
    "stop": "stop",
    "tool_calls": "toolUse",
    "length": "length",
}


class OpenAIChat(SdkModel):
    sdk: ClassVar[Sdk] = openai
    key_name: ClassVar[str] = "OPENAI_API_KEY"

    async def _events(
        self, messages: list[Message], context: Context, answer: Answer
    ) -> AsyncGenerator[StreamEvent, None]:
        async with (
            openai.AsyncOpenAI(
                api_key=self._key,
                base_url=self._base_url,
                max_retries=self._retries,
                timeout=self._timeout,
            ) as client,
            await client.chat.completions.create(
                model=self._model,
                messages=[*system_message(context), *map(chat_message, messages)],
                tools=[chat_tool(tool) for tool in context.tools] or openai.omit,
                stream=True,
                stream_options={"include_usage": True},
            ) as chunks,
        ):
            yield StreamStart()
            reason: str | None = None
            async for chunk in chunks:
                reason = take(chunk, answer) or reason
                for delta in answer.new_text():
                    yield TextDelta(delta)
        for event in answer.ended(reason, STOP_REASONS):
            yield event


def take(chunk: "ChatCompletionChunk", answer: Answer) -> str | None:
    """Put what a chunk brings into the answer; return why the model stops, if this chunk says it.

    Servers leave out what they think is not needed, whatever the types of the SDK say.
    """
    reason = None
    if chunk.usage:
        read, written = chunk.usage.prompt_tokens, chunk.usage.completion_tokens
        answer.usage = Usage(count(read), count(written))
    for choice in chunk.choices or []:
        reason = choice.finish_reason or reason
        if choice.delta:
            answer.add_text(choice.delta.content or "")
            for piece in choice.delta.tool_calls or []:
                index: int | None = getattr(piece, "index", None)
                name = piece.function.name if piece.function else None
                arguments = piece.function.arguments if piece.function else None
                answer.add_to_call(index, piece.id, name, arguments)
    return reason


def system_message(context: Context) -> list["ChatCompletionMessageParam"]:
    prompt = sent_text(context.system_prompt)
    return [{"role": "system", "content": prompt}] if prompt else []


def chat_message(message: Message) -> "ChatCompletionMessageParam":
    """Return a message as the service wants it."""
    text = sent_text(message_text(message))
    if message.role == "user":
        return {"role": "user", "content": text}
    if message.role == "toolResult":
        return {"role": "tool", "tool_call_id": sent_name(message.tool_call_id), "content": text}
    calls = [chat_call(call) for call in tool_calls_of(message)]
    if not calls:
        return {"role": "assistant", "content": text}
    return {"role": "assistant", "content": text or None, "tool_calls": calls}


def chat_call(call: ToolCallContent) -> "ChatCompletionMessageFunctionToolCallParam":
    return {
        "id": sent_name(call.id),
        "type": "function",
        "function": {"name": sent_name(call.name), "arguments": sent_arguments(call.arguments)},
    }


def chat_tool(tool: ToolSpec) -> "ChatCompletionFunctionToolParam":
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": {**tool.parameters},
        },
    }
