"""Every call has its result, whatever was lost."""

from hypothesis import given

from shared.pairing import pairing_faults

from ..harness_types import Message, ToolResultMessage, message_text, user_text
from ..sessions.pairing import INTERRUPTED, made_up, paired
from .written import HISTORIES, call, result, wants


def answers(history: list[Message]) -> list[tuple[str, str, bool]]:
    results = [m for m in history if isinstance(m, ToolResultMessage)]
    return [(m.tool_call_id, message_text(m), m.is_error) for m in results]


def test_a_call_without_a_result_is_answered_by_an_error_right_behind_it() -> None:
    history = paired([wants(call("call_1"), call("call_2")), user_text("还在吗")])
    assert [m.role for m in history] == ["assistant", "toolResult", "toolResult", "user"]
    assert answers(history) == [("call_1", INTERRUPTED, True), ("call_2", INTERRUPTED, True)]


def test_a_result_that_is_there_is_kept_and_results_stand_in_the_order_of_the_calls() -> None:
    history = paired([wants(call("call_1"), call("call_2")), result("call_2", "two")])
    assert answers(history) == [("call_1", INTERRUPTED, True), ("call_2", "two", False)]


def test_a_result_without_a_call_or_the_second_one_of_a_call_is_left_out() -> None:
    history = paired([result("call_9"), wants(call("call_1")), result("call_1"), result("call_1")])
    assert [m.role for m in history] == ["assistant", "toolResult"]


def test_two_calls_of_one_id_have_two_results() -> None:
    twice: list[Message] = [
        wants(call("call_1"), call("call_1")),
        result("call_1", "a"),
        result("call_1", "b"),
    ]
    assert answers(paired(twice)) == [("call_1", "a", False), ("call_1", "b", False)]


@given(HISTORIES)
def test_whatever_a_file_holds_the_model_gets_pairs(messages: list[Message]) -> None:
    history = paired(messages)
    assert pairing_faults(history) == []
    assert paired(history) == history
    others = [m for m in messages if m.role != "toolResult"]
    assert [m for m in history if m.role != "toolResult"] == others


def test_what_was_made_up_is_told_from_what_was_there() -> None:
    stored: list[Message] = [wants(call("call_1"), call("call_2")), result("call_1")]
    assert made_up(paired(stored), stored) == [2]
