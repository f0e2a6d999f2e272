"""How fluent the page is: what a move through two long runs takes of a frame, in a real browser."""

import bisect
import dataclasses
import json
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser

from ..steps import ROOT, find_steps
from .browser import launched
from .command import record_all
from .page import page
from .recording import Recording

EVENTS = 2000
MOVES = 200
FRAME = 16  # milliseconds
CATEGORIES = ["toplevel", "disabled-by-default-devtools.timeline", "blink.user_timing"]

# Presses an arrow key, and lets the browser paint before it presses the next time.
WALK = """
async (moves) => {
  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  for (let n = 0; n < moves; n++) {
    performance.mark("move");
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
    await frame();
  }
  performance.mark("move");
}
"""


def long_run(recording: Recording, events: int) -> Recording:
    """Return the demo over and over, until it has so many events."""
    new: dict[str, Any] = {"messages": [], "histories": [[]], "moments": [], "screen": ""}
    long = dataclasses.replace(recording, **new)
    left = events
    while left > 0:
        before, histories = list(range(len(long.messages))), len(long.histories)
        runs = long.moments[-1].run if long.moments else 0
        for places in recording.histories:
            long.histories.append(before + [place + len(before) for place in places])
        for moment in recording.moments:
            more = dataclasses.replace(moment, run=moment.run + runs)
            more.screen += len(long.screen)
            more.history += histories
            long.moments.append(more)
            left -= bool(moment.event)
            if left == 0:
                break
        long.messages += recording.messages
        long.screen += recording.screen
    return long


def times_of_moves(browser: Browser, file: Path, at: int) -> list[float]:
    """Return the milliseconds of main thread that each move takes, with style, layout and paint."""
    tab = browser.new_page(viewport={"width": 1366, "height": 768})
    tab.goto(f"{file.as_uri()}#{at}")
    browser.start_tracing(page=tab, categories=CATEGORIES)
    tab.evaluate(WALK, MOVES)
    events = json.loads(browser.stop_tracing())["traceEvents"]
    marks = [event for event in events if event["name"] == "move"]
    thread = marks[0]["pid"], marks[0]["tid"]
    starts = sorted(mark["ts"] for mark in marks)
    times = [0.0] * (len(starts) - 1)
    for event in events:
        if event["name"] == "RunTask" and (event["pid"], event["tid"]) == thread:
            # A task that makes a move also sets its mark, so it belongs to the last one in it.
            number = bisect.bisect(starts, event["ts"] + event["dur"]) - 1
            if 0 <= number < len(times):
                # The time of the thread itself, if told: others want the machine, too.
                times[number] += event.get("tdur", event["dur"]) / 1000
    return times


def main() -> int:
    """Measure and print; exit status 1 if a move takes more than a frame."""
    step = next(step for step in find_steps().values() if (step / "agent_loop.py").exists())
    (demo,) = record_all(step, {"": ROOT}, "")
    long = long_run(demo, EVENTS)
    with tempfile.TemporaryDirectory() as folder, launched() as browser:
        file = Path(folder, "long.html")
        file.write_text(page([long, long]), encoding="utf-8")
        times = times_of_moves(browser, file, len(long.moments) // 2)
    usual, slow = statistics.median(times), statistics.quantiles(times, n=20)[-1]
    print(
        f"\n{'trace page':20}a move, in two runs of {EVENTS} events: {usual:.1f} ms of main thread"
        f", and 95 of 100 at most {slow:.1f} ms (at most {FRAME})"
    )
    return 1 if slow > FRAME else 0


if __name__ == "__main__":
    sys.exit(main())
