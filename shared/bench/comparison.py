"""Our steps beside other agents: the same scripted work for all, each in a process of its own.

Everybody is found, and listed nowhere: a step by its number, an agent in Python by the file of its
locked packages in shared/peers, one in JavaScript by its package.json. This module runs in a small
process, since on Linux the memory of a process is at first that of the one which started it.
"""

import datetime
import hashlib
import itertools
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..environment import empty, python_of
from ..language import say
from ..steps import ROOT, find_steps
from .record import MEASURED, Comparison, Row, rounded, write
from .report import terminal_table, write_report

SIZES = (10, 100, 500, 2000)
# A process that takes more seconds is ended, and no longer conversation is tried.
LIMIT = 60
COLD_STARTS = 3
DRIVERS = ROOT / "shared" / "peers"
ENVIRONMENTS = ROOT / ".venv.peers"
# Variables with which a peer may have been told to send what it does to a server.
TELEMETRY = ("LANGCHAIN", "LANGSMITH", "LOGFIRE", "OPENAI", "OTEL")


@dataclass(frozen=True, slots=True)
class Subject:
    """What is measured: how its driver is started, and what was installed for it."""

    name: str
    kind: str
    command: tuple[str, ...]
    size_mb: float


def main() -> int:
    """Install, measure, print and write down; exit status 1 if nothing could be compared."""
    if os.name != "posix":
        print(say("other agents are measured on Linux and macOS only"))
        return 1
    subjects = [*our_subjects(), *filter(None, map(installed, lock_files()))]
    rows = []
    for subject in subjects:
        print(say("measuring {name} ...", name=subject.name), file=sys.stderr, flush=True)
        try:
            rows.append(row_of(subject))
        except subprocess.CalledProcessError as error:
            problem = error_in(error.stderr)
            print(say("{name} is left out: {problem}", name=subject.name, problem=problem))
    comparison = rounded(Comparison(machine(subjects), SIZES, LIMIT, tuple(rows)))
    print(terminal_table(comparison))
    write(comparison, MEASURED)
    write_report(comparison, MEASURED.parent)
    print(say("written: {folder}", folder=MEASURED.parent.relative_to(ROOT)))
    return 0


def our_subjects() -> list[Subject]:
    steps = [step for step in find_steps().values() if (step / "agent_loop.py").exists()]
    driver = (sys.executable, "-m", "shared.peers.our_steps")
    newest = steps[-1].name[4:6]
    ours = [
        Subject(step.name, "step", (*driver, "step", step.name[4:6]), size_of_step(step))
        for step in steps
    ]
    return [Subject("minimal loop", "minimal", (*driver, "minimal", newest), 0.0), *ours]


def size_of_step(step: Path) -> float:
    return megabytes(p for p in step.rglob("*.py") if "tests" not in p.relative_to(step).parts)


def megabytes(files: Iterable[Path]) -> float:
    return sum(file.stat().st_size for file in files) / 1e6


def lock_files(drivers: Path = DRIVERS) -> list[Path]:
    """Return what every peer is installed from, in the order of their names."""
    return sorted([*drivers.glob("*.txt"), *drivers.glob("*/package-lock.json")], key=name_of)


def name_of(lock: Path) -> str:
    stem = lock.stem if lock.suffix == ".txt" else lock.parent.name
    return stem.replace("_", "-")


def installed(lock: Path) -> Subject | None:
    """Return a peer, after installing it if that is not done; None, and say so, if it cannot be."""
    name, folder = name_of(lock), ENVIRONMENTS / name_of(lock)
    in_python = lock.suffix == ".txt"
    stamp, wanted = folder / "made-from.txt", fingerprint(lock)
    if not stamp.exists() or stamp.read_text("utf-8") != wanted:
        print(say("installing {name} ...", name=name), file=sys.stderr, flush=True)
        empty(folder).parent.mkdir(exist_ok=True)
        problem = install_python(lock, folder) if in_python else install_node(lock, folder)
        if problem:
            print(say("{name} is left out: {problem}", name=name, problem=problem))
            return None
        stamp.write_text(wanted, encoding="utf-8")
    command: tuple[str, ...]
    if in_python:
        command = (str(python_of(folder)), "-m", f"shared.peers.{lock.stem}")
    else:
        command = (node_of(folder), str(shutil.copy(lock.parent / "driver.mjs", folder)))
    return Subject(name, "peer", command, size_of_packages(folder))


def fingerprint(lock: Path) -> str:
    return f"{sys.version}\n{hashlib.sha256(lock.read_bytes()).hexdigest()}\n"


