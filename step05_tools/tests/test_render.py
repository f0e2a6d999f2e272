"""The renderer: one line an event, whatever order they come in."""

from collections.abc import AsyncGenerator

import pytest

from ..harness_types import (
    AssistantMessage,
    HarnessEvent,
    StreamDone,
    StreamError,
    StreamStart,
    TextDelta,
    ToolCallContent,
    ToolCallFinished,
    ToolCallStarted,
)
from ..render import render_events

DONE = StreamDone(AssistantMessage([], "stop"))


async def rendered(capsys: pytest.CaptureFixture[str], *events: HarnessEvent) -> str:
    async def stream() -> AsyncGenerator[HarnessEvent, None]:
        for event in events:
            yield event

    await render_events(stream())
    return capsys.readouterr().out


async def test_a_tool_call_is_compact_json_in_its_own_letters(
    capsys: pytest.CaptureFixture[str],
) -> None:
    call = ToolCallContent("c1", "calc", {"expression": "加", "n": [1, 2]})
    shown = await rendered(capsys, ToolCallStarted(call))
    assert shown == '[工具调用] calc {"expression":"加","n":[1,2]}\n'


async def test_an_error_result_is_marked(capsys: pytest.CaptureFixture[str]) -> None:
    shown = await rendered(capsys, ToolCallFinished("c1", "calc", "oh", True))
    assert shown == "[工具结果] calc → oh（出错）\n"


@pytest.mark.parametrize(
    ("events", "lines"),
    [
        (
            [StreamStart(), TextDelta("ha"), TextDelta("lf"), StreamError("lost")],
            "助手> half\n[错误] lost\n",
        ),
        ([StreamError("limit")], "[错误] limit\n"),
        ([StreamStart(), TextDelta("half")], "助手> half\n"),
        ([StreamStart(), DONE], "助手> \n"),
    ],
)
async def test_no_line_is_left_open(
    capsys: pytest.CaptureFixture[str], events: list[HarnessEvent], lines: str
) -> None:
    assert await rendered(capsys, *events) == lines


async def test_a_stream_is_closed_when_the_screen_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = []

    async def stream() -> AsyncGenerator[HarnessEvent, None]:
        try:
            yield StreamStart()
        finally:
            closed.append(True)

    def fail(*args: object, **options: object) -> None:
        raise OSError("no screen")

    monkeypatch.setattr("builtins.print", fail)
    with pytest.raises(OSError, match="no screen"):
        await render_events(stream())
    assert closed == [True]
