"""Answers of readers, right and wrong ones: labs/stepNN/taskN/answers.toml, made and judged."""

import compileall
import contextlib
import dataclasses
import functools
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labs.checking import look
from labs.tasks import Task
from labs.verdict import Verdict
from shared.child import ChildError, comes_from_step, explained


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer: the reference solution, or with `shipped` the unmodified step, with edits."""

    task: Task
    name: str
    edits: list[dict[str, str]]
    done: bool
    shipped: bool


def answers_to(task: Task) -> Iterator[Answer]:
    path = task.folder / "answers.toml"
    entries = tomllib.loads(path.read_text("utf-8")) if path.exists() else {}
    for name, entry in entries.items():
        edits = [entry, *entry.get("more", [])]
        done, shipped = entry.get("done", False), entry.get("shipped", False)
        yield Answer(task, name, edits, done, shipped)


def copy_step(task: Task, root: Path) -> None:
    """Make a folder like the one a reader works in."""
    ignore = shutil.ignore_patterns("__pycache__", "tests")
    shutil.copytree(task.step, root / task.step.name, ignore=ignore)
    (root / "labs" / task.step.name[:6]).mkdir(parents=True)


@functools.cache
def solved(task: Task) -> Path:
    """Return a folder that holds the reference solution; it stays until the tests end."""
    root = Path(tempfile.mkdtemp(prefix="solved-"))
    copy_step(task, root)
    subprocess.run(["git", "apply", str(task.folder / "solution.patch")], cwd=root, check=True)
    compileall.compile_dir(root, quiet=1)  # Once, for all answers: most files stay as they are.
    return root


def make(answer: Answer, root: Path) -> None:
    """Put an answer into the empty folder `root`; each of its edits has to fit exactly once."""
    if answer.shipped:
        copy_step(answer.task, root)
    else:
        shutil.copytree(solved(answer.task), root, dirs_exist_ok=True)
    for edit in answer.edits:
        path = root / answer.task.step.name / edit["file"]
        path.parent.mkdir(exist_ok=True)
        text = path.read_text("utf-8") if path.exists() else ""
        if edit["old"]:
            assert text.count(edit["old"]) >= 1, f"{answer.name}: {edit['file']}: {edit['old']}"
        path.write_text(text.replace(edit["old"], edit["new"]) if text else edit["new"], "utf-8")
        Path(importlib.util.cache_from_source(path)).unlink(missing_ok=True)


def judged(task: Task, root: Path) -> Verdict:
    """Return what `make check` says, without a process of its own: there are too many answers."""
    return look(task, root, call_here)


def call_here(root: Path, function: str, package: str) -> Any:
    module, _, name = function.partition(":")
    with standing_in(root, package):
        try:
            return dataclasses.asdict(getattr(importlib.import_module(module), name)(package))
        except Exception as error:
            raise ChildError(explained(error), in_step=comes_from_step(error)) from None


@contextlib.contextmanager
def standing_in(root: Path, package: str) -> Iterator[None]:
    """Let `root` be the current folder, and the step in it the one that is imported."""

    def forget() -> dict[str, Any]:
        names = [name for name in sys.modules if name.partition(".")[0] == package]
        return {name: sys.modules.pop(name) for name in names}

    before, known, writes_not = Path.cwd(), forget(), sys.dont_write_bytecode
    sys.path.insert(0, str(root))
    sys.dont_write_bytecode = True
    os.chdir(root)
    try:
        yield
    finally:
        os.chdir(before)
        sys.dont_write_bytecode = writes_not
        sys.path.remove(str(root))
        forget()
        sys.modules.update(known)
