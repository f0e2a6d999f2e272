"""The tasks of a step: found by their folders, labs/stepNN/taskN."""

from dataclasses import dataclass
from pathlib import Path

from shared.errors import UsageError
from shared.steps import ROOT, find_steps

from .breaks import labs_folder


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
        """The heading of the worksheet, without its marks."""
        return self.worksheet.read_text("utf-8").partition("\n")[0].strip("# ")

    @property
    def worksheet(self) -> Path:
        return self.folder / "worksheet.md"

    @property
    def hints(self) -> list[str]:
        return (self.folder / "hints.txt").read_text("utf-8").strip().split("\n\n")

    @property
    def solution(self) -> str:
        return (self.folder / "solution.patch").read_text("utf-8")

    def command(self, name: str, more: str = "") -> str:
        """Return what to type for this task."""
        return f"make {name} STEP={self.step_number} TASK={self.number}{more}"


def steps_with_tasks() -> list[Path]:
    return [step for step in find_steps().values() if (ROOT / "labs" / step.name[:6]).is_dir()]


def find_tasks(step: Path) -> list[Task]:
    folders = sorted(labs_folder(step).glob("task*"))
    return [Task(step, int(folder.name.removeprefix("task")), folder) for folder in folders]


def find_task(step: Path, number: str) -> Task:
    """Return a task by its number; UsageError if there is none."""
    tasks = find_tasks(step)
    for task in tasks:
        if number.isdecimal() and int(number) == task.number:
            return task
    asked = f"there is no task {number!r}" if number else "no task was named"
    raise UsageError(f"{asked}; choose one: {', '.join(f'TASK={task.number}' for task in tasks)}")
