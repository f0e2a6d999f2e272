"""make reset: the step comes back as it was shipped, and nothing that the reader made is lost."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from labs.reset import reset
from shared.errors import UsageError
from shared.shipped import pin

LINE = "RULES = []\n"

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")


def git(root: Path, *arguments: str, status: int = 0) -> str:
    identity = ["-c", "user.name=reader", "-c", "user.email=reader@example.com"]
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == status, done.stderr
    return done.stdout


def state(root: Path) -> dict[str, bytes]:
    files = (p for p in root.rglob("*") if p.is_file() and not {".git", ".labs"} & set(p.parts))
    return {str(p.relative_to(root)): p.read_bytes() for p in files}


def put_back(root: Path, number: str = "04") -> None:
    assert reset(number, root=root, saved=root / ".labs", manifest=root / "shipped.json") == 0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What was shipped, without git, as from a zip."""
    folder = tmp_path / "shipped"
    (folder / "step04_a" / "tools").mkdir(parents=True)
    (folder / "step04_a" / "rules.py").write_text(LINE)
    (folder / "step04_a" / "tools" / "calc.py").write_text("pass\n")
    (folder / "step05_b").mkdir()
    (folder / "step05_b" / "rules.py").write_text(LINE)
    (folder / ".gitignore").write_text(".labs/\n*.pyc\n")
    for step in ("step04_a", "step05_b"):
        pin(folder / step, folder / "shipped.json")
    return folder


def commit_all(root: Path, subject: str) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-qm", subject)


@pytest.fixture
def clone(folder: Path) -> Path:
    """A clone of a small repository, as a reader has one."""
    if shutil.which("git") is None:
        pytest.skip("there is no git")
    git(folder, "init", "-q", "-b", "main")
    commit_all(folder, "shipped")
    git(folder.parent, "clone", "-q", "shipped", "clone")
    return folder.parent / "clone"


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
    put_back(clone)
    assert state(clone) == {**before, "step05_b/rules.py": b"another step\n"}
    (patch,) = patches(clone)
    assert capsys.readouterr().out.splitlines() == [
        "Your changes are saved; to have them back:",
        f"  git apply --whitespace=nowarn .labs/{patch.name}",
        "step04_a is as it was shipped.",
    ]
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
        ("diff.relative", "true"),
        ("core.autocrlf", "input"),
        ("core.safecrlf", "true"),
        ("core.quotePath", "false"),
        ("apply.whitespace", "error"),
    ],
)
def test_no_setting_of_the_user_spoils_the_patch(clone: Path, name: str, value: str) -> None:
    git(clone, "config", name, value)
    change(clone)
    changed = state(clone)
    put_back(clone)
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
    put_back(clone)
    assert state(clone) == before


