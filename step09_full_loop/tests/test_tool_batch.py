"""The calls of one answer: which run, when, in which order that is told, and what if it stops."""

import asyncio
import contextlib
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

import pytest

from ..agent_events import AgentEvent, ToolExecutionEnd, ToolExecutionUpdate
from ..cancel import CancelToken
from ..harness_types import AssistantMessage, StreamDone, StreamEvent, ToolCallContent
from ..loop_config import Turn
from ..tools.tool_types import ToolContext, ToolResult
from .scripted_model import ScriptedModel, call, says, wants
from .whole_loop import Execute, Run, deaf, echo, fails_with, faults, polite, tool, tools_of


async def run(*calls: ToolCallContent, tools: Any, **options: Any) -> Run:
    """Let a model make these calls in one answer, and then say "bye"."""
    model = ScriptedModel(wants(*calls), says("bye"))
    run = await Run(model, tools, **options).to_the_end()
    assert faults(run.events, run.context.messages) == []
    assert await only_this_task()
    return run


async def only_this_task() -> bool:
    return asyncio.all_tasks() == {asyncio.current_task()}


class Gate:
    """Tools that wait for each other."""

    def __init__(self) -> None:
        self.entered: list[str] = []
        self.opened = asyncio.Event()
        self.order: list[str] = []

    def meeting(self, number: int) -> Execute:
        """A tool that ends only when so many of its kind run at the same time."""

        async def meet(args: dict[str, object], context: ToolContext) -> ToolResult:
            self.entered.append(str(args["value"]))
            if len(self.entered) == number:
                self.opened.set()
            await self.opened.wait()
            return ToolResult("met")

        return meet

    async def noting(self, args: dict[str, object], context: ToolContext) -> ToolResult:
        """A tool that notes its own begin and end, with some turns of the event loop between."""
        self.order.append(f"begin {args['value']}")
        for _ in range(3):
            await asyncio.sleep(0)
        self.order.append(f"end {args['value']}")
        return ToolResult("noted")


# Which run at the same time.


async def test_all_calls_of_an_answer_run_at_the_same_time() -> None:
    calls = [call(f"c{number}", "meet") for number in range(8)]
    found = await run(*calls, tools=tools_of(tool("meet", Gate().meeting(8))))
    assert found.results == [(f"c{number}", "met") for number in range(8)]


async def test_starts_come_in_the_order_of_the_calls_ends_as_they_come_results_as_called() -> None:
    first = asyncio.Event()

    async def last_one(args: dict[str, object], context: ToolContext) -> ToolResult:
        await first.wait()
        return ToolResult("slow")

    async def first_one(args: dict[str, object], context: ToolContext) -> ToolResult:
        first.set()
        return ToolResult("fast")

    tools = tools_of(tool("slow", last_one), tool("fast", first_one))
    found = await run(call("c1", "slow"), call("c2", "fast"), tools=tools)
    order = ["start c1", "start c2", "end c2", "end c1", "told c1", "told c2"]
    assert found.steps == order
    assert found.results == [("c1", "slow"), ("c2", "fast")]


async def test_a_tool_that_must_be_alone_makes_the_whole_answer_wait_in_line() -> None:
    gate = Gate()
    tools = tools_of(tool("note", gate.noting), tool("alone", execution_mode="sequential"))
    calls = [call("c1", "note"), call("c2", "note"), call("c3", "alone")]
    found = await run(*calls, tools=tools)
    assert gate.order == ["begin c1", "end c1", "begin c2", "end c2"]
    in_line = [f"{step} {one}" for one in ("c1", "c2", "c3") for step in ("start", "end", "told")]
    assert found.steps == in_line


async def test_the_config_can_make_all_answers_wait_in_line_whatever_a_tool_says() -> None:
    gate = Gate()
    tools = tools_of(tool("note", gate.noting, execution_mode="parallel"))
    await run(call("c1", "note"), call("c2", "note"), tools=tools, tool_execution="sequential")
    assert gate.order == ["begin c1", "end c1", "begin c2", "end c2"]


async def test_no_tool_runs_before_all_calls_have_passed_their_gates() -> None:
    gate = Gate()

    async def before(tool: Any, call: ToolCallContent, args: Any, cancel: CancelToken) -> Any:
        await asyncio.sleep(0)
        gate.order.append(f"asked {call.id}")
        return args

    tools = tools_of(tool("note", gate.noting))
    await run(call("c1", "note"), call("c2", "note"), tools=tools, before_tool_call=before)
    assert gate.order[:3] == ["asked c1", "asked c2", "begin c1"]


