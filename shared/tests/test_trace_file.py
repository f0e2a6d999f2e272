"""The file of a recording: what is written is read again, and anything else is one clear line."""

import json
import os
import re
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.errors import UsageError
from shared.steps import ROOT, find_step, find_steps
from shared.trace import recording_file
from shared.trace.recorder import record
from shared.trace.recording import (
    Ask,
    Call,
    Cause,
    Line,
    Message,
    Moment,
    Question,
    Recording,
    Tool,
)

LOOPS = [step for step in find_steps().values() if (step / "agent_loop.py").exists()]
DEFINITION = ROOT / "shared" / "trace" / "RECORDING.md"

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=90)
numbers = st.integers(0, 2**53)
flags = st.booleans()
calls = st.lists(st.builds(Call, words, words, words), max_size=2)
texts = st.one_of(words, words.map(lambda text: text + "x" * 80))
messages = st.builds(
    Message, words, texts, calls, st.none() | words, st.none() | words, flags, st.none() | words
)
disk_lines = st.builds(Line, words, st.none() | words, st.none() | words, words)
questions = st.lists(
    st.builds(Question, words, words, words, words, st.lists(words, max_size=2)), max_size=2
)
causes = st.builds(Cause, *[words] * 10, questions)


@st.composite
def recordings(draw: st.DrawFn) -> Recording:
    """A recording as it could come about: all places lead somewhere, and time goes on."""
    recording = draw(st.builds(Recording, words, words, words, numbers, st.none() | causes))
    recording.sources = draw(st.dictionaries(words, words, min_size=1, max_size=2))
    recording.tools = draw(st.lists(st.builds(Tool, words, words, words), max_size=2))
    run = turn = 1
    for _ in range(draw(st.integers(1, 6))):
        new = draw(st.lists(messages, max_size=2))
        recording.messages += new
        history = recording.histories[-1]
        if new:
            first = len(recording.messages) - len(new)
            kept = history[: draw(st.integers(0, 3))]
            history = [*kept, *range(first, first + len(new))]
            recording.histories.append(history)
        written = draw(st.lists(disk_lines, max_size=2))
        if written:
            kept = recording.disks[-1][: draw(st.integers(0, 3))]
            first = len(recording.lines)
            recording.lines += written
            recording.disks.append([*kept, *range(first, first + len(written))])
        ask = draw(st.none() | st.builds(Ask, texts, words))
        if ask:
            recording.asks.append(ask)
        run, turn = draw(st.sampled_from([(run, turn), (run, turn + 1), (run + 1, 0)]))
        printed = draw(words) + (recording.messages[history[-1]].text if history else "")
        recording.screen += printed
        name = draw(st.sampled_from(sorted(recording.sources)))
        recording.moments.append(
            Moment(
                run,
                turn,
                name,
                draw(st.integers(1, recording.sources[name].count("\n") + 1)),
                *draw(st.tuples(words, words, words)),
                draw(st.none() | words),
                len(recording.asks) - 1 if ask else None,
                draw(words),
                draw(numbers),
                history=len(recording.histories) - 1,
                screen=len(recording.screen),
                disk=len(recording.disks) - 1,
            )
        )
    return recording


@settings(max_examples=30)
@given(st.lists(recordings(), min_size=1, max_size=2))
def test_what_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, written: list[Recording]
) -> None:
    file = tmp_path_factory.getbasetemp() / "run.jsonl"
    recording_file.write(written, file)
    assert list(map(asdict, recording_file.read(file))) == list(map(asdict, written))


@pytest.mark.parametrize("step", LOOPS, ids=lambda step: step.name)
def test_the_recording_of_a_demo_is_read_again(step: Path, tmp_path: Path) -> None:
    run = record(step.name, "", "")
    recording_file.write([run], tmp_path / "run.jsonl")
    assert recording_file.read(tmp_path / "run.jsonl") == [run]


def test_half_of_a_surrogate_pair_is_read_again(tmp_path: Path) -> None:
    run = record(find_step("04").name, "\ud800", "")
    recording_file.write([run], tmp_path / "run.jsonl")
    assert recording_file.read(tmp_path / "run.jsonl") == [run]


