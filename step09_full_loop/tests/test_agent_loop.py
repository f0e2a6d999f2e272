"""The loop: its four ways to end, what it appends, and what it leaves behind."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.pairing import pairing_faults

from ..harness_types import (
    AssistantMessage,
    Context,
    HarnessEvent,
    StreamDone,
    StreamError,
    StreamEvent,
    StreamOptions,
    StreamStart,
    TextContent,
    TextDelta,
    ToolCallAnnounced,
    ToolResultMessage,
    message_text,
    user_text,
)
from .scripted_model import ECHO, Handler, ScriptedModel, call, echo, says, start_loop, wants


async def run(
    model: ScriptedModel,
    context: Context | None = None,
    tools: Mapping[str, Handler] = ECHO,
    **options: Any,
) -> tuple[list[HarnessEvent], Context]:
    """Let a run go to its end, and return its events and what the model would see next."""
    context = context or Context([user_text("go")])
    async with aclosing(start_loop(model, context, tools, **options)) as loop:
        return [event async for event in loop], context


def kinds(events: Sequence[HarnessEvent]) -> list[str]:
    return [event.type for event in events]


def roles(context: Context) -> list[str]:
    return [message.role for message in context.messages]


# The four ways to end.


async def test_a_run_ends_when_the_model_wants_no_tool() -> None:
    events, context = await run(ScriptedModel(says("hello")))
    assert kinds(events) == ["turn_start", "start", "text_delta", "done", "turn_end"]
    assert roles(context) == ["user", "assistant"]


async def test_a_run_ends_when_the_model_fails_and_keeps_nothing_of_that_turn() -> None:
    half: list[StreamEvent] = [StreamStart(), TextDelta("hel"), ToolCallAnnounced(call("c1"))]
    events, context = await run(ScriptedModel([*half, StreamError("lost")]))
    assert kinds(events) == ["turn_start", "start", "text_delta", "toolcall", "error", "turn_end"]
    assert roles(context) == ["user"]


async def test_a_run_ends_when_the_stream_stops_without_a_last_event() -> None:
    events, context = await run(ScriptedModel([StreamStart(), ToolCallAnnounced(call("c1"))]))
    assert kinds(events) == ["turn_start", "start", "toolcall", "error", "turn_end"]
    assert roles(context) == ["user"]


@pytest.mark.parametrize(
    ("raised", "text"),
    [
        (ConnectionResetError("reset by peer"), "reset by peer"),
        (asyncio.CancelledError(), "CancelledError"),
    ],
)
async def test_a_run_ends_when_the_model_raises(raised: BaseException, text: str) -> None:
    class Raising(ScriptedModel):
        async def __call__(
            self, context: Context, options: StreamOptions | None, /
        ) -> AsyncGenerator[StreamEvent, None]:
            yield StreamStart()
            raise raised

    events, context = await run(Raising())
    assert kinds(events) == ["turn_start", "start", "error", "turn_end"]
    assert events[2] == StreamError(f"模型出错：{text}")
    assert roles(context) == ["user"]


async def test_a_run_ends_with_an_error_when_its_turns_are_used_up() -> None:
    model = ScriptedModel(wants(call("c1")), wants(call("c2")))
    events, context = await run(model, max_turns=2)
    assert events[-1] == StreamError("Agent Loop 达到最大轮数 2，已强制停止。")
    assert kinds(events).count("error") == 1
    assert model.asked == 2
    assert roles(context) == ["user", "assistant", "toolResult", "assistant", "toolResult"]


async def test_a_run_has_eight_turns_if_nobody_says_how_many() -> None:
    model = ScriptedModel(wants(call("c1")))
    events, _ = await run(model)
    assert model.asked == 8
    assert events[-1] == StreamError("Agent Loop 达到最大轮数 8，已强制停止。")


@pytest.mark.parametrize("max_turns", [0, -1])
async def test_without_turns_the_model_is_never_asked(max_turns: int) -> None:
    model = ScriptedModel(says("hello"))
    events, _ = await run(model, max_turns=max_turns)
    assert (kinds(events), model.asked) == (["error"], 0)


async def test_after_the_limit_the_conversation_goes_on() -> None:
    model = ScriptedModel(wants(call("c1")), says("bye"))
    _, context = await run(model, max_turns=1)
    context.messages.append(user_text("go on"))
    await run(model, context)
    assert roles(context) == ["user", "assistant", "toolResult", "user", "assistant"]
    assert pairing_faults(context.messages) == []


# A stream with two last events breaks its contract. Nobody listens behind the first of them.


async def test_nothing_behind_the_last_event_is_listened_to() -> None:
    model = ScriptedModel([*says("hello"), StreamError("lost")])
    events, context = await run(model)
    assert kinds(events) == ["turn_start", "start", "text_delta", "done", "turn_end"]
    assert (model.asked, roles(context)) == (1, ["user", "assistant"])


async def test_nothing_behind_an_error_is_listened_to() -> None:
    model = ScriptedModel([StreamStart(), StreamError("lost"), *says("hello")])
    events, context = await run(model)
    assert kinds(events) == ["turn_start", "start", "error", "turn_end"]
    assert (model.asked, roles(context), model.open_streams) == (1, ["user"], 0)


# What a turn does.


async def test_a_tool_turn_tells_people_and_the_model() -> None:
    events, context = await run(ScriptedModel(wants(call("c1")), says("done")))
    first_turn = ["turn_start", "start", "toolcall", "done", "tool_call", "tool_result", "turn_end"]
    second_turn = ["turn_start", "start", "text_delta", "done", "turn_end"]
    assert kinds(events) == first_turn + second_turn
    assert [e.turn for e in events if e.type in ("turn_start", "turn_end")] == [1, 1, 2, 2]
    assert [e.tool_call for e in events if e.type == "tool_call"] == [call("c1")]
    assert context.messages[2] == ToolResultMessage("c1", "echo", [TextContent("c1")])


async def test_the_result_is_in_the_context_when_people_see_it() -> None:
    context = Context([user_text("go")])
    model = ScriptedModel(wants(call("c1")), says("done"))
    async with aclosing(start_loop(model, context)) as loop:
        async for event in loop:
            if event.type == "tool_call":
                assert roles(context) == ["user", "assistant"]
            if event.type == "tool_result":
                assert roles(context) == ["user", "assistant", "toolResult"]


async def test_the_message_decides_what_runs_and_not_the_announcements() -> None:
    twice_announced = [ToolCallAnnounced(call("c1"))] * 2 + wants(call("c1"))
    _, context = await run(ScriptedModel(twice_announced, says("done")))
    assert roles(context).count("toolResult") == 1


async def test_calls_of_one_id_both_run() -> None:
    _, context = await run(ScriptedModel(wants(call(""), call("")), says("done")))
    assert roles(context).count("toolResult") == 2


async def test_the_stop_reason_decides_nothing() -> None:
    calls_and_stops = StreamDone(AssistantMessage([call("c1")], "stop"))
    calls_not_but_claims_to = StreamDone(AssistantMessage([TextContent("hi")], "toolUse"))
    model = ScriptedModel([calls_and_stops], [calls_not_but_claims_to])
    _, context = await run(model)
    assert roles(context) == ["user", "assistant", "toolResult", "assistant"]


async def test_the_model_gets_the_options_that_the_loop_was_given() -> None:
    model, options = ScriptedModel(says("hello")), StreamOptions(delay=1)
    await run(model, stream_options=options)
    assert model.options is not None
    assert (model.options.delay, model.options.cancel is not None) == (1, True)
    await run(model)
    assert model.options.delay == 0


# What a tool may do to it.


class UnspeakableError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


async def fail_in_groups(arguments: dict[str, object]) -> str:
    async with asyncio.TaskGroup() as group:
        group.create_task(fail_in_one_more_group())
    return "never"


async def fail_in_one_more_group() -> None:
    raise ExceptionGroup("two", [ValueError("boom"), ExceptionGroup("one", [KeyError("path")])])


def raising(error: BaseException) -> Handler:
    async def fail(arguments: dict[str, object]) -> str:
        raise error

    return fail


FAILURES: list[tuple[Handler, str]] = [
    (raising(ValueError("boom")), "boom"),
    (raising(ValueError()), "ValueError"),
    (raising(ValueError(" \n")), "ValueError"),
    (raising(KeyError("path")), "KeyError: 'path'"),
    (raising(KeyError()), "KeyError"),
    (raising(ValueError(7)), "ValueError: 7"),
    (raising(ValueError(None)), "ValueError: None"),
    (raising(ValueError("a", 1)), "ValueError: ('a', 1)"),
    (raising(UnspeakableError()), "UnspeakableError"),
    (raising(StopIteration()), "coroutine raised StopIteration"),
    (fail_in_groups, "boom；KeyError: 'path'"),
]


@pytest.mark.parametrize(("tool", "text"), FAILURES, ids=[text for _, text in FAILURES])
async def test_a_failing_tool_is_a_result_and_its_neighbours_run(tool: Handler, text: str) -> None:
    calls = wants(call("c1"), call("c2", "failing"), call("c3"))
    tools = {"echo": echo, "failing": tool}
    events, context = await run(ScriptedModel(calls, says("done")), tools=tools)
    results = [m for m in context.messages if m.role == "toolResult"]
    told = [(m.tool_call_id, message_text(m), m.is_error) for m in results]
    assert told == [
        ("c1", "c1", False),
        ("c2", f"工具执行失败：{text}", True),
        ("c3", "c3", False),
    ]
    shown = [(e.tool_call_id, e.content, e.is_error) for e in events if e.type == "tool_result"]
    assert shown == told


@pytest.mark.parametrize("name", ["nobody", "__class__", "", None, ["echo"], {"echo": 1}])
async def test_a_tool_that_nobody_has_registered_is_one_result(name: Any) -> None:
    events, context = await run(ScriptedModel(wants(call("c1", name)), says("done")))
    text = f"未注册的工具：{name}"
    assert context.messages[2] == ToolResultMessage("c1", name, [TextContent(text)], is_error=True)
    assert kinds(events)[-1] == "turn_end"


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_an_exception_that_is_no_failure_of_a_tool_passes(stop: type[BaseException]) -> None:
    model = ScriptedModel(wants(call("c1", "leave")))
    with pytest.raises(stop):
        asyncio.run(run(model, tools={"leave": raising(stop())}))
    assert model.open_streams == 0


async def test_a_cancelled_run_stops_inside_its_tool() -> None:
    inside = asyncio.Event()

    async def wait_for_ever(arguments: dict[str, object]) -> str:
        inside.set()
        await asyncio.Event().wait()
        raise AssertionError("nobody sets that event")

    model = ScriptedModel(wants(call("c1", "wait")), says("never asked for"))
    task = asyncio.create_task(run(model, tools={"wait": wait_for_ever}))
    await inside.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (model.asked, model.open_streams) == (1, 0)


# Leaving early.


@pytest.mark.parametrize("last", ["start", "text_delta"])
async def test_leaving_closes_the_stream_of_the_model_at_once(last: str) -> None:
    model = ScriptedModel(says("hello"))
    loop = start_loop(model, Context([user_text("go")]))
    async for event in loop:
        if event.type == last:
            break
    assert model.open_streams == 1
    await loop.aclose()
    assert model.open_streams == 0


# Whatever the model and its tools do.

TOOLS: dict[str, Handler] = {
    "echo": echo,
    "explode": raising(ValueError("boom")),
    "silent": raising(ValueError()),
    "unspeakable": raising(UnspeakableError()),
}
CALLS = st.lists(st.sampled_from([*TOOLS, "nobody"]), max_size=3)
ENDINGS = st.sampled_from(["done", "error", "nothing"])


@given(st.lists(st.tuples(CALLS, ENDINGS), min_size=1, max_size=4), st.integers(0, 5))
def test_every_call_gets_one_result_and_every_turn_its_end(
    script: list[tuple[list[str], str]], max_turns: int
) -> None:
    turns: list[list[StreamEvent]] = []
    for number, (tool_names, ending) in enumerate(script):
        calls = [call(f"c{number}.{place}", name) for place, name in enumerate(tool_names)]
        turns.append(wants(*calls))
        if ending != "done":
            turns[-1].pop()
        if ending == "error":
            turns[-1].append(StreamError("lost"))
    model = ScriptedModel(*turns)
    events, context = asyncio.run(run(model, tools=TOOLS, max_turns=max_turns))

    assert pairing_faults(context.messages) == []
    assert model.asked <= max_turns
    assert model.open_streams == 0
    started = [e.tool_call.id for e in events if e.type == "tool_call"]
    finished = [e.tool_call_id for e in events if e.type == "tool_result"]
    assert (
        started == finished == [m.tool_call_id for m in context.messages if m.role == "toolResult"]
    )
    assert kinds(events).count("turn_start") == kinds(events).count("turn_end")
