"""The tasks: untouched, done as the reference does them, and wrong in every known way."""

import shutil
import subprocess
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from labs import practice, progress
from labs.practice import look, report
from labs.tasks import Task, find_tasks, steps_with_tasks
from labs.verdict import done
from shared import child
from shared.steps import find_step

STEPS = steps_with_tasks()
TASKS = [task for step in STEPS for task in find_tasks(step)]
PATCHES = [(task, path) for task in TASKS for path in sorted(task.folder.rglob("*.patch"))]


def case_name(task: Task, path: Path) -> str:
    return f"{task.key}-{path.stem}"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder like the one a reader works in."""
    for step in STEPS:
        ignore = shutil.ignore_patterns("__pycache__", "tests")
        shutil.copytree(step, tmp_path / step.name, ignore=ignore)
        (tmp_path / "labs" / step.name[:6]).mkdir(parents=True)
    return tmp_path


def test_both_steps_have_the_four_tasks_of_the_chapter() -> None:
    assert [task.key for task in TASKS] == [f"0{s}.{t}" for s in (4, 5) for t in (1, 2, 3, 4)]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.key)
def test_an_untouched_step_is_not_yet_done(
    task: Task, root: Path, snapshot: SnapshotAssertion
) -> None:
    verdict = look(task, root)
    lines = report(task, verdict)
    assert not verdict.done
    assert lines[-1] == f"  first hint: make hint STEP={task.step_number} TASK={task.number}"
    assert "\n".join(lines) == snapshot


@pytest.mark.parametrize(("task", "patch"), PATCHES, ids=[case_name(*case) for case in PATCHES])
def test_the_reference_is_done_and_a_known_mistake_is_named(
    task: Task, patch: Path, root: Path, snapshot: SnapshotAssertion
) -> None:
    subprocess.run(["git", "apply", str(patch)], cwd=root, check=True)
    verdict = look(task, root)
    assert verdict.done == (patch.name == "solution.patch")
    assert "\n".join(report(task, verdict)) == snapshot


def test_every_task_is_complete() -> None:
    for task in TASKS:
        assert task.title.startswith(f"Task {task.number}: "), task.key
        assert list((task.folder / "wrong").glob("*.patch")), task.key


@pytest.mark.parametrize(
    ("file", "text", "found"),
    [
        ("rules.py", "RULES = [\n", "rules.py, line 1, is not Python: '[' was never closed"),
        ("rules.py", "import nothing_of_that_name\n", "No module named 'nothing_of_that_name'"),
        ("rules.py", "RULES = 1 / 0\n", "ZeroDivisionError: division by zero (rules.py, line 1)"),
        (
            "rules.py",
            None,
            "there is no rules to import: deleted, renamed or misspelt? (main.py, line ",
        ),
        ("__init__.py", "while True: print('x' * 1000)\n", "it prints without end"),
        (
            "render.py",
            "def render_events(e):\n    while True: print('x' * 999)\n",
            "it prints without",
        ),
        ("__init__.py", "import sys; sys.exit(3)\n", "SystemExit: 3"),
        ("__init__.py", "import os; os._exit(3)\n", "it left without an answer."),
        ("__init__.py", "raise KeyboardInterrupt\n", "KeyboardInterrupt"),
    ],
)
def test_code_that_does_not_run_is_told_in_a_line(
    file: str, text: str | None, found: str, root: Path
) -> None:
    path = root / "step04_agent_loop" / file
    path.unlink()
    if text is not None:
        path.write_text(text)
    verdict = look(TASKS[1], root)
    assert not verdict.done
    assert found in verdict.found
    assert "\n" not in verdict.found


def test_code_that_never_ends_is_stopped(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "step04_agent_loop" / "__init__.py").write_text("while True: pass\n")
    monkeypatch.setattr(child, "SECONDS", 0.5)
    assert "a loop that never ends?" in look(TASKS[1], root).found


@pytest.fixture
def own_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / ".labs" / "progress.json"
    for function in (progress.load, progress.save):
        monkeypatch.setattr(function, "__defaults__", (file,))
    return file


def test_what_is_done_stays_done(
    own_progress: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    step = find_step("04")
    assert practice.check(step, "2") == 1
    assert not own_progress.exists()
    monkeypatch.setattr(practice, "look", lambda task: done("well"))
    assert practice.check(step, "2") == 0
    practice.lab(step)
    text = capsys.readouterr().out
    assert "  done     Task 2" in text
    assert "make check STEP=04 TASK=1" in text
    practice.solution(step, "2", show=False)
