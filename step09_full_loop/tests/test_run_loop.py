"""The double loop: who is asked when, what joins which turn, and what ends the run."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

import pytest

from ..agent_events import AgentEnd, AgentEvent, MessageStart, MessageUpdate
from ..cancel import CancelToken
from ..harness_types import (
    AssistantMessage,
    Context,
    Message,
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
from ..loop_config import MaxTurns, NextTurn, Turn
from ..tools.tool_types import ToolResult
from .scripted_model import ScriptedModel, call, says, wants
from .whole_loop import Run, faults, queue_of, tool, tools_of


class Listening(ScriptedModel):
    """A scripted model that keeps the texts that it was shown."""

    def __init__(self, *turns: Sequence[StreamEvent]) -> None:
        super().__init__(*turns)
        self.shown: list[list[str]] = []

    async def __call__(
        self, context: Context, options: StreamOptions | None, /
    ) -> AsyncGenerator[StreamEvent, None]:
        self.shown.append([message_text(message) for message in context.messages])
        async with aclosing(super().__call__(context, options)) as events:
            async for event in events:
                yield event


async def run(*turns: Sequence[StreamEvent], **options: Any) -> Run:
    found = await Run(Listening(*turns), **options).to_the_end()
    assert faults(found.events, found.context.messages) == []
    return found


def shown(run: Run) -> list[list[str]]:
    assert isinstance(run.stream_fn, Listening)
    return run.stream_fn.shown


def outline(run: Run) -> list[str]:
    """The turns, and who says what in them."""
    found: list[str] = []
    for event in run.events:
        if event.type in ("turn_start", "turn_end", "agent_end"):
            found.append(event.type)
        elif event.type == "message_end" and isinstance(event.message, UserMessage):
            found.append(message_text(event.message))
    return found


# One run.


async def test_an_answer_is_told_in_ten_events() -> None:
    found = await run(says("hello"))
    assert found.kinds == [
        "agent_start",
        "turn_start",
        "message_start",
        "message_end",
        "message_start",
        "message_update",
        "message_end",
        "turn_end",
        "agent_end",
    ]
    assert found.said == ["go", "hello"]
    assert found.events[-1] == AgentEnd(found.context.messages)


async def test_the_end_tells_what_is_new_and_the_history_has_it_all() -> None:
    found = await run(says("hello"), history=[user_text("before")])
    last = found.events[-1]
    assert isinstance(last, AgentEnd)
    assert [message_text(message) for message in last.messages] == ["go", "hello"]
    assert found.said == ["before", "go", "hello"]


async def test_without_a_prompt_the_last_message_is_answered() -> None:
    found = await run(says("hello"), prompts=[], history=[user_text("before")])
    assert found.kinds[:3] == ["agent_start", "turn_start", "message_start"]
    assert found.said == ["before", "hello"]


async def test_an_answer_grows_in_its_updates() -> None:
    grown: list[str] = []

    def watch(run: Run, event: AgentEvent) -> None:
        if isinstance(event, MessageUpdate):
            grown.append(message_text(event.message))
            assert event.message.stop_reason == "pending"

    await run([StreamStart(), TextDelta("he"), TextDelta("llo"), says("hello")[-1]], watch=watch)
    assert grown == ["he", "hello"]


async def test_an_answer_that_comes_whole_has_a_start_too() -> None:
    message = AssistantMessage([TextContent("hello")], "stop")
    found = await run([StreamDone(message)])
    assert found.events[4:6] == [MessageStart(message), found.events[5]]
    assert found.kinds[4:6] == ["message_start", "message_end"]


@pytest.mark.parametrize("reason", ["stop", "toolUse", "length"])
async def test_without_calls_the_run_ends_whatever_the_reason(reason: Any) -> None:
    found = await run([StreamDone(AssistantMessage([TextContent("hm")], reason))])
    assert len(shown(found)) == 1


async def test_with_calls_the_run_goes_on_even_if_the_model_says_stop() -> None:
    found = await run([StreamDone(AssistantMessage([call("c1")], "stop"))], says("bye"))
    assert found.said == ["go", "", "c1", "bye"]


async def test_the_model_hears_of_the_cancel_and_the_options() -> None:
    found = await run(says("hello"), stream_options=StreamOptions(delay=1.5))
    assert isinstance(found.stream_fn, Listening)
    assert found.stream_fn.options == StreamOptions(delay=1.5, cancel=found.cancel)


# Steering and follow-ups.


async def test_what_is_said_before_the_first_turn_joins_it() -> None:
    found = await run(says("hello"), get_steering_messages=queue_of(["wait"]))
    assert outline(found) == ["turn_start", "go", "wait", "turn_end", "agent_end"]
    assert shown(found) == [["go", "wait"]]


async def test_steering_comes_behind_the_results_and_before_the_model_is_asked_again() -> None:
    steering = queue_of([], ["no, this", "and that"])
    found = await run(wants(call("c1")), says("bye"), get_steering_messages=steering)
    first, second = ["turn_start", "go", "turn_end"], ["no, this", "and that", "turn_end"]
    assert outline(found) == [*first, "turn_start", *second, "agent_end"]
    assert shown(found)[1] == ["go", "", "c1", "no, this", "and that"]


async def test_steering_keeps_a_run_alive_that_would_end() -> None:
    found = await run(says("a"), says("b"), get_steering_messages=queue_of([], ["more"]))
    assert found.said == ["go", "a", "more", "b"]


async def test_a_follow_up_waits_until_all_is_done() -> None:
    follow_ups = queue_of(["then this"])
    turns = [wants(call("c1")), says("done"), says("bye")]
    found = await run(*turns, get_follow_up_messages=follow_ups)
    assert found.said == ["go", "", "c1", "done", "then this", "bye"]
    assert found.kinds.count("agent_end") == 1


async def test_steering_comes_before_a_follow_up() -> None:
    found = await run(
        *map(says, "abc"),
        get_steering_messages=queue_of([], ["now"]),
        get_follow_up_messages=queue_of(["later"]),
    )
    assert found.said == ["go", "a", "now", "b", "later", "c"]


@pytest.mark.parametrize("queue", ["get_steering_messages", "get_follow_up_messages"])
async def test_tools_that_end_the_run_do_not_silence_the_user(queue: str) -> None:
    async def finish(*values: Any) -> ToolResult:
        return ToolResult("", terminate=True)

    waiting = [[], ["one more"]] if queue == "get_steering_messages" else [["one more"]]
    options = {queue: queue_of(*waiting)}
    tools = tools_of(tool("finish", finish))
    found = await run(wants(call("c1", "finish")), says("bye"), tools=tools, **options)
    assert found.said[-2:] == ["one more", "bye"]


# Who is asked when.


def asked(log: list[str], **answers: Any) -> dict[str, Any]:
    """Callbacks that note that they were asked, and answer what is given or as if not there."""

    def noting(name: str, answer: Any) -> Any:
        async def callback(*values: Any) -> Any:
            log.append(name)
            return answer(*values) if callable(answer) else answer

        return callback

    plain: dict[str, Any] = {
        "get_steering_messages": [],
        "transform_context": lambda messages: messages,
        "convert_to_llm": lambda messages: messages,
        "before_tool_call": lambda tool, call, args, cancel: args,
        "after_tool_call": lambda call, args, result, cancel: result,
        "prepare_next_turn": None,
        "should_stop_after_turn": False,
        "get_follow_up_messages": [],
    }
    return {name: noting(name, answer) for name, answer in {**plain, **answers}.items()}


ASKING = ["transform_context", "convert_to_llm"]
TOOL = ["before_tool_call", "after_tool_call"]
AFTER = ["prepare_next_turn", "should_stop_after_turn", "get_steering_messages"]


async def test_everybody_is_asked_in_the_order_of_the_contract() -> None:
    log: list[str] = []
    await run(wants(call("c1")), says("bye"), **asked(log))
    first = ["get_steering_messages", *ASKING, *TOOL, *AFTER]
    assert log == [*first, *ASKING, *AFTER, "get_follow_up_messages"]


async def test_who_stops_the_run_ends_it_and_nobody_is_asked_for_more() -> None:
    log: list[str] = []
    found = await run(wants(call("c1")), **asked(log, should_stop_after_turn=True))
    assert log[-1] == "should_stop_after_turn"
    assert found.said == ["go", "", "c1"]
    assert found.kinds[-2:] == ["turn_end", "agent_end"]


async def test_who_decides_gets_the_turn() -> None:
    turns: list[Turn] = []

    async def stop(turn: Turn) -> bool:
        turns.append(turn)
        return False

    found = await run(wants(call("c1")), says("bye"), should_stop_after_turn=stop)
    assert [message_text(turn.message) for turn in turns] == ["", "bye"]
    assert [len(turn.tool_results) for turn in turns] == [1, 0]
    assert turns[0].context is found.context
    assert [message_text(message) for message in turns[0].new_messages] == found.said


async def test_of_a_failed_turn_only_the_text_is_kept_and_nobody_is_asked() -> None:
    log: list[str] = []
    half: list[StreamEvent] = [StreamStart(), TextDelta("hel"), ToolCallAnnounced(call("c1"))]
    options = asked(log, get_follow_up_messages=[user_text("later")])
    found = await run([*half, StreamError("lost")], **options)
    message = AssistantMessage([TextContent("hel")], "error", "lost")
    assert found.context.messages[-1] == message
    assert found.kinds[-3:] == ["message_end", "turn_end", "agent_end"]
    assert log == ["get_steering_messages", *ASKING]


async def test_behind_an_aborted_answer_nobody_is_asked() -> None:
    log: list[str] = []
    aborted = StreamDone(AssistantMessage([TextContent("hel")], "aborted"))
    found = await run([StreamStart(), aborted], **asked(log))
    assert (found.said, log) == (["go", "hel"], ["get_steering_messages", *ASKING])


async def test_a_stream_without_a_last_event_is_a_failed_turn() -> None:
    found = await run([StreamStart(), TextDelta("hel")])
    last = found.context.messages[-1]
    assert isinstance(last, AssistantMessage)
    assert (message_text(last), last.stop_reason) == ("hel", "error")


async def test_what_the_model_sees_may_differ_and_the_history_stays() -> None:
    def transform(messages: Sequence[Message]) -> list[Message]:
        return [*messages[-1:], user_text("hint")]

    def convert(messages: Sequence[Message]) -> list[Message]:
        return [user_text(message_text(message).upper()) for message in messages]

    options = asked([], transform_context=transform, convert_to_llm=convert)
    found = await run(says("hello"), history=[user_text("old")], **options)
    assert shown(found) == [["GO", "HINT"]]
    assert found.said == ["old", "go", "hello"]


async def test_the_next_turn_may_have_another_history_other_tools_and_another_model() -> None:
    other, model = Context([user_text("short")]), Listening(wants(call("c2", "new")), says("bye"))
    changes = [NextTurn(other, tools_of(tool("new")), model)]
    options = asked([], prepare_next_turn=lambda turn: changes.pop() if changes else None)
    found = await Run(Listening(wants(call("c1"))), **options).to_the_end()
    assert model.shown == [["short"], ["short", "", "c2"]]
    assert found.said == ["go", "", "c1"]
    last = found.events[-1]
    assert isinstance(last, AgentEnd)
    assert [message_text(message) for message in last.messages] == ["go", "", "c1", "", "c2", "bye"]


# A cancel.

KINDS = ["turn_start", "message_start", "message_update", "message_end", "turn_end"]
MOMENTS = [(kind, which) for kind in KINDS for which in (1, 2)]


@pytest.mark.parametrize(
    ("kind", "which"),
    [("agent_start", 1), ("tool_execution_start", 1), ("tool_execution_end", 1), *MOMENTS],
)
async def test_after_a_cancel_nobody_is_asked_anything(kind: str, which: int) -> None:
    log: list[str] = []
    requests: list[int] = []

    def watch(run: Run, event: AgentEvent) -> None:
        if event.type == kind and run.kinds.count(kind) == which:
            log.clear()
            requests.append(len(shown(run)))
            run.cancel.cancel()

    found = await run(wants(call("c1")), wants(call("c2")), says("bye"), watch=watch, **asked(log))
    assert [len(shown(found))] == requests
    assert log in ([], ["after_tool_call"])
    assert found.kinds[-2:] == ["turn_end", "agent_end"]


@pytest.mark.parametrize("name", [*ASKING, *TOOL, *AFTER, "get_follow_up_messages"])
@pytest.mark.parametrize("said", [[], [user_text("more")]], ids=["nothing", "more"])
@pytest.mark.parametrize("which", [1, 2])
async def test_cancelled_while_somebody_is_asked_nobody_else_is(
    name: str, said: list[Message], which: int
) -> None:
    log: list[str] = []
    before: list[str] = []
    requests: list[int] = []
    options = asked(log)
    callback = options[name]

    async def cancelling(*values: Any) -> Any:
        answer = await callback(*values)
        if log.count(name) < which:
            return answer
        before[:] = log
        requests[:] = [len(shown(found))]
        found.cancel.cancel()
        return said if name.startswith("get_") else answer

    options[name] = cancelling
    found = Run(Listening(wants(call("c1")), wants(call("c2")), says("bye")), **options)
    await found.to_the_end()
    if found.cancel.cancelled:  # All but the follow-ups are asked twice.
        assert log == before
        assert [len(shown(found))] == requests
    assert faults(found.events, found.context.messages) == []


async def test_cancelled_before_it_begins_a_run_asks_nobody_and_keeps_the_prompt() -> None:
    log: list[str] = []
    found = Run(Listening(says("never")), **asked(log))
    found.cancel.cancel()
    await found.to_the_end()
    assert (log, shown(found)) == ([], [])
    assert found.said == ["go", ""]
    assert found.context.messages[-1] == AssistantMessage([], "aborted", "已取消")
    assert faults(found.events, found.context.messages) == []


async def test_what_a_model_said_before_a_cancel_is_kept() -> None:
    def watch(run: Run, event: AgentEvent) -> None:
        if isinstance(event, MessageUpdate):
            run.cancel.cancel()

    found = await run([StreamStart(), TextDelta("hel"), StreamError("stopped")], watch=watch)
    message = AssistantMessage([TextContent("hel")], "aborted", "stopped")
    assert found.context.messages[-1] == message


# The limit of turns.


def turn(new: list[Message], results: int = 1) -> Turn:
    message = AssistantMessage([], "stop")
    return Turn(message, [None] * results, Context([]), new)  # type: ignore[list-item]


async def test_a_limit_lets_the_model_ask_for_tools_so_many_times() -> None:
    limit = MaxTurns(3)
    found = await run(wants(call("c1")), should_stop_after_turn=limit)
    assert (len(shown(found)), limit.reached) == (3, True)


async def test_a_limit_is_not_reached_by_a_run_that_ends_in_time_nor_by_talking() -> None:
    limit = MaxTurns(2)
    found = await run(wants(call("c1")), says("bye"), should_stop_after_turn=limit)
    assert (len(shown(found)), limit.reached) == (2, False)
    steering = queue_of([], ["a"], ["b"], ["c"])
    found = await run(says("hm"), should_stop_after_turn=limit, get_steering_messages=steering)
    assert (len(shown(found)), limit.reached) == (4, False)


async def test_a_limit_counts_in_each_run_from_the_beginning() -> None:
    limit = MaxTurns(2)
    for _ in range(3):
        new: list[Message] = []
        assert [await limit(turn(new)), await limit(turn(new))] == [False, True]
    new = []
    assert [await limit(turn(new, results)) for results in (1, 0, 1, 1)] == [
        False,
        False,
        False,
        True,
    ]


async def test_there_is_no_limit_unless_somebody_sets_one() -> None:
    turns = [wants(call(f"c{number}")) for number in range(50)]
    found = await run(*turns, says("bye"))
    assert len(shown(found)) == 51


# Leaving early.


@pytest.mark.parametrize("last", ["agent_start", "message_start", "message_update"])
async def test_who_leaves_closes_the_stream_of_the_model(last: str) -> None:
    model = ScriptedModel(says("hello"))
    async with aclosing(Run(model).start()) as events:
        async for event in events:
            if event.type == last:
                break
    assert model.open_streams == 0


async def test_what_a_callback_raises_goes_through() -> None:
    async def broken(turn: Turn) -> bool:
        raise ValueError("broken")

    found = Run(ScriptedModel(says("hello")), should_stop_after_turn=broken)
    with pytest.raises(ValueError, match="broken"):
        await found.to_the_end()
    assert found.said == ["go", "hello"]


async def test_a_token_of_one_run_is_not_that_of_another() -> None:
    first = await run(says("a"))
    first.cancel.cancel()
    assert not CancelToken().cancelled
    assert (await run(says("b"))).said == ["go", "b"]