async def test_a_call_that_does_not_pass_its_gate_ends_before_the_next_one_starts() -> None:
    calls = [call("c1", "nobody"), ToolCallContent("c2", "echo", {"value": []}), call("c3")]
    found = await run(*calls, tools=tools_of())
    assert found.steps[:5] == ["start c1", "end c1", "start c2", "end c2", "start c3"]
    assert found.steps[5:] == ["end c3", "told c1", "told c2", "told c3"]
    assert [text for _, text in found.results] == [
        "未注册的工具：nobody",
        '参数校验失败：参数 value 应为 string，实际是 array；收到的参数：{"value": []}',
        "c3",
    ]


async def test_a_call_that_is_blocked_without_a_reason_says_so() -> None:
    async def block(tool: Any, call: ToolCallContent, args: Any, cancel: CancelToken) -> Any:
        return ToolResult("", is_error=True)

    found = await run(call("c1"), tools=tools_of(), before_tool_call=block)
    assert found.results == [("c1", "工具调用被拦下")]


async def test_the_events_show_what_the_model_has_sent_and_the_tool_gets_what_was_made_of_it() -> (
    None
):
    got: list[object] = []

    async def look(args: dict[str, object], context: ToolContext) -> ToolResult:
        got.append(args["value"])
        return ToolResult("")

    def prepare(args: dict[str, object]) -> dict[str, object]:
        return {"value": args.pop("val")}

    async def before(tool: Any, call: ToolCallContent, args: Any, cancel: CancelToken) -> Any:
        return {"value": args["value"] + "!"}

    sent = ToolCallContent("c1", "look", {"val": 7})
    tools = tools_of(tool("look", look, prepare_arguments=prepare))
    found = await run(sent, tools=tools, before_tool_call=before)
    assert got == ["7!"]
    shown = [event.tool_call.arguments for event in found.events if event.type[:5] == "tool_"]  # type: ignore[union-attr]
    assert shown == [{"val": 7}] * 2
    assert sent.arguments == {"val": 7}


# What a tool tells while it runs.


async def test_what_a_tool_tells_comes_before_its_end_and_nothing_after_it() -> None:
    late: list[Callable[[str], None]] = []
    told = asyncio.Event()

    async def tell(args: dict[str, object], context: ToolContext) -> ToolResult:
        context.update("half")
        await asyncio.sleep(0)
        context.update("whole")
        late.append(context.update)
        told.set()
        return ToolResult("")

    async def tell_late(args: dict[str, object], context: ToolContext) -> ToolResult:
        await told.wait()
        for _ in range(3):
            await asyncio.sleep(0)
        late[0]("too late")
        return ToolResult("")

    tools = tools_of(tool("tell", tell), tool("late", tell_late))
    found = await run(call("c1", "tell"), call("c2", "late"), tools=tools)
    assert found.steps[:6] == ["start c1", "start c2", "half c1", "whole c1", "end c1", "end c2"]
    late[0]("much too late")


async def test_what_a_tool_tells_is_seen_while_it_runs() -> None:
    seen = asyncio.Event()

    async def tell(args: dict[str, object], context: ToolContext) -> ToolResult:
        context.update("going on")
        await seen.wait()
        return ToolResult("done")

    def watch(run: Run, event: AgentEvent) -> None:
        if isinstance(event, ToolExecutionUpdate):
            seen.set()

    found = await run(call("c1", "tell"), tools=tools_of(tool("tell", tell)), watch=watch)
    assert found.results == [("c1", "done")]


# Terminate.


def ending(terminate: bool | None) -> Execute:
    async def end(args: dict[str, object], context: ToolContext) -> ToolResult:
        return ToolResult("", terminate=terminate)

    return end


@pytest.mark.parametrize(
    ("names", "asked"),
    [
        (["yes"], 1),
        (["yes", "yes"], 1),
        (["yes", "no"], 2),
        (["yes", "silent"], 2),
        (["yes", "nobody"], 2),
        (["yes", "broken"], 2),
    ],
)
async def test_the_model_is_not_asked_again_if_all_tools_say_so(
    names: list[str], asked: int
) -> None:
    model = ScriptedModel(wants(*(call(name, name) for name in names)), says("bye"))
    answers = [tool("yes", ending(True)), tool("no", ending(False)), tool("silent", ending(None))]
    tools = tools_of(*answers, tool("broken", fails_with(ValueError("broken"))))
    found = await Run(model, tools).to_the_end()
    assert model.asked == asked
    assert faults(found.events, found.context.messages) == []


