"""The fake model: rules against the last message, never a queue of answers."""

from contextlib import aclosing

from ..fake_model import FakeModel, Rule, match_key
from ..harness_types import (
    AssistantMessage,
    Context,
    StreamError,
    StreamEvent,
    StreamOptions,
    TextContent,
    TextDelta,
    user_text,
)
from ..rules import RULES


async def answer(model: FakeModel, context: Context) -> list[StreamEvent]:
    async with aclosing(model(context, StreamOptions())) as stream:
        return [event async for event in stream]


def said(events: list[StreamEvent]) -> str:
    return "".join(event.delta for event in events if isinstance(event, TextDelta))


async def test_the_first_rule_that_matches_answers() -> None:
    model = FakeModel([Rule("one", match="a"), Rule("two", match="ab"), Rule("other")])
    assert said(await answer(model, Context([user_text("xabx")]))) == "one"
    assert said(await answer(model, Context([user_text("b")]))) == "other"


async def test_the_last_message_is_the_match_key_whoever_it_is_from() -> None:
    assert match_key(Context([])) == ""
    assert match_key(Context([user_text("hi")])) == "hi"
    assert match_key(Context([AssistantMessage([TextContent("ho")], "stop")])) == "ho"


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
