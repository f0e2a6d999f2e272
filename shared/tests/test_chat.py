"""Talking to each step as people do: a process at the end of a pipe or of a terminal."""

import contextlib
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from shared.steps import ROOT, find_steps

# What a terminal needs stands in terminal.py, which is the same in all steps: the contract says so.
# The first step, the first one with a loop and the last one stand for all.
FIRST, SECOND, *_, LAST = find_steps().values()
STEPS = [FIRST, SECOND, LAST]
GOODBYE = "再见。（本次对话共 {} 条消息）\n"

each_step = pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
chat_and_demo = pytest.mark.parametrize("module", ["{}", "{}.demo"], ids=["chat", "demo"])
posix = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell and terminal")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Talk in a folder that may be written to: a step may keep what was said."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))


def has_cancel(step: Path) -> bool:
    """Return whether Ctrl-C stops an answer in this step, and a turn that failed has an end."""
    return (step / "cancel.py").exists()


def answer(step: Path, typed: str | bytes, **environment: str) -> str:
    """Pipe what was typed into a step and return what it prints, which must be no traceback."""
    done = subprocess.run(
        [sys.executable, "-m", step.name],
        input=typed if isinstance(typed, bytes) else typed.encode(),
        capture_output=True,
        env={**os.environ, **environment},
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


@each_step
def test_a_pipe_is_answered_and_shown_as_if_typed(step: Path) -> None:
    # An editor may have put a byte order mark in front.
    shown = answer(step, "\ufeff断线\n\n  /exit  \n你好\n")
    assert "你> 断线\n" in shown
    end = "[第 1 轮结束]\n" if has_cancel(step) else ""
    assert f"助手> 我正说到一半，\n[错误] 连接断了\n{end}\n你> \n你>   /exit" in shown
    # With the ten events an answer that failed is a message, too.
    assert shown.endswith(GOODBYE.format(2 if (step / "agent_events.py").exists() else 1))


@each_step
def test_the_end_of_the_input_is_a_goodbye(step: Path) -> None:
    assert answer(step, "你好").endswith(f"\n\n你> \n{GOODBYE.format(2)}")


@each_step
def test_a_chat_is_utf8_under_any_locale(step: Path) -> None:
    assert "你> 你好\n" in answer(step, "你好\n", LC_ALL="C", PYTHONIOENCODING="gbk")


@each_step
def test_nothing_typed_can_break_a_chat_or_act_on_the_screen(step: Path) -> None:
    typed = "\x00\x1b[31m\ufffd" + "长" * 100_000
    shown = answer(step, typed.encode() + b"\nnot UTF-8: \xd6\xd0\n")
    assert r"你> \x00\x1b[31m" in shown
    assert "你> not UTF-8: \ufffd\ufffd\n" in shown
    assert shown.endswith(GOODBYE.format(4))


@each_step
def test_an_argument_that_nobody_expects_is_told_in_one_line(step: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", step.name, "--nobody-expects-this"], capture_output=True
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert "--nobody-expects-this" in done.stderr.decode()
    assert done.stderr.count(b"\n") == 1


# Where nobody reads, or nobody can type.


@each_step
@chat_and_demo
def test_a_reader_who_has_seen_enough_ends_it_quietly(
    step: Path, module: str, tmp_path: Path
) -> None:
    (tmp_path / "typed.txt").write_text("你好\n" * 1000, "utf-8")
    with (
        (tmp_path / "typed.txt").open() as typed,
        subprocess.Popen(
            [sys.executable, "-m", module.format(step.name)],
            stdin=typed,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process,
    ):
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        errors = process.stderr.read()
    assert (process.returncode, errors) == (0, b"")


@posix
@each_step
@pytest.mark.parametrize(
    ("module", "closed"), [("{}", "<&-"), ("{}", ">&-"), ("{}.demo", ">&-")], ids=str
)
def test_a_stream_that_was_closed_before_is_a_quiet_end(
    step: Path, module: str, closed: str
) -> None:
    command = f'exec "$0" -m {module.format(step.name)} {closed}'
    done = subprocess.run(
        ["sh", "-c", command, sys.executable], input=b"/exit\n", capture_output=True
    )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@each_step
@chat_and_demo
def test_a_full_disk_is_told_in_one_line(step: Path, module: str) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", module.format(step.name)],
            input=b"/exit\n",
            stdout=full,
            stderr=subprocess.PIPE,
        )
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)
    assert done.stderr.decode().startswith("输出写不进去：")


@posix
@each_step
def test_a_terminal_that_is_gone_ends_it_quietly(step: Path) -> None:
    import pty

    terminal, stream = pty.openpty()
    # In a session of its own the terminal is not the one that a signal would come from.
    with subprocess.Popen(
        [sys.executable, "-m", step.name],
        stdin=stream,
        stdout=stream,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        os.close(stream)
        shown = b""
        while not shown.endswith("你> ".encode()):
            shown += os.read(terminal, 1024)
        os.close(terminal)
        assert process.stderr is not None
        errors = process.stderr.read()
    assert (process.returncode, errors) == (0, b"")


# Leaving, with the signals set as they are in a shell: the tests may run where Ctrl-C is ignored.


ON_A_TERMINAL = """
import fcntl, runpy, signal, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("{0}", run_name="__main__")
"""


@posix
@each_step
@pytest.mark.parametrize("leave", ["/exit\r", "\x04", "\x03"], ids=["exit", "ctrl-d", "ctrl-c"])
def test_on_a_terminal_every_way_out_is_polite(step: Path, leave: str) -> None:
    import pty

    terminal, stream = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", ON_A_TERMINAL.format(step.name)],
        stdin=stream,
        stdout=stream,
        stderr=stream,
        start_new_session=True,
    ) as process:
        os.close(stream)
        shown = b""
        with contextlib.suppress(OSError):  # Linux says so when the other side is gone.
            # A key that comes before the prompt listens is lost, as it is for people: press again.
            while True:
                ready, _, _ = select.select([terminal], [], [], 0.5)
                chunk = os.read(terminal, 1024) if ready else b""
                shown += chunk
                if ready and not chunk:
                    break
                if shown.endswith("你> ".encode()):
                    os.write(terminal, leave.encode())
        os.close(terminal)
    text = shown.decode()
    assert process.returncode == 0, text
    assert text.startswith("输入一句话开始，/exit 离开。剧本认得的字样：你好、断线")
    assert text.endswith("再见。（本次对话共 0 条消息）\r\n")
    assert "Traceback" not in text


TYPING_SLOWLY = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from {0}.main import chat
from {0}.terminal import use_utf8
use_utf8()
chat(["你好"], delay=60)
"""


@posix
@each_step
def test_ctrl_c_in_the_middle_of_an_answer_leaves_or_stops_it(step: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", TYPING_SLOWLY.format(step.name)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        seen = b""
        while not seen.endswith("助手> 你好".encode()) and (byte := process.stdout.read(1)):
            seen += byte
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate()
    assert (process.returncode, errors) == (0, b"")
    stopped = "（已取消）\n[第 1 轮结束]\n\n再见。（本次对话共 2 条消息）\n"
    left = "\n再见。（本次对话共 1 条消息）\n"
    assert rest.decode() == (stopped if has_cancel(step) else left)
