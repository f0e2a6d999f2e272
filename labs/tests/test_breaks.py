"""The catalogue: every change shows what it says and only that, and a test of its step fails."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from labs.breaking import break_it, is_right
from labs.breaks import Break, apply_break, find_breaks, pinned_run, run_broken
from labs.tasks import labs_folder, steps_with_tasks
from shared import environment
from shared.errors import UsageError
from shared.steps import ROOT, find_step

STEPS = steps_with_tasks()
BREAKS = [change for step in STEPS for change in find_breaks(step).values()]


def name_of(change: Break) -> str:
    return f"{change.step[:6]}_{change.name.replace('-', '_')}"


def test_the_intact_demo_is_pinned_here_as_in_its_step() -> None:
    for step in STEPS:
        for channel in ("output", "context"):
            here = labs_folder(step) / "pinned" / f"demo.{channel}.txt"
            assert here.read_bytes() == (step / f"expected_{channel}.txt").read_bytes(), here


@pytest.mark.parametrize("change", BREAKS, ids=name_of)
def test_a_change_shows_what_it_says_and_only_that(
    change: Break, tmp_path: Path, pinned: SnapshotAssertion
) -> None:
    intact = pinned_run(labs_folder(find_step(change.step[4:6])), "demo")
    run = run_broken(change, tmp_path)
    shown = {"transcript": (run.transcript, intact.transcript, "output")}
    shown["history"] = (run.history, intact.history, "context")
    for name, (broken, whole, channel) in shown.items():
        if name in change.changes:
            assert broken != whole
            assert broken == pinned(name=f"{change.step[:6]}/pinned/{change.name}.{channel}")
        else:
            assert broken == whole
    everything = "\n".join([run.transcript, run.history, *run.faults])
    for question in change.questions:
        unwanted = question.proof.startswith("no ")
        assert (question.proof.removeprefix("no ") in everything) != unwanted, question.ask


def test_every_change_is_seen_by_a_test_of_its_step(tmp_path: Path) -> None:
    # A step imports itself relatively, so that broken copies can stand side by side in one run.
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "shared", tmp_path / "shared", ignore=ignore)
    for file in ("conftest.py", "pyproject.toml"):
        shutil.copy(ROOT / file, tmp_path)
    tests = {name_of(change): f"{name_of(change)}/tests/{change.test}" for change in BREAKS}
    for change in BREAKS:
        copy = tmp_path / name_of(change)
        shutil.copytree(ROOT / change.step, copy, ignore=ignore)
        apply_break(change, copy)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-rf",
            "--tb=no",
            "-p",
            "no:cacheprovider",
            *tests.values(),
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stdout  # All tests were there to run, and some failed.
    unseen = [name for name, test in tests.items() if f"\nFAILED {test}" not in done.stdout]
    assert not unseen


def test_a_change_fits_only_where_its_text_stands_once(tmp_path: Path) -> None:
    change = BREAKS[0]
    step = tmp_path / change.step
    step.mkdir()
    with pytest.raises(UsageError, match="is not as it came"):
        apply_break(change, step)
    (step / change.file).write_text(change.old * 2)
    with pytest.raises(UsageError, match="make reset STEP=04 puts it back"):
        apply_break(change, step)


def test_breaking_leaves_the_working_tree_alone(capsys: pytest.CaptureFixture[str]) -> None:
    before = (STEPS[0] / "agent_loop.py").read_bytes()
    assert break_it(STEPS[0], "no-append") == 0
    text = capsys.readouterr().out
    assert "-再见。（本次对话共 10 条消息）\n+再见。（本次对话共 8 条消息）\n" in text
    assert "call call_1 has no result\n" in text
    assert "you: -\n    it:  8\n" in text
    assert (STEPS[0] / "agent_loop.py").read_bytes() == before


@pytest.mark.parametrize(
    ("said", "answer", "right"),
    [
        ("8", "8", True),
        ("8 messages", "8", True),
        ("y", "yes", True),
        ("YES", "yes", True),
        ("兜底回复", "我只能用兜底回复了，别的不会。", True),
        ("", "yes", False),
        ("10", "8", False),
        ("no", "yes", False),
        ("10", "0", False),
        ("1", "10", False),
        ("not sure", "no", False),
        ("e", "yes", False),
        ("我", "我只能用兜底回复了，别的不会。", False),
    ],
)
def test_a_prediction_may_be_said_in_other_words(said: str, answer: str, right: bool) -> None:
    assert is_right(said, answer) == right


def test_a_change_that_the_demo_does_not_show_is_shown_by_its_test(
    capsys: pytest.CaptureFixture[str],
) -> None:
    break_it(STEPS[0], "push-after-loop")
    text = capsys.readouterr().out
    assert text.count("the same: the demo does not show it\n") == 2
    if environment.is_current():
        assert "assert 1 == 2" in text


def test_an_unknown_change_lists_those_there_are() -> None:
    with pytest.raises(UsageError, match="no change is named 'x'; there are: no-append, "):
        break_it(STEPS[0], "x")
