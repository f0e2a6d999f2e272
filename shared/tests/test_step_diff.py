"""make diff: files, definitions, text and transcript, in this order."""

import re
import shutil
from pathlib import Path

import pytest

from shared.errors import UsageError
from shared.step_diff import coloured, diff_text
from shared.steps import find_step, find_steps, step_before


def shown(old: str, new: str, *, file: str = "", everything: bool = False) -> str:
    return diff_text(find_step(old), find_step(new), file=file, everything=everything)


def test_four_parts_the_short_ones_first() -> None:
    text = shown("04", "05")
    titles = [line for line in text.splitlines() if line.startswith("== ")]
    assert titles == ["== files ==", "== definitions ==", "== text ==", "== transcript =="]
    parts = dict(zip(titles, re.split(r"^== \w+ ==\n", text, flags=re.MULTILINE)[1:], strict=True))
    assert "  same     fake_model.py\n" in parts["== files =="]
    assert "  gone     tools.py\n" in parts["== files =="]
    assert "+async def run_tool(\n" in parts["== text =="]
    assert "+再见。（本次对话共 18 条消息）\n" in parts["== transcript =="]


def test_what_a_reader_does_not_compare_stays_out() -> None:
    text = shown("04", "05")
    for aside in ("tests/", "README.md\n", "expected_context", "__pycache__"):
        assert aside not in text
    everything = shown("04", "05", everything=True)
    assert "tests/test_validate.py" in everything
    assert "expected_context.txt" in everything
    assert "__pycache__" not in everything
    assert everything.count("+再见。（本次对话共 18 条消息）\n") == 1


def test_definitions_are_told_apart() -> None:
    text = shown("04", "05")
    for line in (
        "agent_loop.run_agent_loop: changed, 2 lines",
        "agent_loop.run_tool: new",
        "agent_loop.*: the rest is the same",
        "fake_model.*: same",
        "tools.ToolHandler: gone",
        "tools.validate.validate: new",
    ):
        assert f"  {line}\n" in text


@pytest.mark.parametrize("file", ["agent_loop", "agent_loop.py", "step05_tools/agent_loop.py"])
def test_one_file(file: str) -> None:
    text = shown("04", "05", file=file)
    assert "== transcript ==" not in text
    assert "+++ b/step05_tools/agent_loop.py" in text
    assert "rules" not in text.split("== text ==")[0]


def test_an_unknown_file_lists_those_there_are() -> None:
    with pytest.raises(
        UsageError, match="no file 'nope' in these steps; choose one: __init__.py, "
    ):
        shown("04", "05", file="nope")


def test_any_pair_and_the_step_before() -> None:
    assert step_before(find_step("05")) == find_step("04")
    assert shown("03", "05").startswith("step03_streaming -> step05_tools\n")
    with pytest.raises(UsageError, match="step03_streaming is the first step"):
        step_before(find_step("03"))


def test_a_step_does_not_differ_from_itself() -> None:
    text = shown("04", "04")
    assert "changed" not in text
    assert "@@" not in text


@pytest.fixture
def two_steps(tmp_path: Path) -> tuple[Path, Path]:
    """Two copies of the last step; what is done to the second one is the difference."""
    last = list(find_steps().values())[-1]
    ignore = shutil.ignore_patterns("__pycache__")
    old, new = (tmp_path / f"{last.name}_{n}" for n in (1, 2))
    return shutil.copytree(last, old, ignore=ignore), shutil.copytree(last, new, ignore=ignore)


@pytest.mark.parametrize(
    ("added", "line"),
    [
        (b"def (\n", "agent_loop: not Python, see line "),
        (b"<<<<<<< HEAD\n", "agent_loop: not Python, see line "),
        (b"\0\n", "agent_loop: not Python"),
        (b"# caf\xe9\n", "agent_loop: not Python, since it is not UTF-8"),
    ],
)
def test_a_file_that_is_not_python_has_one_line_and_the_others_are_compared(
    two_steps: tuple[Path, Path], added: bytes, line: str
) -> None:
    old, new = two_steps
    with (new / "agent_loop.py").open("ab") as file:
        file.write(added)
    (new / "rules.py").write_text("RULES = []\n")
    text = diff_text(old, new)
    assert f"\n  {line}" in text
    assert "\n  rules.RULES: changed, " in text
    assert "\n+RULES = []\n" in text


def test_a_file_that_is_not_utf8_is_named_and_its_text_is_not_compared(
    two_steps: tuple[Path, Path],
) -> None:
    old, new = two_steps
    (new / "picture.png").write_bytes(b"\x89PNG")
    assert "\npicture.png is not UTF-8, and so its text is not compared\n" in diff_text(old, new)


def test_line_ends_and_other_controls_are_shown_and_do_not_act(
    two_steps: tuple[Path, Path],
) -> None:
    old, new = two_steps
    (old / "note.txt").write_bytes(b"one\ntwo\n")
    (new / "note.txt").write_bytes(b"one\r\n\x1b[2Jtwo")
    text = diff_text(old, new, file="note.txt")
    assert text.endswith("-one\n-two\n+one\\r\n+\\x1b[2Jtwo\n\\ No newline at end of file\n")


def test_colours_change_nothing_but_the_colour() -> None:
    text = shown("04", "05", file="agent_loop")
    assert "\x1b[32m+async def run_tool(\x1b[m\n" in coloured(text)
    assert re.sub(r"\x1b\[\d*m", "", coloured(text)) == text
