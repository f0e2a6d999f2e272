"""Text for a terminal: nothing in it acts, lines break between words, a long one waits."""

import os
import re
import shutil
import sys
import unicodedata
from typing import TextIO

LINE_ENDS = "\n\t"
# What a terminal would obey, and what would change the order of the letters.
ACTING = ("Cc", "Zl", "Zp")
DIRECTIONS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


# A word or one wide character, what must not begin a line behind it, and the blanks behind that.
PIECE = re.compile(r"(?:[^\s\u2e80-\uffef]+|\S)[，。；：！？、」』）》…]*\s*|\s+")


def visible(text: str) -> str:
    """Return a text of which only line feeds and tabs act; every other control is an escape."""
    return "".join(escaped(letter) if acts(letter) else letter for letter in text)


def acts(letter: str) -> bool:
    return letter not in LINE_ENDS and (
        unicodedata.category(letter) in ACTING or letter in DIRECTIONS
    )


def escaped(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")


def wrapped(text: str, indent: str = "") -> str:
    """Return a text in lines that fit the terminal, broken between words or Chinese characters.

    Every line starts with `indent`. Where the output is no terminal, nothing is broken.
    """
    if not is_terminal(sys.stdout):
        return "\n".join(f"{indent}{line}" for line in text.splitlines())
    width = shutil.get_terminal_size().columns - 1 - width_of(indent)
    lines = [part for line in text.splitlines() for part in broken(line, width)]
    return "\n".join(f"{indent}{line}" for line in lines)


def broken(line: str, width: int) -> list[str]:
    """Break one line at blanks and around wide characters, never before closing punctuation."""
    lines = [""]
    for piece in re.findall(PIECE, line):
        if lines[-1] and width_of(lines[-1] + piece.rstrip()) > width:
            lines[-1] = lines[-1].rstrip()
            lines.append("")
        lines[-1] += piece
    return lines


def width_of(text: str) -> int:
    """Return how many columns a text takes: a wide character takes two."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def is_terminal(stream: TextIO | None) -> bool:
    """Return whether somebody sits there. A stream that was closed is None."""
    return stream is not None and stream.isatty()


def show(text: str) -> None:
    """Print a text; on a terminal that it does not fit, in a pager, as git does."""
    if not (is_terminal(sys.stdin) and is_terminal(sys.stdout)):
        print(text, end="")
        return
    os.environ.setdefault("LESS", "FRX")
    os.environ.setdefault("LESSCHARSET", "utf-8")
    lines, columns = shutil.get_terminal_size().lines, shutil.get_terminal_size().columns
    if sum(1 + width_of(line) // (columns + 1) for line in text.splitlines()) < lines:
        print(text, end="")
        return
    import pydoc  # Only now: it is slow to import, and most commands do without it.

    pydoc.pager(text)
