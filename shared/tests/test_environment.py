"""The environment: kept while nothing changed, made again when something did."""

import sys
from pathlib import Path

import pytest

from shared import environment
from shared.errors import UsageError


@pytest.mark.parametrize("changed", ["LOCK", "PYPROJECT"])
def test_it_is_current_until_what_it_is_made_from_changes(
    changed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LOCK", "PYPROJECT", "STAMP"):
        monkeypatch.setattr(environment, name, tmp_path / name)
    environment.LOCK.write_text("a==1\n")
    environment.PYPROJECT.write_text("[project]\n")
    assert not environment.is_current()
    environment.STAMP.write_text(environment.fingerprint())
    assert environment.is_current()
    (tmp_path / changed).write_text("something else\n")
    assert not environment.is_current()


def test_a_tool_that_cannot_be_installed_is_told_in_a_line() -> None:
    with pytest.raises(UsageError, match=r"could not set up \.venv: .* ended with status 3"):
        environment.call([sys.executable, "-c", "raise SystemExit(3)"])
