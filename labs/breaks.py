"""The break-it catalogue: named changes that each take away one thing the chapter explains.

They stand in labs/stepNN/breaks.toml. A change is seen in the demo of its step, or in a scene of
its own (labs/stepNN/scenes.py) where the demo would not show it. What they leave is pinned in
labs/stepNN/pinned: under the name of the scene for an intact step, else under that of the change.
"""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shared.child import call_in_child
from shared.errors import UsageError
from shared.language import speaks_chinese
from shared.shipped import Shipped
from shared.watching import Run

from .language import say
from .tasks import labs_folder

DEMO = "demo"


@dataclass(frozen=True, slots=True)
class Text:
    """A text of the catalogue. As a str it is in the reader's language."""

    en: str
    zh: str

    def __str__(self) -> str:
        return self.zh if speaks_chinese() else self.en


@dataclass(frozen=True, slots=True)
class Question:
    """A prediction to be made. Each answer counts in both languages, and so do the words of `also`.

    `proof` is to be found in what the broken step leaves or, if it starts with "no ", is not to be
    found there.
    """

    ask: Text
    answer: Text
    proof: str
    also: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Break:
    """One change: in `file`, `old` (which stands there exactly once) becomes `new`.

    `changes` says which channels of `scene` show it, and `test` which test of the step fails.
    `setting` says what happens in a scene that is not the demo.
    """

    step: str
    name: str
    title: Text
    why: Text
    file: str
    old: str
    new: str
    changes: list[str]
    test: str
    questions: list[Question]
    scene: str = DEMO
    setting: Text | None = None


def find_breaks(step: Path) -> dict[str, Break]:
    """Return the catalogue of a step, by name."""
    entries = tomllib.loads((labs_folder(step) / "breaks.toml").read_text("utf-8"))
    return {name: break_from(step.name, name, entry) for name, entry in entries.items()}


def break_from(step: str, name: str, entry: dict[str, Any]) -> Break:
    for text in {"title", "why", "setting"} & entry.keys():
        entry[text] = Text(**entry[text])
    for question in entry["questions"]:
        question |= {"ask": Text(**question["ask"]), "answer": Text(**question["answer"])}
    entry["questions"] = [Question(**question) for question in entry["questions"]]
    return Break(step=step, name=name, **entry)


def find_break(step: Path, name: str) -> Break:
    breaks = find_breaks(step)
    if name not in breaks:
        raise UsageError(
            say(
                "no change is named {name!r}; there are: {choices}",
                name=name,
                choices=", ".join(breaks),
            )
        )
    return breaks[name]


def apply_break(change: Break, step: Path) -> None:
    """Make the change in the step folder `step`; ValueError if its text is not there once."""
    path = step / change.file
    text = path.read_text("utf-8") if path.exists() else ""
    if text.count(change.old) != 1:
        raise ValueError(
            f"{change.name}: its old text stands {text.count(change.old)} times in "
            f"{change.step}/{change.file}, and not once"
        )
    path.write_text(text.replace(change.old, change.new), encoding="utf-8", newline="\n")


def copy_broken(change: Break, folder: Path) -> None:
    """Write the step as it was shipped into `folder`, and break it there.

    What the reader has changed does not matter: nothing of it is in the copy.
    """
    Shipped(change.step).copy_to(folder)
    apply_break(change, folder / change.step)


def run_broken(change: Break, folder: Path) -> Run:
    """Play the scene of a change in a broken copy, made in `folder`."""
    copy_broken(change, folder)
    return run_scene(change.step, change.scene, folder)


def run_intact(step: Path, scene: str, folder: Path) -> Run:
    """Play a scene in a copy of the step as it was shipped, made in `folder`."""
    Shipped(step.name).copy_to(folder)
    return run_scene(step.name, scene, folder)


def run_scene(step: str, scene: str, folder: Path) -> Run:
    """Play the demo or a scene of the copy of a step in `folder`."""
    if scene == DEMO:
        return Run(**call_in_child(folder, "shared.watching:watch_demo", step))
    work = folder / "work"
    work.mkdir()
    return Run(**call_in_child(folder, "labs.stage:watch_scene", step, scene, str(work)))


def pinned_run(labs: Path, name: str, intact: str = DEMO) -> Run:
    """Return what a scene is known to leave: `name` is its own name, or that of a change.

    A channel that a change leaves alone is pinned once, under the name of its scene, `intact`.
    """
    texts = []
    for channel in ("output", "context"):
        path = labs / "pinned" / f"{name}.{channel}.txt"
        if not path.exists():
            path = labs / "pinned" / f"{intact}.{channel}.txt"
        texts.append(path.read_text("utf-8"))
    return Run(transcript=texts[0], history=texts[1], faults=[])
