"""The types: values that nobody changes behind another's back, under the names of the book."""

import dataclasses
from types import ModuleType
from typing import Any

import pytest

from .. import fake_model, harness_types
from ..harness_types import AssistantMessage, Context, StreamOptions, TextContent, message_text


def kinds_of(*modules: ModuleType) -> list[Any]:
    """Return the types of data that the modules define."""
    return [
        kind
        for module in modules
        for kind in vars(module).values()
        if dataclasses.is_dataclass(kind) and getattr(kind, "__module__", "") == module.__name__
    ]


KINDS = kinds_of(harness_types)
WIRE_NAMES = {
    "TextContent": "text",
    "UserMessage": "user",
    "AssistantMessage": "assistant",
    "StreamStart": "start",
    "TextDelta": "text_delta",
    "StreamDone": "done",
    "StreamError": "error",
}


@pytest.mark.parametrize("kind", kinds_of(harness_types, fake_model))
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


def test_the_text_of_a_message_is_all_its_text_and_nothing_between() -> None:
    message = AssistantMessage([TextContent("你"), TextContent("好")], "stop")
    assert message_text(message) == "你好"


def test_a_model_waits_for_nothing_by_default() -> None:
    assert StreamOptions().delay == 0
