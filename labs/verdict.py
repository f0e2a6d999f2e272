"""What a checker answers."""

from dataclasses import dataclass
from itertools import zip_longest


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


def done(found: str) -> Verdict:
    return Verdict(True, found)


def not_yet(found: str, *, guess: str = "") -> Verdict:
    return Verdict(False, found, guess=guess)


def differs(found: str, where: str, expected: str, seen: str, *, guess: str = "") -> Verdict:
    """Return a verdict that shows the first line in which two texts differ."""
    pairs = zip_longest(expected.splitlines(), seen.splitlines(), fillvalue="(nothing)")
    for number, (line, other) in enumerate(pairs, 1):
        if line != other:
            if line.split() == other.split():  # Else nobody would see the difference.
                line, other = repr(line), repr(other)
            return Verdict(False, found, f"{where}, line {number}", line, other, guess)
    return Verdict(False, found, where, "one line feed at the end", "none, or more", guess)
