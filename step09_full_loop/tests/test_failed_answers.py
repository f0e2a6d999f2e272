"""An answer that failed: it is kept for people, and no model sees it again."""

import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from ..harness_types import (
    AssistantMessage,
    Context,
    StreamDone,
    StreamError,
    StreamEvent,
    StreamStart,
    TextContent,
    TextDelta,
    ToolCallContent,
    user_text,
)
from ..providers.sendable import sendable
from ..sessions.folder import latest_session, start_session
from ..sessions.wire import message_to_json
from ..whole_stream import EMPTY, ENDED_EARLY, whole
from .scripted_model import ScriptedModel, says

FAILED = AssistantMessage([TextContent("half")], "error", "lost")
ABORTED = AssistantMessage([TextContent("half")], "aborted", "已取消")


def test_a_failed_answer_is_not_sent_and_an_aborted_one_is() -> None:
    assert sendable([user_text("a"), FAILED, user_text("b")]) == [user_text("a"), user_text("b")]
    assert sendable([user_text("a"), ABORTED]) == [user_text("a"), ABORTED]
    assert sendable([user_text("a"), AssistantMessage([], "aborted", "已取消")]) == [user_text("a")]


def test_a_failed_answer_stands_in_the_file_with_its_reason() -> None:
    assert message_to_json(FAILED) == {
        "role": "assistant",
        "content": [{"type": "text", "text": "half"}],
        "stopReason": "error",
        "errorMessage": "lost",
    }
    assert "errorMessage" not in message_to_json(AssistantMessage([], "stop"))


def test_a_conversation_goes_on_behind_a_failed_answer(tmp_path: Path) -> None:
    with closing(start_session(tmp_path)) as session:
        assert session.save([user_text("a"), FAILED, user_text("b")]) is None
    with closing(latest_session(tmp_path)) as session:
        history = session.history()
        assert history == [user_text("a"), user_text("b")]
        assert session.save([*history, ABORTED]) is None
    with closing(latest_session(tmp_path)) as session:
        assert [message.role for message in session.history()] == ["user", "user", "assistant"]
    (file,) = tmp_path.rglob("*.jsonl")
    entries = map(json.loads, file.read_text("utf-8").splitlines())
    reasons = [entry.get("message", {}).get("errorMessage") for entry in entries]
    assert reasons == [None, None, "lost", None, "已取消"]


async def heard(*events: StreamEvent) -> Sequence[StreamEvent]:
    model = whole(ScriptedModel(events))
    return [event async for event in model(Context([]), None)]


@pytest.mark.parametrize("content", [[], [TextContent("")]])
async def test_an_empty_answer_is_an_error_that_says_what_to_do(content: list[TextContent]) -> None:
    done = StreamDone(AssistantMessage([*content], "stop"))
    assert await heard(StreamStart(), done) == [StreamStart(), StreamError(EMPTY)]


async def test_an_answer_with_a_text_or_a_call_is_whole() -> None:
    assert await heard(*says("hello")) == says("hello")
    done = StreamDone(AssistantMessage([ToolCallContent("c1", "echo", {})], "toolUse"))
    assert await heard(StreamStart(), done) == [StreamStart(), done]


async def test_a_stream_that_breaks_off_says_so() -> None:
    events: list[StreamEvent] = [StreamStart(), TextDelta("hel")]
    assert await heard(*events) == [*events, StreamError(ENDED_EARLY)]
