"""The laws of the house, read off the syntax trees of the steps."""

import ast
import re
import shutil
import sys
from pathlib import Path

import pytest

from shared.steps import ROOT, find_steps

STEPS = list(find_steps().values())
LOOPS = [step for step in STEPS if (step / "agent_loop.py").exists()]
# Where the loop has moved on, `run_agent_loop` is a door to it.
CHAPTER_LOOPS = [step for step in LOOPS if not (step / "run_loop.py").exists()]

# The functions that may be longer than ten lines, and why nobody should wonder.
# The only modules that need something installed. Nothing imports them until a user chooses them.
LIBRARIES = {
    "providers/openai_chat.py": "openai",
    "providers/anthropic_messages.py": "anthropic",
    "tools/arguments.py": "jsonschema_rs",
}
LONG_FUNCTIONS = {
    "run_agent_loop": 50,  # The chapter reads it from top to bottom.
    "render_stream": 27,  # One case an event.
    "render_events": 40,
    "__call__": 25,  # The stream of the fake model, event by event.
    "chat": 50,
    "execute_tool_call": 12,
    "run_tool": 23,  # The gates stand one behind the other.
    "validate": 17,  # The chapter writes it by hand, in about 30 lines.
    "json_type": 18,  # One case a type.
    "schema_faults": 14,  # One kind of fault after the other.
    "decoded_lines": 11,
    "shown_line": 12,
    "quiet_end": 11,
    "message_from_json": 19,  # One case a role.
    "entry_in": 12,
    "read_lines": 11,
    "add": 11,  # One kind of wrong parent after the other.
    "paired": 11,
    "append": 15,  # A disk may be full at any byte.
    "_written": 11,
    "resume_session": 13,
    "latest_session": 14,
    "result_of": 11,
    "interruptible": 11,
    "with_grace": 27,  # A tool may end in many ways.
    "whole_stream": 29,  # So may a stream.
    "before_tool_call": 12,
    "opinion": 13,  # A hook may answer anything.
    "review": 14,
    "wait": 12,
    "ctrl_c_cancels": 32,
    "talk": 16,
    "ask_user": 14,
    "run_demo": 11,
    "started": 19,  # What a process is started with, one a line.
    "chat_message": 11,
    "chat_stream": 23,  # The events of a model in the words of a service, one case an event.
    "message_stream": 23,
    "messages_of": 13,
    "assistant_message": 12,
    "service_model": 18,  # One thing that may be missing after the other.
    "chosen_model": 11,
    "_answer": 15,
    "failure": 11,
    "ended": 17,  # An answer may end in many ways.
    "take": 16,  # One case an event of the service.
    "_events": 26,  # What is sent, and what becomes of what comes.
    "activate": 20,  # An example is to be read in one piece.
    "parse_options": 22,
    "run_command": 17,
    "run_loop": 62,  # The trunk, on one screen.
    "ask_model": 26,
    "executed": 12,
    "prepared": 20,  # The gates stand one behind the other.
    "check_arguments": 19,
    "sentence": 13,  # One kind of error after the other.
    "coerced": 17,
    "converted": 24,  # One line of the table after the other.
    "number_in": 13,
    "listened_to": 14,
    "message_to_json": 11,
    "show": 31,  # One case an event.
    "_begin": 12,
    "saw": 18,
    "events": 28,  # What happens to the calls of an answer, in its order.
    "_run": 25,
    "_config_of_run": 11,
    "_tell": 11,
    "_end_in_order": 12,
    "__init__": 13,
    "whole_run": 20,
    "failed_end": 20,
    "ride": 14,
    "countdown_for": 17,
}


def modules(step: Path) -> list[Path]:
    return [p for p in sorted(step.rglob("*.py")) if "tests" not in p.relative_to(step).parts]


