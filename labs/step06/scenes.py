"""Scenes for the changes of step06 that its demo does not show (see labs/stage.py).

In each of them the program runs twice or more in one folder, and `main.chat` is the last of these
runs. A run that is killed is a process of its own, and it is killed for good.
"""

import errno
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from step06_sessions.fake_model import Rule
from step06_sessions.harness_types import Context
from step06_sessions.sessions.folder import latest_session, start_session
from step06_sessions.sessions.session import Session
from step06_sessions.sessions.session_file import SessionBusyError, SessionError, SessionFile
from step06_sessions.terminal import shown_lines, use_utf8
from step06_sessions.tools import create_builtin_tools
from step06_sessions.tools.registry import ToolRegistry
from step06_sessions.tools.tool_types import ToolContext, ToolDefinition, ToolResult

step: Any = importlib.import_module("step06_sessions.main")
NUMBERS = "一二三"
SESSIONS = Path(".sessions")
SIGKILL = 9  # Windows has no name for it, and does the same.
TIME = "2026-01-01T12:00:00.000Z"
HEADER = f'{{"type":"session","version":1,"id":"s","timestamp":"{TIME}"}}'
START = """
import sys
sys.path[:0] = sys.argv[1:3]
from labs.step06 import scenes
getattr(scenes, sys.argv[3])()
"""


def noon() -> datetime:
    return datetime(2026, 1, 1, 12, tzinfo=UTC)


def ids_of(run: int) -> Callable[[], str]:
    """Return what makes the ids of a run: 10000001, 10000002, ... in the first one."""
    numbers = count(1)
    return lambda: f"{run}{next(numbers):07}"


def new_session(run: int) -> Session:
    return start_session(Path.cwd(), new_id=ids_of(run), now=noon)


def old_session(run: int) -> Session:
    return latest_session(Path.cwd(), new_id=ids_of(run), now=noon)


def heading(run: int) -> None:
    print(f"—— 第{NUMBERS[run - 1]}次运行{'，带 --continue' if run > 1 else ''} ——")


def going_on(chat: Callable[..., Context], run: int, lines: Iterable[str]) -> Context:
    """Go on with the session of this folder, with --continue. If there is none, begin a new one."""
    heading(run)
    try:
        session = old_session(run)
    except SessionBusyError:
        raise
    except SessionError as error:
        print(error)
        print()
        print("—— 再启动一次，不带 --continue ——")
        session = new_session(run)
    with closing(session):
        return chat(lines, session=session)


def in_own_process(function: str) -> str:
    """Call a function of this module in a process of its own; return what that has printed."""
    folders = [str(Path(str(step.__file__)).parents[1]), str(Path(__file__).parents[2])]
    done = subprocess.run(
        [sys.executable, "-u", "-c", START, *folders, function],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    )
    return done.stdout.decode("utf-8")


def bring(name: str, *lines: str, end: str = "\n") -> Path:
    """Write a session file of this folder."""
    SESSIONS.mkdir(exist_ok=True)
    path = SESSIONS / name
    path.write_text("\n".join(lines) + end, encoding="utf-8", newline="\n")
    return path


def entry(entry_id: str, parent: str | None, role: str, words: str) -> str:
    """Return a line of a session file: something that was said."""
    message: dict[str, Any] = {"role": role, "content": [{"type": "text", "text": words}]}
    if role == "assistant":
        message["stopReason"] = "stop"
    place = {"type": "message", "id": entry_id, "parentId": parent, "timestamp": TIME}
    return json.dumps({**place, "message": message}, ensure_ascii=False)


async def unplug(args: dict[str, object], context: ToolContext) -> ToolResult:
    """Cut the power: of this process nothing is left that could still do something."""
    os.kill(os.getpid(), SIGKILL)
    return ToolResult("（没有断电）")


def with_unplug() -> ToolRegistry:
    registry = create_builtin_tools()
    schema: Any = {"type": "object", "properties": {}}
    registry.register(ToolDefinition("unplug", "拔掉电源。", schema, unplug))
    return registry


def run_until_unplugged() -> None:
    """Calculate something, and then cut the power. This is the first run of a scene."""
    use_utf8()
    result = "toolResult:calc 96"
    call: Any = {"name": "unplug", "arguments": {}}
    step.RULES[:] = [Rule(match=result, reply="12*8 = 96。拔电源。", tool_call=call), *step.RULES]
    step.create_builtin_tools = with_unplug
    with closing(new_session(1)) as session:
        step.chat(shown_lines(["帮我算 12*8，再拔掉电源"]), session=session)


def power_cut(main: Any) -> list[str]:
    """The power goes while a tool runs."""
    chat = main.chat

    def second_run(lines: Iterable[str]) -> Context:
        heading(1)
        print(in_own_process("run_until_unplugged"))
        return going_on(chat, 2, lines)

    main.chat = second_run
    return ["刚才算的是多少"]


