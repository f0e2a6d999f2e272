"""The terminal: lines come in, lines go out, and nothing that is shown can act on the screen."""

import contextlib
import errno
import io
import os
import sys
from collections.abc import Iterable, Iterator

# A screen acts on these instead of showing them: control characters, and those that break a line
# or turn the direction of the text.
ACTING = [
    *range(0x20),
    *range(0x7F, 0xA0),
    *(0x061C, 0x200E, 0x200F),
    *range(0x2028, 0x202F),
    *range(0x2066, 0x206A),
]
ESCAPES = {code: repr(chr(code))[1:-1] for code in ACTING}
ESCAPES_IN_TEXT = {code: ESCAPES[code] for code in ACTING if chr(code) not in "\n\t"}


def typed_lines() -> Iterator[str]:
    """Ask for line after line until the input ends; what comes through a pipe is shown too."""
    while True:
        try:
            line = input("你> ").removesuffix("\r")  # A line may end in \r\n.
        except (EOFError, OSError, RuntimeError):
            # The end; a terminal that is gone; a stream that was closed before the program began.
            print()
            return
        if not on_terminal():
            print(visible(line))
        yield line


def shown_lines(lines: Iterable[str]) -> Iterator[str]:
    """Give the lines of a script, each shown as if it had been typed."""
    for line in lines:
        print(f"你> {visible(line)}")
        yield line


def visible(value: object) -> str:
    """Return text as the screen may show it: only line feed and tab still act.

    What else would act is shown as an escape such as `\\x1b`, and what is no text with its repr.
    """
    return text_of(value).translate(ESCAPES_IN_TEXT)


def visible_line(value: object) -> str:
    """Return the same for what has to stay on one line: nothing acts at all."""
    return text_of(value).translate(ESCAPES)


def text_of(value: object) -> str:
    if isinstance(value, str):
        return value
    try:
        return repr(value)
    except Exception:  # Nested too deep, a number too long, a class that fails at it ...
        return f"<{type(value).__name__}>"


def on_terminal() -> bool:
    """Return whether somebody types and reads here. A stream that was closed is None."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def use_utf8() -> None:
    """Read and write UTF-8 and plain line feeds, whatever the platform and its locale say."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        # "-sig": a byte order mark at the beginning is not a part of the first line.
        sys.stdin.reconfigure(encoding="utf-8-sig", errors="replace")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def use_readline() -> None:
    """Let input() edit a line; without a UTF-8 locale that would garble Chinese."""
    # These imports are here because a demo has to start fast. Not every platform has readline.
    with contextlib.suppress(ImportError, AttributeError):
        import locale

        if locale.nl_langinfo(locale.CODESET) == "UTF-8":
            import readline  # noqa: F401


@contextlib.contextmanager
def quiet_end() -> Iterator[None]:
    """Leave without a traceback when nobody can read what is printed.

    A reader who has seen enough (`| head -1`) is no failure. A full disk is one: a line says so,
    and the exit status is 2.
    """
    try:
        yield
        print(end="", flush=True)  # The last lines may still be waiting in a buffer.
    except OSError as error:
        if error.filename is not None:
            raise  # A file could not be opened, so this is not about the screen.
        # Python writes what is left when it exits. That must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.errno not in (errno.EPIPE, errno.EIO):
            print(f"输出写不进去：{error.strerror}", file=sys.stderr)
            sys.exit(2)
