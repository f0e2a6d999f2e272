"""A history in lines, and what is wrong with it."""

import pytest

from shared.history import history_lines
from shared.pairing import pairing_faults
from step04_agent_loop.harness_types import (
    AssistantMessage,
    Message,
    TextContent,
    ToolCallContent,
    ToolResultMessage,
    user_text,
)


def calls(*ids: str) -> AssistantMessage:
    return AssistantMessage([ToolCallContent(i, "calc", {"x": 1}) for i in ids], "toolUse")


def result(call_id: str, *, is_error: bool = False) -> ToolResultMessage:
    return ToolResultMessage(call_id, "calc", [TextContent("96\n")], is_error)


def test_one_line_a_message() -> None:
    messages = [user_text("算"), calls("c1", "c2"), result("c1"), result("c2", is_error=True)]
    assert history_lines(messages).splitlines() == [
        'user "算"',
        'assistant "" → c1 calc {"x": 1} → c2 calc {"x": 1}',
        'toolResult c1 calc "96\\n"',
        'toolResult c2 calc "96\\n" is_error',
    ]


@pytest.mark.parametrize(
    ("messages", "faults"),
    [
        ([], []),
        ([user_text("a"), calls("c1", "c2"), result("c1"), result("c2"), calls()], []),
        ([calls("", ""), result(""), result("")], []),
        ([calls("c1")], ["call c1 has no result"]),
        (
            [calls("c1"), user_text("a"), result("c1")],
            ["call c1 has no result", "result c1 (calc) has no call"],
        ),
        ([result("c1")], ["result c1 (calc) has no call"]),
        (
            [calls("c1", "c2"), result("c2"), result("c1")],
            ["result c1 (calc) is behind that of a later call"],
        ),
        ([calls("c1"), calls("c2"), result("c2")], ["call c1 has no result"]),
    ],
)
def test_pairing(messages: list[Message], faults: list[str]) -> None:
    assert pairing_faults(messages) == faults
