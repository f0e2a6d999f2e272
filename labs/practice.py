"""The commands for the tasks: lab, hint, solution."""

from pathlib import Path

from shared import screen
from shared.errors import UsageError
from shared.screen import wrapped
from shared.steps import ROOT

from . import progress
from .language import in_readers_language, say
from .progress import Progress
from .tasks import Task, find_task, find_tasks, labs_folder, steps_with_tasks


def lab(step: Path) -> int:
    """List the tasks of a step, their state, and what to type next."""
    known = progress.load()
    tasks = find_tasks(step)
    page = in_readers_language(labs_folder(step) / "README.md")
    print(f"{step.name}: {page.relative_to(ROOT).as_posix()}\n")
    for task in tasks:
        print(wrapped(line_of(task, known.get(task.key, Progress())), "  "))
    print()
    waiting = [task for task in tasks if not known.get(task.key, Progress()).done]
    if waiting:
        print(
            say("Read {page}, then type:", page=waiting[0].worksheet.relative_to(ROOT).as_posix())
        )
        print(f"  {waiting[0].command('check')}")
        return 0
    print(say("All done. What else there is:"))
    for other in steps_with_tasks():
        if other.name > step.name:
            print(f"  make lab STEP={other.name[4:6]}")
            break
    print(f"  make break STEP={step.name[4:6]}")
    return 0


def line_of(task: Task, entry: Progress) -> str:
    if entry.done:
        return say("done     {title}", title=task.title)
    line = say("not yet  {title}", title=task.title)
    if not entry.hints:
        return line
    most = len(task.hints)
    taken = min(entry.hints, most)
    return f"{line}  {say('({taken} of {most} hints taken)', taken=taken, most=most)}"


def hint(step: Path, task: str) -> int:
    """Show the next hint of a task; after the last one, that one again."""
    found = find_task(step, task)
    known = progress.load()
    entry = known.setdefault(found.key, Progress())
    hints = found.hints
    entry.hints = min(entry.hints + 1, len(hints))
    text = hints[entry.hints - 1]
    print(wrapped(say("hint {n} of {most}: {text}", n=entry.hints, most=len(hints), text=text)))
    if entry.hints == len(hints):
        print(say("That was the last one. The reference solution:"))
        print(f"  {found.command('solution', ' SHOW=1')}")
    progress.save(known)  # Last: where it fails, the hint has been seen.
    return 0


def solution(step: Path, task: str, show: bool) -> int:
    """Print the reference change of a task, once it is done or when `show` insists."""
    found = find_task(step, task)
    if not show and not progress.load().get(found.key, Progress()).done:
        command = found.command("solution", " SHOW=1")
        raise UsageError(say("not done yet; to see it now: {command}", command=command))
    screen.show(found.solution)
    return 0
