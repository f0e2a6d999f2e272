"""The commands of `make` and of `python -m shared`, which are the same."""

import argparse
import io
import os
import runpy
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from labs import breaking, breaks, practice, reset, rule_debugger

from . import bench, environment, step_diff
from .errors import UsageError
from .steps import ROOT, find_step, find_steps, step_before
from .trace import command as tracing
from .trace.recorder import Recording

HELP = """\
Mini Agent Harness: how an agent loop really works, one step at a time.

run
  make demo STEP=04              play the demo of a step
  make chat STEP=05              talk to a step; /exit leaves

read
  make diff STEP=05              what a step changes, against the one before it
      FROM=03                    against another one
      FILE=agent_loop            one file of it
      ALL=1                      with tests, pinned files and READMEs
  make trace STEP=04             watch the loop turn, in a browser
      INPUT=你好                 one sentence instead of the demo
      BREAK=no-append            beside a broken copy (see make break)
      TEXT=1, OPEN=1             as a listing; open the page at once

practise
  make lab STEP=04               the tasks of a step, and how far you are
  make check STEP=04 TASK=3      look at what you made of a task
  make hint STEP=04 TASK=3       three hints, one at a time
  make solution STEP=04 TASK=3   the reference change, after yours (SHOW=1: now)
  make reset STEP=04             put a step back; your changes are saved first
  make break STEP=04             what can be broken (NAME=no-append: in a copy)
  make rules STEP=04             which rules are odd (INPUT=你好: who answers)

develop
  make test                      run all tests, or those of one step: STEP=04
  make snapshots STEP=04         pin transcript and history of a step anew
  make lint                      ruff and mypy over everything
  make bench                     what a demo and a turn cost, as ratios
  make screenshot                take the picture of the README anew

Without make: python3 -m shared demo 04
              python3 -m shared diff 05 --from 03 --file agent_loop --all
              python3 -m shared check 04 3
"""


# What a command takes besides its step.
STEP_COMMANDS = {
    "demo": (),
    "chat": (),
    "diff": ("--from", "--file", "--all"),
    "trace": ("--input", "--break", "--text", "--open"),
    "lab": (),
    "check": ("task",),
    "hint": ("task",),
    "solution": ("task", "--show"),
    "reset": (),
    "break": ("name",),
    "rules": ("--input",),
    "test": (),
    "snapshots": (),
}
SWITCHES = ("--all", "--show", "--text", "--open")


def main(arguments: Sequence[str]) -> int:
    """Run one command and return its exit status: 2 if the user can put something right."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")
    try:
        return run(parser().parse_args(arguments))
    except UsageError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read our output has seen enough. Python would complain once more when it leaves.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


class Parser(argparse.ArgumentParser):
    """Tells an error in one line, as all commands do."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (python3 -m shared help tells what there is)")

    def print_help(self, file: object = None) -> None:
        print(HELP, end="")


def parser() -> argparse.ArgumentParser:
    top = Parser()
    commands = top.add_subparsers(dest="command", metavar="COMMAND")
    commands.add_parser("help")
    for name, more in STEP_COMMANDS.items():
        command = commands.add_parser(name)
        command.add_argument("step", nargs="?", default="")
        for argument in more:
            if argument in SWITCHES:
                # make passes on every variable, set or not: an empty one is none.
                command.add_argument(argument, nargs="?", const=True, default="", type=is_on)
            elif argument.startswith("-"):
                command.add_argument(argument, default="")
            else:
                command.add_argument(argument, nargs="?", default="")
    commands.add_parser("lint")
    commands.add_parser("bench")
    commands.add_parser("screenshot")
    return top


def is_on(value: str) -> bool:
    return value not in ("", "0")


def run(options: argparse.Namespace) -> int:
    match options.command:
        case "demo":
            runpy.run_module(f"{find_step(options.step).name}.demo", run_name="__main__")
        case "chat":
            runpy.run_module(find_step(options.step).name, run_name="__main__")
        case "diff":
            new, old = find_step(options.step), getattr(options, "from")
            old = find_step(old) if old else step_before(new)
            step_diff.print_diff(old, new, file=options.file, everything=options.all)
        case "trace":
            return trace(options)
        case "lab":
            return practice.lab(find_step(options.step))
        case "check":
            return practice.check(find_step(options.step), options.task)
        case "hint":
            return practice.hint(find_step(options.step), options.task)
        case "solution":
            step = find_step(options.step)
            return practice.solution(step, options.task, show=options.show)
        case "reset":
            return reset.reset(options.step)
        case "break" if not options.name:
            return breaking.list_breaks(find_step(options.step))
        case "break":
            return breaking.break_it(find_step(options.step), options.name)
        case "rules":
            return rule_debugger.rules(find_step(options.step), options.input)
        case "test":
            return environment.run_tool("pytest", *test_arguments(options.step))
        case "snapshots":
            tests = find_step(options.step) / "tests" / "test_demo.py"
            return environment.run_tool("pytest", str(tests), "--snapshot-update")
        case "lint":
            return lint()
        case "screenshot":
            return screenshot()
        case "bench":
            return bench.main(find_steps())
        case _:
            print(HELP, end="")
    return 0


def trace(options: argparse.Namespace) -> int:
    """Record a step, beside a broken copy of it if one is named, and show what was recorded."""
    step, name = find_step(options.step), getattr(options, "break")
    lanes = recorded(step, name, options.input.strip())
    if options.text:
        tracing.print_listing(lanes)
        return 0
    page = "-".join(filter(None, [step.name, name, options.input and "sentence"]))
    return tracing.write_page(lanes, page, show=options.open)


def screenshot() -> int:
    """Take the picture of the README: the loop beside the one that forgets its results."""
    lanes = recorded(find_step("04"), "no-append", "")
    return tracing.take_screenshot(lanes, "screenshot", ROOT / "docs" / "trace.png")


def recorded(step: Path, name: str, sentence: str) -> dict[str, Recording]:
    """Record a step, and a copy with the change `name` of the catalogue, if there is a name."""
    sentence = sentence.encode("utf-8", "replace").decode("utf-8")
    roots = {"完好 · intact": ROOT}
    with tempfile.TemporaryDirectory() as folder:
        if name:
            breaks.copy_broken(breaks.find_break(step, name), Path(folder))
            roots[f"拆坏 · broken: {name}"] = Path(folder)
        return tracing.record_all(step, roots, sentence)


def test_arguments(step: str) -> list[str]:
    """Return what pytest is to run: one step, or everything, on all cores."""
    return [str(find_step(step))] if step else ["-n", "auto", "--dist", "worksteal"]


def lint() -> int:
    """Run every checker, also after one has found something."""
    checks = [("ruff", "check", "."), ("ruff", "format", "--check", "."), ("mypy",)]
    return max([environment.run_tool(*check) for check in checks])
