"""What is typed while an answer comes in, on a real terminal."""

import sys
from pathlib import Path

import pytest

from .test_interrupt import Terminal

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs a terminal")

SLOW_WEATHER = """
import asyncio
from pathlib import Path

def activate(api):
    async def weather(args, context):
        context.update("查着呢")
        while not (Path("enough").exists() or context.cancel.cancelled):
            await asyncio.sleep(0.01)
        return api.ToolResult("晴")

    api.register_tool(api.ToolDefinition(
        name="weather", description="", execute=weather,
        parameters={"type": "object", "properties": {"city": {"type": "string"}}},
    ))
"""


def test_it_goes_into_the_next_turn_and_with_follow_behind_all_others(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW_WEATHER, "utf-8")
    terminal = Terminal(tmp_path, "--extension", "slow.py")
    try:
        terminal.say("天气怎么样")
        terminal.wait_for("[工具进度] weather → 查着呢")
        for line in ("/follow 你好", "/follow", "/tree", "帮我算 12*8"):
            terminal.type(f"{line}\r")
        terminal.wait_for("[插话] /follow 后面要写一句话")
        terminal.wait_for("[插话] /tree 要等回答结束才能用")
        (tmp_path / "enough").touch()
        terminal.wait_for("[第 2 轮]\r\n[插话] 帮我算 12*8")
        terminal.wait_for("[工具结果] calc → 96")
        terminal.wait_for("[第 4 轮]\r\n[插话] 你好")
        terminal.wait_for("[第 4 轮结束]")
        terminal.say("/exit")
        assert terminal.leaves() == 0
    finally:
        terminal.end()


def test_after_ctrl_c_it_waits_for_what_is_said_next(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW_WEATHER, "utf-8")
    terminal = Terminal(tmp_path, "--extension", "slow.py")
    try:
        terminal.say("天气怎么样")
        terminal.wait_for("[工具进度] weather → 查着呢")
        terminal.type("帮我算 12*8\r/tree\r")
        terminal.wait_for("[插话] /tree 要等回答结束才能用")
        terminal.press_ctrl_c()
        terminal.wait_for("[第 1 轮结束]")
        terminal.wait_for("你> ")
        terminal.type("你好\r")
        assert "[插话]" not in terminal.wait_for("你好")
        terminal.wait_for("[插话] 帮我算 12*8")
        terminal.say("/exit")
        assert terminal.leaves() == 0
    finally:
        terminal.end()
