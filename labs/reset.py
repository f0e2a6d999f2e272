"""Putting a step back as it came, with the reader's changes saved first."""

import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from shared.errors import UsageError
from shared.steps import ROOT

from .progress import FOLDER


def reset(number: str, *, root: Path = ROOT, saved: Path = FOLDER) -> int:
    """Save what a reader changed in a step as a patch, and put the step back.

    As it came is what the clone came with: where the reader has committed since, the commit that
    still is part of the remote branch. New files are saved too, and ignored ones are left alone.
    """
    if shutil.which("git") is None or not (root / ".git").exists():
        raise UsageError("make reset needs git and a clone: git knows how the step came")
    refuse_unfinished(root)
    base = as_it_came(root)
    step = step_in(root, base, number)
    commit = git(root, "log", "-1", "--format=commit %h, %s", base).decode("utf-8").strip()
    patch = changes(root, base, step)
    if not patch:
        print(f"{step} is as it came ({commit}); there is nothing to put back")
        return 0
    kept = {"": save(root, base, patch, saved, step)}
    staged = patch_of(root, base, step)
    if staged and staged != patch:
        kept["or what was staged: "] = save(root, base, staged, saved, f"{step}-staged")
    print("Your changes are saved; to have them back:")
    for what, path in kept.items():
        shown = path.relative_to(root) if path.is_relative_to(root) else path
        print(f"  {what}git apply --whitespace=nowarn {shown.as_posix()}", flush=True)
    put_back(root, base, step)
    print(f"{step} is as it came ({commit}).")
    return 0


def put_back(root: Path, base: str, step: str) -> None:
    # Files that git was told not to look at would stay as they are.
    for flag in ("--no-skip-worktree", "--no-assume-unchanged"):
        files = git(root, "ls-files", "-z", "--", step)
        git(root, "update-index", "-z", flag, "--stdin", words=files)
    git(root, "restore", f"--source={base}", "--staged", "--worktree", "--", step)
    git(root, "clean", "-fdq", "--", step)


def refuse_unfinished(root: Path) -> None:
    """Raise UsageError in the middle of a merge or the like: its halves are in no patch."""
    for name in ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"):
        path = git(root, "rev-parse", "--git-path", name).decode("utf-8").strip()
        if (root / path).exists():
            raise UsageError(f"git is in the middle of something ({name}); finish that first")


def as_it_came(root: Path) -> str:
    """Return the commit that the clone came with, as far as git can tell."""
    found = git_or_none(root, "merge-base", "HEAD", "@{upstream}")
    found = found or git_or_none(root, "merge-base", "HEAD", "origin/HEAD") or b"HEAD"
    return found.decode().strip()


def step_in(root: Path, base: str, number: str) -> str:
    """Return the folder of a step as git has it: on the disk it may be gone."""
    folders = git(root, "ls-tree", "-d", "--name-only", base).decode().split()
    steps = [name for name in folders if re.match(r"step\d\d_", name)]
    for name in steps:
        if number.isdecimal() and int(number) == int(name[4:6]):
            return name
    asked = f"there is no step {number!r}" if number else "no step was named"
    choices = ", ".join(f"STEP={name[4:6]} ({name})" for name in steps)
    raise UsageError(f"{asked}; choose one: {choices}")


def changes(root: Path, base: str, step: str) -> bytes:
    """Return a patch of all that differs from `base` in a step, new files too.

    It is made in an index of its own, so that the reader's own is not touched.
    """
    with index_of(root, base) as index:
        git(root, "add", "--all", "--", step, index=index)
        return patch_of(root, base, step, index=index)


@contextmanager
def index_of(root: Path, base: str) -> Iterator[str]:
    """Give an index of its own, holding what a commit holds."""
    with tempfile.TemporaryDirectory() as folder:
        index = str(Path(folder, "index"))
        git(root, "read-tree", base, index=index)
        yield index


def patch_of(root: Path, base: str, step: str, index: str = "") -> bytes:
    """Return what an index changes of `base` in a step, whatever the user's settings say."""
    plain = ["--binary", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "-U3"]
    prefixes = ["--src-prefix=a/", "--dst-prefix=b/"]
    command = ["diff-index", "--cached", "-p", *plain, *prefixes, base, "--", step]
    return git(root, *command, index=index)


def save(root: Path, base: str, patch: bytes, folder: Path, name: str) -> Path:
    """Write a patch under a name that nothing has yet, and return its path.

    UsageError, before anything is put back, if it cannot be written or does not fit `base`.
    """
    stamp = time.strftime("%Y%m%d-%H%M%S")
    names = (folder / f"{name}-{stamp}{f'-{n}' if n else ''}.patch" for n in range(1000))
    try:
        folder.mkdir(exist_ok=True)
        path = next(path for path in names if not path.exists())
        path.write_bytes(patch)
    except OSError as error:
        raise UsageError(f"your changes cannot be saved, nothing was put back: {error}") from None
    with index_of(root, base) as index:
        git(root, "apply", "--check", "--cached", str(path), index=index)
    return path


# No setting and no hook of the user has a say in what is saved and put back.
OWN_SETTINGS = ["core.hooksPath=/dev/null", "core.safecrlf=false", "apply.whitespace=nowarn"]


def git(root: Path, *arguments: str, index: str = "", words: bytes = b"") -> bytes:
    """Run git in `root`, tell it `words`, and return what it prints; UsageError if it fails."""
    settings = [word for setting in OWN_SETTINGS for word in ("-c", setting)]
    done = subprocess.run(
        ["git", *settings, *arguments],
        cwd=root,
        env={**os.environ, **({"GIT_INDEX_FILE": index} if index else {})},
        input=words,
        capture_output=True,
    )
    if done.returncode:
        said = " / ".join(done.stderr.decode("utf-8", "replace").strip().splitlines())
        raise UsageError(f"git {arguments[0]} failed: {said}")
    return done.stdout


def git_or_none(root: Path, *arguments: str) -> bytes | None:
    try:
        return git(root, *arguments)
    except UsageError:
        return None
