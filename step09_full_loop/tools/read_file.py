"""read_file: the first lines of a text file, and nothing outside the working directory."""

import asyncio
from pathlib import Path
from typing import cast

from .inside import resolve_inside
from .text_file import FirstLines, UnreadableError, read_first_lines, why_unreadable
from .tool_types import ToolContext, ToolDefinition, ToolResult, quoted

MAX_LINES = 40


async def read_file(args: dict[str, object], context: ToolContext) -> ToolResult:
    """Return the first lines of a file, and say so if that is not all of it.

    What cannot or may not be read comes back as a result with `is_error`, and the way on.
    """
    # cast checks nothing. It is right because validate has run before, and for no other reason.
    path = cast(str, args.get("path"))
    # A slow disk must not hold up the event loop.
    return await asyncio.to_thread(read_inside, context.cwd, path)


def read_inside(cwd: Path, path: str) -> ToolResult:
    """Return what is in the file, if `path` stays inside `cwd` and leads to a text file."""
    try:
        target = resolve_inside(cwd, path)
        if target is None:
            return ToolResult(f"拒绝访问工作目录之外的路径：{quoted(path)}", is_error=True)
        return ToolResult(with_note(read_first_lines(target, MAX_LINES)))
    except (UnreadableError, OSError, ValueError, RuntimeError) as error:
        return ToolResult(f"读不了「{quoted(path)}」：{why_unreadable(error)}", is_error=True)


def with_note(file: FirstLines) -> str:
    """Return the lines as one text. A model has to be told that there are more of them."""
    text = "\n".join(file.lines)
    if file.total > len(file.lines) or not file.counted_all:
        total = f"{'共' if file.counted_all else '至少'} {file.total} 行"
        return f"{text}\n…（{total}，只显示前 {len(file.lines)} 行）"
    return text if text.strip() else "（文件里没有文字）"


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
