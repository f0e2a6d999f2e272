"""The renderer: one line an event, whatever order they come in."""

import io
import sys
from typing import Any

import pytest

from ..agent_events import (
    AgentEnd,
    AgentEvent,
    AgentStart,
    MessageEnd,
    MessageStart,
    MessageUpdate,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
)
from ..cancel import CancelToken
from ..harness_types import (
    AssistantMessage,
    TextContent,
    TextDelta,
    ToolCallAnnounced,
    ToolCallContent,
    TurnEnd,
    TurnStart,
    Usage,
    user_text,
)
from ..render import Screen
from ..tools.tool_types import ToolResult

DRAFT = AssistantMessage([], "pending")
DONE = MessageEnd(AssistantMessage([], "stop"))
BEGUN = MessageStart(DRAFT)


def says(delta: str) -> MessageUpdate:
    return MessageUpdate(DRAFT, TextDelta(delta))


def fails(error: str) -> MessageEnd:
    return MessageEnd(AssistantMessage([], "error", error))


def ended(name: str, content: str, is_error: bool) -> ToolExecutionEnd:
    return ToolExecutionEnd(ToolCallContent("c1", name, {}), ToolResult(content, is_error))


def show(*events: AgentEvent) -> None:
    screen = Screen()
    for event in events:
        screen.show(event, CancelToken())


def rendered(capsys: pytest.CaptureFixture[str], *events: AgentEvent) -> str:
    show(*events)
    return capsys.readouterr().out


def test_a_tool_call_is_compact_json_in_its_own_letters(
    capsys: pytest.CaptureFixture[str],
) -> None:
    call = ToolCallContent("c1", "calc", {"expression": "加", "n": [1, 2]})
    shown = rendered(capsys, ToolExecutionStart(call))
    assert shown == '[工具调用] calc {"expression":"加","n":[1,2]}\n'


def test_an_error_result_is_marked(capsys: pytest.CaptureFixture[str]) -> None:
    assert rendered(capsys, ended("calc", "oh", True)) == "[工具结果] calc → oh（出错）\n"


def test_how_far_a_tool_is_has_a_line_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    update = ToolExecutionUpdate(ToolCallContent("c1", "run_command", {}), "half")
    assert rendered(capsys, update) == "[工具进度] run_command → half\n"


def test_turns_are_numbered_and_an_announcement_is_not_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    announced = MessageUpdate(DRAFT, ToolCallAnnounced(ToolCallContent("c1", "calc", {})))
    assert rendered(capsys, TurnStart(2), announced, TurnEnd(2)) == ("[第 2 轮]\n[第 2 轮结束]\n")


def test_the_prompt_is_on_the_screen_already_and_what_comes_later_is_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    events = [MessageStart(user_text(text)) for text in ("go", "wait", "\x1b")]
    shown = rendered(capsys, AgentStart(), *events)
    assert shown == "[插话] wait\n[插话] \\x1b\n"


def test_an_answer_that_comes_all_at_once_is_shown_too(capsys: pytest.CaptureFixture[str]) -> None:
    whole = AssistantMessage([TextContent("hello")], "stop")
    assert rendered(capsys, MessageStart(whole), MessageEnd(whole)) == "助手> hello\n"


def test_what_a_turn_has_cost_is_shown_at_its_end(capsys: pytest.CaptureFixture[str]) -> None:
    counted = MessageEnd(DONE.message, Usage(12, 3))
    shown = rendered(capsys, BEGUN, counted, TurnEnd(1), BEGUN, DONE, TurnEnd(2))
    assert shown == ("助手> \n[用量] 输入 12，输出 3 token\n[第 1 轮结束]\n助手> \n[第 2 轮结束]\n")


def test_nothing_that_a_model_or_a_tool_says_can_act_on_the_screen(
    capsys: pytest.CaptureFixture[str],
) -> None:
    call = ToolCallContent("c1", "ca\nlc", {"\x1b": "\r\n\t\x9b\u202e"})
    shown = rendered(
        capsys,
        BEGUN,
        says("\x1b[2Ja\n\tb\r"),
        fails("\u202elost"),
        ToolExecutionStart(call),
        ToolExecutionUpdate(call, "\x1b[A"),
        ended("ca\nlc", "96\r\n\x1b]0;title\x07", False),
    )
    assert shown.splitlines() == [
        r"助手> \x1b[2Ja",
        "\tb\\r",
        r"[错误] \u202elost",
        r'[工具调用] ca\nlc {"\u001b":"\r\n\t\x9b\u202e"}',
        r"[工具进度] ca\nlc → \x1b[A",
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
def test_a_call_that_is_no_json_is_shown_all_the_same(
    capsys: pytest.CaptureFixture[str], name: Any, arguments: Any, line: str
) -> None:
    shown = rendered(capsys, ToolExecutionStart(ToolCallContent("c1", name, arguments)))
    assert shown == f"[工具调用] {line}\n"


@pytest.mark.parametrize(
    ("events", "lines"),
    [
        ([BEGUN, says("ha"), says("lf"), fails("lost")], "助手> half\n[错误] lost\n"),
        ([MessageStart(fails("401").message), fails("401")], "[错误] 401\n"),
        ([BEGUN, DONE, fails("late")], "助手> \n[错误] late\n"),
        ([BEGUN, fails("lost"), fails("late")], "助手> \n[错误] lost\n[错误] late\n"),
        ([BEGUN, says("half"), AgentEnd([])], "助手> half\n"),
        ([BEGUN, DONE], "助手> \n"),
    ],
)
def test_no_line_is_left_open(
    capsys: pytest.CaptureFixture[str], events: list[AgentEvent], lines: str
) -> None:
    assert rendered(capsys, *events) == lines


def test_each_piece_is_on_the_screen_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(screen, encoding="utf-8"))
    show(BEGUN)
    assert screen.getvalue().decode() == "助手> "
    show(says("你"))
    assert screen.getvalue().decode() == "助手> 你"
