"""The file of a recording: JSON Lines, described in RECORDING.md.

A file that comes from elsewhere is only looked at: all of it is checked, nothing in it is run, and
no file that it names is opened.
"""

import json
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from ..errors import UsageError
from ..language import say
from .recording import MOST_MOMENTS, Ask, Head, Line, Message, Moment, Recording, Statement, Tool

VERSION = 1
LARGEST_FILE = 20_000_000  # bytes
LARGEST_SOURCE = 200_000  # characters
LARGEST_SCREEN = 5_000_000  # characters
LARGEST_NUMBER = 2**53  # what a script in a browser counts exactly
MOST_PLACES = 5_000_000  # in all histories and disks together
MOST_RECORDINGS = 2
MOST_SOURCES = 20
LONG_TEXT = 80  # characters; a text that is shorter may be stored again on the screen


@dataclass(slots=True)
class Source:
    """A file of the step, as it ran."""

    name: str
    text: str


@dataclass(slots=True)
class Change(Statement):
    """A moment in the file: what it changes in the history and on the screen of the one before.

    The history keeps so many messages (None: all), and then come those at the places in `add`; so
    does the session file with `kept` and `written`. On the screen come texts, or the text of a
    message, which is stored only once.
    """

    keep: int | None = None
    add: list[int] = field(default_factory=list)
    screen: list[str | int] = field(default_factory=list)
    kept: int | None = None
    written: list[int] = field(default_factory=list)


@dataclass(slots=True)
class StoredAsk:
    """An ask in the file; of its key, the text of a message is stored only once."""

    key: list[str | int]
    rule: str


KINDS: dict[str, Any] = {
    "recording": Head,
    "source": Source,
    "tool": Tool,
    "message": Message,
    "line": Line,
    "ask": StoredAsk,
    "moment": Change,
}
NAMES = {kind: name for name, kind in KINDS.items()}


def write(recordings: Sequence[Recording], path: Path) -> None:
    """Write a file of recordings."""
    # Half of a surrogate pair has no UTF-8. Python's escape for it is that of JSON as well.
    path.write_text(text_of(recordings), "utf-8", errors="backslashreplace", newline="\n")


def text_of(recordings: Sequence[Recording]) -> str:
    """Return what stands in the file of some recordings."""
    return "".join(f"{line}\n" for recording in recordings for line in lines_of(recording))


def lines_of(recording: Recording) -> Iterator[str]:
    """Give the lines of a recording, in the order in which things happened."""
    head = Head(**{field.name: getattr(recording, field.name) for field in fields(Head)})
    yield line_of(head, version=VERSION)
    for name, text in recording.sources.items():
        yield line_of(Source(name, text))
    yield from map(line_of, recording.tools)
    told = asked = seen = 0
    for change in changes(recording):
        messages = max([told, *(place + 1 for place in change.add)])
        yield from map(line_of, recording.messages[told:messages])
        told = messages
        lines = max([seen, *(place + 1 for place in change.written)])
        yield from map(line_of, recording.lines[seen:lines])
        seen = lines
        while change.ask is not None and asked <= change.ask:
            ask = recording.asks[asked]
            yield line_of(StoredAsk(pieces(ask.key, recording, range(told)), ask.rule))
            asked += 1
        yield line_of(change)


def changes(recording: Recording) -> Iterator[Change]:
    """Give for each moment what it changes in the one before."""
    before: list[int] = []
    disk_before: list[int] = []
    printed = 0
    for moment in recording.moments:
        history, disk = recording.histories[moment.history], recording.disks[moment.disk]
        keep, add = change_of(before, history)
        kept, written = change_of(disk_before, disk)
        yield Change(
            **{field.name: getattr(moment, field.name) for field in fields(Statement)},
            keep=keep,
            add=add,
            screen=pieces(recording.screen[printed : moment.screen], recording, history),
            kept=kept,
            written=written,
        )
        before, disk_before, printed = history, disk, moment.screen


def change_of(before: list[int], now: list[int]) -> tuple[int | None, list[int]]:
    """Return how many places stay from the beginning on, None for all, and those that follow."""
    same = len(now) if now is before else 0
    while same < min(len(before), len(now)) and before[same] == now[same]:
        same += 1
    return None if same == len(before) else same, now[same:]


