"""An agent: its memory, its listeners, its queues, and that it does one thing at a time."""

import asyncio
from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.pairing import pairing_faults

from ..agent import Agent
from ..agent_events import AgentEnd, AgentEvent, MessageEnd, MessageUpdate
from ..cancel import CancelToken
from ..harness_types import AssistantMessage, Message, TextContent, message_text, user_text
from ..loop_config import LoopConfig
from ..queues import MessageQueue, Queues
from ..tools.registry import ToolRegistry
from ..tools.tool_types import ToolContext, ToolResult
from .scripted_model import ScriptedModel, call, says, wants
from .whole_loop import deaf, fails_with, faults, polite, tool, tools_of


class Talk:
    """An agent, what a listener has heard, and whoever has something to do with an event."""

    def __init__(
        self,
        model: Any,
        tools: ToolRegistry | None = None,
        *,
        messages: list[Message] | None = None,
        grace: float = 0.01,
        **options: Any,
    ) -> None:
        context = ToolContext(Path.cwd(), CancelToken(grace=grace))
        tools = tools or tools_of()
        self.agent = Agent(model, tools=tools, tool_context=context, messages=messages, **options)
        self.heard: list[AgentEvent] = []
        self.agent.subscribe(lambda event, cancel: self.heard.append(event))

    def on(self, kind: str, act: Callable[[], Any]) -> None:
        """Act once, when an event of that kind comes."""
        waiting = [act]

        async def listen(event: AgentEvent, cancel: CancelToken) -> None:
            if event.type == kind and waiting:
                answer = waiting.pop()()
                if isinstance(answer, Awaitable):
                    await answer

        self.agent.subscribe(listen)

    @property
    def said(self) -> list[str]:
        return [message_text(message) for message in self.agent.state.messages]

    @property
    def kinds(self) -> list[str]:
        return [event.type for event in self.heard]

    def in_order(self) -> bool:
        """Whether all that was heard has its ends, and the memory its pairs."""
        return faults(self.heard, self.agent.state.messages) == []


# Talking.


async def test_it_remembers_what_was_said() -> None:
    talk = Talk(ScriptedModel(says("hello"), says("bye")))
    await talk.agent.prompt("hi")
    await talk.agent.prompt("one", "two")
    assert talk.said == ["hi", "hello", "one", "two", "bye"]
    assert talk.in_order()


async def test_it_goes_on_with_a_history_and_keeps_it_up_to_date() -> None:
    history: list[Message] = [user_text("before")]
    talk = Talk(ScriptedModel(says("hello")), messages=history)
    await talk.agent.prompt("hi")
    assert [message_text(message) for message in history] == ["before", "hi", "hello"]


async def test_the_model_gets_the_system_prompt_and_the_tools() -> None:
    seen: list[Any] = []

    class Looking(ScriptedModel):
        def __call__(self, context: Any, options: Any, /) -> Any:
            seen.append((context.system_prompt, [spec.name for spec in context.tools]))
            return super().__call__(context, options)

    await Talk(Looking(says("hello")), system_prompt="be kind").agent.prompt("hi")
    assert seen == [("be kind", ["echo"])]


# Listeners.


async def test_listeners_are_called_in_their_order_and_waited_for() -> None:
    order: list[str] = []
    talk = Talk(ScriptedModel(says("hello")))

    async def first(event: AgentEvent, cancel: CancelToken) -> None:
        await asyncio.sleep(0)
        order.append(f"first {event.type}")

    talk.agent.subscribe(first)
    talk.agent.subscribe(lambda event, cancel: order.append(f"second {event.type}"))
    await talk.agent.prompt("hi")
    assert order == [f"{who} {kind}" for kind in talk.kinds for who in ("first", "second")]


async def test_who_unsubscribes_hears_nothing_more() -> None:
    talk, heard = Talk(ScriptedModel(says("hello"))), list[str]()
    leave = talk.agent.subscribe(lambda event, cancel: heard.append(event.type))
    talk.on("turn_end", leave)
    await talk.agent.prompt("hi")
    assert heard[-1] == "turn_end"
    assert talk.kinds[-1] == "agent_end"
    await talk.agent.prompt("again")
    assert heard[-1] == "turn_end"


async def test_a_message_is_remembered_before_anybody_hears_of_its_end() -> None:
    talk = Talk(ScriptedModel(wants(call("c1")), says("bye")))
    missing: list[Message] = []

    def look(event: AgentEvent, cancel: CancelToken) -> None:
        if isinstance(event, MessageEnd) and talk.agent.state.messages[-1] is not event.message:
            missing.append(event.message)

    talk.agent.subscribe(look)
    await talk.agent.prompt("hi")
    assert missing == []


