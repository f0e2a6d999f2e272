"""Where the steps are. They are found by their number and listed nowhere."""

import re
from pathlib import Path

from .errors import UsageError

ROOT = Path(__file__).resolve().parent.parent


def find_steps(root: Path = ROOT) -> dict[int, Path]:
    """Return the folder of every step by its number, in order."""
    folders = sorted(p for p in root.iterdir() if re.match(r"step\d\d_", p.name))
    # A folder without code is what another branch has left behind.
    return {int(p.name[4:6]): p for p in folders if any(p.glob("*.py"))}


def find_step(number: str, root: Path = ROOT) -> Path:
    """Return the folder of the step that `number` names, 4 and 04 alike; UsageError if none."""
    steps = find_steps(root)
    if number.isdecimal() and int(number) in steps:
        return steps[int(number)]
    asked = f"there is no step {number!r}" if number else "no step was named"
    raise UsageError(f"{asked}; choose one: {', '.join(map(choice, steps.values()))}")


def step_before(step: Path, root: Path = ROOT) -> Path:
    """Return the step before `step`; UsageError if it is the first."""
    steps = list(find_steps(root).values())
    place = steps.index(step)
    if place == 0:
        raise UsageError(f"{step.name} is the first step; name the other one: FROM=04 STEP=05")
    return steps[place - 1]


def choice(step: Path) -> str:
    return f"STEP={step.name[4:6]} ({step.name})"
