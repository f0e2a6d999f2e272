"""What a step changes: its files, its definitions, its text, and the transcript of its demo."""

import difflib
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from .definitions import NotPythonError, changed_lines, definitions
from .errors import UsageError
from .language import say
from .screen import is_terminal, show, visible
from .steps import find_step, step_before

TRANSCRIPT = "expected_output.txt"


def diff(step: Path, other: str, file: str, everything: bool) -> int:
    """Show what a step changes in another one or, if none is named, in the one before it."""
    old = find_step(other) if other else step_before(step)
    text = diff_text(old, step, file=file, everything=everything)
    show(coloured(text) if is_terminal(sys.stdout) and not os.environ.get("NO_COLOR") else text)
    return 0


def diff_text(old: Path, new: Path, *, file: str = "", everything: bool = False) -> str:
    """Return the four parts, the short ones first.

    `file` narrows them down to one file, named with or without its folder and ending. `everything`
    includes the tests, the expected output and the READMEs.
    """
    paths = sorted(step_files(old, everything) | step_files(new, everything))
    if file:
        paths = chosen(paths, file.removeprefix(f"{old.name}/").removeprefix(f"{new.name}/"))
    lines = [f"{old.name} -> {new.name}", "", "== files =="]
    lines += [f"  {file_status(old / path, new / path):9}{path}" for path in paths]
    if not everything and not file:
        note = say("tests, expected output and READMEs are left out; ALL=1 shows them")
        lines.append(f"  ({note})")
    lines += ["", "== definitions =="]
    for path in paths:
        if path.endswith(".py"):
            lines += definition_lines(old, new, path)
    lines += ["", "== text =="]
    for path in paths:
        if path != TRANSCRIPT:
            lines += text_diff(old, new, path)
    if not file:
        lines += ["", "== transcript ==", *text_diff(old, new, TRANSCRIPT)]
    return "".join(f"{visible(line)}\n" for line in lines)


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
        raise UsageError(
            say(
                "no file {file!r} in these steps; choose one: {choices}",
                file=file,
                choices=", ".join(paths),
            )
        )
    return found


def file_status(old: Path, new: Path) -> str:
    if not old.exists():
        return "new"
    if not new.exists():
        return "gone"
    return "same" if old.read_bytes() == new.read_bytes() else "changed"


def definition_lines(old: Path, new: Path, path: str) -> Iterator[str]:
    module = path.removesuffix(".py").replace("/", ".")
    try:
        for name, change in definition_changes(old / path, new / path).items():
            yield f"  {module}.{name}: {change}"
    except NotPythonError as error:
        yield f"  {module}: {error}"


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


def text_diff(old: Path, new: Path, path: str) -> list[str]:
    """Return a unified diff of a file, which may be missing in one of the steps."""
    sides = [(step / path, f"{side}/{step.name}/{path}") for step, side in ((old, "a"), (new, "b"))]
    names = [name if file.exists() else os.devnull for file, name in sides]
    try:
        before, after = (lines_of(file) for file, _ in sides)
    except UnicodeDecodeError:
        return [say("{path} is not UTF-8, and so its text is not compared", path=path)]
    return list(difflib.unified_diff(before, after, names[0], names[1], lineterm=""))


def lines_of(path: Path) -> list[str]:
    """Return the lines of a file as they are: a carriage return is a difference."""
    *lines, rest = path.read_bytes().decode("utf-8").split("\n") if path.exists() else [""]
    return [*lines, f"{rest}\n\\ No newline at end of file"] if rest else lines


COLOURS = {"==": "1", "@@": "36", "-": "31", "+": "32"}  # What a terminal calls them.


def coloured(text: str) -> str:
    """Return a diff in which a terminal shows what goes in red and what comes in green."""

    def paint(match: re.Match[str]) -> str:
        return f"\x1b[{COLOURS[match[1]]}m{match[0]}\x1b[m"

    return re.sub("^(==|@@|[-+]).*", paint, text, flags=re.MULTILINE)
