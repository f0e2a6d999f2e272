"""Putting a step back as it was shipped, with the reader's changes saved first.

What was shipped is what the list in shared/ says, and not what a branch holds: a reader may have
committed and pushed, or put a zip into a repository of their own.
"""

import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from shared.errors import UsageError
from shared.shipped import MANIFEST, Shipped
from shared.steps import ROOT, find_step

from .language import say
from .progress import FOLDER

LONGEST_LIST = 3  # files named in one line


def reset(
    number: str, *, root: Path = ROOT, saved: Path = FOLDER, manifest: Path = MANIFEST
) -> int:
    """Save what a reader changed in a step as a patch, and put the step back.

    New files are saved too, and ignored ones are left alone. UsageError, before anything is put
    back, if something cannot be saved, or if git does not hold a file as it was shipped.
    """
    step = Shipped(name_of(number, root, manifest), root, manifest)
    try:
        if git_works(root):
            save_and_put_back(step, saved)
        else:
            see_that_nothing_is_changed(step)
    except OSError as error:
        raise UsageError(
            say("your changes cannot be saved, so nothing was put back: {error}", error=error)
        ) from None
    return 0


def name_of(number: str, root: Path, manifest: Path) -> str:
    """Return the name of a step that was shipped: its folder may be gone."""
    for name in json.loads(manifest.read_text("utf-8")):
        if number.isdecimal() and int(number) == int(name[4:6]):
            return str(name)
    return find_step(number, root).name


def see_that_nothing_is_changed(step: Shipped) -> None:
    """Say that there is nothing to do; UsageError if there is, which takes git."""
    if changed := step.changed_files():
        more = "" if len(changed) <= LONGEST_LIST else " ..."
        raise UsageError(
            say(
                "{step} is changed ({files}), and git, which has to save that, does not work here "
                "(no git, no clone, or somebody else's); a fresh clone has the files as shipped",
                step=step.name,
                files=", ".join(changed[:LONGEST_LIST]) + more,
            )
        )
    print(nothing_to_do(step))


def nothing_to_do(step: Shipped) -> str:
    return say("{step} is as it was shipped; there is nothing to put back", step=step.name)


def save_and_put_back(step: Shipped, saved: Path) -> None:
    if not step.changed_files() and not git(step.root, "status", "--porcelain", "--", step.name):
        print(nothing_to_do(step))
        return
    refuse_unfinished(step)
    contents = step.contents()
    saved.mkdir(exist_ok=True)
    base = tree_of(step, contents, saved)
    patch = changes(step, base, saved)
    staged = patch_of(step, base) if patch_of(step, head(step.root)) else b""
    if not patch and not staged:
        print(nothing_to_do(step))
        return
    print(say("Your changes are saved; to have them back:"))
    if patch:
        command = command_for(step, save(step, base, patch, saved, step.name))
        print(f"  {command}", flush=True)
    if staged and staged != patch:
        command = command_for(step, save(step, base, staged, saved, f"{step.name}-staged"))
        print(say("  or what was staged: {command}", command=command), flush=True)
    put_back(step, base)
    print(say("{step} is as it was shipped.", step=step.name))
    if staged:
        print(say("Nothing in it is staged any more."))
    if git(step.root, "status", "--porcelain", "--untracked-files=no", "--", step.name):
        print(say("Your own commits changed it, so git shows it as modified against them."))


def put_back(step: Shipped, base: str) -> None:
    """Write the files of `base`, take away all others, and leave nothing staged."""
    # Files that git was told not to look at would stay as they are.
    for flag in ("--no-skip-worktree", "--no-assume-unchanged"):
        files = git(step.root, "ls-files", "-z", "--", step.name)
        git(step.root, "update-index", "-z", flag, "--stdin", words=files)
    git(step.root, "restore", f"--source={base}", "--staged", "--worktree", "--", step.name)
    git(step.root, "clean", "-fdq", "--", step.name)
    git(step.root, "reset", "-q", "--", step.name)


def refuse_unfinished(step: Shipped) -> None:
    """Raise UsageError where git holds what no patch would: the halves of a conflict."""
    unfinished = {
        "MERGE_HEAD": "merge",
        "CHERRY_PICK_HEAD": "cherry-pick",
        "REVERT_HEAD": "revert",
        "rebase-merge": "rebase",
        "rebase-apply": "rebase",
    }
    for name, what in unfinished.items():
        path = git(step.root, "rev-parse", "--git-path", name).decode("utf-8").strip()
        if (step.root / path).exists():
            raise UsageError(
                say(
                    "git is in the middle of a {what}; finish it first, git status says how",
                    what=what,
                )
            )
    if git(step.root, "ls-files", "--unmerged", "--", step.name):
        raise UsageError(
            say(
                "{step} has conflicts that are not resolved; to keep its files as they stand, "
                "type git add {step}, and then make reset again",
                step=step.name,
            )
        )
    if any((step.root / step.name).rglob(".git")):
        raise UsageError(
            say("there is another git repository inside {step}; move it away first", step=step.name)
        )


