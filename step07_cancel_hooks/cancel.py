"""Stopping what runs: the user asks for it, and everybody who works here can see that."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

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


async def interruptible(
    work: Callable[[], Awaitable[T]], cancel: CancelToken, *, grace: float = 0.0
) -> T:
    """Do `work` in this task; StoppedError `grace` seconds after the run was cancelled."""
    if cancel.cancelled and not grace:
        raise StoppedError(CANCELLED)
    now = asyncio.get_running_loop().time
    try:
        async with asyncio.timeout(None) as scope:
            with cancel.calling(lambda: scope.reschedule(now() + grace)):
                return await work()
    except TimeoutError:
        if scope.expired():
            raise StoppedError(CANCELLED) from None
        raise


async def with_grace(work: Callable[[], Awaitable[T]], cancel: CancelToken) -> T:
    """Do `work` in a task of its own, and return what it returns or raise what it raises.

    After a cancel it has `cancel.grace` seconds to end by itself; then StoppedError. A
    CancelledError that nobody has asked for is a failure of `work`: RuntimeError.
    """
    if cancel.cancelled:
        raise StoppedError(CANCELLED)
    escaping: list[BaseException] = []
    task = asyncio.ensure_future(contained(work, escaping))
    # What it raises counts as seen, even if nobody waits for it any more.
    task.add_done_callback(lambda task: task.cancelled() or task.exception())
    try:
        await first_of(task, cancel)
        if not task.done():
            await asyncio.wait({task}, timeout=cancel.grace)
        in_time = task.done()
    finally:
        if task.cancel():
            # A task that ignores this as well goes on without us.
            await asyncio.wait({task}, timeout=cancel.grace / 10)
    if escaping:
        raise escaping[0]
    if not in_time:
        raise StoppedError(f"{CANCELLED}：工具没有停下来，等了 {cancel.grace:g} 秒，不再等它")
    if not task.cancelled():
        return task.result()
    raise StoppedError(CANCELLED) if cancel.cancelled else RuntimeError("CancelledError")


async def contained(work: Callable[[], Awaitable[T]], escaping: list[BaseException]) -> T:
    """Do `work`, and put aside what would end the whole event loop: whoever waits raises it."""
    try:
        return await work()
    except (KeyboardInterrupt, SystemExit) as error:
        escaping.append(error)
        raise asyncio.CancelledError from None


async def first_of(task: asyncio.Future[T], cancel: CancelToken) -> None:
    """Wait until the task is done or the run is cancelled."""
    asked = asyncio.get_running_loop().create_future()
    with cancel.calling(asked.cancel):
        await asyncio.wait({task, asked}, return_when=asyncio.FIRST_COMPLETED)


def is_being_cancelled() -> bool:
    """Return whether a CancelledError in this task is meant for it, and is no failure of others."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
