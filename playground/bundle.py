"""The playground of the site: the page, Python, and the house that Python runs."""

import gzip
import importlib
import io
import json
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import jinja2
import markupsafe
import pygments

from labs.breaks import Text, find_breaks
from labs.tasks import Task, find_tasks, steps_with_tasks
from shared.shipped import MANIFEST
from shared.step_diff import is_aside, is_part
from shared.steps import ROOT, find_steps

from .pages import NOT_IN_A_TAB, checked_in_a_tab, plays

HERE = Path(__file__).parent
PACKAGES = HERE / "node_modules"
PYODIDE = (
    "pyodide.mjs",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "python_stdlib.zip",
    "pyodide-lock.json",
)
PAGES = ("index.html", "page.css")
# Of Pygments only what shows Python in two colour schemes.
LEFT_OUT = ("pygments/lexers/", "pygments/styles/", "pygments/formatters/", "pygments/filters/")
TAKEN = ("__init__.py", "_mapping.py", "python.py", "default.py", "gh_dark.py", "html.py")
IN_TAB = ("__init__.py", "tab.py", "one_process.py", "patch.py", "language.py", "chinese.toml")
FIRST = ("agent_loop.py", "rules.py", "demo.py", "main.py")


def build_playground(folder: Path) -> None:
    """Write the playground into a folder."""
    (folder / "pyodide").mkdir(parents=True)
    for name in PYODIDE:
        shutil.copy(PACKAGES / "pyodide" / name, folder / "pyodide")
    for name in PAGES:
        shutil.copy(HERE / "page" / name, folder)
    build_scripts(folder)
    write_archive(folder / "lab.tar.gz", house())
    write_archive(folder / "viewer.tar.gz", packages())
    steps = {step.name[4:6]: step for step in find_steps().values() if plays(step.name)}
    write_json(folder / "steps.json", {number: step.name for number, step in steps.items()})
    for number, step in steps.items():
        write_json(folder / "steps" / f"{number}.json", about(step))
    loaded = [folder / "lab.tar.gz", folder / "viewer.tar.gz"]
    loaded += [folder / "pyodide" / name for name in PYODIDE if not name.endswith(".mjs")]
    write_json(folder / "sizes.json", {"bytes": sum(file.stat().st_size for file in loaded)})


def build_scripts(folder: Path) -> None:
    """Let esbuild put the scripts and CodeMirror into one file, and the worker into another."""
    sources = [str(HERE / "page" / name) for name in ("main.js", "worker.js")]
    settings = ["--bundle", "--format=esm", "--minify", "--target=es2022", "--log-level=warning"]
    esbuild = PACKAGES / "esbuild" / "bin" / "esbuild"
    subprocess.run([esbuild, *sources, *settings, f"--outdir={folder}"], check=True)


def house() -> Iterator[tuple[str, bytes]]:
    """Give what Python needs of the house, each file with its name."""
    steps = [step for step in find_steps().values() if plays(step.name)]
    for top in (ROOT / "labs", ROOT / "shared", *steps):
        for file in sorted(top.rglob("*")):
            name = file.relative_to(ROOT)
            if file.is_file() and is_part(name) and has_place(name, steps):
                yield name.as_posix(), file.read_bytes()
    yield "shared/shipped.json", shipped_of(steps)
    for part in IN_TAB:
        yield f"playground/{part}", (HERE / part).read_bytes()


def has_place(name: Path, steps: list[Path]) -> bool:
    """Return whether a file is used in a tab: no test is, and nothing of a step that cannot run."""
    numbers = [step.name[:6] for step in steps]
    other = name.parts[0] == "labs" and name.parts[1][:4] == "step" and name.parts[1] not in numbers
    aside = {"tests", "bench", "peers"} & set(name.parts)
    return not other and not aside and name.name not in ("answers.toml", "shipped.json")


