"""make trace with BREAK=: the step as it was shipped, beside a broken copy, in the right scene."""

import dataclasses

import pytest

from labs.breaks import Break, find_break, find_breaks
from labs.tasks import steps_with_tasks
from labs.tracing import cause_of, recorded
from shared.steps import find_step
from shared.trace.flow import OUTSIDE, RAISED
from shared.trace.recording import Recording
from shared.trace.timeline import difference, parting, timeline, words_of

BREAKS = [change for step in steps_with_tasks() for change in find_breaks(step).values()]


@pytest.mark.parametrize("change", BREAKS, ids=lambda change: f"{change.step} {change.name}")
def test_a_recording_knows_why_it_is_broken(change: Break) -> None:
    cause = cause_of(change)
    texts = [value for value in dataclasses.asdict(cause).values() if isinstance(value, str)]
    known = (change.name, change.file, change.old, change.new, change.title.en, change.why.zh)
    assert set(known) <= set(texts)
    assert bool(cause.setting) == (change.scene != "demo")
    for asked, question in zip(cause.questions, change.questions, strict=True):
        assert (asked.ask_zh, asked.answer) == (question.ask.zh, question.answer.en)


def both(number: str, name: str, sentence: str = "") -> list[Recording]:
    step = find_step(number)
    recordings = recorded(step, name, sentence)
    assert [recording.title for recording in recordings] == ["", name]
    assert recordings[0].cause is None
    assert recordings[1].cause == cause_of(find_break(step, name))
    return recordings


def test_a_break_that_the_demo_does_not_show_plays_its_scene() -> None:
    intact, broken = both("04", "exception-through")
    assert (intact.what, broken.what) == ("scene", "scene")
    assert "ConnectionError" in broken.screen
    assert broken.moments[-1].ending == RAISED
    assert broken.moments[-1].detail == "ConnectionError: 天气网站没有回应"
    assert intact.moments[-1].run > broken.moments[-1].run
    number = parting([intact, broken])
    assert number is not None
    place = timeline([intact, broken])[number - 1][0]
    assert words_of(intact)[place] == "text = await handler(tool_call.arguments)"


def test_a_conversation_that_never_begins_shows_the_line_that_raised() -> None:
    intact, broken = both("05", "second-of-a-name")
    (only,) = intact.moments
    assert (only.file, only.ending) == ("tools/registry.py", OUTSIDE)
    assert words_of(intact)[0].startswith("raise ValueError(")
    assert "ValueError" in intact.screen
    assert broken.moments[-1].ending == "no tool wanted"
    assert difference(intact, broken).lines is not None


def test_a_sentence_is_said_instead_of_the_scene() -> None:
    recordings = both("04", "exception-through", "你好")
    assert [recording.what for recording in recordings] == ["sentence"] * 2
    assert parting(recordings) is None
