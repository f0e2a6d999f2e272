"""The commands for the tasks: lab, check, hint, solution."""

from pathlib import Path

from shared import screen
from shared.child import ChildError, call_in_child
from shared.errors import UsageError
from shared.screen import wrapped
from shared.steps import ROOT

from . import progress
from .language import in_readers_language, say
from .progress import Progress
from .tasks import Task, find_task, find_tasks, labs_folder, steps_with_tasks
from .verdict import Verdict, not_yet


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


def check(step: Path, number: str) -> int:
    """Look at the reader's working tree; exit status 0 only when the task is done."""
    task = find_task(step, number)
    verdict = look(task)
    print("\n".join(report(task, verdict)))
    if verdict.done:
        known = progress.load()
        known.setdefault(task.key, Progress()).done = True
        progress.save(known)
    return 0 if verdict.done else 1


def look(task: Task, root: Path = ROOT) -> Verdict:
    """Return what the checker of a task says of the step in `root`."""
    checker = f"labs.{task.step.name[:6]}.checks:task{task.number}"
    try:
        return Verdict(**call_in_child(root, checker, task.step.name))
    except ChildError as error:
        again = f"make reset STEP={task.step_number} puts the step back and saves your changes"
        guess = f"mend that; to start anew, {again}"
        return not_yet(f"the step does not run: {error}", guess=guess)


def report(task: Task, verdict: Verdict) -> list[str]:
    """Return a verdict as lines for the screen."""
    lines = [f"step{task.step_number}, {task.title}"]
    lines.append(f"{'done' if verdict.done else 'not yet'}: {verdict.found}")
    if verdict.where:
        lines.append(f"  {verdict.where}:")
        lines.append(f"    expected  {verdict.expected}")
        lines.append(f"    seen      {' '.join(verdict.seen.splitlines())}")
    if verdict.guess:
        lines.append(f"  perhaps: {verdict.guess}")
    if not verdict.done:
        lines.append(f"  first hint: {task.command('hint')}")
    return lines


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