def pieces(text: str, recording: Recording, history: Sequence[int]) -> list[str | int]:
    """Return a text in pieces: the long text of a new message as the place of that message."""
    for place in history[-2:]:
        long = recording.messages[place].text
        if len(long) >= LONG_TEXT and long in text:
            before, _, behind = text.partition(long)
            return [piece for piece in (before, place, behind) if piece != ""]
    return [text] if text else []


def line_of(value: Any, **more: object) -> str:
    data = {"type": NAMES[type(value)], **more, **as_data(value)}
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def as_data(value: Any) -> Any:
    """Return a dataclass as what JSON has; fields that have their default are left out."""
    if isinstance(value, list):
        return [as_data(item) for item in value]
    if not is_dataclass(value):
        return value
    found = {}
    for own in fields(value):
        item = getattr(value, own.name)
        if own.default is MISSING and own.default_factory is MISSING:
            found[own.name] = item
        elif item != own.default and (item or own.default is not MISSING):
            found[own.name] = as_data(item)
    return found


def read(path: Path) -> list[Recording]:
    """Return the recordings in a file; UsageError if it is none, or larger than what is shown."""
    try:
        text = bytes_of(path).decode("utf-8-sig")
    except OSError as error:
        raise UsageError(
            say("{file} cannot be read: {reason}", file=path, reason=error.strerror)
        ) from None
    except UnicodeDecodeError:
        raise UsageError(
            say("{file} is not a recording: it is not UTF-8 text", file=path)
        ) from None
    reader = Reader()
    for number, line in enumerate(text.split("\n"), 1):
        try:
            if line.strip():
                reader.take(decoded(line))
        except FaultError as fault:
            raise UsageError(
                say("{file}, line {number}: {fault}", file=path, number=number, fault=fault)
            ) from None
    recordings = reader.close()
    if not recordings or not all(recording.moments for recording in recordings):
        raise UsageError(say("{file} is not a recording: nothing happens in it", file=path))
    return recordings


