"""The gate as a library builds it: a schema is compiled once, and a check costs next to nothing.

`validate.py` beside this file does by hand what happens here (chapter 8.3). This one knows all of
JSON Schema, and it coerces first, as Pi does: see `coercion.py`.
"""

import json
from collections.abc import Mapping
from itertools import islice

import jsonschema_rs

from ..harness_types import UnusableArguments
from .coercion import Schema, coerced
from .quoting import quoted
from .validate import MAX_UNKNOWN, Invalid, Valid, json_type

MAX_ERRORS = 10

# By the identity of the schema. It is kept here, so no other object can get the same one.
COMPILED: dict[int, tuple[Schema, jsonschema_rs.Validator]] = {}
MAX_COMPILED = 1000


def compiled(schema: Schema) -> jsonschema_rs.Validator:
    """Return the check for a schema; ValueError if it is none."""
    known = COMPILED.get(id(schema))
    if known is not None and known[0] is schema:
        return known[1]
    check = jsonschema_rs.validator_for(dict(schema))
    if len(COMPILED) >= MAX_COMPILED:
        COMPILED.clear()
    COMPILED[id(schema)] = (schema, check)
    return check


def check_arguments(schema: Schema, value: object) -> Valid | Invalid:
    """Return arguments that fit the schema: a copy, coerced. Else all that is wrong with them.

    Each error names the place, and what was received is told as well: a model that sees what it
    has sent corrects it more easily.
    """
    if isinstance(value, UnusableArguments):
        return Invalid([value.reason])
    if not isinstance(value, dict):
        return Invalid(["参数必须是一个对象"])
    arguments = coerced(schema, value, fits)
    check = compiled(schema)
    if isinstance(arguments, dict) and check.is_valid(arguments):
        return Valid(arguments)
    errors = map(sentence, islice(check.iter_errors(arguments), MAX_ERRORS))
    return Invalid([*errors, f"收到的参数：{quoted(json.dumps(value, ensure_ascii=False))}"])


def fits(schema: Schema, value: object) -> bool:
    return jsonschema_rs.is_valid(dict(schema), value)


def schema_faults(schema: Schema) -> list[str]:
    """Return what is wrong with a schema, in words for the author of the tool."""
    if not isinstance(schema, Mapping) or schema.get("type") != "object":
        return ['its type has to be "object"']
    try:
        compiled(schema)
    except ValueError as error:
        return [str(error).partition("\n")[0]]
    return []


def sentence(error: jsonschema_rs.ValidationError) -> str:
    """Return what is wrong, and where: `edits.1.text` is a place in an array."""
    place = ".".join(map(str, error.instance_path))
    match error.kind:
        case jsonschema_rs.ValidationErrorKind.Required(property=name):
            return f"缺少必填参数 {f'{place}.{name}' if place else name}"
        case jsonschema_rs.ValidationErrorKind.AdditionalProperties(unexpected=names):
            some = "、".join(quoted(name) for name in names[:MAX_UNKNOWN])
            return f"不认识的参数 {f'{place}.{some}' if place else some}"
        case jsonschema_rs.ValidationErrorKind.Type(types=types):
            return f"参数 {place} 应为 {' 或 '.join(types)}，实际是 {json_type(error.instance)}"
    return f"参数 {place}：{quoted(error.message)}"
