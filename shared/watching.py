"""Running a step as it stands, and keeping both of its channels: for people and for the model."""

import contextlib
import importlib
import inspect
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .child import Screen
from .history import history_lines
from .pairing import pairing_faults


@dataclass(frozen=True, slots=True)
class Run:
    """What a conversation left: `transcript` for people, `history` for the model.

    `faults` is what a real provider would say of the history.
    """

    transcript: str
    history: str
    faults: list[str]

    def same_as(self, other: "Run") -> bool:
        """Return whether both channels hold the same; the faults follow from the history."""
        return (self.transcript, self.history) == (other.transcript, other.history)


def watch_demo(package: str) -> Run:
    """Play the demo of a step."""
    return watch(importlib.import_module(f"{package}.demo").run_demo)


def watch_chat(package: str, lines: Iterable[str], cwd: Path | None = None) -> Run:
    """Say `lines` to a step; its tools work in `cwd` if it has any that do."""
    chat = importlib.import_module(f"{package}.main").chat
    shown_lines = importlib.import_module(f"{package}.terminal").shown_lines
    has_cwd = "cwd" in inspect.signature(chat).parameters
    options = {"cwd": cwd or step_folder(package)} if has_cwd else {}
    return watch(lambda: chat(shown_lines(lines), **options))


def watch(talk: Any) -> Run:
    with contextlib.redirect_stdout(Screen()) as screen:
        context = talk()
    shown, history = map(encodable, (screen.getvalue(), history_lines(context.messages)))
    return Run(shown, history, pairing_faults(context.messages))


def encodable(text: str) -> str:
    """Return text as a terminal gets it: half of a letter is an escape there."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def step_folder(package: str) -> Path:
    module = sys.modules.get(package) or importlib.import_module(package)
    return Path(str(module.__file__)).parent
