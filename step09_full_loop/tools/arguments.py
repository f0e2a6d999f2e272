"""The gate as a library builds it: a schema is compiled once, and a check costs next to nothing.

`validate.py` beside this file does by hand what happens here (chapter 8.3). This one knows all of
JSON Schema, and it coerces first, as Pi does: see `coercion.py`.
"""

import copy
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import jsonschema_rs

from ..harness_types import UnusableArguments
from .coercion import Schema, coerced
from .quoting import error_text, quoted
from .validate import MAX_UNKNOWN, Invalid, Valid, json_type

MAX_ERRORS = 10

# In these a value may be converted although it fits.
ONE_OF_SEVERAL = re.compile(r'"(anyOf|oneOf|allOf|\$ref|integer)"')


@dataclass(frozen=True, slots=True)
class Compiled:
    """A schema and its check. `plain`: what fits it stays as it is."""

    schema: Schema
    check: jsonschema_rs.Validator
    plain: bool


# By the identity of the schema. It is kept here, so no other object can get the same one.
COMPILED: dict[int, Compiled] = {}
MAX_COMPILED = 1000


def compiled(schema: Schema) -> Compiled:
    """Return the check for a schema; ValueError if it is none."""
    known = COMPILED.get(id(schema))
    if known is not None:
        return known
    check = jsonschema_rs.validator_for(dict(schema), offline=True)
    if len(COMPILED) >= MAX_COMPILED:
        COMPILED.clear()
    plain = ONE_OF_SEVERAL.search(json.dumps(schema, default=str)) is None
    COMPILED[id(schema)] = new = Compiled(schema, check, plain)
    return new


def check_arguments(schema: Schema, value: object) -> Valid | Invalid:
    """Return arguments that fit the schema: a copy, coerced. Else all that is wrong with them.

    Each error names the place, and what was received is told as well: a model that sees what it
    has sent corrects it more easily.
    """
    if isinstance(value, UnusableArguments):
        return Invalid([value.reason])
    if not isinstance(value, dict):
        return Invalid(["参数必须是一个对象"])
    found = compiled(schema)
    check = found.check
    try:
        if found.plain and check.is_valid(value):
            return Valid(copy.deepcopy(value))
        arguments = coerced(schema, value, fits)
        if isinstance(arguments, dict) and check.is_valid(arguments):
            return Valid(arguments)
        errors = [
            sentence(error, arguments) for error in islice(check.iter_errors(arguments), MAX_ERRORS)
        ]
        received = json.dumps(value, ensure_ascii=False)
    except (ValueError, TypeError, RecursionError) as error:  # It is no JSON, or far too deep.
        return Invalid([f"这些参数没法检查：{quoted(error_text(error))}"])
    return Invalid([*errors, f"收到的参数：{quoted(received)}"])


def fits(schema: object, value: object) -> bool:
    """Return whether a value fits a part of a schema, which may point to where there is nothing."""
    try:
        return isinstance(schema, Mapping) and compiled(schema).check.is_valid(value)
    except ValueError:
        return False


def schema_faults(schema: Schema) -> list[str]:
    """Return what is wrong with a schema, in words for the author of the tool."""
    if not isinstance(schema, Mapping) or schema.get("type") != "object":
        return ['its type has to be "object"']
    try:
        compiled(schema)
    except jsonschema_rs.ValidationError as error:
        place = ".".join(map(str, error.instance_path))
        return [f"{place}: {error.message}" if place else error.message]
    except ValueError as error:
        return [str(error)]
    return []


def sentence(error: jsonschema_rs.ValidationError, arguments: object) -> str:
    """Return what is wrong, and where: `edits.1.text` is a place in an array."""
    found = value_at(error.instance_path, arguments)
    place = ".".join(map(str, error.instance_path))
    match error.kind:
        case jsonschema_rs.ValidationErrorKind.Required(property=name):
            return f"缺少必填参数 {f'{place}.{name}' if place else name}"
        case jsonschema_rs.ValidationErrorKind.AdditionalProperties(unexpected=names):
            return unknown(place, names)
        case _ if error.schema_path[-1:] == ["additionalProperties"]:
            return unknown(place, [*found] if isinstance(found, dict) else [])
        case jsonschema_rs.ValidationErrorKind.Type(types=types):
            return f"参数 {place} 应为 {' 或 '.join(types)}，实际是 {json_type(found)}"
    return f"参数 {place}：{quoted(error.message)}" if place else f"参数：{quoted(error.message)}"


def unknown(place: str, names: Sequence[str]) -> str:
    some = "、".join(quoted(name) for name in names[:MAX_UNKNOWN])
    return f"不认识的参数 {f'{place}.{some}' if place else some}"


def value_at(place: Sequence[str | int], value: object) -> object:
    for step in place:
        match value:
            case dict():
                value = value[step]
            case list():
                value = value[int(step)]
    return value
