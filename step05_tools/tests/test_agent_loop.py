"""The loop: its four ways to end, what it appends, and what it leaves behind."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.pairing import pairing_faults

from ..agent_loop import run_agent_loop
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
    ToolCallContent,
    ToolResultMessage,
    message_text,
    user_text,
)
from ..tools.registry import ToolRegistry
from ..tools.tool_types import ParametersSchema, ToolContext, ToolDefinition, ToolResult


class ScriptedModel:
    """A StreamFn that plays one list of events a turn, and the last list ever after."""

    def __init__(self, *turns: Sequence[StreamEvent]) -> None:
        self.turns = turns
        self.asked = 0
        self.open_streams = 0

    async def __call__(
        self, context: Context, options: StreamOptions | None, /
    ) -> AsyncGenerator[StreamEvent, None]:
        assert self.asked < 100, "this model would be asked for ever"
        turn = self.turns[min(self.asked, len(self.turns) - 1)]
        self.asked += 1
        self.open_streams += 1
        try:
            for event in turn:
                yield event
        finally:
            self.open_streams -= 1


def says(text: str) -> list[StreamEvent]:
    message = AssistantMessage([TextContent(text)], "stop")
    return [StreamStart(), TextDelta(text), StreamDone(message)]


def wants(*calls: ToolCallContent) -> list[StreamEvent]:
    announced = [ToolCallAnnounced(call) for call in calls]
    return [StreamStart(), *announced, StreamDone(AssistantMessage([*calls], "toolUse"))]


def call(call_id: str, name: str = "echo") -> ToolCallContent:
    return ToolCallContent(call_id, name, {"value": call_id})


VALUE: ParametersSchema = {"type": "object", "properties": {"value": {"type": "string"}}}
TOOL_CONTEXT = ToolContext(cwd=Path.cwd())


async def echo(arguments: dict[str, object], context: ToolContext) -> ToolResult:
    return ToolResult(str(arguments["value"]))


class UnspeakableError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


async def explode(arguments: dict[str, object], context: ToolContext) -> ToolResult:
    raise ValueError("boom")


async def explode_at_length(arguments: dict[str, object], context: ToolContext) -> ToolResult:
    raise ValueError(f"\ud800{'x' * 1_000_000}")


async def explode_silently(arguments: dict[str, object], context: ToolContext) -> ToolResult:
    raise ValueError


async def explode_unspeakably(arguments: dict[str, object], context: ToolContext) -> ToolResult:
    raise UnspeakableError


async def answer_nonsense(arguments: dict[str, object], context: ToolContext) -> ToolResult:
    return {"a": 1}  # type: ignore[return-value]


async def answer_nothing(arguments: dict[str, object], context: ToolContext) -> ToolResult:
    return ToolResult(None)  # type: ignore[arg-type]


TOOLS = ToolRegistry()
TOOLS.register(ToolDefinition("echo", "", VALUE, echo))
TOOLS.register(ToolDefinition("explode", "", VALUE, explode))
TOOLS.register(ToolDefinition("lengthy", "", VALUE, explode_at_length))
TOOLS.register(ToolDefinition("silent", "", VALUE, explode_silently))
TOOLS.register(ToolDefinition("unspeakable", "", VALUE, explode_unspeakably))
TOOLS.register(ToolDefinition("nonsense", "", VALUE, answer_nonsense))
TOOLS.register(ToolDefinition("nothing", "", VALUE, answer_nothing))
TOOLS.register(
    ToolDefinition("strict", "", {"type": "object", "properties": {}, "required": ["x"]}, echo)
)


async def run(
    model: ScriptedModel, context: Context | None = None, max_turns: int = 8
) -> tuple[list[HarnessEvent], Context]:
    context = context or Context([user_text("go")])
    events: list[HarnessEvent] = []
    loop = run_agent_loop(
        stream_fn=model,
        context=context,
        tools=TOOLS,
        tool_context=TOOL_CONTEXT,
        max_turns=max_turns,
    )
    async with aclosing(loop):
        async for event in loop:
            events.append(event)
    return events, context


def kinds(events: Sequence[HarnessEvent]) -> list[str]:
    return [event.type for event in events]


def roles(context: Context) -> list[str]:
    return [message.role for message in context.messages]


# The four ways to end.


async def test_it_ends_when_the_model_wants_no_tool() -> None:
    events, context = await run(ScriptedModel(says("hello")))
    assert kinds(events) == ["turn_start", "start", "text_delta", "done", "turn_end"]
    assert roles(context) == ["user", "assistant"]


async def test_it_ends_when_the_model_fails_and_keeps_nothing_of_that_turn() -> None:
    half: list[StreamEvent] = [StreamStart(), TextDelta("hel"), ToolCallAnnounced(call("c1"))]
    events, context = await run(ScriptedModel([*half, StreamError("lost")]))
    assert kinds(events) == ["turn_start", "start", "text_delta", "toolcall", "error"]
    assert roles(context) == ["user"]


async def test_it_ends_when_the_stream_stops_without_a_last_event() -> None:
    events, context = await run(ScriptedModel([StreamStart(), ToolCallAnnounced(call("c1"))]))
    assert kinds(events) == ["turn_start", "start", "toolcall"]
    assert roles(context) == ["user"]


async def test_it_ends_with_an_error_when_the_turns_are_used_up() -> None:
    model = ScriptedModel(wants(call("c1")), wants(call("c2")))
    events, context = await run(model, max_turns=2)
    assert events[-1] == StreamError("Agent Loop 达到最大轮数 2，已强制停止。")
    assert kinds(events).count("error") == 1
    assert model.asked == 2
    assert roles(context) == ["user", "assistant", "toolResult", "assistant", "toolResult"]


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


# What a turn does.


async def test_a_tool_turn_tells_people_and_the_model() -> None:
    events, context = await run(ScriptedModel(wants(call("c1")), says("done")))
    first_turn = ["turn_start", "start", "toolcall", "done", "tool_call", "tool_result", "turn_end"]
    assert kinds(events)[: len(first_turn)] == first_turn
    assert context.messages[2] == ToolResultMessage("c1", "echo", [TextContent("c1")])


async def test_the_result_is_in_the_context_when_people_see_it() -> None:
    context = Context([user_text("go")])
    model = ScriptedModel(wants(call("c1")), says("done"))
    loop = run_agent_loop(stream_fn=model, context=context, tools=TOOLS, tool_context=TOOL_CONTEXT)
    async with aclosing(loop):
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


# What a tool may do to it.


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("explode", "工具执行失败：boom"),
        ("silent", "工具执行失败：ValueError"),
        ("lengthy", f"工具执行失败：\\ud800{'x' * 199}…"),
        ("unspeakable", "工具执行失败：UnspeakableError"),
        ("nobody", "未注册的工具：nobody"),
        ("__class__", "未注册的工具：__class__"),
        ("n" * 10_000, f"未注册的工具：{'n' * 200}…"),
        ("strict", "参数校验失败：缺少必填参数 x；不认识的参数 value"),
        ("nonsense", "工具执行失败：工具没有返回 ToolResult"),
        ("nothing", "工具执行失败：工具没有返回 ToolResult"),
    ],
)
async def test_a_failing_tool_is_a_result_and_its_neighbours_run(name: str, text: str) -> None:
    calls = wants(call("c1"), call("c2", name), call("c3"))
    events, context = await run(ScriptedModel(calls, says("done")))
    results = [m for m in context.messages if m.role == "toolResult"]
    told = [(m.tool_call_id, message_text(m), m.is_error) for m in results]
    assert told == [("c1", "c1", False), ("c2", text, True), ("c3", "c3", False)]
    shown = [(e.tool_call_id, e.content, e.is_error) for e in events if e.type == "tool_result"]
    assert shown == told


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit, asyncio.CancelledError])
def test_what_is_no_failure_passes(stop: type[BaseException]) -> None:
    async def leave(arguments: dict[str, object], context: ToolContext) -> ToolResult:
        raise stop

    async def answer() -> None:
        model = ScriptedModel(wants(call("c1", "leave")))
        context = Context([user_text("go")])
        tools = ToolRegistry()
        tools.register(ToolDefinition("leave", "", VALUE, leave))
        loop = run_agent_loop(
            stream_fn=model, context=context, tools=tools, tool_context=TOOL_CONTEXT
        )
        async with aclosing(loop):
            async for _ in loop:
                pass

    with pytest.raises(stop):
        asyncio.run(answer())


async def test_a_cancelled_run_stops_inside_its_tool() -> None:
    inside = asyncio.Event()

    async def wait_for_ever(arguments: dict[str, object], context: ToolContext) -> ToolResult:
        inside.set()
        await asyncio.Event().wait()
        raise AssertionError("nobody sets that event")

    context = Context([user_text("go")])
    model = ScriptedModel(wants(call("c1", "wait")))

    async def answer() -> None:
        tools = ToolRegistry()
        tools.register(ToolDefinition("wait", "", VALUE, wait_for_ever))
        loop = run_agent_loop(
            stream_fn=model, context=context, tools=tools, tool_context=TOOL_CONTEXT
        )
        async with aclosing(loop):
            async for _ in loop:
                pass

    task = asyncio.create_task(answer())
    await inside.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (model.asked, model.open_streams) == (1, 0)


# Leaving early.


@pytest.mark.parametrize("last", ["start", "text_delta", "done"])
async def test_leaving_closes_the_stream_of_the_model_at_once(last: str) -> None:
    model = ScriptedModel(says("hello"))
    loop = run_agent_loop(
        stream_fn=model,
        context=Context([user_text("go")]),
        tools=TOOLS,
        tool_context=TOOL_CONTEXT,
    )
    async for event in loop:
        if event.type == last:
            break
    assert model.open_streams == 1
    await loop.aclose()
    assert model.open_streams == 0


# Whatever the model and its tools do.

NAMES = [*TOOLS.names(), "nobody"]
CALLS = st.lists(st.sampled_from(NAMES), max_size=3)
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
    events, context = asyncio.run(run(model, max_turns=max_turns))

    assert pairing_faults(context.messages) == []
    assert model.asked <= max_turns
    assert model.open_streams == 0
    started = [e.tool_call.id for e in events if e.type == "tool_call"]
    finished = [e.tool_call_id for e in events if e.type == "tool_result"]
    assert (
        started == finished == [m.tool_call_id for m in context.messages if m.role == "toolResult"]
    )
    # Only a turn that the model itself breaks off has no end: the chapter names that gap.
    broken_off = model.asked > 0 and script[min(model.asked, len(script)) - 1][1] != "done"
    unended = kinds(events).count("turn_start") - kinds(events).count("turn_end")
    assert unended == (1 if broken_off else 0)
