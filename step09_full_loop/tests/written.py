"""Messages and session files for these tests, written by hand or by hypothesis."""

import json
from pathlib import Path

from hypothesis import strategies as st

from ..harness_types import (
    AssistantMessage,
    Message,
    TextContent,
    ToolCallContent,
    ToolResultMessage,
    user_text,
)

HEADER = {"type": "session", "version": 1, "id": "s", "timestamp": "2026-01-01T12:00:00.000Z"}
USER = {"role": "user", "content": [{"type": "text", "text": "你好"}]}


def entry(
    entry_id: str, parent: str | None, message: object = USER, **fields: object
) -> dict[str, object]:
    """Return an entry as it stands in a file; `fields` are further ones, or other values."""
    return {
        "type": "message",
        "id": entry_id,
        "parentId": parent,
        "timestamp": "2026-01-01T12:00:01.000Z",
        "message": message,
        **fields,
    }


def write_lines(path: Path, *lines: object) -> Path:
    """Write a session file: objects as JSON, texts as they are; each gets its line feed."""
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_bytes("".join(f"{text}\n" for text in texts).encode())
    return path


def said(text: str) -> dict[str, object]:
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def call(call_id: str, name: str = "calc") -> ToolCallContent:
    return ToolCallContent(call_id, name, {"expression": "12*8"})


def wants(*calls: ToolCallContent) -> AssistantMessage:
    return AssistantMessage([*calls], "toolUse")


def result(call_id: str, text: str = "96") -> ToolResultMessage:
    return ToolResultMessage(call_id, "calc", [TextContent(text)])


TEXTS = st.text(max_size=20)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
IDS = st.sampled_from(["call_1", "call_2", "call_3"])
CALLS = st.builds(ToolCallContent, IDS, TEXTS, st.dictionaries(TEXTS, VALUES, max_size=2))
BLOCKS = st.lists(st.builds(TextContent, TEXTS) | CALLS, max_size=3)
MESSAGES: st.SearchStrategy[Message] = (
    st.builds(user_text, TEXTS)
    | st.builds(AssistantMessage, BLOCKS, st.sampled_from(["stop", "toolUse"]))
    | st.builds(
        ToolResultMessage, IDS, TEXTS, st.lists(st.builds(TextContent, TEXTS)), st.booleans()
    )
)
HISTORIES = st.lists(MESSAGES, max_size=8)
