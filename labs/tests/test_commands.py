"""The commands: `python3 -m labs ...`, and make, which only passes on what it is given."""

import importlib
import inspect
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from labs.command_line import help_text
from labs.commands import COMMANDS, Argument, Command
from shared.steps import ROOT
from step08_providers.loopback import Loopback, played_by
from step08_providers.rules import RULES

needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make here")


def make(*arguments: str, cwd: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", *arguments, f"PYTHON={sys.executable}"],
        cwd=cwd,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
    )


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "labs", *arguments], cwd=ROOT, capture_output=True, encoding="utf-8"
    )


def passed_on(argument: Argument) -> str:
    """Return how a rule of make says an argument to the command."""
    # A sentence is not read by make, so the shell takes it from the environment.
    value = "$$INPUT" if argument.variable == "INPUT" else f"$({argument.variable})"
    flag = f"--{argument.variable.lower()}=" if argument.option else ""
    return f'{flag}"{value}"'


def test_make_has_a_rule_for_each_command_and_passes_on_all_that_it_takes() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    rules = dict(re.findall(r"^\.PHONY: (\w+)\n\1:\n(.*)\n", makefile, re.MULTILINE))
    assert rules.pop("help") == "\t$(LABS) help"
    assert rules == {
        command.name: "\t" + " ".join(["$(LABS)", command.name, *map(passed_on, command.arguments)])
        for command in COMMANDS
    }
    for command in COMMANDS:
        for argument in command.arguments:
            assert f"\n{argument.variable} =\n" in makefile


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_a_handler_takes_the_arguments_of_its_command(command: Command) -> None:
    module, _, function = command.handler.partition(":")
    handler = getattr(importlib.import_module(module), function)
    needed = [
        parameter.name
        for parameter in inspect.signature(handler).parameters.values()
        if parameter.default is parameter.empty
    ]
    assert needed == [argument.parameter for argument in command.arguments]


@needs_make
def test_make_alone_explains_the_commands() -> None:
    assert make().stdout == help_text() == run().stdout


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_help_fits_a_terminal(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_LANG", language)
    for line in help_text().splitlines():
        assert len(line) + len(re.findall("[^\x00-\xff]", line)) <= 79, line


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["demo", "--help"], ["help"]])
def test_help_can_be_asked_for_in_every_way(arguments: list[str]) -> None:
    assert run(*arguments).stdout == help_text()


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["foo"], "foo"),
        (["demo", "04", "05"], "05"),
        (["demo", "04", "--x"], "--x"),
        (["diff", "05", "--from"], "--from"),
        (["lint", "everything"], "everything"),
    ],
)
def test_a_word_that_fits_no_command_is_named_in_one_line(arguments: list[str], word: str) -> None:
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    line = f"'{word}' is not understood; python3 -m labs help shows all commands\n"
    assert done.stderr == line


