"""Writing expected output again: that of the step that was named, and no other file of it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from shared.steps import ROOT, find_steps

STEP = list(find_steps().values())[-1]


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not {"__pycache__", ".pytest_cache"} & set(path.parts)
    }


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of one step and of what its tests need."""
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(STEP, tmp_path / STEP.name, ignore=ignore)
    shutil.copytree(ROOT / "shared", tmp_path / "shared", ignore=ignore)
    for name in ("conftest.py", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


@pytest.mark.parametrize("part", ["", "not test_what_people_see"])
def test_an_update_writes_only_what_it_pins(copy: Path, part: str) -> None:
    pinned = copy / STEP.name / "expected_output.txt"
    pinned.write_text(pinned.read_text("utf-8") + "stale\n", encoding="utf-8")
    (copy / STEP.name / "reader.txt").write_text("mine")
    before = contents(copy)
    tests = [f"{STEP.name}/tests/test_demo.py", f"{STEP.name}/tests/test_main.py"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--assert=plain", "--snapshot-update", "-k", part, *tests],
        cwd=copy,
        capture_output=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert b" passed" in done.stdout
    after = contents(copy)
    changed = {name for name in before | after if before.get(name) != after.get(name)}
    if part:
        assert changed == set()
    else:
        assert changed == {str(pinned.relative_to(copy))}
        assert pinned.read_bytes() == (STEP / "expected_output.txt").read_bytes()