def imported(path: Path) -> set[str]:
    """Return the packages that a module imports by name; its own it imports relatively."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add((node.module or "").partition(".")[0])
    return found


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_a_step_imports_the_standard_library_and_itself(step: Path) -> None:
    for path in modules(step):
        library = {LIBRARIES.get(path.relative_to(step).as_posix(), "")}
        assert imported(path) - library <= sys.stdlib_module_names, path


@pytest.mark.parametrize(("floor", "below"), [("shared", {"shared"}), ("labs", {"labs", "shared"})])
def test_no_import_runs_up_to_a_higher_floor(floor: str, below: set[str]) -> None:
    house = {"labs", "shared", *(step.name for step in STEPS)}
    for path in modules(ROOT / floor):
        # The laboratory of a step may name its step. All else finds the steps by their number.
        own = {step.name for step in STEPS if step.name[:6] == path.parent.name}
        assert imported(path) & house <= below | (own if floor == "labs" else set()), path


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_no_module_hides_one_of_the_standard_library(step: Path) -> None:
    for path in step.glob("*.py"):
        assert path.stem not in sys.stdlib_module_names - {"__main__"}, path


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_a_step_does_not_know_its_own_number(step: Path) -> None:
    for path in [*modules(step), *step.glob("*.txt")]:
        text = path.read_text("utf-8")
        if path.name in ("demo.py", "expected_output.txt"):
            text = re.sub(r"Mini Agent Harness · step\d\d .*", "", text, count=1)
        assert not re.search(r"step ?\d", text, re.IGNORECASE), path


def other_numbers(step: Path) -> list[str]:
    """Return the lines that say the number of another step where that of this one has to stand."""
    places = {
        "README.md": r"^# step(\d\d)|step(\d\d)_|STEP=(\d\d)",
        "demo.py": r"· step(\d\d)",
        "expected_output.txt": r"· step(\d\d)",
        "tests/**/*.py": r"step_?(\d\d)|STEP=(\d\d)",
    }
    found = []
    for pattern, number in places.items():
        for path in sorted(step.glob(pattern)):
            for line in path.read_text("utf-8").splitlines():
                said = {n for match in re.finditer(number, line) for n in match.groups() if n}
                if said - {step.name[4:6]}:
                    found.append(f"{step.name}/{path.relative_to(step).as_posix()}: {line}")
    return found


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_where_a_step_says_its_number_it_is_that_of_its_folder(step: Path) -> None:
    found = other_numbers(step)
    assert not found, "\n".join([f"the number has to be {step.name[4:6]} in", *found])


def test_a_copy_in_which_nothing_was_renamed_is_noticed(tmp_path: Path) -> None:
    last = STEPS[-1]
    copy = shutil.copytree(last, tmp_path / "step99_copy")
    found = "\n".join(other_numbers(copy))
    for line in (f"README.md: # step{last.name[4:6]}", "README.md: make demo STEP=", "demo.py:  "):
        assert f"step99_copy/{line}" in found
    assert f"python3 -m {last.name}" in found
    (copy / "tests" / "test_demo.py").write_text(f"import {last.name}\n")
    assert f"tests/test_demo.py: import {last.name}" in "\n".join(other_numbers(copy))


def lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return how many lines the body of a function has, without its docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_nothing_grows_unseen(step: Path) -> None:
    grown = []
    for path in modules(step):
        text = path.read_text("utf-8")
        lines = sum(1 for line in text.splitlines() if line.strip())
        if lines > 160:
            grown.append(f"{path.relative_to(ROOT)} has {lines} lines, 160 is too many")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                most = LONG_FUNCTIONS.get(node.name, 10)
                if lines_of(node) > most:
                    grown.append(f"{path.name}: {node.name} has {lines_of(node)} lines, not {most}")
    assert not grown, "\n".join(grown)


def loop_of(step: Path) -> ast.AsyncFunctionDef:
    for node in ast.parse((step / "agent_loop.py").read_text("utf-8")).body:
        if isinstance(node, ast.AsyncFunctionDef) and node.name == "run_agent_loop":
            return node
    raise AssertionError(f"{step.name} has no run_agent_loop")


@pytest.mark.parametrize("step", CHAPTER_LOOPS, ids=lambda step: step.name)
def test_the_loop_has_three_returns_and_a_closing_error(step: Path) -> None:
    loop = loop_of(step)
    assert sum(isinstance(node, ast.Return) for node in ast.walk(loop)) == 3
    last = loop.body[-1]
    assert ast.unparse(last).startswith("yield StreamError(")


@pytest.mark.parametrize("step", LOOPS, ids=lambda step: step.name)
def test_the_loop_prints_nothing(step: Path) -> None:
    assert "print" not in (step / "agent_loop.py").read_text("utf-8").replace("prints nothing", "")
