"""The commands for the tasks: lab, check, hint, solution."""

from pathlib import Path

from shared.errors import UsageError
from shared.steps import ROOT

from . import progress
from .checking import check as check
from .tasks import find_task, find_tasks


def lab(step: Path) -> int:
    """List the tasks of a step, their state, and what to type next."""
    known = progress.load()
    tasks = find_tasks(step)
    print(f"{step.name}: labs/{step.name[:6]}/README.md\n")
    for task in tasks:
        entry = known.get(task.key, progress.Progress())
        hints = f"   ({entry.hints} of {len(task.hints)} hints taken)" if entry.hints else ""
        print(f"  {'done   ' if entry.done else 'not yet'}  {task.title}{hints}")
    waiting = [task for task in tasks if not known.get(task.key, progress.Progress()).done]
    print()
    if waiting:
        print(f"Read {waiting[0].worksheet.relative_to(ROOT).as_posix()}, then type:")
        print(f"  {waiting[0].command('check')}")
    else:
        print(f"All done. What else can break: make break STEP={step.name[4:6]}")
    return 0


def hint(step: Path, number: str) -> int:
    """Show the next hint of a task; after the last one, that one again."""
    task = find_task(step, number)
    known = progress.load()
    entry = known.setdefault(task.key, progress.Progress())
    entry.hints = min(entry.hints + 1, len(task.hints))
    progress.save(known)
    print(f"hint {entry.hints} of {len(task.hints)}: {task.hints[entry.hints - 1]}")
    if entry.hints == len(task.hints):
        print(f"That was the last one. {task.command('solution', ' SHOW=1')}")
    return 0


def solution(step: Path, number: str, *, show: bool) -> int:
    """Print the reference change of a task, once it is done or when `show` insists."""
    task = find_task(step, number)
    if not show and not progress.load().get(task.key, progress.Progress()).done:
        raise UsageError(
            f"not done yet; to see it all the same: {task.command('solution', ' SHOW=1')}"
        )
    print(task.solution, end="")
    return 0
