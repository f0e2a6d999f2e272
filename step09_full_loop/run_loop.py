"""The whole loop: the trunk of chapter 8.3, and what Pi hangs on it (`runLoop` in agent-loop.ts).

It prints nothing. It yields events for people and appends messages for the model.
"""

from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import replace

from .agent_events import AgentEnd, AgentEvent, AgentStart, MessageEnd, MessageStart
from .asking import ask_model
from .harness_types import Context, Message, StreamFn, TurnEnd, TurnStart
from .loop_config import LoopConfig, Turn
from .tool_batch import ToolBatch
from .tools.registry import ToolRegistry
from .tools.tool_types import ToolContext

FAILED = ("error", "aborted")


async def run_loop(
    *,
    prompts: Sequence[Message],
    context: Context,
    tools: ToolRegistry,
    tool_context: ToolContext,
    stream_fn: StreamFn,
    config: LoopConfig,
    new_messages: list[Message] | None = None,
) -> AsyncGenerator[AgentEvent, None]:
    """Answer `prompts`, and what is said meanwhile, appending to `context.messages` in place.

    The run ends when no tool is wanted and nobody has said anything more, when the model fails,
    when `config.should_stop_after_turn` says so, and when `tool_context.cancel` is cancelled: then
    nobody is asked anything more. `new_messages` gets what the run adds. What a callback or the
    model raises goes through; `whole_run` makes an orderly end of it. Close the generator if you
    leave it early (`aclosing`): also then no call is left without a result.
    """
    new = [] if new_messages is None else new_messages
    cancel = tool_context.cancel
    options = replace(config.stream_options, cancel=cancel)

    def keep(message: Message) -> None:
        context.messages.append(message)
        new.append(message)

    yield AgentStart()
    yield TurnStart(turn := 1)
    for event in told(prompts, keep):
        yield event
    pending = [] if cancel.cancelled else await config.get_steering_messages()
    while True:
        more = True
        while more or pending:  # The inner loop: tools, and what the user says while they run.
            if turn > 1:
                yield TurnStart(turn)
            for event in told(pending, keep):
                yield event

            # First: ask the model, and pass on what it says as it comes.
            async with aclosing(ask_model(context, config, stream_fn, options, keep)) as events:
                async for event in events:
                    yield event
            message = new[-1]
            assert message.role == "assistant"
            if message.stop_reason in FAILED:
                yield TurnEnd(turn, message)
                yield AgentEnd(new)
                return

            # Second and third: run the tools that it wants; each result goes into the context.
            batch = ToolBatch(message, tools, tool_context, config, keep)
            try:
                async with aclosing(batch.events()) as events:
                    async for event in events:
                        yield event
            finally:
                batch.answer_the_rest()
            more = bool(batch.calls) and not batch.terminate

            # Fourth: once more from the top, unless somebody objects.
            yield TurnEnd(turn, message, batch.results)
            turn += 1
            if not cancel.cancelled:
                changed = await config.prepare_next_turn(Turn(message, batch.results, context, new))
                if changed is not None:
                    context = changed.context or context
                    tools, stream_fn = changed.tools or tools, changed.stream_fn or stream_fn
            ended = Turn(message, batch.results, context, new)
            if cancel.cancelled or await config.should_stop_after_turn(ended) or cancel.cancelled:
                yield AgentEnd(new)
                return
            pending = await config.get_steering_messages()

        # The outer loop: all is done, unless the user has left a follow-up.
        pending = [] if cancel.cancelled else await config.get_follow_up_messages()
        if not pending:
            yield AgentEnd(new)
            return


def told(messages: Sequence[Message], keep: Callable[[Message], None]) -> Iterator[AgentEvent]:
    """Give the events of messages that are complete, and keep them."""
    for message in messages:
        keep(message)
        yield MessageStart(message)
        yield MessageEnd(message)
