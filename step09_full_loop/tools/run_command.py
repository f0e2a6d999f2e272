"""run_command: a tool that can take long, so that there is something worth cancelling."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from asyncio.subprocess import DEVNULL, PIPE, STDOUT, Process
from pathlib import Path
from typing import cast

from ..cancel import StoppedError, interruptible
from .output import FirstOutput
from .tool_types import ToolContext, ToolDefinition, ToolResult

MAX_SECONDS = 60.0  # the longest that a command may take
SHELL = ["cmd", "/d", "/c"] if sys.platform == "win32" else ["/bin/sh", "-c"]


async def run_command(args: dict[str, object], context: ToolContext) -> ToolResult:
    """Run a command in the working directory; return what it printed and how it ended.

    The first lines are told as they come.
    When the run is cancelled or the time is over, it is killed together with all it has started.
    """
    process = await started(cast(str, args["command"]), context.cwd)
    output = FirstOutput(context.update)
    reading = asyncio.ensure_future(output.read(cast(asyncio.StreamReader, process.stdout)))
    try:
        async with asyncio.timeout(MAX_SECONDS):
            await interruptible(lambda: ended(process, reading), context.cancel)
        end = f"退出码 {process.returncode}"
    except StoppedError as stopped:
        end = str(stopped)
    except TimeoutError:
        end = f"超过 {MAX_SECONDS:g} 秒，已停止"
    finally:
        kill(process)
        # Only who has left the group can still hold the output open.
        await asyncio.wait({reading, asyncio.ensure_future(process.wait())}, timeout=1)
        reading.cancel()
    return ToolResult(f"{output.text()}\n（{end}）", is_error=end != "退出码 0")


async def started(command: str, cwd: Path) -> Process:
    """Start a command. Who is cancelled meanwhile leaves nothing of it behind either."""
    starting = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            # In a session of its own it is a group that can be killed as one. It has no terminal.
            *SHELL,
            command,
            cwd=cwd,
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=STDOUT,
            start_new_session=True,
        )
    )
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        process = await starting
        kill(process)
        await process.wait()
        raise


async def ended(process: Process, reading: asyncio.Future[None]) -> None:
    """Wait until the command has ended. What it leaves in the background is not waited for."""
    # Before Python 3.13 `process.wait` waits for all who could still print something.
    while process.returncode is None and not reading.done():
        await asyncio.wait({reading}, timeout=0.05)
    if reading.done():
        await process.wait()


def kill(process: Process) -> None:
    """Kill a command together with all it has started."""
    if sys.platform == "win32":
        subprocess.run(["taskkill", "/F", "/T", "/PID", str(process.pid)], capture_output=True)
    else:
        with contextlib.suppress(ProcessLookupError, PermissionError):  # There is none left.
            os.killpg(process.pid, signal.SIGKILL)


RUN_COMMAND = ToolDefinition(
    name="run_command",
    description="在工作目录里运行一条命令，最多 60 秒，返回前 40 行输出和退出码。",
    parameters={
        "type": "object",
        "properties": {"command": {"type": "string", "description": "交给 shell 的命令"}},
        "required": ["command"],
    },
    execute=run_command,
)
