"""make snapshots: all that follows from the files of a step is written again, and nothing else."""

import re
import shutil
from pathlib import Path

import pytest

from labs import developing
from labs.breaks import find_breaks
from labs.tasks import labs_folder, steps_with_tasks
from shared import environment
from shared.steps import ROOT

from .test_adding_a_step import NOT_COPIED, write_snapshots

STEPS = steps_with_tasks()
STEP = STEPS[0]
LABS = f"labs/{STEP.name[:6]}"
CHANNELS = ("output", "context")
VERDICTS = "labs/tests/__snapshots__/test_small.ambr"


def names_of_pinned(step: Path) -> set[str]:
    """Return the files that are to stand in labs/stepNN/pinned, as the catalogue says it."""
    channels = {"transcript": "output", "history": "context"}
    breaks = find_breaks(step).values()
    left = {
        (name, channel) for name in ("demo", *(c.scene for c in breaks)) for channel in channels
    }
    left |= {(change.name, channel) for change in breaks for channel in change.changes}
    return {f"{name}.{channels[channel]}.txt" for name, channel in left}


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_nothing_is_pinned_that_no_scene_leaves(step: Path) -> None:
    pinned = {path.name for path in (labs_folder(step) / "pinned").iterdir()}
    command = f"make snapshots STEP={step.name[4:6]} ALL=1"
    assert pinned == names_of_pinned(step), command


# Verdicts take long: this test stands in for those that compare them with a snapshot.
A_TEST = """
from pathlib import Path

import pytest


@pytest.mark.parametrize("channel", ["output", "context"])
def test_demo(channel, snapshot):
    expected = Path(__file__).parents[2] / "{step}" / f"expected_{{channel}}.txt"
    assert expected.read_text("utf-8") == snapshot
"""
A_STALE_SNAPSHOT = "# serializer version: 1\n# name: test_demo[gone]\n  'stale'\n# ---\n"


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A copy of the house in which the first step has one break, and one test with snapshots.

    What the scenes of the other breaks have left, nobody needs any more.
    """
    house = tmp_path / "house"
    shutil.copytree(ROOT, house, ignore=shutil.ignore_patterns(*NOT_COPIED))
    catalogue = house / LABS / "breaks.toml"
    first, *_ = catalogue.read_text("utf-8").split("\n[no-append-assistant]")
    catalogue.write_text(first, encoding="utf-8")
    for snapshots in (house / VERDICTS).parent.iterdir():
        snapshots.unlink()
    (house / VERDICTS).write_text(A_STALE_SNAPSHOT)
    (house / "labs" / "tests" / "test_small.py").write_text(A_TEST.format(step=STEP.name))
    return house


def contents(house: Path) -> dict[str, bytes]:
    files = (path for path in house.rglob("*") if path.is_file())
    return {
        path.relative_to(house).as_posix(): path.read_bytes()
        for path in files
        if not {"__pycache__", ".pytest_cache"} & set(path.parts)
    }


def test_another_reply_is_written_wherever_it_is_expected_and_nothing_stale_is_left(
    house: Path,
) -> None:
    rules = house / STEP.name / "rules.py"
    rules.write_text(rules.read_text("utf-8").replace("我试试。", "让我试试。"), encoding="utf-8")
    before = contents(house)
    write_snapshots(house, STEP.name[4:6])
    after = contents(house)
    left_by = [f"{name}.{channel}" for name in ("demo", "no-append") for channel in CHANNELS]
    assert {path for path in before if path in after and before[path] != after[path]} == {
        f"{STEP.name}/expected_output.txt",
        f"{STEP.name}/expected_context.txt",
        "shared/shipped.json",
        f"{LABS}/rules.txt",
        *(f"{LABS}/pinned/{name}.txt" for name in left_by),
        VERDICTS,
    }
    assert after.keys() - before.keys() == set()
    assert {path for path in after if path.startswith(f"{LABS}/pinned/")} == {
        f"{LABS}/pinned/{name}.txt" for name in left_by
    }
    verdicts = after[VERDICTS].decode("utf-8")
    assert re.findall(r"test_demo\[\w+\]", verdicts) == ["test_demo[context]", "test_demo[output]"]
    assert "让我试试。" in verdicts


def test_no_verdict_is_lost_when_a_test_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    verdicts = tmp_path / "__snapshots__" / "test_tasks.ambr"
    verdicts.parent.mkdir()
    verdicts.write_text("known")

    def run_tool(module: str, *arguments: str) -> int:
        verdicts.write_text("half of it")
        return 1

    monkeypatch.setattr(developing, "VERDICTS", verdicts.parent)
    monkeypatch.setattr(environment, "run_tool", run_tool)
    assert developing.write_verdicts() == 1
    assert verdicts.read_text() == "known"
