"""What the repository shipped: a hash of every file of a step and of every definition in it.

From these a checker tells what else a reader changed, and from git, which keeps every file under
its hash, come the files as they were shipped, whatever was committed or pushed since. The list is
shared/shipped.json; `make snapshots STEP=04 ALL=1` writes it.
"""

import ast
import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from .errors import UsageError
from .language import say
from .step_diff import is_part
from .steps import ROOT

MANIFEST = Path(__file__).with_name("shipped.json")
REST = "other statements"


class Shipped:
    """One step as it was shipped, whatever stands in its folder now."""

    def __init__(self, name: str, root: Path = ROOT, manifest: Path = MANIFEST) -> None:
        self.name, self.root = name, root
        entries = json.loads(manifest.read_text("utf-8"))
        if name not in entries:
            raise UsageError(
                say(
                    "{name} is not in the list of what was shipped; "
                    "make snapshots STEP={number} ALL=1 adds it",
                    name=name,
                    number=name[4:6],
                )
            )
        self.files: dict[str, dict[str, str]] = entries[name]

    def changed_files(self) -> list[str]:
        """Return the files that are changed or gone, and the new ones, by path."""
        now = step_files(self.root / self.name)
        return sorted(
            path
            for path in now.keys() | self.files.keys()
            if path not in now or path not in self.files or blob_id(now[path]) != self.id_of(path)
        )

    def changed_definitions(self) -> list[str]:
        """Return the definitions that are changed or gone, such as "agent_loop.run_agent_loop".

        Comments, layout, docstrings and new definitions do not count, nor does an import that is
        gone. A module that is gone, or is no Python, counts as its name.
        """
        found = []
        for path in sorted(self.files):
            if not path.endswith(".py") or path.startswith("tests/"):
                continue
            module = path.removesuffix(".py").replace("/", ".")
            try:
                content = (self.root / self.name / path).read_bytes().replace(b"\r\n", b"\n")
                if blob_id(content) == self.id_of(path):
                    continue
                now = definition_hashes(content.decode("utf-8-sig"))
            except (OSError, ValueError, SyntaxError):
                found.append(module)
                continue
            for name, hash_then in self.files[path].items():
                gone = name not in now and is_import(hash_then)
                if name and now.get(name) != hash_then and not gone:
                    found.append(f"{module}.{name}")
            if REST in now and REST not in self.files[path]:
                found.append(f"{module}.{REST}")
        return found

    def copy_to(self, folder: Path) -> None:
        """Write the step as it was shipped into `folder`; UsageError if git does not hold it."""
        for path, content in self.contents().items():
            target = folder / self.name / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)

    def contents(self) -> dict[str, bytes]:
        """Return every file as it was shipped; UsageError if git does not hold a changed one."""
        now = step_files(self.root / self.name)
        found = {}
        for path in self.files:
            unmodified = path in now and blob_id(now[path]) == self.id_of(path)
            found[path] = now[path] if unmodified else self.from_git(path)
        return found

    def from_git(self, path: str) -> bytes:
        git = shutil.which("git")
        # It is this folder's repository that is asked, whoever owns it.
        own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        done = git and subprocess.run(
            [git, "-c", "safe.directory=*", "cat-file", "blob", self.id_of(path)],
            cwd=self.root,
            env=own,
            capture_output=True,
        )
        if not done or done.returncode:
            raise UsageError(
                say(
                    "{path} was changed, and git does not hold it as it was shipped here; "
                    "take the file from a fresh clone",
                    path=f"{self.name}/{path}",
                )
            )
        return done.stdout

    def id_of(self, path: str) -> str:
        return self.files[path][""]


def step_files(step: Path) -> dict[str, bytes]:
    """Return what stands in the files of a step, by path, with the line ends that git keeps."""
    found = {}
    for path in sorted(step.rglob("*")):
        relative = path.relative_to(step)
        if path.is_file() and is_part(relative):
            found[relative.as_posix()] = path.read_bytes().replace(b"\r\n", b"\n")
    return found


def blob_id(content: bytes) -> str:
    """Return the name under which git keeps a file."""
    return hashlib.sha1(b"blob %d\0%b" % (len(content), content), usedforsecurity=False).hexdigest()


def definition_hashes(source: str) -> dict[str, str]:
    """Return a hash of every definition of a module, by name; an import stands for itself.

    All that is neither has one hash, under REST. Every version of Python finds the same hashes.
    """
    found: dict[str, list[str]] = {}
    for node in ast.parse(source).body:
        for name, text in bindings(node):
            found.setdefault(name, []).append(text)
    return {name: " ".join(texts) for name, texts in found.items()}


def bindings(node: ast.stmt) -> Iterator[tuple[str, str]]:
    """Give the names that a statement defines, each with a hash of the statement."""
    match node:
        case ast.Import(names=names):
            for alias in names:
                yield alias.asname or alias.name, f"import {alias.name}"
        case ast.ImportFrom(module=module, names=names, level=level):
            for alias in names:
                yield alias.asname or alias.name, f"from {'.' * level}{module} import {alias.name}"
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name, short_hash(node)
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            yield name, short_hash(node)
        case ast.Expr(value=ast.Constant(value=str())):
            pass  # A docstring.
        case _:
            yield REST, short_hash(node)


def short_hash(node: ast.stmt) -> str:
    return hashlib.sha1(shape(node).encode(), usedforsecurity=False).hexdigest()[:12]


def shape(node: object) -> str:
    """Return a syntax tree as text, without docstrings; ast.dump is not the same everywhere."""
    match node:
        case ast.Expr(value=ast.Constant(value=str())):
            return ""
        case ast.AST():
            fields = (
                f"{name}={shape(value)}"
                for name, value in ast.iter_fields(node)
                if name not in ("ctx", "kind", "type_comment") and value not in (None, [])
            )
            return f"{type(node).__name__}({','.join(fields)})"
        case list():
            return f"[{','.join(map(shape, node))}]"
    return repr(node)


def is_import(text: str) -> bool:
    return text.startswith(("import ", "from "))


def listed(step: Path) -> dict[str, dict[str, str]]:
    """Return what the list of shipped files has to say of a step as it stands."""
    found = {}
    for path, content in step_files(step).items():
        found[path] = {"": blob_id(content)}
        if path.endswith(".py") and not path.startswith("tests/"):
            found[path] |= definition_hashes(content.decode("utf-8"))
    return found


def pin(step: Path, manifest: Path = MANIFEST) -> None:
    """Write down a step as it stands as the one that is shipped; forget steps that are gone."""
    entries = json.loads(manifest.read_text("utf-8")) if manifest.exists() else {}
    entries = {name: entry for name, entry in entries.items() if (step.parent / name).is_dir()}
    entries[step.name] = listed(step)
    text = json.dumps(entries, ensure_ascii=False, indent=1, sort_keys=True)
    manifest.write_text(f"{text}\n", encoding="utf-8", newline="\n")
