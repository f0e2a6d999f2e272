"""The tool calls of one answer: which of them run, when, and in which order that is told.

By default all of them run at the same time (`executeToolCalls` of Pi). The order of the starts is
that of the calls, the order of the ends is how they come, and the results go into the history in
the order of the calls again.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence, Set

from .agent_events import (
    AgentEvent,
    MessageEnd,
    MessageStart,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
)
from .cancel import CANCELLED
from .harness_types import (
    AssistantMessage,
    Message,
    TextContent,
    ToolCallContent,
    ToolResultMessage,
    tool_calls_of,
)
from .loop_config import LoopConfig
from .tool_call import Ready, executed, prepared
from .tools.registry import ToolRegistry
from .tools.tool_types import ToolContext, ToolResult

CUT = "输出被 token 上限切断，这次调用的参数可能不完整，没有执行。请重新发起"


class ToolBatch:
    """The calls of `message`. `keep` puts a result into the history."""

    def __init__(
        self,
        message: AssistantMessage,
        tools: ToolRegistry,
        tool_context: ToolContext,
        config: LoopConfig,
        keep: Callable[[Message], None],
    ) -> None:
        self.calls = tool_calls_of(message)
        self.results: list[ToolResultMessage] = []  # Those that are in the history.
        self._cut = message.stop_reason == "length"
        self._running: Set[int] = frozenset()  # The places of those that have been started.
        self._ended: dict[int, ToolResult] = {}
        self._news: asyncio.Queue[AgentEvent | BaseException] = asyncio.Queue()
        self._tools = tools
        self._tool_context = tool_context
        self._cancel = tool_context.cancel
        self._config = config
        self._keep = keep

    @property
    def terminate(self) -> bool:
        """Whether every tool has said that the model need not be asked again."""
        return all(result.terminate for result in self._ended.values())

    async def events(self) -> AsyncGenerator[AgentEvent, None]:
        """Run the calls, and tell what happens as it happens.

        All calls of a group pass their gates one after the other, and then run at the same time.
        Close the generator if you leave it early, and call `answer_the_rest` in any case.
        """
        for group in self._groups():
            passed: dict[int, Ready] = {}
            for place in group:
                yield ToolExecutionStart(self.calls[place])
                ready = await self._prepared(self.calls[place])
                if isinstance(ready, Ready):
                    passed[place] = ready
                else:
                    yield self._end(place, ready)
            self._running = passed.keys()
            tasks = self._started(passed)
            try:
                with self._cancel.calling(self._set_a_limit):
                    if tasks:
                        await asyncio.sleep(0)  # Most tools need no more than that.
                    while not self._news.empty() or self._running - self._ended.keys():
                        event = await self._news.get()
                        if isinstance(event, BaseException):
                            raise event
                        yield event
            finally:
                left = [task for task in tasks if task.cancel()]
                if left:  # A task that ignores this as well goes on without us.
                    await asyncio.wait(left, timeout=self._cancel.grace / 10)
            for place in group:
                message = self._into_history(place)
                yield MessageStart(message)
                yield MessageEnd(message)

    def answer_the_rest(self) -> None:
        """Answer the calls that are still open, whatever has ended the batch.

        Somebody may stop listening, or a callback may raise. A call without a result would make
        the history useless; a result that is there already counts.
        """
        for place in range(len(self.results), len(self.calls)):
            self._ended.setdefault(place, ToolResult(CANCELLED, is_error=True))
            self._into_history(place)

    def _groups(self) -> Sequence[Sequence[int]]:
        """Return the places of the calls that run together: all, or each alone."""
        places = range(len(self.calls))
        named = [self._tools.get(call.name) for call in self.calls]
        alone = any(tool and tool.execution_mode == "sequential" for tool in named)
        if alone or self._cut or self._config.tool_execution == "sequential":
            return [[place] for place in places]
        return [places]

    async def _prepared(self, call: ToolCallContent) -> Ready | ToolResult:
        if self._cut:  # Any of the arguments may be incomplete, so no hook is asked either.
            return ToolResult(CUT, is_error=True)
        return await prepared(call, self._tools, self._config, self._cancel)

    def _started(self, passed: Mapping[int, Ready]) -> list[asyncio.Task[None]]:
        """Start calls, each in a task of its own, unless nobody wants them any more."""
        if not self._cancel.cancelled:
            return [asyncio.create_task(self._run(*one)) for one in passed.items()]
        for place in passed:
            self._news.put_nowait(self._end(place, ToolResult(CANCELLED, is_error=True)))
        return []

    def _set_a_limit(self) -> None:
        """The run was cancelled: the tools have `cancel.grace` seconds to end by themselves."""
        asyncio.get_running_loop().call_later(self._cancel.grace, self._give_up)

    def _give_up(self) -> None:
        seconds = f"{self._cancel.grace:g}"
        late = f"{CANCELLED}：工具没有停下来，等了 {seconds} 秒，不再等它"
        for place in self._running - self._ended.keys():
            self._news.put_nowait(self._end(place, ToolResult(late, is_error=True)))

    async def _run(self, place: int, ready: Ready) -> None:
        """Run one call, and tell how it goes."""
        updates = []

        def update(text: str) -> None:
            if place not in self._ended:  # Nobody listens to what comes later.
                updates.append(ToolExecutionUpdate(ready.tool_call, text))
                self._news.put_nowait(updates[-1])

        context = ToolContext(self._tool_context.cwd, self._cancel, update)
        try:
            alone = len(self._running) == 1
            result = await executed(ready, context, self._config, alone=alone)
            if updates and not alone:
                await asyncio.sleep(0)  # They are told before its end.
            if place not in self._ended:
                self._news.put_nowait(self._end(place, result))
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            self._news.put_nowait(error)  # Some of these would end the event loop from in here.

    def _end(self, place: int, result: ToolResult) -> ToolExecutionEnd:
        self._ended[place] = result
        return ToolExecutionEnd(self.calls[place], result)

    def _into_history(self, place: int) -> ToolResultMessage:
        call, result = self.calls[place], self._ended[place]
        content = [TextContent(result.content)]
        message = ToolResultMessage(call.id, call.name, content, result.is_error)
        self.results.append(message)
        self._keep(message)
        return message
