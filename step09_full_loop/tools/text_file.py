"""Reading a file that a model has named: it may be huge, binary, a device, or not there at all."""

import codecs
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

MAX_LINE_LENGTH = 1000  # characters
LINE_BYTES = 4 * (MAX_LINE_LENGTH + 2)  # enough to tell that a line is longer
MAX_READ = 256 * 1024 * 1024  # bytes read to say how many lines there are
CHUNK = 1024 * 1024  # bytes

# The file may have been replaced since it was looked at: follow no link, wait for no FIFO.
SAFE_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class UnreadableError(Exception):
    """Why a file cannot be shown, in words for the model."""


@dataclass(frozen=True, slots=True)
class FirstLines:
    """The first lines of a file, and how many there are in it.

    A very big file is not counted to its end: then it has `total` lines at least.
    """

    lines: list[str]
    total: int
    counted_all: bool


def read_first_lines(target: Path, most: int) -> FirstLines:
    """Read up to `most` lines, and count the rest of them.

    UnreadableError if this is not a text file; OSError or ValueError if it cannot be opened.
    """
    refuse_all_but_files(target.stat())  # Opening a device can do something already.
    with open(target, "rb", opener=lambda name, flags: os.open(name, flags | SAFE_FLAGS)) as file:
        refuse_all_but_files(os.fstat(file.fileno()))
        lines = decoded_lines(file, most)
        total = len(lines) + count_lines(file)
        return FirstLines(lines, total, counted_all=not file.read(1))


def why_unreadable(error: Exception) -> str:
    """Return why a file could not be read, in words for the model. They name no other path."""
    match error:
        case UnreadableError():
            return str(error)
        case FileNotFoundError() | NotADirectoryError():
            return "没有这个文件，请核对路径"
        case PermissionError():
            return "没有读取它的权限"
    return "这个路径用不了，请换一个"  # A NUL, a name too long, links in a circle ...


def refuse_all_but_files(status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise UnreadableError("这是文件夹，请给出其中一个文件的路径")
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableError("这不是普通文件，只能读普通的文本文件")


def decoded_lines(file: BinaryIO, most: int) -> list[str]:
    """Read up to `most` lines; of an endless line only the beginning is kept."""
    lines: list[str] = []
    if file.read(len(codecs.BOM_UTF8)) != codecs.BOM_UTF8:
        file.seek(0)
    while len(lines) < most and file.tell() < MAX_READ:
        head = file.readline(LINE_BYTES)
        if not head:
            break
        lines.append(shown_line(head))
        while head and not head.endswith(b"\n") and file.tell() < MAX_READ:
            head = file.readline(CHUNK)
    return lines


def shown_line(head: bytes) -> str:
    if b"\0" in head:
        raise UnreadableError("这是二进制文件，只能读文本文件")
    whole = len(head) < LINE_BYTES
    try:
        # Where the line goes on behind `head`, its last character may have been cut in two.
        text, _ = codecs.utf_8_decode(head, "strict", whole)
    except UnicodeDecodeError:
        raise UnreadableError("它不是 UTF-8 编码的文本，只能读 UTF-8 文本文件") from None
    text = text.rstrip("\r\n")
    if len(text) <= MAX_LINE_LENGTH:
        return text
    return f"{text[:MAX_LINE_LENGTH]}…（这一行太长，只显示前 {MAX_LINE_LENGTH} 个字符）"


def count_lines(file: BinaryIO) -> int:
    """Count the lines from here on, chunk by chunk."""
    count = 0
    last = b"\n"
    while file.tell() < MAX_READ and (chunk := file.read(CHUNK)):
        count += chunk.count(b"\n")
        last = chunk
    return count if last.endswith(b"\n") else count + 1
