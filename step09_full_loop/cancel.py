"""Stopping what runs: the user asks for it, and everybody who works here can see that."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Self, TypeVar

T = TypeVar("T")
CANCELLED = "已取消"


class CancelToken:
    """Whether somebody has asked one run to stop. It is asked once, and for good.

    `grace`: seconds that a tool has to stop by itself, before nobody waits for it any longer.
    """

    def __init__(self, *, grace: float = 1.0) -> None:
        self.grace = grace
        self.cancelled = False
        self._callbacks: list[Callable[[], object]] = []

    def cancel(self) -> None:
        """Ask everybody to stop. From a thread or a signal, use `loop.call_soon_threadsafe`."""
        self.cancelled = True
        while self._callbacks:
            self._callbacks.pop()()

    @contextmanager
    def calling(self, callback: Callable[[], object]) -> Iterator[None]:
        """Call `callback` when the run is cancelled inside the block, or has been before."""
        self._callbacks.append(callback)
        if self.cancelled:
            callback()
        try:
            yield
        finally:
            if callback in self._callbacks:
                self._callbacks.remove(callback)

    async def wait(self) -> None:
        """Return when the run is cancelled."""
        asked = asyncio.Event()
        with self.calling(asked.set):
            await asked.wait()


class StoppedError(Exception):
    """What was waited for was stopped, because the run was cancelled. The text is for the model."""


class Waiting:
    """One or more waits of a task that end `grace` seconds after the run was cancelled.

    It holds in a `with` block. Between two waits, and behind the block, nothing is interrupted.
    """

    def __init__(self, cancel: CancelToken, *, grace: float = 0.0) -> None:
        self._cancel = cancel
        self._grace = grace
        self._called = cancel.calling(self._asked)
        self._task: asyncio.Task[object] | None = None
        self._stopped = False

    def __enter__(self) -> Self:
        self._called.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._called.__exit__(None, None, None)

    async def wait(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do `work` in this task; StoppedError if that takes too long after a cancel."""
        if self._cancel.cancelled and not self._grace:
            raise StoppedError(CANCELLED)
        self._task = task = current_task()
        others = task.cancelling()
        try:
            return await work()
        except asyncio.CancelledError:
            if self._stopped and task.uncancel() <= others:
                raise StoppedError(CANCELLED) from None
            raise
        finally:
            self._task = None

    def _asked(self) -> None:
        # Not at once: whoever cancels may be this very task, in the middle of something else.
        asyncio.get_running_loop().call_later(self._grace, self._stop)

    def _stop(self) -> None:
        if self._task is not None:
            self._stopped = True
            self._task.cancel()


async def interruptible(
    work: Callable[[], Awaitable[T]], cancel: CancelToken, *, grace: float = 0.0
) -> T:
    """Do `work` in this task; StoppedError `grace` seconds after the run was cancelled."""
    with Waiting(cancel, grace=grace) as waiting:
        return await waiting.wait(work)


async def with_grace(work: Callable[[], Awaitable[T]], cancel: CancelToken) -> T:
    """Do `work` in a task of its own, and return what it returns or raise what it raises.

    After a cancel it has `cancel.grace` seconds to end by itself; then StoppedError. A
    CancelledError that nobody has asked for is a failure of `work`: RuntimeError.
    """
    if cancel.cancelled:
        raise StoppedError(CANCELLED)
    escaping: list[BaseException] = []
    either = asyncio.get_running_loop().create_future()

    def wake() -> None:
        if not either.done():
            either.set_result(None)

    task = asyncio.ensure_future(contained(work, escaping, wake))
    task.add_done_callback(seen)
    try:
        with cancel.calling(wake):
            await either
        if not task.done():
            await asyncio.wait({task}, timeout=cancel.grace)
        in_time = task.done()
    finally:
        if task.cancel():  # A task that ignores this as well goes on without us.
            await asyncio.wait({task}, timeout=cancel.grace / 10)
    if escaping:
        raise escaping[0]
    if not in_time:
        raise StoppedError(f"{CANCELLED}：工具没有停下来，等了 {cancel.grace:g} 秒，不再等它")
    if not task.cancelled():
        return task.result()
    raise StoppedError(CANCELLED) if cancel.cancelled else RuntimeError("CancelledError")


async def contained(
    work: Callable[[], Awaitable[T]], escaping: list[BaseException], ended: Callable[[], None]
) -> T:
    """Do `work`, and put aside what would end the whole event loop: whoever waits raises it."""
    try:
        return await work()
    except (KeyboardInterrupt, SystemExit) as error:
        escaping.append(error)
        raise asyncio.CancelledError from None
    finally:
        ended()


def seen(task: asyncio.Future[T]) -> None:
    """Let what a task raises count as seen, even if nobody waits for it any more."""
    _ = task.cancelled() or task.exception()


def is_being_cancelled() -> bool:
    """Return whether a CancelledError in this task is meant for it, and is no failure of others."""
    return current_task().cancelling() > 0


def current_task() -> asyncio.Task[object]:
    task = asyncio.current_task()
    assert task is not None, "only a task can wait"
    return task
