"""Coercion, row by row: what a model may write where a schema asks for another type."""

import copy
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ..tools.arguments import check_arguments
from .written import VALUES


def given_for(schema: Any, value: object) -> object:
    """Return what a tool gets for an argument of that schema; REFUSED if it gets nothing."""
    parameters = {"type": "object", "properties": {"x": schema}}
    checked = check_arguments(parameters, {"x": value})
    return checked.value["x"] if checked.ok else REFUSED


REFUSED = "<refused>"
Rows = Sequence[tuple[object, object]]
NUMBERS: Rows = [
    (3, 3),
    (1.5, 1.5),
    ("3", 3),
    (" 3\n", 3),
    ("1.5", 1.5),
    (".5", 0.5),
    ("5.", 5),
    ("-2", -2),
    ("1e3", 1000),
    ("0x10", 16),
    ("0b11", 3),
    (True, 1),
    (False, 0),
    (None, 0),
    ("", REFUSED),
    (" ", REFUSED),
    ("abc", REFUSED),
    ("1_000", REFUSED),
    ("1,000", REFUSED),
    ("１２", REFUSED),
    ("NaN", REFUSED),
    ("Infinity", REFUSED),
    ("1e999", REFUSED),
    ("0x", REFUSED),
    ("true", REFUSED),
    ([3], REFUSED),
    ({}, REFUSED),
    (float("nan"), REFUSED),
    (float("inf"), REFUSED),
]
INTEGERS: Rows = [
    ("3", 3),
    ("3.0", 3),
    (3.0, 3),
    ("1e3", 1000),
    (True, 1),
    (None, 0),
    ("12345678901234567890123", 12345678901234567890123),
    ("1.5", REFUSED),
    (1.5, REFUSED),
    ("", REFUSED),
]
BOOLEANS: Rows = [
    (True, True),
    ("true", True),
    ("false", False),
    (1, True),
    (0, False),
    (1.0, True),
    (None, False),
    (2, REFUSED),
    ("yes", REFUSED),
    ("TRUE", REFUSED),
    ("", REFUSED),
    ([], REFUSED),
]
STRINGS: Rows = [
    ("", ""),
    ("3", "3"),
    (3, "3"),
    (2.0, "2"),
    (0.5, "0.5"),
    (True, "true"),
    (False, "false"),
    (None, ""),
    ([], REFUSED),
    ({}, REFUSED),
]
NULLS: Rows = [
    (None, None),
    ("", None),
    (0, None),
    (False, None),
    ("null", REFUSED),
    (1, REFUSED),
    (True, REFUSED),
    ([], REFUSED),
]
TYPES: dict[str, Rows] = {
    "number": NUMBERS,
    "integer": INTEGERS,
    "boolean": BOOLEANS,
    "string": STRINGS,
    "null": NULLS,
    "object": [({"a": "1"}, {"a": "1"}), ("{}", REFUSED), (None, REFUSED), ([], REFUSED)],
    "array": [(["1"], ["1"]), ([], []), ("[1,2]", REFUSED), (7, REFUSED), (None, REFUSED)],
}
ROWS = [(wanted, *row) for wanted, rows in TYPES.items() for row in rows]


@pytest.mark.parametrize(("wanted", "value", "result"), ROWS)
def test_a_value_becomes_what_is_wanted_or_is_refused(
    wanted: str, value: object, result: object
) -> None:
    got = given_for({"type": wanted}, value)
    assert (got, type(got)) == (result, type(result))


