"""The environment: kept while nothing changed, made again when something did, never another's."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from shared import environment
from shared.environment import LOCK, STAMP
from shared.errors import UsageError
from shared.steps import ROOT

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the uv that stands in is a shell script")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A house in which nothing has to be installed, with a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    (tmp_path / "uv").write_text("#!/bin/sh\n")
    (tmp_path / "uv").chmod(0o755)
    root = tmp_path / "house"
    root.mkdir()
    (root / LOCK).touch()
    return root


def runs(python: Path) -> bool:
    done = subprocess.run([python, "-c", "import sys; print(sys.prefix)"], capture_output=True)
    return Path(done.stdout.decode().strip()) == python.parents[1]


def test_the_environment_is_made_in_the_folder_and_then_kept(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    python = environment.ready_python(root)
    assert python.is_relative_to(root / ".venv")
    assert runs(python)
    assert capsys.readouterr().out == f"Setting up .venv from {LOCK} (once) ...\n"
    assert environment.ready_python(root) == python
    assert capsys.readouterr().out == ""


def test_the_environment_is_made_again_when_what_it_is_made_from_changes(root: Path) -> None:
    environment.ready_python(root)
    assert environment.is_current(root)
    (root / ".venv" / "old").touch()
    (root / LOCK).write_text("# Something else.")
    assert not environment.is_current(root)
    environment.ready_python(root)
    assert environment.is_current(root)
    assert not (root / ".venv" / "old").exists()


def test_an_environment_that_was_interrupted_is_made_again(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(environment, "call", interrupt)
        with pytest.raises(KeyboardInterrupt):
            environment.ready_python(root)
    assert (root / ".venv" / STAMP).exists()
    assert not environment.is_current(root)
    assert runs(environment.ready_python(root))


def interrupt(command: list[str]) -> None:
    raise KeyboardInterrupt


def test_an_environment_of_somebody_else_is_left_alone(root: Path, tmp_path: Path) -> None:
    (root / ".venv").mkdir()
    (root / ".venv" / "theirs").touch()
    python = environment.ready_python(root)
    assert python.is_relative_to(tmp_path / "cache")
    assert runs(python)
    assert [path.name for path in (root / ".venv").iterdir()] == ["theirs"]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may look everywhere")
def test_an_environment_that_may_not_be_looked_into_is_left_alone(
    root: Path, tmp_path: Path
) -> None:
    (root / ".venv").mkdir(mode=0)
    assert environment.ready_python(root).is_relative_to(tmp_path / "cache")
    (root / ".venv").chmod(0o700)
    assert list((root / ".venv").iterdir()) == []


def test_a_folder_in_which_no_environment_can_be_has_one_elsewhere(
    root: Path, tmp_path: Path
) -> None:
    colon = root.rename(root.with_name("with:a colon"))
    assert runs(environment.ready_python(colon))
    assert not (colon / ".venv").exists()


def test_two_first_runs_at_once_make_one_environment(root: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from shared import environment\n"
        "made = environment.make_environment\n"
        "environment.make_environment = lambda *args: (print('made'), made(*args))\n"
        "environment.ready_python(Path(sys.argv[1]))\n"
    )
    command = [sys.executable, "-c", code, str(root)]
    both = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) for _ in range(2)]
    said = b"".join(process.communicate()[0] for process in both)
    assert [process.returncode for process in both] == [0, 0]
    assert said.count(b"made") == 1
    assert environment.is_current(root)


def test_a_tool_that_cannot_be_installed_is_told_in_one_line() -> None:
    with pytest.raises(UsageError, match=r"could not be set up: .* ended with status 3") as error:
        environment.call([sys.executable, "-c", "raise SystemExit(3)"])
    assert "\n" not in str(error.value)
