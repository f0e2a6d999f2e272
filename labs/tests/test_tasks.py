"""make check: a step as shipped, done as the reference does it, and as readers may do it."""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from labs import checking, practice, progress
from labs.checking import look, report
from labs.script_rules import rule_lines
from labs.tasks import Task, find_task, find_tasks, labs_folder, steps_with_tasks
from labs.verdict import Verdict, differs, done, not_yet
from shared import child
from shared.steps import find_step

from .answers import Answer, answers_to, copy_step, folder_for, judged, made

STEPS = steps_with_tasks()
TASKS = [task for step in STEPS for task in find_tasks(step)]
FIRST_TASKS = [task for task in TASKS if task.number == 1]
ANSWERS = [answer for task in TASKS for answer in answers_to(task)]
TASK = find_task(find_step("04"), "2")

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    copy_step(TASK, tmp_path)
    return tmp_path


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_the_rules_as_shipped_are_written_down(step: Path) -> None:
    rules = (labs_folder(step) / "rules.txt").read_text("utf-8")
    assert rule_lines(step.name) == rules, f"make snapshots STEP={step.name[4:6]} ALL=1"


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.key)
def test_a_step_as_shipped_is_not_yet_done(task: Task, snapshot: SnapshotAssertion) -> None:
    verdict = judged(task, folder_for(task, solved=False))
    assert not verdict.done
    assert "\n".join(report(task, verdict)) == snapshot


@needs_git
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.key)
def test_the_reference_solution_is_done(task: Task, snapshot: SnapshotAssertion) -> None:
    verdict = look(task, folder_for(task, solved=True))
    assert verdict.done, report(task, verdict)
    assert "\n".join(report(task, verdict)) == snapshot


@needs_git
@pytest.mark.filterwarnings("ignore")  # What a reader's code does is not to stop the tests.
@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: f"{answer.task.key} {answer.name}")
def test_an_answer_is_judged_and_its_fault_is_named(
    answer: Answer, snapshot: SnapshotAssertion
) -> None:
    with made(answer) as root:
        verdict = judged(answer.task, root)
    lines = report(answer.task, verdict)
    assert verdict.done == answer.done, lines
    if os.name == "posix":  # Elsewhere a link or a name may not be there to be tried.
        assert "\n".join(lines).replace(str(root), "...") == snapshot


BROUGHT = [(task, file) for task in TASKS for file in task.folder.glob("*.py")]


@pytest.mark.filterwarnings("ignore")  # It may leave something behind.
@pytest.mark.parametrize(("task", "file"), BROUGHT, ids=lambda value: getattr(value, "key", ""))
def test_a_file_that_a_task_brings_is_not_yet_done(task: Task, file: Path, tmp_path: Path) -> None:
    copy_step(task, tmp_path)
    shutil.copy(file, tmp_path / task.step.name)
    assert not look(task, tmp_path).done


def test_every_task_but_the_first_knows_right_and_wrong_answers() -> None:
    for task in TASKS:
        if task not in FIRST_TASKS:
            assert {answer.done for answer in answers_to(task)} == {True, False}, task.key


@pytest.mark.parametrize("task", FIRST_TASKS, ids=lambda task: task.key)
@pytest.mark.parametrize(
    ("written", "guess"),
    [
        (lambda text: text.replace("\n", "\r\n").encode("utf-16"), None),
        (lambda text: text.encode("utf-8-sig"), None),
        (lambda text: b"", "the file is empty"),
        (lambda text: f"make: Entering directory\n{text}".encode(), "make's own words"),
        (lambda text: (text * 2).encode(), "the demo is in it twice"),
        (lambda text: text.replace("step0", "step1", 1).encode(), "was it another step?"),
        (lambda text: text.replace("[第 2 轮]", "[第 3 轮]").encode(), "was the file edited?"),
        (lambda text: text.rstrip("\n").encode(), "was the file edited?"),
    ],
)
def test_the_output_of_the_demo_is_compared(
    task: Task, written: Any, guess: str | None, tmp_path: Path
) -> None:
    copy_step(task, tmp_path)
    text = (task.step / "expected_output.txt").read_text("utf-8")
    (tmp_path / "labs" / task.step.name[:6] / "my_output.txt").write_bytes(written(text))
    verdict = judged(task, tmp_path)
    assert verdict.done == (guess is None)
    assert verdict.guess.startswith(guess or "")
    assert verdict.done or verdict.expected != verdict.seen


