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
    if not on_terminal():
        yield
        return
    keyboard = sys.stdin.fileno()

    def read() -> None:
        typed = os.read(keyboard, LONGEST)  # A terminal gives whole lines.
        if not typed:
            loop.remove_reader(keyboard)
        for line in typed.decode("utf-8", "replace").split("\n"):
            if line.strip():
                take(line.strip())

    try:
        loop.add_reader(keyboard, read)
    except NotImplementedError:
        yield
        return
    try:
        yield
    finally:
        loop.remove_reader(keyboard)
