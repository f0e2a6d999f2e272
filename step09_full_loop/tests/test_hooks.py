"""Hooks: who may look on, who may change a call, who may forbid it, and what if they fail."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any, get_args

import pytest

from shared.pairing import pairing_faults

from ..agent_events import AgentEvent, ToolExecutionEnd, ToolExecutionStart
from ..agent_loop import run_agent_loop
from ..cancel import CancelToken
from ..harness_types import Context, ToolCallContent, message_text, user_text
from ..hooks import Block, Change, Hooks
from ..loop_config import LoopConfig
from ..run_loop import run_loop
from ..tools import create_builtin_tools
from ..tools.registry import ToolRegistry
from ..tools.tool_types import ToolContext, ToolDefinition, ToolResult
from .scripted_model import VALUE, ScriptedModel, says, wants

Before = Callable[[ToolCallContent], Any]


async def results(
    hooks: Hooks,
    name: str = "calc",
    cwd: Path | None = None,
    tools: ToolRegistry | None = None,
    **arguments: object,
) -> list[tuple[str, bool]]:
    """Let a model make one call under `hooks`, and return what came of it."""
    call = ToolCallContent("c1", name, arguments or {"expression": "1+1"})
    context = Context([user_text("go")])
    model = ScriptedModel(wants(call), says("bye"))
    events = run_agent_loop(
        stream_fn=model,
        context=context,
        tools=tools or create_builtin_tools(),
        tool_context=ToolContext(cwd or Path.cwd()),
        hooks=hooks,
    )
    async with aclosing(events):
        async for _ in events:
            pass
    assert model.asked == 2, "a hook ended the run"
    assert pairing_faults(context.messages) == []
    found = [m for m in context.messages if m.role == "toolResult"]
    return [(message_text(m), m.is_error) for m in found]


def before(*handlers: Before) -> Hooks:
    hooks = Hooks()
    for number, handler in enumerate(handlers, 1):
        hooks.on("before_tool_call", handler, f"h{number}")
    return hooks


async def test_a_hook_may_have_no_opinion() -> None:
    assert await results(before(lambda call: None)) == [("2", False)]


async def test_a_hook_may_forbid_a_call_and_the_model_gets_the_reason() -> None:
    assert await results(before(lambda call: Block("not today"))) == [("not today", True)]
    assert await results(before(lambda call: Block())) == [("工具调用被拦下", True)]


async def test_the_first_one_that_forbids_is_the_one_that_counts() -> None:
    hooks = before(lambda call: Block("first"), lambda call: Block("second"))
    assert await results(hooks) == [("first", True)]


async def test_a_hook_may_be_an_async_function() -> None:
    async def forbid(call: ToolCallContent) -> Block:
        return Block("later")

    assert await results(before(forbid)) == [("later", True)]


async def test_a_hook_may_change_the_arguments_and_the_next_one_sees_that() -> None:
    seen = []
    hooks = before(
        lambda call: Change({"expression": "3+4"}), lambda call: seen.append(call.arguments)
    )
    assert await results(hooks) == [("7", False)]
    assert seen == [{"expression": "3+4"}]


async def test_to_change_what_it_was_given_has_no_effect() -> None:
    def in_place(call: ToolCallContent) -> None:
        call.arguments["expression"] = "3+4"

    assert await results(before(in_place)) == [("2", False)]


async def test_what_a_hook_changes_is_validated_like_what_a_model_says() -> None:
    hooks = before(lambda call: Change({"expr": "3+4"}))
    assert await results(hooks) == [
        ('参数校验失败：缺少必填参数 expression；收到的参数：{"expr": "3+4"}', True)
    ]


async def test_a_tool_looks_again_at_what_a_later_hook_has_changed(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello", "utf-8")
    hooks = before(lambda call: None, lambda call: Change({"path": "../secret.txt"}))
    refused = [("拒绝访问工作目录之外的路径：../secret.txt", True)]
    assert await results(hooks, "read_file", tmp_path, path="a.txt") == refused


@pytest.mark.parametrize("answer", [True, "no", {"expression": "3+4"}, ToolResult("x")])
async def test_a_hook_that_answers_something_else_forbids_the_call(answer: object) -> None:
    ((text, is_error),) = await results(before(lambda call: answer))
    assert (text.startswith("h1 的钩子 before_tool_call 出错"), is_error) == (True, True)


def raising(error: BaseException) -> Callable[..., Any]:
    def handler(*values: object) -> None:
        raise error

    return handler


async def test_a_hook_that_fails_forbids_the_call_to_be_on_the_safe_side() -> None:
    hooks = before(raising(KeyError("path")))
    text = "h1 的钩子 before_tool_call 出错：KeyError: 'path'"
    assert await results(hooks) == [(text, True)]


async def test_nobody_asks_a_hook_about_a_call_that_cannot_run() -> None:
    hooks = before(raising(AssertionError("it was asked")))
    assert await results(hooks, "nobody") == [("未注册的工具：nobody", True)]
    ((text, _),) = await results(hooks, expr="1")
    assert text.startswith("参数校验失败")


async def test_a_hook_may_replace_a_result() -> None:
    hooks = Hooks()
    hooks.on("after_tool_call", lambda call, result: ToolResult(result.content * 2))
    hooks.on("after_tool_call", lambda call, result: ToolResult(result.content, is_error=True))
    hooks.on("after_tool_call", lambda call, result: None)
    assert await results(hooks) == [("22", True)]


async def test_a_hook_that_fails_behind_a_tool_is_the_result() -> None:
    hooks = Hooks()
    hooks.on("after_tool_call", raising(ValueError("broken")), "x.py")
    assert await results(hooks) == [("x.py 的钩子 after_tool_call 出错：broken", True)]


async def test_a_hook_may_replace_what_came_of_a_tool_that_raised() -> None:
    tools = ToolRegistry()
    tools.register(ToolDefinition("calc", "", VALUE, raising(ValueError("secret"))))
    hooks = Hooks()
    hooks.on("after_tool_call", lambda call, result: ToolResult("hidden", is_error=result.is_error))
    assert await results(hooks, tools=tools, value="1") == [("hidden", True)]


async def test_a_call_that_did_not_run_has_no_after() -> None:
    hooks = before(lambda call: Block("no"))
    hooks.on("after_tool_call", raising(AssertionError("it was asked")))
    assert await results(hooks) == [("no", True)]


@pytest.mark.parametrize("answer", ["text", ToolResult(42), Block("no")])  # type: ignore[arg-type]
async def test_a_hook_that_answers_nonsense_behind_a_tool_is_the_result(answer: object) -> None:
    hooks = Hooks()
    hooks.on("after_tool_call", lambda call, result: answer, "x.py")
    ((text, is_error),) = await results(hooks)
    assert text == "x.py 的钩子 after_tool_call 出错：只能返回 None 或 ToolResult(文字)"
    assert is_error


async def test_a_hook_behind_a_tool_sees_what_was_run_and_can_change_nothing_in_place() -> None:
    seen: list[object] = []

    def look(call: ToolCallContent, result: ToolResult) -> None:
        seen.append(dict(call.arguments))
        object.__setattr__(result, "content", "changed")

    hooks = before(lambda call: Change({"expression": "2+2"}))
    hooks.on("after_tool_call", look)
    assert await results(hooks) == [("4", False)]
    assert seen == [{"expression": "2+2"}]


# After a cancel.


async def stopped(hooks: Hooks) -> tuple[str, list[str]]:
    """Cancel a run in its tool; return what the model gets, and the events."""
    cancel = CancelToken(grace=0.05)

    async def tell(args: dict[str, object], context: ToolContext) -> ToolResult:
        cancel.cancel()
        return ToolResult("the key is sk-secret")

    tools = ToolRegistry()
    tools.register(ToolDefinition("calc", "", VALUE, tell))
    context = Context([])
    call = ToolCallContent("c1", "calc", {"value": "1"})
    events = run_loop(
        prompts=[user_text("go")],
        context=context,
        tools=tools,
        tool_context=ToolContext(Path.cwd(), cancel),
        stream_fn=ScriptedModel(wants(call)),
        config=LoopConfig(after_tool_call=hooks.after_tool_call),
    )
    kinds: list[str] = []
    async with aclosing(events):
        async for event in events:
            await hooks.observe(event, cancel)
            kinds.append(event.type)
    return message_text(context.messages[-1]), kinds


async def test_after_a_cancel_too_a_hook_may_replace_a_result_and_others_look_on() -> None:
    seen: list[str] = []
    hooks = Hooks()
    hooks.on("after_tool_call", lambda call, result: ToolResult("hidden"))
    hooks.on("tool_execution_end", lambda event: seen.append(event.result.content))
    hooks.on("turn_end", lambda event: seen.append(event.type))
    text, kinds = await stopped(hooks)
    assert (text, kinds[-2:]) == ("hidden", ["turn_end", "agent_end"])
    assert seen == ["hidden", "turn_end"]


async def test_what_a_hook_cannot_look_at_in_time_is_kept_from_the_model() -> None:
    async def slow(call: ToolCallContent, result: ToolResult) -> ToolResult:
        await asyncio.Event().wait()
        return ToolResult("never")

    hooks = Hooks()
    hooks.on("after_tool_call", slow)
    text, _ = await stopped(hooks)
    assert text.startswith("已取消")


# Looking on.


CALL = ToolCallContent("c1", "calc", {"expression": "1+1"})


async def observed(hooks: Hooks, call: ToolCallContent = CALL) -> None:
    """Show two events of a run to the hooks."""
    for event in (ToolExecutionStart(call), ToolExecutionEnd(call, ToolResult("2"))):
        await hooks.observe(event, CancelToken())


async def test_a_hook_sees_the_events_that_it_has_asked_for() -> None:
    seen: list[str] = []
    hooks = Hooks()
    hooks.on("tool_execution_start", lambda event: seen.append(event.tool_call.name))
    hooks.on("tool_execution_end", lambda event: seen.append(event.result.content))
    hooks.on("turn_end", raising(AssertionError("it was asked")))
    await observed(hooks)
    assert seen == ["calc", "2"]


async def test_who_looks_on_changes_nothing() -> None:
    kept: list[AgentEvent] = []
    hooks = Hooks()
    hooks.on("tool_execution_start", lambda event: event.tool_call.arguments.clear())
    hooks.on("tool_execution_start", lambda event: kept.append(event))
    await observed(hooks)
    assert kept == [ToolExecutionStart(CALL)]
    assert CALL.arguments == {"expression": "1+1"}


async def test_who_looks_on_and_fails_is_told_of_once_and_the_others_go_on() -> None:
    told: list[str] = []
    seen: list[str] = []
    hooks = Hooks(told.append)
    names = ["tool_execution_start", "tool_execution_end"]
    for name in names:
        hooks.on(name, raising(ValueError("broken")), "x.py")
        hooks.on(name, lambda event: seen.append(event.type))
    await observed(hooks)
    await observed(hooks)
    assert told == [f"x.py 的钩子 {name} 出错：broken" for name in names]
    assert seen == names * 2


def test_a_hook_may_ask_for_each_of_the_ten_events() -> None:
    hooks = Hooks()
    for kind in get_args(AgentEvent):
        hooks.on(kind.type, print)
    assert len(get_args(AgentEvent)) == 10


def test_a_hook_has_to_be_for_something_that_there_is() -> None:
    with pytest.raises(ValueError, match="没有叫 tool_end 的钩子，可以用：before_tool_call"):
        Hooks().on("tool_end", print)
