"""Extensions: files of somebody's own, loaded at the start; one that is broken harms nobody."""

import sys
from pathlib import Path

import pytest

from ..extensions import extension_files, load_extensions
from ..harness_types import message_text
from ..hooks import Hooks
from ..main import chat, main
from ..tools import create_builtin_tools
from ..tools.registry import ToolRegistry
from .fake_terminal import FakeTerminal

EXAMPLE = Path(__file__).parents[1] / "example_extension.py"


def load(folder: Path, **sources: str) -> tuple[list[str], ToolRegistry]:
    """Write extensions into a folder and load them; return what is said, and all the tools."""
    (folder / "extensions").mkdir(exist_ok=True)
    for name, source in sources.items():
        (folder / "extensions" / f"{name}.py").write_text(source, "utf-8")
    tools = create_builtin_tools()
    said = load_extensions(extension_files(folder, []), tools, Hooks(), folder)
    return said, tools


GOOD = """
def activate(api):
    async def execute(args, context):
        return api.ToolResult("hello")
    api.register_tool(api.ToolDefinition(
        "{0}", "", {{"type": "object", "properties": {{}}}}, execute
    ))
"""


def test_a_folder_of_extensions_is_loaded_in_order_and_that_is_said(tmp_path: Path) -> None:
    said, tools = load(tmp_path, b=GOOD.format("b"), a=GOOD.format("a"))
    names = [str(Path("extensions", name)) for name in ("a.py", "b.py")]
    assert said == [f"载入了 {'、'.join(names)}。它们是代码，这个程序能做的它们都能做"]
    assert tools.names()[-2:] == ["a", "b"]


def test_where_there_is_none_nothing_is_said(tmp_path: Path) -> None:
    assert load(tmp_path)[0] == []


BROKEN = {
    "no Python": ("x = 1\ndef (", "第 2 行，"),
    "an import": ("\nimport nobody_has_this", "第 2 行，No module named 'nobody_has_this'"),
    "no activate": ("", "has no attribute 'activate'"),
    "activate": ("def activate(api):\n    1 / 0", "第 2 行，division by zero"),
    "activate is async": ("async def activate(api): ...", "activate 不能是 async 函数"),
    "it is cancelled": ("import asyncio\nraise asyncio.CancelledError", "第 2 行，CancelledError"),
    "it leaves": ("import sys\nsys.exit()", "第 2 行，SystemExit"),
    "a hook": ("def activate(api):\n    api.on('x', print)", "第 2 行，没有叫 x 的钩子"),
    "a tool of that name": (GOOD.format("calc"), "已经有叫 calc 的工具了"),
    "half of it": (f"{GOOD.format('half')}    raise ValueError('late')", "第 8 行，late"),
}


@pytest.mark.filterwarnings("ignore:coroutine 'activate' was never awaited")
@pytest.mark.parametrize(("source", "reason"), BROKEN.values(), ids=list(BROKEN))
def test_one_that_is_broken_is_named_and_leaves_nothing_and_the_others_are_loaded(
    source: str, reason: str, tmp_path: Path
) -> None:
    said, tools = load(tmp_path, a=source, b=GOOD.format("b"))
    assert len(said) == 2
    assert said[1].startswith(f"没有载入 {Path('extensions', 'a.py')}：")
    assert reason in said[1]
    assert tools.names() == [*create_builtin_tools().names(), "b"]


def test_a_line_is_named_whatever_the_path_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.py").write_text("\n\nraise ValueError('late')\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    said = load_extensions([Path("a.py")], create_builtin_tools(), Hooks(), tmp_path)
    assert said == ["没有载入 a.py：第 3 行，late"]


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    tools = create_builtin_tools()
    (said,) = load_extensions([tmp_path / "none.py"], tools, Hooks(), tmp_path)
    assert said.startswith("没有载入 none.py：")


def test_the_example_adds_a_tool_and_forbids_a_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    tools, hooks = create_builtin_tools(), Hooks()
    load_extensions([EXAMPLE], tools, hooks, EXAMPLE.parent)
    messages = chat(["天气", "删掉"], tools=tools, hooks=hooks).messages
    found = [message_text(m) for m in messages if m.role == "toolResult"]
    assert found == ["北京：晴，26 度", "不许用命令删文件"]


OTHER_COMMAND = """
def activate(api):
    def other(call):
        return api.Change({"command": "echo hello"}) if call.name == "run_command" else None
    api.on("before_tool_call", other)
"""


def test_the_user_is_asked_about_what_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other.py").write_text(OTHER_COMMAND, "utf-8")
    screen = FakeTerminal()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", FakeTerminal("等一分钟\ny\n"))
    monkeypatch.setattr(sys, "stdout", screen)
    main(["--no-session", "--extension", "other.py"])
    assert "运行 echo hello 吗？(y/n) " in screen.getvalue()
    assert "[工具结果] run_command → hello\n（退出码 0）\n" in screen.getvalue()
