"""Two recordings side by side: kept in step, and where they part."""

from pathlib import Path

import pytest

from labs.breaks import copy_broken, find_break
from shared.steps import ROOT, find_step
from shared.trace.command import record_all
from shared.trace.recorder import record
from shared.trace.recording import Call, Message, Moment, Recording
from shared.trace.timeline import difference, folded, parting, timeline, words_of
from shared.trace.verdict import due, verdicts


def both(step: str, name: str, folder: Path, sentence: str = "") -> list[Recording]:
    copy_broken(find_break(find_step(step), name), folder)
    return record_all(find_step(step), {"": ROOT, name: folder}, sentence)


@pytest.fixture(scope="module")
def no_append(tmp_path_factory: pytest.TempPathFactory) -> list[Recording]:
    return both("04", "no-append", tmp_path_factory.mktemp("broken"))


def test_the_walk_reaches_every_statement_and_keeps_the_same_ones_together(
    no_append: list[Recording],
) -> None:
    walk = timeline(no_append)
    words = [words_of(recording) for recording in no_append]
    for lane, recording in enumerate(no_append):
        places = [step[lane] for step in walk]
        assert places == sorted(places)
        assert set(places) == set(range(len(recording.moments)))
    before = [-1, -1]
    for step in walk:
        moments = [r.moments[place] for r, place in zip(no_append, step, strict=True)]
        assert (moments[0].run, moments[0].turn) == (moments[1].run, moments[1].turn)
        if all(now != then for now, then in zip(step, before, strict=True)):
            assert words[0][step[0]] == words[1][step[1]]
        before = step


def test_a_loop_that_forgets_its_result_parts_at_the_append(no_append: list[Recording]) -> None:
    number = parting(no_append)
    assert number is not None
    place, waits = timeline(no_append)[number - 1]
    assert words_of(no_append[0])[place] == "context.messages.append(result)"
    assert timeline(no_append)[number - 2][1] == waits
    assert parting([no_append[0], no_append[0]]) is None
    assert parting([no_append[0]]) is None


def test_the_first_message_and_the_first_line_that_differ_are_found(
    no_append: list[Recording],
) -> None:
    found = difference(*no_append)
    assert found.messages is not None
    intact, broken = (
        None if place is None else recording.messages[place]
        for recording, place in zip(no_append, found.messages, strict=True)
    )
    assert intact is not None
    assert broken is not None
    assert (intact.role, broken.role) == ("toolResult", "assistant")
    assert found.lines is not None
    lines = [
        recording.screen[start:end]
        for recording, (start, end) in zip(no_append, found.lines, strict=True)
    ]
    assert lines == [
        "助手> 算好了：12*8 = 96。",
        "助手> 这句话没有命中任何规则，我只能用兜底回复了。",
    ]


def test_what_is_the_same_has_no_difference(no_append: list[Recording]) -> None:
    found = difference(no_append[0], no_append[0])
    assert (found.messages, found.lines) == (None, None)


def test_a_break_in_another_file_parts_too(tmp_path: Path) -> None:
    recordings = both("05", "no-unknown-names", tmp_path)
    number = parting(recordings)
    assert number is not None
    place, _ = timeline(recordings)[number - 1]
    assert recordings[0].moments[place].turn == 1


def test_both_recordings_work_in_the_same_folder(tmp_path: Path) -> None:
    recordings = both("05", "no-unknown-names", tmp_path, "读一下 README.md")
    assert parting(recordings) is None


def test_the_pieces_of_a_text_count_as_one(no_append: list[Recording]) -> None:
    recording = no_append[0]
    left_out = folded(recording)
    stays = [m.event for n, m in enumerate(recording.moments) if n not in left_out]
    texts = [m for m in recording.messages if m.role == "assistant"]
    assert stays.count("text_delta") == len(texts)
    for place in left_out:
        assert recording.moments[place].event in ("", "text_delta")
        assert "yield" not in words_of(recording)[place + 3 : place + 4]


def test_turns_of_thousands_of_statements_are_kept_in_step_at_once() -> None:
    source = {"agent_loop.py": "a()\nb()"}
    one, other = (
        Recording("x", sources=source, moments=[Moment(1, 1, "agent_loop.py", 1)] * n)
        for n in (2000, 3000)
    )
    assert timeline([one, other])[-1] == [1999, 2999]


def test_calls_and_results_are_paired_in_every_history(no_append: list[Recording]) -> None:
    intact, broken = (verdicts(recording) for recording in no_append)
    assert intact[-1].faults == []
    assert set(intact[-1].results.values()) == {4, 8}
    assert broken[-1].faults[0] == "call call_1 has no result"


def test_a_call_is_due_when_people_have_seen_its_result(no_append: list[Recording]) -> None:
    for recording in no_append:
        for (place, number), moment in due(recording).items():
            call = recording.messages[place].calls[number]
            assert recording.moments[moment].event == "tool_result"
            assert recording.moments[moment].call_id == call.id


def test_a_result_without_a_call_is_an_orphan() -> None:
    recording = Recording(
        "x",
        messages=[
            Message("user", "?"),
            Message("toolResult", "4", answers="call_9", tool="calc"),
            Message("assistant", calls=[Call("call_1", "calc", "{}")]),
        ],
        histories=[[], [0, 1, 2]],
    )
    found = verdicts(recording)[1]
    assert found.orphans == [1]
    assert found.faults == ["result call_9 (calc) has no call", "call call_1 has no result"]


def test_a_call_without_a_result_is_due_at_the_end_of_its_turn() -> None:
    step = find_step("04")
    run = record(step.name, "帮我算 12*8", "")
    for moment in run.moments:
        if moment.event == "tool_result":
            moment.event = ""
    ((place, _), number) = next(iter(due(run).items()))
    assert run.messages[place].calls
    assert run.moments[number].event == "turn_end"
