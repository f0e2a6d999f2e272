"""The commands for changing the house: tests, checks, and what is written down of a step."""

import os
import tempfile
from pathlib import Path

from shared import environment, shipped
from shared.steps import ROOT, find_step

from .breaks import DEMO, find_breaks, run_broken, run_intact
from .script_rules import rule_lines
from .tasks import labs_folder, steps_with_tasks

# Many tests wait for a process or a terminal, so there is one worker more than there are cores. The
# tests of a file stay together: what one of them has loaded or compiled serves the next.
WORKERS = (os.cpu_count() or 1) + 1
ON_ALL_CORES = ("-n", f"{WORKERS}", "--dist", "loadfile", "--no-loadscope-reorder")
# The others in this file compare with what it writes, which at that time is not written yet.
DEMO_TEST = "tests/test_demo.py::test_what_people_see_and_what_the_model_sees"
VERDICTS = ROOT / "labs" / "tests" / "__snapshots__"


def test(number: str) -> int:
    """Run the tests of one step, or all of them."""
    chosen = [str(find_step(number))] if number else ON_ALL_CORES
    return environment.run_tool("pytest", *chosen)


def lint() -> int:
    """Run every checker, also after one has found something."""
    checks = [("ruff", "check", "."), ("ruff", "format", "--check", "."), ("mypy",)]
    return max([environment.run_tool(*check) for check in checks])


def snapshots(step: Path, everything: bool) -> int:
    """Write the expected output of a step again; or everything that follows from its files.

    That is the list of shipped files and, if the step has tasks, its rules as the checkers know
    them, what its scenes leave, and what the checkers say.
    """
    status = environment.run_tool("pytest", f"{step / DEMO_TEST}", "--snapshot-update")
    if status or not everything:
        return status
    shipped.pin(step)
    if step not in steps_with_tasks():
        return 0
    rules = labs_folder(step) / "rules.txt"
    rules.write_text(rule_lines(step.name), encoding="utf-8", newline="\n")
    write_scenes(step)
    return write_verdicts()


def write_scenes(step: Path) -> None:
    """Write what the scenes of a step leave, and delete what none of them leaves any more."""
    folder = labs_folder(step) / "pinned"
    folder.mkdir(exist_ok=True)
    texts = left_by_scenes(step)
    for path in folder.iterdir():
        if path.name not in texts:
            path.unlink()
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


def left_by_scenes(step: Path) -> dict[str, str]:
    """Return what is to stand in labs/stepNN/pinned: the text of each file, by its name."""
    breaks = find_breaks(step).values()
    texts: dict[str, str] = {}
    for scene in {DEMO, *(change.scene for change in breaks)}:
        with tempfile.TemporaryDirectory() as folder:
            run = run_intact(step, scene, Path(folder))
        texts[f"{scene}.output.txt"], texts[f"{scene}.context.txt"] = run.transcript, run.history
    for change in breaks:
        with tempfile.TemporaryDirectory() as folder:
            run = run_broken(change, Path(folder))
        for channel, text in (("output", run.transcript), ("context", run.history)):
            # A channel that a change leaves alone stands there once, under the name of its scene.
            if text != texts[f"{change.scene}.{channel}.txt"]:
                texts[f"{change.name}.{channel}.txt"] = text
    return texts


def write_verdicts() -> int:
    """Write again what the checkers say of each known answer, unless a test fails all the same."""
    before = {path: path.read_bytes() for path in VERDICTS.glob("*.ambr")}
    # Whole files: only then is it known which of their snapshots nobody needs any more.
    tests = [str(VERDICTS.parent / f"{path.stem}.py") for path in before]
    status = environment.run_tool("pytest", *ON_ALL_CORES, "--snapshot-update", *tests)
    if status:
        # A test that failed has not said what it needs, and that would be deleted as unused.
        for path, content in before.items():
            path.write_bytes(content)
    return status
