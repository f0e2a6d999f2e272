"""The worksheets: every transcript that they print is one that a step really gives."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from labs.tasks import Task, find_tasks, steps_with_tasks

STEPS = steps_with_tasks()
TASKS = [task for step in STEPS for task in find_tasks(step)]
# What a reader says to see it: the new sentences of the tasks.
SENTENCES = "一直算\n列出文件\n"


def shown_by(task: Task, folder: Path, *, solved: bool) -> str:
    """Return what a step prints, as shipped or with the reference solution of a task."""
    shutil.copytree(task.step, folder / task.step.name)
    (folder / "labs" / task.step.name[:6]).mkdir(parents=True)
    if solved:
        patch = str(task.folder / "solution.patch")
        subprocess.run(["git", "apply", patch], cwd=folder, check=True)
    shown = b""
    for module in (f"{task.step.name}.demo", task.step.name):
        done = subprocess.run(
            [sys.executable, "-m", module],
            cwd=folder,
            input=SENTENCES.encode(),
            capture_output=True,
            check=True,
        )
        shown += done.stdout
    return shown.decode()


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.key)
def test_what_a_worksheet_shows_is_what_a_step_prints(task: Task, tmp_path: Path) -> None:
    shown = shown_by(task, tmp_path / "came", solved=False)
    shown += shown_by(task, tmp_path / "solved", solved=True)
    blocks = re.findall(r"^```text\n(.*?)^```$", task.worksheet.read_text("utf-8"), re.M | re.S)

    for block in blocks:
        assert block in shown
