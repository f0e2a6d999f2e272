"""What a run tells, as lines of JSON in the form of the recordings."""

import json
import math
from collections.abc import Sequence
from typing import Any

from ...agent_events import AgentEvent
from ...harness_types import ContentPiece, Message, TextDelta, ToolResultMessage

Line = dict[str, Any]


class NoContent(str):
    """The text of a result that has none at all. Pi tells this from an empty text."""

    __slots__ = ()


def js_number(value: float) -> str:
    """Return a number as JavaScript prints it: 2 and not 2.0, 1e-7 and not 1e-07."""
    if math.isnan(value) or math.isinf(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    number = float(value)
    if number.is_integer() and abs(number) < 1e21:
        return str(value if isinstance(value, int) else int(number))
    digits, _, exponent = repr(number).partition("e")
    if not exponent:
        return digits
    if -7 <= int(exponent) < 0:
        places = -int(exponent) - 1 + len(digits.lstrip("-").replace(".", ""))
        return f"{number:.{places}f}"
    return f"{digits}e{int(exponent):+d}"


def js_json(value: object) -> str:
    """Return a value as `JSON.stringify` of JavaScript writes it."""
    match value:
        case None | bool():
            return {None: "null", True: "true", False: "false"}[value]
        case int() | float():
            return js_number(value) if math.isfinite(value) else "null"
        case str():
            return quoted(value)
        case dict():
            return "{" + ",".join(f"{quoted(k)}:{js_json(v)}" for k, v in value.items()) + "}"
        case list() | tuple():
            return "[" + ",".join(map(js_json, value)) + "]"
    raise TypeError(f"no JSON: {value!r}")


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def roles(messages: Sequence[Message]) -> list[str]:
    return [message.role for message in messages]


def is_errors(messages: Sequence[Message]) -> list[bool]:
    return [message.is_error for message in messages if isinstance(message, ToolResultMessage)]


def text_of(message: Message) -> str:
    """Return the text of a message, with its tool calls."""
    blocks: Sequence[Any] = message.content
    return "".join(
        block.text
        if block.type == "text"
        else f"[call {block.id} {block.name} {js_json(block.arguments)}]"
        for block in blocks
    )


class Lines:
    """Makes a line of each event. It counts the blocks of an answer, as Pi's model does."""

    def __init__(self) -> None:
        self._block = 0  # The place of the block that is coming in.

    def line(self, event: AgentEvent) -> Line:
        match event.type:
            case "message_start" | "message_end":
                return message_line(event.type, event.message)
            case "message_update":
                told = self._model_event(event.event)
                return {"type": event.type, "role": "assistant", **told}
            case "tool_execution_start":
                return tool_line(event) | {"args": event.tool_call.arguments}
            case "tool_execution_update":
                return tool_line(event) | {"text": event.text}
            case "tool_execution_end":
                result = event.result
                line = tool_line(event) | {"isError": result.is_error}
                if result.terminate is not None:
                    line["terminate"] = result.terminate
                line["text"] = None if isinstance(result.content, NoContent) else result.content
                return line
            case "turn_end":
                assert event.message is not None
                results = [one.tool_call_id + "!" * one.is_error for one in event.tool_results]
                reason = event.message.stop_reason
                return {"type": event.type, "stopReason": reason, "toolResults": results}
            case "agent_end":
                return {"type": event.type, "roles": roles(event.messages)}
            case _:
                return {"type": event.type}

    def _model_event(self, event: Any) -> Line:
        if isinstance(event, ContentPiece):
            self._block = event.content_index
            line: Line = {"ame": event.piece}
            if event.piece.endswith("_delta"):
                line["delta"] = event.delta
        elif isinstance(event, TextDelta):
            line = {"ame": "text_delta", "delta": event.delta}
        else:
            line = {"ame": "toolcall_end"}
        return line | {"contentIndex": self._block}


def message_line(kind: str, message: Message) -> Line:
    line: Line = {"type": kind, "role": message.role}
    if message.role == "assistant":
        line["stopReason"] = message.stop_reason
        if message.error_message is not None:
            line["errorMessage"] = message.error_message
    elif message.role == "toolResult":
        line["toolCallId"] = message.tool_call_id
        line["toolName"] = message.tool_name
        line["isError"] = message.is_error
    return line | {"text": text_of(message)}


def tool_line(event: Any) -> Line:
    call = event.tool_call
    return {"type": event.type, "toolCallId": call.id, "toolName": call.name}


def matches(key: str, line: Line) -> bool:
    """Return whether a key of a scenario means this line: `message_start:assistant`."""
    kind, _, detail = key.partition(":")
    details = [line.get(name) for name in ("role", "toolCallId", "toolName", "ame")]
    return bool(line["type"] == kind and (not detail or detail in details))
