"""What others may decide for the loop. It asks; whoever configures it answers.

Each field is a callback of Pi's `AgentLoopConfig`. The defaults answer nothing, and with them the
loop is that of the chapter.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from .cancel import CancelToken
from .harness_types import (
    AssistantMessage,
    Context,
    Message,
    StreamFn,
    StreamOptions,
    ToolCallContent,
    ToolResultMessage,
)
from .tools.registry import ToolRegistry
from .tools.tool_types import ExecutionMode, ToolDefinition, ToolResult


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn that has ended, for whoever decides what comes next.

    `new_messages` are those of the run so far. Both lists are those of the loop: look, and change
    nothing.
    """

    message: AssistantMessage
    tool_results: Sequence[ToolResultMessage]
    context: Context
    new_messages: Sequence[Message]


@dataclass(frozen=True, slots=True)
class NextTurn:
    """What is another from the next turn on; None stays as it is."""

    context: Context | None = None
    tools: ToolRegistry | None = None
    stream_fn: StreamFn | None = None


async def no_messages() -> Sequence[Message]:
    return ()


async def no_change(turn: Turn) -> NextTurn | None:
    return None


async def no_stop(turn: Turn) -> bool:
    return False


async def all_messages(messages: Sequence[Message]) -> Sequence[Message]:
    return messages


async def same_arguments(
    tool: ToolDefinition,
    tool_call: ToolCallContent,
    arguments: dict[str, object],
    cancel: CancelToken,
) -> dict[str, object] | ToolResult:
    return arguments


async def same_result(
    tool_call: ToolCallContent,
    arguments: dict[str, object],
    result: ToolResult,
    cancel: CancelToken,
) -> ToolResult:
    return result


@dataclass(frozen=True, slots=True)
class LoopConfig:
    """The callbacks of the loop, in the order in which it asks them.

    - `get_steering_messages`: what the user has said meanwhile. It goes into the next turn.
    - `transform_context`, `convert_to_llm`: which messages the model sees, and in which form. The
      history itself stays as it is.
    - `before_tool_call`: the arguments to run a call with, or the result if it must not run. They
      are not checked again. `after_tool_call`: the result that counts.
    - `prepare_next_turn`, `should_stop_after_turn`: asked after each turn that has not failed.
    - `get_follow_up_messages`: asked when the loop has nothing left to do.

    With `tool_execution` "sequential" no two tools run at the same time.
    """

    get_steering_messages: Callable[[], Awaitable[Sequence[Message]]] = no_messages
    transform_context: Callable[[Sequence[Message]], Awaitable[Sequence[Message]]] = all_messages
    convert_to_llm: Callable[[Sequence[Message]], Awaitable[Sequence[Message]]] = all_messages
    before_tool_call: Callable[
        [ToolDefinition, ToolCallContent, dict[str, object], CancelToken],
        Awaitable[dict[str, object] | ToolResult],
    ] = same_arguments
    after_tool_call: Callable[
        [ToolCallContent, dict[str, object], ToolResult, CancelToken], Awaitable[ToolResult]
    ] = same_result
    prepare_next_turn: Callable[[Turn], Awaitable[NextTurn | None]] = no_change
    should_stop_after_turn: Callable[[Turn], Awaitable[bool]] = no_stop
    get_follow_up_messages: Callable[[], Awaitable[Sequence[Message]]] = no_messages
    tool_execution: ExecutionMode = "parallel"
    stream_options: StreamOptions = field(default_factory=StreamOptions)


class MaxTurns:
    """A `should_stop_after_turn` that lets the model ask for tools so many times in a row.

    The loop itself has no limit. `reached` says whether this one has stopped the last run.
    """

    def __init__(self, max_turns: int = 8) -> None:
        self.max_turns = max_turns
        self.reached = False
        self._turns = 0
        self._run: Sequence[Message] = ()

    async def __call__(self, turn: Turn) -> bool:
        """Return whether the model wants another turn, and has had them all."""
        if turn.new_messages is not self._run:
            self._run, self._turns = turn.new_messages, 0
        self._turns = self._turns + 1 if turn.tool_results else 0
        self.reached = self._turns >= self.max_turns
        return self.reached
