"""An agent: the loop with a memory of its own, queues, and listeners (`Agent` of Pi)."""

import inspect
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace

from .agent_events import AgentEnd, AgentEvent, MessageEnd, MessageStart
from .agent_state import AgentState
from .cancel import CancelToken
from .harness_types import Context, Message, StreamFn, TurnEnd, user_text
from .loop_config import LoopConfig
from .open_ends import OpenEnds, failure
from .queues import Queues
from .run_loop import run_loop
from .tools.quoting import error_text
from .tools.registry import ToolRegistry
from .tools.tool_types import ToolContext
from .whole_run import NOTHING_TO_ANSWER

# It may be an async function or a plain one. The run waits for it.
Listener = Callable[[AgentEvent, CancelToken], Awaitable[None] | None]


class Agent:
    """Holds a conversation with `stream_fn`, and tells its listeners all that happens.

    One run at a time. `config` may decide all but what the queues are for.
    """

    def __init__(
        self,
        stream_fn: StreamFn,
        *,
        tools: ToolRegistry,
        tool_context: ToolContext,
        messages: list[Message] | None = None,
        system_prompt: str = "",
        config: LoopConfig | None = None,
        queues: Queues | None = None,
    ) -> None:
        self.state = AgentState([] if messages is None else messages)
        self.queues = queues or Queues()
        self._stream_fn = stream_fn
        self._tools = tools
        self._tool_context = tool_context
        self._system_prompt = system_prompt
        self._config = config or LoopConfig()
        self._listeners: list[Listener] = []
        self.cancel = tool_context.cancel  # That of this run, or of the next one.

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with every event from now on; return what ends that.

        A listener that raises ends the run with its error, and the others hear of it.
        """
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    async def prompt(self, *texts: str) -> None:
        """Answer what the user says. RuntimeError while a run goes on; `steer` is for that."""
        await self._run([user_text(text) for text in texts])

    async def continue_(self) -> None:
        """Answer the last message; after an answer, what waits in the queues.

        ValueError if there is neither, RuntimeError while a run goes on.
        """
        answered = bool(self.state.messages) and self.state.messages[-1].role == "assistant"
        if self.state.messages and not answered:
            await self._run([])
        elif answered and self.queues.steering.waiting and not self.state.is_streaming:
            await self._run(self.queues.steering.take(), skip_poll=True)
        elif answered and self.queues.follow_ups.waiting and not self.state.is_streaming:
            await self._run(self.queues.follow_ups.take())
        else:
            raise ValueError(NOTHING_TO_ANSWER)

    def steer(self, text: str) -> None:
        """Say something in the middle of a run: the model gets it with the next turn."""
        self.queues.steering.put(user_text(text))

    def follow_up(self, text: str) -> None:
        """Say something for later: the model gets it when it has nothing left to do."""
        self.queues.follow_ups.put(user_text(text))

    def abort(self) -> None:
        """Stop the run, if there is one. What waits in the queues stays there."""
        if self.state.is_streaming:
            self.cancel.cancel()

    async def _run(self, prompts: Sequence[Message], *, skip_poll: bool = False) -> None:
        if self.state.is_streaming:
            raise RuntimeError("上一轮还没有结束；要插话请用 steer 或 follow_up")
        state, new, ends = self.state, list[Message](), OpenEnds()
        state.is_streaming, state.error_message = True, None
        events = run_loop(
            prompts=prompts,
            context=Context([*state.messages], self._tools.specs(), self._system_prompt),
            tools=self._tools,
            tool_context=replace(self._tool_context, cancel=self.cancel),
            stream_fn=self._stream_fn,
            config=self._config_of_run(skip_poll),
            new_messages=new,
        )
        try:
            async with aclosing(events):
                async for event in events:
                    ends.saw(event)
                    await self._tell(event)
        except Exception as error:
            await self._end_in_order(error, ends, new)
        finally:
            state.messages += new[ends.messages :]  # Whoever was cancelled has told nobody.
            state.is_streaming = False
            state.pending_tool_calls.clear()
            self.cancel = CancelToken(grace=self.cancel.grace)

    def _config_of_run(self, skip_poll: bool) -> LoopConfig:
        """Let the loop ask the queues; not the first time if it has begun with what was there."""

        async def steering() -> Sequence[Message]:
            nonlocal skip_poll
            skipped, skip_poll = skip_poll, False
            return [] if skipped else self.queues.steering.take()

        async def follow_ups() -> Sequence[Message]:
            return self.queues.follow_ups.take()

        return replace(
            self._config, get_steering_messages=steering, get_follow_up_messages=follow_ups
        )

    async def _tell(self, event: AgentEvent) -> None:
        """Note what an event changes, and tell all listeners; then raise their first error."""
        self.state.note(event)
        errors: list[Exception] = []
        for listener in [*self._listeners]:
            try:
                answer = listener(event, self.cancel)
                if inspect.isawaitable(answer):
                    await answer
            except Exception as error:
                errors.append(error)
        if errors:
            raise errors[0]

    async def _end_in_order(self, error: Exception, ends: OpenEnds, new: list[Message]) -> None:
        """Tell what is missing, and that the run has failed. Pi tells it in the same way."""
        self.state.error_message = error_text(error)
        message = failure(error, self.cancel)
        last: list[AgentEvent] = [
            MessageStart(message),
            MessageEnd(message),
            TurnEnd(ends.turn, message),
            AgentEnd([message]),
        ]
        for event in [*ends.closing(new), *([] if ends.over else last)]:
            ends.saw(event)
            with suppress(Exception):
                await self._tell(event)
