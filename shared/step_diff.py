"""What a step changes: its files, its definitions, its text, and the transcript of its demo."""

import difflib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from .definitions import changed_lines, definitions
from .errors import UsageError
from .steps import ROOT, find_step, step_before

TRANSCRIPT = "expected_output.txt"


def diff(step: Path, other: str, file: str, everything: bool) -> int:
    """Print what a step changes in another one or, if none is named, in the one before it."""
    old = find_step(other) if other else step_before(step)
    print_diff(old, step, file=file, everything=everything)
    return 0


def print_diff(old: Path, new: Path, *, file: str = "", everything: bool = False) -> None:
    """Print the four parts, the short ones first.

    `file` narrows them down to one file, named with or without its folder and ending. `everything`
    takes in the tests, the pinned files and the READMEs.
    """
    paths = sorted(step_files(old, everything) | step_files(new, everything))
    if file:
        paths = chosen(paths, file.removeprefix(f"{old.name}/").removeprefix(f"{new.name}/"))
    print(f"{old.name} -> {new.name}")
    print("\n== files ==")
    for path in paths:
        print(f"  {file_status(old / path, new / path):9}{path}")
    if not everything and not file:
        print("  (tests, pinned files and READMEs are left out; ALL=1 shows them)")
    print("\n== definitions ==")
    for path in paths:
        if path.endswith(".py"):
            for name, change in definition_changes(old / path, new / path).items():
                module = path.removesuffix(".py").replace("/", ".")
                print(f"  {module}.{name}: {change}")
    print("\n== text ==")
    for path in paths:
        if path != TRANSCRIPT:
            print_text_diff(old / path, new / path)
    if not file:
        print("\n== transcript ==")
        print_text_diff(old / TRANSCRIPT, new / TRANSCRIPT)


def step_files(step: Path, everything: bool) -> set[str]:
    """Return the files of a step, relative to it; by default those that a reader compares."""
    found = (path.relative_to(step) for path in step.rglob("*") if path.is_file())
    return {
        path.as_posix() for path in found if is_part(path) and (everything or not is_aside(path))
    }


def is_part(path: Path) -> bool:
    return "__pycache__" not in path.parts and not any(p.startswith(".") for p in path.parts)


def is_aside(path: Path) -> bool:
    return path.parts[0] == "tests" or path.name == "README.md" or path.match("expected_*.txt")


def chosen(paths: list[str], file: str) -> list[str]:
    found = [p for p in paths if file in {p, p.removesuffix(".py"), Path(p).name, Path(p).stem}]
    if not found:
        raise UsageError(f"no file {file!r} in these steps; there are: {', '.join(paths)}")
    return found


def file_status(old: Path, new: Path) -> str:
    if not old.exists():
        return "new"
    if not new.exists():
        return "gone"
    return "same" if old.read_bytes() == new.read_bytes() else "changed"


def definition_changes(old: Path, new: Path) -> dict[str, str]:
    """Return what became of each definition of a module; `*` stands for all, or for all others."""
    before, after = definitions(old), definitions(new)
    changes: dict[str, str] = {}
    for name in before | after:
        if name not in before:
            changes[name] = "new"
        elif name not in after:
            changes[name] = "gone"
        elif count := changed_lines(before[name], after[name]):
            changes[name] = f"changed, {count} line{'s' if count > 1 else ''}"
    if before.keys() & after.keys() - changes.keys():
        changes["*"] = "same" if not changes else "the rest is the same"
    return changes


def print_text_diff(old: Path, new: Path) -> None:
    """Print a unified diff of two files, either of which may be missing: git's if there is git."""
    git = shutil.which("git")
    if git is None:
        print_plain_diff(old, new)
        return
    colour = "always" if sys.stdout.isatty() else "never"
    sides = [str(p.relative_to(ROOT)) if p.exists() else os.devnull for p in (old, new)]
    options = ["--no-index", "--no-ext-diff", "--src-prefix=a/", "--dst-prefix=b/"]
    sys.stdout.flush()
    done = subprocess.run(
        [git, "--no-pager", "diff", *options, f"--color={colour}", "--", *sides], cwd=ROOT
    )
    if done.returncode > 1:  # 1 only says that the files differ.
        raise UsageError(f"git diff ended with status {done.returncode}; its words are above")


def print_plain_diff(old: Path, new: Path) -> None:
    before, after = (p.read_text("utf-8").splitlines() if p.exists() else [] for p in (old, new))
    names = [f"{p.parent.name}/{p.name}" for p in (old, new)]
    for line in difflib.unified_diff(before, after, names[0], names[1], lineterm=""):
        print(line)
