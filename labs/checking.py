"""`make check`: look at what a reader made of a task, and say what is missing."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from shared.child import ChildError, call_in_child
from shared.screen import visible, wrapped
from shared.steps import ROOT

from . import progress
from .language import say
from .tasks import Task, find_task
from .verdict import Verdict, not_yet


def check(step: Path, task: str) -> int:
    """Look at the reader's working tree; exit status 0 only when the task is done."""
    found = find_task(step, task)
    verdict = look(found)
    print("\n".join(report(found, verdict)))
    if verdict.done:
        known = progress.load()
        known.setdefault(found.key, progress.Progress()).done = True
        progress.save(known)
    return 0 if verdict.done else 1


def look(
    task: Task, root: Path = ROOT, call: Callable[[Path, str, str], Any] = call_in_child
) -> Verdict:
    """Return what the checker of a task says of the step in `root`; `call` runs it there."""
    checker = f"labs.{task.step.name[:6]}.checks:task{task.number}"
    try:
        return Verdict(**call(root, checker, task.step.name))
    except ChildError as error:
        again = say(
            "make reset STEP={number} saves your changes, then restores the step",
            number=task.step_number,
        )
        if error.in_step:
            return not_yet(say("the step does not run: {error}", error=error), guess=again)
        found = say("this check cannot make sense of the step: {error}", error=error)
        return not_yet(found, guess=again)


def report(task: Task, verdict: Verdict) -> list[str]:
    """Return a verdict as lines for the screen."""
    lines = [line(say("step{number}, {title}", number=task.step_number, title=task.title))]
    if verdict.done:
        return [*lines, line(say("done: {found}", found=verdict.found))]
    lines.append(line(say("not yet: {found}", found=verdict.found)))
    if verdict.where:
        lines.append(line(say("{where}:", where=verdict.where), "  "))
        lines.append(line(say("expected  {text}", text=verdict.expected), "    "))
        lines.append(
            line(say("seen      {text}", text=verdict.seen.strip() or say("(nothing)")), "    ")
        )
    if verdict.guess:
        lines.append(line(say("perhaps: {guess}", guess=verdict.guess), "  "))
    lines.append(line(say("hint: {command}", command=task.command("hint")), "  "))
    if os.environ.get("MAKELEVEL"):
        lines.append(
            line(say('("Error 1" below is how make says that this is not done yet.)'), "  ")
        )
    return lines


def line(text: str, indent: str = "") -> str:
    """Return a text as one paragraph on the screen, in which nothing acts."""
    return wrapped(visible(" ".join(text.splitlines())), indent)
