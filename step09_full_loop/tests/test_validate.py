"""validate: what it lets through, and what it says of everything else."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ..harness_types import UnusableArguments
from ..tools.tool_types import ParametersSchema
from ..tools.validate import Invalid, Valid, validate

SCHEMA: ParametersSchema = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "count": {"type": "number"},
        "loud": {"type": "boolean"},
    },
    "required": ["name", "count"],
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


def errors(value: object) -> list[str]:
    match validate(SCHEMA, value):
        case Invalid(errors=errors):
            return errors
        case Valid():
            return []


@pytest.mark.parametrize(
    "value",
    [{"name": "", "count": 0}, {"name": "a", "count": 1.5, "loud": False}],
)
def test_arguments_that_fit_come_through_as_they_are(value: dict[str, object]) -> None:
    checked = validate(SCHEMA, value)
    assert checked == Valid(value)
    assert checked.ok


@pytest.mark.parametrize("value", [None, [], "{}", 1, True, "x" * 200_000])
def test_only_an_object_has_parameters(value: object) -> None:
    assert errors(value) == ["参数必须是一个对象"]


def test_what_a_provider_could_not_use_is_refused_with_its_reason() -> None:
    assert errors(UnusableArguments('{"a', "why")) == ["why"]


def test_all_errors_are_told_at_once_and_in_order() -> None:
    assert errors({"z": 1, "loud": 1, "name": 2, "a": 3}) == [
        "缺少必填参数 count",
        "参数 name 应为 string，实际是 number",
        "参数 loud 应为 boolean，实际是 number",
        "不认识的参数 z",
        "不认识的参数 a",
    ]


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (True, "boolean"),
        ("3", "string"),
        (None, "null"),
        ([1], "array"),
        ({"n": 1}, "object"),
        (float("nan"), "nan"),
        (float("inf"), "inf"),
        ({1}, "set"),
    ],
)
def test_a_value_of_another_type_is_no_number(value: object, kind: str) -> None:
    assert errors({"name": "a", "count": value}) == [f"参数 count 应为 number，实际是 {kind}"]


def test_null_is_no_value_of_an_optional_parameter_either() -> None:
    assert errors({"name": "a", "count": 1, "loud": None}) == [
        "参数 loud 应为 boolean，实际是 null"
    ]


def test_a_name_that_the_model_made_up_is_quoted_short_and_encodable() -> None:
    many: dict[str, object] = {f"{'k' * 1000}{n}": n for n in range(10_000)}
    told = errors({"name": "a", "count": 1, "\ud800": 1, **many})
    assert len("；".join(told)) < 2000
    assert told[0] == "不认识的参数 \\ud800"
    assert told[-1] == "另有 9996 个不认识的参数"


def test_five_unknown_names_are_all_told() -> None:
    unknown: dict[str, object] = dict.fromkeys("vwxyz")
    assert errors({"name": "a", "count": 1, **unknown}) == [f"不认识的参数 {n}" for n in unknown]


def test_every_parameter_of_the_schema_is_named() -> None:
    names = [f"p{n}" for n in range(20)]
    schema: ParametersSchema = {"type": "object", "properties": {}, "required": names}
    assert validate(schema, {}) == Invalid([f"缺少必填参数 {name}" for name in names])
    assert isinstance(validate({"type": "object"}, {}), Valid)  # type: ignore[typeddict-item]


@given(st.one_of(JSON, st.dictionaries(st.sampled_from(["name", "count", "loud", "x"]), JSON)))
def test_validation_answers_whatever_comes_and_changes_nothing(value: object) -> None:
    before = copy.deepcopy(value)
    answer = validate(SCHEMA, value)
    assert repr(value) == repr(before)
    if isinstance(answer, Valid):
        assert answer.value is value
        assert isinstance(answer.value["name"], str)
        assert type(answer.value["count"]) in (int, float)
        assert isinstance(answer.value.get("loud", True), bool)
    else:
        assert answer.errors
        assert not answer.ok
