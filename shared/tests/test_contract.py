"""What a step may change of the step before it, and what must stay the same to the letter.

The chapter says of its own diffs what they change; this table says it of ours. A file or definition
that is not named here is the same in both steps. Whoever mends a step mends the later ones too:
until then the test names what they lack.
"""

import ast
from itertools import pairwise
from pathlib import Path

from shared.definitions import definitions
from shared.step_diff import definition_changes, file_status, step_files
from shared.steps import find_steps

SAME, NEW, GONE, CHANGED = "same", "new", "gone", "changed"


def lines(count: int) -> str:
    """A definition may differ in so many lines."""
    return f"changed, {count} line{'s' if count > 1 else ''}"


# Code that went to another file and did not change.
MOVED = {(4, 5): {"tools.py": {"tools/calc.py": ["OPERATION", "OPERATORS", "calculate"]}}}

# Of a changed file: its definitions. The body of the loop is looked at below, line by line.
CONTRACT: dict[tuple[int, int], dict[str, str | dict[str, str]]] = {
    (3, 4): {
        "agent_loop.py": NEW,
        "demo.py": {
            "SCRIPT": lines(1),
            "run_demo": lines(1),
        },
        "fake_model.py": {
            "FakeModel": lines(15),
            "Rule": lines(2),
            "ScriptedCall": NEW,
            "match_key": lines(2),
        },
        "harness_types.py": {
            "AssistantMessage": lines(1),
            "ContentBlock": NEW,
            "HarnessEvent": NEW,
            "Message": lines(1),
            "StopReason": lines(1),
            "StreamEvent": lines(1),
            "ToolCallAnnounced": NEW,
            "ToolCallContent": NEW,
            "ToolCallFinished": NEW,
            "ToolCallStarted": NEW,
            "ToolResultMessage": NEW,
            "TurnEnd": NEW,
            "TurnStart": NEW,
            "message_text": lines(2),
            "tool_calls_of": NEW,
        },
        "main.py": {
            "chat": lines(4),
        },
        "render.py": {
            "compact_json": NEW,
            "render_events": NEW,
            "render_stream": GONE,
        },
        "rules.py": {
            "RULES": lines(14),
        },
        "tools.py": NEW,
    },
    (4, 5): {
        "agent_loop.py": {
            "execute_tool_call": lines(13),
            "run_agent_loop": lines(2),
            "run_tool": NEW,
        },
        "demo.py": {
            "SCRIPT": lines(7),
            "run_demo": lines(2),
        },
        "harness_types.py": {
            "Context": lines(1),
        },
        "main.py": {
            "chat": lines(7),
            "main": lines(1),
        },
        "note.txt": NEW,
        "rules.py": {
            "RULES": lines(30),
        },
        "tools.py": GONE,
        "tools/__init__.py": NEW,
        "tools/calc.py": NEW,
        "tools/inside.py": NEW,
        "tools/quoting.py": NEW,
        "tools/read_file.py": NEW,
        "tools/registry.py": NEW,
        "tools/text_file.py": NEW,
        "tools/tool_types.py": NEW,
        "tools/validate.py": NEW,
    },
}


def breaches(old: Path, new: Path, contract: dict[str, str | dict[str, str]]) -> list[str]:
    """Return a line for every file and definition that the contract does not allow for."""
    found = []
    for path in sorted(step_files(old, False) | step_files(new, False)):
        allowed = contract.get(path, SAME)
        status = file_status(old / path, new / path)
        if status != (allowed if isinstance(allowed, str) else CHANGED):
            found.append(f"{new.name}/{path} is {status} against {old.name}, not {allowed}")
        if not isinstance(allowed, str):
            found += definition_breaches(old / path, new / path, allowed)
    return found


