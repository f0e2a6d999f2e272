"""The fake model: rules against the last message, never a queue of answers."""

import asyncio
from contextlib import aclosing

import pytest

from ..fake_model import FakeModel, Rule, match_key, matching_rule
from ..harness_types import (
    AssistantMessage,
    Context,
    StreamDone,
    StreamError,
    StreamEvent,
    StreamOptions,
    StreamStart,
    TextContent,
    TextDelta,
    ToolCallContent,
    ToolResultMessage,
    user_text,
)
from ..rules import RULES


async def answer(model: FakeModel, context: Context) -> list[StreamEvent]:
    async with aclosing(model(context, StreamOptions())) as stream:
        return [event async for event in stream]


def said(events: list[StreamEvent]) -> str:
    return "".join(event.delta for event in events if event.type == "text_delta")


async def test_the_first_rule_that_matches_answers() -> None:
    model = FakeModel([Rule("one", match="a"), Rule("two", match="ab"), Rule("other")])
    assert said(await answer(model, Context([user_text("xabx")]))) == "one"
    assert said(await answer(model, Context([user_text("b")]))) == "other"


def test_a_rule_matches_a_part_of_the_key_and_one_without_match_everything() -> None:
    part, everything = Rule("part", match="a"), Rule("everything")
    assert matching_rule([part, everything], "xax") is part
    assert matching_rule([part, everything], "") is everything
    assert matching_rule([part], "b") is None


async def test_the_last_message_is_the_match_key_whoever_it_is_from() -> None:
    assert match_key(Context([])) == ""
    assert match_key(Context([user_text("hi")])) == "hi"
    assert match_key(Context([AssistantMessage([TextContent("ho")], "stop")])) == "ho"
    result = ToolResultMessage("call_1", "calc", [TextContent("96")])
    assert match_key(Context([user_text("hi"), result])) == "toolResult:calc 96"


async def test_a_tool_call_is_announced_and_part_of_the_message() -> None:
    call: list[StreamEvent] = await answer(FakeModel(RULES), Context([user_text("12*8")]))
    assert [event.type for event in call][-2:] == ["toolcall", "done"]
    message = call[-1].message if call[-1].type == "done" else None
    assert message is not None
    wanted = ToolCallContent("call_1", "calc", {"expression": "12*8"})
    assert message.content == [TextContent("这个我算一下。"), wanted]
    assert message.stop_reason == "toolUse"


async def test_calls_are_numbered_for_each_model_and_share_no_arguments() -> None:
    model, context = FakeModel(RULES), Context([user_text("12*8")])
    events = [*await answer(model, context), *await answer(model, context)]
    calls = [event.tool_call for event in events if event.type == "toolcall"]
    assert [call.id for call in calls] == ["call_1", "call_2"]
    calls[0].arguments["expression"] = "changed by a tool"
    assert calls[1].arguments == {"expression": "12*8"}


async def test_numbers_of_calls_go_on_behind_those_of_an_earlier_process() -> None:
    events = await answer(FakeModel(RULES, calls_before=7), Context([user_text("12*8")]))
    assert [event.tool_call.id for event in events if event.type == "toolcall"] == ["call_8"]


async def test_a_rule_may_ask_for_something_that_was_said_earlier() -> None:
    model = FakeModel([Rule("I know", match="?", earlier="42"), Rule("no idea")])
    assert said(await answer(model, Context([user_text("42"), user_text("?")]))) == "I know"
    assert said(await answer(model, Context([user_text("42 ?")]))) == "no idea"


async def test_a_reply_comes_in_pieces_of_two_characters_and_ends_whole() -> None:
    events = await answer(FakeModel([Rule("你好吗")]), Context([user_text("hi")]))
    whole = StreamDone(AssistantMessage([TextContent("你好吗")], "stop"))
    assert events == [StreamStart(), TextDelta("你好"), TextDelta("吗"), whole]


@pytest.mark.parametrize(
    ("options", "waited"), [(StreamOptions(delay=0.5), [0.5]), (StreamOptions(), []), (None, [])]
)
async def test_the_model_waits_only_between_two_pieces(
    options: StreamOptions | None, waited: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []

    async def note(delay: float) -> None:
        pauses.append(delay)

    monkeypatch.setattr(asyncio, "sleep", note)
    async with aclosing(FakeModel([Rule("你好吗")])(Context([]), options)) as stream:
        assert [event.type async for event in stream][1:-1] == ["text_delta", "text_delta"]
    assert pauses == waited


async def test_a_stream_can_break_in_the_middle() -> None:
    events = await answer(FakeModel([Rule("half a", error="lost")]), Context([user_text("hi")]))
    assert said(events) == "half a"
    assert events[-1] == StreamError("lost")


async def test_a_script_without_fallback_ends_in_an_error_event() -> None:
    events = await answer(FakeModel([Rule("no", match="no")]), Context([user_text("hi")]))
    assert events[-1] == StreamError("剧本里没有任何规则命中：hi")


def test_the_script_of_this_step_ends_with_its_fallback() -> None:
    assert [rule.match is None for rule in RULES].index(True) == len(RULES) - 1
    assert RULES[-1].reply == "这句话没有命中任何规则，我只能用兜底回复了。"
