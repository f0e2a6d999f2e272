"""What the steps cost, as ratios within one run: absolute times say more of the machine."""

import importlib
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from .. import environment
from ..chromium import chromium
from ..steps import ROOT, find_steps
from .at_once import eight_beside_one
from .cancel import milliseconds_to_the_prompt
from .turns import has_full_loop, least_turns_of, turns_of

LIMITS = (2.0, 1.5, 1.4, 15.0)
# A tool that can be given up runs in a task of its own, and that is most of what a turn costs then.
LIMITS_WITH_CANCEL = (2.0, 5.0, 1.4, 15.0, 200.0)
# The least that tells ten events has such a task as well. A library takes its time to load.
LIMITS_FULL_LOOP = (4.0, 2.5, 1.4, 15.0, 200.0, 1.2)


def bench(peers: bool) -> int:
    """Print a row for each step; exit status 1 if one is over its limit.

    With `peers`, measure the steps beside other agents, too, and write down what comes out.
    """
    titles = (
        "demo / import asyncio",
        "turn / minimal loop",
        "turn 20,000 / turn 200",
        "load 100,000 / 10,000",
        "cancel to prompt, ms",
        "8 tools / 1 tool",
    )
    print(f"{'':20}" + "".join(f"{title:>24}" for title in titles))
    steps = find_steps().values()
    limits = {step.name: limits_of(step) for step in steps}
    rows = {step.name: measured(step) for step in steps}
    at_most = {"at most": LIMITS, "with a cancel": LIMITS_WITH_CANCEL}
    for name, row in {**rows, **at_most, "with ten events": LIMITS_FULL_LOOP}.items():
        print(f"{name:20}" + "".join(f"{ratio:24.2f}" for ratio in row))
    page = environment.run_tool("shared.trace.bench") if chromium() is not None else 0
    providers = environment.run_tool("shared.bench.providers")
    others = environment.run_tool("shared.bench.comparison") if peers else 0
    over = [name for name, row in rows.items() if any(map(float.__gt__, row, limits[name]))]
    return 1 if over or page or providers or others else 0


def limits_of(step: Path) -> tuple[float, ...]:
    if has_full_loop(step):
        return LIMITS_FULL_LOOP
    return LIMITS_WITH_CANCEL if (step / "cancel.py").exists() else LIMITS


def measured(step: Path) -> tuple[float, ...]:
    demo = median_ratio(
        lambda: process_time("-m", f"{step.name}.demo"),
        lambda: process_time("-c", "import asyncio"),
    )
    if not (step / "agent_loop.py").exists():
        return (demo,)
    own, least = turns_of(step), least_turns_of(step)
    turns = (
        median_ratio(lambda: own.time_of_one(2000), lambda: least.time_of_one(2000)),
        median_ratio(lambda: own.time_of_one(20_000), lambda: own.time_of_one(200), pairs=3),
    )
    if not (step / "sessions").exists():
        return (demo, *turns)
    load = load_ratio(step.name)
    if not (step / "cancel.py").exists():
        return (demo, *turns, load)
    waits = (milliseconds_to_the_prompt(step),)
    return (demo, *turns, load, *waits, *([eight_beside_one(step)] if has_full_loop(step) else []))


def load_ratio(package: str) -> float:
    """Return how much longer it takes to load ten times as many messages."""
    resume = importlib.import_module(f"{package}.sessions.folder").resume_session

    def time_of(path: Path) -> float:
        started = time.perf_counter()
        resume(path, path.parent).close()
        return time.perf_counter() - started

    with tempfile.TemporaryDirectory() as place:
        few, many = (session_of(Path(place), count) for count in (10_000, 100_000))
        return median_ratio(lambda: time_of(many), lambda: time_of(few), pairs=3)


def session_of(folder: Path, count: int) -> Path:
    """Write a session of so many messages."""
    lines: list[object] = [{"type": "session", "version": 1, "id": "s"}]
    message = {"role": "user", "content": [{"type": "text", "text": "帮我算 12*8"}]}
    for number in range(count):
        place = {"id": f"{number}", "parentId": f"{number - 1}" if number else None}
        lines.append({"type": "message", **place, "message": message})
    path = folder / f"{count}.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    return path


def median_ratio(a: Callable[[], float], b: Callable[[], float], *, pairs: int = 9) -> float:
    """Return the median of a/b, each pair measured back to back."""
    return statistics.median(a() / b() for _ in range(pairs))


def process_time(*arguments: str) -> float:
    """Return the seconds that a whole Python process takes."""
    started = time.perf_counter()
    subprocess.run([sys.executable, *arguments], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started
