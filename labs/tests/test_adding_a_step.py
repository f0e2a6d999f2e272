"""Adding a step, as CONTRIBUTING says it: copy, rename, a row here and there, one command."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from shared.steps import ROOT, find_steps
from shared.tests.test_contract import differences, row_text
from shared.tests.test_docs import code_lines

LAST = list(find_steps().values())[-1]
NUMBER, NEXT = LAST.name[4:6], f"{int(LAST.name[4:6]) + 1:02}"

NOT_COPIED = [
    ".git",
    ".venv*",
    ".labs",
    ".*_cache",
    ".hypothesis",
    "traces",
    "build",
]
# The tests that look at every step, whatever is in it.
TESTS = [
    "shared/tests/test_contract.py::test_each_step_changes_what_the_contract_allows_and_nothing_else",
    "shared/tests/test_laws.py",
    "shared/tests/test_docs.py",
    f"shared/tests/test_shipped.py::test_the_list_says_what_stands_in_a_step[step{NEXT}_copy]",
    f"step{NEXT}_copy/tests/test_demo.py",
]


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A copy of the whole house, in which the last step was copied under the next number."""
    house = tmp_path / "house"
    shutil.copytree(ROOT, house, ignore=shutil.ignore_patterns(*NOT_COPIED))
    shutil.copytree(house / LAST.name, house / f"step{NEXT}_copy")
    return house


def run_in(house: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    # The pytest in there is not a part of this one, and need not have more processes than one.
    ours = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    # What it says stands in the messages of its assertions, or in an exit status.
    own = {
        "PYTEST_ADDOPTS": "--assert=plain -p no:cacheprovider",
        "PYTEST_XDIST_AUTO_NUM_WORKERS": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=house,
        env=ours | own,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )


def run_tests(house: Path) -> subprocess.CompletedProcess[str]:
    """Run the tests that look at every step, but for those that try commands."""
    options = ["--tb=short", "-k", "not works"]
    return run_in(house, "-m", "pytest", *options, *TESTS)


def rename(house: Path) -> None:
    copy = house / f"step{NEXT}_copy"
    for path in (copy / "README.md", copy / "demo.py"):
        text = path.read_text("utf-8").replace(LAST.name, copy.name)
        text = text.replace(f"step{NUMBER}", f"step{NEXT}").replace(
            f"STEP={NUMBER}", f"STEP={NEXT}"
        )
        path.write_text(text, encoding="utf-8")


def add_to_the_contract(house: Path) -> None:
    row = row_text(
        (int(NUMBER), int(NEXT)), differences(house / LAST.name, house / f"step{NEXT}_copy")
    )
    table = house / "shared" / "tests" / "contract.py"
    text = table.read_text("utf-8").removesuffix("}\n")
    table.write_text(f"{text}{row}\n}}\n", encoding="utf-8")


def add_to_the_readmes(house: Path) -> None:
    name = f"step{NEXT}_copy"
    row = f"| [{name}]({name}/README.md) | 8.4 | 一 | {code_lines(house / name)} |"
    for page in (house / "README.md", house / "README.zh-CN.md"):
        text = page.read_text("utf-8")
        (last,) = re.findall(rf"^\| \[{LAST.name}\].*$", text, re.MULTILINE)
        page.write_text(text.replace(last, f"{last}\n{row}"), encoding="utf-8")


# The tests that run have what they need: nothing is installed for the command.
WITH_THIS_PYTHON = """
import sys
from shared import environment
environment.ready_python = lambda: sys.executable
from labs.command_line import main
sys.exit(main(sys.argv[1:]))
"""


def write_snapshots(house: Path, number: str = NEXT) -> None:
    done = run_in(house, "-c", WITH_THIS_PYTHON, "snapshots", number, "--all")
    assert done.returncode == 0, done.stdout


def test_every_thing_that_was_forgotten_is_named_by_a_test_of_its_own(house: Path) -> None:
    said = run_tests(house).stdout
    for thing in (
        f"step{NEXT}_copy/README.md: # step{NUMBER}: ",
        f"step{NEXT}_copy/README.md: make demo STEP={NUMBER}\n",
        f'step{NEXT}_copy/demo.py:     print("Mini Agent Harness · step{NUMBER} ',
        f"step{NEXT}_copy/expected_output.txt: Mini Agent Harness · step{NUMBER} ",
        f"shared/tests/contract.py has no row ({int(NUMBER)}, {int(NEXT)}); add, if all this",
        f"README.md needs the row: | [step{NEXT}_copy](step{NEXT}_copy/README.md) | chapter | ",
        f"README.zh-CN.md needs the row: | [step{NEXT}_copy](step{NEXT}_copy/README.md) | chap",
        f"once the step is as it should be: make snapshots STEP={NEXT} ALL=1\n",
    ):
        assert thing in said, said


def test_a_copy_that_follows_the_recipe_has_nothing_left_to_do(house: Path) -> None:
    for follow in (rename, add_to_the_contract, add_to_the_readmes, write_snapshots):
        follow(house)
    done = run_tests(house)
    assert done.returncode == 0, done.stdout
