"""make chat RECORD=1: a real conversation, kept."""

import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.steps import ROOT, find_step
from shared.trace import recording_file
from shared.trace.recording import Recording

pty = pytest.importorskip("pty", reason="there are no terminals to be made here")
termios = pytest.importorskip("termios")

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
    assert name is not None
    kept.append(ROOT / name[1])
    (recording,) = recording_file.read(kept[-1])
    return recording


def test_a_conversation_through_a_pipe_is_recorded_as_it_is_shown(kept: list[Path]) -> None:
    done = subprocess.run(
        COMMAND, cwd=ROOT, input="你好\n帮我算 12*8\n/exit\n", capture_output=True, encoding="utf-8"
    )
    recording = recording_named_in(done.stdout, kept)
    assert recording.what == "chat"
    assert done.stdout.startswith(recording.screen)
    assert recording.screen.endswith("再见。（本次对话共 6 条消息）\n")
    assert [m.ending for m in recording.moments if m.ending] == ["no tool wanted"] * 2
    assert recording.moments[-1].screen == len(recording.screen)
