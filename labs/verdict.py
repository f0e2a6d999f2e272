"""What a checker answers."""

import functools
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from itertools import zip_longest

from .language import say

LONGEST = 300  # characters of a line that is shown
BEFORE = 60  # of them in front of the first difference


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a task is done, and what was found.

    Where something else was found: `expected` and `seen` are the first lines that differ, `where`
    says of what, and `guess` is what may have gone wrong.
    """

    done: bool
    found: str
    where: str = ""
    expected: str = ""
    seen: str = ""
    guess: str = ""


class FoundError(Exception):
    """A fault that comes up deep inside of a check."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.found)
        self.verdict = verdict


def settled(task: Callable[[str], Verdict]) -> Callable[[str], Verdict]:
    """Let a checker answer with the verdict of a FoundError that comes up in it."""

    @functools.wraps(task)
    def check(package: str) -> Verdict:
        try:
            return task(package)
        except FoundError as error:
            return error.verdict

    return check


def done(found: str) -> Verdict:
    return Verdict(True, found)


def not_yet(
    found: str, *, where: str = "", expected: str = "", seen: str = "", guess: str = ""
) -> Verdict:
    return Verdict(False, found, shortened(where), shortened(expected), shortened(seen), guess)


def differs(found: str, where: str, expected: str, seen: str, *, guess: str = "") -> Verdict:
    """Return a verdict that shows the first line in which two texts differ."""
    nothing = say("(nothing)")
    pairs = zip_longest(expected.splitlines(), seen.splitlines(), fillvalue=nothing)
    for number, (line, other) in enumerate(pairs, 1):
        if line != other:
            place = say("{text}, line {number}", text=where, number=number)
            return Verdict(False, found, place, *told_apart(line, other), guess)
    return Verdict(
        False, found, where, say("one line feed at the end"), say("none, or more"), guess
    )


def told_apart(line: str, other: str) -> tuple[str, str]:
    """Return two lines as a reader can see where they differ: cut, and with blanks spelled out."""
    if line.split() == other.split() or plain(line) == plain(other):
        line, other = spelled_out(line), spelled_out(other)
    pairs = enumerate(zip_longest(line, other))
    start = max(0, next((n for n, (one, two) in pairs if one != two), 0) - BEFORE)
    if max(len(line), len(other)) <= LONGEST:
        start = 0
    return shortened(line, start), shortened(other, start)


def shortened(text: str, start: int = 0) -> str:
    """Return as much of a text as a reader wants to see of it, from `start` on."""
    part = text[start : start + LONGEST]
    return f"{'…' if start else ''}{part}{'…' if start + LONGEST < len(text) else ''}"


def plain(text: str) -> str:
    """Return what can be seen of a text."""
    return "".join(letter for letter in text if unicodedata.category(letter)[0] not in "CZ")


def spelled_out(text: str) -> str:
    """Return a text in quotes, with every character that cannot be seen as an escape."""
    letters = (
        letter.encode("unicode_escape").decode("ascii")
        if letter != " " and unicodedata.category(letter)[0] in "CZ"
        else letter
        for letter in text
    )
    return f"'{''.join(letters)}'"
