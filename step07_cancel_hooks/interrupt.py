"""Ctrl-C while a run goes on: it stops the run and not the program. And how the program ends."""

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

from .cancel import CancelToken

TWICE = 1.0  # seconds within which a second Ctrl-C leaves
PATIENCE = 1.0  # seconds for what still runs when the program ends


@contextmanager
def ctrl_c_cancels(cancel: CancelToken, loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Let Ctrl-C cancel a run that `loop` runs. A second one soon after is a KeyboardInterrupt."""
    last = -TWICE

    def interrupt(number: int, frame: object) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last < TWICE:
            raise KeyboardInterrupt
        last = now
        # A signal comes in the middle of anything. Whoever waits hears of it in the loop.
        cancel.cancelled = True
        loop.call_soon_threadsafe(cancel.cancel)

    before = signal.getsignal(signal.SIGINT)
    # Where Ctrl-C is ignored, or somebody else's, it stays that.
    ours = before is signal.default_int_handler and in_main_thread()
    try:
        if ours:
            signal.signal(signal.SIGINT, interrupt)
        yield
    except KeyboardInterrupt:
        # It comes anywhere, also when the run has ended and the loop is about to stop. That stop
        # would hit whoever uses the loop next.
        loop.call_soon(loop.stop)
        loop.run_forever()
        raise
    finally:
        if ours:
            signal.signal(signal.SIGINT, before)


def in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


@contextmanager
def signals_leave() -> Iterator[None]:
    """Let a signal that ends a program, such as that of a closed terminal, end it as exit() does.

    So what a tool has started is ended, too.
    """

    def leave(number: int, frame: object) -> None:
        raise SystemExit(128 + number)

    numbers = [signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)]
    before = {number: signal.getsignal(number) for number in numbers}
    ours = [n for n in before if before[n] is signal.SIG_DFL and in_main_thread()]
    for number in ours:
        signal.signal(number, leave)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, before[number])


@contextmanager
def running() -> Iterator[asyncio.Runner]:
    """Give a runner that at its end does not wait for ever for what ignores that it is cancelled.

    Such a task, or such a thread, ends with the program, and so the program ends then.
    """
    runner, pool = asyncio.Runner(), ThreadPoolExecutor(thread_name_prefix="tool")
    runner.get_loop().set_default_executor(pool)
    before = set(threading.enumerate())
    try:
        yield runner
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        if not all_ended(runner.get_loop(), set(threading.enumerate()) - before):
            leave_at_once()
        runner.close()


def all_ended(loop: asyncio.AbstractEventLoop, threads: Iterable[threading.Thread]) -> bool:
    """Cancel the tasks that are left, and return whether they and the threads end soon."""
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    with suppress(KeyboardInterrupt):
        if left:
            loop.run_until_complete(asyncio.wait(left, timeout=PATIENCE))
        for thread in threads:
            thread.join(PATIENCE)
        return all(task.done() for task in left) and not any(t.is_alive() for t in threads)
    return False


def leave_at_once() -> None:
    """End the program as it is: Python itself would wait for what does not end."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(0)
