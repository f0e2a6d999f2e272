"""`make break`: predict what a change does, then see it, in a copy."""

import difflib
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from shared import environment
from shared.child import ChildError, call_in_child
from shared.errors import UsageError
from shared.steps import ROOT
from shared.watching import Run

from .breaks import Break, Question, find_break, find_breaks, pinned_run, run_broken
from .tasks import labs_folder

LONGEST_COMPLAINT = 8  # lines
LONG_ANSWER = 10  # characters


def list_breaks(step: Path) -> int:
    """Print the catalogue of a step."""
    breaks = find_breaks(step)
    width = max(map(len, breaks))
    for change in breaks.values():
        print(f"  {change.name:{width}}  {change.why}")
    print(f"\nmake break STEP={step.name[4:6]} NAME={next(iter(breaks))} breaks it, in a copy.")
    return 0


def break_it(step: Path, name: str) -> int:
    """Ask for a prediction, play the demo of a broken copy, and show what that changed."""
    change = find_break(step, name)
    intact = pinned_run(labs_folder(step), "demo")
    with tempfile.TemporaryDirectory() as folder:
        try:
            own = Run(**call_in_child(ROOT, "shared.watching:watch_demo", step.name))
            run = run_broken(change, Path(folder))
        except ChildError as error:
            raise UsageError(f"{step.name} does not run: {error}") from None
        if not own.same_as(intact):
            raise UsageError(
                f"the demo of {step.name} is changed, and so the change cannot be told apart; "
                f"make reset STEP={step.name[4:6]} puts it back and saves what you did"
            )
        print(f"{step.name}/{change.file}, in a copy:\n")
        print("\n".join(edit(change)))
        predictions = [predicted(question) for question in change.questions]
        print("\n".join(consequences(run, intact)))
        print(f"\n{change.why}")
        print(f"The test that sees it: {step.name}/tests/{change.test}")
        if not change.changes and environment.is_current():
            print("\n".join(words_of_the_test(change, Path(folder))))
    print("\nYour prediction, and what happened:")
    for question, said in zip(change.questions, predictions, strict=True):
        print(f"  {question.ask}")
        print(f"    you: {said or '-'}{'   (right)' if is_right(said, question.answer) else ''}")
        print(f"    it:  {question.answer}")
    return 0


def is_right(said: str, answer: str) -> bool:
    """Return whether a prediction says the answer, perhaps with other words around it.

    A long answer need not be said to its end, and yes and no may be said by their first letter.
    """
    said, answer = said.casefold().strip(), answer.casefold()
    if len(answer) > LONG_ANSWER:
        return len(said) >= 4 and (said in answer or answer in said)
    whole = rf"(?<!\w){re.escape(answer)}(?!\w)"
    return (said in ("y", "n") and answer.startswith(said)) or bool(re.search(whole, said))


def words_of_the_test(change: Break, folder: Path) -> list[str]:
    """Run the test that sees a change which the demo does not show; return what it complains of."""
    shutil.copytree(ROOT / "shared", folder / "shared")
    for name in ("conftest.py", "pyproject.toml"):
        shutil.copy(ROOT / name, folder)
    test = f"{change.step}/tests/{change.test}"
    done = subprocess.run(
        [environment.ready_python(), "-m", "pytest", "-x", "-p", "no:cacheprovider", test],
        cwd=folder,
        capture_output=True,
    )
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    return [f"  {line}" for line in lines if line.startswith("E  ")][:LONGEST_COMPLAINT]


def edit(change: Break) -> list[str]:
    """Return the change as the lines that go and the lines that come."""
    old, new = change.old.splitlines(), change.new.splitlines()
    lines = difflib.ndiff(old, new)
    return [f"  {line.rstrip()}" for line in lines if line.strip() and not line.startswith("?")]


def predicted(question: Question) -> str:
    """Ask on a terminal; Enter skips. Elsewhere nobody is asked."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return ""
    try:
        return input(f"\n{question.ask} ").strip()
    except EOFError:
        return ""


def consequences(run: Run, intact: Run) -> list[str]:
    """Return what the change does to both channels, as diffs against the intact step."""
    lines = []
    for channel, before, after in (
        ("transcript: what people see", intact.transcript, run.transcript),
        ("history: what the model sees", intact.history, run.history),
    ):
        lines += ["", f"== {channel} =="]
        diff = difflib.unified_diff(
            before.splitlines(), after.splitlines(), "intact", "broken", lineterm="", n=2
        )
        lines += list(diff) or ["the same: the demo does not show it"]
    if run.faults:
        lines += ["", "== a real provider would refuse this history =="]
        lines += run.faults[:6] + (["..."] if len(run.faults) > 6 else [])
    return lines
