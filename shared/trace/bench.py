"""How fluent the page is: what one step through a long run takes of a frame, in a real browser."""

import dataclasses
import tempfile
from pathlib import Path

from ..steps import ROOT, find_steps
from .browser import launched
from .command import record_all
from .page import page
from .recorder import Moment, Recording, recording_from

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
    moments: list[Moment] = []
    rounds = -(-events // len(recording.moments))
    for n in range(rounds):
        for moment in recording.moments:
            moments.append(
                dataclasses.replace(
                    moment,
                    screen=moment.screen + n * len(recording.screen),
                    messages=moment.messages + n * len(recording.messages),
                )
            )
    last = moments[events - 1]
    return Recording(
        recording.step,
        recording.source,
        recording.screen * rounds,
        (recording.messages * rounds)[: last.messages],
        moments[:events],
    )


def main() -> None:
    step = next(step for step in find_steps().values() if (step / "agent_loop.py").exists())
    demo = recording_from(record_all(step, {"demo": ROOT}, "")["demo"])
    with tempfile.TemporaryDirectory() as folder, launched() as browser:
        file = Path(folder, "long.html")
        file.write_text(page({"long": long_run(demo, EVENTS)}), encoding="utf-8")
        tab = browser.new_page(viewport={"width": 1280, "height": 900})
        tab.goto(f"{file.as_uri()}#{EVENTS // 2}")
        step_time = tab.evaluate(WALK, STEPS)
    print(f"\n{'trace page':20}{step_time / FRAME:.2f} of a frame for a step, in {EVENTS} events")


if __name__ == "__main__":
    main()
