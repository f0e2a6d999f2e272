"""Keeping two recordings in step: by the sentence, the turn, and the event within the turn."""

from collections.abc import Sequence
from itertools import pairwise

from .recorder import Moment, Recording

Key = tuple[int, int, int]


def keys(recording: Recording) -> list[Key]:
    """Return for each moment its sentence, its turn, and its place in the turn, all counted."""
    found: list[Key] = []
    for moment in recording.moments:
        same_turn = bool(found) and found[-1][:2] == (moment.run, moment.turn)
        found.append((moment.run, moment.turn, found[-1][2] + 1 if same_turn else 1))
    return found


def timeline(recordings: Sequence[Recording]) -> list[list[int]]:
    """Return for each step of a common walk the place of each recording's moment.

    A recording that has no event for a step waits at the last one that it had.
    """
    all_keys = [keys(recording) for recording in recordings]
    places = [0] * len(recordings)
    walk = []
    for key in sorted(set().union(*all_keys)):
        for lane, own in enumerate(all_keys):
            while places[lane] + 1 < len(own) and own[places[lane] + 1] <= key:
                places[lane] += 1
        walk.append(list(places))
    return walk


def parting(recordings: Sequence[Recording]) -> int | None:
    """Return the first step of the walk, counted from 1, at which the recordings differ."""
    walk = timeline(recordings)
    for number, places in enumerate(walk, 1):
        states = [state(r, r.moments[place]) for r, place in zip(recordings, places, strict=True)]
        if any(one != other for one, other in pairwise(states)):
            return number
    return None


def state(recording: Recording, moment: Moment) -> tuple[object, ...]:
    """Return what a moment shows of itself; what went before has been compared before."""
    history = recording.history_at(moment)
    return (moment.event, moment.detail, moment.screen, len(history), history[-1:])