KINDS = [
    "agent_start",
    "turn_start",
    "message_start",
    "message_update",
    "message_end",
    "tool_execution_start",
    "tool_execution_end",
    "turn_end",
    "agent_end",
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("which", [1, 2])
async def test_a_listener_that_raises_ends_the_run_and_the_others_hear_all_of_it(
    kind: str, which: int
) -> None:
    def fall(event: AgentEvent, cancel: CancelToken) -> None:
        if event.type == kind and talk.kinds.count(kind) == which:
            raise ValueError("broken")

    model = ScriptedModel(wants(call("c1"), call("c2")), says("bye"))
    talk = Talk(model)
    talk.agent.subscribe(fall)
    behind: list[str] = []
    talk.agent.subscribe(lambda event, cancel: behind.append(event.type))
    await talk.agent.prompt("hi")
    assert behind == talk.kinds
    state = talk.agent.state
    assert (state.is_streaming, state.pending_tool_calls) == (False, [])
    if kind in ("agent_start", "agent_end") and which == 2:
        assert (state.error_message, talk.said[-1]) == (None, "bye")  # There is only one of them.
        return
    assert state.error_message == "broken"
    # As with Pi the failure is a message of its own, without a turn if none is open.
    assert talk.kinds[-2:] == ["turn_end", "agent_end"]
    assert talk.kinds.count("agent_end") == 1
    assert talk.kinds.count("turn_end") >= talk.kinds.count("turn_start")
    assert talk.kinds.count("tool_execution_end") == talk.kinds.count("tool_execution_start")
    ended = [event.message for event in talk.heard if isinstance(event, MessageEnd)]
    assert ended == state.messages
    assert pairing_faults(ended) == []
    assert asyncio.all_tasks() == {asyncio.current_task()}
    await talk.agent.prompt("again")
    assert talk.said[-1] == "bye"
    assert talk.agent.state.error_message is None


async def test_a_listener_that_always_raises_ends_the_run_too() -> None:
    def fall(event: AgentEvent, cancel: CancelToken) -> None:
        raise ValueError(event.type)

    talk = Talk(ScriptedModel(says("hello")))
    talk.agent.subscribe(fall)
    await talk.agent.prompt("hi")
    assert talk.kinds[-1] == "agent_end"
    assert talk.agent.state.error_message == "agent_start"


# One run at a time.


async def test_a_second_prompt_is_refused_while_one_is_answered() -> None:
    talk = Talk(ScriptedModel(says("hello")))
    refused: list[str] = []

    async def ask_again() -> None:
        for work in (talk.agent.prompt("now"), talk.agent.continue_()):
            with pytest.raises(RuntimeError) as error:
                await work
            refused.append(str(error.value))

    talk.on("message_update", ask_again)
    await talk.agent.prompt("hi")
    assert refused == ["上一轮还没有结束；要插话请用 steer 或 follow_up"] * 2
    assert talk.said == ["hi", "hello"]


async def test_the_state_shows_what_is_going_on() -> None:
    talk = Talk(ScriptedModel(wants(call("c1"), call("c2")), says("bye")))
    seen: list[tuple[str, bool, list[str]]] = []

    def look(event: AgentEvent, cancel: CancelToken) -> None:
        state = talk.agent.state
        seen.append((event.type, state.is_streaming, [*state.pending_tool_calls]))

    talk.agent.subscribe(look)
    await talk.agent.prompt("hi")
    assert all(streaming for _, streaming, _ in seen)
    assert [pending for kind, _, pending in seen if kind == "tool_execution_start"] == [
        ["c1"],
        ["c1", "c2"],
    ]
    assert [len(pending) for kind, _, pending in seen if kind == "tool_execution_end"] == [1, 0]
    assert not talk.agent.state.is_streaming


async def test_a_model_that_fails_leaves_its_reason_and_the_next_prompt_forgets_it() -> None:
    talk = Talk(ScriptedModel([], says("hello")))
    await talk.agent.prompt("hi")
    assert talk.agent.state.error_message == "模型没有说完就断了，请再试一次"
    assert talk.in_order()
    await talk.agent.prompt("again")
    assert talk.agent.state.error_message is None


async def test_what_a_callback_raises_is_a_message_and_prompt_returns() -> None:
    async def transform(messages: Any) -> Any:
        raise ValueError("broken")

    talk = Talk(ScriptedModel(says("never")), config=LoopConfig(transform_context=transform))
    await talk.agent.prompt("hi")
    assert talk.agent.state.messages[-1] == AssistantMessage([], "error", "broken")
    last = talk.heard[-1]
    assert isinstance(last, AgentEnd)
    assert talk.in_order()


# The queues.


async def test_what_is_said_meanwhile_joins_the_next_turn_and_the_rest_waits() -> None:
    talk = Talk(ScriptedModel(wants(call("c1")), says("a"), says("b"), says("c")))

    def speak() -> None:
        talk.agent.follow_up("later")
        talk.agent.steer("now")
        talk.agent.steer("and now")

    talk.on("tool_execution_start", speak)
    await talk.agent.prompt("hi")
    assert talk.said == ["hi", "", "c1", "now", "a", "and now", "b", "later", "c"]
    assert talk.in_order()


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("one-at-a-time", ["hi", "a", "1", "b", "2", "c"]),
        ("all", ["hi", "a", "1", "2", "b"]),
    ],
)
@pytest.mark.parametrize("queue", ["steer", "follow_up"])
async def test_a_queue_gives_one_message_or_all(mode: Any, said: list[str], queue: str) -> None:
    queues = Queues(MessageQueue(mode), MessageQueue(mode))
    talk = Talk(ScriptedModel(*map(says, "abc")), queues=queues)
    talk.on("turn_end", lambda: [getattr(talk.agent, queue)(text) for text in "12"])
    await talk.agent.prompt("hi")
    assert talk.said == said
    assert (queues.steering.waiting, queues.follow_ups.waiting) == ([], [])


