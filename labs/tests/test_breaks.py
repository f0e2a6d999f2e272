"""The catalogue: every change shows what it says and only that, and a test of its step fails."""

import atexit
import compileall
import contextlib
import functools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from labs import breaks
from labs.breaking import break_it, is_right
from labs.breaks import (
    DEMO,
    Break,
    Question,
    Text,
    apply_break,
    find_breaks,
    pinned_run,
    run_intact,
    run_scene,
)
from labs.tasks import labs_folder, steps_with_tasks
from shared.errors import UsageError
from shared.screen import width_of
from shared.shipped import Shipped
from shared.steps import ROOT, find_step
from shared.watching import Run

from .answers import call_here, forget_compiled

STEPS = steps_with_tasks()
STEP = STEPS[0]
BREAKS = [change for step in STEPS for change in find_breaks(step).values()]
SCENES = dict.fromkeys(
    (step.name, scene)
    for step in STEPS
    for scene in [DEMO, *(change.scene for change in find_breaks(step).values())]
)


def name_of(change: Break) -> str:
    return f"{change.step[:6]}_{change.name.replace('-', '_')}"


@functools.cache
def compiled_copy(step: str) -> Path:
    """Return a copy of a step as it was shipped; it stays until the tests end."""
    root = Path(tempfile.mkdtemp(prefix="shipped-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    Shipped(step).copy_to(root)
    compileall.compile_dir(root, quiet=1)  # Once, for all changes: most files stay as they are.
    return root / step


@contextlib.contextmanager
def changed(change: Break) -> Iterator[Path]:
    """Give a copy of a step in which a change is made, and take it back."""
    step = compiled_copy(change.step)
    path = step / change.file
    before = path.read_bytes()
    apply_break(change, step)
    forget_compiled(path)
    try:
        yield step
    finally:
        path.write_bytes(before)
        forget_compiled(path)


def played(step: Path, scene: str) -> Run:
    """Play a scene of a copy of a step, and leave nothing beside the copy."""
    try:
        return run_scene(step.name, scene, step.parent)
    finally:
        for path in step.parent.iterdir():
            if path.is_dir() and path != step:
                shutil.rmtree(path)
            elif path != step:
                path.unlink()


@pytest.fixture
def played_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Play scenes without a process of their own: there are too many of them."""

    def call(folder: Path, function: str, step: str, *arguments: str) -> object:
        # A scene imports its step by name, so that it is a new one for each copy of the step.
        laboratory = f"labs.{step[:6]}."
        for name in [name for name in sys.modules if name.startswith(laboratory)]:
            monkeypatch.delitem(sys.modules, name)
        return call_here(folder, function, step, *arguments)

    monkeypatch.setattr(breaks, "call_in_child", call)
    monkeypatch.setenv("PATH", os.environ["PATH"])  # A scene may change it.


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_an_intact_step_in_a_process_of_its_own_leaves_what_is_pinned(
    step: Path, tmp_path: Path
) -> None:
    assert run_intact(step, DEMO, tmp_path) == pinned_run(labs_folder(step), DEMO)


@pytest.mark.usefixtures("played_here")
@pytest.mark.filterwarnings("ignore")  # What a process would leave to its end is no matter.
@pytest.mark.parametrize(("step", "scene"), SCENES)
def test_an_intact_step_leaves_what_is_pinned(
    step: str, scene: str, pinned: SnapshotAssertion
) -> None:
    run = played(compiled_copy(step), scene)
    assert run.transcript == pinned(name=f"{step[:6]}/pinned/{scene}.output")
    assert run.history == pinned(name=f"{step[:6]}/pinned/{scene}.context")
    assert run.faults == []


def test_the_intact_demo_is_pinned_here_as_in_its_step() -> None:
    for step in STEPS:
        for channel in ("output", "context"):
            here = labs_folder(step) / "pinned" / f"{DEMO}.{channel}.txt"
            assert here.read_bytes() == (step / f"expected_{channel}.txt").read_bytes(), here


@pytest.mark.usefixtures("played_here")
@pytest.mark.filterwarnings("ignore")  # What a process would leave to its end is no matter.
@pytest.mark.parametrize("change", BREAKS, ids=name_of)
def test_a_change_shows_what_it_says_and_only_that(
    change: Break, pinned: SnapshotAssertion
) -> None:
    intact = pinned_run(labs_folder(find_step(change.step[4:6])), change.scene)
    with changed(change) as step:
        run = played(step, change.scene)
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
        assert (question.proof.removeprefix("no ") in everything) != unwanted, question.ask.en


def test_every_change_shows_something() -> None:
    assert [change.name for change in BREAKS if not change.changes] == []


def test_nothing_is_pinned_that_no_change_and_no_scene_leaves() -> None:
    for step in STEPS:
        breaks = find_breaks(step)
        known = {DEMO, *breaks, *(change.scene for change in breaks.values())}
        found = {p.name.partition(".")[0] for p in (labs_folder(step) / "pinned").iterdir()}
        assert found == known, step.name


def test_a_scene_says_what_happens_in_it() -> None:
    for change in BREAKS:
        assert (change.setting is None) == (change.scene == DEMO), change.name


def test_the_list_of_changes_fits_a_terminal_in_both_languages(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for language, words in (("en", "in a copy: "), ("zh", "在副本里拆")):
        monkeypatch.setenv("LAB_LANG", language)
        for step in STEPS:
            assert break_it(step, "") == 0
            lines = capsys.readouterr().out.splitlines()
            assert len(lines) < 24
            assert max(map(width_of, lines)) < 80
            assert words in lines[-1]


def test_every_change_is_seen_by_a_test_of_its_step(tmp_path: Path) -> None:
    # A step imports itself relatively, so that broken copies can stand side by side in one run.
    shutil.copytree(ROOT / "shared", tmp_path / "shared")
    for file in ("conftest.py", "pyproject.toml"):
        shutil.copy(ROOT / file, tmp_path)
    tests = {name_of(change): f"{name_of(change)}/tests/{change.test}" for change in BREAKS}
    for change in BREAKS:
        with changed(change) as step:
            copy = tmp_path / name_of(change)
            shutil.copytree(step, copy, copy_function=os.link)
            # All files are links but this one, which is restored where it was copied from.
            shutil.copy(step / change.file, copy / "changed")
            (copy / "changed").replace(copy / change.file)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-rf",
            "--tb=no",
            "--assert=plain",  # Nobody reads why they fail.
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
    with pytest.raises(ValueError, match="stands 0 times"):
        apply_break(change, step)
    (step / change.file).write_text(change.old * 2)
    with pytest.raises(ValueError, match="stands 2 times"):
        apply_break(change, step)


def test_a_change_is_shown_as_a_diff_and_then_what_it_does(
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = (STEP / "agent_loop.py").read_bytes()
    assert break_it(STEP, "no-append") == 0
    text = capsys.readouterr().out
    parts = [
        f"{STEP.name}/agent_loop.py\n...\n",
        "\n-            context.messages.append(result)\n",
        "What is played: the demo\n",
        "== what people see ==\n",
        "\n-再见。（本次对话共 10 条消息）\n+再见。（本次对话共 8 条消息）\n",
        "== what the model sees ==\n",
        '\n-toolResult call_1 calc "96"\n',
        "== what is wrong with this history ==\ncall call_1 has no result\n",
        "\nWithout the append a result is shown to people and never reaches the model.\n",
        "How many messages are there at the end (10 without the change)?\n    it:  8\n",
    ]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert (STEP / "agent_loop.py").read_bytes() == before


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
def test_what_the_reader_has_changed_does_not_matter(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("labs", "shared", STEP.name):
        ignore = shutil.ignore_patterns("__pycache__", "__snapshots__")
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignore)
    git = ["git", "-c", "user.name=reader", "-c", "user.email=reader@example.com"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "shipped"]):
        subprocess.run([*git, *command], cwd=tmp_path, check=True)
    (tmp_path / STEP.name / "agent_loop.py").write_text("nothing is left of it\n")
    (tmp_path / STEP.name / "rules.py").unlink()
    done = subprocess.run(
        [sys.executable, "-m", "labs", "break", STEP.name[4:6], "no-append"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    break_it(STEP, "no-append")
    assert done.stdout.decode("utf-8") == capsys.readouterr().out


def test_a_change_speaks_chinese_too(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_LANG", "zh")
    break_it(STEP, "push-after-loop")
    text = capsys.readouterr().out
    assert "模型在同一条消息里要算 12*8 和 1+1，然后说它看到了哪些结果。\n" in text
    assert "两个结果都还在屏幕上吗（是或否）？\n    实际：是\n" in text


def question(en: str, zh: str, *also: str) -> Question:
    return Question(ask=Text("?", "？"), answer=Text(en, zh), proof="", also=list(also))


YES, NO = question("yes", "是"), question("no", "否")
EIGHT, TEN = question("8", "8 条", "eight", "八"), question("10", "10 条", "ten", "十")
FALLBACK = question("the fallback: 不会。", "兜底回复：不会。", "fallback", "兜底")


@pytest.mark.parametrize(
    ("said", "asked", "right"),
    [
        ("8", EIGHT, True),
        ("8 messages", EIGHT, True),
        ("8条", EIGHT, True),
        ("八条", EIGHT, True),
        ("Eight", EIGHT, True),
        ("18", EIGHT, False),
        ("80", EIGHT, False),
        ("十八条", EIGHT, False),
        ("weight", EIGHT, False),
        ("1", TEN, False),
        ("十条", TEN, True),
        ("十八条", TEN, False),
        ("y", YES, True),
        ("YES", YES, True),
        ("是", YES, True),
        ("是的", YES, True),
        ("对", YES, True),
        ("会吧", YES, True),
        ("不是", YES, False),
        ("没有", YES, False),
        ("no", YES, False),
        ("e", YES, False),
        ("", YES, False),
        ("n", NO, True),
        ("No.", NO, True),
        ("否", NO, True),
        ("不会", NO, True),
        ("没有", NO, True),
        ("不", NO, True),
        ("not sure", NO, False),
        ("是", NO, False),
        ("兜底", FALLBACK, True),
        ("the fallback", FALLBACK, True),
        ("我想是兜底回复", FALLBACK, True),
        ("96", FALLBACK, False),
        ("", FALLBACK, False),
    ],
)
def test_a_prediction_counts_in_both_languages_and_in_other_words(
    said: str, asked: Question, right: bool
) -> None:
    assert is_right(said, asked) == right


def test_every_answer_of_the_catalogue_counts_in_both_languages() -> None:
    for change in BREAKS:
        for asked in change.questions:
            for said in (asked.answer.en, asked.answer.zh, *asked.also):
                assert is_right(said, asked), (change.name, said)


def test_an_unknown_change_lists_those_there_are() -> None:
    with pytest.raises(UsageError, match="no change is named 'x'; there are: no-append, "):
        break_it(STEP, "x")


def test_without_room_for_a_copy_a_line_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(UsageError, match="no copy can be made: "):
        break_it(STEP, "no-append")
