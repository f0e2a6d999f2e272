"""Every tool call with its result, as a model service demands it, whatever a file has lost."""

from collections.abc import Iterable, Iterator

from ..harness_types import (
    AssistantMessage,
    Message,
    TextContent,
    ToolCallContent,
    ToolResultMessage,
    tool_calls_of,
)

INTERRUPTED = "上次运行在此中断，工具没有执行完"


def paired(messages: Iterable[Message]) -> list[Message]:
    """Return the messages with one result a call, right behind the calls and in their order.

    A call without a result gets one that is an error. A result without a call is left out.
    """
    history: list[Message] = []
    calls: list[ToolCallContent] = []
    results: list[ToolResultMessage] = []
    for message in messages:
        if isinstance(message, ToolResultMessage):
            results.append(message)
            continue
        history += [*answers(calls, results), message]
        calls = tool_calls_of(message) if isinstance(message, AssistantMessage) else []
        results = []
    return [*history, *answers(calls, results)]


def made_up(history: Iterable[Message], messages: Iterable[Message]) -> list[int]:
    """Return the places in `history` of the results that `paired` has added to `messages`."""
    known = set(map(id, messages))
    return [place for place, message in enumerate(history) if id(message) not in known]


def answers(
    calls: list[ToolCallContent], results: list[ToolResultMessage]
) -> Iterator[ToolResultMessage]:
    """Give the result of each call, in order. Where two share an id, the first takes the first."""
    for call in calls:
        found = next((result for result in results if result.tool_call_id == call.id), None)
        if found is None:
            yield ToolResultMessage(call.id, call.name, [TextContent(INTERRUPTED)], is_error=True)
        else:
            results.remove(found)
            yield found
