"""What is on the disk: the lines of a session file, read from the file itself as it grows."""

import functools
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .recording import Line

LONGEST_LINE = 200  # characters that are kept of what a line says
# What differs from machine to machine says nothing about the conversation.
LEFT_OUT = {"type", "id", "parentId", "timestamp", "cwd"}


class Disk:
    """Reads the session file of a step whenever the step opens it or writes to it.

    lines: all that there ever were. now: the places among them of those that are in the file.
    """

    def __init__(self, package: str) -> None:
        self.package = package
        self.lines: list[Line] = []
        self.now: list[int] = []
        self.raw: list[bytes] = []
        self.entries: dict[int, tuple[str, object]] = {}

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Look over the shoulder of a step that keeps sessions; others have nothing to see."""
        file, tree = self.kind("session_file", "SessionFile"), self.kind("tree", "SessionTree")
        with (
            followed_by(file, "__init__", self.look),
            followed_by(file, "append", self.look),
            followed_by(tree, "add", self.learn),
        ):
            yield

    def kind(self, module: str, name: str) -> Any:
        return getattr(sys.modules.get(f"{self.package}.sessions.{module}"), name, None)

    def look(self, file: Any, *_line: object) -> None:
        """Read the file. Lines that were there before stay what they are."""
        try:
            text = Path(file.path).read_bytes()
        except OSError:
            text = b""  # It is made when the first line comes.
        raw = [line for line in text.split(b"\n") if line.strip()]
        same = 0
        while same < min(len(raw), len(self.raw)) and raw[same] == self.raw[same]:
            same += 1
        new = range(len(self.lines), len(self.lines) + len(raw) - same)
        self.lines += map(line_of, raw[same:])
        self.now, self.raw = [*self.now[:same], *new], raw

    def learn(self, _tree: object, entry: Any) -> None:
        """A message has an entry now. The message is kept, so that its identity stays its own."""
        self.entries[id(entry.message)] = (str(entry.id), entry.message)

    def entry_of(self, message: object) -> str | None:
        """Return the id of the entry of a message, whether or not it is on the disk."""
        return self.entries.get(id(message), (None, None))[0]


@contextmanager
def followed_by(kind: Any, method: str, then: Callable[..., None]) -> Iterator[None]:
    """Call `then` after each call of a method, if there is one, and with the same values."""
    real = vars(kind).get(method) if kind else None
    if real is None:
        yield
        return

    @functools.wraps(real)
    def method_and_look(*values: Any) -> Any:
        try:
            return real(*values)
        finally:
            then(*values)

    setattr(kind, method, method_and_look)
    try:
        yield
    finally:
        setattr(kind, method, real)


def line_of(raw: bytes) -> Line:
    """Return a line of a session file. Of one that cannot be read there is only the text."""
    text = raw.decode("utf-8", "replace")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        data = None
    match data:
        case {"type": str(kind), "id": str(id)}:
            parent = data.get("parentId")
            kind, words = told(kind, data)
            return Line(kind, id, parent if isinstance(parent, str) else None, shortened(words))
    return Line(text=shortened(text))


def told(kind: str, data: dict[str, Any]) -> tuple[str, str]:
    """Return the role of the message of a line and what it says, or else its type and the rest."""
    match data:
        case {"type": "message", "message": {"role": str(role), "content": list(said)} as whole}:
            words = map(block_words, said)
            return role, " ".join(filter(None, [str(whole.get("toolCallId", "")), *words]))
    rest = {key: value for key, value in data.items() if key not in LEFT_OUT}
    return kind, as_json(rest) if rest else ""


def block_words(block: object) -> str:
    match block:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": "toolCall", "id": id, "name": name, "arguments": arguments}:
            return f"→ {id} {name} {as_json(arguments)}"
    return as_json(block)


def as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def shortened(text: str) -> str:
    return text if len(text) <= LONGEST_LINE else f"{text[:LONGEST_LINE]}…"
