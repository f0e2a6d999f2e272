"""Whether a history is one that a real provider would take: every tool call has its result."""

from collections.abc import Sequence
from typing import Any


def pairing_faults(messages: Sequence[Any]) -> list[str]:
    """Return what is wrong with the pairs of calls and results, in order; nothing if all is well.

    The results belong right behind the assistant message that asked for them, one a call, with the
    call's id, in the order of the calls.
    """
    faults: list[str] = []
    waiting: list[str] = []
    for message in messages:
        if message.role == "toolResult":
            if message.tool_call_id in waiting:
                place = waiting.index(message.tool_call_id)
                faults += map(without_result, waiting[:place])
                del waiting[: place + 1]
            else:
                faults.append(f"result {message.tool_call_id} ({message.tool_name}) has no call")
            continue
        faults += map(without_result, waiting)
        waiting = []
        if message.role == "assistant":
            waiting = [block.id for block in message.content if block.type == "toolCall"]
    return faults + list(map(without_result, waiting))


def without_result(call_id: str) -> str:
    return f"call {call_id} has no result"
