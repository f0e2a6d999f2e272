"""The front door: every claim of the READMEs that a machine can check."""

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from labs.command_line import main
from labs.commands import COMMANDS
from shared import environment
from shared.definitions import definitions
from shared.steps import ROOT, find_step, find_steps

STEPS = list(find_steps().values())
README = ROOT / "README.md"
LABS = sorted(ROOT.glob("labs/**/*.md"))
BENCH = sorted(ROOT.glob("shared/bench/*.md"))
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("step*/README.md")), *BENCH, *LABS]
CHINESE = [page for page in PAGES if page.name.endswith(".zh-CN.md")]
TWINS = [page.with_name(page.name.replace(".zh-CN", "")) for page in CHINESE]
# These would run the tests inside of the tests (.ci/run calls them), or would change the progress
# or the step of whoever runs the tests (labs/tests looks at what they do).
NOT_HERE = {
    "test",
    "lint",
    "bench",
    "conformance",
    "snapshots",
    "screenshot",
    "site",
    "check",
    "hint",
    "solution",
    "reset",
}


def blocks(page: Path, language: str = r"\w*") -> list[str]:
    pattern = rf"^```{language}\n(.*?)^```$"
    return re.findall(pattern, page.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def commands(page: Path) -> Iterator[str]:
    for block in blocks(page, "sh"):
        yield from (line.split("  #")[0].strip() for line in block.splitlines())
    yield from re.findall(r"`(make [^`]+)`", page.read_text("utf-8"))


def make_commands(page: Path) -> Iterator[list[str]]:
    """Give the words of each command for make; where its output goes does not matter."""
    for command in commands(page):
        words = shlex.split(command.partition(" >")[0])
        if words[0] == "make":
            yield words


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_command_of_a_page_is_one_that_there_is(page: Path) -> None:
    asked = {words[1] for words in make_commands(page)}
    assert asked <= {command.name for command in COMMANDS}


NEEDS_A_STEP = {
    c.name for c in COMMANDS for a in c.arguments if a.variable == "STEP" and not a.help
}
# Each only once, whatever page it stands on. `make break` and the like only name a command.
TRIED = sorted(
    {
        shlex.join(words)
        for page in PAGES
        for words in make_commands(page)
        if len(words) > 2 or words[1] not in NEEDS_A_STEP
    }
)


# What these do with another step is a matter of the step, and not of make.
ONLY_READ = {"break", "diff", "lab", "rules"}
HERE = [c for c in TRIED if c.split()[1] not in NOT_HERE]
LIKE_THE_LAST = [
    c
    for c in HERE
    if c.split()[1] in ONLY_READ
    and re.fullmatch(rf"make \w+ STEP=(?!{STEPS[-1].name[4:6]})\d\d", c)
]


@pytest.mark.parametrize("command", LIKE_THE_LAST)
def test_a_command_works_with_every_step(command: str) -> None:
    _, name, step = command.split()
    assert main([name, step.removeprefix("STEP=")]) == 0


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make here")
@pytest.mark.parametrize("command", [c for c in HERE if c not in LIKE_THE_LAST])
def test_every_command_works(command: str) -> None:
    words = shlex.split(command)
    if words[1] == "trace" and "TEXT=1" not in words and not environment.is_current():
        pytest.skip("a page needs the environment, and these tests do not run in it")
    done = subprocess.run(
        [*words, f"PYTHON={sys.executable}"],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr.decode()


def test_the_transcript_is_a_real_one() -> None:
    (shown,) = blocks(README, "text")
    assert shown in (find_step("04") / "expected_output.txt").read_text("utf-8")


def test_ci_runs_the_commands_of_the_readme() -> None:
    ci = (ROOT / ".ci" / "run").read_text("utf-8")
    for command in ("make test", "make lint"):
        assert f"\n{command}\n" in ci
        assert command in list(commands(README))


def code_lines(step: Path) -> int:
    """Return the lines of a step's modules that are not blank."""
    modules = (p for p in step.rglob("*.py") if "tests" not in p.relative_to(step).parts)
    return sum(bool(line.strip()) for p in modules for line in p.read_text("utf-8").splitlines())


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
@pytest.mark.parametrize("page", [README, README.with_name("README.zh-CN.md")], ids=str)
def test_the_table_of_steps_has_a_row_for_each_that_counts_right(page: Path, step: Path) -> None:
    beginning, end = f"| [{step.name}]({step.name}/README.md) | ", f" | {code_lines(step)} |"
    lines = page.read_text("utf-8").splitlines()
    found = [line for line in lines if line.startswith(beginning) and line.endswith(end)]
    assert len(found) == 1, f"{page.name} needs the row: {beginning}chapter | idea{end}"


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text("utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.mark.parametrize("page", TWINS, ids=str)
def test_twins_have_the_same_headings_commands_code_and_rows(page: Path) -> None:
    twin = page.with_name(f"{page.stem}.zh-CN.md")
    one, two = page.read_text("utf-8"), twin.read_text("utf-8")
    for pattern in (r"^#+ ", r"^\|", r"^\d+\. ", r"^- "):
        assert re.findall(pattern, one, re.M) == re.findall(pattern, two, re.M), pattern
    assert blocks(page) == blocks(twin)
    assert sorted(commands(page)) == sorted(commands(twin))
    names = r"`([\w./-]+)`"
    assert set(re.findall(names, one)) == set(re.findall(names, two))


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_the_boxes_of_a_figure_name_what_there_is(step: Path) -> None:
    (figure,) = blocks(step / "README.md", "mermaid")
    names = set(re.findall(r"\b([a-z_]+)\(", figure))
    assert names, "a figure that names no function"
    text = "".join(p.read_text("utf-8") for p in step.rglob("*.py"))
    assert not {name for name in names if not re.search(rf"\b{name}\(", text)}


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_a_step_readme_names_every_module_that_is_new_or_changed(step: Path) -> None:
    text = (step / "README.md").read_text("utf-8")
    before = STEPS[max(STEPS.index(step) - 1, 0)]
    for path in step.rglob("*.py"):
        relative = path.relative_to(step)
        if "tests" not in relative.parts and not path.name.startswith("__"):
            old = before / relative
            same = before != step and old.exists() and old.read_bytes() == path.read_bytes()
            assert same or f"`{relative.as_posix()}`" in text, relative


def test_the_book_names_lead_to_ours() -> None:
    rows = re.findall(r"^\| `[\w./*-]+` \| (.+?) \|", README.read_text("utf-8"), re.MULTILINE)
    assert rows
    modules = [p for s in STEPS for p in (*s.glob("*.py"), *s.glob("tools/*.py"))]
    names = {name for path in modules for name in definitions(path)}
    for row in rows:
        for name in re.findall(r"`([\w./]+)`", row):
            assert name in names or any(list(step.glob(name)) for step in STEPS), name