def definition_breaches(old: Path, new: Path, allowed: dict[str, str]) -> list[str]:
    changes = definition_changes(old, new)
    changes.pop("*", None)
    where = f"{new.parent.name}/{new.name}"
    found = []
    for name in sorted(changes.keys() | allowed.keys()):
        change, may = changes.get(name, SAME), allowed.get(name, SAME)
        if may != change:
            found.append(f"{where}: {name} is {change} against {old.parent.name}, not {may}")
    before, after = source_texts(old), source_texts(new)
    for name in sorted(before.keys() & after.keys() - changes.keys()):
        if before[name] != after[name]:
            found.append(f"{where}: {name} has other comments or layout than {old.parent.name}")
    if header(old) != header(new):
        found.append(f"{where}: its docstring is another one than in {old.parent.name}")
    common = [name for name in definitions(old) if name in definitions(new)]
    if common != [name for name in definitions(new) if name in common]:
        found.append(f"{where}: its definitions have another order than in {old.parent.name}")
    return found


def header(path: Path) -> str | None:
    return ast.get_docstring(ast.parse(path.read_text("utf-8")))


def source_texts(path: Path) -> dict[str, str]:
    """Return the text of every function and class of a module, comments and all."""
    text = path.read_text("utf-8")
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    nodes = [node for node in ast.parse(text).body if isinstance(node, kinds)]
    return {n.name: "\n".join(text.splitlines()[n.lineno - 1 : n.end_lineno]) for n in nodes}


def test_each_step_changes_what_the_contract_allows_and_nothing_else() -> None:
    steps = find_steps()
    found = []
    for old, new in pairwise(steps):
        found += breaches(steps[old], steps[new], CONTRACT[old, new])
    assert not found, "\n".join(["a fix has not been carried on, or the contract is old:", *found])


def test_code_that_moved_did_not_change() -> None:
    steps = find_steps()
    for (old, new), files in MOVED.items():
        for source, targets in files.items():
            for target, names in targets.items():
                before = definitions(steps[old] / source)
                after = definitions(steps[new] / target)
                for name in names:
                    assert before[name] == after[name], f"{steps[new].name}/{target}: {name}"


def test_a_fix_that_was_not_carried_on_is_named(tmp_path: Path) -> None:
    old, new = tmp_path / "step01_a", tmp_path / "step02_b"
    for step in (old, new):
        step.mkdir()
        (step / "same.py").write_text("def f():\n    return 1\n")
        (step / "changed.py").write_text(f"{step.name} = 1\n\ndef g():\n    return 1  # why\n")
    contract: dict[str, str | dict[str, str]] = {"changed.py": {"step01_a": GONE, "step02_b": NEW}}
    assert breaches(old, new, contract) == []
    (old / "same.py").write_text("def f():\n    return 2\n")
    text = (old / "changed.py").read_text()
    (old / "changed.py").write_text(text.replace("# why", "# a better why"))
    assert breaches(old, new, contract) == [
        "step02_b/changed.py: g has other comments or layout than step01_a",
        "step02_b/same.py is changed against step01_a, not same",
    ]
    text = text.replace("return 1", "return 2")
    (old / "changed.py").write_text(f'"""New."""\n{text}')
    assert "step02_b/changed.py: its docstring is another one than in step01_a" in breaches(
        old, new, contract
    )
    assert "step02_b/changed.py: g is changed, 1 line against step01_a, not same" in breaches(
        old, new, contract
    )


def test_the_body_of_the_loop_gains_one_argument() -> None:
    steps = find_steps()
    (one, two) = (definitions(steps[n] / "agent_loop.py")["run_agent_loop"] for n in (4, 5))
    removed = [line.strip() for line in one.splitlines() if line not in two.splitlines()]
    added = [line.strip() for line in two.splitlines() if line not in one.splitlines()]
    assert removed[1:] == ["result = await execute_tool_call(tool_call, tools)"]
    assert added[1:] == ["result = await execute_tool_call(tool_call, tools, tool_context)"]
    signature = added[0].replace("ToolRegistry", "Mapping[str, ToolHandler]")
    assert signature.replace(" tool_context: ToolContext,", "") == removed[0]
