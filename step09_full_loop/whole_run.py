"""A run that always ends in order, whatever a callback, a model or a listener raises.

Pi's low-level loop does not promise that: there an exception leaves a listener waiting for ever.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from .agent_events import AgentEvent
from .harness_types import Context, Message, StreamFn
from .loop_config import LoopConfig
from .open_ends import OpenEnds, failed_end
from .run_loop import run_loop
from .tools.registry import ToolRegistry
from .tools.tool_types import ToolContext

NOTHING_TO_ANSWER = "没有可以接着回答的消息"


async def whole_run(
    *,
    prompts: Sequence[Message],
    context: Context,
    tools: ToolRegistry,
    tool_context: ToolContext,
    stream_fn: StreamFn,
    config: LoopConfig,
) -> AsyncGenerator[AgentEvent, None]:
    """Do what `run_loop` does, on `context` itself, and raise nothing: a failure is a message.

    Every start has its end. Without `prompts` the last message of `context` is answered.
    """
    new: list[Message] = []
    ends = OpenEnds()
    try:
        something_to_answer(prompts, context)
        events = run_loop(
            prompts=prompts,
            context=context,
            tools=tools,
            tool_context=tool_context,
            stream_fn=stream_fn,
            config=config,
            new_messages=new,
        )
        async with aclosing(events):
            async for event in events:
                ends.saw(event)
                yield event
    except Exception as error:
        for event in failed_end(error, ends, new, context, tool_context.cancel):
            yield event


def something_to_answer(prompts: Sequence[Message], context: Context) -> None:
    """ValueError if nobody has said anything that a model could answer."""
    last = context.messages[-1:]
    if not prompts and (not last or last[0].role == "assistant"):
        raise ValueError(NOTHING_TO_ANSWER)
