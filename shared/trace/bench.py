"""How fluent the page is: what one step through a long run takes of a frame, in a real browser."""

import dataclasses
import sys
import tempfile
from pathlib import Path

from ..steps import ROOT, find_steps
from .browser import launched
from .command import record_all
from .page import page
from .recorder import Recording

EVENTS = 2000
STEPS = 300
FRAME = 1000 / 60  # milliseconds

# Holds an arrow key down, and waits for the page to be laid out after each step.
WALK = """
(steps) => {
  const press = new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true });
  const started = performance.now();
  for (let n = 0; n < steps; n++) {
    document.body.dispatchEvent(press);
    document.body.getBoundingClientRect();
  }
  return (performance.now() - started) / steps;
}
"""


def long_run(recording: Recording, events: int) -> Recording:
    """Return the demo over and over, until it has so many events."""
    long = dataclasses.replace(recording, screen="", messages=[], histories=[], moments=[])
    while len(long.moments) < events:
        before, histories = list(range(len(long.messages))), len(long.histories)
        runs = long.moments[-1].run if long.moments else 0
        for places in recording.histories:
            long.histories.append(before + [place + len(before) for place in places])
        for moment in recording.moments:
            more = dataclasses.replace(moment, run=moment.run + runs)
            more.screen += len(long.screen)
            more.history += histories
            long.moments.append(more)
        long.messages += recording.messages
        long.screen += recording.screen
    del long.moments[events:]
    return long


def main() -> int:
    """Measure and print; exit status 1 if a step takes more than a frame."""
    step = next(step for step in find_steps().values() if (step / "agent_loop.py").exists())
    demo = record_all(step, {"demo": ROOT}, "")["demo"]
    with tempfile.TemporaryDirectory() as folder, launched() as browser:
        file = Path(folder, "long.html")
        file.write_text(page({"long": long_run(demo, EVENTS)}), encoding="utf-8")
        tab = browser.new_page(viewport={"width": 1280, "height": 900})
        tab.goto(f"{file.as_uri()}#{EVENTS // 2}")
        step_time = tab.evaluate(WALK, STEPS)
    share = step_time / FRAME
    print(
        f"\n{'trace page':20}{share:.2f} of a frame for a step, in {EVENTS} events (at most 1.00)"
    )
    return 1 if share > 1 else 0


if __name__ == "__main__":
    sys.exit(main())