def tree_of(step: Shipped, contents: dict[str, bytes], scratch: Path) -> str:
    """Give git the files as they were shipped, and return the tree that holds them.

    No commit has to be found: whatever a branch holds now, this is what is compared with.
    """
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        files = [Path(folder, str(place)) for place in range(len(contents))]
        for file, content in zip(files, contents.values(), strict=True):
            file.write_bytes(content)
        names = "".join(f"{file.resolve()}\n" for file in files).encode("utf-8")
        ids = git(step.root, "hash-object", "-w", "--no-filters", "--stdin-paths", words=names)
        prefix = git(step.root, "rev-parse", "--show-prefix").decode("utf-8").removesuffix("\n")
        entries = [
            f"100644 {name}\t{prefix}{step.name}/{path}\0"
            for name, path in zip(ids.decode().split(), contents, strict=True)
        ]
        index = str(Path(folder, "index"))
        words = "".join(entries).encode("utf-8")
        git(step.root, "update-index", "-z", "--index-info", index=index, words=words)
        return git(step.root, "write-tree", index=index).decode().strip()


def head(root: Path) -> str:
    """Return the commit that is checked out, or the empty tree where there is none yet."""
    try:
        return git(root, "rev-parse", "--verify", "--quiet", "HEAD").decode().strip()
    except UsageError:
        return git(root, "hash-object", "-t", "tree", "--stdin").decode().strip()


def changes(step: Shipped, base: str, scratch: Path) -> bytes:
    """Return a patch of all that differs from `base` in a step, new files too.

    It is made in an index of its own, so that the reader's own is not touched.
    """
    with index_of(step, base, scratch) as index:
        git(step.root, "add", "--all", "--", step.name, index=index)
        return patch_of(step, base, index=index)


@contextmanager
def index_of(step: Shipped, base: str, scratch: Path) -> Iterator[str]:
    """Give an index of its own, holding what `base` holds."""
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        index = str(Path(folder, "index").resolve())
        git(step.root, "read-tree", base, index=index)
        yield index


def patch_of(step: Shipped, base: str, index: str = "") -> bytes:
    """Return what an index changes of `base` in a step, whatever the user's settings say."""
    plain = ["--binary", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "-U3"]
    paths = ["--src-prefix=a/", "--dst-prefix=b/", "--no-relative"]
    command = ["diff-index", "--cached", "-p", *plain, *paths, base, "--", step.name]
    return git(step.root, *command, index=index)


def save(step: Shipped, base: str, patch: bytes, folder: Path, name: str) -> Path:
    """Write a patch under a name that nothing has yet, and return its path.

    UsageError, before anything is put back, if it does not fit the step as it was shipped.
    """
    stamp = time.strftime("%Y%m%d-%H%M%S")
    names = (folder / f"{name}-{stamp}{f'-{n}' if n else ''}.patch" for n in range(1000))
    path = next(path for path in names if not path.exists())
    path.write_bytes(patch)
    with index_of(step, base, folder) as index:
        git(step.root, "apply", "--check", "--cached", str(path.resolve()), index=index)
    return path


def command_for(step: Shipped, patch: Path) -> str:
    """Return what to type to have a patch back."""
    shown = patch.relative_to(step.root) if patch.is_relative_to(step.root) else patch
    return f"git apply --whitespace=nowarn {shown.as_posix()}"


# No setting and no hook of the user has a say in what is saved and put back.
OWN_SETTINGS = ["core.hooksPath=/dev/null", "core.safecrlf=false", "apply.whitespace=nowarn"]


def git_works(root: Path) -> bool:
    """Return whether there is a git on this machine, and a clone that it works in."""
    if shutil.which("git") is None:
        return False
    try:
        return git(root, "rev-parse", "--is-inside-work-tree").strip() == b"true"
    except UsageError:
        return False


def git(root: Path, *arguments: str, index: str = "", words: bytes = b"") -> bytes:
    """Run git in `root`, tell it `words`, and return what it prints; UsageError if it fails."""
    settings = [word for setting in OWN_SETTINGS for word in ("-c", setting)]
    # A hook, or an editor, may have left here in which repository to work.
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(
        ["git", *settings, *arguments],
        cwd=root,
        env={**kept, **({"GIT_INDEX_FILE": index} if index else {})},
        input=words,
        capture_output=True,
    )
    if done.returncode:
        raise UsageError(
            say("git {command} fails here; git status may say why", command=arguments[0])
        )
    return done.stdout
