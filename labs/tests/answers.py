"""Answers of readers, right and wrong ones: labs/stepNN/taskN/answers.toml, made and judged."""

import atexit
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
    """Make a folder like the one a reader works in; what is compiled need not be compiled again."""
    ignore = shutil.ignore_patterns("tests")
    shutil.copytree(task.step, root / task.step.name, ignore=ignore)
    (root / "labs" / task.step.name[:6]).mkdir(parents=True)


@functools.cache
def folder_for(task: Task, *, solved: bool) -> Path:
    """Return a folder for the answers to a task; it stays until the tests end."""
    root = Path(tempfile.mkdtemp(prefix="answers-")).resolve()
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    copy_step(task, root)
    if solved:
        patch = str(task.folder / "solution.patch")
        subprocess.run(["git", "apply", patch], cwd=root, check=True)
    compileall.compile_dir(root, quiet=1)  # Once, for all answers: most files stay as they are.
    return root


@contextlib.contextmanager
def made(answer: Answer) -> Iterator[Path]:
    """Give a folder in which an answer stands; each of its edits has to fit."""
    root = folder_for(answer.task, solved=not answer.shipped)
    before: dict[Path, str | None] = {}
    for edit in answer.edits:
        path = root / answer.task.step.name / edit["file"]
        path.parent.mkdir(exist_ok=True)
        text = path.read_text("utf-8") if path.exists() else None
        before.setdefault(path, text)
        assert edit["old"] in (text or ""), f"{answer.name}: {edit['file']}: {edit['old']}"
        path.write_text((text or "").replace(edit["old"], edit["new"]) or edit["new"], "utf-8")
        forget_compiled(path)
    try:
        yield root
    finally:
        for path, text in before.items():
            if text is None:
                path.unlink()
            else:
                path.write_text(text, "utf-8")
            forget_compiled(path)


def forget_compiled(path: Path) -> None:
    """Delete what was compiled: Python takes it for a file of the same size and second."""
    Path(importlib.util.cache_from_source(path)).unlink(missing_ok=True)


def judged(task: Task, root: Path) -> Verdict:
    """Return what `make check` says, without a process of its own: there are too many answers."""
    return look(task, root, call_here)


def call_here(root: Path, function: str, package: str, *arguments: str) -> Any:
    """Do what call_in_child does, in this process."""
    module, _, name = function.partition(":")
    with standing_in(root, package):
        try:
            result = getattr(importlib.import_module(module), name)(package, *arguments)
            return dataclasses.asdict(result)
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
    importlib.invalidate_caches()
    os.chdir(root)
    try:
        yield
    finally:
        os.chdir(before)
        sys.dont_write_bytecode = writes_not
        sys.path.remove(str(root))
        forget()
        sys.modules.update(known)
