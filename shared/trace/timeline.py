"""Keeping two recordings in step, statement by statement, and finding where they differ."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest

from .recording import Line, Message, Recording

LARGEST_PRODUCT = 1_000_000  # moments of a turn, of one recording times those of the other


@dataclass(frozen=True, slots=True)
class Difference:
    """The first message and the first line of the screen that are not the same in two recordings.

    `messages` are their places among the messages of each recording, None for one that has no
    more; `lines` are where they begin and end on each screen. None if nothing differs.
    """

    messages: tuple[int | None, int | None] | None
    lines: tuple[tuple[int, int], tuple[int, int]] | None


def timeline(recordings: Sequence[Recording]) -> list[list[int]]:
    """Return for each step of a common walk the place of each recording's moment.

    A recording that has no such statement waits at the last one that it had.
    """
    if len(recordings) == 1:
        return [[place] for place in range(len(recordings[0].moments))]
    one, other = (turns(recording) for recording in recordings)
    walk, now = [], [0, 0]
    for key in sorted(one.keys() | other.keys()):
        for places in side_by_side(one.get(key, []), other.get(key, [])):
            now = [before if new is None else new for before, new in zip(now, places, strict=True)]
            walk.append(now)
    return walk


Statements = list[tuple[int, str, str]]


def turns(recording: Recording) -> dict[tuple[int, int], Statements]:
    """Return the moments of each turn: their places, with the words of the statement and event."""
    found: dict[tuple[int, int], Statements] = {}
    words = words_of(recording)
    for place, moment in enumerate(recording.moments):
        turn = found.setdefault((moment.run, moment.turn), [])
        turn.append((place, words[place], moment.event))
    return found


def words_of(recording: Recording) -> list[str]:
    """Return for each moment the line in which its statement begins."""
    lines = {file: source.split("\n") for file, source in recording.sources.items()}
    return [lines[moment.file][moment.line - 1].strip() for moment in recording.moments]


def side_by_side(one: Statements, other: Statements) -> Iterator[tuple[int | None, int | None]]:
    """Give the places of the statements of one turn in pairs; None for one that has no other."""
    # From the beginning on, so that the first pieces of two texts are a pair, however long each is.
    same = 0
    while same < min(len(one), len(other)) and one[same][1:] == other[same][1:]:
        yield one[same][0], other[same][0]
        same += 1
    one, other = one[same:], other[same:]
    blocks = [(0, len(one), 0, len(other))]
    if len(one) * len(other) <= LARGEST_PRODUCT:
        keys, other_keys = ([statement[1:] for statement in side] for side in (one, other))
        matcher = SequenceMatcher(None, keys, other_keys, autojunk=False)
        blocks = [block[1:] for block in matcher.get_opcodes()]
    for start, end, other_start, other_end in blocks:
        for left, right in zip_longest(one[start:end], other[other_start:other_end]):
            yield left and left[0], right and right[0]


def parting(recordings: Sequence[Recording]) -> int | None:
    """Return the first step of the walk, counted from 1, at which two recordings differ.

    They do where one waits, or where the other does something else. A statement that only has other
    arguments is no difference before something comes of it.
    """
    if len(recordings) == 1:
        return None
    heads = [[words.partition("(")[0] for words in words_of(r)] for r in recordings]
    disks = [[written(r, disk) for disk in r.disks] for r in recordings]
    before = [-1, -1]
    for number, places in enumerate(timeline(recordings), 1):
        waits = any(now == then for now, then in zip(places, before, strict=True))
        one, other = (
            (head[place], disk[recording.moments[place].disk], *state(recording, place))
            for recording, head, disk, place in zip(recordings, heads, disks, places, strict=True)
        )
        if waits or one != other:
            return number
        before = places
    return None


def state(recording: Recording, place: int) -> tuple[object, ...]:
    """Return what a moment shows of itself; what went before has been compared before."""
    moment = recording.moments[place]
    history = recording.histories[moment.history]
    last = recording.messages[history[-1]] if history else None
    return (moment.value, moment.event, moment.detail, moment.screen, len(history), last)


def written(recording: Recording, disk: list[int]) -> tuple[object, ...]:
    """Return how many lines a disk has, and the last one. Instead of ids, it says which is meant.

    The ids are other ones in each run of a program.
    """
    lines = [recording.lines[place] for place in disk]
    last = lines[-1] if lines else Line()
    ids = [line.id for line in lines]
    parent = ids.index(last.parent) if last.parent in ids else None
    return (len(lines), last.kind, parent, last.text)


def difference(one: Recording, other: Recording) -> Difference:
    """Return what differs first in the last histories and on the screens of two recordings."""
    return Difference(
        first_message(one, other),
        first_line(one.screen.split("\n"), other.screen.split("\n")),
    )


def first_message(one: Recording, other: Recording) -> tuple[int | None, int | None] | None:
    for left, right in zip_longest(one.histories[-1], other.histories[-1]):
        if message_at(one, left) != message_at(other, right):
            return left, right
    return None


def message_at(recording: Recording, place: int | None) -> Message | None:
    return None if place is None else recording.messages[place]


def first_line(one: list[str], other: list[str]) -> tuple[tuple[int, int], tuple[int, int]] | None:
    start = 0  # The same on both screens: all before it is.
    for left, right in zip_longest(one, other, fillvalue=""):
        if left != right:
            return (start, start + len(left)), (start, start + len(right))
        start += len(left) + 1
    return None


def folded(recording: Recording) -> set[int]:
    """Return the moments that are left out when the pieces of a text count as one.

    The last piece stands for all: of the others each turn of the loop over the stream is left out.
    """
    found: set[int] = set()
    heads: dict[tuple[str, int], int] = {}  # Where each loop began its turn, if that is a piece.
    for place, moment in enumerate(recording.moments):
        start = heads.pop((moment.file, moment.line), None)
        if moment.value == "text_delta":
            if start is not None:
                found.update(range(start, place))
            heads[moment.file, moment.line] = place
    return found
