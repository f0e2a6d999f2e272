"""Taking a patch apart: what is made of it is what git makes of it, or it is refused."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labs.tasks import find_tasks, steps_with_tasks
from playground.patch import PatchError, patched
from shared.steps import ROOT

from .by_git import applied, difference

TASKS = [task for step in steps_with_tasks() for task in find_tasks(step)]
LINES = st.lists(st.sampled_from("abc"), max_size=8).map("\n".join)
TEXTS = st.tuples(LINES, st.sampled_from(["", "\n"])).map("".join)


def shipped(path: str) -> str | None:
    return (ROOT / path).read_text("utf-8") if (ROOT / path).exists() else None


def test_every_reference_solution_is_taken_as_git_takes_it(tmp_path: Path) -> None:
    for task in TASKS:
        folder = tmp_path / task.key
        assert patched(task.solution, shipped) == applied(task.solution, folder, shipped), task.key


@given(TEXTS, TEXTS)
def test_what_is_compared_can_be_opened_again(before: str, after: str) -> None:
    patch = difference(before, after)
    if before != after:
        assert patched(patch, lambda path: before) == {"step/file": after}
    else:
        with pytest.raises(PatchError):
            patched(patch, lambda path: before)


SOLUTION = TASKS[1].solution
REFUSED = {
    "empty": "",
    "prose": "not a patch\n",
    "another text": SOLUTION.replace("-            context", "-            text"),
    "cut": SOLUTION[:-60],
    "deletes": "--- a/step04_agent_loop/demo.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n",
    "no such file": "--- a/step04/no.py\n+++ b/step04/no.py\n@@ -1 +1 @@\n-x\n+y\n",
    "there already": "--- /dev/null\n+++ b/step04_agent_loop/demo.py\n@@ -0,0 +1 @@\n+y\n",
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_patch_that_does_not_fit_is_refused(name: str) -> None:
    with pytest.raises(PatchError):
        patched(REFUSED[name], shipped)
