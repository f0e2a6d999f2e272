"""One process for everything: what an event loop and a child process are in a browser tab.

A tab has no other processes and no threads, and its own event loop runs already. So asyncio gets a
loop that needs none of that, and `call_in_child` calls in this process. Nothing else is replaced:
the recorder, the checkers and the catalogue run as they are.
"""

import asyncio
import contextlib
import importlib
import importlib.util
import io
import json
import os
import sys
import time
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from shared import child


def begin() -> None:
    """Put this into place, before anything is imported that takes the usual from there."""
    child.call_in_child = call_here
    if importlib.util.find_spec("sqlite3") is None:
        # Only the lock of an environment needs it, and there is no environment here.
        sys.modules["sqlite3"] = types.ModuleType("sqlite3")


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

    def run_in_executor(  # type: ignore[override]
        self, executor: Any, func: Any, *args: Any
    ) -> Any:
        """Do at once what would be done in a thread."""
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:
            future.set_exception(error)
        return future

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:  # noqa: ASYNC109
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
