"""The full loop beside the real Pi: playing a scenario on ours, and the recordings again on Pi."""

import contextlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from shared import environment
from shared.errors import UsageError
from shared.steps import ROOT, find_steps

from .language import say

FOLDER = Path("tests", "conformance")
PACKAGES = ".pi"  # Where npm puts the real one; git does not see it.


def conform(file: str) -> int:
    """Play a scenario and print its lines; without one, compare all with what Pi has told."""
    step = step_with_scenarios()
    if not file:
        return environment.run_tool("pytest", str(step / FOLDER))
    module = f"{step.name}.{'.'.join(FOLDER.parts)}.scenario"
    search = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    played = [python_for(step), "-m", module, file]
    return subprocess.run(played, env={**os.environ, "PYTHONPATH": search}).returncode


def python_for(step: Path) -> str:
    """Return a Python that has what the step needs. Only the lines of the scenario are output."""
    if environment.has_all_of(step / "requirements.txt"):
        return sys.executable
    with contextlib.redirect_stdout(sys.stderr):
        return str(environment.ready_python())


def conformance() -> int:
    """Play all scenarios on the real Pi, and compare with the recordings."""
    folder = step_with_scenarios() / FOLDER
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        raise UsageError(say("this needs Node.js 20 or newer, with npm; make conform does without"))
    place = folder / PACKAGES
    place.mkdir(exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(folder / name, place)
    subprocess.run([npm, "ci", "--silent", "--ignore-scripts"], cwd=place, check=True)
    return subprocess.run([node, str(folder / "record.mjs")]).returncode


def step_with_scenarios() -> Path:
    """Return the newest step that stands beside Pi."""
    steps = [step for step in find_steps().values() if (step / FOLDER).exists()]
    if not steps:
        raise UsageError(say("no step has scenarios of Pi"))
    return steps[-1]
