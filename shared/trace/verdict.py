"""What a real provider would say of each history of a recording, and from when on."""

from ..pairing import Pairing, Part, pairing
from .recording import Message, Recording


def verdicts(recording: Recording) -> list[Pairing]:
    """Return for each history which calls and results are pairs, and what is wrong."""
    return [
        pairing([part_of(recording.messages[place]) for place in history])
        for history in recording.histories
    ]


def part_of(message: Message) -> Part:
    if message.role == "toolResult":
        return Part(answers=message.answers or "", tool=message.tool or "")
    return Part(tuple(call.id for call in message.calls))


def due(recording: Recording) -> dict[tuple[int, int], int]:
    """Return for each call the moment from which on it should have its result.

    A call is the place of its message among all messages, and its own among the message's calls. By
    then people have seen a result of it, or its turn or the run is over; if none of that ever
    happens, the call is not there.
    """
    found: dict[tuple[int, int], int] = {}
    waiting: dict[tuple[int, int], str] = {}
    told = -1  # The highest place of a message so far: they are numbered as they come.
    for number, moment in enumerate(recording.moments):
        for key, call_id in list(waiting.items()):
            answered = moment.event == "tool_result" and moment.call_id == call_id
            if answered or moment.event == "turn_end" or moment.ending:
                found[key] = number
                del waiting[key]
        for place in recording.histories[moment.history]:
            if place > told:
                told = place
                for at, call in enumerate(recording.messages[place].calls):
                    waiting[place, at] = call.id
    return found
