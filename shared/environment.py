"""The virtual environment of tests and checks, made from the locked versions when needed.

It is .venv. One that somebody else made, which has no stamp of ours, is never touched: then, and
where there can be none (in a read-only folder, or below a name with a `:`), the environment stands
in the user's cache.
"""

import contextlib
import hashlib
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path

from .errors import UsageError
from .language import say
from .steps import ROOT

LOCK = "requirements.lock"
# Says what an environment was made from, and that we made it. While we do, it says nothing.
STAMP = "made-from.txt"


def run_tool(module: str, *args: str) -> int:
    """Run a tool of the environment, such as pytest, from the root; return its exit status."""
    return subprocess.run([ready_python(), "-m", module, *args], cwd=ROOT).returncode


def has_all_of(requirements: Path) -> bool:
    """Return whether this Python has all that is named in a requirements.txt."""
    names = [re.split("[<>=]", line)[0] for line in requirements.read_text("utf-8").split()]
    try:
        return all(map(metadata.version, names))
    except metadata.PackageNotFoundError:
        return False


def is_current(root: Path = ROOT) -> bool:
    """Return whether the environment is there, and made from what stands here now."""
    return stamp_of(folder_of(root)) == fingerprint(root)


def ready_python(root: Path = ROOT) -> Path:
    """Return the environment's Python, after making it again if what it is made from changed."""
    folder = folder_of(root)
    if stamp_of(folder) != fingerprint(root):
        shown = folder.relative_to(root) if folder.is_relative_to(root) else folder
        print(
            say("Setting up {folder} from {lock} (once) ...", folder=shown, lock=LOCK), flush=True
        )
        folder.parent.mkdir(parents=True, exist_ok=True)
        with locked(folder.with_name(f"{folder.name}.lock")):
            # Somebody else may have made it while we waited.
            if stamp_of(folder) != fingerprint(root):
                make_environment(folder, root)
    return python_of(folder)


def folder_of(root: Path) -> Path:
    """Return where the environment stands, or is to be made."""
    folder = root / ".venv"
    ours = not os.path.lexists(folder) or stamp_of(folder) is not None
    if stamp_of(folder) == fingerprint(root):
        return folder
    if ours and os.access(root, os.W_OK) and os.pathsep not in str(root):
        return folder
    place = hashlib.sha256(os.fsencode(root)).hexdigest()[:8]
    return cache_folder() / "mini-agent-harness" / place


def cache_folder() -> Path:
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        if os.environ.get(name):
            return Path(os.environ[name])
    return Path("~/.cache").expanduser()


def stamp_of(folder: Path) -> str | None:
    """Return what our stamp in an environment says; None if it is not ours, or not to be read."""
    try:
        return (folder / STAMP).read_text("utf-8")
    except (OSError, ValueError):
        return None


def python_of(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Wait until no other process is in here; a lock ends with the process that holds it.

    The lock is SQLite's, since that is the same on every platform.
    """
    with contextlib.closing(sqlite3.connect(path, timeout=600, isolation_level=None)) as lock:
        lock.execute("BEGIN EXCLUSIVE")
        yield


def make_environment(folder: Path, root: Path = ROOT) -> None:
    """Make the environment; one that is interrupted half-way is ours, and is made again."""
    # It comes and goes with its stamp, in one move: without it nobody would know that it is ours.
    aside = folder.with_name(f"{folder.name}.aside")
    if folder.exists():
        folder.rename(empty(aside))
    empty(aside).mkdir()
    (aside / STAMP).touch()
    aside.rename(folder)
    # The base Python: the one that runs may stand in the environment that was just deleted.
    base = getattr(sys, "_base_executable", sys.executable)
    venv = [base, "-I", "-m", "venv", str(folder)]
    packages = ["install", "--quiet", "-r", str(root / LOCK)]
    uv = shutil.which("uv")
    if uv:
        call([*venv, "--without-pip"])
        call([uv, "pip", *packages, "--python", str(python_of(folder))])
    else:
        call(venv)
        pip = [str(python_of(folder)), "-I", "-m", "pip", "--disable-pip-version-check"]
        call([*pip, *packages])
    (folder / STAMP).write_text(fingerprint(root), encoding="utf-8")


def empty(folder: Path) -> Path:
    """Delete a folder, if there is one, and return its path."""
    if folder.exists():
        shutil.rmtree(folder)
    return folder


def fingerprint(root: Path) -> str:
    """Return what the environment depends on: this Python and the locked versions."""
    return f"{sys.version}\n{hashlib.sha256((root / LOCK).read_bytes()).hexdigest()}\n"


def call(command: Sequence[str]) -> None:
    done = subprocess.run(command)
    if done.returncode:
        raise UsageError(
            say(
                "the environment of the tests could not be set up: {command} ended with status "
                "{status}, and what it said is above. Is there a network, and room on the disk?",
                command=Path(command[0]).name,
                status=done.returncode,
            )
        )
