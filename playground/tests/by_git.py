"""What git and our own diff make of a text, to compare with."""

import difflib
import subprocess
from collections.abc import Callable
from pathlib import Path


def applied(patch: str, folder: Path, text_of: Callable[[str], str | None]) -> dict[str, str]:
    """Return each file that a patch changes as `git apply` leaves it."""
    names = [line[6:] for line in patch.splitlines() if line.startswith("+++ b/")]
    folder.mkdir()
    for name in names:
        if (text := text_of(name)) is not None:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, "utf-8")
    # Without a repository around it git takes the names as they are.
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    subprocess.run(["git", "apply"], cwd=folder, input=patch.encode(), check=True)
    return {name: (folder / name).read_text("utf-8") for name in names}


def difference(before: str, after: str) -> str:
    """Return a patch as the page writes it, in which a missing line end is told."""
    old, new = lines_of(before), lines_of(after)
    lines = difflib.unified_diff(old, new, "a/step/file", "b/step/file", lineterm="")
    return "".join(f"{line}\n" for line in lines)


def lines_of(text: str) -> list[str]:
    *lines, rest = text.split("\n")
    return [*lines, f"{rest}\n\\ No newline at end of file"] if rest else lines
