"""The front door: reads a command, calls its handler, and says what went wrong in one line."""

import io
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any

from shared.errors import UsageError
from shared.steps import find_step, find_steps

from .commands import COMMANDS, Argument, Command
from .language import say

HELP_OPTIONS = {"-h", "--help"}
RUN_NOTHING = ("diff", "reset", "test")  # These do not run a step, or not in this Python.


def main(arguments: Sequence[str]) -> int:
    """Run one command and return its exit status: 2 if there is something the user can correct."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")
    try:
        status = run(arguments)
        print(end="", flush=True)
        return status
    except UsageError as error:
        return complain(str(error))
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        discard_output()  # Its reader has seen enough.
        return 0
    except OSError as error:
        if error.filename is None:
            discard_output()  # It is the output that cannot be written.
        elif arguments[0] in ("demo", "chat"):
            raise  # It comes from the code of the step, and a traceback says where.
        return complain(say("this does not work here: {error}", error=error))


def discard_output() -> None:
    """Forget what is not written yet: Python would try again when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(text: str) -> int:
    from shared.screen import wrapped  # Only now: a demo does without it.

    print(wrapped(text), file=sys.stderr)
    return 2


def run(words: Sequence[str]) -> int:
    if not words or words[0] == "help" or HELP_OPTIONS & set(words):
        return print_help()
    command = find_command(words[0])
    values = values_of(command, words[1:])
    if command.name not in RUN_NOTHING and (needs := needs_of(values)) is not None:
        from shared import environment  # Only now: most steps run on a bare Python.

        if not environment.has_all_of(needs):
            # It takes the place of this process: so the terminal, and Ctrl-C, are its own.
            python = str(environment.ready_python())
            sys.stdout.flush()
            os.execv(python, [python, "-m", "labs", *words])  # noqa: S606
    module, _, function = command.handler.partition(":")
    status: int = getattr(import_module(module), function)(**values)
    return status


def needs_of(values: Mapping[str, object]) -> Path | None:
    """Return the file in which a step says what it needs besides Python, if it needs anything."""
    step, number = values.get("step"), str(values.get("number") or "").zfill(2)
    if not isinstance(step, Path):
        step = next((one for one in find_steps().values() if one.name[4:6] == number), None)
    needs = step / "requirements.txt" if step else None
    return needs if needs is not None and needs.exists() else None


def find_command(name: str) -> Command:
    for command in COMMANDS:
        if command.name == name:
            return command
    raise no_such_words(name)


def no_such_words(words: str) -> UsageError:
    return UsageError(
        say("{words!r} is not understood; python3 -m labs help shows all commands", words=words)
    )


def values_of(command: Command, words: Iterable[str]) -> dict[str, Any]:
    """Return what the words say, as the keyword arguments of the command's handler."""
    said = dict(pairs(command, words))
    return {a.parameter: value_of(a, said.get(a.variable, "")) for a in command.arguments}


def pairs(command: Command, words: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Give each argument that was said, and what was said: `--from 03` and `--from=03` alike."""
    options = {f"--{a.variable.lower()}": a for a in command.arguments if a.option}
    places = iter([a for a in command.arguments if not a.option])
    words = iter(words)
    for word in words:
        name, equals, value = word.partition("=")
        found = options.get(name) or next(places, None)
        if found is None or (word.startswith("--") and not found.option):
            raise no_such_words(word)
        if not found.option:
            value = word
        elif not equals:
            value = "1" if found.switch else next(words, "")
            if not value:
                raise no_such_words(word)
        yield found.variable, value


def value_of(argument: Argument, said: str) -> object:
    if argument.parameter == "step":
        return find_step(said)
    if argument.switch:
        return said not in ("", "0")
    return said


def print_help() -> int:
    from shared.screen import show

    show(help_text())
    return 0


def help_text() -> str:
    """Return every command with its arguments, as they are said to make."""
    lines = [say("Mini Agent Harness: how an agent loop really works, one step at a time.")]
    for group, commands in groupby(COMMANDS, key=lambda command: command.group):
        lines += ["", say(group)]
        for command in commands:
            lines += help_lines(command)
    typed = "python3 -m labs diff 05 --from 03 --file agent_loop"
    lines += ["", say("Without make: {typed}", typed=typed)]
    return "".join(f"{line}\n" for line in lines)


def help_lines(command: Command) -> Iterator[str]:
    """Give the line of a command, and one for each argument that it can do without."""
    needed = [f"{a.variable}={a.example}" for a in command.arguments if not a.help]
    yield help_line(" ".join(["  make", command.name, *needed]), command.help)
    for argument in command.arguments:
        if argument.help:
            yield help_line(f"      {argument.variable}={argument.example}", argument.help)


def help_line(typed: str, english: str) -> str:
    from shared.screen import width_of

    return f"{typed}{' ' * (33 - width_of(typed))}{say(english)}"
