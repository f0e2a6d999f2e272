"""Neighbours differ in what contract.py says, and are the same to the letter in all else.

Whoever fixes a step fixes the later ones too: until then these tests name what they lack.
"""

import ast
from itertools import pairwise
from pathlib import Path

import pytest

from shared.definitions import definitions
from shared.step_diff import file_status, step_files
from shared.steps import find_steps

from .contract import CHANGED, CONTRACT, GONE, MOVED, NEW, ORDER, REST, SAME, Row


def differences(old: Path, new: Path) -> Row:
    """Return what differs between two steps, as a row of the contract that allows just that."""
    found: Row = {}
    for path in sorted(step_files(old, True) | step_files(new, True)):
        status = file_status(old / path, new / path)
        if path == "README.md" or Path(path).match("expected_*.txt"):
            continue  # Every step has its own.
        if status == CHANGED and path.endswith(".py"):
            found[path] = module_differences(old / path, new / path)
        elif status != SAME:
            found[path] = status
    return found


def module_differences(old: Path, new: Path) -> dict[str, str]:
    before, after = parts(old), parts(new)
    found = {}
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            found[name] = NEW if name not in before else GONE if name not in after else CHANGED
    if [name for name in before if name in after] != [name for name in after if name in before]:
        found[ORDER] = CHANGED
    return found


def parts(path: Path) -> dict[str, str]:
    """Return the text of every definition of a module by name, with the comments above it."""
    text = path.read_text("utf-8")
    lines = text.splitlines()
    found: dict[str, str] = {}
    start = 0
    for node in ast.parse(text).body:
        name = name_of(node)
        if name is not None:
            part = "\n".join(lines[start : node.end_lineno]).strip()
            found[name] = found.get(name, "") + part
        start = node.end_lineno or 0
    return found


def name_of(node: ast.stmt) -> str | None:
    """Return the name under which a statement stands in a row; None for an import."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return name
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name
        case ast.Expr(value=ast.Constant()):
            return "__doc__"
        case ast.Import() | ast.ImportFrom() | ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return None
    return REST


def breaches(old: Path, new: Path, row: Row) -> list[str]:
    """Return a line for every file and definition that differs and may not, or may and does not."""
    found = []
    differs = differences(old, new)
    for path in sorted(differs.keys() | row.keys()):
        is_so, may = differs.get(path, SAME), row.get(path, SAME)
        if isinstance(is_so, dict) and isinstance(may, dict):
            for name in sorted(is_so.keys() | may.keys()):
                if is_so.get(name, SAME) != may.get(name, SAME):
                    found.append(f"{path}: {name} is {is_so.get(name, SAME)}")
        elif is_so != may:
            what = is_so if isinstance(is_so, str) else ", ".join([CHANGED, *is_so])
            found.append(f"{path} is {what}")
    return found


def row_text(numbers: tuple[int, int], row: Row) -> str:
    """Return a row as it is written in the table."""
    lines = [f"    {numbers}: {{"]
    for path, may in row.items():
        if isinstance(may, str):
            lines.append(f'        "{path}": {may.upper()},')
        else:
            lines.append(f'        "{path}": {{')
            lines += [f'            "{name}": {kind.upper()},' for name, kind in may.items()]
            lines.append("        },")
    return "\n".join([*lines, "    },"])


def complaint(old: Path, new: Path, row: Row | None) -> str:
    """Return what is wrong between two neighbours and what to do, or nothing."""
    numbers = int(old.name[4:6]), int(new.name[4:6])
    if row is None:
        needed = row_text(numbers, differences(old, new))
        return (
            f"shared/tests/contract.py has no row {numbers}; add, if all this is meant:\n{needed}"
        )
    found = breaches(old, new, row)
    if not found:
        return ""
    return "\n".join(
        [
            f"{new.name} and {old.name}: make the same change in both or, if they are to differ,",
            "say so in shared/tests/contract.py:",
            *(f"    {line}" for line in found),
            "The row for what stands there now:",
            row_text(numbers, differences(old, new)),
        ]
    )


def test_each_step_changes_what_the_contract_allows_and_nothing_else() -> None:
    steps = find_steps()
    complaints = [
        complaint(steps[old], steps[new], CONTRACT.get((old, new))) for old, new in pairwise(steps)
    ]
    assert not any(complaints), "\n".join(filter(None, complaints))


def test_code_that_moved_did_not_change() -> None:
    steps = find_steps()
    for (old, new), files in MOVED.items():
        for source, targets in files.items():
            for target, names in targets.items():
                before = definitions(steps[old] / source)
                after = definitions(steps[new] / target)
                for name in names:
                    assert before[name] == after[name], f"{steps[new].name}/{target}: {name}"


FIRST = """\
'What it is for.'

