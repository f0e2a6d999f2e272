"""The types: values that nobody changes behind another's back, under the names of the book."""

import dataclasses
from types import ModuleType
from typing import Any

import pytest

from .. import agent_events, fake_model, harness_types, loop_config, tool_call
from ..harness_types import (
    AssistantMessage,
    Context,
    StreamOptions,
    TextContent,
    ToolCallContent,
    ToolResultMessage,
    message_text,
    tool_calls_of,
)
from ..tools import text_file, tool_types, validate


def kinds_of(*modules: ModuleType) -> list[Any]:
    """Return the types of data that the modules define."""
    return [
        kind
        for module in modules
        for kind in vars(module).values()
        if dataclasses.is_dataclass(kind) and getattr(kind, "__module__", "") == module.__name__
    ]


KINDS = kinds_of(harness_types, agent_events)
WIRE_NAMES = {
    "TextContent": "text",
    "ToolCallContent": "toolCall",
    "UserMessage": "user",
    "AssistantMessage": "assistant",
    "ToolResultMessage": "toolResult",
    "StreamStart": "start",
    "TextDelta": "text_delta",
    "ContentPiece": "piece",
    "ToolCallAnnounced": "toolcall",
    "StreamDone": "done",
    "StreamError": "error",
    "TurnStart": "turn_start",
    "ToolCallStarted": "tool_call",
    "ToolCallFinished": "tool_result",
    "TurnEnd": "turn_end",
    "AgentStart": "agent_start",
    "AgentEnd": "agent_end",
    "MessageStart": "message_start",
    "MessageUpdate": "message_update",
    "MessageEnd": "message_end",
    "ToolExecutionStart": "tool_execution_start",
    "ToolExecutionUpdate": "tool_execution_update",
    "ToolExecutionEnd": "tool_execution_end",
}


@pytest.mark.parametrize(
    "kind",
    kinds_of(
        harness_types,
        agent_events,
        fake_model,
        loop_config,
        tool_call,
        tool_types,
        validate,
        text_file,
    ),
)
def test_all_types_have_slots_and_all_but_the_context_are_frozen(kind: Any) -> None:
    value = object.__new__(kind)
    assert not hasattr(value, "__dict__")
    assert kind.__dataclass_params__.frozen == (kind is not Context)


def test_messages_blocks_and_events_carry_the_names_of_the_book() -> None:
    names = {k.__name__: getattr(k, "role", getattr(k, "type", None)) for k in KINDS}
    assert {kind: name for kind, name in names.items() if name} == WIRE_NAMES


def test_the_name_of_a_type_is_none_of_its_fields() -> None:
    for kind in KINDS:
        assert not {"role", "type"} & {field.name for field in dataclasses.fields(kind)}


def test_a_message_is_taken_apart_into_its_text_and_its_calls() -> None:
    first, second = ToolCallContent("c1", "calc", {}), ToolCallContent("c2", "calc", {})
    message = AssistantMessage([first, TextContent("你"), second, TextContent("好")], "toolUse")
    assert message_text(message) == "你好"
    assert tool_calls_of(message) == [first, second]


def test_a_result_is_no_error_unless_it_says_so() -> None:
    assert not ToolResultMessage("c1", "calc", [TextContent("96")]).is_error


def test_a_tool_may_import_these_types_since_they_import_no_tools() -> None:
    imported = {getattr(value, "__module__", "") for value in vars(harness_types).values()}
    assert not [module for module in imported if module and ".tools" in module]


def test_a_context_has_no_tools_unless_it_is_given_some_and_shares_none() -> None:
    one, two = Context([]), Context([])
    assert one.tools == two.tools == []
    assert one.tools is not two.tools


def test_a_model_waits_for_nothing_by_default() -> None:
    assert StreamOptions().delay == 0
