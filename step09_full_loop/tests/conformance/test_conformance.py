"""Our loop tells what the real Pi tells; where Pi is not the goal, it keeps a rule instead."""

import asyncio
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from .compare import recording, same
from .lines import Line
from .scenario import Played, read_scenario

HERE = Path(__file__).parent
SCENARIOS = sorted((HERE / "scenarios").glob("*.json"))
# The table in the README of this folder: what Pi does there, what ours does, and why.
NOT_THE_GOAL = set(re.findall(r"^\| (\d+) \|", (HERE / "README.md").read_text("utf-8"), re.M))
EQUAL = [path for path in SCENARIOS if path.name[:2] not in NOT_THE_GOAL]
RULED = [path for path in SCENARIOS if path.name[:2] in NOT_THE_GOAL]


def played(path: Path) -> list[Line]:
    return asyncio.run(Played(read_scenario(path)).play())


def recorded(path: Path) -> list[Line]:
    return recording(path.with_suffix(".out.jsonl"))


def test_most_scenarios_are_to_be_equal() -> None:
    assert (len(EQUAL), len(RULED)) == (49, 17)


@pytest.mark.parametrize("path", EQUAL, ids=lambda path: path.stem)
def test_our_loop_tells_what_pi_tells(path: Path) -> None:
    wanted, got = recorded(path), played(path)
    assert same(wanted, got), json.dumps(got, ensure_ascii=False, indent=1)


@pytest.mark.parametrize("path", RULED, ids=lambda path: path.stem)
def test_where_pi_is_not_the_goal_ours_does_something_else(path: Path) -> None:
    assert not same(recorded(path), played(path))


@pytest.mark.parametrize("path", RULED, ids=lambda path: path.stem)
def test_every_start_has_its_end_and_the_run_ends(path: Path) -> None:
    lines = played(path)
    told = Counter(line["type"] for line in lines)
    for kind in ("agent", "turn", "message", "tool_execution"):
        assert told[f"{kind}_start"] == told[f"{kind}_end"], kind
    end = lines[-1]
    assert end["type"] == "__end"
    assert not {"hung", "threw"} & end.keys()


@pytest.mark.parametrize("path", RULED, ids=lambda path: path.stem)
def test_every_call_is_answered_once_and_in_the_order_of_the_calls(path: Path) -> None:
    ends = [line for line in played(path) if line["type"] == "message_end"]
    called = [i for line in ends for i in re.findall(r"\[call (\S+) ", line["text"] or "")]
    assert [line["toolCallId"] for line in ends if line["role"] == "toolResult"] == called


@pytest.mark.parametrize(
    "path",
    [path for path in RULED if '"abort"' in path.read_text("utf-8")],
    ids=lambda path: path.stem,
)
def test_after_a_cancel_there_is_no_request(path: Path) -> None:
    lines = played(path)
    place = next(n for n, line in enumerate(lines) if line["type"] == "__abort")
    asked = [line for line in lines[place:] if line.get("stopReason") == "pending"]
    assert asked == []
    assert len(lines[-1]["llmCalls"]) == 1


@pytest.mark.parametrize(
    "name",
    [
        *("70_stream_throws_loop", "71_stream_throws_emit", "76_convert_throws_emit"),
        *("77_stop_hook_throws", "78_prepare_next_throws", "80_subscriber_throws_on_tool_end"),
        *("81_emit_throws", "83_subscriber_throws_on_update"),
    ],
)
def test_what_raises_ends_the_run_with_a_message_that_says_so(name: str) -> None:
    lines = [line for line in played(HERE / "scenarios" / f"{name}.json") if line["type"][0] != "_"]
    message, turn, run = lines[-3:]
    assert (message["type"], message["stopReason"]) == ("message_end", "error")
    assert message["errorMessage"]
    assert (turn["type"], run["type"]) == ("turn_end", "agent_end")


def test_a_result_that_is_there_when_somebody_cancels_is_kept() -> None:
    lines = played(HERE / "scenarios" / "66_abort_ignored_by_tool.json")
    results = [line for line in lines if line.get("role") == "toolResult"]
    assert [line["text"] for line in results] == ["slept 40", "slept 40"]


def test_a_tool_that_returns_nothing_has_failed_and_the_run_goes_on() -> None:
    lines = played(HERE / "scenarios" / "90_tool_returns_undefined.json")
    assert lines[-1]["roles"] == ["user", "assistant", "toolResult", "assistant"]
    assert lines[-1]["isErrors"] == [True]


def test_a_file_is_played_from_the_command_line_and_a_wrong_one_is_one_line() -> None:
    def run(file: str) -> subprocess.CompletedProcess[str]:
        module = f"{__package__}.scenario"
        return subprocess.run(
            [sys.executable, "-m", module, file],
            capture_output=True,
            encoding="utf-8",
            cwd=HERE.parents[2],
        )

    good = run(str(SCENARIOS[0]))
    assert (good.returncode, good.stderr) == (0, "")
    assert same(recorded(SCENARIOS[0]), [json.loads(line) for line in good.stdout.splitlines()])
    for wrong in ("no-such.json", str(HERE / "compare.py")):
        bad = run(wrong)
        assert (bad.returncode, bad.stdout) == (2, "")
        assert re.fullmatch(r".+: .+\n", bad.stderr)
