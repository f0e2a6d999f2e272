"""make trace: each statement of a run, what decided it, and what people and the model see then."""

import dataclasses
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from shared.errors import UsageError
from shared.steps import ROOT, find_step, find_steps
from shared.trace import recorder
from shared.trace.command import beside, record_all
from shared.trace.flow import INTERRUPTED, OUTSIDE, RAISED, Flow, flow_of
from shared.trace.flow import LOOPS as NAMES
from shared.trace.listing import listing
from shared.trace.recorder import record, recorded
from shared.trace.recording import Message, Moment, Recording
from shared.trace.timeline import parting
from shared.watching import watch, watch_chat, watch_demo

from .replay import Teller, replay

LOOPS = [step for step in find_steps().values() if (step / "agent_loop.py").exists()]


KEPT_BEFORE = ("message_start", "message_end")


@pytest.fixture(scope="module", params=LOOPS, ids=lambda step: step.name)
def demo(request: pytest.FixtureRequest) -> Recording:
    return record(request.param.name, "", "")


def said(sentence: str, step: str = "05") -> Recording:
    return record(find_step(step).name, sentence, str(ROOT))


def words(recording: Recording, moment: Moment) -> str:
    return recording.sources[moment.file].splitlines()[moment.line - 1].strip()


def test_the_screen_and_the_history_are_those_of_the_demo(demo: Recording) -> None:
    step = ROOT / demo.step
    assert demo.screen == (step / "expected_output.txt").read_text("utf-8")
    pinned = (step / "expected_context.txt").read_text("utf-8").splitlines()
    history = demo.history_at(demo.moments[-1])
    assert [message.role for message in history] == [line.split()[0] for line in pinned]
    assert demo.moments[-1].screen == len(demo.screen)


def agrees_with_a_replay(recording: Recording, talk: Callable[[], object]) -> None:
    """Compare a recording with a replay: lines, values, and how things stand in between."""
    visits = replay(recording.step, talk)
    # A replay does not see which cases and handlers did not fit.
    moments = [m for m in recording.moments if not is_not_replayed(words(recording, m), m.value)]
    assert [(m.line, m.value) for m in moments] == [(v.line, v.value) for v in visits]
    for moment, following in zip(moments, visits[1:], strict=False):
        if moment.ending:
            continue  # Before the next run begins, somebody types.
        assert moment.screen == following.screen
        # The replay sees the head of a loop when the next item is there, and so what that has kept.
        if following.value not in KEPT_BEFORE:
            assert len(recording.histories[moment.history]) == following.messages


def is_not_replayed(line: str, value: str) -> bool:
    return line.startswith("case ") or (line.startswith("except ") and value == "False")


@pytest.mark.parametrize("step", LOOPS, ids=lambda step: step.name)
def test_every_statement_of_the_demo_is_recorded_as_a_replay_sees_it(step: Path) -> None:
    agrees_with_a_replay(record(step.name, "", ""), lambda: watch_demo(step.name))


@pytest.fixture
def changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., str]]:
    """Copy a step under a name of its own, with one text of a file changed; give the name."""
    monkeypatch.syspath_prepend(str(tmp_path))
    names: list[str] = []

    def copy(old: str, new: str, step: str = "04", file: str = "agent_loop.py") -> str:
        name = f"step{step}_copy_{os.getpid()}_{len(names)}"
        shutil.copytree(find_step(step), tmp_path / name)
        path = tmp_path / name / file
        text = path.read_text("utf-8")
        assert text.count(old) == 1
        path.write_text(text.replace(old, new), encoding="utf-8")
        names.append(name)
        return name

    yield copy
    for module in [m for m in sys.modules if m.partition(".")[0] in names]:
        del sys.modules[module]


ANSWERS = """\
        context.messages.append(assistant)

        # Second"""
