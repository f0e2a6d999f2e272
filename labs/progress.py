"""How far the reader is: one file, .labs/progress.json, which git ignores."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from shared.errors import UsageError
from shared.steps import ROOT

from .language import say

FOLDER = ROOT / ".labs"
FILE = FOLDER / "progress.json"


@dataclass(slots=True)
class Progress:
    """Whether a task has been done once, and how many of its hints were taken."""

    done: bool = False
    hints: int = 0

    def __post_init__(self) -> None:
        # Anybody can edit the file. A bool is an int too, and no number of hints.
        if type(self.done) is not bool or type(self.hints) is not int or self.hints < 0:
            raise TypeError("done is true or false, and hints counts from 0")


def load(file: Path = FILE) -> dict[str, Progress]:
    """Return the progress by task, such as "04.3"; UsageError if the file cannot be used."""
    try:
        entries = json.loads(file.read_text("utf-8"))
        return {key: Progress(**entry) for key, entry in entries.items()}
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UsageError(say("your progress cannot be read: {error}", error=error)) from None
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise UsageError(
            say("{name} is damaged; delete it to start again: {file}", name=file.name, file=file)
        ) from None


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
        raise UsageError(say("your progress cannot be saved: {error}", error=error)) from None
