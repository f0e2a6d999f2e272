"""make trace: what is recorded of a run, and the listing and the page that come of it."""

import ast
import importlib
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from labs.breaks import copy_broken, find_break
from shared.errors import UsageError
from shared.steps import ROOT, find_step, find_steps
from shared.trace.command import record_all
from shared.trace.flow import flow_of, way_out
from shared.trace.listing import listing
from shared.trace.page import page
from shared.trace.recorder import Recording
from shared.trace.timeline import parting, timeline

LOOPS = [step for step in find_steps().values() if (step / "agent_loop.py").exists()]


def recorded(step: Path, sentence: str = "", root: Path = ROOT) -> Recording:
    return record_all(step, {"run": root}, sentence)["run"]


@pytest.fixture(scope="module", params=LOOPS, ids=lambda step: step.name)
def demo(request: pytest.FixtureRequest) -> Recording:
    step: Path = request.param
    return recorded(step)


def test_the_screen_and_the_history_are_those_of_the_demo(demo: Recording) -> None:
    step = ROOT / demo.step
    assert demo.screen == (step / "expected_output.txt").read_text("utf-8")
    pinned = (step / "expected_context.txt").read_text("utf-8").splitlines()
    assert [message["role"] for message in demo.messages] == [line.split()[0] for line in pinned]
    assert demo.history_at(demo.moments[-1]) == demo.messages
    assert demo.moments[-1].screen == len(demo.screen)


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
            history = demo.history_at(after)
            assert history[:-1] == demo.history_at(before)
            assert history[-1]["answers"] == after.call_id


@pytest.mark.parametrize(
    ("sentence", "ending"),
    [("你好", "no tool wanted"), ("断线", "the model failed")],
)
def test_the_way_out_is_named(sentence: str, ending: str) -> None:
    assert recorded(find_step("04"), sentence).moments[-1].way_out == ending


def source_of(body: str) -> str:
    return f"async def run_agent_loop(context, tools):\n{textwrap.indent(body, '    ')}"


def test_the_other_ways_out_are_told_apart_by_where_the_loop_stands() -> None:
    source = (find_step("04") / "agent_loop.py").read_text("utf-8")
    events = {box.text: box.line for box in flow_of(source).boxes if box.kind == "event"}
    assert way_out(source, events["yield StreamError(…)"], "error") == "turns used up"
    assert way_out(source, events["yield event"], "error") == "the model failed"
    assert way_out(source, events["yield event"], "text_delta") == "no last event"


def test_the_flow_is_what_can_come_after_what() -> None:
    flow = flow_of((find_step("04") / "agent_loop.py").read_text("utf-8"))
    after = {f"{n} {box.kind} {box.text}": flow.after(n) for n, box in enumerate(flow.boxes)}
    assert after == {
        "0 loop for turn in range(1, max_turns + 1)": [1, 17],
        "1 event yield TurnStart(turn)": [2],
        "2 ask stream_fn(context, stream_options)": [3],
        "3 loop async for event in stream": [4, 6],
        "4 event yield event": [5],
        "5 out if event.type == 'error': return": [3],
        "6 out if assistant is None: return": [7],
        "7 do context.messages.append(assistant)": [8],
        "8 if if not tool_calls": [9, 11],
        "9 event yield TurnEnd(turn)": [10],
        "10 out return": [],
        "11 loop for tool_call in tool_calls": [12, 16],
        "12 event yield ToolCallStarted(tool_call)": [13],
        "13 do execute_tool_call(tool_call, tools)": [14],
        "14 do context.messages.append(result)": [15],
        "15 event yield ToolCallFinished(…)": [11],
        "16 event yield TurnEnd(turn)": [0],
        "17 event yield StreamError(…)": [],
    }
    assert flow.outs_after(4) == [5, 6]
    assert flow.outs_after(9) == [10]