def test_the_environment_that_a_hook_runs_in_has_no_say(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = state(clone)
    for name in ("GIT_DIR", "GIT_INDEX_FILE"):
        monkeypatch.setenv(name, "/nowhere")
    (clone / "step04_a" / "rules.py").write_text("changed\n")
    put_back(clone)
    assert state(clone) == before


def test_a_file_that_git_does_not_look_at_comes_back_too(clone: Path) -> None:
    before = state(clone)
    git(clone, "update-index", "--skip-worktree", "step04_a/rules.py")
    (clone / "step04_a" / "rules.py").write_text("changed\n")
    put_back(clone)
    assert state(clone) == before
    assert len(patches(clone)) == 1


def test_a_link_in_the_place_of_a_file_is_taken_away_and_not_written_through(clone: Path) -> None:
    before = state(clone)
    outside = clone.parent / "outside.py"
    outside.write_text("mine\n")
    (clone / "step04_a" / "rules.py").unlink()
    (clone / "step04_a" / "rules.py").symlink_to(outside)
    put_back(clone)
    assert state(clone) == before
    assert outside.read_text() == "mine\n"


def test_in_the_middle_of_a_merge_it_refuses(clone: Path) -> None:
    change(clone)
    changed = state(clone)
    (clone / ".git" / "MERGE_HEAD").write_text(git(clone, "rev-parse", "HEAD"))
    with pytest.raises(UsageError, match="in the middle of a merge; finish it first"):
        put_back(clone)
    assert state(clone) == changed


def test_conflicts_of_a_stash_are_to_be_resolved_first(clone: Path) -> None:
    before = state(clone)
    rules = clone / "step04_a" / "rules.py"
    rules.write_text("in the stash\n")
    git(clone, "stash")
    rules.write_text("committed\n")
    commit_all(clone, "mine")
    git(clone, "stash", "pop", status=1)
    conflict = rules.read_bytes()
    with pytest.raises(UsageError, match=r"conflicts .* type git add step04_a, and then make re"):
        put_back(clone)
    assert rules.read_bytes() == conflict
    git(clone, "add", "step04_a")
    put_back(clone)
    assert state(clone) == before
    (patch,) = patches(clone)
    git(clone, "apply", str(patch))
    assert rules.read_bytes() == conflict


def test_what_cannot_be_saved_is_not_put_back(clone: Path) -> None:
    change(clone)
    changed = state(clone)
    (clone / ".labs").write_text("a file, and no folder")
    with pytest.raises(UsageError, match="cannot be saved, so nothing was put back"):
        put_back(clone)
    assert state(clone) == changed


def test_what_was_staged_and_changed_again_is_saved_too(
    clone: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (clone / "step04_a" / "rules.py").write_text("staged\n")
    git(clone, "add", "-A")
    (clone / "step04_a" / "rules.py").write_text("changed again\n")
    put_back(clone, "4")
    assert git(clone, "status", "--porcelain") == ""
    assert ["changed again" in p.read_text() for p in patches(clone)] == [True, False]
    assert ["+staged" in p.read_text() for p in patches(clone)] == [False, True]
    assert capsys.readouterr().out.endswith(
        "step04_a is as it was shipped.\nNothing in it is staged any more.\n"
    )


def test_what_was_staged_and_taken_back_by_hand_is_saved_too(clone: Path) -> None:
    (clone / "step04_a" / "rules.py").write_text("staged\n")
    git(clone, "add", "-A")
    (clone / "step04_a" / "rules.py").write_text(LINE)
    put_back(clone)
    assert git(clone, "status", "--porcelain") == ""
    assert ["+staged" in p.read_text() for p in patches(clone)] == [True]


@pytest.mark.parametrize("pushed", [False, True])
def test_what_was_committed_is_put_back_and_nothing_is_staged(
    clone: Path, pushed: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    before = state(clone)
    change(clone)
    git(clone, "checkout", "-q", "step05_b")
    commit_all(clone, "my solution")
    if pushed:
        git(clone, "push", "-q", "origin", "HEAD:mine")
        git(clone, "branch", "-q", "--set-upstream-to", "origin/mine")
    put_back(clone)
    assert state(clone) == before
    assert len(patches(clone)) == 1
    assert git(clone, "diff", "--cached") == ""
    said = capsys.readouterr().out
    assert "my solution" not in said
    assert said.endswith(
        "step04_a is as it was shipped.\n"
        "Your own commits changed it, so git shows it as modified against them.\n"
    )
    put_back(clone)
    assert "there is nothing to put back" in capsys.readouterr().out


def test_a_commit_of_the_reader_on_another_step_is_not_mentioned(
    clone: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(clone)
    git(clone, "commit", "-qm", "elsewhere", "step05_b")
    put_back(clone)
    assert capsys.readouterr().out.endswith("step04_a is as it was shipped.\n")
    assert git(clone, "status", "--porcelain") == ""


def test_a_deleted_step_comes_back(clone: Path) -> None:
    before = state(clone)
    shutil.rmtree(clone / "step04_a")
    put_back(clone)
    assert state(clone) == before


def test_two_resets_in_one_second_keep_two_patches(clone: Path) -> None:
    for text in ("one\n", "two\n"):
        (clone / "step04_a" / "rules.py").write_text(text)
        put_back(clone)
    assert len(patches(clone)) == 2


def test_ignored_files_stay_and_an_untouched_step_needs_nothing(
    clone: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (clone / "step04_a" / "x.pyc").write_bytes(b"x")
    put_back(clone)
    assert "there is nothing to put back" in capsys.readouterr().out
    assert (clone / "step04_a" / "x.pyc").exists()
    assert patches(clone) == []


@needs_git
@pytest.mark.parametrize("staged", [False, True])
def test_a_zip_that_was_put_into_a_repository_of_ones_own(
    folder: Path, staged: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    before = state(folder)
    git(folder, "init", "-q")
    if staged:
        git(folder, "add", "-A")
    (folder / "step04_a" / "new.py").write_text("new\n")
    put_back(folder)
    assert state(folder) == before
    assert git(folder, "ls-files", "step04_a") == ""
    (patch,) = patches(folder)
    git(folder, "apply", str(patch))
    assert (folder / "step04_a" / "new.py").read_text() == "new\n"


@needs_git
def test_a_zip_inside_a_larger_repository(folder: Path) -> None:
    before = state(folder)
    git(folder.parent, "init", "-q")
    commit_all(folder.parent, "everything of mine")
    change(folder)
    changed = state(folder)
    put_back(folder)
    assert state(folder) == {**before, "step05_b/rules.py": b"another step\n"}
    (patch,) = patches(folder)
    git(folder, "apply", f".labs/{patch.name}")
    assert state(folder) == changed


@needs_git
def test_a_file_that_git_does_not_hold_as_it_was_shipped_is_named(folder: Path) -> None:
    (folder / "step04_a" / "tools" / "calc.py").write_text("changed before git knew it\n")
    git(folder, "init", "-q")
    commit_all(folder, "mine")
    changed = state(folder)
    with pytest.raises(UsageError, match="^step04_a/tools/calc.py was changed, and git"):
        put_back(folder)
    assert state(folder) == changed


@needs_git
def test_another_repository_inside_the_step_is_named(clone: Path) -> None:
    change(clone)
    git(clone / "step04_a", "init", "-q")
    with pytest.raises(UsageError, match="another git repository inside step04_a"):
        put_back(clone)


def test_without_a_clone_an_untouched_step_needs_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put_back(folder)
    assert "there is nothing to put back" in capsys.readouterr().out


def test_without_a_clone_the_changed_files_are_named(folder: Path) -> None:
    change(folder)
    found = r"step04_a is changed \(new.bin, rules.py, tools/calc.py\), and git, .* no clone, "
    with pytest.raises(UsageError, match=found):
        put_back(folder)


def test_without_git_the_changed_files_are_named(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(clone)
    monkeypatch.setenv("PATH", os.devnull)
    with pytest.raises(UsageError, match="does not work here .no git, "):
        put_back(clone)


@pytest.mark.parametrize("number", ["99", "", "x"])
def test_an_unknown_step_lists_those_there_are(clone: Path, number: str) -> None:
    (clone / "step04_a" / "x.py").touch()
    with pytest.raises(UsageError, match=r"choose one: STEP=04 \(step04_a\), STEP=05 \(step05_b\)"):
        put_back(clone, number)
