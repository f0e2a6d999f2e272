"""The program is killed at any moment: nothing that was shown is lost, and it can go on."""

import os
import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from shared.pairing import pairing_faults

from ..harness_types import AssistantMessage, message_text, user_text
from ..sessions.folder import latest_session
from ..sessions.session_file import SessionError

TIMES = 200
SENTENCES = ["帮我算 12*8", "故意写错参数试试", "你好"]

# Imports the step once. For each line it talks in a process that is killed after so many calls and
# returns of functions, or if that is 0, never; then it says how many there were.
TALKING = """
import os, signal, sys
from pathlib import Path
from {package}.main import chat
from {package}.sessions.folder import start_session

def talk(folder, moment):
    passed = 0
    def count(frame, event, argument):
        nonlocal passed
        passed += 1
        if passed == moment:
            os.kill(os.getpid(), signal.SIGKILL)
    os.chdir(folder)
    sys.stdout = open("out", "w", buffering=1, encoding="utf-8")
    sys.setprofile(count)
    chat({sentences!r}, session=start_session(Path.cwd()))
    sys.setprofile(None)
    return passed

for line in sys.stdin:
    folder, moment = line.split()
    if moment == "0":
        answer = talk(folder, 0)
    elif (child := os.fork()) == 0:
        talk(folder, int(moment))
        os._exit(0)
    else:
        answer = os.WTERMSIG(os.waitpid(child, 0)[1])
    print(answer, file=sys.__stdout__, flush=True)
"""


class Talking:
    """A process that talks in processes which are killed."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process

    def talk(self, folder: Path, moment: int) -> int:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(folder, moment, file=self.process.stdin, flush=True)
        return int(self.process.stdout.readline())


@pytest.fixture
def talking() -> Iterator[Talking]:
    code = TALKING.format(package=__package__.split(".")[0], sentences=SENTENCES)
    with subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield Talking(process)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs the processes of POSIX")
def test_killed_at_any_moment_a_conversation_goes_on_where_it_was(talking: Talking) -> None:
    # A kill is no power cut: where there is a folder that costs no disk, that will do.
    memory = Path("/dev/shm")  # noqa: S108
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as place:
        whole = Path(place, "whole")
        whole.mkdir()
        end = talking.talk(whole, 0)
        assert len(check_what_is_left(whole)) == 12
        chance = random.Random(6)  # noqa: S311
        kept = set()
        for number in range(TIMES):
            folder = Path(place, str(number))
            folder.mkdir()
            # 0: it had ended before, since not every run makes the same number of calls.
            assert talking.talk(folder, chance.randint(1, end)) in (signal.SIGKILL, 0)
            kept.add(len(check_what_is_left(folder)))
        assert len(kept) > 8, "the moments were not all that different"


def check_what_is_left(folder: Path) -> list[str]:
    """Go on with what was left, and return the texts that were on the disk."""
    out = folder / "out"
    shown = out.read_text("utf-8") if out.exists() else ""
    try:
        session = latest_session(folder)
    except SessionError:
        assert "[第 1 轮]" not in shown  # It was killed before anything was said.
        return []
    with closing(session):
        assert "读不懂" not in "".join(session.notices)  # A line comes whole, or not at all.
        stored, history = session.tree.messages(), session.history()
        assert pairing_faults(history) == []
        texts = [message_text(message) for message in stored]
        turns = shown.rpartition("轮结束]")[0]  # The results of a turn are kept when all are there.
        results = [line for line in turns.splitlines() if line.startswith("[工具结果] calc → ")]
        for line in results:
            assert line.removeprefix("[工具结果] calc → ").removesuffix("（出错）") in texts
        answers = [message for message in stored if isinstance(message, AssistantMessage)]
        assert len(answers) >= shown.count(" 轮结束]\n")
        assert session.save([*history, user_text("还在吗")]) is None
    with closing(latest_session(folder)) as session:
        assert session.history() == [*history, user_text("还在吗")]
    return texts
