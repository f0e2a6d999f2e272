"""What runs in the tab is the repository: it prints, and judges, what the terminal does."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page

from labs.breaks import Break, find_breaks, pinned_run
from labs.checking import report
from labs.tasks import Task, find_tasks, labs_folder, steps_with_tasks
from labs.tests.answers import Answer, answers_to, judged, made
from playground.one_process import own_loop
from playground.pages import NOT_IN_A_TAB, checked_in_a_tab, plays
from playground.patch import patched
from shared.step_diff import text_diff
from shared.steps import find_steps

from .conftest import check, choose, demo, open_patch

STEPS = [step for step in find_steps().values() if plays(step.name)]
WITH_TASKS = [step for step in STEPS if step in steps_with_tasks()]
BREAKS = [
    change
    for step in WITH_TASKS
    for change in find_breaks(step).values()
    if change.name not in NOT_IN_A_TAB
]
TASKS = [
    task
    for step in WITH_TASKS
    for task in find_tasks(step)
    if checked_in_a_tab(task.step_number, str(task.number))
]
# To the eight tasks of the chapter: all of them would take ten minutes.
ANSWERS = [
    answer for step in WITH_TASKS[:2] for task in find_tasks(step) for answer in answers_to(task)
]
# Python words an error by its version, and a tab has no shell that could be started.
IN_OTHER_WORDS = {"05.4 not async", "05.4 a shell"}


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_a_demo_prints_what_is_pinned(playground: Page, step: Path) -> None:
    choose(playground, step.name[4:6])
    assert demo(playground) == (step / "expected_output.txt").read_text("utf-8")


@pytest.mark.parametrize("change", BREAKS, ids=lambda change: f"{change.step[:6]}-{change.name}")
def test_a_broken_copy_prints_what_is_pinned(playground: Page, change: Break) -> None:
    page, step = playground, next(step for step in STEPS if step.name == change.step)
    if page.locator("#step").input_value() != change.step[4:6]:
        choose(page, change.step[4:6])
    page.click("[data-view=break]")
    page.select_option("#entry", change.name)
    page.click("#prediction button:not([aria-disabled])")
    page.wait_for_selector("#broken[data-transcript] .diff, #broken .notice")
    assert not page.locator("#broken .notice").count(), page.locator("#broken").inner_text()
    pinned = pinned_run(labs_folder(step), change.name, change.scene)
    assert page.locator("#broken").get_attribute("data-transcript") == pinned.transcript


@pytest.mark.parametrize("task", TASKS, ids=lambda task: f"step{task.key}")
def test_a_task_is_done_when_the_reference_change_is_typed(playground: Page, task: Task) -> None:
    page = playground
    choose(page, task.step_number)
    if task.number == 1:
        demo(page)
        page.click("#keep-output")
    else:
        assert "not yet" in check(page, task.number)
        changed = solved(task)
        if all(file_of(task, path) for path in changed):
            for path, text in changed.items():
                type_into(page, path, text)
        else:
            open_patch(page, task.solution)  # A new file cannot be typed into yet.
    said = check(page, task.number)
    assert page.locator("#verdict.good").count(), said


def solved(task: Task) -> dict[str, str]:
    """Return what the reference change makes of each file that it changes."""
    return patched(task.solution, lambda path: file_of(task, path))


def file_of(task: Task, path: str) -> str | None:
    file = task.step.parent / path
    return file.read_text("utf-8") if file.exists() else None


def type_into(page: Page, path: str, text: str) -> None:
    page.click(f'#files [data-path="{path}"]')
    page.click(".cm-content")
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)
    page.wait_for_selector(f'#files .changed[data-path="{path}"]')


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda a: f"step{a.task.key}-{a.name}")
def test_a_known_answer_is_judged_as_on_the_terminal(playground: Page, answer: Answer) -> None:
    page, task = playground, answer.task
    choose(page, task.step_number)
    # Playwright has a loop running in this thread, which a checker would meet.
    with made(answer) as root, own_loop():
        verdict = judged(task, root)
        patch = patch_of(task, root)
    open_patch(page, patch)
    said = check(page, task.number)
    assert (page.locator("#verdict.good").count() == 1) == verdict.done, said
    if f"{task.key} {answer.name}" not in IN_OTHER_WORDS:
        wanted = " ".join(report(task, verdict)).replace(str(root), "/mine")
        assert said.split() == wanted.split(), json.dumps(patch)


def patch_of(task: Task, root: Path) -> str:
    """Return what tells the step in a folder from the one that was shipped."""
    there = root / task.step.name
    paths = [p.relative_to(there).as_posix() for p in there.rglob("*") if p.is_file()]
    lines = [
        line
        for path in sorted(paths)
        if "__pycache__" not in path
        for line in text_diff(task.step, there, path)
    ]
    return "".join(f"{line}\n" for line in lines)
