"""read_file: the beginning of a text file, and nothing outside the working directory."""

import asyncio
import codecs
import os
import stat
from pathlib import Path
from typing import BinaryIO, cast

from .tool_types import ToolContext, ToolDefinition, ToolResult, quoted

MAX_LINES = 40
MAX_LINE_LENGTH = 1000  # characters
LINE_BYTES = 4 * (MAX_LINE_LENGTH + 2)  # enough to tell that a line is longer
MAX_READ = 256 * 1024 * 1024  # bytes read to say how many lines there are
CHUNK = 1024 * 1024  # bytes

# Should the name stand for something else by now: follow no link, wait for no FIFO.
SAFE_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class UnreadableError(Exception):
    """Why a file cannot be shown, in words for the model."""


async def read_file(args: dict[str, object], context: ToolContext) -> ToolResult:
    """Return the first lines of a file, and say so if that is not all of it.

    What cannot or may not be read comes back as a result with `is_error`, and the way on.
    """
    # cast checks nothing. It is right because validate has run before, and for no other reason.
    path = cast(str, args.get("path"))
    # A slow disk must not hold up the event loop.
    return await asyncio.to_thread(read_beginning, context.cwd, path)


def read_beginning(cwd: Path, path: str) -> ToolResult:
    try:
        target = resolve_inside(cwd, path)
        if target is None:
            return ToolResult(f"拒绝访问工作目录之外的路径：{quoted(path)}", is_error=True)
        return ToolResult(beginning_of(target))
    except UnreadableError as error:
        reason = str(error)
    except (FileNotFoundError, NotADirectoryError):
        reason = "没有这个文件，请核对路径"
    except PermissionError:
        reason = "没有读取它的权限"
    except (OSError, ValueError, RuntimeError):  # A NUL, a name too long, links in a circle ...
        reason = "这个路径用不了，请换一个"
    return ToolResult(f"读不了「{quoted(path)}」：{reason}", is_error=True)


def resolve_inside(cwd: Path, path: str) -> Path | None:
    """Return where `path` leads once its links are followed, or None if that is outside `cwd`.

    Whole names are compared: /work does not contain /workspace-secret. Every tool that touches
    files has to ask here.
    """
    root = cwd.resolve()
    target = (root / path).resolve()
    return target if target.is_relative_to(root) else None


def beginning_of(target: Path) -> str:
    refuse_all_but_files(target.stat())  # Opening a device can do something already.
    with open(target, "rb", opener=lambda name, flags: os.open(name, flags | SAFE_FLAGS)) as file:
        refuse_all_but_files(os.fstat(file.fileno()))
        lines = first_lines(file)
        more = count_lines(file)
        counted_all = not file.read(1)
    text = "\n".join(lines)
    if more or not counted_all:
        total = f"{'共' if counted_all else '至少'} {len(lines) + more} 行"
        return f"{text}\n…（{total}，只显示前 {len(lines)} 行）"
    return text if text.strip() else "（文件里没有文字）"


def refuse_all_but_files(status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise UnreadableError("这是文件夹，请给出其中一个文件的路径")
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableError("这不是普通文件，只能读普通的文本文件")


def first_lines(file: BinaryIO) -> list[str]:
    """Read MAX_LINES lines at most; of an endless line only the beginning is kept."""
    lines: list[str] = []
    if file.read(len(codecs.BOM_UTF8)) != codecs.BOM_UTF8:
        file.seek(0)
    while len(lines) < MAX_LINES and file.tell() < MAX_READ:
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
    whole = len(head) < LINE_BYTES or head.endswith(b"\n")
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


READ_FILE = ToolDefinition(
    name="read_file",
    description="读工作目录里的一个 UTF-8 文本文件，最多返回前 40 行。",
    parameters={
        "type": "object",
        "properties": {"path": {"type": "string", "description": "相对于工作目录的路径"}},
        "required": ["path"],
    },
    execute=read_file,
)