import ast


def f():
    return 1


# Why.
X = 1
"""


@pytest.mark.parametrize(
    ("before", "after", "row"),
    [
        ("", "", None),
        ("import ast", "import sys", {}),
        ("return 1", "return 2", {"f": CHANGED}),
        ("return 1", "return 1  # One.", {"f": CHANGED}),
        ("    return", "    'Say one.'\n    return", {"f": CHANGED}),
        ("# Why.", "# A better why.", {"X": CHANGED}),
        ("What it", "Who it", {"__doc__": CHANGED}),
        ("X = 1", "Y = 1", {"X": GONE, "Y": NEW}),
        ("X = 1\n", "X = 1\nprint(X)\n", {REST: NEW}),
        (
            "def f():\n    return 1\n\n\n# Why.\nX = 1",
            "# Why.\nX = 1\n\n\ndef f():\n    return 1",
            {ORDER: CHANGED},
        ),
    ],
)
def test_a_difference_of_a_module_is_right_only_if_its_row_says_so(
    before: str, after: str, row: dict[str, str] | None, tmp_path: Path
) -> None:
    old, new = tmp_path / "step01_a", tmp_path / "step02_b"
    for step, text in ((old, FIRST), (new, FIRST.replace(before, after))):
        (step / "tests").mkdir(parents=True)
        (step / "README.md").write_text(f"# {step.name}")
        (step / "tests" / "test_module.py").write_text(text)
    path = "tests/test_module.py"
    assert breaches(old, new, {} if row is None else {path: row}) == []
    assert breaches(old, new, {path: {"g": NEW}}) != []
    if row is not None:
        assert breaches(old, new, {}) == [", ".join([f"{path} is changed", *row])]
        assert breaches(old, new, {path: {}}) == [f"{path}: {n} is {row[n]}" for n in row]


def test_a_step_that_has_no_row_is_told_which_one_to_add(tmp_path: Path) -> None:
    old, new = tmp_path / "step01_a", tmp_path / "step02_b"
    for step, text in ((old, "X = 1\n"), (new, "X = 2\n")):
        step.mkdir()
        (step / "module.py").write_text(text)
    (new / "other.py").touch()
    needed = """\
    (1, 2): {
        "module.py": {
            "X": CHANGED,
        },
        "other.py": NEW,
    },"""
    assert complaint(old, new, None).endswith(f"meant:\n{needed}")
    assert complaint(old, new, {}).endswith(needed)
    assert complaint(old, new, {"module.py": {"X": CHANGED}, "other.py": NEW}) == ""


def test_the_body_of_the_loop_gains_one_argument() -> None:
    steps = find_steps()
    (one, two) = (definitions(steps[n] / "agent_loop.py")["run_agent_loop"] for n in (4, 5))
    removed = [line.strip() for line in one.splitlines() if line not in two.splitlines()]
    added = [line.strip() for line in two.splitlines() if line not in one.splitlines()]
    assert removed[1:] == ["result = await execute_tool_call(tool_call, tools)"]
    assert added[1:] == ["result = await execute_tool_call(tool_call, tools, tool_context)"]
    signature = added[0].replace("ToolRegistry", "Mapping[str, ToolHandler]")
    assert signature.replace(" tool_context: ToolContext,", "") == removed[0]
