"""The commands for changing the house: tests, checks, expected output, measurements."""

from pathlib import Path

from shared import environment
from shared.steps import find_step


def test(number: str) -> int:
    """Run the tests of one step, or all of them, on all cores."""
    chosen = [str(find_step(number))] if number else ["-n", "auto", "--dist", "worksteal"]
    return environment.run_tool("pytest", *chosen)


def lint() -> int:
    """Run every checker, also after one has found something."""
    checks = [("ruff", "check", "."), ("ruff", "format", "--check", "."), ("mypy",)]
    return max([environment.run_tool(*check) for check in checks])


def snapshots(step: Path, everything: bool) -> int:
    """Write the expected output of a step again."""
    tests = step / "tests" / "test_demo.py"
    return environment.run_tool("pytest", str(tests), "--snapshot-update")
