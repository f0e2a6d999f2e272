"""run_command: what a command prints, how it ends, and that nothing of it lives on."""

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ..cancel import CancelToken
from ..tools import run_command as module
from ..tools.run_command import RUN_COMMAND, run_command
from ..tools.tool_types import ToolContext, ToolResult

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the commands are those of sh")


async def run(command: str, cwd: Path, cancel: CancelToken | None = None) -> ToolResult:
    return await run_command({"command": command}, ToolContext(cwd, cancel or CancelToken()))


async def gone(pid: int) -> None:
    await until_none(lambda stat: stat.parent.name == str(pid) and state_of(stat) not in "ZX")


def state_of(stat: Path) -> str:
    """Return how a process is: Z is one that is no more than a name in the list."""
    try:
        return stat.read_text("utf-8").rpartition(")")[2].split()[0]
    except (OSError, UnicodeDecodeError):
        return "X"


async def test_a_command_says_what_it_printed_and_how_it_ended(tmp_path: Path) -> None:
    (tmp_path / "a.txt").touch()
    assert await run("ls; echo oh >&2", tmp_path) == ToolResult("a.txt\noh\n（退出码 0）")
    assert await run("exit 3", tmp_path) == ToolResult("（没有输出）\n（退出码 3）", is_error=True)


async def test_it_has_no_input_to_wait_for(tmp_path: Path) -> None:
    assert (await run("cat", tmp_path)).content == "（没有输出）\n（退出码 0）"


async def test_a_long_output_is_cut_with_a_note(tmp_path: Path) -> None:
    content = (await run("seq 1 100000", tmp_path)).content
    assert content.endswith("\n40\n…（共 100000 行，只显示前 40 行）\n（退出码 0）")
    (line, *_) = (await run("head -c 5000000 /dev/zero | tr '\\0' x", tmp_path)).content.split("\n")
    assert line == f"{'x' * 1000}…（这一行太长，只显示前 1000 个字符）"


async def test_forty_lines_are_not_cut(tmp_path: Path) -> None:
    assert "只显示" not in (await run("seq 1 40", tmp_path)).content
    assert "共 41 行" in (await run("seq 1 41", tmp_path)).content


async def test_bytes_that_are_no_text_do_no_harm(tmp_path: Path) -> None:
    assert (await run(r"printf '\377a'", tmp_path)).content == "\ufffda\n（退出码 0）"


async def test_what_it_leaves_in_the_background_is_not_waited_for_and_ends(tmp_path: Path) -> None:
    result = await run("sleep 60 & echo $!", tmp_path)
    assert result.content.endswith("（退出码 0）")
    await gone(int(result.content.split("\n")[0]))


@pytest.mark.parametrize("command", ["sleep 60", "sleep 60 & sleep 60", "trap '' TERM; sleep 60"])
async def test_a_cancel_ends_it_together_with_its_children(command: str, tmp_path: Path) -> None:
    cancel = CancelToken()
    os.mkfifo(tmp_path / "begun")
    task = asyncio.create_task(run(f"echo $$ > begun; {command}", tmp_path, cancel))
    pid = int(await asyncio.to_thread((tmp_path / "begun").read_text))
    cancel.cancel()
    result = await task
    assert result == ToolResult("（没有输出）\n（已取消）", is_error=True)
    await until_none(lambda stat: in_group(stat, pid))


async def until_none(lives: Callable[[Path], bool]) -> None:
    """Wait until no process lives: one that was killed needs a moment to be gone."""
    async with asyncio.timeout(1):
        while any(map(lives, processes())):  # noqa: ASYNC110  Nobody tells us.
            await asyncio.sleep(0.001)


def processes() -> list[Path]:
    return list(Path("/proc").glob("[0-9]*/stat"))


def in_group(stat: Path, group: int) -> bool:
    try:
        fields = stat.read_text("utf-8").rpartition(")")[2].split()
    except (OSError, UnicodeDecodeError):
        return False
    return fields[0] != "Z" and fields[2] == str(group)


async def test_who_cancels_the_task_ends_the_command_too(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "begun")
    task = asyncio.create_task(run("echo $$ > begun; sleep 60", tmp_path))
    pid = int(await asyncio.to_thread((tmp_path / "begun").read_text))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await gone(pid)


async def test_whenever_the_task_is_cancelled_nothing_lives_on(tmp_path: Path) -> None:
    for moment in range(20):
        task = asyncio.create_task(run("sleep 60 & sleep 60", tmp_path))
        for _ in range(moment):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until_none(lambda stat: works_in(stat, tmp_path))


def works_in(stat: Path, folder: Path) -> bool:
    try:
        return stat.with_name("cwd").readlink() == folder
    except OSError:  # It has ended, or is somebody else's.
        return False


async def test_a_command_that_prints_without_end_can_be_cancelled(tmp_path: Path) -> None:
    cancel = CancelToken()
    task = asyncio.create_task(run("yes", tmp_path, cancel))
    await asyncio.sleep(0.05)
    cancel.cancel()
    assert "只显示前 40 行）\n（已取消）" in (await task).content


async def test_one_that_takes_too_long_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_SECONDS", 0.05)
    result = await run("sleep 60", tmp_path)
    assert result == ToolResult("（没有输出）\n（超过 0.05 秒，已停止）", is_error=True)


def test_the_model_is_told_the_limits_that_hold() -> None:
    assert f"最多 {module.MAX_SECONDS:g} 秒" in RUN_COMMAND.description
