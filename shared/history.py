"""A message history as text, one line a message: what the model sees, next to what people see."""

import json
from collections.abc import Iterable
from typing import Any


def history_lines(messages: Iterable[Any]) -> str:
    """Return the messages of any step as lines: role, text, tool calls with their ids, is_error."""
    return "".join(f"{message_line(message)}\n" for message in messages)


def message_line(message: Any) -> str:
    words = [message.role]
    if message.role == "toolResult":
        words += [message.tool_call_id, message.tool_name]
    words.append(as_json("".join(b.text for b in message.content if b.type == "text")))
    for block in message.content:
        if block.type == "toolCall":
            words += ["→", block.id, block.name, as_json(block.arguments)]
    if message.role == "toolResult" and message.is_error:
        words.append("is_error")
    return " ".join(words)


def as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
