"""A process of its own for code that a reader has changed: it may not parse, crash or never end."""

import contextlib
import dataclasses
import importlib
import io
import json
import os
import re
import subprocess
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .language import say
from .steps import ROOT

SECONDS = 8
SCREEN_SIZE = 1_000_000  # characters

# Not -m: this module would then be there twice, with two kinds of each of its errors.
# And no PYTHONPATH: the name of a folder may hold what separates two of them there.
START = """
import sys
sys.path[:0] = sys.argv[1:3]
from shared.child import main
main(sys.argv[3:])
"""


class ChildError(Exception):
    """The changed code could not be run to its end; the text says where and why."""


class EndlessScreenError(BaseException):
    """Somebody prints without end. No tool and no loop may take this for a failure of its own."""


class Screen(io.StringIO):
    """What a reader's code prints; one that prints without end is stopped."""

    def write(self, text: str) -> int:
        if self.tell() > SCREEN_SIZE:
            raise EndlessScreenError
        return super().write(text)


def call_in_child(root: Path, function: str, *arguments: str) -> Any:
    """Call "module:function" in a process that finds the steps in `root`; return what it returns.

    A dataclass comes back as a dict. ChildError if the code of the step fails or takes too long.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-c", START, str(root), str(ROOT), function, *arguments],
            cwd=root,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise ChildError(
            say("it did not end after {seconds} seconds: a loop that never ends?", seconds=SECONDS)
        ) from None
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise ChildError(" ".join([say("it left without an answer."), *last])) from None
    if "failure" in answer:
        raise ChildError(answer["failure"])
    return answer["result"]


def main(arguments: Sequence[str]) -> None:
    """Call a function and print its result, or what failed, as one JSON object."""
    module, _, name = arguments[0].partition(":")
    answer: dict[str, object]
    try:
        with contextlib.redirect_stdout(Screen()):
            result = getattr(importlib.import_module(module), name)(*arguments[1:])
        answer = {"result": dataclasses.asdict(result)}
    except BaseException as error:
        answer = {"failure": explained(error)}
    print(json.dumps(answer))


def explained(error: BaseException) -> str:
    """Return one line that says what is wrong with the code of the step, and where."""
    match error:
        case EndlessScreenError():
            return say("it prints without end: a loop that never ends?")
        case SyntaxError(filename=str(filename), lineno=int(line), msg=reason):
            return say(
                "{file}, line {line}, is not Python: {reason}",
                file=Path(filename).name,
                line=line,
                reason=reason,
            )
        case ModuleNotFoundError(name=str(name)) if name.startswith("step"):
            file = name.partition(".")[2].replace(".", "/") or name
            text = say("there is no {file} to import: deleted, renamed or misspelt?", file=file)
            return text + place_of(error)
    first_line = str(error).partition("\n")[0]
    return f"{type(error).__name__}: {first_line}{place_of(error)}"


def place_of(error: BaseException) -> str:
    """Return where in the code of a step an error came from, if it did."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if re.search(r"[\\/]step\d\d_", frame.filename)]
    if not ours:
        return ""
    file, line = Path(ours[-1].filename).name, ours[-1].lineno
    return say(" ({file}, line {line})", file=file, line=line)
