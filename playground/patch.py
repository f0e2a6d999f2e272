"""Taking a patch apart as `git apply` would: strictly, and nothing is guessed."""

import re
from collections.abc import Callable, Iterator

from .language import say

HEAD = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
NO_FILE = "/dev/null"
LARGEST = 1_000_000  # characters


class PatchError(Exception):
    """A patch that does not fit; the text says why."""


def patched(patch: str, text_of: Callable[[str], str | None]) -> dict[str, str]:
    """Return the text of each file that a patch changes; `text_of` gives the one before.

    It gives None for a file that there is not. PatchError if anything in it does not fit.
    """
    if not patch.strip() or len(patch) > LARGEST:
        raise PatchError(say("it is empty, or too large"))
    found = {}
    for old, new, hunks in files_of(patch.split("\n")):
        path = old if new == NO_FILE else new
        if new == NO_FILE:
            raise PatchError(say("it deletes {file}", file=path))
        before = text_of(path)
        if (before is None) != (old == NO_FILE):
            raise PatchError(say("{file} is not what it was made for", file=path))
        found[path] = "\n".join(changed(path, (before or "").split("\n"), hunks))
    if not found:
        raise PatchError(say("there is no change in it"))
    return found


Hunk = tuple[int, list[str]]


def files_of(lines: list[str]) -> Iterator[tuple[str, str, list[Hunk]]]:
    """Give each file of a patch: its name before and after, and its hunks."""
    place = 0
    while place < len(lines):
        if not (lines[place].startswith("--- ") and lines[place + 1 : place + 2]):
            place += 1
            continue
        old, new = name_in(lines[place]), name_in(lines[place + 1])
        hunks, place = hunks_at(lines, place + 2)
        yield old, new, hunks


def name_in(line: str) -> str:
    name = line[4:].partition("\t")[0]
    return name if name == NO_FILE else name.partition("/")[2]


def hunks_at(lines: list[str], place: int) -> tuple[list[Hunk], int]:
    """Return the hunks that begin at a line, and the line behind them."""
    hunks: list[Hunk] = []
    while place < len(lines) and (head := HEAD.match(lines[place])):
        olds, news = (int(head[2] or 1), int(head[4] or 1))
        first, body = int(head[1]), []
        place += 1
        while (olds > 0 or news > 0) and place < len(lines):
            line = lines[place] or " "  # An editor may have taken the blank off an empty line.
            if line[0] not in " +-\\":
                break
            olds -= line[0] in " -"
            news -= line[0] in " +"
            body.append(line)
            place += 1
        if place < len(lines) and lines[place].startswith("\\"):
            body.append(lines[place])
            place += 1
        if olds or news:
            raise PatchError(say("it ends in the middle"))
        hunks.append((first, body))
    return hunks, place


def changed(path: str, before: list[str], hunks: list[Hunk]) -> list[str]:
    """Return the lines of a file with its hunks in their places."""
    after: list[str] = []
    done = 0
    for first, body in hunks:
        start = max(first - 1, 0)
        olds = [line[1:] for line in body if line[0] in " -"]
        if start < done or before[start : start + len(olds)] != olds:
            raise PatchError(say("{file} is not what it was made for", file=path))
        after += before[done:start]
        after += [line[1:] for line in body if line[0] in " +"]
        done = start + len(olds)
        ends = [place for place, line in enumerate(body) if line[0] == "\\"]
        for place in ends:
            # The file ends in the line before, on the side that this one is of.
            if body[place - 1][0] in " +":
                return after
        if ends and done == len(before):
            after.append("")
    return after + before[done:]
