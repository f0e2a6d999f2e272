"""Talking to this step, as a real process at the end of a pipe or of a terminal."""

import contextlib
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ..main import chat

STEP = Path(__file__).parents[1]
ROOT = STEP.parent
GOODBYE = "再见。（本次对话共 {} 条消息）\n"


def say(typed: str | bytes, **environment: str) -> str:
    """Pipe what was typed into the step and return what it prints, which must be no traceback."""
    done = subprocess.run(
        [sys.executable, "-m", STEP.name],
        input=typed if isinstance(typed, bytes) else typed.encode(),
        capture_output=True,
        cwd=ROOT,
        env={**os.environ, **environment},
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


def test_a_pipe_is_answered_and_shown_as_if_typed() -> None:
    shown = say("断线\n\n  /exit  \n你好\n")
    assert (
        "你> 断线\n[第 1 轮]\n助手> 我正说到一半，\n[错误] 连接断了\n\n你> \n你>   /exit" in shown
    )
    assert shown.endswith(GOODBYE.format(1))


def test_the_end_of_the_input_is_a_goodbye() -> None:
    assert say("你好\n").endswith(GOODBYE.format(2))
    assert say("").endswith(GOODBYE.format(0))


@pytest.mark.parametrize("encoding", ["ascii", "gbk"])
def test_it_reads_and_writes_utf8_under_any_locale(encoding: str) -> None:
    assert "你> 你好\n" in say("你好\n", LC_ALL="C", PYTHONIOENCODING=encoding)


def test_nothing_typed_can_break_it() -> None:
    assert say("\x00\x1b[31m\ufffd" + "长" * 100_000 + "\n").endswith(GOODBYE.format(2))
    assert say(b"not UTF-8: \xd6\xd0\n").endswith(GOODBYE.format(2))


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("leave", ["/exit\r", "\x04", "\x03"])
def test_on_a_terminal_every_way_out_is_polite(leave: str) -> None:
    import pty

    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        os.execv(sys.executable, [sys.executable, "-m", STEP.name])  # noqa: S606
    shown = b""
    with contextlib.suppress(OSError):  # Linux says so when the other side is gone.
        # A key that comes before the prompt listens is lost, as it is for people: press it again.
        while True:
            ready, _, _ = select.select([terminal], [], [], 0.5)
            chunk = os.read(terminal, 1024) if ready else b""
            shown += chunk
            if ready and not chunk:
                break
            if shown.endswith("你> ".encode()):
                os.write(terminal, leave.encode())
    _, status = os.waitpid(pid, 0)
    text = shown.decode()
    assert os.waitstatus_to_exitcode(status) == 0, text
    assert text.endswith("再见。（本次对话共 0 条消息）\r\n")
    assert "Traceback" not in text


def test_the_specs_of_the_tools_are_in_the_context(capsys: pytest.CaptureFixture[str]) -> None:
    context = chat([], cwd=STEP)
    assert [spec.name for spec in context.tools] == ["calc", "read_file"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_ctrl_c_in_the_middle_of_an_answer_leaves_too() -> None:
    code = (
        f"from pathlib import Path; from {STEP.name}.main import chat, use_utf8; use_utf8();"
        "chat(['你好'], cwd=Path.cwd(), delay=60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        seen = b""
        while not seen.endswith("助手> 你好".encode()) and (byte := process.stdout.read(1)):
            seen += byte
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate()
    assert (process.returncode, errors) == (0, b"")
    assert rest.decode() == "\n再见。（本次对话共 1 条消息）\n"