# Going on.


async def test_going_on_answers_the_last_message() -> None:
    talk = Talk(ScriptedModel(says("hello")), messages=[user_text("hi")])
    await talk.agent.continue_()
    assert talk.said == ["hi", "hello"]


async def test_going_on_behind_an_answer_takes_what_waits_steering_first() -> None:
    talk = Talk(ScriptedModel(*map(says, "abcd")))
    await talk.agent.prompt("hi")
    talk.agent.follow_up("later")
    talk.agent.steer("first")
    talk.agent.steer("second")
    await talk.agent.continue_()
    assert talk.said == ["hi", "a", "first", "b", "second", "c", "later", "d"]


async def test_going_on_takes_a_follow_up_if_there_is_no_steering() -> None:
    talk = Talk(ScriptedModel(*map(says, "ab")))
    await talk.agent.prompt("hi")
    talk.agent.follow_up("later")
    await talk.agent.continue_()
    assert talk.said == ["hi", "a", "later", "b"]


async def test_going_on_from_nothing_is_refused() -> None:
    talk = Talk(ScriptedModel(says("hello")))
    with pytest.raises(ValueError, match="没有可以接着回答的消息"):
        await talk.agent.continue_()
    await talk.agent.prompt("hi")
    with pytest.raises(ValueError, match="没有可以接着回答的消息"):
        await talk.agent.continue_()
    assert talk.said == ["hi", "hello"]


# Aborting.


async def test_to_abort_what_does_not_run_does_nothing() -> None:
    talk = Talk(ScriptedModel(says("hello")))
    talk.agent.abort()
    await talk.agent.prompt("hi")
    assert talk.said == ["hi", "hello"]


async def test_an_aborted_run_ends_in_order_keeps_the_queues_and_the_next_one_is_fresh() -> None:
    tools = tools_of(tool("polite", polite), tool("deaf", deaf))
    calls = wants(call("c1", "polite"), call("c2", "deaf"))
    model = ScriptedModel(calls, says("hello"))
    talk = Talk(model, tools)

    def abort() -> None:
        talk.agent.steer("no")
        talk.agent.follow_up("later")
        asyncio.get_running_loop().call_soon(talk.agent.abort)

    talk.on("tool_execution_start", abort)
    await talk.agent.prompt("hi")
    assert (model.asked, talk.kinds[-2:]) == (1, ["turn_end", "agent_end"])
    assert [message_text(m) for m in talk.agent.queues.steering.waiting] == ["no"]
    assert [message_text(m) for m in talk.agent.queues.follow_ups.waiting] == ["later"]
    assert talk.in_order()
    assert talk.agent.state.pending_tool_calls == []
    await talk.agent.prompt("again")
    assert "hello" in talk.said


