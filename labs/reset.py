"""Putting a step back as it came, with the reader's changes saved first."""

import os
import re
import shutil
import subprocess
import tempfile
import time
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
    base = as_it_came(root)
    step = step_in(root, base, number)
    patch = changes(root, base, step)
    if not patch:
        print(f"{step} is as it came; there is nothing to put back")
        return 0
    kept = [save(patch, saved, step)]
    staged = git(root, "diff", "--cached", "--binary", base, "--", step)
    if staged and staged != patch:
        kept.append(save(staged, saved, f"{step}-staged"))
    git(root, "restore", f"--source={base}", "--staged", "--worktree", "--", step)
    git(root, "clean", "-fdq", "--", step)
    print(f"{step} is as it came. Your changes are saved; to have them back:")
    for path in kept:
        shown = path.relative_to(root) if path.is_relative_to(root) else path
        print(f"  git apply {shown.as_posix()}")
    return 0


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
    with tempfile.TemporaryDirectory() as folder:
        index = str(Path(folder, "index"))
        git(root, "read-tree", base, index=index)
        git(root, "add", "--all", "--", step, index=index)
        return git(root, "diff", "--cached", "--binary", base, "--", step, index=index)


def save(patch: bytes, folder: Path, name: str) -> Path:
    """Write a patch under a name that nothing has yet, and return its path."""
    folder.mkdir(exist_ok=True)
    stamp = time.strftime("%Y%m%d-%H%M%S")
    for n in range(1000):
        path = folder / f"{name}-{stamp}{f'-{n}' if n else ''}.patch"
        if not path.exists():
            path.write_bytes(patch)
            return path
    raise UsageError(f"{folder} is full of patches of this second")


def git(root: Path, *arguments: str, index: str = "") -> bytes:
    """Run git in `root` and return what it prints; UsageError if it fails."""
    environment = {**os.environ, **({"GIT_INDEX_FILE": index} if index else {})}
    done = subprocess.run(["git", *arguments], cwd=root, env=environment, capture_output=True)
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise UsageError(" ".join([f"git {arguments[0]} failed, nothing was put back:", *last]))
    return done.stdout


def git_or_none(root: Path, *arguments: str) -> bytes | None:
    try:
        return git(root, *arguments)
    except UsageError:
        return None
