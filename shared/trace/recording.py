"""A recording: what happened in a conversation, statement by statement, and its file.

The file is JSON Lines; RECORDING.md describes it. One that came from elsewhere is only looked at:
everything is checked, nothing in it is run, and no name in it is opened.
"""

import dataclasses
import json
import stat
import types
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..language import say

VERSION = 1
LARGEST_FILE = 20_000_000  # bytes
LARGEST_SOURCE = 200_000  # characters
LARGEST_SCREEN = 5_000_000  # characters
LARGEST_NUMBER = 2**53  # what a script in a browser counts exactly
MOST_MOMENTS = 100_000
MOST_PLACES = 5_000_000  # in all histories together
MOST_LANES = 2
LONG_TEXT = 80  # characters from which on a text is stored only once


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call of the model; `arguments` is the JSON that people see of them."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """A message of any step as plain data; `answers` is the id of the call that a result is for."""

    role: str
    text: str = ""
    calls: list[Call] = field(default_factory=list)
    answers: str | None = None
    tool: str | None = None
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Tool:
    """What the model is told of a tool; `parameters` is a JSON Schema, as JSON."""

    name: str
    description: str
    parameters: str


@dataclass(frozen=True, slots=True)
class Ask:
    """The model is asked: the text that the rules are matched against, and the rule that answers."""

    key: str
    rule: str


@dataclass(frozen=True, slots=True)
class Question:
    """A prediction to be made before the run is seen, in both languages."""

    ask: str
    ask_zh: str
    answer: str
    answer_zh: str


@dataclass(frozen=True, slots=True)
class Cause:
    """What was changed in the step before it ran: in `file`, `old` became `new`; and why it matters."""

    name: str
    why: str
    why_zh: str
    file: str
    old: str
    new: str
    questions: list[Question] = field(default_factory=list)


@dataclass(slots=True)
class Moment:
    """One statement that ran, and how things stand when the next one begins.

    A statement that yields is an event as well: its moment lasts until people have seen the event.
    A statement that calls a followed function is one moment, and the function's own come behind it.

    run: the user's sentence, counted from 1; turn: the turn of that run, 0 before the first.
    file, line: where the statement begins, a name among the recording's sources.
    value: what decided a branch or a loop: "True", "False", the turn that a `for` gives, the type
        of the event that an `async for` gives, "end" when a loop has nothing more to give.
    event: the type of the event, or "". detail: it in a few words. call_id: the call it is about.
    history: which of the recording's histories is the one of this moment.
    screen: how many characters are on the terminal.
    ask: which of the recording's asks is that of this turn, once the model has been asked.
    ending: why the run ended, at its last moment.
    at: the microseconds since the recording began, for an event.
    """

    run: int
    turn: int
    file: str
    line: int
    value: str = ""
    event: str = ""
    detail: str = ""
    call_id: str | None = None
    history: int = 0
    screen: int = 0
    ask: int | None = None
    ending: str = ""
    at: int = 0


@dataclass(slots=True)
class Recording:
    """A conversation: its moments, and what they count and point into.

    what: "demo", "scene", "sentence" or "chat". title: what tells it from the one beside it.
    started: seconds since 1970. cause: what was changed in the step, if something was.
    sources: the text of each file that was followed, as it ran, by its name within the step.
    messages: all that there ever were; a history is a list of places among them.
    """

    step: str
    what: str = "demo"
    title: str = ""
    started: int = 0
    cause: Cause | None = None
    sources: dict[str, str] = field(default_factory=dict)
    tools: list[Tool] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    asks: list[Ask] = field(default_factory=list)
    histories: list[list[int]] = field(default_factory=lambda: [[]])
    moments: list[Moment] = field(default_factory=list)
    screen: str = ""

    def history_at(self, moment: Moment) -> list[Message]:
        """Return the messages that the model would see at a moment."""
        return [self.messages[place] for place in self.histories[moment.history]]

    def first_sentence(self) -> str:
        """Return what the user said first."""
        return next((message.text for message in self.messages if message.role == "user"), "")
