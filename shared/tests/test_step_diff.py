"""make diff: files, definitions, text and transcript, in this order."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from shared.errors import UsageError
from shared.step_diff import print_diff
from shared.steps import find_step, step_before


def shown(capfd: pytest.CaptureFixture[str], old: str, new: str, **options: str | bool) -> str:
    print_diff(find_step(old), find_step(new), **options)  # type: ignore[arg-type]
    return capfd.readouterr().out


def test_four_parts_the_short_ones_first(capfd: pytest.CaptureFixture[str]) -> None:
    text = shown(capfd, "04", "05")
    titles = [line for line in text.splitlines() if line.startswith("== ")]
    assert titles == ["== files ==", "== definitions ==", "== text ==", "== transcript =="]
    parts = dict(zip(titles, re.split(r"^== \w+ ==\n", text, flags=re.MULTILINE)[1:], strict=True))
    assert "  same     fake_model.py\n" in parts["== files =="]
    assert "  gone     tools.py\n" in parts["== files =="]
    assert "+async def run_tool(\n" in parts["== text =="]
    assert "+再见。（本次对话共 18 条消息）\n" in parts["== transcript =="]


def test_what_a_reader_does_not_compare_stays_out(capfd: pytest.CaptureFixture[str]) -> None:
    text = shown(capfd, "04", "05")
    for aside in ("tests/", "README.md\n", "expected_context", "__pycache__"):
        assert aside not in text
    everything = shown(capfd, "04", "05", everything=True)
    assert "tests/test_validate.py" in everything
    assert "expected_context.txt" in everything
    assert "__pycache__" not in everything
    assert everything.count("+再见。（本次对话共 18 条消息）\n") == 1


def test_definitions_are_told_apart(capfd: pytest.CaptureFixture[str]) -> None:
    text = shown(capfd, "04", "05")
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
def test_one_file(capfd: pytest.CaptureFixture[str], file: str) -> None:
    text = shown(capfd, "04", "05", file=file)
    assert "== transcript ==" not in text
    assert "+++ b/step05_tools/agent_loop.py" in text
    assert "rules" not in text.split("== text ==")[0]


def test_an_unknown_file_lists_those_there_are() -> None:
    with pytest.raises(UsageError, match="no file 'nope' in these steps; there are: __init__.py, "):
        print_diff(find_step("04"), find_step("05"), file="nope")


def test_any_pair_and_the_step_before(capfd: pytest.CaptureFixture[str]) -> None:
    assert step_before(find_step("05")) == find_step("04")
    assert shown(capfd, "03", "05").startswith("step03_streaming -> step05_tools\n")
    with pytest.raises(UsageError, match="step03_streaming is the first step"):
        step_before(find_step("03"))


def test_a_step_does_not_differ_from_itself(capfd: pytest.CaptureFixture[str]) -> None:
    text = shown(capfd, "04", "04")
    assert "changed" not in text
    assert "@@" not in text


def test_git_is_not_needed(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    text = shown(capfd, "04", "05", file="agent_loop")
    assert "+++ step05_tools/agent_loop.py\n" in text
    assert "+            result = await execute_tool_call(tool_call, tools, tool_context)\n" in text


def test_a_setting_of_the_user_changes_nothing(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if shutil.which("git") is None:
        pytest.skip("there is no git here")
    plain = shown(capfd, "04", "05", file="agent_loop")
    config = tmp_path / "gitconfig"
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    for setting in (["diff.noprefix", "true"], ["color.ui", "always"], ["diff.external", "false"]):
        subprocess.run(["git", "config", "--file", str(config), *setting], check=True)
    assert shown(capfd, "04", "05", file="agent_loop") == plain
