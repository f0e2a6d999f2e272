"""The list of shipped files: what a reader changed is told from it, and brought back."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from shared.errors import UsageError
from shared.shipped import MANIFEST, Shipped, blob_id, listed, pin
from shared.steps import find_steps

STEPS = list(find_steps().values())
LAST = STEPS[-1]
COMMAND = "make snapshots STEP={} ALL=1"

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git here")


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_the_list_says_what_stands_in_a_step(step: Path) -> None:
    entries = json.loads(MANIFEST.read_text("utf-8"))
    command = f"once the step is as it should be: {COMMAND.format(step.name[4:6])}"
    assert step.name in entries, command
    assert entries[step.name] == listed(step), command


def test_the_list_names_no_step_that_is_gone() -> None:
    entries = json.loads(MANIFEST.read_text("utf-8"))
    assert entries.keys() == {step.name for step in STEPS}, COMMAND.format(LAST.name[4:6])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with a copy of the last step, and a list of its own that says what it ships."""
    ignore = shutil.ignore_patterns("__pycache__")
    copy = shutil.copytree(LAST, tmp_path / LAST.name, ignore=ignore)
    pin(copy, tmp_path / "shipped.json")
    return tmp_path


def shipped(root: Path) -> Shipped:
    return Shipped(LAST.name, root, root / "shipped.json")


def test_a_step_that_nobody_touched_has_no_changes(root: Path) -> None:
    assert shipped(root).changed_files() == []
    assert shipped(root).changed_definitions() == []


def test_changed_files_are_those_that_differ_are_new_or_are_gone(root: Path) -> None:
    step = root / LAST.name
    (step / "rules.py").write_text("RULES = []\n")
    (step / "new.txt").touch()
    (step / "README.md").unlink()
    text = (step / "main.py").read_bytes()
    (step / "main.py").write_bytes(text.replace(b"\n", b"\r\n"))  # As git checks it out on Windows.
    assert shipped(root).changed_files() == ["README.md", "new.txt", "rules.py"]


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ("", "# A comment.\n", []),
        ('"""', '"""Another docstring. ', []),
        ("def known_words() ->", "def known_words()  ->", []),
        ("import sys\n", "import sys\nimport json\n", []),
        ("", "def mine() -> None: ...\n", []),
        ("", "print('hello')\n", ["main.other statements"]),
        ("def known_words(", "def words_known(", ["main.known_words"]),
        ("for rule in RULES", "for rule in RULES[1:]", ["main.known_words"]),
        ("import sys\n", "from . import sys\n", ["main.sys"]),
        ("import sys\n", "", []),
        ("import sys\n", "import sys (\n", ["main"]),
    ],
)
def test_changed_definitions_are_those_whose_code_differs(
    before: str, after: str, changed: list[str], root: Path
) -> None:
    path = root / LAST.name / "main.py"
    text = path.read_text("utf-8")
    assert before in text
    path.write_text(text.replace(before, after, 1) if before else text + after, encoding="utf-8")
    assert shipped(root).changed_definitions() == changed


def test_a_test_of_the_reader_changes_no_definition(root: Path) -> None:
    (root / LAST.name / "tests" / "test_demo.py").write_text("X = 1\n")
    assert shipped(root).changed_definitions() == []
    assert shipped(root).changed_files() == ["tests/test_demo.py"]


def test_an_unmodified_step_is_copied_without_git(root: Path, tmp_path: Path) -> None:
    shipped(root).copy_to(tmp_path / "copy")
    assert listed(tmp_path / "copy" / LAST.name) == listed(LAST)


def test_a_changed_file_that_git_does_not_hold_is_named(root: Path, tmp_path: Path) -> None:
    (root / LAST.name / "rules.py").write_text("RULES = []\n")
    with pytest.raises(UsageError, match=f"{LAST.name}/rules.py was changed, and git does not"):
        shipped(root).copy_to(tmp_path / "copy")


@needs_git
def test_a_changed_file_comes_back_from_git_whatever_was_committed(
    root: Path, tmp_path: Path
) -> None:
    for command in (["init"], ["add", "."], ["commit", "-m", "one"]):
        git(root, *command)
    (root / LAST.name / "rules.py").write_text("RULES = []\n")
    git(root, "commit", "-a", "-m", "another")
    shipped(root).copy_to(tmp_path / "copy")
    assert listed(tmp_path / "copy" / LAST.name) == listed(LAST)


def git(root: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)


def test_a_file_has_the_name_that_git_gives_it() -> None:
    assert blob_id(b"hello\n") == "ce013625030ba8dba906f756967f9e9ca394464a"


def test_a_step_that_is_not_in_the_list_is_told_how_it_gets_there(root: Path) -> None:
    with pytest.raises(UsageError, match=COMMAND.format("09")):
        Shipped("step09_more", root, root / "shipped.json")


def test_a_step_that_is_gone_leaves_the_list(root: Path) -> None:
    more = shutil.copytree(root / LAST.name, root / "step99_more")
    pin(more, root / "shipped.json")
    shutil.rmtree(root / LAST.name)
    pin(more, root / "shipped.json")
    assert json.loads((root / "shipped.json").read_text("utf-8")).keys() == {"step99_more"}
