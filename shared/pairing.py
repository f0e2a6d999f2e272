"""Whether a history is one that a real provider would take: every tool call has its result."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .language import say


@dataclass(frozen=True, slots=True)
class Part:
    """What a message has to do with pairs: the ids that it calls with, or the one it answers."""

    calls: tuple[str, ...] = ()
    answers: str | None = None
    tool: str = ""


@dataclass(slots=True)
class Pairing:
    """Which result belongs to which call, by their places in a history, and what is wrong.

    A call is the place of its message and its place in there. `orphans` are results without a call.
    """

    results: dict[tuple[int, int], int] = field(default_factory=dict)
    orphans: list[int] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def pairing_faults(messages: Sequence[Any]) -> list[str]:
    """Return what is wrong with the pairs of calls and results, in order."""
    return pairing([part_of(message) for message in messages]).faults


def part_of(message: Any) -> Part:
    """Return what a message of any step has to do with pairs."""
    if message.role == "toolResult":
        return Part(answers=message.tool_call_id, tool=message.tool_name)
    if message.role == "assistant":
        return Part(tuple(block.id for block in message.content if block.type == "toolCall"))
    return Part()


def pairing(parts: Sequence[Part]) -> Pairing:
    """Return which calls and results of a history are pairs.

    The results belong right behind the message that asked for them, one a call, with the call's id,
    in the order of the calls.
    """
    found = Pairing()
    waiting: list[tuple[str, int, int]] = []
    last = 0  # The place of the latest call that has its result, among those of its message.
    for place, part in enumerate(parts):
        if part.answers is None:
            found.faults += map(without_result, waiting)
            waiting = [(call_id, place, number) for number, call_id in enumerate(part.calls)]
            last = 0
            continue
        ids = [call_id for call_id, _, _ in waiting]
        result = {"id": part.answers, "tool": part.tool}
        if part.answers in ids:
            _, *call = waiting.pop(ids.index(part.answers))
            found.results[call[0], call[1]] = place
            if call[1] < last:
                found.faults.append(
                    say("result {id} ({tool}) is behind that of a later call", **result)
                )
            last = max(last, call[1])
        else:
            found.orphans.append(place)
            found.faults.append(say("result {id} ({tool}) has no call", **result))
    found.faults += map(without_result, waiting)
    return found


def without_result(call: tuple[str, int, int]) -> str:
    return say("call {id} has no result", id=call[0])
