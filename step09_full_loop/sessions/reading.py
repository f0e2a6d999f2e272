"""Reading a session file: what can be used of it is kept, and what cannot is named."""

import codecs
import contextlib
import json
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..terminal import visible_line
from .session_file import SessionError
from .tree import Entry, SessionTree
from .wire import message_from_json

VERSION = 1


@dataclass(slots=True)
class Reading:
    """What a file holds: its tree, where it was begun, and the numbers of the lines that are lost.

    `before_gap` is the entry before the last of these lines.
    """

    cwd: str | None = None
    tree: SessionTree = field(default_factory=SessionTree)
    lost: list[int] = field(default_factory=list)
    before_gap: str | None = None


def read_session(path: Path) -> Reading:
    """Read a whole file. SessionError if it is no session that this program can go on with."""
    refuse_all_but_files(path)
    name = visible_line(path.name)
    try:
        with path.open("rb") as file:
            return read_lines(file)
    except OSError as error:
        raise SessionError(f"会话 {name} 读不了：{error.strerror}") from None
    except ValueError as error:
        raise SessionError(f"会话 {name} 用不了：{visible_line(str(error))}") from None


def refuse_all_but_files(path: Path) -> None:
    """SessionError if there is no such file, or nothing that can be read to an end."""
    name = visible_line(str(path))
    try:
        is_file = stat.S_ISREG(path.stat().st_mode)  # To open a FIFO would be to wait for somebody.
    except (FileNotFoundError, NotADirectoryError, ValueError):
        raise SessionError(f"没有会话文件 {name}，用 --list 看看有哪些") from None
    except OSError as error:
        raise SessionError(f"会话文件 {name} 读不了：{error.strerror}") from None
    if not is_file:
        raise SessionError(f"{name} 不是普通文件，请给出一个会话文件")


def read_lines(lines: Iterable[bytes]) -> Reading:
    """Read the lines of a file. ValueError, in words for the user, if it is no good session."""
    numbered = [(n, line) for n, line in enumerate(lines, 1) if line.strip()]
    reading = Reading(cwd=read_header(numbered[0][1] if numbered else b""))
    entries = [(number, entry_in(line)) for number, line in numbered[1:]]
    known = {entry.id for _, entry in entries if entry is not None}
    for number, entry in entries:
        if entry is None:
            reading.lost.append(number)
            reading.before_gap = reading.tree.leaf
        else:
            add(reading, number, entry, known)
    return reading


def read_header(line: bytes) -> str | None:
    """Return the folder that a session was begun in, if its first line says so."""
    match object_in(line.removeprefix(codecs.BOM_UTF8)):
        case {"type": "session", "version": int(version)} if version > VERSION:
            raise ValueError(f"它的版本是 {version}，这里只认得版本 {VERSION}，请用新版程序打开")
        case {"type": "session", "version": 1, "cwd": str(cwd)}:
            return cwd
        case {"type": "session", "version": 1}:
            return None
    raise ValueError('第一行不是会话头（{"type":"session","version":1,…}）')


def add(reading: Reading, number: int, entry: Entry, known: set[str]) -> None:
    """Put the entry of a line into the tree. `known` are the ids of all lines."""
    parent = entry.parent_id
    if parent is not None and parent not in reading.tree.entries:
        if parent in known:
            raise ValueError(f"第 {number} 行的 parentId 成环或乱序：它没有指向前面的条目")
        if not reading.lost:
            raise ValueError(f"第 {number} 行的 parentId 指向不存在的条目 {parent}")
        # The parent is lost, so the entry goes on where the lost line stood.
        entry = replace(entry, parent_id=reading.before_gap)
    if reading.tree.entries.get(entry.id, entry) != entry:
        raise ValueError(f"第 {number} 行的 id {entry.id} 已经用过了")
    reading.tree.add(entry)


def entry_in(line: bytes) -> Entry | None:
    """Return the entry of a line, or None if the line cannot be read."""
    match object_in(line):
        case {
            "type": "message",
            "id": str(id),
            "parentId": str() | None as parent,
            "message": told,
        }:
            with contextlib.suppress(ValueError):
                return Entry(id, parent, message_from_json(told))
        case {"type": str(kind), "id": str(id), "parentId": str() | None as parent}:
            return Entry(id, parent, None) if kind != "message" else None
    return None


def object_in(line: bytes) -> dict[str, object] | None:
    """Return the JSON object of a line, or None: it was torn, or somebody has damaged it."""
    try:
        value = json.loads(line.decode())
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
