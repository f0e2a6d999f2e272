"""Asking before a command runs. This is a hook like those of any extension."""

import contextlib
import signal
import sys
from collections.abc import Callable, Iterator

from .harness_types import ToolCallContent
from .hooks import Block
from .terminal import on_terminal, visible_line


def confirming(agrees: Callable[[str], bool]) -> Callable[[ToolCallContent], Block | None]:
    """Return a before_tool_call hook that lets a command run only if `agrees` says so of it."""

    def confirm(call: ToolCallContent) -> Block | None:
        if call.name != "run_command" or agrees(str(call.arguments["command"])):
            return None
        return Block("用户没有同意运行这条命令")

    return confirm


def agree_to_all(command: str) -> bool:
    return True


def ask_user(command: str) -> bool:
    """Ask on the terminal. Where there is none nobody agrees, and Ctrl-C is no, and cancels."""
    if not on_terminal():
        return False
    forget_what_was_typed()
    try:
        with ctrl_c_raises():
            return input(f"运行 {visible_line(command)} 吗？(y/n) ").strip().lower() in ("y", "yes")
    except EOFError:
        print()
    except KeyboardInterrupt:
        print()
        signal.raise_signal(signal.SIGINT)  # For whoever listens while a run goes on.
    return False


def forget_what_was_typed() -> None:
    """Forget what stands in the terminal already: a question is answered after it was asked."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import termios

        termios.tcflush(sys.stdin, termios.TCIFLUSH)


@contextlib.contextmanager
def ctrl_c_raises() -> Iterator[None]:
    """Let Ctrl-C end what waits for input, if it is not ignored."""
    before = signal.getsignal(signal.SIGINT)
    if before in (None, signal.SIG_IGN):
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
