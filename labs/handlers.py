"""Handlers whose parameters do not bear the names of the table yet."""

from pathlib import Path

from . import breaking, practice


def check(step: Path, task: str) -> int:
    return practice.check(step, task)


def hint(step: Path, task: str) -> int:
    return practice.hint(step, task)


def solution(step: Path, task: str, show: bool) -> int:
    return practice.solution(step, task, show=show)


def break_it(step: Path, name: str) -> int:
    if not name and hasattr(breaking, "list_breaks"):
        return int(breaking.list_breaks(step))
    return breaking.break_it(step, name)
