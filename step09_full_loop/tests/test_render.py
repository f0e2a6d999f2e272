"""The renderer: one line an event, whatever order they come in."""

import io
import sys
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from ..harness_types import (
    AssistantMessage,
    HarnessEvent,
    StreamDone,
    StreamError,
    StreamStart,
    TextDelta,
    ToolCallAnnounced,
    ToolCallContent,
    ToolCallFinished,
    ToolCallStarted,
    TurnEnd,
    TurnStart,
    Usage,
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


async def test_turns_are_numbered_and_an_announcement_is_not_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    announced = ToolCallAnnounced(ToolCallContent("c1", "calc", {}))
    assert await rendered(capsys, TurnStart(2), announced, TurnEnd(2)) == (
        "[第 2 轮]\n[第 2 轮结束]\n"
    )


async def test_what_a_turn_has_cost_is_shown_at_its_end(
    capsys: pytest.CaptureFixture[str],
) -> None:
    counted = StreamDone(DONE.message, Usage(12, 3))
    shown = await rendered(capsys, counted, TurnEnd(1), DONE, TurnEnd(2))
    assert shown == "\n[用量] 输入 12，输出 3 token\n[第 1 轮结束]\n\n[第 2 轮结束]\n"


async def test_nothing_that_a_model_or_a_tool_says_can_act_on_the_screen(
    capsys: pytest.CaptureFixture[str],
) -> None:
    call = ToolCallContent("c1", "ca\nlc", {"\x1b": "\r\n\t\x9b\u202e"})
    shown = await rendered(
        capsys,
        StreamStart(),
        TextDelta("\x1b[2Ja\n\tb\r"),
        StreamError("\u202elost"),
        ToolCallStarted(call),
        ToolCallFinished("c1", "ca\nlc", "96\r\n\x1b]0;title\x07", False),
    )
    assert shown.splitlines() == [
        r"助手> \x1b[2Ja",
        "\tb\\r",
        r"[错误] \u202elost",
        r'[工具调用] ca\nlc {"\u001b":"\r\n\t\x9b\u202e"}',
        r"[工具结果] ca\nlc → 96\r",
        r"\x1b]0;title\x07",
    ]


class Endless(dict[str, object]):
    """Arguments that hold themselves."""

    def __init__(self) -> None:
        self["n"] = self


def deep() -> object:
    inner: object = 1
    for _ in range(100_000):
        inner = [inner]
    return inner


@pytest.mark.parametrize(
    ("name", "arguments", "line"),
    [
        (None, {"n": {1}}, "None {'n': {1}}"),
        (["calc"], {("a", 1): "\x1b"}, r"['calc'] {('a', 1): '\x1b'}"),
        ("calc", {"n": float("nan")}, 'calc {"n":NaN}'),
        ("calc", {"n": deep()}, "calc <dict>"),
        ("calc", {"n": 10**5000}, "calc <dict>"),
        ("calc", Endless(), "calc {'n': {...}}"),
        ("calc", None, "calc null"),
    ],
    ids=["set", "tuple", "nan", "deep", "long", "endless", "null"],
)
async def test_a_call_that_is_no_json_is_shown_all_the_same(
    capsys: pytest.CaptureFixture[str], name: Any, arguments: Any, line: str
) -> None:
    shown = await rendered(capsys, ToolCallStarted(ToolCallContent("c1", name, arguments)))
    assert shown == f"[工具调用] {line}\n"


@pytest.mark.parametrize(
    ("events", "lines"),
    [
        (
            [StreamStart(), TextDelta("ha"), TextDelta("lf"), StreamError("lost")],
            "助手> half\n[错误] lost\n",
        ),
        ([StreamError("limit")], "[错误] limit\n"),
        ([StreamStart(), DONE, StreamError("late")], "助手> \n[错误] late\n"),
        (
            [StreamStart(), StreamError("lost"), StreamError("late")],
            "助手> \n[错误] lost\n[错误] late\n",
        ),
        ([StreamStart(), TextDelta("half")], "助手> half\n"),
        ([StreamStart(), DONE], "助手> \n"),
    ],
)
async def test_no_line_is_left_open(
    capsys: pytest.CaptureFixture[str], events: list[HarnessEvent], lines: str
) -> None:
    assert await rendered(capsys, *events) == lines


async def test_each_piece_is_on_the_screen_before_the_next_one_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    screen = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(screen, encoding="utf-8"))

    async def stream() -> AsyncGenerator[HarnessEvent, None]:
        yield StreamStart()
        assert screen.getvalue().decode() == "助手> "
        yield TextDelta("你")
        assert screen.getvalue().decode() == "助手> 你"

    await render_events(stream())


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
