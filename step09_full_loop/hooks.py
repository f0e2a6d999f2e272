"""Hooks: what others may add to the loop without editing it."""

import asyncio
import copy
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from .agent_events import AgentEvent
from .cancel import CANCELLED, CancelToken, StoppedError, interruptible, is_being_cancelled
from .harness_types import ToolCallContent
from .tools.gate import check_arguments
from .tools.quoting import error_text, quoted
from .tools.tool_types import ToolDefinition, ToolResult

EVENTS = [event.type for event in get_args(AgentEvent)]
NAMES = ["before_tool_call", "after_tool_call", *EVENTS]

# What a hook gets follows from its name. It may be an async function or a plain one.
Handler = Callable[..., object]


@dataclass(frozen=True, slots=True)
class Block:
    """The answer of a hook that forbids a call; `reason` is for the model."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """The answer of a hook that lets a call pass with other arguments."""

    arguments: dict[str, object]


@dataclass(eq=False, slots=True)
class Hook:
    """A handler and whose it is. `reported`: that it failed has been said."""

    name: str
    handler: Handler
    owner: str
    reported: bool = False

    async def answer(self, *values: object, cancel: CancelToken, grace: float = 0.0) -> object:
        """Call the handler; StoppedError if it is not done `grace` seconds after a cancel."""
        try:
            return await interruptible(lambda: called(self.handler, values), cancel, grace=grace)
        except asyncio.CancelledError:
            if is_being_cancelled():
                raise
            raise RuntimeError("CancelledError") from None

    def failure(self, error: Exception) -> str:
        """Return a sentence about what the handler raised."""
        return f"{self.owner} 的钩子 {self.name} 出错：{quoted(error_text(error))}"


async def called(handler: Handler, values: Sequence[object]) -> object:
    answer = handler(*values)
    return await answer if inspect.isawaitable(answer) else answer


class Hooks:
    """All hooks of a conversation, in the order in which they were registered.

    `report` gets a sentence for the user about a hook that only looks on and has failed.
    """

    def __init__(self, report: Callable[[str], None] = print) -> None:
        self._hooks: list[Hook] = []
        self._report = report

    def on(self, name: str, handler: Handler, owner: str = "") -> None:
        """Register a hook: `name` is an event, before_tool_call or after_tool_call.

        ValueError if it is none of these.
        """
        if name not in NAMES:
            raise ValueError(f"没有叫 {name} 的钩子，可以用：{'、'.join(NAMES)}")
        self._hooks.append(Hook(name, handler, owner))

    async def before_tool_call(
        self,
        tool: ToolDefinition,
        tool_call: ToolCallContent,
        arguments: dict[str, object],
        cancel: CancelToken,
    ) -> dict[str, object] | ToolResult:
        """Ask each hook about a call; return the arguments to run it with, or why it must not run.

        A hook gets a copy of the call, and answers None, Block or Change. What it changes is
        validated, and is what the hooks behind it see. A hook that fails blocks the call.
        """
        for hook in self._named("before_tool_call"):
            match await opinion(hook, tool_call, arguments, cancel):
                case Block(reason=reason):
                    return ToolResult(reason, is_error=True)
                case Change(arguments=changed):
                    checked = check_arguments(tool.parameters, changed)
                    if not checked.ok:
                        return ToolResult(
                            f"参数校验失败：{'；'.join(checked.errors)}", is_error=True
                        )
                    arguments = checked.value
        return arguments

    async def after_tool_call(
        self,
        tool_call: ToolCallContent,
        arguments: dict[str, object],
        result: ToolResult,
        cancel: CancelToken,
    ) -> ToolResult:
        """Show each hook a call that has run and its result; return the result that counts.

        A hook answers None or another ToolResult. If it fails, that is the result. It is asked
        after a cancel too, and what it could not look at in time is kept from the model.
        """
        for hook in self._named("after_tool_call"):
            call = replace(tool_call, arguments=arguments)
            result = await review(hook, call, result, cancel)
        return result

    async def observe(self, event: AgentEvent, cancel: CancelToken) -> None:
        """Show an event of a run to the hooks that are registered for it."""
        for hook in self._named(event.type):
            await self._show(hook, event, cancel)

    async def _show(self, hook: Hook, event: AgentEvent, cancel: CancelToken) -> None:
        try:
            await hook.answer(copy.deepcopy(event), cancel=cancel, grace=cancel.grace)
        except StoppedError:
            pass
        except Exception as error:
            if not hook.reported:
                hook.reported = True
                self._report(hook.failure(error))

    def _named(self, name: str) -> list[Hook]:
        return [hook for hook in self._hooks if hook.name == name]


async def opinion(
    hook: Hook, tool_call: ToolCallContent, arguments: dict[str, object], cancel: CancelToken
) -> Block | Change | None:
    """Return what a hook says of a call. When in doubt, it must not run."""
    try:
        call = replace(tool_call, arguments=copy.deepcopy(arguments))
        answer = await hook.answer(call, cancel=cancel)
    except StoppedError:
        return Block(CANCELLED)
    except Exception as error:
        return Block(hook.failure(error))
    match answer:
        case _ if cancel.cancelled:
            return Block(CANCELLED)
        case None | Change() | Block(reason=str()):
            return answer
    return Block(hook.failure(TypeError("只能返回 None、Block(文字) 或 Change(参数)")))


async def review(
    hook: Hook, call: ToolCallContent, result: ToolResult, cancel: CancelToken
) -> ToolResult:
    """Return what a hook makes of a result."""
    try:
        shown = copy.deepcopy(call), replace(result)
        answer = await hook.answer(*shown, cancel=cancel, grace=cancel.grace)
    except StoppedError as stopped:
        return ToolResult(str(stopped), is_error=True)
    except Exception as error:
        return ToolResult(hook.failure(error), is_error=True)
    match answer:
        case None:
            return result
        case ToolResult(content=str()):
            return answer
    wrong = TypeError("只能返回 None 或 ToolResult(文字)")
    return ToolResult(hook.failure(wrong), is_error=True)
