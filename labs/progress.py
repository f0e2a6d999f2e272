"""How far the reader is: one file, .labs/progress.json, which git ignores."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from shared.errors import UsageError
from shared.steps import ROOT

FOLDER = ROOT / ".labs"
FILE = FOLDER / "progress.json"


@dataclass(slots=True)
class Progress:
    """Whether a task has been done once, and how many of its hints were taken."""

    done: bool = False
    hints: int = 0


def load(file: Path = FILE) -> dict[str, Progress]:
    """Return the progress by task, such as "04.3"; UsageError if the file is damaged."""
    if not file.exists():
        return {}
    try:
        entries = json.loads(file.read_text("utf-8"))
        return {key: Progress(**entry) for key, entry in entries.items()}
    except (ValueError, TypeError, AttributeError):
        raise UsageError(f"{file.name} is damaged; delete it to start anew: {file}") from None


def save(progress: dict[str, Progress], file: Path = FILE) -> None:
    """Write the progress; whoever interrupts this finds the old file.

    UsageError if it cannot be written.
    """
    text = json.dumps({key: asdict(entry) for key, entry in progress.items()}, indent=1)
    new = file.with_suffix(".new")
    try:
        file.parent.mkdir(exist_ok=True)
        new.write_text(f"{text}\n", encoding="utf-8")
        new.replace(file)
    except OSError as error:
        raise UsageError(f"your progress cannot be kept: {error}") from None
