"""A run that raises nothing: whatever goes wrong, every start has its end."""

import asyncio
import random
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.pairing import pairing_faults

from ..agent_events import AgentEnd
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
    ToolCallAnnounced,
    UserMessage,
    message_text,
    user_text,
)
from ..tools.tool_types import ToolContext, ToolResult
from ..whole_run import whole_run
from .scripted_model import ScriptedModel, call, says, wants
from .whole_loop import Execute, Run, deaf, echo, fails_with, faults, polite, tool, tools_of


class Raising(ScriptedModel):
    """A model that says the beginning of an answer and raises."""

    async def __call__(
        self, context: Context, options: StreamOptions | None, /
    ) -> AsyncGenerator[StreamEvent, None]:
        async with aclosing(super().__call__(context, options)) as events:
            async for event in events:
                yield event
        raise ConnectionError("lost")


def raising(*values: Any) -> Any:
    raise ValueError("broken")


async def test_a_run_that_goes_well_is_that_of_the_loop() -> None:
    runs = [Run(ScriptedModel(wants(call("c1")), says("bye"))) for _ in range(2)]
    await runs[0].to_the_end()
    await runs[1].to_the_end(whole_run)
    assert runs[0].events == runs[1].events


CALLBACKS = [
    "get_steering_messages",
    "transform_context",
    "convert_to_llm",
    "before_tool_call",
    "after_tool_call",
    "prepare_next_turn",
    "should_stop_after_turn",
    "get_follow_up_messages",
]
FAILING_CALLS = {"before_tool_call", "after_tool_call"}


@pytest.mark.parametrize("name", CALLBACKS)
@pytest.mark.parametrize("which", [1, 2])
async def test_what_a_callback_raises_is_a_message_at_the_end(name: str, which: int) -> None:
    asked = 0

    async def answer(*values: Any) -> Any:
        nonlocal asked
        asked += 1
        if asked == which:
            raise ValueError("broken")
        answers = {"before_tool_call": 2, "transform_context": 0, "convert_to_llm": 0}
        if name in answers:
            return values[answers[name]]
        return values[2] if name == "after_tool_call" else [] if name[:3] == "get" else None

    model = ScriptedModel(wants(call("c1")), wants(call("c2")), says("bye"))
    config: dict[str, Any] = {name: answer}
    run = await Run(model, **config).to_the_end(whole_run)
    assert faults(run.events, run.context.messages) == []
    assert isinstance(run.events[-1], AgentEnd)
    last = run.context.messages[-1]
    if name in FAILING_CALLS:  # Only that call has failed.
        assert run.results[which - 1] == (f"c{which}", "工具执行失败：broken")
        assert message_text(last) == "bye"
    elif asked >= which:
        assert last == AssistantMessage([], "error", "broken")


async def test_a_model_that_raises_keeps_what_it_has_said() -> None:
    half: list[StreamEvent] = [StreamStart(), TextDelta("hel"), ToolCallAnnounced(call("c1"))]
    run = await Run(Raising(half)).to_the_end(whole_run)
    assert run.context.messages[-1] == AssistantMessage([TextContent("hel")], "error", "lost")
    assert run.kinds[-3:] == ["message_end", "turn_end", "agent_end"]
    assert faults(run.events, run.context.messages) == []


async def test_a_model_that_cannot_even_be_asked_is_a_message() -> None:
    run = await Run(raising).to_the_end(whole_run)
    assert run.context.messages[-1] == AssistantMessage([], "error", "broken")
    assert faults(run.events, run.context.messages) == []


async def test_what_is_raised_after_a_cancel_ends_the_run_as_aborted() -> None:
    async def transform(messages: Any) -> Any:
        run.cancel.cancel()
        raise ValueError("broken")

    run = Run(ScriptedModel(says("never")), transform_context=transform)
    await run.to_the_end(whole_run)
    assert run.context.messages[-1] == AssistantMessage([], "aborted", "broken")


async def test_without_anything_to_answer_the_run_is_a_failure_in_order() -> None:
    run = await Run(ScriptedModel(says("never")), prompts=[]).to_the_end(whole_run)
    assert run.kinds == [
        "agent_start",
        "turn_start",
        "message_start",
        "message_end",
        "turn_end",
        "agent_end",
    ]
    assert run.context.messages == [AssistantMessage([], "error", "没有可以接着回答的消息")]


@pytest.mark.parametrize("name", CALLBACKS)
@pytest.mark.parametrize("nonsense", [None, 7])
async def test_a_callback_that_answers_nonsense_breaks_no_order(name: str, nonsense: Any) -> None:
    async def answer(*values: Any) -> Any:
        return nonsense

    model = ScriptedModel(wants(call("c1"), call("c2")), says("bye"))
    config: dict[str, Any] = {name: answer}
    run = await Run(model, **config).to_the_end(whole_run)
    assert faults(run.events, run.context.messages) == []
    assert run.kinds[-1] == "agent_end"


@pytest.mark.parametrize("leaving", [KeyboardInterrupt, SystemExit])
def test_what_ends_a_program_is_no_failure_of_the_run(leaving: type[BaseException]) -> None:
    run = Run(
        ScriptedModel(wants(call("c1", "leave"))), tools_of(tool("leave", fails_with(leaving())))
    )
    with pytest.raises(leaving):
        asyncio.run(run.to_the_end(whole_run))
    assert run.results == [("c1", "已取消")]


# Whatever happens.


class RefusingError(Exception):
    """What a hook raises."""


async def returns_late(args: dict[str, object], context: ToolContext) -> ToolResult:
    for step in range(3):
        context.update(f"step {step}")
        await asyncio.sleep(0)
    return ToolResult("late", terminate=True)


