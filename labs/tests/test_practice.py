"""make lab, hint and solution: what a reader is told of the tasks, and what is remembered."""

import json
import re
from pathlib import Path

import pytest

from labs import practice, progress
from labs.progress import Progress
from labs.tasks import Task, find_task, find_tasks, has_tasks, steps_with_tasks
from shared.errors import UsageError
from shared.steps import find_steps

STEPS = steps_with_tasks()
STEP = STEPS[0]
TASKS = [task for step in STEPS for task in find_tasks(step)]


@pytest.fixture(autouse=True)
def own_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / ".labs" / "progress.json"
    for function in (progress.load, progress.save):
        monkeypatch.setattr(function, "__defaults__", (file,))
    return file


@pytest.fixture(params=["en", "zh"])
def language(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("LAB_LANG", request.param)
    return str(request.param)


def do(*tasks: Task) -> None:
    progress.save({task.key: Progress(done=True) for task in tasks})


def test_the_tasks_are_listed_and_the_first_that_is_not_done_comes_next(
    capsys: pytest.CaptureFixture[str],
) -> None:
    first, second, *_ = find_tasks(STEP)
    do(first)
    practice.lab(STEP)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{STEP.name}: labs/step04/README.md"
    assert f"  done     {first.title}" in lines
    assert f"  not yet  {second.title}" in lines
    assert lines[-2:] == [
        "Read labs/step04/task2/worksheet.md, then type:",
        "  make check STEP=04 TASK=2",
    ]


def test_when_all_tasks_are_done_the_next_step_comes_next(
    capsys: pytest.CaptureFixture[str],
) -> None:
    do(*TASKS)
    practice.lab(STEP)
    assert capsys.readouterr().out.endswith(
        "All done. What else there is:\n  make lab STEP=05\n  make break STEP=04\n"
    )
    practice.lab(STEPS[-1])
    number = STEPS[-1].name[4:6]
    assert capsys.readouterr().out.endswith(f"What else there is:\n  make break STEP={number}\n")


def test_a_reader_of_chinese_gets_the_chinese_pages(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_LANG", "zh")
    practice.lab(STEP)
    text = capsys.readouterr().out
    assert "labs/step04/README.zh-CN.md" in text
    assert "  未完成  任务 1：" in text
    assert "labs/step04/task1/worksheet.zh-CN.md" in text
    practice.hint(STEP, "1")
    assert capsys.readouterr().out.startswith("提示 1/3：")


def test_hints_come_one_at_a_time_and_then_the_solution(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(UsageError, match="SHOW=1"):
        practice.solution(STEP, "3", show=False)
    for level in (1, 2, 3, 3):
        practice.hint(STEP, "3")
        assert capsys.readouterr().out.startswith(f"hint {level} of 3: ")
    practice.lab(STEP)
    assert "(3 of 3 hints taken)" in capsys.readouterr().out
    practice.solution(STEP, "3", show=True)
    assert capsys.readouterr().out == find_task(STEP, "3").solution


def test_the_solution_is_shown_once_the_task_is_done(capsys: pytest.CaptureFixture[str]) -> None:
    do(find_task(STEP, "2"))
    practice.solution(STEP, "2", show=False)
    assert capsys.readouterr().out == find_task(STEP, "2").solution


def test_every_task_has_three_hints_in_both_languages(language: str) -> None:
    for task in TASKS:
        assert len(task.hints) == 3, task.key
        chinese = re.findall("[一-龥]", "".join(task.hints))
        assert (len(chinese) > 30) == (language == "zh"), task.key


DAMAGED = [
    "{",
    "[]",
    "null",
    "[" * 100_000,
    json.dumps({"04.1": {"x": 1}}),
    json.dumps({"04.1": {"hints": None}}),
    json.dumps({"04.1": {"hints": -1}}),
    json.dumps({"04.1": {"hints": True}}),
    json.dumps({"04.1": {"done": "yes"}}),
    json.dumps({"04.1": 3}),
]


@pytest.mark.parametrize("damaged", DAMAGED, ids=lambda text: text[:30])
def test_a_damaged_progress_file_is_named(own_progress: Path, damaged: str) -> None:
    own_progress.parent.mkdir()
    own_progress.write_text(damaged)
    with pytest.raises(UsageError, match=r"progress\.json is damaged; delete it to start again"):
        practice.lab(STEP)


def test_a_progress_file_that_cannot_be_read_is_told_in_a_line(own_progress: Path) -> None:
    own_progress.mkdir(parents=True)
    with pytest.raises(UsageError, match="your progress cannot be read: "):
        practice.lab(STEP)


def test_a_hint_is_shown_even_if_it_cannot_be_remembered(
    own_progress: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own_progress.parent.mkdir()
    own_progress.with_suffix(".new").mkdir()
    with pytest.raises(UsageError, match="your progress cannot be saved: "):
        practice.hint(STEP, "1")
    assert capsys.readouterr().out.startswith("hint 1 of 3: ")


@pytest.mark.parametrize(
    ("number", "said"),
    [("", "no task was named"), ("9", "there is no task '9'"), ("x", "there is no task 'x'")],
)
def test_an_unknown_task_lists_those_there_are(number: str, said: str) -> None:
    with pytest.raises(UsageError, match=f"{said}; choose one: TASK=1, TASK=2, TASK=3, TASK=4"):
        find_task(STEP, number)


def test_a_step_without_tasks_names_those_that_have_some() -> None:
    step = next(step for step in find_steps().values() if not has_tasks(step))
    with pytest.raises(UsageError, match=f"{step.name} has no practice tasks; choose one: STEP=04"):
        practice.lab(step)
