"""The house inside of a browser tab: what a process, an event loop and a terminal are there.

Nothing of the house is written twice. A tab has one process and no other threads, so this module
puts an event loop that needs neither into asyncio, and lets `call_in_child` call in this process.
After that the recorder, the checkers and the catalogue run as they are. /lab holds the house as it
was shipped, and /mine what the reader has made of a step.
"""

import asyncio
import contextlib
import importlib
import io
import json
import os
import shutil
import sys
import time
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

# A tab has no databases. Only the lock of an environment needs one, and here is no environment.
with contextlib.suppress(ImportError):
    import sqlite3
if "sqlite3" not in sys.modules:
    sys.modules["sqlite3"] = types.ModuleType("sqlite3")

from shared import child

LAB, MINE = Path("/lab"), Path("/mine")
DELAY = 0.03  # seconds between two pieces of what the model says, as on a terminal


class TabLoop(asyncio.BaseEventLoop):
    """An event loop of timers and tasks only: nothing comes from outside, and nothing blocks."""

    def __init__(self) -> None:
        super().__init__()
        self._selector = self
        self._clock_resolution = 0.001

    def select(self, timeout: float | None) -> list[Any]:
        time.sleep(0.05 if timeout is None else timeout)
        return []

    def _process_events(self, _events: list[Any]) -> None:
        pass

    def _write_to_self(self) -> None:
        pass  # Nobody sleeps who had to be woken: there is no other thread.

    def run_in_executor(self, _executor: Any, func: Any, *args: Any) -> Any:
        """Do at once what would be done in a thread."""
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:
            future.set_exception(error)
        return future

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        pass


@contextlib.contextmanager
def own_loop() -> Iterator[None]:
    """Let asyncio make loops of ours, and forget that the browser has one that runs."""
    events: Any = asyncio.events
    outer, made = asyncio._get_running_loop(), events.new_event_loop
    asyncio._set_running_loop(None)
    events.new_event_loop = asyncio.new_event_loop = TabLoop
    try:
        yield
    finally:
        events.new_event_loop = asyncio.new_event_loop = made
        asyncio._set_running_loop(outer)


@contextlib.contextmanager
def standing_in(root: Path) -> Iterator[None]:
    """Let `root` be the current folder, and the step in it the one that is imported."""
    before, path = Path.cwd(), list(sys.path)
    known = forget_steps()
    sys.path.insert(0, str(root))
    importlib.invalidate_caches()
    os.chdir(root)
    try:
        yield
    finally:
        os.chdir(before)
        sys.path[:] = path
        forget_steps()
        sys.modules.update(known)


def forget_steps() -> dict[str, Any]:
    """Forget every module of a step, and of the laboratory of a step; return them."""
    names = [n for n in sys.modules if n.startswith(("step", "labs.step")) and is_of_step(n)]
    return {name: sys.modules.pop(name) for name in names}


def is_of_step(name: str) -> bool:
    return name.removeprefix("labs.")[4:6].isdecimal()


def call_here(root: Path, function: str, *arguments: str) -> Any:
    """Do what call_in_child does, in this process. The page has a clock of its own that ends it."""
    with standing_in(root), contextlib.redirect_stdout(io.StringIO()) as answered:
        child.main([function, *arguments])
    answer = json.loads(answered.getvalue())
    if "failure" in answer:
        raise child.ChildError(answer["failure"], in_step=answer["in_step"])
    return answer["result"]


child.call_in_child = call_here  # Before anything is imported that takes it from there.

from labs import breaking, checking, tracing
from labs.breaks import find_break, pinned_run
from labs.tasks import find_task, labs_folder
from shared.history import history_lines
from shared.step_diff import text_diff
from shared.steps import find_step
from shared.trace import recorder
from shared.trace.recording import Recording
from shared.trace.verdict import verdicts
from shared.watching import Run, watch, watch_demo

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
    """Return the page of the last run as `make trace` writes it, or nothing if there was no loop."""
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
    keep(tracing.recorded(folder, name, "") if (folder / "agent_loop.py").exists() else [])
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
            case other:
                raise ValueError(other)
    return json.dumps(found, ensure_ascii=False)