# An answer that was cut.


@pytest.mark.parametrize("mode", ["parallel", "sequential"])
async def test_of_an_answer_that_was_cut_nothing_runs_and_each_call_is_told_why(mode: str) -> None:
    calls = [call("c1"), call("c2", "nobody")]
    cut: list[StreamEvent] = [StreamDone(AssistantMessage([*calls], "length"))]
    asked: list[str] = []

    async def before(tool: Any, call: ToolCallContent, args: Any, cancel: CancelToken) -> Any:
        asked.append(call.id)

    model = ScriptedModel(cut, says("bye"))
    tools = tools_of(tool("echo", fails_with(AssertionError("it ran"))))
    found = await Run(model, tools, before_tool_call=before, tool_execution=mode).to_the_end()
    assert (asked, model.asked) == ([], 2)
    assert found.steps == [
        f"{step} {one}" for one in ("c1", "c2") for step in ("start", "end", "told")
    ]
    for _, text in found.results:
        assert text.startswith("输出被 token 上限切断")


async def test_a_model_that_is_cut_again_and_again_meets_the_limit_of_turns() -> None:
    cut: list[StreamEvent] = [StreamDone(AssistantMessage([call("c1")], "length"))]
    model = ScriptedModel(cut)

    async def three_turns(turn: Turn) -> bool:
        return model.asked == 3

    found = await Run(model, should_stop_after_turn=three_turns).to_the_end()
    assert (model.asked, len(found.results)) == (3, 3)
    assert faults(found.events, found.context.messages) == []


# Failures.


async def test_a_tool_or_a_hook_that_fails_is_a_result_and_its_neighbours_run() -> None:
    async def before(tool: Any, call: ToolCallContent, args: Any, cancel: CancelToken) -> Any:
        if call.id == "c2":
            raise ValueError("in front")
        return args

    async def after(call: ToolCallContent, args: Any, result: ToolResult, cancel: Any) -> Any:
        if call.id == "c3":
            raise ValueError("behind")
        return result

    def prepare(args: dict[str, object]) -> dict[str, object]:
        raise ValueError("unprepared")

    tools = tools_of(
        tool("echo"),
        tool("fail", fails_with(ValueError("boom"))),
        tool("p", prepare_arguments=prepare),
    )
    calls = [call("c1", "fail"), call("c2"), call("c3"), call("c4", "p"), call("c5")]
    found = await run(*calls, tools=tools, before_tool_call=before, after_tool_call=after)
    assert [text for _, text in found.results] == [
        "工具执行失败：boom",
        "工具执行失败：in front",
        "工具执行失败：behind",
        "工具执行失败：unprepared",
        "c5",
    ]


class NoFailureError(BaseException):
    """What nobody who catches Exception catches."""


@pytest.mark.parametrize("leaving", [KeyboardInterrupt, SystemExit, NoFailureError])
@pytest.mark.parametrize("place", ["tool", "before", "after"])
def test_what_ends_a_program_goes_through_at_once_and_leaves_pairs(
    leaving: type[BaseException], place: str
) -> None:
    async def leave(*values: Any) -> Any:
        raise leaving

    tools = tools_of(tool("deaf", deaf), tool("leave", leave if place == "tool" else echo))
    hooks: dict[str, Any] = {} if place == "tool" else {f"{place}_tool_call": leave}
    model = ScriptedModel(wants(call("c1", "deaf"), call("c2", "leave")))
    found = Run(model, tools, **hooks)
    with pytest.raises(leaving):
        asyncio.run(found.to_the_end())
    assert found.results == [("c1", "已取消"), ("c2", "已取消")]
    assert model.open_streams == 0


# A cancel.


def cancel_on(kind: str, which: int = 1) -> Callable[[Run, AgentEvent], None]:
    def watch(run: Run, event: AgentEvent) -> None:
        if run.kinds.count(kind) == which and event.type == kind:
            run.cancel.cancel()

    return watch


async def test_cancelled_before_the_tools_none_of_them_runs() -> None:
    tools = tools_of(tool("never", fails_with(AssertionError("it ran"))))
    calls = [call("c1", "never"), call("c2", "never"), call("c3", "nobody")]
    found = await run(*calls, tools=tools, watch=cancel_on("tool_execution_start", 2))
    assert found.results == [("c1", "已取消"), ("c2", "已取消"), ("c3", "已取消")]
    assert found.kinds[-2:] == ["turn_end", "agent_end"]


