"""Ctrl-C and y/n in a real terminal: what stops, what goes on, and that the prompt comes back."""

import contextlib
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs a terminal and /proc")

PROMPT = "你> "
PACKAGE = __package__.split(".")[0]
# In a session of its own, with the signals set as they are in a shell.
START = """
import fcntl, runpy, signal, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.argv[1:] = ["--no-session", *sys.argv[1:]]
runpy.run_module({package!r}, run_name="__main__")
"""


class Terminal:
    """Somebody at a terminal on which the step runs."""

    def __init__(self, cwd: Path, *arguments: str) -> None:
        import pty

        self.side, stream = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-c", START.format(package=PACKAGE), *arguments],
            cwd=cwd,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "TERM": "dumb"},
            stdin=stream,
            stdout=stream,
            stderr=stream,
            start_new_session=True,
        )
        os.close(stream)
        self.shown = b""

    def wait_for(self, text: str) -> str:
        """Read until `text` is on the screen, and return what came up to there."""
        wanted = text.encode()
        while wanted not in self.shown:
            ready, _, _ = select.select([self.side], [], [], 10)
            assert ready, self.shown.decode()
            try:
                chunk = os.read(self.side, 1024)
            except OSError:  # Linux says so when the other side is gone.
                chunk = b""
            assert chunk, self.shown.decode()
            self.shown += chunk
        before, _, self.shown = self.shown.partition(wanted)
        return before.decode("utf-8", "replace")

    def type(self, keys: str) -> None:
        os.write(self.side, keys.encode())

    def say(self, sentence: str) -> None:
        self.wait_for(PROMPT)
        self.type(f"{sentence}\r")

    def run_the_command(self) -> None:
        """Say the sentence that leads to a command of a minute, agree, and wait until it runs."""
        self.say("等一分钟")
        self.wait_for("运行 sleep 60 吗？(y/n) ")
        self.type("y\r")
        pid = self.process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children")
        while not children.read_text():
            select.select([], [], [], 0.01)

    def press_ctrl_c(self) -> None:
        """Press Ctrl-C as a person does, who is slower than a prompt that begins to listen."""
        state = Path(f"/proc/{self.process.pid}/stat")
        while state.read_text().rpartition(") ")[2][0] not in "SZ":  # Asleep, or at its end.
            select.select([], [], [], 0.01)
        self.type("\x03")

    def leaves_on_ctrl_c(self) -> int:
        """Press Ctrl-C, and again as long as it has stopped something and not the program."""
        while self.process.poll() is None:
            self.press_ctrl_c()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(0.5)
        return self.leaves()

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.side)

    def leaves(self) -> int:
        self.wait_for("再见。（")
        return self.process.wait(timeout=10)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    terminal = Terminal(tmp_path)
    yield terminal
    terminal.end()


def test_while_the_model_speaks_it_stops_that_and_the_prompt_is_back(terminal: Terminal) -> None:
    terminal.say("你好")
    terminal.wait_for("助手> 你好")
    terminal.press_ctrl_c()
    assert terminal.wait_for("[第 1 轮结束]").rstrip().endswith("（已取消）")
    terminal.wait_for(PROMPT)
    terminal.type("/exit\r")
    assert terminal.leaves() == 0


def test_in_a_command_it_kills_that_and_the_next_sentence_is_answered(terminal: Terminal) -> None:
    terminal.run_the_command()
    terminal.press_ctrl_c()
    assert "（已取消）（出错）" in terminal.wait_for("[第 1 轮结束]")
    terminal.say("你好")
    terminal.wait_for("[第 1 轮结束]")
    terminal.wait_for(PROMPT)
    assert terminal.leaves_on_ctrl_c() == 0


@pytest.mark.parametrize("answer", ["n\r", "\r", "\x04"])
def test_a_command_that_nobody_agrees_to_is_not_run(terminal: Terminal, answer: str) -> None:
    terminal.say("等一分钟")
    terminal.wait_for("(y/n) ")
    terminal.type(answer)
    shown = terminal.wait_for("[第 2 轮结束]")
    assert "用户没有同意运行这条命令（出错）" in shown
    assert "好，那就不运行。" in shown


def test_in_the_question_it_stops_the_run(terminal: Terminal) -> None:
    terminal.say("等一分钟")
    terminal.wait_for("(y/n) ")
    terminal.press_ctrl_c()
    assert "run_command → 已取消（出错）" in terminal.wait_for("[第 1 轮结束]")
    terminal.say("/exit")
    assert terminal.leaves() == 0


def test_twice_it_leaves_whatever_goes_on(terminal: Terminal) -> None:
    terminal.run_the_command()
    terminal.press_ctrl_c()
    terminal.wait_for("^C")
    assert terminal.leaves_on_ctrl_c() == 0


def test_what_was_typed_before_the_question_is_no_answer_to_it(terminal: Terminal) -> None:
    terminal.say("等一分钟\ry")
    terminal.wait_for("(y/n) ")
    terminal.type("n\r")
    assert "用户没有同意运行这条命令（出错）" in terminal.wait_for("[第 1 轮结束]")


STUBBORN = """
import asyncio, time

def activate(api):
    async def weather(args, context):
        print("begun", flush=True)
        while True:
            try:
                await {wait}
            except BaseException:
                {then}

    api.register_tool(api.ToolDefinition("weather", "", {{
        "type": "object", "properties": {{"city": {{"type": "string"}}}}
    }}, weather))
"""
STUBBORN_TOOLS = {
    "swallows every cancel": (STUBBORN.format(wait="asyncio.sleep(60)", then="pass"), True),
    "is in a thread": (
        STUBBORN.format(wait="asyncio.to_thread(time.sleep, 60)", then="raise"),
        False,
    ),
}


@pytest.mark.parametrize(("source", "twice"), STUBBORN_TOOLS.values(), ids=list(STUBBORN_TOOLS))
def test_whatever_a_tool_does_one_can_leave(source: str, twice: bool, tmp_path: Path) -> None:
    (tmp_path / "stubborn.py").write_text(source, "utf-8")
    terminal = Terminal(tmp_path, "--extension", "stubborn.py")
    try:
        terminal.say("天气")
        terminal.wait_for("begun")
        terminal.press_ctrl_c()
        if twice:
            terminal.wait_for("^C")
            assert terminal.leaves_on_ctrl_c() == 0
        else:
            assert "已取消：工具没有停下来" in terminal.wait_for("[第 1 轮结束]")
            terminal.say("/exit")
            assert terminal.leaves() == 0
    finally:
        terminal.end()


def test_who_closes_the_terminal_ends_the_command(terminal: Terminal) -> None:
    terminal.run_the_command()
    pid = terminal.process.pid
    (child,) = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    os.kill(pid, signal.SIGHUP)
    terminal.process.wait(timeout=10)
    for _ in range(100):  # One that was killed needs a moment to be gone.
        if not lives(child):
            return
        select.select([], [], [], 0.01)
    raise AssertionError("it lives on")


def lives(pid: str) -> bool:
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


def test_stopped_and_continued_it_goes_on(terminal: Terminal) -> None:
    terminal.run_the_command()
    for number in (signal.SIGSTOP, signal.SIGCONT):  # As Ctrl-Z and fg do.
        os.kill(terminal.process.pid, number)
    terminal.press_ctrl_c()
    assert "（已取消）（出错）" in terminal.wait_for("[第 1 轮结束]")
    terminal.say("/exit")
    assert terminal.leaves() == 0
