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


# A closed terminal sends the second, where there is one.
ENDING = [signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)]


def leave(number: int, frame: object) -> None:
    """End the program as exit() does."""
    raise SystemExit(128 + number)


@contextmanager
def signals_leave() -> Iterator[None]:
    """Let a signal that ends a program end it as exit() does: with all that it has started."""
    before = {number: signal.getsignal(number) for number in ENDING}
    ours = [n for n in before if before[n] is signal.SIG_DFL and in_main_thread()]
    for number in ours:
        signal.signal(number, leave)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, before[number])


@contextmanager
def ctrl_c_cancels(cancel: CancelToken, loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Let Ctrl-C cancel a run that `loop` runs. A second one soon after is a KeyboardInterrupt.

    A signal that ends the program cancels the run first, and is a SystemExit when that has ended.
    """
    last, ending = -TWICE, 0

    def interrupt(number: int, frame: object) -> None:
        nonlocal last, ending
        if number != signal.SIGINT:
            ending = number
        elif time.monotonic() - last < TWICE:
            raise KeyboardInterrupt
        else:
            last = time.monotonic()
        # A signal comes in the middle of anything. Whoever waits hears of it in the loop.
        cancel.cancelled = True
        loop.call_soon_threadsafe(cancel.cancel)

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, *ENDING)}
    # Where Ctrl-C is ignored, or somebody else's, it stays that.
    ours = [n for n in before if before[n] in (signal.default_int_handler, leave)]
    try:
        for number in ours if in_main_thread() else []:
            signal.signal(number, interrupt)
        yield
        if ending:
            leave(ending, None)
    except KeyboardInterrupt:
        # It comes anywhere, also when the run has ended and the loop is about to stop. That stop
        # would hit whoever uses the loop next.
        loop.call_soon(loop.stop)
        loop.run_forever()
        raise
    finally:
        for number in ours if in_main_thread() else []:
            signal.signal(number, before[number])


def in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


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
    with suppress(KeyboardInterrupt):  # Once more is no reason not to end.
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
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