def test_an_output_of_a_changed_step_is_told_from_an_edited_one(root: Path) -> None:
    rules = root / TASK.step.name / "rules.py"
    rules.write_text(rules.read_text("utf-8").replace("我试试。", "看看。"), "utf-8")
    text = (TASK.step / "expected_output.txt").read_text("utf-8").replace("我试试。", "看看。")
    (root / "labs" / TASK.step.name[:6] / "my_output.txt").write_text(text, "utf-8")
    verdict = judged(find_task(TASK.step, "1"), root)
    assert verdict.guess.startswith("the step itself is changed: make reset STEP=04")


@pytest.mark.parametrize(
    ("file", "text", "found"),
    [
        ("rules.py", "RULES = [\n", "rules.py, line 1, is not Python: '[' was never closed"),
        ("rules.py", "import nothing_of_that_name\n", "No module named 'nothing_of_that_name'"),
        ("rules.py", "RULES = 1 / 0\n", "ZeroDivisionError: division by zero (rules.py, line 1)"),
        ("rules.py", None, "there is no rules to import: deleted, renamed or misspelt?"),
        (
            "tools.py",
            None,
            "there is no tools to import: deleted, renamed or misspelt? (",
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
    verdict = look(TASK, root)
    assert not verdict.done
    assert found in verdict.found
    assert "\n" not in verdict.found


def test_code_that_never_ends_is_stopped(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "step04_agent_loop" / "__init__.py").write_text("while True: pass\n")
    monkeypatch.setattr(child, "SECONDS", 0.5)
    assert "a loop that never ends?" in look(TASK, root).found


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
    assert checking.check(step, "2") == 1
    assert not own_progress.exists()
    monkeypatch.setattr(checking, "look", lambda task: done("well"))
    assert checking.check(step, "2") == 0
    practice.lab(step)
    text = capsys.readouterr().out
    assert "  done     Task 2" in text
    assert "make check STEP=04 TASK=1" in text
    practice.solution(step, "2", show=False)


def test_what_make_says_below_is_explained_where_make_was_typed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MAKELEVEL", "1")
    assert "Error 1" in report(TASK, not_yet("no"))[-1]
    assert "Error 1" not in "".join(report(TASK, done("yes")))
    monkeypatch.delenv("MAKELEVEL")
    assert "Error 1" not in "".join(report(TASK, not_yet("no")))


def test_the_verdict_is_chinese_for_a_reader_of_chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_LANG", "zh")
    assert report(TASK, done("好"))[1] == "完成：好"
    assert report(TASK, not_yet("差一点"))[1] == "未完成：差一点"


def test_nothing_in_a_verdict_acts_on_the_screen() -> None:
    verdict = not_yet("no", where="here", expected="a", seen="a\x1b[2J\x07\u202e")
    assert "    seen      a\\x1b[2J\\x07\\u202e" in report(TASK, verdict)


def test_what_differs_is_seen_to_differ() -> None:
    def told(line: str, other: str) -> Verdict:
        return differs("no", "the file", f"same\n{line}\n", f"same\n{other}\n")

    assert told("a", "b").where == "the file, line 2"
    assert (told("a b", "a  b").expected, told("a b", "a  b").seen) == ("'a b'", "'a  b'")
    assert told("a b", "a\u00a0b").seen == "'a\\xa0b'"
    assert told("ab", "a\u200bb").seen == "'a\\u200bb'"
    verdict = told("x" * 90_000, "x" * 89_999 + "y")
    assert len(verdict.expected) < 400
    assert verdict.expected != verdict.seen
    assert differs("no", "the file", "a\n", "a").seen == "none, or more"