async def test_cancelled_in_front_of_a_tool_that_must_be_alone_the_later_ones_do_not_run() -> None:
    tools = tools_of(tool("echo", execution_mode="sequential"))
    calls = [call("c1"), call("c2"), call("c3")]
    found = await run(*calls, tools=tools, watch=cancel_on("tool_execution_end"))
    assert found.results == [("c1", "c1"), ("c2", "已取消"), ("c3", "已取消")]


async def cancel_inside(args: dict[str, object], context: ToolContext) -> ToolResult:
    context.cancel.cancel()
    return ToolResult("finished all the same")


async def test_cancelled_while_tools_run_each_ends_as_it_can() -> None:
    tools = tools_of(tool("polite", polite), tool("deaf", deaf), tool("cancel", cancel_inside))
    calls = [call("c1", "polite"), call("c2", "deaf"), call("c3", "cancel")]
    found = await run(*calls, tools=tools)
    assert found.results == [
        ("c1", "stopped"),
        ("c2", "已取消：工具没有停下来，等了 0.01 秒，不再等它"),
        ("c3", "finished all the same"),
    ]
    assert found.kinds.count("turn_start") == 1


async def test_a_tool_that_ignores_all_is_not_waited_for() -> None:
    stop = asyncio.Event()

    async def stubborn(args: dict[str, object], context: ToolContext) -> ToolResult:
        context.cancel.cancel()
        while not stop.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await stop.wait()
        context.update("too late")
        return ToolResult("too late")

    model = ScriptedModel(wants(call("c1", "stubborn")))
    found = await Run(model, tools_of(tool("stubborn", stubborn))).to_the_end()
    assert found.results == [("c1", "已取消：工具没有停下来，等了 0.01 秒，不再等它")]
    (left,) = asyncio.all_tasks() - {asyncio.current_task()}
    stop.set()
    await asyncio.wait([left])
    assert len(found.results) == 1


async def test_after_a_cancel_a_hook_may_still_hide_a_result() -> None:
    async def after(call: ToolCallContent, args: Any, result: ToolResult, cancel: Any) -> Any:
        return ToolResult("hidden")

    tools = tools_of(tool("cancel", cancel_inside))
    found = await run(call("c1", "cancel"), tools=tools, after_tool_call=after)
    assert found.results == [("c1", "hidden")]


async def test_a_tool_that_cancels_itself_has_failed_and_nobody_else() -> None:
    tools = tools_of(tool("echo"), tool("quit", fails_with(asyncio.CancelledError())))
    found = await run(call("c1", "quit"), call("c2"), tools=tools)
    assert found.results == [("c1", "工具执行失败：CancelledError"), ("c2", "c2")]
    assert found.said[-1] == "bye"


# Somebody stops listening.


LAST = ["tool_execution_start", "tool_execution_update", "tool_execution_end"]


@pytest.mark.parametrize("last", ["message_end", *LAST])
@pytest.mark.parametrize("mode", ["parallel", "sequential"])
async def test_who_stops_listening_leaves_pairs_and_nothing_that_runs(last: str, mode: str) -> None:
    async def tell(args: dict[str, object], context: ToolContext) -> ToolResult:
        context.update("going on")
        return ToolResult("told")

    tools = tools_of(tool("tell", tell), tool("deaf", deaf))
    model = ScriptedModel(wants(call("c1", "tell"), call("c2", "deaf"), call("c3", "tell")))
    run = Run(model, tools, tool_execution=mode)
    async with aclosing(run.start()) as events:
        async for event in events:
            if event.type == last and len(run.context.messages) > 1:
                break
    assert [one for one, _ in run.results] == ["c1", "c2", "c3"]
    assert {text for _, text in run.results} <= {"told", "已取消"}
    assert await only_this_task()
    if isinstance(event, ToolExecutionEnd):
        assert run.results[0] == ("c1", "told")


async def test_who_is_cancelled_with_the_whole_task_leaves_pairs_and_nothing_that_runs() -> None:
    running = asyncio.Event()

    async def wait(args: dict[str, object], context: ToolContext) -> ToolResult:
        running.set()
        await asyncio.Event().wait()
        raise AssertionError("nobody sets that event")

    model = ScriptedModel(wants(call("c1", "wait"), call("c2", "wait")))
    run = Run(model, tools_of(tool("wait", wait)))
    task = asyncio.create_task(run.to_the_end())
    await running.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert run.results == [("c1", "已取消"), ("c2", "已取消")]
    assert await only_this_task()
