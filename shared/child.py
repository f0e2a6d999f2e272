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
LONGEST_MESSAGE = 200  # characters
STEP_FOLDER = re.compile(r"[\\/]step\d\d_\w*[\\/]")

# Not -m: this module would then be there twice, with two kinds of each of its errors.
# And no PYTHONPATH: the name of a folder may hold what separates two of them there.
START = """
import sys
sys.path[:0] = sys.argv[1:3]
from shared.child import main
main(sys.argv[3:])
"""


class ChildError(Exception):
    """The code could not be run to its end; the text says where and why.

    `in_step` tells whether the code of a step failed, or what was called to look at it.
    """

    def __init__(self, text: str, *, in_step: bool = True) -> None:
        super().__init__(text)
        self.in_step = in_step


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
        raise ChildError(answer["failure"], in_step=answer["in_step"])
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
        answer = {"failure": explained(error), "in_step": comes_from_step(error)}
    print(json.dumps(answer))


def explained(error: BaseException) -> str:
    """Return one line that says what is wrong, and where in the code of the step."""
    match error:
        case EndlessScreenError():
            return say("it prints without end: a loop that never ends?")
        case SyntaxError(filename=str(filename), lineno=int(line), msg=reason):
            return say(
                "{file}, line {line}, is not Python: {reason}",
                file=name_in_step(filename),
                line=line,
                reason=reason,
            )
        case ModuleNotFoundError(name=str(name)) if name.startswith("step"):
            file = name.partition(".")[2].replace(".", "/") or name
            text = say("there is no {file} to import: deleted, renamed or misspelt?", file=file)
            return text + place_of(error)
    first_line = str(error).partition("\n")[0][:LONGEST_MESSAGE]
    return ": ".join(filter(None, [type(error).__name__, first_line])) + place_of(error)


def place_of(error: BaseException) -> str:
    """Return where in the code of a step an error came from, if it did."""
    frames = step_frames(error)
    if not frames:
        return ""
    file = name_in_step(frames[-1].filename)
    return say(" ({file}, line {line})", file=file, line=frames[-1].lineno)


def comes_from_step(error: BaseException) -> bool:
    match error:
        case EndlessScreenError():
            return True
        case SyntaxError(filename=str(filename)) if STEP_FOLDER.search(filename):
            return True
        case ModuleNotFoundError(name=str(name)) if name.startswith("step"):
            return True
    return bool(step_frames(error))


def step_frames(error: BaseException) -> list[traceback.FrameSummary]:
    frames = traceback.extract_tb(error.__traceback__)
    return [frame for frame in frames if STEP_FOLDER.search(frame.filename)]


def name_in_step(filename: str) -> str:
    """Return the name of a step's file as seen from the step's folder."""
    return Path(STEP_FOLDER.split(filename)[-1]).as_posix()