async def test_a_listener_hears_of_the_cancel() -> None:
    heard: list[bool] = []
    talk = Talk(ScriptedModel(says("hello")))

    def listen(event: AgentEvent, cancel: CancelToken) -> None:
        if isinstance(event, MessageUpdate):
            talk.agent.abort()
        heard.append(cancel.cancelled)

    talk.agent.subscribe(listen)
    await talk.agent.prompt("hi")
    assert (heard[0], heard[-1]) == (False, True)


async def test_whoever_cancels_the_task_leaves_pairs_and_an_agent_that_can_go_on() -> None:
    running = asyncio.Event()

    async def wait(args: dict[str, object], context: ToolContext) -> ToolResult:
        running.set()
        await asyncio.Event().wait()
        raise AssertionError("nobody sets that event")

    talk = Talk(
        ScriptedModel(wants(call("c1", "wait")), says("hello")), tools_of(tool("wait", wait))
    )
    task = asyncio.create_task(talk.agent.prompt("hi"))
    await running.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    state = talk.agent.state
    assert (talk.said, state.is_streaming) == (["hi", "", "已取消"], False)
    await talk.agent.prompt("again")
    assert talk.said[-1] == "hello"


@pytest.mark.parametrize("leaving", [KeyboardInterrupt, SystemExit])
def test_what_ends_a_program_goes_through_and_the_memory_has_its_pairs(
    leaving: type[BaseException],
) -> None:
    async def talking() -> None:
        with pytest.raises(leaving):
            await talk.agent.prompt("hi")

    tools = tools_of(tool("leave", fails_with(leaving())))
    talk = Talk(ScriptedModel(wants(call("c1", "leave"))), tools)
    asyncio.run(talking())
    assert talk.said == ["hi", "", "已取消"]
    assert talk.agent.state.messages[-2] == AssistantMessage([call("c1", "leave")], "toolUse")


async def test_two_agents_have_nothing_in_common() -> None:
    one, other = (Talk(ScriptedModel(says(text))) for text in ("one", "other"))
    one.agent.steer("only you")
    await asyncio.gather(one.agent.prompt("hi"), other.agent.prompt("hi"))
    assert (one.said, other.said) == (["hi", "only you", "one"], ["hi", "other"])
    assert other.agent.state.messages[-1].content == [TextContent("other")]


# Whatever a listener does.


@settings(max_examples=60)
@given(
    st.lists(
        st.lists(st.sampled_from(["echo", "broken", "polite", "nobody"]), max_size=3), max_size=3
    ),
    st.sets(st.integers(1, 40), max_size=3),
    st.integers(1, 60),
)
def test_whatever_listeners_do_at_any_moment_the_memory_has_its_pairs_and_goes_on(
    script: list[list[str]], falls: set[int], abort: int
) -> None:
    async def talking() -> None:
        ids = count()
        turns = [[call(f"c{next(ids)}", name) for name in names] for names in script if names]
        model = ScriptedModel(*(wants(*calls) for calls in turns), says("bye"))
        broken = tool("broken", fails_with(ValueError("no")))
        tools = tools_of(tool("echo"), broken, tool("polite", polite))
        talk = Talk(model, tools, grace=0.001)

        def act(event: AgentEvent, cancel: CancelToken) -> None:
            if len(talk.heard) == abort:
                talk.agent.abort()
            elif event.type == "tool_execution_start" and event.tool_call.name == "polite":
                asyncio.get_running_loop().call_later(0.001, cancel.cancel)  # Else it has no end.
            elif event.type == "turn_start" and len(talk.heard) % 3 == 0:
                talk.agent.steer("meanwhile")
            if len(talk.heard) in falls:
                raise ValueError("broken")

        talk.agent.subscribe(act)
        await talk.agent.prompt("hi")
        state = talk.agent.state
        assert pairing_faults(state.messages) == []
        assert (state.is_streaming, state.pending_tool_calls, model.open_streams) == (False, [], 0)
        assert [e.message for e in talk.heard if isinstance(e, MessageEnd)] == state.messages
        assert talk.kinds.count("tool_execution_start") == talk.kinds.count("tool_execution_end")
        assert (talk.kinds[0], talk.kinds[-1]) == ("agent_start", "agent_end")
        assert talk.kinds.count("agent_end") == 1
        assert asyncio.all_tasks() == {asyncio.current_task()}
        falls.clear()
        await talk.agent.prompt("again")
        assert pairing_faults(state.messages) == []

    asyncio.run(talking())
