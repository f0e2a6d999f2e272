"""The worksheets: every transcript that they print is one that a step really gives."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import pytest

from labs.tasks import Task, find_tasks, steps_with_tasks
from shared.steps import ROOT

STEPS = steps_with_tasks()
TASKS = [task for step in STEPS for task in find_tasks(step)]
# What a reader says to see it: the new sentences of the tasks.
SENTENCES = "一直算\n列出文件\n"


@cache
def shown_as_shipped(step: Path) -> str:
    return shown_in(ROOT, step)


def shown_when_solved(task: Task, folder: Path) -> str:
    """Return what a step prints with the reference solution of a task."""
    shutil.copytree(task.step, folder / task.step.name)
    (folder / "labs" / task.step.name[:6]).mkdir(parents=True)
    patch = str(task.folder / "solution.patch")
    subprocess.run(["git", "apply", patch], cwd=folder, check=True)
    return shown_in(folder, task.step)


def shown_in(folder: Path, step: Path) -> str:
    shown = b""
    with tempfile.TemporaryDirectory() as work:  # A step may keep what is said.
        for module in (f"{step.name}.demo", step.name):
            done = subprocess.run(
                [sys.executable, "-m", module],
                cwd=work,
                env={**os.environ, "PYTHONPATH": str(folder)},
                input=SENTENCES.encode(),
                capture_output=True,
                check=True,
            )
            shown += done.stdout
    return shown.decode()


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.key)
def test_what_a_worksheet_shows_is_what_a_step_prints(task: Task, tmp_path: Path) -> None:
    blocks = re.findall(r"^```text\n(.*?)^```$", task.worksheet.read_text("utf-8"), re.M | re.S)
    new = [block for block in blocks if block not in shown_as_shipped(task.step)]
    shown = shown_when_solved(task, tmp_path) if new else ""

    for block in new:
        assert block in shown
