"""The demos, run as a reader runs them: another process, any locale, or a step on its own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from shared.steps import ROOT, find_steps

STEPS = list(find_steps().values())
LOCALES = [
    {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"},
    {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"PYTHONIOENCODING": "gbk"},
]


def output_of(
    *arguments: str, cwd: Path = ROOT, environment: dict[str, str] | None = None
) -> bytes:
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        check=True,
    )
    assert done.stderr == b""
    return done.stdout


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_a_demo_is_its_pinned_transcript_byte_for_byte(step: Path) -> None:
    # One locale for each step: what makes them alike is the same in all of them.
    environment = LOCALES[STEPS.index(step) % len(LOCALES)]
    pinned = (step / "expected_output.txt").read_bytes()
    assert output_of("-m", f"{step.name}.demo", environment=environment) == pinned
    assert output_of("-m", "labs", "demo", step.name[4:6], environment=environment) == pinned


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_a_step_copied_alone_into_an_empty_folder_runs(step: Path, tmp_path: Path) -> None:
    shutil.copytree(step, tmp_path / step.name, ignore=shutil.ignore_patterns("tests"))
    shown = output_of("-I", "-c", ALONE.format(step.name), cwd=tmp_path)
    assert shown == (step / "expected_output.txt").read_bytes()


# -I keeps out everything but the standard library and the folder that is named here.
ALONE = """
import runpy, sys
sys.path.insert(0, "")
runpy.run_module("{}.demo", run_name="__main__")
"""


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_pinned_files_are_clean_text(step: Path) -> None:
    for path in step.glob("expected_*.txt"):
        text = path.read_bytes()
        assert b"\r" not in text, path
        assert text.endswith(b"\n"), path
        assert not text.endswith(b"\n\n"), path
        assert all(line == line.rstrip() for line in text.decode().split("\n")), path
