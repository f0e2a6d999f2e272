"""The comparison with other agents: what can be said of it without them, without a network."""

import ast
import itertools
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from shared.bench import comparison, plot, report
from shared.bench.cancel import milliseconds_to_the_prompt
from shared.bench.comparison import Subject, error_in, lock_files, name_of, row_of, size_of_packages
from shared.bench.record import MEASURED, Comparison, Row, read, write
from shared.bench.turns import least_turns_of, turns_of
from shared.peers import measure
from shared.steps import ROOT, find_steps

PEERS = {
    "langgraph",
    "mini-swe-agent",
    "openai-agents",
    "pi",
    "pydantic-ai",
    "smolagents",
    "strands-agents",
}
LOOPS = [step for step in find_steps().values() if (step / "agent_loop.py").exists()]
PAGES = sorted(MEASURED.parent.glob("README*.md"))
MACHINE = {"processor": "p", "system": "s", "python": "3", "node": "", "date": "d"}


def row(name: str, *costs: float, ended: str = "", kind: str = "peer") -> Row:
    return Row(name, kind, "1.0", dict(zip((10, 100), costs, strict=False)), ended, 99.6, 50.0, 12)


def compared(*rows: Row) -> Comparison:
    return Comparison(MACHINE, (10, 100), 60, rows)


def test_every_agent_that_is_named_is_locked() -> None:
    assert {name_of(lock) for lock in lock_files()} == PEERS


@pytest.mark.parametrize("lock", lock_files(), ids=name_of)
def test_a_lock_names_one_version_of_each_package_and_has_a_driver(lock: Path) -> None:
    if lock.suffix == ".txt":
        assert ast.parse(lock.with_suffix(".py").read_text("utf-8"))
        lines = lock.read_text("utf-8").splitlines()
        assert [x for x in lines if not re.fullmatch(r"[\w.-]+==[\w.]+", x)] == []
        return
    assert (lock.parent / "driver.mjs").exists()
    wanted = json.loads((lock.parent / "package.json").read_text("utf-8"))["dependencies"]
    packages = json.loads(lock.read_text("utf-8"))["packages"]
    assert packages[""]["dependencies"] == wanted
    assert {n: packages[f"node_modules/{n}"]["version"] for n in wanted} == wanted
    assert all("integrity" in package for name, package in packages.items() if name)


def test_a_driver_tells_of_each_size_how_long_it_took(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = measure.Script()

    def converse() -> None:
        while script.next_call():
            script.run_tool()

    monkeypatch.setattr(sys, "argv", ["driver", "2", "5"])
    measure.measure("pytest", script, converse)
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["turns"] for line in found] == [2, 5]
    for line in found:
        assert set(line) == {"version", "turns", "seconds", "peak_mb"}
        assert line["version"] == pytest.__version__
        assert line["seconds"] > 0
        assert line["peak_mb"] > 1


