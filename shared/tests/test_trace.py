"""make trace: what is recorded of a run, and the listing and the page that come of it."""

import ast
import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from labs.breaks import copy_broken, find_break
from shared.errors import UsageError
from shared.steps import ROOT, find_step, find_steps
from shared.trace.command import record_all
from shared.trace.flow import boxes, way_out
from shared.trace.listing import listing
from shared.trace.page import page
from shared.trace.recorder import Recording, parting, recording_from

LOOPS = [step for step in find_steps().values() if (step / "agent_loop.py").exists()]


def recorded(step: Path, sentence: str = "", root: Path = ROOT) -> Recording:
    return recording_from(record_all(step, {"run": root}, sentence)["run"])


@pytest.fixture(scope="module", params=LOOPS, ids=lambda step: step.name)
def demo(request: pytest.FixtureRequest) -> Recording:
    step: Path = request.param
    return recorded(step)


def test_the_screen_and_the_history_are_those_of_the_demo(demo: Recording) -> None:
    step = ROOT / demo.step
    assert demo.screen == (step / "expected_output.txt").read_text("utf-8")
    pinned = (step / "expected_context.txt").read_text("utf-8").splitlines()
    assert [message["role"] for message in demo.messages] == [line.split()[0] for line in pinned]
    assert demo.moments[-1].messages == len(pinned)


def test_the_line_of_a_moment_is_the_yield_of_its_event(demo: Recording) -> None:
    types = importlib.import_module(f"{demo.step}.harness_types")
    yields = [n for n in ast.walk(ast.parse(demo.source)) if isinstance(n, ast.Yield)]
    for moment in demo.moments:
        (here,) = [n for n in yields if n.lineno <= moment.line <= (n.end_lineno or n.lineno)]
        if isinstance(here.value, ast.Name):
            assert moment.event in ("start", "text_delta", "toolcall", "done", "error")
        else:
            assert isinstance(here.value, ast.Call)
            assert getattr(types, ast.unparse(here.value.func)).type == moment.event


def test_the_history_grows_between_the_two_events_of_a_tool(demo: Recording) -> None:
    for before, after in zip(demo.moments, demo.moments[1:], strict=False):
        if after.event == "tool_result":
            assert before.event == "tool_call"
            assert after.messages == before.messages + 1


def test_the_step_itself_is_not_touched(demo: Recording) -> None:
    assert demo.source == (ROOT / demo.step / "agent_loop.py").read_text("utf-8")


@pytest.mark.parametrize(
    ("sentence", "ending"),
    [("你好", "no tool wanted"), ("断线", "the model failed")],
)
def test_the_way_out_is_named(sentence: str, ending: str) -> None:
    assert recorded(find_step("04"), sentence).moments[-1].way_out == ending


def test_the_other_ways_out_are_told_apart_by_where_the_loop_stands() -> None:
    source = (find_step("04") / "agent_loop.py").read_text("utf-8")
    events = {each.text: each.line for each in boxes(source) if each.kind == "event"}
    assert way_out(source, events["yield StreamError(…)"], "error") == "turns used up"
    assert way_out(source, events["yield event"], "error") == "the model failed"
    assert way_out(source, events["yield event"], "text_delta") == "no last event"


def test_the_flow_is_the_loop_in_the_order_of_its_source() -> None:
    source = (find_step("04") / "agent_loop.py").read_text("utf-8")
    assert [(each.kind, each.text) for each in boxes(source)] == [
        ("loop", "for turn in range(1, max_turns + 1)"),
        ("event", "yield TurnStart(turn)"),
        ("ask", "stream_fn(context, stream_options)"),
        ("event", "yield event"),
        ("out", "if isinstance(event, StreamError): return"),
        ("out", "if assistant is None: return"),
        ("do", "context.messages.append(assistant)"),
        ("event", "yield TurnEnd(turn)"),
        ("out", "if not tool_calls: return"),
        ("loop", "for tool_call in tool_calls"),
        ("event", "yield ToolCallStarted(tool_call)"),
        ("do", "execute_tool_call(tool_call, tools)"),
        ("do", "context.messages.append(result)"),
        ("event", "yield ToolCallFinished(…)"),
        ("event", "yield TurnEnd(turn)"),
        ("event", "yield StreamError(…)"),
    ]


def test_the_listing_has_a_line_for_every_event() -> None:
    lines = listing(recorded(find_step("04"), "帮我算 12*8"))
    assert (
        "      the model is asked on 'toolResult:calc 96': rule 4 (match='toolResult:calc 96')"
        in lines
    )
    events = [line for line in lines if line[:4].strip().isdecimal()]
    assert [int(line[:4]) for line in events] == list(range(1, len(events) + 1))
    (result,) = [line for line in events if "tool_result" in line]
    assert result.endswith("  3 messages  call_1 calc → 96")


def test_a_broken_copy_parts_from_the_intact_step_at_the_result(tmp_path: Path) -> None:
    step = find_step("04")
    copy_broken(find_break(step, "no-append"), tmp_path)
    intact, broken = recorded(step), recorded(step, root=tmp_path)
    place = parting([intact, broken])
    assert place is not None
    assert intact.moments[place - 1].event == broken.moments[place - 1].event == "tool_result"
    assert intact.moments[place - 1].messages == broken.moments[place - 1].messages + 1
    assert parting([intact, intact]) is None
    assert parting([intact]) is None


def test_the_page_of_the_demo_is_one_small_file(demo: Recording) -> None:
    text = page({"intact": demo})
    assert len(text.encode()) < 300_000
    for loads in ("src=", "href=", "url(", "@import", "fetch("):
        assert loads not in text


def test_a_step_without_a_loop_says_so() -> None:
    with pytest.raises(UsageError, match="step03_streaming has no loop to watch"):
        record_all(find_step("03"), {"run": ROOT}, "")


def test_the_command_needs_no_environment_for_a_listing() -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-c", LISTING],
        cwd=ROOT,
        capture_output=True,
        check=True,
        env={**os.environ, "PATH": ""},
    )
    text = done.stdout.decode()
    assert text.startswith("== intact ==\nstep04_agent_loop/agent_loop.py\n")
    assert "\n== broken: no-append ==\n" in text


# -I keeps out what is installed for the user; the packages of the environment are hidden by name.
LISTING = """
import sys
sys.path.insert(0, "")
for package in ("jinja2", "pygments", "playwright"):
    sys.modules[package] = None
from shared.command_line import main
sys.exit(main(["trace", "04", "--break", "no-append", "--text"]))
"""
