"""The work that is the same for all: so many turns of one tool call each, then a last answer.

A driver is started with numbers of turns and prints a line of JSON for each. Without a number it
runs one conversation of one turn and prints nothing: that takes what a cold start takes.
"""

import json
import resource
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version

TEXT = "ab" * 5
ARGUMENTS = {"expression": "12*8"}
RESULT = "96"
# A conversation is repeated until it took so many seconds, but at most so many times.
ENOUGH, MOST = 1.0, 15


class Script:
    """What the model of a driver answers: a tool call as long as turns are left, then none."""

    def __init__(self) -> None:
        self.turns = self.asked = self.ran = 0

    def begin(self, turns: int) -> None:
        self.turns, self.asked, self.ran = turns, 0, 0

    def next_call(self) -> str | None:
        """Return the id of the tool call to answer with; None when it is time for the end."""
        self.asked += 1
        return f"call_{self.asked}" if self.asked <= self.turns else None

    def run_tool(self) -> str:
        self.ran += 1
        return RESULT


def measure(distribution: str, script: Script, converse: Callable[[], object]) -> None:
    """Do what the command line asks for: `converse` runs one conversation to its end."""

    def seconds_of(turns: int) -> float:
        script.begin(turns)
        started = time.perf_counter()
        converse()
        taken = time.perf_counter() - started
        if (script.asked, script.ran) != (turns + 1, turns):
            raise AssertionError(f"asked {script.asked} times, ran {script.ran} tools")
        return taken

    report(version(distribution), seconds_of, sys.argv[1:])


def report(version: str, seconds_of: Callable[[int], float], sizes: Sequence[str]) -> None:
    """Print what conversations of so many turns take, and the most memory that was ever in use."""
    seconds_of(1)  # What is imported or compiled on first use is no part of a turn.
    for turns in map(int, sizes):
        taken: list[float] = []
        while len(taken) < MOST and sum(taken) < ENOUGH:
            taken.append(seconds_of(turns))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # KB, but bytes on a Mac.
        line = {
            "version": version,
            "turns": turns,
            "seconds": statistics.median(taken),
            "peak_mb": peak / 1024 / (1024 if sys.platform == "darwin" else 1),
        }
        print(json.dumps(line), flush=True)
