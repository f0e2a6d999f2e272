"""The steps are found by their folders, and named by their number."""

from pathlib import Path

import pytest

from shared.errors import UsageError
from shared.steps import find_step, find_steps


def make_folder(root: Path, name: str) -> Path:
    (root / name).mkdir()
    (root / name / "demo.py").touch()
    return root / name


def test_a_step_is_a_folder_with_code_that_can_be_imported(tmp_path: Path) -> None:
    step = make_folder(tmp_path, "step12_more")
    (tmp_path / "step11_left_over").mkdir()
    for name in ("step3_bad", "step13_", "step04_a.bak", "step04_a copy", "step04_a-2", "step٠٤_a"):
        make_folder(tmp_path, name)
    assert find_steps(tmp_path) == {12: step}


@pytest.mark.parametrize("number", ["4", "04"])
def test_a_step_is_named_by_its_number(number: str, tmp_path: Path) -> None:
    assert find_step(number, make_folder(tmp_path, "step04_a").parent).name == "step04_a"


def test_a_copy_of_a_step_is_named_with_its_original(tmp_path: Path) -> None:
    for name in ("step04_a", "step04_a_backup", "step05_b"):
        make_folder(tmp_path, name)
    with pytest.raises(UsageError, match="two folders have the number 04: ") as error:
        find_step("05", tmp_path)
    assert str(error.value).endswith(
        "step04_a and step04_a_backup; rename one of them, for example to step04_a_backup.bak"
    )


@pytest.mark.parametrize("number", ["", "3", "x", "-4", "4.0", "²", "9" * 5000])
def test_a_number_without_a_step_lists_those_there_are(number: str, tmp_path: Path) -> None:
    make_folder(tmp_path, "step04_a")
    with pytest.raises(UsageError, match=r"; choose one: STEP=04 \(step04_a\)$"):
        find_step(number, tmp_path)
