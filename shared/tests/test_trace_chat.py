"""make chat RECORD=1: a real conversation, kept."""

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.steps import ROOT
from shared.trace import recording_file
from shared.trace.recording import Recording

COMMAND = [sys.executable, "-m", "labs", "chat", "05", "--record"]


@pytest.fixture
def kept() -> Iterator[list[Path]]:
    """The files that a test has found out about; they go when it is over."""
    files: list[Path] = []
    yield files
    for file in files:
        file.unlink()


def recording_named_in(text: str, kept: list[Path]) -> Recording:
    name = re.search(r"make trace FILE=(\S+)", text)
    assert name is not None, text
    kept.append(ROOT / name[1])
    (recording,) = recording_file.read(kept[-1])
    return recording


def test_a_conversation_through_a_pipe_is_recorded_as_it_is_shown(kept: list[Path]) -> None:
    typed = "你好\n帮我算 12*8\n/exit\n"
    done = subprocess.run(COMMAND, cwd=ROOT, input=typed, capture_output=True, encoding="utf-8")
    recording = recording_named_in(done.stdout, kept)
    assert recording.what == "chat"
    assert done.stdout.startswith(recording.screen)
    assert recording.screen.endswith("再见。（本次对话共 6 条消息）\n")
    assert [m.ending for m in recording.moments if m.ending] == ["no tool wanted"] * 2
    assert recording.moments[-1].screen == len(recording.screen)


@pytest.mark.parametrize("typed", ["/exit\n", ""])
def test_where_nothing_was_said_there_is_no_recording(typed: str) -> None:
    done = subprocess.run(COMMAND, cwd=ROOT, input=typed, capture_output=True, encoding="utf-8")
    assert done.stdout.endswith("\nNothing was said, so there is no recording.\n")
    assert "FILE=" not in done.stdout


def test_a_step_without_a_loop_is_not_recorded() -> None:
    done = subprocess.run(
        [*COMMAND[:-2], "03", "--record"], cwd=ROOT, capture_output=True, encoding="utf-8"
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "step03_streaming has no agent_loop.py, and so no loop to watch\n"


# The second answer never comes to its end, so that Ctrl-C is pressed in the middle of it.
ON_A_TERMINAL = """
import fcntl, signal, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
signal.signal(signal.SIGINT, signal.default_int_handler)
import step05_tools.main as main
chat = main.chat
main.chat = lambda lines, delay: chat(lines, delay=60)
main.RULES[0] = main.RULES[0].__class__(match="短", reply="好")
from labs.command_line import main
sys.exit(main(["chat", "05", "--record"]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX terminal")
def test_what_was_typed_is_recorded_and_ctrl_c_keeps_what_there_is(kept: list[Path]) -> None:
    import pty

    terminal, stream = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", ON_A_TERMINAL],
        cwd=ROOT,
        stdin=stream,
        stdout=stream,
        stderr=stream,
        start_new_session=True,
    ):
        os.close(stream)
        shown = b""
        answers = {"你> ": "短\r", "\r\n\r\n你> ": "帮我算 12*8\r", "助手> 这个": "\x03"}
        with contextlib.suppress(OSError):  # Linux says so when the other side is gone.
            while chunk := os.read(terminal, 1024):
                shown += chunk
                for end, keys in list(answers.items()):
                    if shown.endswith(end.encode()):
                        os.write(terminal, keys.encode())
                        del answers[end]
                        break
        os.close(terminal)
    text = shown.decode().replace("\r\n", "\n")
    recording = recording_named_in(text, kept)
    assert text.replace("^C", "").startswith(recording.screen)
    assert "你> 短\n[第 1 轮]\n助手> 好\n" in recording.screen
    assert recording.screen.endswith("助手> 这个\n再见。（本次对话共 3 条消息）\n")
    assert [m.ending for m in recording.moments if m.ending] == ["no tool wanted", "interrupted"]