def test_a_long_sentence_is_in_the_file_only_once(tmp_path: Path) -> None:
    sentence = "长" * 20_000
    run = record(find_step("05").name, sentence, "")
    recording_file.write([run], tmp_path / "run.jsonl")
    text = (tmp_path / "run.jsonl").read_text("utf-8")
    assert text.count("长" * 100) == text.count("长" * 20_000) * 200 == 200
    assert recording_file.read(tmp_path / "run.jsonl")[0].screen == run.screen


def test_the_example_of_the_definition_can_be_shown(tmp_path: Path) -> None:
    text = DEFINITION.read_text("utf-8")
    (example,) = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    (tmp_path / "run.jsonl").write_text(example.replace("...", "\\n" * 60), encoding="utf-8")
    (run,) = recording_file.read(tmp_path / "run.jsonl")
    assert run.screen == "你> 帮我算 12*8\n[第 1 轮]\n"
    assert [m.text for m in run.history_at(run.moments[-1])] == ["帮我算 12*8"]


def test_the_definition_names_every_field() -> None:
    text = DEFINITION.read_text("utf-8")
    for kind, fields in fields_of(find_step("06").name).items():
        assert f"`{kind}`" in text
        for field in fields:
            assert f"`{field}`" in text


def fields_of(package: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    run = record(package, "", "")
    questions = [Question("a", "b", "c", "d", ["e"])]
    run.cause = Cause("1", "2", "3", "4", "5", "6", "7", "8", "9", "10", questions)
    for line in recording_file.lines_of(run):
        data = json.loads(line)
        found.setdefault(data.pop("type"), set()).update(data)
    return found


HEAD = {"type": "recording", "version": 1, "step": "x"}
SOURCE = {"type": "source", "name": "a.py", "text": "a()"}
MESSAGE = {"type": "message", "role": "user", "text": "x" * 100}
MOMENT = {"type": "moment", "run": 1, "turn": 1, "file": "a.py", "line": 1}
LONG = {"type": "message", "role": "user", "text": "x" * 100_000}
GOOD = [HEAD, SOURCE, MESSAGE, MOMENT]


def read(tmp_path: Path, lines: list[Any]) -> list[Recording]:
    file = tmp_path / "run.jsonl"
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    file.write_text(text, encoding="utf-8")
    return recording_file.read(file)


def test_what_a_reader_does_not_know_is_ignored(tmp_path: Path) -> None:
    more = {"type": "moment-to-come", "x": 1}
    (run,) = read(tmp_path, [{**HEAD, "mood": "good"}, more, SOURCE, "", {**MOMENT, "y": []}])
    assert len(run.moments) == 1


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        (["{"], "line 1: this is not JSON"),
        (["[" * 100_000], "line 1: this is not JSON"),
        (["1" * 5_000], "line 1: this is not JSON"),
        (["[1]"], 'line 1: this is not an object with a "type"'),
        ([{"x": 1}], 'line 1: this is not an object with a "type"'),
        ([MOMENT], 'line 1: a recording begins with a line of the type "recording"'),
        ([{**HEAD, "version": 2}], "line 1: this has version 2 of the format, and only version 1"),
        ([{**HEAD, "version": "1"}], 'line 1: "version" is not what it has to be'),
        ([{"type": "recording", "version": 1}], 'line 1: "step" is missing'),
        ([HEAD], "run.jsonl is not a recording: nothing happens in it"),
        ([], "run.jsonl is not a recording: nothing happens in it"),
        ([*GOOD, HEAD], "run.jsonl is not a recording: nothing happens in it"),
        ([*GOOD, *GOOD, *GOOD], 'line 9: "recording" is 3, and at most 2'),
        ([HEAD, MOMENT], 'line 2: there is no source for "file"'),
        ([HEAD, SOURCE, {**MOMENT, "line": 2}], 'line 3: "line" is 2, and at most 1'),
        ([HEAD, SOURCE, {**MOMENT, "line": 0}], 'line 3: "line" is counted from 1'),
        ([HEAD, SOURCE, {**MOMENT, "run": 0}], 'line 3: "turn" goes back'),
        ([HEAD, SOURCE, {**MOMENT, "line": True}], 'line 3: "line" is not what it has to be'),
        ([HEAD, SOURCE, {**MOMENT, "run": -1}], 'line 3: "run" is not what it has to be'),
        ([HEAD, SOURCE, {**MOMENT, "at": 2**60}], 'line 3: "at" is not what it has to be'),
        ([HEAD, SOURCE, {**MOMENT, "at": 1.5}], 'line 3: "at" is not what it has to be'),
        ([*GOOD, {**MOMENT, "turn": 0}], 'line 5: "turn" goes back'),
        ([*GOOD, {**MOMENT, "add": [1]}], 'line 5: "add" is 1, and at most 0'),
        ([*GOOD, {**MOMENT, "keep": 1}], 'line 5: "keep" is 1, and at most 0'),
        ([*GOOD, {**MOMENT, "written": [0]}], 'line 5: "written" is 0, and at most -1'),
        ([*GOOD, {**MOMENT, "kept": 1}], 'line 5: "kept" is 1, and at most 0'),
        ([*GOOD, {**MOMENT, "ask": 0}], 'line 5: "ask" is 0, and at most -1'),
        ([*GOOD, {**MOMENT, "screen": [1]}], 'line 5: "place" is 1, and at most 0'),
        ([*GOOD, {**MOMENT, "screen": [None]}], 'line 5: "screen" is not what it has to be'),
        ([*GOOD, LONG, {**MOMENT, "screen": [1] * 60}], 'line 6: "text" is 5100000, and at most'),
        ([HEAD, {**SOURCE, "text": "x" * 200_001}], 'line 2: "text" is 200001'),
        ([HEAD, *[{**SOURCE, "name": str(n)} for n in range(21)]], 'line 22: "source" is 21'),
        ([HEAD, {**MESSAGE, "calls": [{"id": 1}]}], 'line 2: "id" is not what it has to be'),
        ([HEAD, {**MESSAGE, "calls": {}}], 'line 2: "calls" is not what it has to be'),
        ([{**HEAD, "cause": {"name": "x"}}], 'line 1: "cause" is not what it has to be'),
    ],
)
def test_a_file_that_is_wrong_is_one_clear_line(
    lines: list[Any], fault: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError) as caught:
        read(tmp_path, lines)
    assert fault in str(caught.value)
    assert len(str(caught.value)) < 300
    assert len(str(caught.value).splitlines()) == 1


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limits, so small that a test reaches them at once."""
    for name in ("LARGEST_FILE", "MOST_MOMENTS", "MOST_PLACES"):
        monkeypatch.setattr(recording_file, name, 400)


@pytest.mark.usefixtures("small")
def test_a_file_that_is_too_large_is_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match="is larger than"):
        read(tmp_path, ["x" * 401])
    monkeypatch.setattr(recording_file, "LARGEST_FILE", 10**6)
    with pytest.raises(UsageError, match='line 404: "moment" is 401, and at most 400'):
        read(tmp_path, [*GOOD, *[MOMENT] * 400])
    add = {**MOMENT, "add": [0]}  # Each history is longer by one: 1 + 2 + 3 + ...
    with pytest.raises(UsageError, match='line 32: "place" is 406, and at most 400'):
        read(tmp_path, [*GOOD, *[add] * 30])


def test_what_is_no_file_of_ours_is_one_clear_line(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    for name, fault in (
        ("missing", "cannot be read: No such file"),
        ("pipe", "is not a file"),
        (".", "is not a file"),
        ("binary", "is not UTF-8 text"),
    ):
        with pytest.raises(UsageError, match=fault):
            recording_file.read(tmp_path / name)


def trace(*arguments: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from labs.command_line import main\n"
    return subprocess.run(
        [sys.executable, "-c", f"{code}sys.exit(main(sys.argv[1:]))", "trace", *arguments],
        cwd=cwd,
        capture_output=True,
        encoding="utf-8",
    )


def test_a_file_is_shown_from_wherever_it_comes(tmp_path: Path) -> None:
    read(tmp_path, GOOD)
    done = trace("--file", "run.jsonl", "--text", cwd=tmp_path)
    assert done.stdout == "== x\n    1 a.py:1               0\n"
    (tmp_path / "run.jsonl").write_text(json.dumps({**HEAD, "version": 7}))
    done = trace("--file", "run.jsonl", "--text", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "version 7" in done.stderr
    assert len(done.stderr.splitlines()) == 1
