"""Our own loops as the others are driven: that of a step, or the minimal loop on its types."""

import sys

from ..bench.turns import least_turns_of, turns_of
from ..steps import find_step
from .measure import report

if __name__ == "__main__":
    loop, number, *sizes = sys.argv[1:]
    turns = (least_turns_of if loop == "minimal" else turns_of)(find_step(number))
    report("", lambda count: turns.time_of_one(count) * count, sizes)