SHAPES = {
    "while, continue, break": """\
        n = 0
        while True:
            n += 1
            if n == 1:
                continue
            if n > 2:
                break
        else:
            n = 0
        context.messages.append(assistant)
""",
    "match without a default": """\
        match message_text(assistant):
            case "":
                pass
            case str() as text if len(text) > 3:
                text = text.strip()
        context.messages.append(assistant)
""",
    "try, else, finally": """\
        for value in ("1", "x"):
            try:
                int(value)
            except KeyError as error:
                del error
            except ValueError as error:
                value = str(error)
            else:
                value = ""
            finally:
                value += "!"
        context.messages.append(assistant)
""",
    "statements of several lines": """\
        text = "".join(
            letter.upper()
            for letter in message_text(assistant)
        )
        letters = [
            letter
            for letter in text
            if letter
        ]
        if (
            text
            and letters
        ):
            letters.clear()
        with (
            open(__file__) as one,
            open(__file__) as other,
        ):
            one.seek(0)
            other.seek(0)
        context.messages.append(assistant)
""",
    "with in a loop": """\
        while len(context.messages) < 3:
            with open(__file__) as file:
                context.messages.append(assistant)
            if file.closed:
                del context.messages[-1:]
                break
        context.messages.append(assistant)
""",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_of_statement_is_recorded_as_a_replay_sees_it(
    shape: str, changed: Callable[..., str]
) -> None:
    package = changed(ANSWERS, f"{SHAPES[shape]}\n        # Second")
    run = record(package, "你好", "")
    assert run.moments[-1].ending == "no tool wanted"
    agrees_with_a_replay(run, lambda: watch_chat(package, ["你好"]))
    goes_along(flow_of(run.sources), run.moments)


def goes_along(flow: Flow, moments: list[Moment]) -> None:
    """Check that each moment can come after the one before it in the same function."""
    stands: dict[str, int | None] = {}
    for moment in moments:
        here = flow.box_at(moment.file, moment.line)
        assert here is not None
        box = flow.boxes[here]
        assert box.line == moment.line
        before = stands.get(box.function)
        if before is None:
            first = next(n for n, b in enumerate(flow.boxes) if b.function == box.function)
            assert here == first
        else:
            assert here in flow.after(before)
        over = moment.ending if box.function in NAMES else not flow.after(here)
        stands[box.function] = None if over or box.kind == "out" else here


def test_every_moment_is_a_box_and_follows_an_edge_of_the_flow(demo: Recording) -> None:
    goes_along(flow_of(demo.sources), demo.moments)


def test_the_line_of_an_event_is_the_yield_that_it_came_from(demo: Recording) -> None:
    known = [importlib.import_module(f"{demo.step}.harness_types")]
    if "run_loop.py" in demo.sources:
        known.append(importlib.import_module(f"{demo.step}.agent_events"))
    types = {name: value for module in known for name, value in vars(module).items()}
    for moment in demo.moments:
        line = words(demo, moment)
        assert line.startswith("yield ") == bool(moment.event)
        name = line.removeprefix("yield ").partition("(")[0]
        if moment.event and name != "event":
            assert types[name].type == moment.event


def test_the_appends_light_up_and_the_history_changes_right_there(demo: Recording) -> None:
    if "run_loop.py" in demo.sources:
        return  # There a function of its own keeps each message.
    before: list[int] = []
    for moment in demo.moments:
        history = demo.histories[moment.history]
        if words(demo, moment).startswith("context.messages.append("):
            assert len(history) == len(before) + 1
        elif history != before:  # The user has said something, and a run begins.
            assert demo.messages[history[-1]].role == "user"
        before = history


@pytest.mark.parametrize(
    ("sentence", "gate", "last"),
    [
        ("帮我算 12*8", "return result", "False"),
        ("故意写错参数试试", "参数校验失败", "True"),
        ("读一下 ../../../etc/hosts", "return result", "False"),
    ],
)
def test_the_gate_at_which_a_call_stopped_can_be_seen(sentence: str, gate: str, last: str) -> None:
    run = said(sentence)
    flow = flow_of(run.sources)
    inside = [
        moment
        for moment in run.moments
        if moment.turn == 1
        and flow.boxes[flow.box_at(moment.file, moment.line) or 0].function == "run_tool"
    ]
    assert gate in words(run, inside[-1])
    (test,) = [moment for moment in inside if "checked.ok" in words(run, moment)]
    assert test.value == last


@pytest.mark.parametrize(
    ("sentence", "ending"),
    [("你好", "no tool wanted"), ("断线", "the model failed")],
)
def test_the_way_a_run_ends_is_named(sentence: str, ending: str) -> None:
    assert [m.ending for m in said(sentence).moments if m.ending] == [ending]


def test_a_loop_whose_turns_are_used_up_says_so(changed: Callable[..., str]) -> None:
    run = record(changed("max_turns: int = 8", "max_turns: int = 1"), "帮我算 12*8", "")
    assert run.moments[-1].ending == "turns used up"
    assert run.moments[-1].event == "error"


def test_a_stream_without_a_last_event_is_named(changed: Callable[..., str]) -> None:
    old = '        yield StreamDone(AssistantMessage([TextContent(rule.reply)], "stop"))'
    run = record(changed(old, "        return", file="fake_model.py"), "你好", "")
    assert run.moments[-1].ending == "no last event"


def test_an_exception_that_leaves_the_loop_is_the_end_of_the_recording(
    changed: Callable[..., str],
) -> None:
    append = "context.messages.append(result)"
    run = record(changed(append, "context.messages.append(1 // 0)"), "帮我算 12*8", "")
    last = run.moments[-1]
    assert (last.ending, last.event) == (RAISED, "")
    assert last.detail.startswith("ZeroDivisionError: ")
    assert words(run, last) == "context.messages.append(1 // 0)"
    assert run.screen.endswith(f"\n{last.detail}\n")
    assert last.screen == len(run.screen)


def test_an_exception_after_a_run_lights_the_line_that_raised(changed: Callable[..., str]) -> None:
    bye = '    print(f"再见。（本次对话共 {len(context.messages)} 条消息）")'
    run = record(changed(bye, "    context.messages.clear(1)", file="main.py"), "你好", "")
    *_, ended, last = run.moments
    assert (ended.ending, last.ending) == ("no tool wanted", OUTSIDE)
    assert words(run, last) == "context.messages.clear(1)"
    assert last.detail.startswith("TypeError: ")
    assert last.history == ended.history
    assert run.screen.endswith(f"\n{last.detail}\n")


def test_a_loop_that_is_left_early_says_so(changed: Callable[..., str]) -> None:
    old = "                case ToolCallAnnounced():\n                    pass"
    package = changed(old, old.replace("pass", "return"), file="render.py")
    (last,) = [m for m in record(package, "帮我算 12*8", "").moments if m.ending]
    assert (last.ending, last.event) == (INTERRUPTED, "toolcall")


def test_a_branch_in_one_line_has_no_value_that_could_be_wrong(changed: Callable[..., str]) -> None:
    old = "        if assistant is None:\n            return"
    run = record(changed(old, "        if assistant is None: return"), "你好", "")
    (test,) = [m for m in run.moments if words(run, m).startswith("if assistant")]
    assert test.value == ""


def test_the_rule_that_answers_a_turn_is_known_once_the_model_is_asked() -> None:
    run = said("帮我算 12*8")
    assert [ask.key for ask in run.asks] == ["帮我算 12*8", "toolResult:calc 96"]
    assert "(match='toolResult:calc 96')" in run.asks[1].rule
    for turn, ask in ((1, 0), (2, 1)):
        before, *after = [m.ask for m in run.moments if m.turn == turn and m.event]
        assert before is None
        assert set(after) == {ask}


def test_what_the_model_is_told_of_its_tools_is_recorded() -> None:
    tools = said("你好").tools
    assert [tool.name for tool in tools] == ["calc", "read_file"]
    assert '"required":["expression"]' in tools[0].parameters
    assert said("你好", "04").tools == []


def test_a_history_is_kept_as_it_was_even_if_the_loop_forgets(changed: Callable[..., str]) -> None:
    line = "        context.messages.append(assistant)\n"
    forgets = f"{line}        context.messages[:] = context.messages[-2:]\n"
    run = record(changed(line, forgets), "", "")
    first, last = run.history_at(run.moments[5]), run.history_at(run.moments[-1])
    assert [message.text for message in first] == ["你好"]
    assert [message.role for message in last] == ["toolResult", "assistant"]


def test_a_history_of_copies_is_the_same_history(changed: Callable[..., str]) -> None:
    line = "        context.messages.append(assistant)\n"
    copies = "        import copy; context.messages[:] = copy.deepcopy(context.messages)\n"
    run = record(changed(line, line + copies), "帮我算 12*8", "")
    assert run.histories[-1] == [0, 1, 2, 3]


def test_what_comes_back_from_a_file_is_what_was_there_before() -> None:
    run = said("", "06")
    before = first = run.moments[0]
    for moment in run.moments:
        if moment.run != before.run:
            first = moment
            *same, _ = run.histories[first.history]
            assert same == run.histories[before.history][: len(same)] != []
        before = moment
    assert "--continue" in run.screen[: first.screen]


def save_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let step06 save only when a run is over."""
    main: Any = importlib.import_module("step06_sessions.main")

    async def saved(events: Any, session: Any, context: Any) -> Any:
        async for event in events:
            yield event
        main.save(session, context)

    monkeypatch.setattr(main, "saved", saved)


def on_disk(recording: Recording, moment: Moment) -> list[Message]:
    """Return those messages of the history that are marked as being on the disk."""
    lines = [recording.lines[place] for place in recording.disks[moment.disk]]
    return [m for m in recording.history_at(moment) if m.entry in [line.id for line in lines]]


def real_lines(folder: Path) -> list[Any]:
    """Return what stands in the session file somewhere in a folder."""
    texts = [file.read_text("utf-8") for file in folder.rglob("*.jsonl")]
    return [json.loads(line) for text in texts for line in text.splitlines()]


def said_in(line: Any) -> tuple[str, str]:
    blocks = line["message"]["content"]
    return line["message"]["role"], "".join(block.get("text", "") for block in blocks)


@pytest.mark.parametrize("late", [False, True], ids=["as shipped", "saved at the end"])
def test_what_is_on_disk_is_what_stands_in_the_file(
    late: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    if late:
        save_late(monkeypatch)
    files, visit = [], Teller.visit

    def visit_and_look(teller: Teller, *values: Any) -> None:
        files.append(real_lines(tmp_path))
        visit(teller, *values)

    monkeypatch.setattr(Teller, "visit", visit_and_look)
    replay("step06_sessions", lambda: watch_demo("step06_sessions"))
    run = said("", "06")
    moments = [m for m in run.moments if not is_not_replayed(words(run, m), m.value)]
    assert len(moments) == len(files)
    for moment, file in zip(moments, files[1:], strict=False):
        if moment.ending:
            continue  # Before the next run begins, somebody types.
        lines = [run.lines[place] for place in run.disks[moment.disk]]
        assert [(line.id, line.parent) for line in lines] == [
            (line["id"], line.get("parentId")) for line in file
        ]
        written = list(map(said_in, file[1:]))
        told = [(message.role, message.text) for message in run.history_at(moment)]
        marked = [(message.role, message.text) for message in on_disk(run, moment)]
        assert marked == [words for words in told if words in written]
    assert on_disk(run, run.moments[-1]) == run.history_at(run.moments[-1])


def test_what_was_in_the_file_before_is_on_disk_from_the_first_statement_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    main: Any = importlib.import_module("step06_sessions.main")
    folder: Any = importlib.import_module("step06_sessions.sessions.folder")

    def chat(new: Callable[..., Any]) -> object:
        with closing(new(tmp_path)) as session:
            return main.chat(["你好"], session=session)

    watch(lambda: chat(folder.start_session))
    save_late(monkeypatch)
    run = recorded("step06_sessions", "chat", lambda: watch(lambda: chat(folder.latest_session)))
    assert len(run.disks[run.moments[0].disk]) == 3
    *old, new = run.history_at(run.moments[0])
    assert on_disk(run, run.moments[0]) == old
    assert on_disk(run, run.moments[-1])[:3] == [*old, new]


def test_who_says_the_same_again_has_not_saved_it_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    save_late(monkeypatch)
    demo = importlib.import_module("step06_sessions.demo")
    lines = ["帮我算 12*8", "/back 1", "帮我算 12*8", "/exit", "/exit"]
    monkeypatch.setattr(demo, "SCRIPT", lines)
    run = said("", "06")
    first, again = ([m for m in run.moments if m.run == number] for number in (1, 2))
    assert on_disk(run, again[0]) == []
    assert [m.entry for m in run.history_at(first[-1])] == [line.id for line in run.lines[1:5]]
    assert {len(run.disks[moment.disk]) for moment in again[:-1]} == {5}
    assert not any(on_disk(run, moment) for moment in again[:-1])
    assert len(on_disk(run, again[-1])) == 4


def test_a_failure_outside_the_loop_shows_what_had_been_saved(changed: Callable[..., str]) -> None:
    bye = '    print(f"再见。（本次对话共 {len(context.messages)} 条消息）")'
    run = record(changed(bye, "    context.messages.clear(1)", "06", "main.py"), "", "")
    assert run.moments[-1].ending == OUTSIDE
    assert len(run.disks[run.moments[-1].disk]) == 5


def test_a_conversation_that_no_file_keeps_is_nowhere_on_a_disk() -> None:
    run = said("你好", "06")
    assert run.lines == []
    assert {message.entry for message in run.messages} == {None}


def test_the_listing_says_when_a_line_is_on_the_disk() -> None:
    lines = listing(said("", "06"))
    place = lines.index("      on disk now: 00000004 ← 00000003 toolResult call_1 96")
    assert "yield ToolCallFinished(" in lines[place - 1]
    assert sum(line.startswith("      on disk now: ") for line in lines) == 11


def test_lanes_that_differ_only_on_the_disk_part(monkeypatch: pytest.MonkeyPatch) -> None:
    run = said("", "06")
    save_late(monkeypatch)
    assert parting([run, said("", "06")]) == 1
    run.lines[7] = dataclasses.replace(run.lines[7], parent="00000007")
    monkeypatch.undo()
    number = parting([run, said("", "06")])
    assert number is not None
    assert len(run.disks[run.moments[number - 1].disk]) == 8


def test_of_a_run_without_end_only_the_beginning_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = said("帮我算 12*8")
    monkeypatch.setattr(recorder, "MOST_MOMENTS", 50)
    run = said("帮我算 12*8")
    assert len(run.moments) == 50
    assert [(m.line, m.screen) for m in run.moments] == [
        (m.line, m.screen) for m in whole.moments[:50]
    ]
    assert run.history_at(run.moments[-1]) == whole.history_at(whole.moments[49])
    assert run.screen == whole.screen[: run.moments[-1].screen]


def test_the_step_is_put_back_as_it_was(demo: Recording) -> None:
    modules = [m for name, m in sys.modules.items() if name.partition(".")[0] == demo.step]
    found = [vars(module).get(name) for module in modules for name in NAMES]
    loops = [loop for loop in found if callable(loop)]
    assert loops
    assert all(loop.__module__.partition(".")[0] == demo.step for loop in loops)
    assert sys.gettrace() is None or "coverage" in sys.modules


def test_the_listing_has_a_line_for_every_statement_and_one_for_a_text() -> None:
    run = said("帮我算 12*8")
    lines = listing(run)
    asked = "      the model is asked on 'toolResult:calc 96': rule 7 (match='toolResult:calc 96')"
    assert asked in lines
    assert sum("yield event" in line and "text_delta" in line for line in lines) == 2
    (result,) = [line for line in lines if "tool_result" in line]
    number = int(result[:5])
    assert words(run, run.moments[number - 1]) == "yield ToolCallFinished("
    assert result.endswith("tool_result call_1 calc → 96")
    (append,) = [line for line in lines if "context.messages.append(result)" in line]
    assert re.fullmatch(r" *\d+ agent_loop.py:\d+ +3 +context.messages.append\(result\)", append)


def test_the_listing_names_rules_and_endings_in_chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_LANG", "zh")
    text = "\n".join(listing(said("12*8")) + listing(said("嗯")))
    assert re.search(r"：规则 \d+（match='12\*8'）\n", text)
    assert re.search(r"：规则 \d+（兜底）\n", text)
    assert text.count("运行结束：模型不再要工具") == 2


@pytest.mark.parametrize("sentence", ["/exit", "   "])
def test_a_sentence_that_starts_nothing_says_so(sentence: str) -> None:
    with pytest.raises(UsageError, match="the loop did not turn"):
        record_all(find_step("04"), {"": ROOT}, sentence)


def test_a_step_without_a_loop_says_so() -> None:
    with pytest.raises(UsageError, match="step03_streaming has no agent_loop.py"):
        record_all(find_step("03"), {"": ROOT}, "")


def test_a_page_that_cannot_be_written_is_named_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "traces").write_text("a file where a folder has to be")
    with pytest.raises(UsageError, match=r"page.html cannot be written: .*; TEXT=1 shows a list"):
        beside(tmp_path / "traces" / "page.html")


def test_the_command_needs_no_environment_for_a_listing() -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-c", LISTING],
        cwd=ROOT,
        capture_output=True,
        check=True,
        env={**os.environ, "PATH": os.defpath},
    )
    text = done.stdout.decode()
    assert text.startswith("== step04_agent_loop\n")
    assert "\n== step04_agent_loop no-append\n" in text
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
