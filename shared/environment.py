"""The virtual environment of tests and checks, made from the locked versions when needed."""

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from .errors import UsageError
from .steps import ROOT

VENV = ROOT / ".venv"
LOCK = ROOT / "requirements.lock"
PYPROJECT = ROOT / "pyproject.toml"
# Written last, so that an environment that was interrupted half-way is made again.
STAMP = VENV / "made-from.txt"


def run_tool(module: str, *args: str) -> int:
    """Run a tool of the environment, such as pytest, from the root; return its exit status."""
    return subprocess.run([ready_python(), "-m", module, *args], cwd=ROOT).returncode


def ready_python() -> Path:
    """Return the environment's Python, after making it anew if what it is made from changed."""
    python = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not (python.exists() and is_current()):
        print("Setting up .venv from requirements.lock (once) ...", flush=True)
        make_environment(python)
        STAMP.write_text(fingerprint(), encoding="utf-8")
    return python


def is_current() -> bool:
    return STAMP.is_file() and STAMP.read_text("utf-8") == fingerprint()


def make_environment(python: Path) -> None:
    shutil.rmtree(VENV, ignore_errors=True)
    uv = shutil.which("uv")
    if uv:
        call([uv, "venv", "--quiet", "--python", sys.executable, str(VENV)])
        call([uv, "pip", "install", "--quiet", "--python", str(python), "-r", str(LOCK)])
    else:
        call([sys.executable, "-m", "venv", str(VENV)])
        pip = [str(python), "-m", "pip", "--disable-pip-version-check"]
        call([*pip, "install", "--quiet", "-r", str(LOCK)])


def fingerprint() -> str:
    """Return what the environment depends on: this Python, the lock and pyproject.toml."""
    files = LOCK.read_bytes() + PYPROJECT.read_bytes()
    return f"{sys.version}\n{hashlib.sha256(files).hexdigest()}\n"


def call(command: Sequence[str]) -> None:
    try:
        subprocess.run(command, cwd=ROOT, check=True)
    except subprocess.CalledProcessError as error:
        raise UsageError(
            f"could not set up .venv: {command[0]} ended with status {error.returncode}; "
            "its own words are above. Is there a network, and room on the disk?"
        ) from None
