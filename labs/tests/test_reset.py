"""make reset: the step comes back, and nothing that the reader made is lost."""

import shutil
import subprocess
from pathlib import Path

import pytest

from labs.reset import reset
from shared.errors import UsageError

LINE = "RULES = []\n"


def git(root: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=reader", "-c", "user.email=reader@example.com"]
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=root, check=True, capture_output=True, text=True
    )
    return done.stdout


def state(root: Path) -> dict[str, bytes]:
    files = (p for p in root.rglob("*") if p.is_file() and not {".git", ".labs"} & set(p.parts))
    return {str(p.relative_to(root)): p.read_bytes() for p in files}


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone of a small repository, as a reader has one."""
    origin = tmp_path / "origin"
    (origin / "step04_a" / "tools").mkdir(parents=True)
    (origin / "step04_a" / "rules.py").write_text(LINE)
    (origin / "step04_a" / "tools" / "calc.py").write_text("pass\n")
    (origin / "step05_b").mkdir()
    (origin / "step05_b" / "rules.py").write_text(LINE)
    (origin / ".gitignore").write_text(".labs/\n*.pyc\n")
    git(origin, "init", "-q", "-b", "main")
    git(origin, "add", "-A")
    git(origin, "commit", "-qm", "as it came")
    git(tmp_path, "clone", "-q", "origin", "clone")
    return tmp_path / "clone"


def change(clone: Path) -> None:
    (clone / "step04_a" / "rules.py").write_text("RULES = [1]\n")
    (clone / "step04_a" / "tools" / "calc.py").unlink()
    (clone / "step04_a" / "new.bin").write_bytes(b"\0\xff")
    (clone / "step05_b" / "rules.py").write_text("another step\n")


def patches(clone: Path) -> list[Path]:
    return sorted((clone / ".labs").glob("*.patch"))


def test_the_step_comes_back_and_the_patch_brings_the_changes_back(
    clone: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = state(clone)
    change(clone)
    changed = state(clone)
    assert reset("04", root=clone, saved=clone / ".labs") == 0
    assert state(clone) == {**before, "step05_b/rules.py": b"another step\n"}
    (patch,) = patches(clone)
    assert f"  git apply --whitespace=nowarn .labs/{patch.name}\n" in capsys.readouterr().out
    git(clone, "apply", str(patch))
    assert state(clone) == changed


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("color.ui", "always"),
        ("diff.noprefix", "true"),
        ("diff.mnemonicPrefix", "true"),
        ("diff.external", "/bin/echo"),
        ("diff.context", "0"),
        ("diff.renames", "copies"),
        ("core.autocrlf", "input"),
        ("core.safecrlf", "true"),
        ("apply.whitespace", "error"),
    ],
)
def test_no_setting_of_the_user_spoils_the_patch(clone: Path, name: str, value: str) -> None:
    git(clone, "config", name, value)
    change(clone)
    changed = state(clone)
    reset("04", root=clone, saved=clone / ".labs")
    (patch,) = patches(clone)
    git(clone, "apply", "-p1", str(patch))
    assert state(clone) == changed


def test_a_hook_of_the_user_has_no_say(clone: Path) -> None:
    before = state(clone)
    hooks = clone.parent / "hooks"
    hooks.mkdir()
    (hooks / "post-checkout").write_text("#!/bin/sh\nexit 1\n")
    (hooks / "post-checkout").chmod(0o755)
    git(clone, "config", "core.hooksPath", str(hooks))
    (clone / "step04_a" / "rules.py").write_text("changed  \n")
    reset("04", root=clone, saved=clone / ".labs")
    assert state(clone) == before


def test_a_file_that_git_does_not_look_at_comes_back_too(clone: Path) -> None:
    before = state(clone)
    git(clone, "update-index", "--skip-worktree", "step04_a/rules.py")
    (clone / "step04_a" / "rules.py").write_text("changed\n")
    reset("04", root=clone, saved=clone / ".labs")
    assert state(clone) == before
    assert len(patches(clone)) == 1


def test_in_the_middle_of_a_merge_it_refuses(clone: Path) -> None:
    change(clone)
    changed = state(clone)
    (clone / ".git" / "MERGE_HEAD").write_text(git(clone, "rev-parse", "HEAD"))
    with pytest.raises(UsageError, match="in the middle of something"):
        reset("04", root=clone, saved=clone / ".labs")
    assert state(clone) == changed


def test_what_cannot_be_saved_is_not_put_back(clone: Path) -> None:
    change(clone)
    changed = state(clone)
    (clone / ".labs").write_text("a file, and no folder")
    with pytest.raises(UsageError, match="cannot be saved, nothing was put back"):
        reset("04", root=clone, saved=clone / ".labs")
    assert state(clone) == changed


def test_what_was_staged_and_changed_again_is_saved_too(clone: Path) -> None:
    (clone / "step04_a" / "rules.py").write_text("staged\n")
    git(clone, "add", "-A")
    (clone / "step04_a" / "rules.py").write_text("changed again\n")
    reset("4", root=clone, saved=clone / ".labs")
    assert git(clone, "status", "--porcelain") == ""
    assert ["changed again" in p.read_text() for p in patches(clone)] == [True, False]
    assert ["+staged" in p.read_text() for p in patches(clone)] == [False, True]


def test_what_was_committed_is_put_back_too(clone: Path) -> None:
    before = state(clone)
    change(clone)
    git(clone, "checkout", "-q", "step05_b")
    git(clone, "add", "-A")
    git(clone, "commit", "-qm", "my solution")
    reset("04", root=clone, saved=clone / ".labs")
    assert state(clone) == before
    assert len(patches(clone)) == 1


def test_a_deleted_step_comes_back(clone: Path) -> None:
    before = state(clone)
    shutil.rmtree(clone / "step04_a")
    reset("04", root=clone, saved=clone / ".labs")
    assert state(clone) == before


def test_two_resets_in_one_second_keep_two_patches(clone: Path) -> None:
    for text in ("one\n", "two\n"):
        (clone / "step04_a" / "rules.py").write_text(text)
        reset("04", root=clone, saved=clone / ".labs")
    assert len(patches(clone)) == 2


def test_ignored_files_stay_and_an_untouched_step_needs_nothing(
    clone: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (clone / "step04_a" / "x.pyc").write_bytes(b"x")
    reset("04", root=clone, saved=clone / ".labs")
    assert "there is nothing to put back" in capsys.readouterr().out
    assert (clone / "step04_a" / "x.pyc").exists()
    assert patches(clone) == []


def test_without_a_clone_it_says_what_it_needs(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="needs git and a clone"):
        reset("04", root=tmp_path)


def test_an_unknown_step_lists_those_there_are(clone: Path) -> None:
    with pytest.raises(UsageError, match=r"choose one: STEP=04 \(step04_a\), STEP=05 \(step05_b\)"):
        reset("99", root=clone)