def shipped_of(steps: list[Path]) -> bytes:
    """Return the list of what was shipped, as far as it is there."""
    entries = json.loads(MANIFEST.read_text("utf-8"))
    names = {step.name for step in steps}
    there = {
        step: {name: hashes for name, hashes in files.items() if not name.startswith("tests/")}
        for step, files in entries.items()
        if step in names
    }
    return json.dumps(there).encode()


def packages() -> Iterator[tuple[str, bytes]]:
    """Give the packages that the page of a trace is made with, as far as it needs them."""
    for module in (jinja2, markupsafe, pygments):
        top = Path(str(module.__file__)).parent
        for file in sorted(top.rglob("*.py")):
            name = file.relative_to(top.parent).as_posix()
            if not name.startswith(LEFT_OUT) or name.endswith(TAKEN):
                yield name, file.read_bytes()


def write_archive(target: Path, files: Iterable[tuple[str, bytes]]) -> None:
    """Write an archive that is the same whenever the files are the same.

    Files of one name stand together: most of them are alike from step to step, and so small.
    """
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in sorted(files, key=lambda file: (file[0].rpartition("/")[2], file[0])):
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    target.write_bytes(gzip.compress(packed.getvalue(), mtime=0))


def write_json(target: Path, value: object) -> None:
    target.parent.mkdir(exist_ok=True)
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    target.write_text(text, encoding="utf-8")


def about(step: Path) -> dict[str, Any]:
    """Return what the page knows of a step before Python has come."""
    has_tasks = step in steps_with_tasks()
    tasks = [task for task in find_tasks(step) if checks(task)] if has_tasks else []
    return {
        "name": step.name,
        "words": words_of(step),
        "files": {
            f"{step.name}/{name}": (step / name).read_text("utf-8") for name in files_of(step)
        },
        "tasks": [about_task(task) for task in tasks],
        "breaks": list(about_breaks(step)) if has_tasks else [],
    }


def checks(task: Task) -> bool:
    return checked_in_a_tab(task.step_number, str(task.number))


def words_of(step: Path) -> list[str]:
    """Return what the script of a step has an answer to."""
    sys.path.insert(0, str(ROOT))
    main = importlib.import_module(f"{step.name}.main")
    return list(main.known_words())


def files_of(step: Path) -> list[str]:
    """Return the files of a step that are worth changing, the loop first."""
    files = [file.relative_to(step) for file in sorted(step.rglob("*")) if file.is_file()]
    names = [file.as_posix() for file in files if is_part(file) and not is_aside(file)]
    place = {name: number for number, name in enumerate(FIRST)}
    return sorted(names, key=lambda name: (place.get(name, len(FIRST)), name))


def about_task(task: Task) -> dict[str, Any]:
    folder = task.folder
    pages = {"en": "worksheet.md", "zh": "worksheet.zh-CN.md"}
    hints = {"en": "hints.txt", "zh": "hints.zh-CN.txt"}
    return {
        "number": str(task.number),
        "title": {name: heading(folder / page) for name, page in pages.items()},
        "hints": {
            n: (folder / f).read_text("utf-8").strip().split("\n\n") for n, f in hints.items()
        },
        "solution": task.solution,
        "page": f"labs/{task.step.name[:6]}/{folder.name}/worksheet/",
    }


def heading(page: Path) -> str:
    return page.read_text("utf-8").partition("\n")[0].strip("# ")


def about_breaks(step: Path) -> Iterator[dict[str, Any]]:
    for change in find_breaks(step).values():
        if change.name in NOT_IN_A_TAB:
            continue
        yield {
            "name": change.name,
            "title": both(change.title),
            "file": change.file,
            "old": change.old,
            "new": change.new,
            "setting": both(change.setting) if change.setting else None,
            "questions": [
                {"ask": both(question.ask), "answer": both(question.answer)}
                for question in change.questions
            ],
        }


def both(text: Text) -> dict[str, str]:
    return {"en": text.en, "zh": text.zh}