async def ignores_one_cancel(args: dict[str, object], context: ToolContext) -> ToolResult:
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        return ToolResult("not yet")
    raise AssertionError("nobody sets that event")


TOOLS: dict[str, Execute] = {
    "echo": echo,
    "late": returns_late,
    "polite": polite,
    "deaf": deaf,
    "stubborn": ignores_one_cancel,
    "broken": fails_with(ValueError("broken")),
    "quits": fails_with(asyncio.CancelledError()),
}
WAIT_FOR_A_CANCEL = {"polite", "deaf", "stubborn"}
ENDINGS = ["toolUse", "stop", "length", "error", "nothing", "raises"]
Script = list[tuple[list[str], str]]
SCRIPTS = st.lists(
    st.tuples(
        st.lists(st.sampled_from([*TOOLS, "nobody", "alone"]), max_size=4),
        st.sampled_from(["toolUse", *ENDINGS]),
    ),
    min_size=1,
    max_size=4,
)


class Played(ScriptedModel):
    """A model that plays a script, and notes when it is asked after a cancel."""

    def __init__(self, script: Script) -> None:
        super().__init__()
        self.script = script
        self.asked_too_late = False

    async def __call__(
        self, context: Context, options: StreamOptions | None, /
    ) -> AsyncGenerator[StreamEvent, None]:
        cancel = options.cancel if options else None
        self.asked_too_late |= cancel is not None and cancel.cancelled
        names, ending = self.script[self.asked] if self.asked < len(self.script) else ([], "stop")
        self.asked += 1
        self.open_streams += 1
        calls = [call(f"c{self.asked}.{place}", name) for place, name in enumerate(names)]
        try:
            yield StreamStart()
            yield TextDelta("hm")
            await asyncio.sleep(0)
            match ending:
                case "raises":
                    raise ConnectionError("lost")
                case "error":
                    yield StreamError("lost")
                case "toolUse" | "stop" | "length":
                    yield StreamDone(AssistantMessage([TextContent("hm"), *calls], ending))
        finally:
            self.open_streams -= 1


class Chance:
    """Callbacks that now and then raise, now and then have something to say."""

    def __init__(self, seed: int, trouble: float) -> None:
        self.chance = random.Random(seed)  # noqa: S311
        self.trouble = trouble
        self.queued = 3

    def answering(self, answer: Any) -> Any:
        async def callback(*values: Any) -> Any:
            if self.chance.random() < 0.3:
                await asyncio.sleep(0)
            if self.chance.random() < self.trouble:
                raise RefusingError("no")
            return answer(*values)

        return callback

    def said(self) -> list[UserMessage]:
        if self.queued and self.chance.random() < 0.3:
            self.queued -= 1
            return [user_text(f"more {self.queued}")]
        return []

    def config(self) -> dict[str, Any]:
        return {
            "get_steering_messages": self.answering(self.said),
            "get_follow_up_messages": self.answering(self.said),
            "transform_context": self.answering(lambda messages: messages),
            "convert_to_llm": self.answering(lambda messages: messages),
            "before_tool_call": self.answering(lambda tool, call, args, cancel: args),
            "after_tool_call": self.answering(lambda call, args, result, cancel: result),
            "prepare_next_turn": self.answering(lambda turn: None),
            "should_stop_after_turn": self.answering(lambda turn: False),
            "tool_execution": self.chance.choice(["parallel", "parallel", "sequential"]),
        }


async def play(
    script: Script, seed: int, trouble: float, *, abort: int = 0, leave: int = 0
) -> None:
    """Play a script; the run is cancelled with its event number `abort`, or left with `leave`."""
    tools = [tool(name, execute) for name, execute in TOOLS.items()]
    alone = tool("alone", returns_late, execution_mode="sequential")
    model = Played(script)

    def watch(run: Run, event: Any) -> None:
        if len(run.events) == abort:
            run.cancel.cancel()
        elif event.type == "tool_execution_start" and event.tool_call.name in WAIT_FOR_A_CANCEL:
            asyncio.get_running_loop().call_later(0.001, run.cancel.cancel)  # Else it has no end.

    config = Chance(seed, trouble).config()
    run = Run(model, tools_of(*tools, alone), grace=0.001, watch=watch, **config)
    async with aclosing(run.start(whole_run)) as events:
        async for event in events:
            run.events.append(event)
            watch(run, event)
            if len(run.events) == leave:
                break

    assert pairing_faults(run.context.messages) == []
    assert (model.open_streams, model.asked_too_late) == (0, False)
    assert asyncio.all_tasks() == {asyncio.current_task()}
    if len(run.events) == leave:
        return
    assert faults(run.events, run.context.messages) == []
    assert run.kinds[0] == "agent_start"
    assert run.kinds[-1] == "agent_end"
    assert run.kinds.count("agent_end") == 1


TROUBLE = st.sampled_from([0.0, 0.03, 0.2])


@settings(max_examples=150)
@given(SCRIPTS, st.integers(0, 1000), TROUBLE, st.integers(0, 60))
def test_whatever_happens_starts_have_ends_calls_have_results_and_nothing_lives_on(
    script: Script, seed: int, trouble: float, abort: int
) -> None:
    asyncio.run(play(script, seed, trouble, abort=abort))


@settings(max_examples=50)
@given(SCRIPTS, st.integers(0, 1000), TROUBLE, st.integers(1, 30))
def test_whoever_leaves_at_any_moment_leaves_pairs_and_nothing_that_lives_on(
    script: Script, seed: int, trouble: float, leave: int
) -> None:
    asyncio.run(play(script, seed, trouble, leave=leave))