def torn_line(main: Any) -> list[str]:
    """The power went while a line was written; then the program runs twice."""
    torn = entry("s2", "s1", "assistant", "算好了：12*8 = 96。")[:70]
    bring("s.jsonl", HEADER, entry("s1", None, "user", "帮我算 12*8"), torn, end="")
    chat = main.chat

    def third_run(lines: Iterable[str]) -> Context:
        going_on(chat, 2, shown_lines(["你好"]))
        print()
        return going_on(chat, 3, lines)

    main.chat = third_run
    return ["还在吗"]


def file_in_two_runs(main: Any) -> list[str]:
    """A file of several lines is read; the next run goes on behind that."""
    Path("note.txt").write_text("第一行\n第二行\n", encoding="utf-8", newline="\n")
    chat = main.chat

    def second_run(lines: Iterable[str]) -> Context:
        heading(1)
        with closing(new_session(1)) as session:
            chat(shown_lines(["读一下 note.txt"]), session=session)
        print()
        return going_on(chat, 2, lines)

    main.chat = second_run
    return ["再读一下 note.txt"]


def branch_in_two_runs(main: Any) -> list[str]:
    """The user goes back and says something else; the next run goes on behind that."""
    chat = main.chat

    def second_run(lines: Iterable[str]) -> Context:
        heading(1)
        with closing(new_session(1)) as session:
            chat(shown_lines(["帮我算 12*8", "/back 1", "你好"]), session=session)
        print()
        return going_on(chat, 2, lines)

    main.chat = second_run
    return ["刚才算的是多少", "/tree"]


def run_beside() -> None:
    """Go on with a session that another process has. This is the second run of a scene."""
    use_utf8()
    try:
        going_on(step.chat, 2, shown_lines(["帮我算 12*8"]))
    except SessionBusyError as error:
        print(error)


def two_at_once(main: Any) -> list[str]:
    """A second process goes on with the session before the first one has ended."""
    chat = main.chat

    def said_by_first() -> Iterable[str]:
        yield from shown_lines(["你好"])
        print(in_own_process("run_beside"))
        print("—— 还是第一次运行 ——")
        yield from shown_lines(["还在吗"])

    def third_run(lines: Iterable[str]) -> Context:
        heading(1)
        with closing(new_session(1)) as session:
            chat(said_by_first(), session=session)
        print()
        return going_on(chat, 3, lines)

    main.chat = third_run
    return ["刚才算的是多少", "/tree"]


def bad_line(main: Any) -> list[str]:
    """Somebody has damaged a line in the middle of the file."""
    bring(
        "s.jsonl",
        HEADER,
        entry("s1", None, "user", "你好"),
        entry("s2", "s1", "assistant", "你好！")[:60],
        entry("s3", "s2", "user", "帮我算 12*8"),
        entry("s4", "s3", "assistant", "12*8 = 96。"),
    )
    main.chat = partial(going_on, main.chat, 2)
    return ["刚才算的是多少"]


def newest_is_bad(main: Any) -> list[str]:
    """Of two sessions the newer one is an empty file."""
    old = bring(
        "old.jsonl",
        HEADER,
        entry("s1", None, "user", "帮我算 12*8"),
        entry("s2", "s1", "assistant", "12*8 = 96。"),
    )
    new = bring("new.jsonl", end="")
    for age, path in enumerate((new, old)):
        os.utime(path, (1_000_000 - age, 1_000_000 - age))
    main.chat = partial(going_on, main.chat, 2)
    return ["刚才算的是多少"]


def newer_version(main: Any) -> list[str]:
    """A newer program has written the file; its last entry takes back what was said."""
    bring(
        "s.jsonl",
        HEADER.replace('"version":1', '"version":2'),
        entry("s1", None, "user", "帮我算 12*8"),
        entry("s2", "s1", "assistant", "12*8 = 96。"),
        '{"type":"takeBack","id":"s3","parentId":"s2","entries":["s1","s2"]}',
    )
    main.chat = partial(going_on, main.chat, 2)
    return ["刚才算的是多少"]


class Disk(SessionFile):
    """A file on a disk that has no room for more until somebody makes some."""

    full = True

    def append(self, line: bytes) -> None:
        if self.full:
            raise OSError(errno.ENOSPC, "磁盘满了")
        super().append(line)


def full_disk(main: Any) -> list[str]:
    """The disk is full until the third sentence."""
    chat = main.chat
    disk = Disk(SESSIONS / "s.jsonl")

    def first_run(lines: Iterable[str]) -> Context:
        heading(1)
        session = Session(disk, new_id=ids_of(1), now=noon)
        session.begin("s", Path.cwd())
        with closing(session):
            chat(until_third(lines), session=session)
        print()
        return going_on(chat, 2, shown_lines(["刚才算的是多少"]))

    def until_third(lines: Iterable[str]) -> Iterable[str]:
        for number, line in enumerate(lines, 1):
            disk.full = number < 3
            yield line

    main.chat = first_run
    return ["帮我算 12*8", "你好", "还在吗"]
