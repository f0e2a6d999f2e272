"""The two queues of an agent: what was said in the middle of a run, and what is for later."""

from dataclasses import dataclass, field
from typing import Literal

from .harness_types import Message


class MessageQueue:
    """What the user has said while somebody works. `mode`: how much of it is given at once."""

    def __init__(self, mode: Literal["one-at-a-time", "all"] = "one-at-a-time") -> None:
        self.mode = mode
        self.waiting: list[Message] = []

    def put(self, message: Message) -> None:
        self.waiting.append(message)

    def take(self) -> list[Message]:
        """Return what is next, and forget it."""
        count = 1 if self.mode == "one-at-a-time" else len(self.waiting)
        taken, self.waiting = self.waiting[:count], self.waiting[count:]
        return taken


@dataclass(frozen=True, slots=True)
class Queues:
    """What goes into the next turn, and what is for later, when all is done."""

    steering: MessageQueue = field(default_factory=MessageQueue)
    follow_ups: MessageQueue = field(default_factory=MessageQueue)