def install_python(lock: Path, folder: Path) -> str:
    """Make an environment for a peer; return what went wrong, in a line."""
    venv = [getattr(sys, "_base_executable", sys.executable), "-I", "-m", "venv", str(folder)]
    pip = [str(python_of(folder)), "-I", "-m", "pip", "--disable-pip-version-check", "install"]
    return problem_of(venv) or problem_of([*pip, "--quiet", "--no-deps", "-r", str(lock)])


def install_node(lock: Path, folder: Path) -> str:
    """Do the same for a package of npm, which brings the Node.js that it asks for."""
    npm = shutil.which("npm")
    if npm is None:
        return say("there is no npm here")
    folder.mkdir()
    for name in (lock.name, "package.json"):
        shutil.copy(lock.parent / name, folder)
    quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    return problem_of([npm, "ci", "--prefix", str(folder), *quiet])


def problem_of(command: Sequence[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    lines = done.stderr.strip().splitlines() or [f"{command[0]}: {done.returncode}"]
    return next((x for x in lines if "error" in x.lower()), lines[-1]) if done.returncode else ""


def node_of(folder: Path) -> str:
    """Return the Node.js that came with the packages; if none came, the one that is installed."""
    brought = sorted(folder.glob("node_modules/node-*/bin/node"))
    return str(brought[0]) if brought else "node"


def size_of_packages(folder: Path) -> float:
    """Return the size of the packages in an environment, without pip, Node.js and bytecode."""
    size = 0.0
    for packages in [*folder.glob("lib/python*/site-packages"), *folder.glob("node_modules")]:
        for package in packages.iterdir():
            # What begins with a dot belongs to npm.
            if not package.name.startswith((".", "pip", "setuptools", "node-linux", "__pycache__")):
                files = package.rglob("*") if package.is_dir() else [package]
                size += megabytes(p for p in files if p.is_file() and p.suffix != ".pyc")
    return size


def row_of(subject: Subject) -> Row:
    """Measure a subject: cold starts first, then each size in a process of its own."""
    cold = statistics.median(cold_start(subject) for _ in range(COLD_STARTS)) * 1000
    microseconds: dict[int, float] = {}
    version, ended, peak, seconds = "", "", 0.0, 0.0
    for before, turns in itertools.pairwise((1, *SIZES)):
        if seconds * turns / before > LIMIT:  # It will take that long, even if no turn costs more.
            ended = f"> {LIMIT} s"
            break
        try:
            done = run_driver(subject, str(turns))
        except subprocess.TimeoutExpired:
            ended = f"> {LIMIT} s"
            break
        if done.returncode:
            ended = error_in(done.stderr)
            break
        line = json.loads(done.stdout)
        version, peak, seconds = line["version"], line["peak_mb"], line["seconds"]
        microseconds[turns] = seconds / turns * 1e6
    size = subject.size_mb
    return Row(subject.name, subject.kind, version, microseconds, ended, cold, peak, size)


def cold_start(subject: Subject) -> float:
    """Return the seconds of a new process that holds a conversation of one turn."""
    started = time.perf_counter()
    run_driver(subject).check_returncode()
    return time.perf_counter() - started


def run_driver(subject: Subject, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(TELEMETRY)}
    return subprocess.run(
        [*subject.command, *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=LIMIT,
    )


def error_in(stderr: str) -> str:
    """Return the name of the error that a driver ended with: the first cause, if there are more."""
    names = [line.partition(":")[0] for line in stderr.splitlines() if line[:1].isalpha()]
    errors = [name for name in names if name.rpartition(".")[2].endswith(("Error", "Exception"))]
    return errors[0].rpartition(".")[2] if errors else "?"


def machine(subjects: Sequence[Subject]) -> dict[str, str]:
    """Return what the figures were measured on."""
    node = next((s.command[0] for s in subjects if s.command[1].endswith(".mjs")), None)
    return {
        "processor": processor(),
        "system": f"{platform.system()} {platform.release().partition('-')[0]}",
        "python": platform.python_version(),
        "node": subprocess.check_output([node, "--version"], text=True).strip() if node else "",
        "date": datetime.date.today().isoformat(),
    }


def processor() -> str:
    """Return the name of the processor and how many cores there are."""
    name = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        lines = information.read_text("utf-8").splitlines()
        name = next((x.partition(":")[2].strip() for x in lines if x[:10] == "model name"), name)
    return f"{name}, {os.cpu_count()} cores"


if __name__ == "__main__":
    sys.exit(main())