def bytes_of(path: Path) -> bytes:
    """Return what is in a file, unless it is too large, or no file at all."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise UsageError(say("{file} is not a file", file=path))
    with path.open("rb") as file:
        data = file.read(LARGEST_FILE + 1)
    if len(data) > LARGEST_FILE:
        most = LARGEST_FILE // 1_000_000
        raise UsageError(say("{file} is larger than {most} MB", file=path, most=most))
    return data


class FaultError(ValueError):
    """What is wrong with a line, in words for the user."""


def decoded(line: str) -> dict[str, Any]:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        raise FaultError(say("this is not JSON")) from None
    if not isinstance(data, dict) or not isinstance(data.get("type"), str):
        raise FaultError(say('this is not an object with a "type"'))
    return data


class Reader:
    """Takes the objects of a file one by one, and puts the recordings together."""

    def __init__(self) -> None:
        self.recordings: list[Recording] = []
        self.screen: list[str] = []
        self.lines: dict[str, int] = {}
        self.moments = self.places = self.letters = self.printed = 0

    def close(self) -> list[Recording]:
        """Return what was read. The screen of a recording is put together when it is over."""
        if self.recordings:
            self.recordings[-1].screen = "".join(self.screen)
        return self.recordings

    def take(self, data: dict[str, Any]) -> None:
        if data["type"] == "recording":
            self.begin(data)
        elif not self.recordings:
            raise FaultError(say('a recording begins with a line of the type "recording"'))
        elif data["type"] in KINDS:
            self.add(self.recordings[-1], fitted(KINDS[data["type"]], data, "type"))

    def begin(self, data: dict[str, Any]) -> None:
        version = fitted(int, data.get("version"), "version")
        if version != VERSION:
            raise FaultError(
                say(
                    "this has version {version} of the format, and only version {own} can be shown",
                    version=version,
                    own=VERSION,
                )
            )
        limit("recording", len(self.close()) + 1, MOST_RECORDINGS)
        head = fitted(Head, data, "type")
        own = {field.name: getattr(head, field.name) for field in fields(Head)}
        self.recordings.append(Recording(**own))
        self.screen, self.lines, self.printed = [], {}, 0

    def add(self, recording: Recording, value: object) -> None:
        match value:
            case Source(name=name, text=text):
                limit("text", len(text), LARGEST_SOURCE)
                limit("source", len(recording.sources) + 1, MOST_SOURCES)
                recording.sources[name] = text
                self.lines[name] = text.count("\n") + 1
            case Tool():
                recording.tools.append(value)
            case Message():
                recording.messages.append(value)
            case Line():
                recording.lines.append(value)
            case StoredAsk(key=key, rule=rule):
                recording.asks.append(Ask("".join(self.texts_of(key, recording)), rule))
            case Change():
                self.add_moment(recording, value)

    def add_moment(self, recording: Recording, change: Change) -> None:
        before = recording.moments[-1] if recording.moments else Moment(1, 0, "", 1)
        self.moments += 1
        limit("moment", self.moments, MOST_MOMENTS)
        if (change.run, change.turn) < (before.run, before.turn):
            raise FaultError(say('"{field}" goes back', field="turn"))
        if change.file not in recording.sources:
            raise FaultError(say('there is no source for "{field}"', field="file"))
        if change.line < 1:
            raise FaultError(say('"{field}" is counted from 1', field="line"))
        limit("line", change.line, self.lines[change.file])
        if change.ask is not None:
            limit("ask", change.ask, len(recording.asks) - 1)
        own = {field.name: getattr(change, field.name) for field in fields(Statement)}
        for name, places, known in (
            ("add", change.add, recording.messages),
            ("written", change.written, recording.lines),
        ):
            for place in places:
                limit(name, place, len(known) - 1)
        history = self.changed(recording.histories, before.history, "keep", change.keep, change.add)
        disk = self.changed(recording.disks, before.disk, "kept", change.kept, change.written)
        for text in self.texts_of(change.screen, recording):
            self.screen.append(text)
            self.printed += len(text)
        recording.moments.append(Moment(**own, history=history, screen=self.printed, disk=disk))

    def changed(
        self, lists: list[list[int]], before: int, name: str, keep: int | None, add: list[int]
    ) -> int:
        """Return the place of the history, or disk, that a moment leaves, new or not."""
        old = lists[before]
        if keep is None and not add:
            return before
        keep = len(old) if keep is None else keep
        limit(name, keep, len(old))
        lists.append(old[:keep] + add)
        self.places += len(lists[-1])
        limit("place", self.places, MOST_PLACES)
        return len(lists) - 1

    def texts_of(self, pieces: list[str | int], recording: Recording) -> Iterator[str]:
        """Give the texts of some pieces. Even of a few pieces they may be many."""
        for piece in pieces:
            if isinstance(piece, int):
                limit("place", piece, len(recording.messages) - 1)
                piece = recording.messages[piece].text
            self.letters += len(piece)
            limit("text", self.letters, LARGEST_SCREEN)
            yield piece


def limit(name: str, value: int, most: int) -> None:
    if value > most:
        raise FaultError(
            say('"{field}" is {value}, and at most {most}', field=name, value=value, most=most)
        )


def fitted(kind: Any, value: Any, name: str) -> Any:
    """Return what JSON has as a value of a type; fields that the type does not know are ignored."""
    if isinstance(kind, type) and is_dataclass(kind) and isinstance(value, dict):
        hints = hints_of(kind)
        known = {own: fitted(hints[own], value[own], own) for own in hints if own in value}
        for own in fields(kind):
            if own.name not in known and own.default is own.default_factory is MISSING:
                raise FaultError(say('"{field}" is missing', field=own.name))
        return kind(**known)
    if get_origin(kind) is list and isinstance(value, list):
        return [fitted(get_args(kind)[0], item, name) for item in value]
    if get_origin(kind) is UnionType:
        for one in get_args(kind):
            with suppress(FaultError):
                return fitted(one, value, name)
    elif type(value) is kind and (kind is not int or 0 <= value <= LARGEST_NUMBER):
        return value
    raise FaultError(say('"{field}" is not what it has to be', field=name))


@cache
def hints_of(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)
