"""The one gate between what a model made up and what a tool may rely on.

Type annotations are gone when the program runs (chapter 2.1); this is the check that is left.
It converts nothing: "3" is no number, and null is no value of any parameter, required or not.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from ..harness_types import UnusableArguments
from .tool_types import ParametersSchema, quoted

MAX_UNKNOWN = 5


@dataclass(frozen=True, slots=True)
class Valid:
    """The arguments, unchanged."""

    ok: ClassVar[Literal[True]] = True
    value: dict[str, object]


@dataclass(frozen=True, slots=True)
class Invalid:
    """What is wrong with them, in words for the model."""

    ok: ClassVar[Literal[False]] = False
    errors: list[str]


def validate(schema: ParametersSchema, value: object) -> Valid | Invalid:
    """Check the arguments of a tool call, and change nothing.

    All errors are told at once: missing parameters first and wrong types next, in the order of the
    schema; then unknown parameters, in the order of the call. A model can make up any number of
    those, so the first few stand for all.
    """
    if isinstance(value, UnusableArguments):
        return Invalid([value.reason])
    if not isinstance(value, dict):
        return Invalid(["参数必须是一个对象"])
    properties = schema.get("properties", {})
    errors = [f"缺少必填参数 {name}" for name in schema.get("required", []) if name not in value]
    for name, schema_of_one in properties.items():
        if name not in value:
            continue
        wanted, got = schema_of_one["type"], json_type(value[name])
        if got != wanted:
            errors.append(f"参数 {name} 应为 {wanted}，实际是 {got}")
    unknown = [name for name in value if name not in properties]
    errors += [f"不认识的参数 {quoted(str(name))}" for name in unknown[:MAX_UNKNOWN]]
    if len(unknown) > MAX_UNKNOWN:
        errors.append(f"另有 {len(unknown) - MAX_UNKNOWN} 个不认识的参数")
    return Invalid(errors) if errors else Valid(value)


def json_type(value: object) -> str:
    """Return the JSON name of a value's type, or Python's where JSON has no such value."""
    match value:
        case None:
            return "null"
        case bool():  # Before the numbers: in Python True is an int.
            return "boolean"
        case float() if not math.isfinite(value):
            return str(value)
        case int() | float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case dict():
            return "object"
    return type(value).__name__


PROPERTY_TYPES = ("string", "number", "boolean")


def schema_faults(schema: ParametersSchema) -> list[str]:
    """Return what `validate` could not check in a schema, in words for the author of the tool.

    Keywords that it does not know, such as a default, are no fault: they are for the model.
    """
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return ['its type has to be "object"']
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if not isinstance(properties, dict) or not isinstance(required, list | tuple):
        return ["its properties have to be a dict, and required a list of their names"]
    faults = [
        f"the type of {name!r} has to be string, number or boolean"
        for name, schema_of_one in properties.items()
        if not isinstance(schema_of_one, dict) or schema_of_one.get("type") not in PROPERTY_TYPES
    ]
    faults += [
        f"{name!r} is required, and no property" for name in required if name not in [*properties]
    ]
    return faults
