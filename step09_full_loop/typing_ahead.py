"""What is typed while an answer comes in. It need not wait until that is over."""

import asyncio
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .terminal import on_terminal

LONGEST = 4096  # bytes; a terminal takes no longer line


@contextmanager
def lines_go_to(take: Callable[[str], None], loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Call `take` with each line that is typed inside the block, while `loop` runs.

    That needs a terminal, and a platform on which an event loop can listen to one.
    """
    keyboard = listened_to(take, loop) if on_terminal() else None
    try:
        yield
    finally:
        if keyboard is not None:
            loop.remove_reader(keyboard)


def listened_to(take: Callable[[str], None], loop: asyncio.AbstractEventLoop) -> int | None:
    """Let `loop` listen to the keyboard, and return its number; None if it cannot."""

    def read() -> None:
        typed = os.read(keyboard, LONGEST)  # A terminal gives whole lines.
        if not typed:
            loop.remove_reader(keyboard)  # Ctrl-D: there will be no more.
        for line in typed.decode("utf-8", "replace").split("\n"):
            if line.strip():
                take(line.strip())

    try:
        keyboard = sys.stdin.fileno()
        loop.add_reader(keyboard, read)
    except (NotImplementedError, OSError):
        return None
    return keyboard
