"""The tasks of a step: found by their folders, labs/stepNN/taskN."""

from dataclasses import dataclass
from pathlib import Path

from shared.errors import UsageError
from shared.steps import ROOT, find_steps

from .language import in_readers_language, say


@dataclass(frozen=True, slots=True)
class Task:
    """One task. `key` is its name in the progress file, such as "04.3"."""

    step: Path
    number: int
    folder: Path

    @property
    def key(self) -> str:
        return f"{self.step_number}.{self.number}"

    @property
    def step_number(self) -> str:
        return self.step.name[4:6]

    @property
    def title(self) -> str:
        """The heading of the worksheet, without its marks, in the reader's language."""
        return self.worksheet.read_text("utf-8").partition("\n")[0].strip("# ")

    @property
    def worksheet(self) -> Path:
        return in_readers_language(self.folder / "worksheet.md")

    @property
    def hints(self) -> list[str]:
        """The hints, the smallest one first, in the reader's language."""
        text = in_readers_language(self.folder / "hints.txt").read_text("utf-8")
        return text.strip().split("\n\n")

    @property
    def solution(self) -> str:
        return (self.folder / "solution.patch").read_text("utf-8")

    def command(self, name: str, more: str = "") -> str:
        """Return what to type for this task."""
        return f"make {name} STEP={self.step_number} TASK={self.number}{more}"


def steps_with_tasks() -> list[Path]:
    return [step for step in find_steps().values() if has_tasks(step)]


def has_tasks(step: Path) -> bool:
    return any((ROOT / "labs" / step.name[:6]).glob("task*"))


def labs_folder(step: Path) -> Path:
    """Return the folder of a step's tasks and breaks; UsageError if it has none."""
    if not has_tasks(step):
        choices = ", ".join(f"STEP={other.name[4:6]}" for other in steps_with_tasks())
        raise UsageError(
            say(
                "{step} has no practice tasks; choose one: {choices}",
                step=step.name,
                choices=choices,
            )
        )
    return ROOT / "labs" / step.name[:6]


def find_tasks(step: Path) -> list[Task]:
    names = {folder: folder.name.removeprefix("task") for folder in labs_folder(step).glob("task*")}
    tasks = [Task(step, int(name), folder) for folder, name in names.items() if name.isdecimal()]
    return sorted(tasks, key=lambda task: task.number)


def find_task(step: Path, number: str) -> Task:
    """Return a task by its number; UsageError if there is none."""
    tasks = find_tasks(step)
    for task in tasks:
        if number.isdecimal() and int(number) == task.number:
            return task
    choices = ", ".join(f"TASK={task.number}" for task in tasks)
    if number:
        raise UsageError(
            say(
                "there is no task {number!r}; choose one: {choices}", number=number, choices=choices
            )
        )
    raise UsageError(say("no task was named; choose one: {choices}", choices=choices))
