"""What is sent: a history that a service takes, whatever is in ours."""

import json

from hypothesis import given
from hypothesis import strategies as st

from ..harness_types import (
    AssistantMessage,
    Message,
    TextContent,
    ToolCallContent,
    ToolResultMessage,
    UnusableArguments,
    message_text,
    user_text,
)
from ..providers.sendable import sendable, sent_arguments, sent_name, sent_text

CALL = ToolCallContent("c1", "calc", {"expression": "1+1"})


def test_a_call_without_a_result_gets_one_that_is_an_error() -> None:
    messages: list[Message] = [user_text("hi"), AssistantMessage([CALL], "toolUse"), user_text("?")]
    sent = sendable(messages)
    assert [message.role for message in sent] == ["user", "assistant", "toolResult", "user"]
    assert isinstance(sent[2], ToolResultMessage)
    assert sent[2].is_error
    assert len(messages) == 3, "the conversation itself is left alone"


def test_an_answer_that_says_nothing_is_left_out() -> None:
    nothing: list[Message] = [
        AssistantMessage([], "stop"),
        AssistantMessage([TextContent(" \n")], "stop"),
    ]
    assert sendable([*nothing, user_text("hi")]) == [user_text("hi")]


def test_a_result_that_says_nothing_stays() -> None:
    messages: list[Message] = [
        AssistantMessage([CALL], "toolUse"),
        ToolResultMessage("c1", "calc", [TextContent("")]),
    ]
    assert sendable(messages) == messages


def test_a_letter_that_cannot_be_encoded_is_replaced() -> None:
    assert sent_text("a\ud800b") == "a\ufffdb"
    assert sent_text("\ud83d\ude00") == "\U0001f600"  # Both halves of one letter.
    assert sent_arguments({"\udfff": "\ud800"}) == '{"\ufffd": "\ufffd"}'


def test_a_name_that_a_service_would_refuse_is_changed() -> None:
    assert sent_name("read file/图") == "read_file__"
    assert sent_name("") == "_"
    assert len(sent_name("x" * 100)) == 64


def test_arguments_that_could_not_be_used_are_sent_as_the_model_wrote_them() -> None:
    assert json.loads(sent_arguments(UnusableArguments('{"a', "why"))) == {"raw": '{"a'}


@given(st.text(st.characters()), st.dictionaries(st.text(st.characters()), st.floats()))
def test_everything_can_be_sent(text: str, arguments: dict[str, object]) -> None:
    sent_text(text).encode()
    json.loads(sent_arguments(arguments).encode(), parse_constant=None)
    assert message_text(user_text(text)) == text
