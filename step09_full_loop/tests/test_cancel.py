"""Cancelling a run: what stops, what is kept, and that every call has its result."""

import asyncio
import contextlib
import random
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

import pytest

from shared.pairing import pairing_faults

from ..agent_loop import run_agent_loop
from ..cancel import CancelToken, StoppedError, interruptible, with_grace
from ..harness_types import (
    Context,
    HarnessEvent,
    StreamError,
    StreamEvent,
    StreamOptions,
    message_text,
    user_text,
)
from ..tools.registry import ToolRegistry
from ..tools.tool_types import ToolContext, ToolDefinition, ToolResult
from .scripted_model import VALUE, ScriptedModel, call, says, wants


class Waiting(ScriptedModel):
    """A model that says something and then nothing, for ever."""

    async def __call__(
        self, context: Context, options: StreamOptions | None, /
    ) -> AsyncGenerator[StreamEvent, None]:
        async with aclosing(super().__call__(context, options)) as events:
            async for event in events:
                if event.type == "done":
                    await asyncio.Event().wait()
                yield event


async def polite(args: dict[str, object], context: ToolContext) -> ToolResult:
    await context.cancel.wait()
    return ToolResult("stopped half way", is_error=True)


async def deaf(args: dict[str, object], context: ToolContext) -> ToolResult:
    await asyncio.Event().wait()
    return ToolResult("never")


async def quick(args: dict[str, object], context: ToolContext) -> ToolResult:
    await asyncio.sleep(0)
    return ToolResult("done")


async def cancels_itself(args: dict[str, object], context: ToolContext) -> ToolResult:
    raise asyncio.CancelledError


TOOLS = {"polite": polite, "deaf": deaf, "quick": quick, "cancels_itself": cancels_itself}


class Running:
    """A run that can be cancelled, and what came of it."""

    def __init__(self, model: ScriptedModel, grace: float = 0.01) -> None:
        self.model = model
        self.cancel = CancelToken(grace=grace)
        self.context = Context([user_text("go")])
        self.events: list[HarnessEvent] = []
        self.leave_on = ""

    async def until_the_end(self, cancel_on: str = "", which: int = 1) -> "Running":
        """Run, and cancel when the event of that type comes the `which`th time."""
        registry = ToolRegistry()
        for name, execute in TOOLS.items():
            registry.register(ToolDefinition(name, "", VALUE, execute))
        events = run_agent_loop(
            stream_fn=self.model,
            context=self.context,
            tools=registry,
            tool_context=ToolContext(Path.cwd(), self.cancel),
        )
        async with aclosing(events):
            async for event in events:
                self.events.append(event)
                if event.type == self.leave_on and (task := asyncio.current_task()):
                    task.cancel()
                which -= event.type == cancel_on
                if which == 0 and event.type == cancel_on:
                    asyncio.get_running_loop().call_soon(self.cancel.cancel)
        return self

    @property
    def kinds(self) -> list[str]:
        return [event.type for event in self.events]

    @property
    def results(self) -> list[str]:
        return [message_text(m) for m in self.context.messages if m.role == "toolResult"]


async def test_what_a_model_has_said_so_far_is_kept_as_an_aborted_message() -> None:
    run = await Running(Waiting(says("half a sentence"))).until_the_end("text_delta")
    last = run.context.messages[-1]
    assert last.role == "assistant"
    assert (message_text(last), last.stop_reason) == ("half a sentence", "aborted")
    assert run.kinds == ["turn_start", "start", "text_delta", "done", "turn_end"]
    assert (run.model.asked, run.model.open_streams) == (1, 0)


async def test_of_a_model_that_has_said_nothing_there_is_no_message() -> None:
    model = Waiting([*says("")[:1], *says("")[2:]])
    run = await Running(model).until_the_end("start")
    assert [m.role for m in run.context.messages] == ["user"]
    assert run.events[-2] == StreamError("已取消")
    assert run.kinds[-1] == "turn_end"


async def test_a_run_that_is_cancelled_already_asks_nobody() -> None:
    run = Running(ScriptedModel(says("hello")))
    run.cancel.cancel()
    await run.until_the_end()
    assert (run.model.open_streams, run.kinds) == (0, ["turn_start", "error", "turn_end"])
    assert [m.role for m in run.context.messages] == ["user"]


