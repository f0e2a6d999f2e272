"""Extensions: files of somebody's own that add tools and hooks when the program starts.

An extension is code. It can do all that this program can do.
"""

import asyncio
import inspect
import sys
import traceback
from collections.abc import Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from .hooks import Block, Change, Handler, Hooks
from .terminal import visible_line
from .tools import tool_types
from .tools.quoting import error_text
from .tools.registry import ToolRegistry

FOLDER = "extensions"


class ExtensionApi:
    """What `activate(api)` of an extension gets. The types are here so that it imports nothing."""

    Block = Block
    Change = Change
    ToolDefinition = tool_types.ToolDefinition
    ToolResult = tool_types.ToolResult

    def __init__(self, name: str, tools: ToolRegistry) -> None:
        self.name = name
        self.new_tools = ToolRegistry()
        self.new_hooks: list[tuple[str, Handler]] = []
        self._tools = tools

    def register_tool(self, definition: tool_types.ToolDefinition) -> None:
        """Add a tool; ValueError if there is one of that name, or if its schema is wrong."""
        if definition.name in self._tools.names():
            raise ValueError(f"已经有叫 {definition.name} 的工具了")
        self.new_tools.register(definition)

    def on(self, name: str, handler: Handler) -> None:
        """Add a hook: `name` is an event, before_tool_call or after_tool_call (see hooks.py)."""
        Hooks().on(name, handler)  # ValueError now, while it can be said where.
        self.new_hooks.append((name, handler))


def extension_files(cwd: Path, named: Sequence[Path]) -> list[Path]:
    """Return the extensions of the folder `cwd`, and behind them those that somebody has named."""
    return [*sorted((cwd / FOLDER).glob("*.py")), *named]


def load_extensions(
    files: Sequence[Path], tools: ToolRegistry, hooks: Hooks, cwd: Path
) -> list[str]:
    """Load extensions into `tools` and `hooks`, and return sentences about them for the user.

    One that fails leaves nothing behind, and the others are loaded all the same.
    """
    loaded, failed = [], []
    for file in files:
        name = visible_line(str(file.relative_to(cwd) if file.is_relative_to(cwd) else file))
        try:
            adopt(activated(file, tools), tools, hooks)
            loaded.append(name)
        except (Exception, SystemExit, asyncio.CancelledError) as error:
            failed.append(f"没有载入 {name}：{place(file, error)}{visible_line(reason(error))}")
    warning = f"载入了 {'、'.join(loaded)}。它们是代码，这个程序能做的它们都能做"
    return [warning, *failed] if loaded else failed


def activated(file: Path, tools: ToolRegistry) -> ExtensionApi:
    """Run the code of an extension, and return what it wants to add."""
    spec = spec_from_file_location(f"extension_{file.stem}", file.absolute())
    if spec is None or spec.loader is None:
        raise ImportError("这不是 Python 文件")
    module = sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    api = ExtensionApi(file.name, tools)
    if inspect.isawaitable(module.activate(api)):
        raise TypeError("activate 不能是 async 函数")
    return api


def adopt(api: ExtensionApi, tools: ToolRegistry, hooks: Hooks) -> None:
    for name in api.new_tools.names():
        tool = api.new_tools.get(name)
        if tool is not None:
            tools.register(tool)
    for name, handler in api.new_hooks:
        hooks.on(name, handler, api.name)


def place(file: Path, error: BaseException) -> str:
    """Return which line of an extension failed, if it was one of its own."""
    file = file.absolute()
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(file)]
    if isinstance(error, SyntaxError):
        lines.append(error.lineno)
    return f"第 {lines[-1]} 行，" if lines else ""


def reason(error: BaseException) -> str:
    return error_text(error) if isinstance(error, Exception) else type(error).__name__
