"""run_command tells its lines as they come, and people see them while it runs."""

import sys
from pathlib import Path

import pytest

from ..agent_events import AgentEvent, ToolExecutionUpdate
from ..harness_types import ToolCallContent
from ..tools.output import MAX_LINE_LENGTH, MAX_LINES
from ..tools.run_command import RUN_COMMAND, run_command
from ..tools.tool_types import ToolContext
from .scripted_model import ScriptedModel, says, wants
from .whole_loop import Run, faults, tools_of

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the commands are those of sh")


async def told_by(command: str, cwd: Path) -> list[str]:
    told: list[str] = []
    await run_command({"command": command}, ToolContext(cwd, update=told.append))
    return told


async def test_each_line_is_told_once_and_in_order(tmp_path: Path) -> None:
    assert await told_by("echo a; echo b; echo; printf 你好'\\n'", tmp_path) == [
        "a",
        "b",
        "",
        "你好",
    ]
    assert await told_by("true", tmp_path) == []


async def test_only_so_many_lines_are_told_and_none_of_any_length(tmp_path: Path) -> None:
    assert await told_by("seq 1 100000", tmp_path) == [str(n + 1) for n in range(MAX_LINES)]
    (line,) = await told_by("head -c 5000 /dev/zero | tr '\\0' x; echo", tmp_path)
    assert len(line) < MAX_LINE_LENGTH + 50


async def test_people_see_a_line_while_the_command_runs(tmp_path: Path) -> None:
    """It ends only if the first line is seen before that: whoever sees it makes the file."""

    def watch(run: Run, event: AgentEvent) -> None:
        if isinstance(event, ToolExecutionUpdate):
            (tmp_path / "seen").touch()

    command = f"echo going; until [ -e {tmp_path / 'seen'} ]; do :; done; echo gone"
    wanted = ToolCallContent("c1", "run_command", {"command": command})
    model = ScriptedModel(wants(wanted), says("bye"))
    run = await Run(model, tools_of(RUN_COMMAND), watch=watch).to_the_end()
    assert run.steps == ["start c1", "going c1", "gone c1", "end c1", "told c1"]
    assert run.results == [("c1", "going\ngone\n（退出码 0）")]
    assert faults(run.events, run.context.messages) == []