@pytest.mark.parametrize("tools", [0, 2])
def test_a_conversation_that_did_not_do_the_work_counts_for_nothing(
    tools: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = measure.Script()

    def converse() -> None:
        while script.next_call():
            for _ in range(tools):
                script.run_tool()

    monkeypatch.setattr(sys, "argv", ["driver", "2"])
    with pytest.raises(AssertionError, match="asked 2 times"):
        measure.measure("pytest", script, converse)


@pytest.mark.parametrize("loop", ["step", "minimal"])
def test_our_own_loops_are_driven_like_the_others(loop: str) -> None:
    command = [sys.executable, "-m", "shared.peers.our_steps", loop, LOOPS[0].name[4:6], "3"]
    line = json.loads(subprocess.check_output(command, cwd=ROOT))
    assert (line["turns"], line["version"]) == (3, "")


@pytest.mark.parametrize("step", LOOPS, ids=lambda step: step.name)
def test_every_step_can_be_measured(step: Path) -> None:
    assert turns_of(step).time_of_one(3) > 0
    assert least_turns_of(step).time_of_one(3) > 0
    if (step / "cancel.py").exists():
        assert milliseconds_to_the_prompt(step) > 0


DRIVER = """
import json, sys
for turns in map(int, sys.argv[1:]):
    if turns > 10: raise RecursionError("too deep")
    print(json.dumps({"version": "1.2", "turns": turns, "seconds": 0.01, "peak_mb": 7.5}))
"""


def test_the_installed_size_is_that_of_the_packages_alone(tmp_path: Path) -> None:
    packages = tmp_path / "lib" / "python3.11" / "site-packages"
    for name in ("pip/big.py", "some/code.py", "some/__pycache__/code.pyc", "one.py"):
        (packages / name).parent.mkdir(parents=True, exist_ok=True)
        (packages / name).write_text("x" * 1000)
    assert size_of_packages(tmp_path) == pytest.approx(0.002)


def test_who_fails_at_a_size_keeps_what_was_measured_before() -> None:
    found = row_of(Subject("p", "peer", (sys.executable, "-c", DRIVER), 12.5))
    assert found.microseconds == {10: pytest.approx(1000)}
    assert (found.ended, found.version, found.peak_mb) == ("RecursionError", "1.2", 7.5)
    assert found.size_mb == 12.5
    assert found.cold_ms > 0


@pytest.mark.parametrize(("seconds", "tried"), [(1, ["10", "100"]), (7, ["10"])])
def test_who_takes_too_long_at_a_size_or_is_sure_to_is_asked_for_no_more(
    seconds: int, tried: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def run(subject: Subject, *sizes: str) -> "subprocess.CompletedProcess[str]":
        asked.extend(sizes)
        if sizes == ("100",):
            raise subprocess.TimeoutExpired(subject.name, 60)
        line = json.dumps({"version": "", "turns": 10, "seconds": seconds, "peak_mb": 1})
        return subprocess.CompletedProcess(subject.name, 0, line, "")

    monkeypatch.setattr(comparison, "run_driver", run)
    found = row_of(Subject("p", "peer", (), 0.0))
    assert (asked, found.ended) == (tried, "> 60 s")


@pytest.mark.parametrize(
    ("said", "name"),
    [
        (
            "Traceback ...\n  File x\nRecursionError: deep\n\na.b.LoopException: deep",
            "RecursionError",
        ),
        ("made.of.parts.LimitError: 20", "LimitError"),
        ("Killed", "?"),
    ],
)
def test_what_ended_a_driver_is_named(said: str, name: str) -> None:
    assert error_in(said) == name


def test_an_agent_that_cannot_be_installed_is_left_out_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lock = tmp_path / "some_agent.txt"
    lock.write_text("some-agent==1.0\n")
    monkeypatch.setattr(comparison, "ENVIRONMENTS", tmp_path / ".venv.peers")
    monkeypatch.setattr(comparison, "install_python", lambda lock, folder: "no network")
    assert comparison.installed(lock) is None
    assert capsys.readouterr().out == "some-agent is left out: no network\n"


def test_a_comparison_is_read_as_it_was_written(tmp_path: Path) -> None:
    written = compared(row("a", 12.0, 15.0), row("b", 90.0, ended="> 60 s"))
    write(written, tmp_path / "measured.json")
    assert read(tmp_path / "measured.json") == written


def test_the_table_says_what_grew_and_what_is_missing() -> None:
    rows = (row("a", 12.0, 18.0), row("b", 90.0, ended="> 60 s"), row("c", ended="?"))
    found = [report.turn_cells(r, compared(*rows)) for r in rows]
    assert found == [
        ["a", "1.0", "12", "18", "1.5"],
        ["b", "1.0", "90", "> 60 s", "—"],
        ["c", "1.0", "?", "?", "—"],
    ]
    lines = report.terminal_table(compared(*rows)).splitlines()
    assert lines[2].split() == ["a", "1.0", "12", "18", "1.5", "100", "50", "12.0"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_figures_of_a_page_are_those_that_were_measured(page: Path) -> None:
    text = page.read_text("utf-8")
    for name, rows in report.tables(read(MEASURED)).items():
        assert f"<!-- measured: {name} -->" in text
        assert report.with_rows(text, name, rows) == text


def test_what_was_measured_has_everybody_and_is_what_the_picture_shows() -> None:
    found = read(MEASURED)
    assert {row.name for row in found.rows if row.kind == "peer"} == PEERS
    assert (MEASURED.with_name("turns.svg")).read_text("utf-8") == plot.plot(found)


def test_the_picture_names_everybody_and_no_two_names_touch() -> None:
    rows = [row(f"<{n}>", 10.0 + n / 100, 20.0 + n / 100) for n in range(12)]
    picture = ET.fromstring(plot.plot(compared(*rows, row("z", ended="?"))))  # noqa: S314
    texts = picture.iter("{http://www.w3.org/2000/svg}text")
    names = {t.text: float(t.attrib["y"]) for t in texts if t.text and t.text.startswith("<")}
    assert set(names) == {row.name for row in rows}
    heights = sorted(names.values())
    assert min(b - a for a, b in itertools.pairwise(heights)) >= plot.NAME_HEIGHT - 0.2
    assert heights[0] > plot.TOP
    assert heights[-1] < plot.BOTTOM


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(weight * p for weight, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("background", plot.BACKGROUNDS.values())
@pytest.mark.parametrize("colour", [c for colours in plot.COLOURS.values() for c in colours])
def test_every_line_can_be_seen_in_light_and_in_dark(colour: str, background: str) -> None:
    one, two = sorted([luminance(colour), luminance(background)])
    assert (two + 0.05) / (one + 0.05) >= 3
