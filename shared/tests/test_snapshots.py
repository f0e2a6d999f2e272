"""Pinning anew: the pinned files of the step that was named, and no other file of it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from shared.steps import ROOT, find_step


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
    step = find_step("05")
    shutil.copytree(step, tmp_path / step.name, ignore=ignore)
    shutil.copytree(ROOT / "shared", tmp_path / "shared", ignore=ignore)
    for name in ("conftest.py", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


@pytest.mark.parametrize("part", ["", "test_the_tools_of_this_step"])
def test_an_update_writes_only_what_it_pins(copy: Path, part: str) -> None:
    pinned = copy / "step05_tools" / "expected_output.txt"
    pinned.write_text(pinned.read_text("utf-8") + "stale\n", encoding="utf-8")
    (copy / "step05_tools" / "reader.txt").write_text("mine")
    before = contents(copy)
    tests = ["step05_tools/tests/test_demo.py", "step05_tools/tests/test_registry.py"]
    subprocess.run(
        [sys.executable, "-m", "pytest", "--snapshot-update", "-k", part, *tests],
        cwd=copy,
        check=True,
        capture_output=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    after = contents(copy)
    changed = {name for name in before | after if before.get(name) != after.get(name)}
    if part:
        assert changed == set()
    else:
        assert changed == {str(pinned.relative_to(copy))}
        assert pinned.read_bytes() == (find_step("05") / "expected_output.txt").read_bytes()
