"""What the page of the playground asks of Python.

/lab holds the house as it was shipped, and /mine what the reader has made of a step.
"""

import contextlib
import importlib
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from labs import breaking, checking, tracing
from labs.breaks import find_break, pinned_run
from labs.tasks import find_task, labs_folder
from shared import child
from shared.errors import UsageError
from shared.history import history_lines
from shared.step_diff import text_diff
from shared.steps import find_step
from shared.trace import recorder
from shared.trace.recording import Recording
from shared.trace.verdict import verdicts
from shared.watching import Run, watch, watch_demo

from .one_process import call_here, own_loop, standing_in
from .patch import PatchError, patched

LAB, MINE = Path("/lab"), Path("/mine")
DELAY = 0.03  # seconds between two pieces of what the model says, as on a terminal
Tell = Callable[[str, str], object]


def mine(step: str, changes: dict[str, str]) -> Path:
    """Write the reader's step: as it was shipped, and with what the reader has changed."""
    name = find_step(step).name
    shutil.rmtree(MINE, ignore_errors=True)
    shutil.copytree(LAB / name, MINE / name, ignore=shutil.ignore_patterns("tests", "__pycache__"))
    (MINE / "labs" / name[:6]).mkdir(parents=True)
    for path, text in changes.items():
        (MINE / path).parent.mkdir(parents=True, exist_ok=True)
        (MINE / path).write_text(text, encoding="utf-8", newline="\n")
    return MINE / name


class Told(child.Screen):
    """A screen that the page shows while it is written to."""

    tell_page: Tell = print

    def write(self, text: str) -> int:
        written = super().write(text)
        Told.tell_page("screen", text.encode("utf-8", "backslashreplace").decode("utf-8"))
        return written


class Watching(recorder.Onlooker):
    """An onlooker that tells the page of the history whenever it is another one."""

    told = -1

    def note(self, event: Any) -> None:
        super().note(event)
        if self.context is not None and (count := len(self.context.messages)) != self.told:
            self.told = count
            Told.tell_page("history", history_lines(self.context.messages))


def run(step: str, sentence: str, tell: Tell) -> dict[str, Any]:
    """Play the demo of the reader's step, or say a sentence to it; tell the page as it happens."""
    package = find_step(step).name
    Told.tell_page = tell
    watching: Any = sys.modules["shared.watching"]
    answer: dict[str, Any] = {"failure": ""}
    with standing_in(MINE), showing(watching):
        try:
            answer |= watched(package, sentence)
        except BaseException as error:
            answer |= {"failure": child.explained(error), "where": place_of(error)}
    return answer


def place_of(error: BaseException) -> tuple[str, int] | None:
    """Return the file and the line of the step in which an error came up."""
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        return child.name_in_step(error.filename), error.lineno
    frames = child.step_frames(error)
    return (child.name_in_step(frames[-1].filename), frames[-1].lineno or 1) if frames else None


@contextlib.contextmanager
def showing(watching: Any) -> Iterator[None]:
    """Let what is printed, and the history, go to the page."""
    plain, recorder_of = watching.Screen, recorder.Onlooker
    watching.Screen, recorder.Onlooker = Told, Watching  # type: ignore[misc]
    try:
        yield
    finally:
        watching.Screen, recorder.Onlooker = plain, recorder_of  # type: ignore[misc]


def watched(package: str, sentence: str) -> dict[str, Any]:
    """Run the step, and record it if it has a loop; return what it leaves."""
    runs: list[Run] = []

    def talk() -> None:
        runs.append(said(package, sentence) if sentence else watch_demo(package))

    if not (MINE / package / "agent_loop.py").exists():
        talk()
        return channels(runs[-1])
    recording = recorder.recorded(package, "sentence" if sentence else "demo", talk)
    keep([recording] if recording.moments else [])
    if runs:
        return channels(runs[-1])
    faults = verdicts(recording)[-1].faults if recording.moments else []
    failure = recording.moments[-1].detail if recording.moments else ""
    return {"transcript": recording.screen, "history": "", "faults": faults, "failure": failure}


def said(package: str, sentence: str) -> Run:
    main = importlib.import_module(f"{package}.main")
    shown_lines = importlib.import_module(f"{package}.terminal").shown_lines
    cwd = {"cwd": MINE / package} if "cwd" in main.chat.__code__.co_varnames else {}
    return watch(lambda: main.chat(shown_lines([sentence]), delay=DELAY, **cwd))


def channels(run: Run) -> dict[str, Any]:
    return {"transcript": run.transcript, "history": run.history, "faults": run.faults}


kept: list[Recording] = []


def keep(recordings: list[Recording]) -> None:
    kept[:] = recordings


def trace_page() -> str:
    """Return the page of the last run as `make trace` writes it; nothing, if no loop turned."""
    if not kept:
        return ""
    from shared.trace.page import page  # Only now: it takes packages that come later.

    return page(kept)


def check(step: str, task: str) -> dict[str, Any]:
    """Return what `make check` says of the reader's step."""
    found = find_task(find_step(step), task)
    verdict = checking.look(found, MINE, call_here)
    return {"done": verdict.done, "lines": checking.report(found, verdict)}


def break_it(step: str, name: str, predictions: list[str]) -> dict[str, Any]:
    """Return what `make break` shows once the predictions are made."""
    folder = find_step(step)
    change = find_break(folder, name)
    intact = pinned_run(labs_folder(folder), change.scene)
    _, run = breaking.broken(change)
    keep([])
    with contextlib.suppress(UsageError):  # There may be no loop, or none that turns.
        keep(tracing.recorded(folder, name, ""))
    right = [
        bool(said) and breaking.is_right(said, question)
        for said, question in zip(predictions, change.questions, strict=True)
    ]
    lines = list(breaking.consequences(run, intact))
    return {**channels(run), "lines": lines, "right": right, "why": str(change.why)}


def compare(step: str) -> str:
    """Return what the reader has changed, as a patch that `git apply` takes."""
    name = find_step(step).name
    paths = {
        path.relative_to(root / name).as_posix()
        for root in (LAB, MINE)
        for path in (root / name).rglob("*")
        if path.is_file() and "tests" not in path.relative_to(root / name).parts
    }
    lines = [
        line
        for path in sorted(paths)
        if "__pycache__" not in path
        for line in text_diff(LAB / name, MINE / name, path)
    ]
    return "".join(f"{line}\n" for line in lines)


def open_patch(text: str) -> dict[str, Any]:
    """Return the files that a patch makes of the reader's, or why it is refused."""

    def text_of(path: str) -> str | None:
        file = (MINE / path).resolve()
        there = file.is_relative_to(MINE) and file.is_file()
        return file.read_text("utf-8") if there else None

    try:
        return {"refused": "", "changes": patched(text, text_of)}
    except PatchError as error:
        return {"refused": str(error), "changes": {}}


def answer(call: str, tell: Tell) -> str:
    """Do what the page asks for, and return the answer, both as JSON."""
    asked = json.loads(call)
    os.environ["LAB_LANG"] = asked["language"]
    step = asked["step"]
    with own_loop():
        mine(step, asked["changes"])
        match asked["what"]:
            case "run":
                found: Any = run(step, asked["sentence"], tell)
            case "trace":
                found = trace_page()
            case "check":
                found = check(step, asked["task"])
            case "break":
                found = break_it(step, asked["name"], asked["predictions"])
            case "compare":
                found = compare(step)
            case "patch":
                found = open_patch(asked["text"])
            case other:
                raise ValueError(other)
    return json.dumps(found, ensure_ascii=False)
