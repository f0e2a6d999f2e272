"""Messages on their way to a file and back: by the book's names, and nothing else."""

import bisect
import json

import pytest
from hypothesis import example, given

from ..harness_types import (
    AssistantMessage,
    Message,
    TextContent,
    ToolCallContent,
    ToolResultMessage,
    user_text,
)
from ..sessions.session import line_of
from ..sessions.wire import message_from_json, message_to_json
from .written import MESSAGES, USER

TEXT = {"type": "text", "text": "好"}
CALL = {"type": "toolCall", "id": "call_1", "name": "calc", "arguments": {"expression": "1+1"}}


@pytest.mark.parametrize(
    ("message", "written"),
    [
        (user_text("好"), {"role": "user", "content": [TEXT]}),
        (
            AssistantMessage(
                [TextContent("好"), ToolCallContent("call_1", "calc", {"expression": "1+1"})],
                "toolUse",
            ),
            {"role": "assistant", "content": [TEXT, CALL], "stopReason": "toolUse"},
        ),
        (
            ToolResultMessage("call_1", "calc", [TextContent("好")], is_error=True),
            {
                "role": "toolResult",
                "content": [TEXT],
                "toolCallId": "call_1",
                "toolName": "calc",
                "isError": True,
            },
        ),
    ],
)
def test_a_message_is_written_with_the_names_of_the_book(
    message: Message, written: dict[str, object]
) -> None:
    assert message_to_json(message) == written
    assert message_from_json(written) == message


@given(MESSAGES)
@example(user_text("第一行\n第二行"))
@example(user_text("a\r\nb\u2028\x85\x0b\x00😀"))
def test_every_message_comes_back_and_is_one_line(message: Message) -> None:
    line = line_of(message_to_json(message))
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert message_from_json(json.loads(line)) == message


def test_what_is_not_known_is_left_out() -> None:
    image = {"type": "image", "data": "…"}
    assert message_from_json({"role": "user", "content": [image, TEXT]}) == user_text("好")
    assert message_from_json({"role": "bashExecution", "output": ""}) is None


@pytest.mark.parametrize(("content", "meaning"), [([TEXT], "stop"), ([TEXT, CALL], "toolUse")])
def test_a_stop_reason_that_is_not_known_is_read_by_what_it_means(
    content: list[object], meaning: str
) -> None:
    found = message_from_json({"role": "assistant", "content": content, "stopReason": "refusal"})
    assert isinstance(found, AssistantMessage)
    assert found.stop_reason == meaning


def test_of_an_answer_in_which_the_model_failed_nothing_counts() -> None:
    assert (
        message_from_json({"role": "assistant", "content": [CALL], "stopReason": "error"}) is None
    )


@pytest.mark.parametrize(
    "damaged",
    [
        None,
        [],
        {},
        {"role": 1},
        {"role": "user"},
        {"role": "user", "content": "你好"},
        {"role": "user", "content": [{"type": "text"}]},
        {"role": "assistant", "content": []},
        {"role": "assistant", "content": [{**CALL, "arguments": "{}"}], "stopReason": "toolUse"},
        {"role": "toolResult", "content": [], "toolCallId": "call_1", "toolName": "calc"},
        {"role": "user", "content": ["你好"]},
    ],
)
def test_a_message_that_lacks_something_is_an_error(damaged: object) -> None:
    with pytest.raises(ValueError, match="this is no"):
        message_from_json(damaged)


def deep(depth: int) -> dict[str, object]:
    value: dict[str, object] = {}
    for _ in range(depth):
        value = {"a": value}
    return value


def deepest() -> int:
    """Return how deep arguments may be for JSON to take them alone."""
    return bisect.bisect(range(100_000), False, key=is_too_deep) - 1


def is_too_deep(depth: int) -> bool:
    try:
        json.dumps(deep(depth))
    except RecursionError:
        return True
    return False


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, object, 100_000], ids=range(4))
def test_arguments_that_are_no_json_are_kept_as_text(value: object) -> None:
    arguments = deep(value) if isinstance(value, int) else {"a": value}
    message = AssistantMessage([ToolCallContent("call_1", "calc", arguments)], "toolUse")
    found = message_from_json(json.loads(line_of(message_to_json(message))))
    assert isinstance(found, AssistantMessage)
    (call,) = found.content
    assert isinstance(call, ToolCallContent)
    assert list(map(type, call.arguments.values())) == [str]


def test_arguments_about_as_deep_as_json_can_be_come_back_or_are_kept_as_text() -> None:
    for depth in range(deepest() - 10, deepest() + 2):
        message = AssistantMessage([ToolCallContent("call_1", "calc", deep(depth))], "toolUse")
        line = line_of({"message": message_to_json(message)})  # As deep as it stands in a file.
        assert message_from_json(json.loads(line)["message"]) is not None


def test_half_a_surrogate_pair_is_written_as_an_escape() -> None:
    line = line_of(message_to_json(user_text("a\ud800b")))
    assert rb"a\ud800b" in line
    assert message_from_json(json.loads(line.decode())) == user_text("a\ud800b")


def test_the_message_of_these_tests_is_one() -> None:
    assert message_from_json(USER) == user_text("你好")