@pytest.mark.parametrize(
    ("tool", "answer"),
    [
        ("polite", "stopped half way"),
        ("deaf", "已取消：工具没有停下来，等了 0.01 秒，不再等它"),
    ],
)
async def test_a_tool_can_stop_by_itself_or_is_not_waited_for(tool: str, answer: str) -> None:
    model = ScriptedModel(wants(call("c1", "quick"), call("c2", tool), call("c3", "quick")))
    run = await Running(model).until_the_end("tool_call", which=2)
    assert run.results == ["done", answer, "已取消"]
    assert pairing_faults(run.context.messages) == []
    assert run.model.asked == 1
    assert run.kinds.count("tool_call") == run.kinds.count("tool_result") == 3
    assert run.kinds[-1] == "turn_end"


async def test_a_tool_that_cancels_itself_has_failed_and_the_run_goes_on() -> None:
    model = ScriptedModel(wants(call("c1", "cancels_itself")), says("bye"))
    run = await Running(model).until_the_end()
    assert run.results == ["工具执行失败：CancelledError"]
    assert run.model.asked == 2


async def test_after_a_cancel_the_conversation_goes_on() -> None:
    run = await Running(ScriptedModel(wants(call("c1", "polite")))).until_the_end("tool_call")
    run.context.messages.append(user_text("go on"))
    run.model, run.cancel = ScriptedModel(says("hello")), CancelToken()
    await run.until_the_end()
    assert [m.role for m in run.context.messages][-2:] == ["user", "assistant"]
    assert pairing_faults(run.context.messages) == []


@pytest.mark.parametrize("leave_on", ["tool_call", "tool_result"])
async def test_who_stops_listening_leaves_no_call_open(leave_on: str) -> None:
    run = Running(ScriptedModel(wants(call("c1", "quick"), call("c2", "quick"))))
    run.leave_on = leave_on
    with pytest.raises(asyncio.CancelledError):
        await asyncio.create_task(run.until_the_end())
    assert pairing_faults(run.context.messages) == []
    assert set(run.results) <= {"done", "已取消"}


@pytest.mark.parametrize("leave", [KeyboardInterrupt, SystemExit])
def test_what_ends_a_program_goes_through_and_leaves_no_call_open(
    leave: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def leaving(args: dict[str, object], context: ToolContext) -> ToolResult:
        raise leave

    monkeypatch.setitem(TOOLS, "quick", leaving)
    run = Running(ScriptedModel(wants(call("c1", "quick"), call("c2", "quick"))))
    with pytest.raises(leave):
        asyncio.run(run.until_the_end())
    assert run.results == ["已取消", "已取消"]


async def test_200_cancels_at_any_moment_leave_pairs_and_nothing_behind() -> None:
    chance = random.Random(7)  # noqa: S311
    for _ in range(200):
        names = chance.choices(["quick", "polite", "deaf"], k=3)
        script = [wants(*(call(f"c{place}", name) for place, name in enumerate(names)))]
        run = Running(ScriptedModel(*script, says("hello")), grace=0)
        task = asyncio.create_task(run.until_the_end())
        for _ in range(chance.randrange(25)):
            await asyncio.sleep(0)
        run.cancel.cancel()
        await task
        assert pairing_faults(run.context.messages) == []
        assert run.kinds.count("turn_start") == run.kinds.count("turn_end")
        assert run.model.open_streams == 0
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_cancel_in_the_middle_of_a_wait_that_begins_is_not_lost() -> None:
    class Interrupted(CancelToken):
        """A token that a signal hits between any two steps of those who wait for it."""

        def __init__(self) -> None:
            super().__init__()
            self.reads = 0

        @property
        def cancelled(self) -> bool:
            self.reads += 1
            return self.reads > 1

        @cancelled.setter
        def cancelled(self, value: bool) -> None: ...

    async def wait_for_ever() -> None:
        await asyncio.Event().wait()

    with pytest.raises(StoppedError):
        await interruptible(wait_for_ever, Interrupted())


async def test_a_tool_that_ignores_everything_is_waited_for_once() -> None:
    async def ignores_everything() -> None:
        while True:
            with contextlib.suppress(asyncio.CancelledError):
                await ended.wait()
                return

    ended, cancel = asyncio.Event(), CancelToken(grace=0.2)
    cancel_soon = asyncio.get_running_loop().call_later(0, cancel.cancel)
    begun = asyncio.get_running_loop().time()
    with pytest.raises(StoppedError, match="不再等它"):
        await with_grace(ignores_everything, cancel)
    assert asyncio.get_running_loop().time() - begun < 2 * cancel.grace
    cancel_soon.cancel()
    ended.set()
    await asyncio.sleep(0.01)


async def test_everybody_who_waits_for_a_cancel_hears_of_it() -> None:
    cancel = CancelToken()
    waiting = [asyncio.create_task(cancel.wait()) for _ in range(2)]
    await asyncio.sleep(0)
    cancel.cancel()
    cancel.cancel()
    await asyncio.gather(*waiting)
    await cancel.wait()