NUMBER, STRING = {"type": "number"}, {"type": "string"}
COMPOSED: list[tuple[dict[str, object], object, object]] = [
    # The items of an array and the fields of an object, one by one.
    ({"type": "array", "items": NUMBER}, ["1", True, None], [1, 1, 0]),
    ({"type": "array", "items": NUMBER}, ["1", "x"], REFUSED),
    ({"type": "object", "properties": {"a": NUMBER}}, {"a": "1", "b": "2"}, {"a": 1, "b": "2"}),
    ({"type": "object", "additionalProperties": NUMBER}, {"a": "1"}, {"a": 1}),
    ({"type": "object", "additionalProperties": False}, {"a": "1"}, REFUSED),
    # A list of types: what fits one of them stays, or else the first that it can become.
    ({"type": ["number", "string"]}, "5", "5"),
    ({"type": ["string", "number"]}, 5, 5),
    ({"type": ["number", "null"]}, "5", 5),
    ({"type": ["number", "null"]}, None, None),
    ({"type": ["number", "null"]}, "x", REFUSED),
    ({"type": ["boolean", "null"]}, "true", True),
    # The first member that it can become, even if it fits a later one as it is.
    ({"anyOf": [NUMBER, STRING]}, "5", 5),
    ({"anyOf": [STRING, NUMBER]}, 5, "5"),
    ({"anyOf": [NUMBER, STRING]}, "x", "x"),
    ({"anyOf": [NUMBER, {"type": "null"}]}, "x", REFUSED),
    ({"oneOf": [NUMBER, {"type": "null"}]}, "5", 5),
    # What stands beside that counts as well.
    ({"allOf": [NUMBER, {"minimum": 3}]}, "5", 5),
    ({"allOf": [NUMBER, {"minimum": 3}]}, "2", REFUSED),
    (
        {"type": "object", "properties": {"a": NUMBER}, "anyOf": [{"required": ["a"]}]},
        {"a": "1"},
        {"a": 1},
    ),
    # Nothing is filled in, and a choice is none of the types.
    ({"type": "object", "properties": {"a": {"type": "number", "default": 1}}}, {}, {}),
    ({"enum": [1, 2]}, "1", REFUSED),
    ({"enum": [1, 2], "type": "number"}, "1", 1),
    ({"type": "number", "maximum": 5}, "6", REFUSED),
    ({}, "5", "5"),
]


@pytest.mark.parametrize(("schema", "value", "result"), COMPOSED)
def test_what_is_made_of_parts_is_converted_in_its_parts(
    schema: dict[str, object], value: object, result: object
) -> None:
    assert given_for(schema, value) == result


def test_a_part_that_stands_elsewhere_is_checked_and_not_converted() -> None:
    parts: dict[str, object] = {"number": {"type": "number"}}
    reference = {"anyOf": [{"$ref": "#/$defs/number"}, {"type": "null"}]}
    schema = {"type": "object", "properties": {"x": reference}, "$defs": parts}
    assert check_arguments(schema, {"x": 5}).ok
    assert not check_arguments(schema, {"x": "5"}).ok


def test_an_optional_parameter_that_is_null_becomes_the_nothing_of_its_type() -> None:
    properties = {"n": {"type": "number"}, "s": {"type": "string"}, "b": {"type": "boolean"}}
    checked = check_arguments(
        {"type": "object", "properties": properties}, {"n": None, "s": None, "b": None}
    )
    assert checked.ok
    assert checked.value == {"n": 0, "s": "", "b": False}


SCHEMAS = st.recursive(
    st.fixed_dictionaries({"type": st.sampled_from([*TYPES])}) | st.just({}),
    lambda inner: (
        st.builds(lambda items: {"type": "array", "items": items}, inner)
        | st.builds(
            lambda fields: {"type": "object", "properties": fields},
            st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
        )
        | st.builds(lambda members: {"anyOf": members}, st.lists(inner, min_size=1, max_size=2))
    ),
    max_leaves=4,
)


@given(schema=SCHEMAS, value=VALUES)
def test_whatever_comes_is_answered_stays_as_it_was_and_stays_right(
    schema: dict[str, object], value: object
) -> None:
    parameters: dict[str, Any] = {"type": "object", "properties": {"a": schema}}
    arguments = {"a": value}
    before = copy.deepcopy(arguments)
    checked = check_arguments(parameters, arguments)
    assert arguments == before
    if checked.ok:
        again = check_arguments({**parameters, "properties": {"a": {**schema}}}, checked.value)
        assert again.ok or "anyOf" in str(schema)