def test_the_reader_is_answered_in_chinese_where_the_locale_is_chinese(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LAB_LANG", "zh")
    assert run("foo").stderr.startswith("看不懂 'foo'")


@pytest.mark.parametrize("nothing", ["--all=", "--all=0"])
def test_a_switch_that_is_empty_or_0_is_off(nothing: str) -> None:
    plain = run("diff", "05", "--file", "calc").stdout
    assert run("diff", "05", "--file", "calc", nothing).stdout == plain
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
def test_an_unknown_step_lists_those_there_are(command: str) -> None:
    done = run(command, "99")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("there is no step '99'; choose one: STEP=03 ")
    assert len(done.stderr.splitlines()) == 1


@needs_make
def test_make_works_in_a_folder_of_any_name(tmp_path: Path) -> None:
    house = tmp_path / "with a space, a colon: 中文"
    house.mkdir()
    shutil.copy(ROOT / "Makefile", house)
    for folder in ("labs", "shared", "step04_agent_loop"):
        ignore = shutil.ignore_patterns("__pycache__", "tests")
        shutil.copytree(ROOT / folder, house / folder, ignore=ignore)
    expected = (ROOT / "step04_agent_loop" / "expected_output.txt").read_text("utf-8")
    assert make("demo", "STEP=04", cwd=house, PYTHONSAFEPATH="1").stdout == expected
    assert make("trace", "STEP=04", "TEXT=1", cwd=house).stdout.startswith("== step04_agent_loop")


def test_a_demo_imports_nothing_but_what_a_demo_needs() -> None:
    alone, here = imported_by("step04_agent_loop.demo"), imported_by("labs")
    assert alone
    assert here - alone == {
        "labs",
        "labs.command_line",
        "labs.commands",
        "labs.language",
        "labs.playing",
        "shared",
        "shared.errors",
        "shared.language",
        "shared.steps",
    }


def imported_by(module: str) -> set[str]:
    """Return the modules that are loaded when a demo, started in this way, has been played."""
    code = (
        "import atexit, pathlib, runpy, sys\n"  # pathlib finds the step.
        "atexit.register(lambda: print(*sys.modules))\n"
        "sys.argv = ['labs', 'demo', '04'] if sys.argv[1] == 'labs' else ['demo']\n"
        f"runpy.run_module({module!r}, run_name='__main__')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, module], cwd=ROOT, capture_output=True, encoding="utf-8"
    )
    return set(done.stdout.splitlines()[-1].split())


def test_a_demo_and_a_chat_do_not_see_the_words_of_the_front_door() -> None:
    code = "import sys\nfrom labs.command_line import main\nmain(['demo', '04'])\nprint(sys.argv)\n"
    done = subprocess.run(
        [sys.executable, "-c", code, "a word"], cwd=ROOT, capture_output=True, encoding="utf-8"
    )
    assert done.stdout.endswith("\n['-c']\n")


def test_a_chat_answers_a_pipe_from_the_folder_it_is_started_in() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "labs", "chat", "05"],
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


def test_a_reader_who_stops_at_the_beginning_sees_no_traceback() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "labs", "diff", "05", "--all"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1)
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full disk to try")
def test_a_full_disk_is_told_in_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "labs", "help"],
            cwd=ROOT,
            stdout=full,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
    assert done.returncode == 2
    assert done.stderr.startswith("this does not work here: ")
    assert len(done.stderr.splitlines()) == 1


def test_a_folder_that_cannot_be_written_is_named_in_one_line(tmp_path: Path) -> None:
    code = (
        "import sys, tempfile\n"
        "tempfile._candidate_tempdir_list = lambda: [sys.argv[1]]\n"
        "from labs.command_line import main\n"
        "sys.exit(main(['trace', '04', '--break=no-append', '--text']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "gone")],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 2
    assert done.stderr.startswith("this does not work here: ")
    assert "No usable temporary directory found" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_an_old_python_is_told_so_in_one_line() -> None:
    old = "import sys; sys.version_info = (3, 9, 6); sys.argv = ['labs']\n"
    code = f"{old}import runpy; runpy.run_module('labs', run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("This needs Python 3.11 or newer, and ")
    assert len(done.stderr.splitlines()) == 1


def test_a_real_model_answers_in_a_chat(tmp_path: Path) -> None:
    with Loopback(played_by(RULES)) as server:
        words = ["chat", "08", "--provider=openai", "--model=m", f"--base_url={server.url}"]
        done = subprocess.run(
            [sys.executable, "-m", "labs", *words],
            input="你好\n",
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            encoding="utf-8",
        )
    assert "助手> 你好！" in done.stdout, done.stderr
    assert [request["model"] for request in server.requests] == ["m"]


def test_a_chat_with_a_real_model_is_not_recorded() -> None:
    done = run("chat", "08", "--provider", "openai", "--record")
    assert done.returncode == 2
    assert "cannot be recorded" in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_chat_that_needs_a_library_has_the_terminal_to_itself() -> None:
    bare = Path(sys.base_prefix, "bin", "python3")  # It has not what step09 needs.
    with subprocess.Popen(
        [bare, "-m", "labs", "chat", "09"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("你好\n")
        process.stdin.flush()
        for line in process.stdout:
            if "[第 1 轮结束]" in line:
                break
        # A second process would get each Ctrl-C as well, and end the chat with it.
        assert not Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
        process.stdin.close()
        assert "再见。" in process.stdout.read()
