"""Ctrl-C while a run goes on: it stops the run and not the program."""

import asyncio
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from .cancel import CancelToken

TWICE = 1.0  # seconds within which a second Ctrl-C leaves


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
        cancel.cancel()
        loop.call_soon_threadsafe(lambda: None)  # The loop may be asleep until something happens.

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