@pytest.mark.parametrize(
    ("body", "after"),
    [
        ("yield A()\nif x:\n    yield B()\nyield C()\n", [[1], [2, 3], [3], []]),
        (
            "while True:\n    yield A()\n    if x:\n        break\nyield B()\n",
            [[1], [2], [3, 0], [4], []],
        ),
        (
            "try:\n    yield A()\nexcept E:\n    yield B()\nfinally:\n    yield C()\n",
            [[1, 2], [2], []],
        ),
        ("if x:\n    yield A()\n    return\nelse:\n    yield B()\n", [[1, 3], [2], [], []]),
    ],
)
def test_every_shape_of_loop_has_a_flow(body: str, after: list[list[int]]) -> None:
    flow = flow_of(source_of(body))
    assert [flow.after(n) for n in range(len(flow.boxes))] == after
    assert all(
        flow.box_at(box.line) == n for n, box in enumerate(flow.boxes) if box.kind == "event"
    )


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
    both = [recorded(step), recorded(step, root=tmp_path)]
    number = parting(both)
    assert number is not None
    places = timeline(both)[number - 1]
    intact, broken = (r.moments[place] for r, place in zip(both, places, strict=True))
    assert intact.event == broken.event == "tool_result"
    assert len(both[0].history_at(intact)) == len(both[1].history_at(broken)) + 1
    assert parting([both[0], both[0]]) is None


def test_two_runs_stay_in_step_by_sentence_and_turn(tmp_path: Path) -> None:
    step = find_step("04")
    copy_broken(find_break(step, "no-append"), tmp_path)
    both = [recorded(step), recorded(step, root=tmp_path)]
    walk = timeline(both)
    assert walk[-1] == [len(r.moments) - 1 for r in both]
    for one, other in walk:
        first, second = both[0].moments[one], both[1].moments[other]
        assert (first.run, first.turn) == (second.run, second.turn)


def test_a_history_is_kept_as_it_was_even_if_the_loop_forgets(tmp_path: Path) -> None:
    step = find_step("04")
    shutil.copytree(step, tmp_path / step.name)
    loop = tmp_path / step.name / "agent_loop.py"
    text = loop.read_text("utf-8")
    line = "        context.messages.append(assistant)\n"
    forgets = f"{line}        context.messages[:] = context.messages[-2:]\n"
    loop.write_text(text.replace(line, forgets), encoding="utf-8")
    run = recorded(step, root=tmp_path)
    first, last = run.history_at(run.moments[5]), run.history_at(run.moments[-1])
    assert [message["text"] for message in first] == ["你好"]
    assert [message["role"] for message in last] == ["toolResult", "assistant"]
    assert page({"run": run})


def test_both_recordings_work_in_the_same_folder(tmp_path: Path) -> None:
    step = find_step("05")
    copy_broken(find_break(step, "no-validate"), tmp_path)
    lanes = record_all(step, {"intact": ROOT, "broken": tmp_path}, "读一下 README.md")
    assert parting(list(lanes.values())) is None


@pytest.mark.parametrize("sentence", ["/exit", "   "])
def test_a_sentence_that_starts_nothing_says_so(sentence: str) -> None:
    with pytest.raises(UsageError, match="the loop did not turn"):
        record_all(find_step("04"), {"run": ROOT}, sentence)


def test_the_page_of_the_demo_is_one_small_file(demo: Recording) -> None:
    text = page({"intact": demo})
    assert len(text.encode()) < 300_000
    for loads in ("src=", "href=", "url(", "@import", "fetch("):
        assert loads not in text


def test_a_step_without_a_loop_says_so() -> None:
    with pytest.raises(UsageError, match="step03_streaming has no agent_loop.py"):
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
    assert text.startswith("== step04_agent_loop, 完好 · intact ==\n")
    assert "\n== step04_agent_loop, 拆坏 · broken: no-append ==\n" in text
    assert text.count("      here they part:\n") == 2


# -I keeps out what is installed for the user; the packages of the environment are hidden by name.
LISTING = """
import sys
sys.path.insert(0, "")
for package in ("jinja2", "pygments", "playwright"):
    sys.modules[package] = None
from labs.command_line import main
sys.exit(main(["trace", "04", "--break", "no-append", "--text"]))
"""
