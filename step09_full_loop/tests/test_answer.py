"""An answer put together: pieces find their call, and what is wrong with it is said."""

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ..harness_types import (
    StopReason,
    StreamDone,
    StreamError,
    StreamEvent,
    ToolCallContent,
    UnusableArguments,
    Usage,
    message_text,
    tool_calls_of,
)
from ..providers.answer import Answer, parsed
from ..tools.validate import validate

REASONS: Mapping[str, StopReason] = {"stop": "stop", "tools": "toolUse", "length": "length"}
Piece = tuple[object, object, object, object]


def answer(*pieces: Piece, text: str = "", ids: Sequence[str] = ()) -> Answer:
    made = Answer(ids)
    made.add_text(text)
    for piece in pieces:
        made.add_to_call(*piece)
    return made


def last(answer: Answer, reason: str | None = "tools") -> StreamEvent:
    return list(answer.ended(reason, REASONS))[-1]


def calls(answer: Answer, reason: str = "tools") -> list[ToolCallContent]:
    event = last(answer, reason)
    assert isinstance(event, StreamDone)
    return tool_calls_of(event.message)


def call(call_id: str, arguments: dict[str, object]) -> ToolCallContent:
    return ToolCallContent(call_id, "calc", arguments)


A, B = '{"n": 1}', '{"n": 2}'

PIECES: dict[str, tuple[list[Piece], list[ToolCallContent]]] = {
    "an id only in the first piece": (
        [(0, "c1", "calc", '{"n"'), (0, None, None, ": 1}")],
        [call("c1", {"n": 1})],
    ),
    "two calls by turns": (
        [
            (0, "c1", "calc", '{"n"'),
            (1, "c2", "calc", '{"n"'),
            (0, "", "", ": 1}"),
            (1, "", "", ": 2}"),
        ],
        [call("c1", {"n": 1}), call("c2", {"n": 2})],
    ),
    "two calls under one index": (
        [(0, "c1", "calc", A), (0, "c2", "calc", B)],
        [call("c1", {"n": 1}), call("c2", {"n": 2})],
    ),
    "the first index is 1": ([(1, "c1", "calc", A)], [call("c1", {"n": 1})]),
    "no index at all": (
        [(None, "c1", "calc", '{"n"'), (None, None, None, ": 1}"), (None, "c2", "calc", B)],
        [call("c1", {"n": 1}), call("c2", {"n": 2})],
    ),
    "arguments as an object": ([(0, "c1", "calc", {"n": 1})], [call("c1", {"n": 1})]),
    "a number for an id": ([(0, 7, "calc", A)], [call("7", {"n": 1})]),
    "nothing for a name": ([(0, "c1", None, A)], [ToolCallContent("c1", "", {"n": 1})]),
    "the id in every piece": (
        [(0, "c1", "calc", '{"n"'), (0, "c1", "calc", ": 1}")],
        [call("c1", {"n": 1})],
    ),
}


@pytest.mark.parametrize(("pieces", "expected"), PIECES.values(), ids=list(PIECES))
def test_a_piece_finds_its_call(pieces: list[Piece], expected: list[ToolCallContent]) -> None:
    assert calls(answer(*pieces)) == expected


def test_a_call_without_an_id_gets_one_that_the_conversation_does_not_have() -> None:
    found = calls(answer((0, None, "calc", A), (1, "", "calc", B), ids=["call_2"]))
    assert [call.id for call in found] == ["call_3", "call_4"]


def test_an_id_that_comes_again_is_made_another() -> None:
    found = calls(answer((0, "c1", "calc", A), (1, "c2", "calc", B), ids=["c1"]))
    assert [call.id for call in found] == ["call_2", "c2"]
    found = calls(answer((0, "c1", "calc", A), (1, "c1", "calc", B)))
    assert [call.id for call in found] == ["c1", "call_2"]


def test_every_call_is_announced_when_it_is_complete() -> None:
    events = list(answer((0, "c1", "calc", A), text="ok").ended("tools", REASONS))
    assert [event.type for event in events] == ["toolcall", "done"]


def test_text_is_given_when_it_comes_and_once() -> None:
    made = answer(text="a")
    assert made.new_text() == ["a"]
    made.add_text("")
    assert made.new_text() == []
    made.add_text("b")
    assert made.new_text() == ["b"]
    event = last(made, "stop")
    assert isinstance(event, StreamDone)
    assert message_text(event.message) == "ab"


def test_what_is_no_text_is_not_shown() -> None:
    made = answer(text="a")
    made.add_text([{"type": "text"}])
    assert made.new_text() == ["a"]


def test_an_answer_that_never_ended_does_not_count() -> None:
    assert last(answer(text="half"), None) == StreamError("回答没有结束就断了，请再试一次")


def test_an_answer_without_anything_in_it_does_not_count() -> None:
    assert last(answer(), "stop") == StreamError("模型给了一个空的回答，请再试一次")


def test_a_reason_that_nobody_knows_is_named() -> None:
    event = last(answer(text="x"), "tired")
    assert event == StreamError("模型服务结束回答的理由没有见过，这个回答不算：tired")


def test_calls_count_whatever_the_service_says_of_the_end() -> None:
    event = last(answer((0, "c1", "calc", A)), "stop")
    assert isinstance(event, StreamDone)
    assert event.message.stop_reason == "toolUse"


def refusal(call: ToolCallContent) -> str:
    checked = validate({"type": "object", "properties": {"n": {"type": "number"}}}, call.arguments)
    assert not checked.ok
    return "；".join(checked.errors)


def test_no_call_of_an_answer_that_was_cut_can_run() -> None:
    for cut in calls(answer((0, "c1", "calc", A), (1, "c2", "calc", '{"n'), text="x"), "length"):
        assert refusal(cut).startswith("输出到了长度上限，这次调用被截断，没有执行")


def test_broken_json_is_no_empty_object() -> None:
    (broken,) = calls(answer((0, "c1", "calc", '{"n": 1')))
    assert refusal(broken) == '参数不是合法的 JSON：{"n": 1'
    assert broken.arguments == {"raw": '{"n": 1'}


def test_what_it_has_cost_is_told_if_it_was_counted() -> None:
    made = answer(text="x")
    event = last(made, "stop")
    assert isinstance(event, StreamDone)
    assert event.usage is None
    made.usage = Usage(3, 4)
    event = last(made, "stop")
    assert isinstance(event, StreamDone)
    assert event.usage == Usage(3, 4)


@given(st.text())
def test_whatever_a_model_writes_as_arguments_becomes_a_dict(raw: str) -> None:
    arguments = parsed(raw)
    assert isinstance(arguments, dict)
    assert isinstance(arguments, UnusableArguments) or arguments == {} or raw.strip()[0] == "{"
