"""A reader's extension, loaded as the program loads it, and what becomes of calls under it."""

import asyncio
import gc
import importlib
import warnings
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..language import say
from ..verdict import FoundError, not_yet
from .living import LongProgram

OTHER_TOOL = "some_other_tool"


@dataclass(frozen=True, slots=True)
class Extension:
    """A step with one extension: its tools, its hooks, and the module that runs a call."""

    package: str
    tools: Any
    hooks: Any

    def call(self, name: str, arguments: dict[str, object], cwd: Path) -> tuple[str, bool]:
        """Let the loop run one call; return the text of its result, and whether it is an error."""
        return asyncio.run(self.result(name, arguments, self.context(cwd)))

    def context(self, cwd: Path) -> Any:
        """Return what a tool gets: it works in `cwd`, and can be cancelled."""
        token = importlib.import_module(f"{self.package}.cancel").CancelToken(grace=0.5)
        return importlib.import_module(f"{self.package}.tools.tool_types").ToolContext(cwd, token)

    async def result(
        self, name: str, arguments: dict[str, object], context: Any
    ) -> tuple[str, bool]:
        types = importlib.import_module(f"{self.package}.harness_types")
        execute = importlib.import_module(f"{self.package}.agent_loop").execute_tool_call
        call = types.ToolCallContent("call_1", name, arguments)
        message = await execute(call, self.tools, context, self.hooks)
        return types.message_text(message), message.is_error

    def stopped(self, tool: str, cwd: Path, *, leave: bool) -> "Stopped":
        """Let a tool run a long tests.py in `cwd`, and stop it when that is up.

        The run is cancelled, or with `leave` the task that it runs in.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)  # Of what a wrong answer leaves.
            return asyncio.run(self._stopped(tool, cwd, leave))

    async def _stopped(self, tool: str, cwd: Path, leave: bool) -> "Stopped":
        with closing(LongProgram(cwd / "tests.py")) as program:
            stopped = await self._stopped_when_up(tool, cwd, leave, program)
        # Now everything can end. What still holds a pipe is closed while there is a loop to do it.
        if left := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(left, timeout=5)
        gc.collect()
        await asyncio.sleep(0)
        return stopped

    async def _stopped_when_up(
        self, tool: str, cwd: Path, leave: bool, program: LongProgram
    ) -> "Stopped":
        context = self.context(cwd)
        running = asyncio.ensure_future(self.result(tool, {}, context))
        up = asyncio.ensure_future(program.up())
        await asyncio.wait({running, up}, return_when=asyncio.FIRST_COMPLETED)
        if not up.done():
            up.cancel()
            return Stopped(running.result()[0], started=False, left=[])
        if leave:
            running.cancel()
        else:
            context.cancel.cancel()
        text = ""
        with suppress(asyncio.CancelledError):
            text, _ = await running
        names = {b"p": "tests.py", b"c": say("a process that tests.py has started")}
        left = [name for which, name in names.items() if program.lives(which)]
        return Stopped(text, started=True, left=left)


@dataclass(frozen=True, slots=True)
class Stopped:
    """A call that was stopped: the text of its result, and what lives on behind it."""

    text: str
    started: bool
    left: list[str]


def other_tool(package: str) -> Any:
    """Return a tool that no rule of an extension can have an opinion about."""
    types = importlib.import_module(f"{package}.tools.tool_types")

    async def execute(args: dict[str, object], context: Any) -> Any:
        return types.ToolResult("ok")

    properties = {"path": {"type": "string"}, "command": {"type": "string"}}
    return types.ToolDefinition(
        OTHER_TOOL, "", {"type": "object", "properties": properties}, execute
    )


def loaded(package: str, name: str) -> Extension:
    """Load an extension that stands in the folder of the step."""
    file = Path(package, name)
    if not file.exists():
        raise FoundError(not_yet(say("there is no {file}", file=file.as_posix())))
    tools = importlib.import_module(f"{package}.tools").create_builtin_tools()
    tools.register(other_tool(package))
    hooks = importlib.import_module(f"{package}.hooks").Hooks()
    load = importlib.import_module(f"{package}.extensions").load_extensions
    failed = [notice for notice in load([file], tools, hooks, Path.cwd()) if name in notice][-1:]
    if failed and failed[0].startswith("没有载入"):
        raise FoundError(not_yet(say("the extension does not load"), guess=failed[0]))
    return Extension(package, tools, hooks)
