"""What a step has on the disk, read as SESSION_FORMAT.md says it, and by nobody's code but ours."""

import importlib
import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from shared.steps import ROOT
from shared.watching import Run, watch

from ..language import say
from ..verdict import FoundError, not_yet

HEADINGS = 1  # The header stands before the entries.


SIGKILL = 9  # Windows has no name for it, and does the same.

# A process of its own, to be killed. It finds the reader's step first, and then ours.
START = """
import sys
sys.path[:0] = sys.argv[1:3]
from labs.step06.kept import be_killed
be_killed(sys.argv[3], sys.argv[4])
"""


@dataclass(frozen=True, slots=True)
class Kept:
    """Runs of the program in one folder: what the last one left, and the entries on the disk."""

    run: Run
    entries: list[dict[str, Any]]

    def path(self) -> list[dict[str, Any]]:
        """Return the entries from the beginning to the last line, parent by parent."""
        by_id = {entry["id"]: entry for entry in self.entries}
        path: list[dict[str, Any]] = []
        next_id = self.entries[-1]["id"] if self.entries else None
        while next_id in by_id and len(path) <= len(self.entries):
            path.append(by_id[next_id])
            next_id = path[-1]["parentId"]
        return path[::-1]

    def parent(self, entry: dict[str, Any], kinds: Collection[str]) -> str | None:
        """Return the id of the entry that this one follows; only those of some types count."""
        by_id = {entry["id"]: entry for entry in self.entries}
        for _ in self.entries:
            entry = by_id.get(entry["parentId"], {})
            if not entry or entry["type"] in kinds:
                break
        return entry.get("id")


@contextmanager
def empty_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as place:
        yield Path(place).resolve()


def talked(package: str, *runs: Sequence[str]) -> Kept:
    """Let the program run once for each list of sentences, in a folder of its own."""
    with empty_folder() as folder:
        for number, lines in enumerate(runs):
            run = talk(package, folder, lines, first=number == 0)
        return Kept(run, entries_in(folder))


def talk(package: str, folder: Path, lines: Sequence[str], *, first: bool) -> Run:
    """Begin a session in `folder` or go on with the one that is there, and say `lines`."""
    found = importlib.import_module(f"{package}.sessions.folder")
    shown_lines = importlib.import_module(f"{package}.terminal").shown_lines
    chat = importlib.import_module(f"{package}.main").chat
    ids = map("{:08}".format, itertools.count(1)).__next__
    opened = found.start_session if first else found.latest_session
    try:
        session = opened(folder, new_id=ids, now=noon)
    except Exception as error:
        if type(error).__name__ != "SessionError":
            raise
        problem = say("the next run cannot go on with what the one before has left")
        raise FoundError(not_yet(problem, guess=str(error))) from None
    with closing(session):
        return watch(lambda: chat(shown_lines(lines), cwd=folder, session=session))


def noon() -> datetime:
    return datetime(2026, 1, 1, 12, tzinfo=UTC)


def entries_in(folder: Path) -> list[dict[str, Any]]:
    """Return the entries of the one session of a folder; none if there is no session."""
    lines = [
        line for path in folder.rglob("*.jsonl") for line in path.read_text("utf-8").split("\n")
    ]
    return [json.loads(line) for line in lines[HEADINGS:] if line]


def texts_of(entries: Sequence[dict[str, Any]]) -> list[str]:
    """Return the texts of the messages among some entries; unknown roles are left out."""
    messages = [entry["message"] for entry in entries if entry["type"] == "message"]
    return [
        "".join(block.get("text", "") for block in message["content"])
        for message in messages
        if message["role"] in ("user", "assistant", "toolResult")
    ]


def killed_run(package: str, sentence: str, folder: Path) -> None:
    """Say a sentence to the step in the current folder, which is killed when it comes to calc."""
    words = [sys.executable, "-c", START, str(Path.cwd()), str(ROOT), package, sentence]
    subprocess.run(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def be_killed(package: str, sentence: str) -> None:
    """Say a sentence in this process, in which calc is deadly."""
    main: Any = importlib.import_module(f"{package}.main")
    tools = importlib.import_module(f"{package}.tools.tool_types")
    registry = main.create_builtin_tools()
    calc = registry.get("calc")

    async def killing(args: dict[str, object], context: object) -> None:
        os.kill(os.getpid(), SIGKILL)

    deadly = type(registry)()
    deadly.register(tools.ToolDefinition(calc.name, calc.description, calc.parameters, killing))
    main.create_builtin_tools = lambda: deadly
    talk(package, Path.cwd(), [sentence], first=True)
