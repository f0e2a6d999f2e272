"""The break-it catalogue: named changes that each take away one thing the chapter explains.

They stand in labs/stepNN/breaks.toml. What the demo of a broken step says is pinned beside it: in
labs/stepNN/pinned, under the name of the change; under `demo`, what the intact one says.
"""

import shutil
import tomllib
from dataclasses import dataclass
from pathlib import Path

from shared.child import call_in_child
from shared.errors import UsageError
from shared.steps import ROOT
from shared.watching import Run

from .tasks import labs_folder


@dataclass(frozen=True, slots=True)
class Question:
    """A prediction to be made: one answer, and the text of the run that proves it.

    `proof` is to be found in what the broken step shows or, if it starts with "no ", is not to be
    found there. Without one the answer follows from the changed line, and the test of the change is
    what stands for it.
    """

    ask: str
    answer: str
    proof: str = ""


@dataclass(frozen=True, slots=True)
class Break:
    """One change: in `file`, `old` (which stands there exactly once) becomes `new`.

    `changes` says which channels of the demo show it, and `test` which test of the step fails.
    """

    step: str
    name: str
    why: str
    file: str
    old: str
    new: str
    changes: list[str]
    test: str
    questions: list[Question]


def find_breaks(step: Path) -> dict[str, Break]:
    """Return the catalogue of a step, by name."""
    entries = tomllib.loads((labs_folder(step) / "breaks.toml").read_text("utf-8"))
    found = {}
    for name, entry in entries.items():
        questions = [Question(**question) for question in entry.pop("questions")]
        found[name] = Break(step=step.name, name=name, questions=questions, **entry)
    return found


def find_break(step: Path, name: str) -> Break:
    breaks = find_breaks(step)
    if name not in breaks:
        raise UsageError(f"no change is named {name!r}; there are: {', '.join(breaks)}")
    return breaks[name]


def apply_break(change: Break, step: Path) -> None:
    """Make the change in the step folder `step`; UsageError if its text is not there once."""
    path = step / change.file
    text = path.read_text("utf-8") if path.exists() else ""
    if text.count(change.old) != 1:
        raise UsageError(
            f"{step.name}/{change.file} is not as it came, so {change.name!r} does not fit; "
            f"make reset STEP={step.name[4:6]} puts it back and saves what you changed"
        )
    path.write_text(text.replace(change.old, change.new), encoding="utf-8", newline="\n")


def copy_broken(change: Break, folder: Path) -> None:
    """Copy the step into `folder` and break it there."""
    copy = folder / change.step
    shutil.copytree(ROOT / change.step, copy, ignore=shutil.ignore_patterns("__pycache__"))
    apply_break(change, copy)


def run_broken(change: Break, folder: Path) -> Run:
    """Play the demo of a broken copy, made in `folder`."""
    copy_broken(change, folder)
    return Run(**call_in_child(folder, "shared.watching:watch_demo", change.step))


def pinned_run(labs: Path, name: str) -> Run:
    """Return what the demo is known to leave, intact (`demo`) or with a change of the catalogue.

    A channel that a change leaves alone is pinned once, under `demo`.
    """
    texts = []
    for channel in ("output", "context"):
        path = labs / "pinned" / f"{name}.{channel}.txt"
        if not path.exists():
            path = labs / "pinned" / f"demo.{channel}.txt"
        texts.append(path.read_text("utf-8"))
    return Run(transcript=texts[0], history=texts[1], faults=[])
