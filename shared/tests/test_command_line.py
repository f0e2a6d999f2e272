"""The commands: `python -m shared ...`, and make, which only passes on what it is given."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from shared import command_line
from shared.steps import ROOT, find_steps

needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make here")


def make(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", *arguments, f"PYTHON={sys.executable}"], cwd=ROOT, capture_output=True, text=True
    )


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "shared", *arguments], cwd=ROOT, capture_output=True, text=True
    )


def test_every_target_of_make_is_one_line_and_explained() -> None:
    lines = (ROOT / "Makefile").read_text("utf-8").splitlines()
    targets = [line.split(":")[0] for line in lines if re.match(r"[a-z]+: ;", line)]
    phony = next(line for line in lines if line.startswith(".PHONY:")).split()[1:]
    assert targets == phony
    for target in targets[1:]:
        assert f"  make {target}" in command_line.HELP


@needs_make
def test_make_alone_explains_the_commands() -> None:
    assert make().stdout == command_line.HELP == run().stdout


def test_the_help_fits_a_terminal() -> None:
    for line in command_line.HELP.splitlines():
        assert len(line) + len(re.findall("[一-龥]", line)) <= 80, line


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["demo", "--help"]])
def test_help_can_be_asked_for_in_every_way(arguments: list[str]) -> None:
    assert run(*arguments).stdout == command_line.HELP


@pytest.mark.parametrize("arguments", [["foo"], ["demo", "04", "05"], ["demo", "04", "--x"]])
def test_words_that_fit_no_command_are_told_in_a_line(arguments: list[str]) -> None:
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert "help tells what there is" in done.stderr


@pytest.mark.parametrize("nothing", ["", "0"])
def test_a_switch_that_is_empty_or_0_is_off(nothing: str) -> None:
    plain = run("diff", "05", "--file", "calc").stdout
    assert run("diff", "05", "--file", "calc", "--all", nothing).stdout == plain
    assert "test_calc.py" not in plain
    assert "test_calc.py" in run("diff", "05", "--file", "test_calc", "--all").stdout


@needs_make
@pytest.mark.parametrize("number", ["4", "04"])
def test_a_step_is_named_by_its_number(number: str) -> None:
    assert make("demo", f"STEP={number}").stdout == run("demo", "04").stdout


@needs_make
@pytest.mark.parametrize("command", ["demo", "chat", "diff", "snapshots"])
def test_a_missing_step_lists_those_there_are(command: str) -> None:
    done = make(command)
    assert done.returncode == 2
    assert done.stderr.startswith("no step was named; choose one: STEP=03 (step03_streaming), ")


@pytest.mark.parametrize("command", ["demo", "chat", "diff", "test", "snapshots"])
@pytest.mark.parametrize("number", ["99", "x", "4.0", "²"])
def test_an_unknown_step_lists_those_there_are(command: str, number: str) -> None:
    done = run(command, number)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"there is no step '{number}'; choose one: STEP=03 ")
    assert len(done.stderr.splitlines()) == 1


def test_a_chat_answers_a_pipe_from_the_folder_it_is_started_in() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "shared", "chat", "05"],
        input="读一下 README.md\n",
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    readme = (ROOT / "README.md").read_text("utf-8").splitlines()
    beginning = "\n".join(readme[:40])
    assert "可用工具：calc, read_file\n" in done.stdout
    assert f"[工具结果] read_file → {beginning}\n" in done.stdout
    assert f"\n…（共 {len(readme)} 行，只显示前 40 行）\n" in done.stdout


def test_who_reads_only_the_beginning_sees_no_traceback() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "shared", "diff", "05", "--all"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1)
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()


def test_an_old_python_is_told_so_in_one_line() -> None:
    old = "import sys; sys.version_info = (3, 9, 6); sys.argv = ['shared']\n"
    code = f"{old}import runpy; runpy.run_module('shared', run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("This needs Python 3.11 or newer, and ")
    assert len(done.stderr.splitlines()) == 1


def test_steps_are_found_by_their_folders(tmp_path: Path) -> None:
    for name in ("step12_more", "step3_bad_name", "step11_left_over"):
        (tmp_path / name).mkdir()
    (tmp_path / "step12_more" / "demo.py").touch()
    assert find_steps(tmp_path) == {12: tmp_path / "step12_more"}
