"""Where the steps are. They are found by their number and listed nowhere."""

import re
from pathlib import Path

from .errors import UsageError
from .language import say

ROOT = Path(__file__).resolve().parent.parent


def find_steps(root: Path = ROOT) -> dict[int, Path]:
    """Return the folder of every step by its number, in order; UsageError if two have one number.

    A step is a package that can be imported, so that a copy such as step04_agent_loop.bak is none.
    """
    found: dict[int, Path] = {}
    for folder in sorted(root.iterdir()):
        # A folder without code is what another branch has left behind.
        if re.fullmatch(r"step\d\d_\w+", folder.name, re.ASCII) and any(folder.glob("*.py")):
            first = found.setdefault(int(folder.name[4:6]), folder)
            if first != folder:
                raise two_of_one_number(first, folder)
    return found


def two_of_one_number(first: Path, second: Path) -> UsageError:
    return UsageError(
        say(
            "two folders have the number {number}: {first} and {second}; "
            "rename one of them, for example to {second}.bak",
            number=first.name[4:6],
            first=first.name,
            second=second.name,
        )
    )


def find_step(number: str, root: Path = ROOT) -> Path:
    """Return the folder of the step that `number` names, 4 and 04 alike; UsageError if none."""
    steps = {step.name[4:6]: step for step in find_steps(root).values()}
    if number.zfill(2) in steps:
        return steps[number.zfill(2)]
    choices = ", ".join(f"STEP={number} ({step.name})" for number, step in steps.items())
    if not number:
        raise UsageError(say("no step was named; choose one: {choices}", choices=choices))
    raise UsageError(
        say("there is no step {number!r}; choose one: {choices}", number=number, choices=choices)
    )


def step_before(step: Path, root: Path = ROOT) -> Path:
    """Return the step before `step`; UsageError if it is the first."""
    steps = list(find_steps(root).values())
    place = steps.index(step)
    if place == 0:
        raise UsageError(
            say("{step} is the first step; name another one: FROM=04 STEP=05", step=step.name)
        )
    return steps[place - 1]
