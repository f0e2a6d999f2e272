"""The renderer: what it shows of a stream, and what it gives back."""

import io
import sys
from collections.abc import AsyncGenerator

import pytest

from ..harness_types import (
    AssistantMessage,
    StreamDone,
    StreamError,
    StreamEvent,
    StreamStart,
    TextContent,
    TextDelta,
)
from ..render import render_stream

WHOLE = AssistantMessage([TextContent("whole")], "stop")


@pytest.mark.parametrize(
    ("events", "lines", "message"),
    [
        ([StreamStart(), TextDelta("whole"), StreamDone(WHOLE)], "助手> whole\n", WHOLE),
        ([StreamStart(), TextDelta("ha"), StreamError("lost")], "助手> ha\n[错误] lost\n", None),
        ([StreamError("lost")], "[错误] lost\n", None),
        ([StreamStart(), TextDelta("half")], "助手> half\n", None),
    ],
)
async def test_only_a_stream_that_ended_well_gives_a_message(
    capsys: pytest.CaptureFixture[str],
    events: list[StreamEvent],
    lines: str,
    message: AssistantMessage | None,
) -> None:
    async def stream() -> AsyncGenerator[StreamEvent, None]:
        for event in events:
            yield event

    assert await render_stream(stream()) == message
    assert capsys.readouterr().out == lines


async def test_words_of_a_model_cannot_act_on_the_screen(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def stream() -> AsyncGenerator[StreamEvent, None]:
        yield StreamStart()
        yield TextDelta("\x1b[2Ja\n\tb\r")
        yield StreamError("\u202elost")

    await render_stream(stream())
    assert capsys.readouterr().out == "助手> \\x1b[2Ja\n\tb\\r\n[错误] \\u202elost\n"


async def test_each_piece_is_on_the_screen_before_the_next_one_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    screen = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(screen, encoding="utf-8"))

    async def stream() -> AsyncGenerator[StreamEvent, None]:
        yield StreamStart()
        assert screen.getvalue().decode() == "助手> "
        yield TextDelta("你")
        assert screen.getvalue().decode() == "助手> 你"

    await render_stream(stream())


async def test_a_stream_is_closed_when_the_screen_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = []

    async def stream() -> AsyncGenerator[StreamEvent, None]:
        try:
            yield StreamStart()
        finally:
            closed.append(True)

    def fail(*args: object, **options: object) -> None:
        raise OSError("no screen")

    monkeypatch.setattr("builtins.print", fail)
    with pytest.raises(OSError, match="no screen"):
        await render_stream(stream())
    assert closed == [True]
