"""The gate in front of a tool: what it lets pass, what it says, and what it leaves alone."""

from typing import Any

import pytest

from ..harness_types import UnusableArguments
from ..tools.arguments import check_arguments, compiled

TEXT = {"type": "string"}
EDITS = {
    "type": "object",
    "properties": {
        "edits": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"old": TEXT, "new": TEXT},
                "required": ["old", "new"],
                "additionalProperties": False,
            },
        },
        "count": {"type": "integer", "minimum": 1},
        "mode": {"enum": ["fast", "slow"]},
    },
    "required": ["edits"],
}


def errors(arguments: Any, schema: Any = EDITS) -> list[str]:
    checked = check_arguments(schema, arguments)
    assert not checked.ok
    return checked.errors


GOOD = {"old": "a", "new": "b"}


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({}, "缺少必填参数 edits"),
        ({"edits": "x"}, "参数 edits 应为 array，实际是 string"),
        ({"edits": [GOOD, {"old": "a"}]}, "缺少必填参数 edits.1.new"),
        ({"edits": [{"old": "a", "new": []}]}, "参数 edits.0.new 应为 string，实际是 array"),
        ({"edits": [{**GOOD, "at": 1}]}, "不认识的参数 edits.0.at"),
        ({"edits": [], "count": "1.5"}, "参数 count 应为 integer，实际是 number"),
        ({"edits": [], "count": 0}, "参数 count：0 is less than the minimum of 1"),
        ({"edits": [], "mode": "x"}, '参数 mode："x" is not one of "fast" or "slow"'),
    ],
)
def test_an_error_names_its_place(arguments: Any, text: str) -> None:
    assert errors(arguments)[0] == text


def test_all_errors_are_told_at_once_and_what_was_received() -> None:
    arguments = {"edits": [{}], "count": "x"}
    *told, received = errors(arguments)
    assert set(told) == {
        "缺少必填参数 edits.0.old",
        "缺少必填参数 edits.0.new",
        "参数 count 应为 integer，实际是 string",
    }
    assert received == '收到的参数：{"edits": [{}], "count": "x"}'


def test_however_much_is_wrong_the_answer_stays_short() -> None:
    told = errors({"edits": [{"old": [], "new": []}] * 1000, "x" * 200_000: "y" * 200_000})
    assert len(told) == 11
    assert len("；".join(told)) < 1000


@pytest.mark.parametrize("nonsense", [None, [], "{}", 7, True])
def test_arguments_have_to_be_an_object(nonsense: object) -> None:
    assert errors(nonsense) == ["参数必须是一个对象"]


def test_arguments_that_a_provider_has_marked_are_refused_with_its_reason() -> None:
    assert errors(UnusableArguments("{", "参数不是合法的 JSON")) == ["参数不是合法的 JSON"]


def test_what_the_model_has_sent_stays_as_it_is() -> None:
    inner = {"old": 1, "new": None}
    arguments: dict[str, object] = {"edits": [inner], "more": {"deep": [1]}}
    checked = check_arguments(EDITS, arguments)
    assert checked.ok
    assert checked.value == {"edits": [{"old": "1", "new": ""}], "more": {"deep": [1]}}
    assert arguments == {"edits": [{"old": 1, "new": None}], "more": {"deep": [1]}}
    assert arguments["edits"] == [inner]
    assert checked.value["more"] is not arguments["more"]
    checked = check_arguments({"type": "object", "properties": {"more": {}}}, arguments)
    assert checked.ok
    assert checked.value["more"] is not arguments["more"]


def test_other_parameters_pass_unless_the_schema_forbids_them() -> None:
    assert check_arguments({"type": "object"}, {"more": 1}).ok
    strict = {"type": "object", "additionalProperties": False}
    assert errors({"a": 1, "b": 2}, strict)[0] == "不认识的参数 a、b"
    inside = {"type": "object", "properties": {"x": strict}}
    assert errors({"x": {"a": 1}}, inside)[0] == "不认识的参数 x.a"


def test_an_error_of_all_arguments_together_has_no_place() -> None:
    one_of_them: dict[str, object] = {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
    (told, _) = errors({}, {"type": "object", **one_of_them})
    assert told.startswith("参数：{} is not valid under any of")


def deep(levels: int) -> dict[str, object]:
    value: dict[str, object] = {}
    for _ in range(levels):
        value = {"x": value}
    return value


def test_what_is_long_or_deep_passes_where_it_can() -> None:
    long = {"x": "a" * 200_000}
    checked = check_arguments({"type": "object", "properties": {"x": TEXT}}, long)
    assert checked.ok
    assert checked.value == long
    assert errors(long, {"type": "object", "properties": {"x": {"type": "number"}}})[0] == (
        "参数 x 应为 number，实际是 string"
    )
    assert check_arguments({"type": "object"}, deep(100)).ok


UNCHECKABLE = {
    "far too deep": deep(100_000),
    "half a surrogate as a name": {"\ud800": 1},
    "half a surrogate where a number belongs": {"x": "\ud800"},
    "no JSON": {"x": object()},
    "bytes": {"x": b"1"},
    "a name that is no text": {1: 2},
}


@pytest.mark.parametrize("arguments", UNCHECKABLE.values(), ids=[*UNCHECKABLE])
def test_what_cannot_be_checked_is_refused_in_words_that_can_be_sent(arguments: Any) -> None:
    (told,) = errors(arguments, {"type": "object", "properties": {"x": {"type": "number"}}})
    assert told.startswith("这些参数没法检查：")
    assert told.encode("utf-8")


def test_half_a_surrogate_is_text() -> None:
    assert check_arguments({"type": "object", "properties": {"x": TEXT}}, {"x": "\ud800"}).ok


def test_what_is_no_number_is_called_by_its_name() -> None:
    schema = {"type": "object", "properties": {"x": {"type": "number"}}}
    assert errors({"x": float("nan")}, schema)[0] == "参数 x 应为 number，实际是 nan"
    assert errors({"x": float("-inf")}, schema)[0] == "参数 x 应为 number，实际是 -inf"


def test_two_schemas_are_never_taken_for_each_other() -> None:
    for number in range(2000):  # More than are kept; each of them is gone at once.
        schema = {"type": "object", "properties": {"x": {"minimum": number, "type": "number"}}}
        assert check_arguments(schema, {"x": number}).ok
        assert not check_arguments(schema, {"x": number - 1}).ok


def test_a_schema_is_compiled_once_and_kept() -> None:
    assert compiled(EDITS).check is compiled(EDITS).check
